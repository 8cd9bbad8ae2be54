//===- CudaIndexScan.c - Liveness of micro-tiles, on a device -------------===//
//
// Values (and masks of bytes) whose rows are contiguous and aligned to 16 bytes
// have kernels of their own, and so has the usual routing; the general
// kernels take everything else.
//
//===----------------------------------------------------------------------===//

#include "CudaIndexScan.h"
#include "Sources/Sources.h"

enum {
  ROWS_PER_BLOCK = 16, ///< of whole windows
  SLICE_ROWS = 128     ///< of a window, at least, if it is cut
};

static int64_t multiprocessors(const pit_cuda_build *build) {
  return pit_cuda_device(build->work->context)->multiprocessors;
}

//===----------------------------------------------------------------------===//
// Values in contiguous rows
//===----------------------------------------------------------------------===//

static pit_status scan_columns(pit_cuda_build *b, pit_cuda_matrix *m,
                               bool *done) {
  int64_t pieces = pit_ceil_div(m->values.row_bytes, PIT_PIECE_BYTES);
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
  pit_index_columns_params params = {.begin = pit_cuda_begin_of(b),
                                     .bits = pit_cuda_bits_of(b),
                                     .values = m->values,
                                     .rows = m->rows.extent,
                                     .size = m->rows.size,
                                     .step = m->rows.step,
                                     .split_log2 = split_log2,
                                     .blocks_per_group = blocks_per_group,
                                     .slices = slices,
                                     .when = b->condition};
  return pit_cuda_index_launch(b, pit_index_columns, blocks, PIT_INDEX_THREADS,
                               /*overlap=*/slices == 1, &params);
}

static pit_status scan_windows(pit_cuda_build *b, pit_cuda_matrix *m,
                               int32_t lanes_log2, bool *done) {
  int32_t pieces = (int32_t)pit_ceil_div(m->values.row_bytes, PIT_PIECE_BYTES);
  int64_t blocks = pieces * pit_ceil_div(b->extent, PIT_INDEX_THREADS);
  *done = blocks <= INT32_MAX;
  if (!*done)
    return PIT_OK;
  pit_index_windows_params params = {.begin = pit_cuda_begin_of(b),
                                     .bits = pit_cuda_bits_of(b),
                                     .values = m->values,
                                     .lanes_log2 = lanes_log2,
                                     .pieces = pieces,
                                     .when = b->condition};
  return pit_cuda_index_launch(b, pit_index_windows, blocks, PIT_INDEX_THREADS,
                               /*overlap=*/true, &params);
}

static pit_status scan_rows(pit_cuda_build *b, pit_cuda_matrix *m, int32_t size,
                            int32_t step, bool *done) {
  // All bits of all words are written.
  int64_t blocks = (int64_t)b->groups * b->words * (32 / ROWS_PER_BLOCK);
  *done = blocks <= INT32_MAX;
  if (!*done)
    return PIT_OK;
  pit_index_rows_params params = {.begin = pit_cuda_begin_of(b),
                                  .bits = pit_cuda_bits_of(b),
                                  .values = m->values,
                                  .size = size,
                                  .step = step,
                                  .when = b->condition};
  return pit_cuda_index_launch(b, pit_index_rows, blocks, PIT_INDEX_THREADS,
                               /*overlap=*/true, &params);
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
  int64_t size = pit_min(dim->size, dim->extent) << m.values.size_log2;
  int64_t step = pit_min(dim->step, dim->extent) << m.values.size_log2;
  if (size % PIT_VECTOR_BYTES != 0 || step % PIT_VECTOR_BYTES != 0)
    return PIT_OK;
  if (dim->groups == 1 && size == m.values.row_bytes && size <= PIT_PIECE_BYTES)
    return scan_windows(build, &m, 5, done);
  if (size == step && size <= PIT_PIECE_BYTES && (size & (size - 1)) == 0)
    return scan_windows(build, &m, __builtin_ctzll((uint64_t)size) - 4, done);
  return scan_rows(build, &m, (int32_t)size, (int32_t)step, done);
}

//===----------------------------------------------------------------------===//
// Everything
//===----------------------------------------------------------------------===//

static pit_general general_values(const pit_rows *rows) {
  pit_general g = {.tiling = rows->tiling,
                   .kind = PIT_SCAN_VALUES,
                   .size_log2 = rows->size_log2,
                   .always = rows->always,
                   .background = rows->background,
                   .care = rows->care};
  for (int32_t d = 0; d < g.tiling.rank; ++d)
    g.place[d] = rows->data.strides[d] * (INT64_C(1) << rows->size_log2);
  return g;
}

/// Box dimensions at the end, unused ones in front.
static pit_box_dims get_dims(const pit_general *g) {
  pit_box_dims dims;
  int32_t to = PIT_BOX_DIMS;
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
  int32_t axis = g->tiling.axis;
  pit_index_lanes_params params = {.begin = pit_cuda_begin_of(b),
                                   .dims = get_dims(g),
                                   .bits = pit_cuda_bits_of(b),
                                   .id_place = g->place[axis],
                                   .id_number = g->number[axis],
                                   .data = b->selection->data.data,
                                   .background = g->background,
                                   .care = g->care,
                                   .slot_stride = g->slot_stride,
                                   .slots = g->slots,
                                   .kind = g->kind,
                                   .size_log2 = g->size_log2,
                                   .always = g->always,
                                   .wide = g->wide,
                                   .when = b->condition};
  int64_t items = (int64_t)b->groups * b->words;
  // The lanes of a warp take neighbours in memory, if they can.
  const pit_box_dims *dims = &params.dims;
  bool runs = g->kind <= PIT_SCAN_MASK_BITS && axis != g->tiling.rank - 1 &&
              pit_min(dims->size[PIT_BOX_DIMS - 1],
                      dims->extent[PIT_BOX_DIMS - 1]) >= 32;
  int64_t blocks =
      pit_cuda_index_blocks(b, items, runs ? 1 : PIT_INDEX_THREADS / 32);
  return runs ? pit_cuda_index_launch(b, pit_index_warps, blocks,
                                      PIT_INDEX_THREADS, /*overlap=*/true,
                                      &params)
              : pit_cuda_index_launch(b, pit_index_lanes, blocks,
                                      PIT_INDEX_THREADS, /*overlap=*/true,
                                      &params);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

enum {
  MIN_PHASE_ROWS = 4,        ///< of a window that a thread takes
  MIN_COLUMN_BLOCK_LOG2 = 2, ///< of the words that a block takes of a row
  MIN_ROW_BITS = 512 ///< of a window, from which on a warp reads it at once
};

/// Rows that a block's threads share.
static pit_status scan_bits_columns(pit_cuda_build *b, const void *data,
                                    int64_t row_stride, pit_dim *rows) {
  int64_t height = pit_min(rows->size, rows->extent);
  int32_t column_block_log2 = 8;
  while (column_block_log2 > MIN_COLUMN_BLOCK_LOG2 &&
         (1 << (column_block_log2 - 1) >= b->words ||
          height >> (8 - column_block_log2) > MIN_PHASE_ROWS))
    --column_block_log2;
  int32_t column_blocks =
      (int32_t)pit_ceil_div(b->words, 1 << column_block_log2);
  pit_bits_columns_params params = {.begin = pit_cuda_begin_of(b),
                                    .bits = pit_cuda_bits_of(b),
                                    .data = data,
                                    .row_stride = row_stride,
                                    .rows = rows->extent,
                                    .size = rows->size,
                                    .step = rows->step,
                                    .column_block_log2 = column_block_log2,
                                    .column_blocks = column_blocks,
                                    .when = b->condition};
  return pit_cuda_index_launch(b, pit_bits_columns,
                               (int64_t)b->groups * column_blocks,
                               PIT_INDEX_THREADS, /*overlap=*/true, &params);
}

/// A lane reads the words of a row one after the other, or a warp at once.
static pit_status scan_bits_windows(pit_cuda_build *b, const void *data,
                                    int64_t row_stride, pit_dim *columns) {
  pit_bits_windows_params params = {.begin = pit_cuda_begin_of(b),
                                    .bits = pit_cuda_bits_of(b),
                                    .data = data,
                                    .row_stride = row_stride,
                                    .columns = columns->extent,
                                    .size = columns->size,
                                    .step = columns->step,
                                    .when = b->condition};
  int64_t items = (int64_t)b->groups * b->words;
  if (pit_min(columns->size, columns->extent) >= MIN_ROW_BITS)
    return pit_cuda_index_launch(b, pit_bits_rows, items, PIT_INDEX_THREADS,
                                 /*overlap=*/true, &params);
  return pit_cuda_index_launch(
      b, pit_bits_windows,
      pit_cuda_index_blocks(b, items, PIT_INDEX_THREADS / 32),
      PIT_INDEX_THREADS, /*overlap=*/true, &params);
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
  pit_index_check_params params = {.data = data->data,
                                   .count = 1,
                                   .low = low,
                                   .high = high,
                                   .status = PIT_ERROR_INVALID_ARGUMENT,
                                   .wide = data->dtype.bits == 64};
  for (int32_t d = 0; d < PIT_MAX_RANK; ++d) {
    bool used = d < data->rank;
    params.size[d] = used ? data->shape[d] : 1;
    params.stride[d] = used ? data->strides[d] : 0;
    params.count *= params.size[d];
  }
  if (params.count == 0)
    return PIT_OK;
  int64_t blocks = pit_cuda_index_blocks(b, params.count, PIT_INDEX_THREADS);
  pit_status status = alloc_checks(b, blocks);
  if (status != PIT_OK)
    return status;
  params.checks = b->checks;
  return pit_cuda_index_launch(b, pit_index_check, blocks, PIT_INDEX_THREADS,
                               /*overlap=*/false, &params);
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
  pit_index_scatter_params params = {
      .begin = pit_cuda_begin_of(b),
      .bits = b->bits,
      .checks = b->checks,
      .data = data->data,
      .block_stride = count ? data->strides[0] : 0,
      .pair_stride = count ? data->strides[1] : 0,
      .blocks = count,
      .groups = b->head.groups,
      .extent = b->extent,
      .status = PIT_ERROR_INVALID_ARGUMENT,
      .words = b->words,
      .wide = data->dtype.bits == 64};
  return pit_cuda_index_launch(b, pit_index_scatter, blocks, PIT_INDEX_THREADS,
                               /*overlap=*/true, &params);
}

/// Tokens of axis 0 to single experts, as many as a block has room for.
static pit_status scan_routing(pit_cuda_build *b) {
  const pit_data *data = &b->selection->data;
  // Few blocks make a short tally, many are quicker.
  int32_t words_log2 = 3;
  while ((int64_t)b->groups << words_log2 > PIT_ASSIGN_WORDS)
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
  pit_index_assign_params params = {.begin = pit_cuda_begin_of(b),
                                    .bits = b->bits,
                                    .tally = b->tally,
                                    .checks = b->checks,
                                    .data = data->data,
                                    .token_stride = data->strides[0],
                                    .slot_stride = data->strides[1],
                                    .status = PIT_ERROR_INVALID_ARGUMENT,
                                    .words = b->words,
                                    .words_log2 = words_log2,
                                    .wide = data->dtype.bits == 64,
                                    .tokens = (int32_t)data->shape[0],
                                    .slots = (int32_t)data->shape[1],
                                    .experts = b->groups};
  return pit_cuda_index_launch(b, pit_index_assign, blocks, PIT_ASSIGN_THREADS,
                               /*overlap=*/true, &params);
}

/// Has the routing the layout that scan_routing takes: ids are tokens?
static bool has_token_ids(const pit_cuda_build *build) {
  const pit_index *index = &build->head;
  return index->axis == 0 && index->micro_tile[1] == 1 && index->step[1] == 1 &&
         build->groups <= PIT_ASSIGN_WORDS &&
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
