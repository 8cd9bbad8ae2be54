//===- CudaIndexScan.c - Liveness of micro-tiles, on a device -------------===//
//
// Values (and masks of bytes) whose rows are contiguous and aligned to 16 bytes
// have kernels of their own, and so has the usual routing; the general
// kernels take everything else.
//
//===----------------------------------------------------------------------===//

#include "CudaIndexScan.h"
#include "CudaMatrix.h"
#include "Sources/Sources.h"

enum {
  ROWS_PER_BLOCK = 16, ///< of whole windows
  SLICE_ROWS = 128,    ///< of a window, at least, if it is cut
  ASSIGN_THREADS = 1024,
  ASSIGN_WORDS = 4096, ///< of bits that a block has room for
  BOX_DIMS = 8         ///< of the general kernels
};

static int64_t multiprocessors(const pit_cuda_build *build) {
  return pit_cuda_device(build->work->context)->multiprocessors;
}

//===----------------------------------------------------------------------===//
// Values in contiguous rows
//===----------------------------------------------------------------------===//

/// The parameters that all scans begin with.
#define BEGIN_PARAMS(b) &(b)->head, &(b)->copy, &(b)->counter
/// The bitmap that a scan writes: a row of words for each group.
#define BITMAP_PARAMS(b) &(b)->bits, &(b)->groups, &(b)->words, &(b)->extent

static pit_status scan_columns(pit_cuda_build *b, pit_cuda_matrix *m,
                               bool *done) {
  int64_t pieces = pit_ceil_div(m->row_bytes, PIT_PIECE_BYTES);
  int64_t height = pit_min(m->rows.size, m->rows.extent);
  // Warps share the rows of a window until there are enough of them.
  int32_t split_log2 = 0;
  while (split_log2 < 3 && height >> split_log2 > 4 &&
         (b->groups * pieces) << split_log2 < 12 * multiprocessors(b))
    ++split_log2;
  int32_t blocks_per_group =
      (int32_t)pit_ceil_div(pieces, PIT_INDEX_THREADS / 32 >> split_log2);
  int64_t blocks = (int64_t)b->groups * blocks_per_group;
  // Few windows are cut, if they are high. Blocks then add their bits.
  int64_t wanted = pit_ceil_div(4 * multiprocessors(b), pit_max(blocks, 1));
  int32_t slices = (int32_t)pit_max(1, pit_min(wanted, height / SLICE_ROWS));
  blocks *= slices;
  *done = blocks <= INT32_MAX;
  if (!*done)
    return PIT_OK;
  if (slices > 1) {
    pit_status status =
        pit_cuda_fill(b->work, b->bits, 0, (int64_t)b->groups * b->words);
    if (status != PIT_OK)
      return status;
  }
  void *params[] = {BEGIN_PARAMS(b),
                    BITMAP_PARAMS(b),
                    &m->data,
                    &m->row_stride,
                    &m->row_bytes,
                    &m->size_log2,
                    PIT_PATTERN_PARAMS(m->pattern),
                    &m->rows.extent,
                    &m->rows.size,
                    &m->rows.step,
                    &split_log2,
                    &blocks_per_group,
                    &slices,
                    PIT_CONDITION_PARAMS(b)};
  return pit_cuda_index_launch(b, "pit_index_columns", blocks,
                               PIT_INDEX_THREADS, /*overlap=*/slices == 1,
                               params);
}

static pit_status scan_windows(pit_cuda_build *b, pit_cuda_matrix *m,
                               int32_t lanes_log2, bool *done) {
  int32_t pieces = (int32_t)pit_ceil_div(m->row_bytes, PIT_PIECE_BYTES);
  int64_t blocks = pieces * pit_ceil_div(b->extent, PIT_INDEX_THREADS);
  *done = blocks <= INT32_MAX;
  if (!*done)
    return PIT_OK;
  void *params[] = {
      BEGIN_PARAMS(b), BITMAP_PARAMS(b), &m->data,
      &m->row_stride,  &m->row_bytes,    PIT_PATTERN_PARAMS(m->pattern),
      &lanes_log2,     &pieces,          PIT_CONDITION_PARAMS(b)};
  return pit_cuda_index_launch(b, "pit_index_windows", blocks,
                               PIT_INDEX_THREADS, /*overlap=*/true, params);
}

static pit_status scan_rows(pit_cuda_build *b, pit_cuda_matrix *m, int32_t size,
                            int32_t step, bool *done) {
  // All bits of all words are written.
  int64_t blocks = (int64_t)b->groups * b->words * (32 / ROWS_PER_BLOCK);
  *done = blocks <= INT32_MAX;
  if (!*done)
    return PIT_OK;
  void *params[] = {BEGIN_PARAMS(b),
                    BITMAP_PARAMS(b),
                    &m->data,
                    &m->row_stride,
                    &m->row_bytes,
                    PIT_PATTERN_PARAMS(m->pattern),
                    &size,
                    &step,
                    PIT_CONDITION_PARAMS(b)};
  return pit_cuda_index_launch(b, "pit_index_rows", blocks, PIT_INDEX_THREADS,
                               /*overlap=*/true, params);
}

/// Scans a matrix, if a kernel of those above can.
static pit_status scan_matrix(pit_cuda_build *build, const pit_rows *rows,
                              bool *done) {
  pit_cuda_matrix m;
  *done = false;
  if (!pit_cuda_get_matrix(rows, &m))
    return PIT_OK;
  if (m.axis_last)
    return scan_columns(build, &m, done);
  // A window that is the whole row may be of any size up to then.
  const pit_dim *dim = &m.columns;
  int64_t size = pit_min(dim->size, dim->extent) << m.size_log2;
  int64_t step = pit_min(dim->step, dim->extent) << m.size_log2;
  if (size % PIT_VECTOR_BYTES != 0 || step % PIT_VECTOR_BYTES != 0)
    return PIT_OK;
  if (dim->groups == 1 && size == m.row_bytes && size <= PIT_PIECE_BYTES)
    return scan_windows(build, &m, 5, done);
  if (size == step && size <= PIT_PIECE_BYTES && (size & (size - 1)) == 0)
    return scan_windows(build, &m, __builtin_ctzll((uint64_t)size) - 4, done);
  return scan_rows(build, &m, (int32_t)size, (int32_t)step, done);
}

//===----------------------------------------------------------------------===//
// Everything
//===----------------------------------------------------------------------===//

/// As Device/IndexGeneral.mlir wants it.
typedef struct dims {
  int64_t skip[BOX_DIMS], windows[BOX_DIMS], size[BOX_DIMS], step[BOX_DIMS],
      extent[BOX_DIMS], place[BOX_DIMS], number[BOX_DIMS];
} dims;

static pit_general general_values(const pit_rows *rows) {
  pit_general g = {.tiling = rows->tiling,
                   .kind = 0,
                   .size_log2 = rows->size_log2,
                   .always = rows->always,
                   .background = rows->background,
                   .care = rows->care};
  for (int32_t d = 0; d < g.tiling.rank; ++d)
    g.place[d] = rows->data.strides[d] * (INT64_C(1) << rows->size_log2);
  return g;
}

/// Box dimensions at the end, unused ones in front.
static dims get_dims(const pit_general *g) {
  dims dims;
  int32_t to = BOX_DIMS;
  int64_t skip = 1;
  for (int32_t d = g->tiling.rank - 1; d >= 0; --d) {
    const pit_dim *dim = &g->tiling.dims[d];
    if (d == g->tiling.axis)
      continue;
    --to;
    dims.skip[to] = skip;
    dims.windows[to] = pit_max(dim->groups, 1);
    dims.size[to] = dim->size;
    dims.step[to] = dim->step;
    dims.extent[to] = dim->extent;
    dims.place[to] = g->place[d];
    dims.number[to] = g->number[d];
    skip *= dim->groups;
  }
  while (to-- > 0) {
    dims.skip[to] = dims.windows[to] = dims.size[to] = 1;
    dims.step[to] = dims.extent[to] = 1;
    dims.place[to] = dims.number[to] = 0;
  }
  return dims;
}

static pit_status scan_general(pit_cuda_build *b, pit_general *g) {
  dims dims = get_dims(g);
  const void *data = b->selection->data.data;
  int32_t axis = g->tiling.axis;
  void *params[] = {BEGIN_PARAMS(b),
                    &dims,
                    BITMAP_PARAMS(b),
                    &g->place[axis],
                    &g->number[axis],
                    &g->kind,
                    &data,
                    &g->size_log2,
                    &g->background,
                    &g->care,
                    &g->always,
                    &g->wide,
                    &g->slot_stride,
                    &g->slots,
                    PIT_CONDITION_PARAMS(b)};
  int64_t items = (int64_t)b->groups * b->words;
  // The lanes of a warp take neighbours in memory, if they can.
  bool runs = g->kind < 2 && axis != g->tiling.rank - 1 &&
              pit_min(dims.size[BOX_DIMS - 1], dims.extent[BOX_DIMS - 1]) >= 32;
  int64_t blocks =
      pit_cuda_index_blocks(b, items, runs ? 1 : PIT_INDEX_THREADS / 32);
  return pit_cuda_index_launch(b, runs ? "pit_index_warps" : "pit_index_lanes",
                               blocks, PIT_INDEX_THREADS, /*overlap=*/true,
                               params);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

enum {
  MIN_PHASE_ROWS = 4, ///< of a window that a thread takes
  MIN_STRIP_LOG2 = 2, ///< of the words that a block takes of a row
  MIN_ROW_BITS = 512  ///< of a window, from which on a warp reads it at once
};

/// Rows that a block's threads share.
static pit_status scan_bits_columns(pit_cuda_build *b, const void *data,
                                    int64_t row_stride, pit_dim *rows) {
  int64_t height = pit_min(rows->size, rows->extent);
  int32_t strip_log2 = 8;
  while (strip_log2 > MIN_STRIP_LOG2 &&
         (1 << (strip_log2 - 1) >= b->words ||
          height >> (8 - strip_log2) > MIN_PHASE_ROWS))
    --strip_log2;
  int32_t strips = (int32_t)pit_ceil_div(b->words, 1 << strip_log2);
  void *params[] = {BEGIN_PARAMS(b), BITMAP_PARAMS(b),
                    &data,           &row_stride,
                    &rows->extent,   &rows->size,
                    &rows->step,     &strip_log2,
                    &strips,         PIT_CONDITION_PARAMS(b)};
  return pit_cuda_index_launch(b, "pit_bits_columns",
                               (int64_t)b->groups * strips, PIT_INDEX_THREADS,
                               /*overlap=*/true, params);
}

/// A lane reads the words of a row one after the other, or a warp at once.
static pit_status scan_bits_windows(pit_cuda_build *b, const void *data,
                                    int64_t row_stride, pit_dim *columns) {
  void *params[] = {BEGIN_PARAMS(b), BITMAP_PARAMS(b),       &data,
                    &row_stride,     &columns->extent,       &columns->size,
                    &columns->step,  PIT_CONDITION_PARAMS(b)};
  int64_t items = (int64_t)b->groups * b->words;
  if (pit_min(columns->size, columns->extent) >= MIN_ROW_BITS)
    return pit_cuda_index_launch(b, "pit_bits_rows", items, PIT_INDEX_THREADS,
                                 /*overlap=*/true, params);
  return pit_cuda_index_launch(
      b, "pit_bits_windows",
      pit_cuda_index_blocks(b, items, PIT_INDEX_THREADS / 32),
      PIT_INDEX_THREADS, /*overlap=*/true, params);
}

/// Packed bits of a matrix, in words of 32 that lie in its memory.
static pit_status scan_bits(pit_cuda_build *b, bool *done) {
  const pit_data *data = &b->selection->data;
  pit_tiling tiling = pit_tiling_of(&b->head);
  int32_t last = tiling.rank - 1;
  const pit_dim one = {1, 1, 1, 1};
  int64_t columns = b->head.shape[last];
  int64_t row_stride = last == 1 ? data->strides[0] : 0;
  // A bitmap has whole words.
  bool whole = b->selection->bitmap || pit_ceil_div(columns, 8) % 4 == 0;
  *done = last <= 1 && whole && data->strides[last] == 1 &&
          row_stride % 4 == 0 && (uintptr_t)data->data % 4 == 0;
  if (!*done)
    return PIT_OK;
  pit_dim other = last == 0 ? one : tiling.dims[1 - tiling.axis];
  return tiling.axis == last
             ? scan_bits_columns(b, data->data, row_stride, &other)
             : scan_bits_windows(b, data->data, row_stride, &other);
}

//===----------------------------------------------------------------------===//
// Sources of integers
//===----------------------------------------------------------------------===//

static pit_status alloc_checks(pit_cuda_build *build, int64_t blocks) {
  void *memory;
  pit_status status =
      pit_cuda_index_alloc(build, blocks, sizeof(*build->checks), &memory);
  build->checks = memory;
  build->num_checks = (int32_t)blocks;
  return status;
}

/// Leaves a status if a number of the source is not in [low, high].
static pit_status check_numbers(pit_cuda_build *b, int64_t low, int64_t high) {
  const pit_data *data = &b->selection->data;
  struct {
    int64_t size[PIT_MAX_RANK], stride[PIT_MAX_RANK];
  } dims;
  int64_t count = 1;
  for (int32_t d = 0; d < PIT_MAX_RANK; ++d) {
    bool used = d < data->rank;
    dims.size[d] = used ? data->shape[d] : 1;
    dims.stride[d] = used ? data->strides[d] : 0;
    count *= dims.size[d];
  }
  if (count == 0)
    return PIT_OK;
  int64_t blocks = pit_cuda_index_blocks(b, count, PIT_INDEX_THREADS);
  pit_status status = alloc_checks(b, blocks);
  if (status != PIT_OK)
    return status;
  int32_t bad = PIT_ERROR_INVALID_ARGUMENT;
  int32_t wide = data->dtype.bits == 64;
  const void *from = data->data;
  void *params[] = {&b->checks, &bad, &from, &wide, &dims, &count, &low, &high};
  return pit_cuda_index_launch(b, "pit_index_check", blocks, PIT_INDEX_THREADS,
                               /*overlap=*/false, params);
}

static pit_status clear_bits(const pit_cuda_build *build) {
  return pit_cuda_fill(build->work, build->bits, 0,
                       (int64_t)build->groups * build->words);
}

/// Marks the first `count` pairs of a list of blocks in cleared bits; none: no
/// bit.
static pit_status scan_blocks(pit_cuda_build *b, int64_t count) {
  const pit_data *data = &b->selection->data;
  pit_status status = clear_bits(b);
  int64_t blocks = pit_cuda_index_blocks(b, count, PIT_INDEX_THREADS);
  if (status == PIT_OK && count > 0)
    status = alloc_checks(b, blocks);
  if (status != PIT_OK)
    return status;
  int32_t bad = PIT_ERROR_INVALID_ARGUMENT;
  int32_t wide = data->dtype.bits == 64;
  int64_t block_stride = count ? data->strides[0] : 0;
  int64_t pair_stride = count ? data->strides[1] : 0;
  const void *from = data->data;
  void *params[] = {BEGIN_PARAMS(b), &b->bits, &b->checks,      &bad,
                    &b->words,       &from,    &wide,           &block_stride,
                    &pair_stride,    &count,   &b->head.groups, &b->extent};
  return pit_cuda_index_launch(b, "pit_index_scatter", blocks,
                               PIT_INDEX_THREADS, /*overlap=*/true, params);
}

/// Tokens of axis 0 to single experts, as many as a block has room for.
static pit_status scan_routing(pit_cuda_build *b) {
  const pit_data *data = &b->selection->data;
  // Few blocks make a short tally, many are quicker.
  int32_t words_log2 = 3;
  while ((int64_t)b->groups << words_log2 > ASSIGN_WORDS)
    --words_log2;
  int64_t blocks = pit_ceil_div(b->words, 1 << words_log2);
  void *tally;
  pit_status status = alloc_checks(b, blocks);
  if (status == PIT_OK)
    status =
        pit_cuda_index_alloc(b, b->groups * blocks, sizeof(*b->tally), &tally);
  if (status != PIT_OK)
    return status;
  b->tally = tally;
  b->parts = (int32_t)blocks;
  b->part_words = 1 << words_log2;
  int32_t bad = PIT_ERROR_INVALID_ARGUMENT;
  int32_t wide = data->dtype.bits == 64;
  int32_t tokens = (int32_t)data->shape[0];
  int32_t slots = (int32_t)data->shape[1];
  int64_t token_stride = data->strides[0], slot_stride = data->strides[1];
  const void *from = data->data;
  void *params[] = {
      BEGIN_PARAMS(b), &b->bits,    &b->tally, &b->checks, &bad,
      &b->words,       &words_log2, &from,     &wide,      &token_stride,
      &slot_stride,    &tokens,     &slots,    &b->groups};
  return pit_cuda_index_launch(b, "pit_index_assign", blocks, ASSIGN_THREADS,
                               /*overlap=*/true, params);
}

/// Has the routing the layout that scan_routing takes: ids are tokens?
static bool has_token_ids(const pit_cuda_build *build) {
  const pit_index *index = &build->head;
  return index->axis == 0 && index->micro_tile[1] == 1 && index->step[1] == 1 &&
         build->groups <= ASSIGN_WORDS &&
         build->selection->data.shape[1] <= INT32_MAX / 512;
}

//===----------------------------------------------------------------------===//
// Every source
//===----------------------------------------------------------------------===//

static pit_status scan_values(pit_cuda_build *build) {
  pit_rows rows = pit_cuda_rows_of(build);
  bool done;
  pit_status status = scan_matrix(build, &rows, &done);
  if (status != PIT_OK || done)
    return status;
  pit_general g = general_values(&rows);
  return scan_general(build, &g);
}

pit_status pit_cuda_scan(pit_cuda_build *build) {
  const pit_index *index = &build->head;
  const pit_data *data = &build->selection->data;
  pit_source source = build->selection->source;
  const pit_source_row *row = pit_source_find((int32_t)source);
  bool is_empty = build->groups == 0;
  for (int32_t d = 0; d < index->rank; ++d)
    is_empty |= index->shape[d] == 0;
  if (source == PIT_SOURCE_BLOCKS)
    return scan_blocks(build, data->shape[0]);
  // This scan checks the numbers, too.
  bool by_tokens =
      source == PIT_SOURCE_ROUTING && !is_empty && has_token_ids(build);
  pit_status status = PIT_OK;
  if (row->range && !by_tokens) {
    int64_t least, most;
    row->range(data, index, &least, &most);
    status = check_numbers(build, least, most);
  }
  if (status != PIT_OK)
    return status;
  if (is_empty)
    return scan_blocks(build, 0);
  if (source == PIT_SOURCE_VALUES || source == PIT_SOURCE_MASK)
    return scan_values(build);
  if (by_tokens)
    return scan_routing(build);
  bool done = false;
  if (source == PIT_SOURCE_MASK_BITS)
    status = scan_bits(build, &done);
  if (status != PIT_OK || done)
    return status;
  pit_general g = {.tiling = pit_tiling_of(index),
                   .wide = data->dtype.bits == 64};
  row->describe(data, index, &g);
  return scan_general(build, &g);
}
