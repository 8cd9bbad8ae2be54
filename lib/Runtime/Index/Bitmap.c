//===- Bitmap.c - One bit an element --------------------------------------===//

#include "Bitmap.h"
#include "Cuda/CudaContext.h"
#include "IndexScan.h"
#include "Sources/Sources.h"

#include <string.h>

pit_status pit_bitmap_describe(pit_context *context, int32_t rank,
                               const int64_t *shape, pit_bitmap *bitmap) {
  if (rank < 1 || rank > PIT_MAX_RANK)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "bitmap: rank %d; ranks 1 to %d are supported", rank,
                    PIT_MAX_RANK);
  if (!shape)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "bitmap: the shape is NULL");
  *bitmap = (pit_bitmap){.rank = rank};
  for (int32_t d = 0; d < rank; ++d) {
    if (shape[d] < 0)
      return pit_fail(context, PIT_ERROR_SHAPE,
                      "bitmap: dimension %d is %lld; it cannot be negative", d,
                      (long long)shape[d]);
    bitmap->shape[d] = shape[d];
  }
  int64_t words;
  char dims[PIT_DIMS_NAME_SIZE];
  bitmap->row_words = pit_ceil_div(shape[rank - 1], 64);
  if (!pit_tensor_bytes(rank - 1, shape, 1, &bitmap->rows) ||
      !pit_mul(bitmap->rows, bitmap->row_words, &words))
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "bitmap: the rows of %s are more than 63 bits count",
                    pit_dims_name(shape, rank, dims));
  return PIT_OK;
}

/// The scan of an index of single elements along the last dimension is the
/// bitmap.
static pit_index elements_of(const pit_bitmap *bitmap) {
  int32_t last = bitmap->rank - 1;
  pit_index elements = {
      .groups = bitmap->rows, .rank = bitmap->rank, .axis = last};
  for (int32_t d = 0; d <= last; ++d) {
    elements.shape[d] = bitmap->shape[d];
    elements.micro_tile[d] = elements.step[d] = 1;
    elements.group_shape[d] = d == last ? 1 : bitmap->shape[d];
  }
  return elements;
}

/// Begins the builder's bitmap.
static pit_status begin(pit_index_builder *builder, int32_t rank,
                        const int64_t *shape, const pit_selection *selection) {
  pit_context *context = builder->context;
  pit_status status =
      pit_bitmap_describe(context, rank, shape, &builder->bitmap);
  const pit_source_row *row = pit_source_find((int32_t)selection->source);
  if (status == PIT_OK && row && row->no_bitmap)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT, "bitmap: %s",
                    row->no_bitmap);
  builder->bitmap.source = selection->source;
  return status;
}

static pit_status fill_on_device(pit_index_builder *builder, int32_t rank,
                                 const int64_t *shape,
                                 const pit_selection *selection) {
  pit_bitmap *bitmap = &builder->bitmap;
  pit_status status = begin(builder, rank, shape, selection);
  pit_cuda_work work;
  if (status == PIT_OK)
    status = pit_builder_begin_work(builder, &builder->bitmap_arena, &work);
  if (status != PIT_OK)
    return status;
  const pit_index elements = elements_of(bitmap);
  status = pit_cuda_bitmap_fill(&work, selection, &elements, bitmap);
  pit_cuda_pop(builder->context);
  return status;
}

pit_status pit_bitmap_fill(pit_index_builder *builder, int32_t rank,
                           const int64_t *shape,
                           const pit_selection *selection) {
  pit_context *context = builder->context;
  pit_bitmap *bitmap = &builder->bitmap;
  pit_status status = begin(builder, rank, shape, selection);
  if (status != PIT_OK)
    return status;
  const pit_index elements = elements_of(bitmap);
  pit_rows rows;
  status = pit_rows_init(context, selection, &elements, &rows);
  if (status == PIT_OK)
    status = pit_buffer_reserve(context, &builder->words,
                                bitmap->rows * bitmap->row_words,
                                sizeof(uint64_t), "a bitmap");
  if (status != PIT_OK)
    return status;
  if (!pit_bitmap_is_empty(bitmap))
    pit_scan(&rows, pit_scan_threads(context, &rows), builder->words.data);
  bitmap->words = builder->words.data;
  return PIT_OK;
}

pit_status pit_bitmap_build(pit_index_builder *builder, int32_t rank,
                            const int64_t *shape, pit_source source,
                            const DLTensor *data, const void *background,
                            const pit_bitmap **bitmap) {
  if (!builder)
    return PIT_ERROR_INVALID_ARGUMENT;
  if (!bitmap)
    return pit_fail(builder->context, PIT_ERROR_INVALID_ARGUMENT,
                    "bitmap: the place for the result is NULL");
  *bitmap = NULL;
  pit_selection selection;
  bool on_device = false;
  pit_status status = pit_selection_from_tensor(
      builder->context, source, data, background, &selection, &on_device);
  if (status == PIT_OK)
    status = on_device ? fill_on_device(builder, rank, shape, &selection)
                       : pit_bitmap_fill(builder, rank, shape, &selection);
  if (status == PIT_OK)
    *bitmap = &builder->bitmap;
  return status;
}

pit_status pit_bitmap_check(pit_context *context, const pit_bitmap *bitmap) {
  if (!bitmap)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "bitmap: the bitmap is NULL");
  pit_bitmap expected;
  pit_status status =
      pit_bitmap_describe(context, bitmap->rank, bitmap->shape, &expected);
  if (status != PIT_OK)
    return status;
  if (bitmap->rows != expected.rows || bitmap->row_words != expected.row_words)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "bitmap: %lld rows of %lld words; its shape has %lld of "
                    "%lld",
                    (long long)bitmap->rows, (long long)bitmap->row_words,
                    (long long)expected.rows, (long long)expected.row_words);
  const pit_source_row *row = pit_source_find(bitmap->source);
  if (!row || row->no_bitmap)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "bitmap: there is none of source %d", bitmap->source);
  if (pit_bitmap_is_empty(bitmap))
    return PIT_OK;
  if (!bitmap->words || (uintptr_t)bitmap->words % sizeof(uint64_t) != 0)
    return pit_fail(context, PIT_ERROR_ALIGNMENT,
                    "bitmap: the words are at %p; they must be somewhere, and "
                    "aligned to 8 bytes",
                    (const void *)bitmap->words);
  if (bitmap->on_device)
    return context->cuda ? PIT_OK
                         : pit_fail(context, PIT_ERROR_DEVICE,
                                    "bitmap: the words are on a device; the "
                                    "context has none");
  int64_t used = bitmap->shape[bitmap->rank - 1] % 64;
  for (int64_t r = 0; used && r < bitmap->rows; ++r) {
    uint64_t past = bitmap->words[(r + 1) * bitmap->row_words - 1] >> used;
    if (past)
      return pit_fail(
          context, PIT_ERROR_INVALID_ARGUMENT,
          "bitmap: bit %lld of row %lld is set; rows end at %lld, and the bits "
          "past that must be 0",
          (long long)((bitmap->row_words - 1) * 64 + used +
                      __builtin_ctzll(past)),
          (long long)r, (long long)bitmap->shape[bitmap->rank - 1]);
  }
  return PIT_OK;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

static void bitmap_columns(const pit_rows *rows, const pit_box *box,
                           int64_t first, int64_t n, uint64_t *bits) {
  int32_t last = rows->tiling.rank - 1;
  int64_t words = pit_ceil_div(n, 64);
  memset(bits, 0, (size_t)words * sizeof(*bits));
  if (pit_box_empty(box, last))
    return;
  // The innermost of the rows' dimensions is a run of rows.
  int32_t inner = last - 1;
  int64_t run = last > 0 ? box->end[inner] - box->begin[inner] : 1;
  int64_t stride = last > 0 ? rows->data.strides[inner] : 0;
  int64_t coords[PIT_MAX_RANK];
  memcpy(coords, box->begin, sizeof(coords));
  do {
    const uint64_t *base = (const uint64_t *)rows->data.data + first / 64;
    for (int32_t d = 0; d < last; ++d)
      base += coords[d] * rows->data.strides[d];
    uint64_t sums[PIT_COLUMN_BLOCK_WORDS];
    rows->kernels->or_rows(base, stride, run, words, sums);
    for (int64_t w = 0; w < words; ++w)
      bits[w] |= sums[w];
  } while (pit_box_next(box, inner, coords));
  if (n % 64 != 0)
    bits[words - 1] &= (UINT64_C(1) << (n % 64)) - 1;
}

pit_status pit_rows_init_bitmap(pit_context *context, const pit_bitmap *bitmap,
                                const pit_index *index, pit_rows *rows) {
  bool same = bitmap->rank == index->rank;
  for (int32_t d = 0; same && d < index->rank; ++d)
    same = bitmap->shape[d] == index->shape[d];
  char is[PIT_DIMS_NAME_SIZE], wanted[PIT_DIMS_NAME_SIZE];
  if (!same)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: the bitmap has shape %s; it must be %s",
                    pit_dims_name(bitmap->shape, bitmap->rank, is),
                    pit_dims_name(index->shape, index->rank, wanted));
  *rows = (pit_rows){.tiling = pit_tiling_of(index),
                     .columns = bitmap_columns,
                     .kernels = context->kernels,
                     .of_bits = true,
                     .data = {.data = bitmap->words, .rank = bitmap->rank}};
  int64_t stride = bitmap->row_words;
  for (int32_t d = bitmap->rank - 2; d >= 0; --d) {
    rows->data.shape[d] = bitmap->shape[d];
    rows->data.strides[d] = stride;
    stride *= bitmap->shape[d];
  }
  return PIT_OK;
}

bool pit_bitmap_is_of_micro_tiles(const pit_index *index) {
  if (index->axis != index->rank - 1)
    return false;
  pit_tiling tiling = pit_tiling_of(index);
  for (int32_t d = 0; d < index->axis; ++d) {
    const pit_dim *dim = &tiling.dims[d];
    bool single = (dim->size == 1 && dim->step == 1) || dim->extent == 1;
    if (!single || dim->groups != dim->extent)
      return false;
  }
  return true;
}

pit_selection pit_selection_of_bitmap(const pit_bitmap *bitmap) {
  pit_selection selection = {.source = PIT_SOURCE_MASK_BITS, .bitmap = bitmap};
  pit_data *data = &selection.data;
  *data = (pit_data){.data = bitmap->words,
                     .dtype = {PIT_DTYPE_UINT, 8},
                     .rank = bitmap->rank};
  int64_t stride = bitmap->row_words * (int64_t)sizeof(*bitmap->words);
  for (int32_t last = bitmap->rank - 1, d = last; d >= 0; --d) {
    data->shape[d] =
        d == last ? pit_ceil_div(bitmap->shape[d], 8) : bitmap->shape[d];
    data->strides[d] = d == last ? 1 : stride;
    stride *= d == last ? 1 : bitmap->shape[d];
  }
  return selection;
}

pit_status pit_index_from_bitmap(pit_index_builder *builder,
                                 const pit_index_spec *spec,
                                 const pit_bitmap *bitmap,
                                 const pit_index **index) {
  if (!builder)
    return PIT_ERROR_INVALID_ARGUMENT;
  if (!index)
    return pit_fail(builder->context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: the place for the result is NULL");
  *index = NULL;
  pit_status status = pit_bitmap_check(builder->context, bitmap);
  if (status != PIT_OK)
    return status;
  // The bitmap alone is left of the data that it was made of.
  const pit_selection selection = pit_selection_of_bitmap(bitmap);
  return bitmap->on_device
             ? pit_builder_run_on_device(builder, spec, &selection, index)
             : pit_builder_run(builder, spec, &selection, -1, NULL, NULL,
                               index);
}
