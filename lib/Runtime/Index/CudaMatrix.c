//===- CudaMatrix.c - Values in contiguous rows, on a device --------------===//

#include "CudaIndexScan.h"

static uint64_t repeat(uint64_t bits, int32_t size_log2) {
  for (int32_t width = 8 << size_log2; width < 64; width *= 2)
    bits |= bits << width;
  return bits;
}

static pit_cuda_pattern get_pattern(const pit_rows *rows) {
  uint64_t background = repeat(rows->background, rows->size_log2);
  uint64_t care = repeat(rows->care, rows->size_log2);
  return (pit_cuda_pattern){(uint32_t)background, (uint32_t)(background >> 32),
                            (uint32_t)care, (uint32_t)(care >> 32),
                            rows->always ? UINT32_MAX : 0};
}

pit_rows pit_cuda_rows_of(const pit_cuda_build *build) {
  bool mask = build->selection->source == PIT_SOURCE_MASK;
  pit_rows rows = {.tiling = pit_tiling_of(&build->head),
                   .data = build->selection->data};
  pit_rows_init_values(&rows, mask ? 0 : build->selection->background);
  return rows;
}

/// Do all rows begin at a multiple of what is read at once?
static bool is_aligned(const pit_cuda_matrix *m, int64_t bytes) {
  return bytes <= INT32_MAX - PIT_PIECE_BYTES * 64 &&
         bytes % PIT_VECTOR_BYTES == 0 &&
         (m->rows.extent <= 1 ||
          m->values.row_stride % PIT_VECTOR_BYTES == 0) &&
         (uintptr_t)m->values.data % PIT_VECTOR_BYTES == 0;
}

bool pit_cuda_get_bit_matrix(const pit_cuda_build *build, pit_cuda_matrix *m) {
  const pit_bitmap *bitmap = build->selection->bitmap;
  const pit_tiling tiling = pit_tiling_of(&build->head);
  if (tiling.rank != 2)
    return false;
  int64_t bytes = bitmap->row_words * (int64_t)sizeof(*bitmap->words);
  *m = (pit_cuda_matrix){
      .values = {.data = bitmap->words,
                 .row_stride = bytes,
                 .row_bytes = (int32_t)bytes,
                 .size_log2 = PIT_SIZE_OF_BITS,
                 .pattern = {.care_low = UINT32_MAX, .care_high = UINT32_MAX}},
      .rows = tiling.dims[0],
      .columns = tiling.dims[1],
      .axis_last = tiling.axis == 1};
  return is_aligned(m, bytes);
}

bool pit_cuda_get_matrix(const pit_rows *rows, pit_cuda_matrix *m) {
  const pit_tiling *tiling = &rows->tiling;
  if (tiling->rank > 2)
    return false;
  int32_t last = tiling->rank - 1;
  const pit_dim one = {1, 1, 1, 1};
  *m = (pit_cuda_matrix){.values = {.data = rows->data.data,
                                    .size_log2 = rows->size_log2,
                                    .pattern = get_pattern(rows)},
                         .rows = last == 1 ? tiling->dims[0] : one,
                         .columns = tiling->dims[last],
                         .axis_last = tiling->axis == last};
  int64_t stride = last == 1 ? rows->data.strides[0] : 0;
  int64_t bytes;
  if (!pit_mul(m->columns.extent, 1 << rows->size_log2, &bytes) ||
      __builtin_mul_overflow(stride, 1 << rows->size_log2,
                             &m->values.row_stride) ||
      (m->columns.extent > 1 && rows->data.strides[last] != 1) ||
      !is_aligned(m, bytes))
    return false;
  m->values.row_bytes = (int32_t)bytes;
  return true;
}
