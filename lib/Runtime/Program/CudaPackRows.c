//===- CudaPackRows.c - Copies whose rows TMA and wgmma can take ----------===//

#include "Cuda/CudaContext.h"
#include "Frame.h"
#include "Index/CudaIndex.h"

enum { ROW_BYTES = 16, MAX_BATCH_DIMS = 3 };

typedef struct dim {
  int64_t size, stride; ///< bytes
} dim;

/// The batches of rows that are copied.
typedef struct packing {
  int32_t size_log2;
  dim batch[MAX_BATCH_DIMS], row, column;
  int64_t pitch; ///< of the copy, bytes
} packing;

/// Puts the dimensions that number rows before the column's, in as few as there
/// can be; `keep` is how many of the last ones stay as they are.
static void number_rows(const dim *dims, int32_t count, int32_t keep,
                        packing *p) {
  dim outer[PIT_TMA_MAX_RANK] = {{1, 0}};
  int32_t n = 0;
  for (int32_t d = 0; d < count; ++d) {
    bool stays = d >= count - keep;
    if (!stays && dims[d].size == 1)
      continue;
    if (!stays && n > 0 && outer[n - 1].stride == dims[d].stride * dims[d].size)
      outer[n - 1] = (dim){outer[n - 1].size * dims[d].size, dims[d].stride};
    else
      outer[n++] = dims[d];
  }
  p->row = n > 0 ? outer[--n] : (dim){1, 0};
  for (int32_t b = MAX_BATCH_DIMS; b-- > 0;)
    p->batch[b] = n > 0 ? outer[--n] : (dim){1, 0};
}

/// Describes the copy; `*rows`: whether elements of a row are neighbours.
static pit_status describe(pit_context *context, const pit_view *from,
                           int32_t bytes, int32_t rank, packing *p,
                           bool *rows) {
  dim dims[PIT_TMA_MAX_RANK];
  for (int32_t d = 0; d < rank; ++d) {
    if (from->shape[d] < 0)
      return pit_fail(context, PIT_ERROR_SHAPE,
                      "rows: dimension %d is %lld; it must not be negative", d,
                      (long long)from->shape[d]);
    dims[d] = (dim){from->shape[d], from->strides[d] * bytes};
  }
  p->size_log2 = __builtin_ctz((uint32_t)bytes);
  p->column = dims[rank - 1];
  p->pitch = pit_ceil_div(p->column.size * bytes, ROW_BYTES) * ROW_BYTES;
  *rows = p->column.stride == bytes || p->column.size == 1;
  number_rows(dims, rank - 1, *rows ? 0 : 1, p);
  return PIT_OK;
}

int32_t pit_rt_pack_rows(pit_frame *frame, void *to, const pit_view *view,
                         int32_t bytes, int32_t rank, const int32_t *word,
                         int32_t number) {
  if (!frame)
    return PIT_ERROR_INVALID_ARGUMENT;
  pit_context *context = frame->context;
  if (!frame->cuda)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "rows: the program runs on the CPU");
  const void *from = view->data;
  bool is_aligned = (uintptr_t)to % ROW_BYTES == 0;
  if (!is_aligned || (uintptr_t)from % (uintptr_t)bytes != 0)
    return pit_fail(context, PIT_ERROR_ALIGNMENT,
                    "rows: the %s must be aligned to %d bytes",
                    is_aligned ? "data" : "copy",
                    is_aligned ? bytes : ROW_BYTES);
  packing p;
  bool rows;
  pit_status status = describe(context, view, bytes, rank, &p, &rows);
  if (status == PIT_OK)
    status = pit_cuda_check_code(context);
  int64_t batches = 1;
  for (int32_t b = 0; status == PIT_OK && b < MAX_BATCH_DIMS; ++b)
    batches *= p.batch[b].size;
  if (status != PIT_OK || batches * p.row.size * p.column.size == 0)
    return status;
  const pit_cuda_properties *device = pit_cuda_device(context);
  // As many threads along a row as it has pieces, up to a block's.
  int32_t wide_log2 = 0;
  while (1 << wide_log2 < PIT_INDEX_THREADS &&
         INT64_C(1) << wide_log2 < p.pitch / ROW_BYTES)
    ++wide_log2;
  int64_t high = PIT_PACK_THREAD_ROWS * (PIT_INDEX_THREADS >> wide_log2);
  int64_t wide = (int64_t)ROW_BYTES << wide_log2;
  if (!rows) {
    high = INT64_C(1) << (p.size_log2 == 0 ? PIT_PACK_BYTES_SIDE_LOG2
                                           : PIT_PACK_SIDE_LOG2);
    wide = high << p.size_log2;
  }
  int64_t tiles =
      batches * pit_ceil_div(p.row.size, high) * pit_ceil_div(p.pitch, wide);
  const pit_cuda_grid grid = {
      .blocks = pit_min(tiles, 8 * (int64_t)device->multiprocessors),
      .threads = PIT_INDEX_THREADS,
      .overlap = true};
  const pit_cuda_condition when = {word, number};
  const dim *b = p.batch;
  const pit_cuda_batches of = {
      .count = batches,
      .sizes = {b[1].size, b[2].size},
      .strides = {b[0].stride, b[1].stride, b[2].stride}};
  const pit_cuda_work *work = &frame->cuda->work;
  if (rows) {
    pit_pack_rows_params params = {.to = to,
                                   .from = from,
                                   .batches = of,
                                   .rows = p.row.size,
                                   .row_stride = p.row.stride,
                                   .columns = p.column.size,
                                   .pitch = p.pitch,
                                   .size_log2 = p.size_log2,
                                   .wide_log2 = wide_log2,
                                   .when = when};
    return pit_cuda_start(work, pit_pack_rows, grid, &params);
  }
  pit_pack_columns_params params = {.to = to,
                                    .from = from,
                                    .batches = of,
                                    .rows = p.row.size,
                                    .row_stride = p.row.stride,
                                    .columns = p.column.size,
                                    .column_stride = p.column.stride,
                                    .pitch = p.pitch,
                                    .size_log2 = p.size_log2,
                                    .when = when};
  return pit_cuda_start(work, pit_pack_columns, grid, &params);
}
