//===- CudaBitmap.c - Bitmaps on a device, and their live fraction --------===//
//
// One launch writes the words (Device/Bitmap.c). Two count for all sizes
// that are powers of two at once (Device/LiveFractions.c); what is none of
// these is scanned as an index is, and its bits are counted.
//
//===----------------------------------------------------------------------===//

#include "Bitmap.h"
#include "Cuda/CudaContext.h"
#include "CudaIndex.h"
#include "CudaIndexScan.h"
#include "Sources/Sources.h"

#include "pit-runtime/Device.h"

enum {
  BATCH_ROWS = 8,     ///< that a warp reads at once
  MAX_WARP_ROWS = 64, ///< and that it takes
  BLOCKS_PER_MULTIPROCESSOR = 4,
  COLUMN_BLOCK_WORDS = 8,  ///< of a row that a warp takes element by element
  TILE = 128,              ///< rows and columns that a warp counts at once
  LEVELS = 8,              ///< windows of 1, 2, ..., 128
  WHOLE_ROWS = 4 * LEVELS, ///< places among the results
  WHOLE_COLUMNS,
  NUM_RESULTS,
  SUM_SHARE = 1024, ///< counts that a block adds up
  COPY_BYTES = 384  ///< that a scan begins
};

//===----------------------------------------------------------------------===//
// Bitmaps
//===----------------------------------------------------------------------===//

static pit_status check_limits(pit_context *context, const pit_bitmap *bitmap) {
  const int64_t limit = INT32_MAX - (1 << 20);
  if (bitmap->rows <= limit && bitmap->row_words <= limit / 64 &&
      2 * bitmap->rows * bitmap->row_words <= limit)
    return PIT_OK;
  return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                  "bitmap: %lld rows of %lld words; a device takes at most "
                  "%lld words of 32 bits, and rows of as many elements",
                  (long long)bitmap->rows, (long long)bitmap->row_words,
                  (long long)limit);
}

/// A scan of single micro-tiles into `bits`.
static pit_status begin_scan(const pit_cuda_work *work,
                             const pit_selection *selection,
                             const pit_index *index, pit_cuda_build *build) {
  *build = (pit_cuda_build){
      .work = work,
      .selection = selection,
      .head = *index,
      .groups = (int32_t)index->groups,
      .extent = index->shape[index->axis],
      .words = (int32_t)pit_ceil_div(index->shape[index->axis], 32)};
  void *counter = NULL;
  void *copy = NULL;
  pit_status status = pit_cuda_index_alloc(build, COPY_BYTES, 1, &copy);
  if (status == PIT_OK)
    status = pit_cuda_index_alloc(build, 1, sizeof(uint32_t), &counter);
  build->arrays.copy = copy;
  build->counter = counter;
  return status;
}

/// Writes the bitmap of a matrix; not done if its rows are none of 16 bytes.
static pit_status read_matrix(pit_cuda_build *b, bool *done) {
  pit_cuda_matrix m;
  const pit_rows described = pit_cuda_rows_of(b);
  *done = pit_cuda_get_matrix(&described, &m);
  if (!*done)
    return PIT_OK;
  int64_t rows = m.rows.extent;
  int64_t pieces = pit_ceil_div(m.values.row_bytes, PIT_PIECE_BYTES);
  // Warps share the rows of a piece if there are not enough pieces for them.
  const int32_t warps = PIT_INDEX_THREADS / 32;
  int32_t split_log2 = 0;
  while (1 << split_log2 < warps && pieces << split_log2 < warps)
    ++split_log2;
  int32_t blocks_per_group = (int32_t)pit_ceil_div(pieces, warps >> split_log2);
  // All blocks are there at once, as long as warps have few enough rows.
  int64_t wave = (int64_t)BLOCKS_PER_MULTIPROCESSOR *
                 pit_cuda_device(b->work->context)->multiprocessors;
  int64_t groups = pit_max(1, wave / blocks_per_group);
  int64_t warp_rows = pit_ceil_div(rows, groups << split_log2);
  warp_rows = pit_ceil_div(warp_rows, BATCH_ROWS) * BATCH_ROWS;
  warp_rows = pit_min(warp_rows, MAX_WARP_ROWS);
  int32_t height = (int32_t)(warp_rows << split_log2);
  int64_t blocks = pit_ceil_div(rows, height) * blocks_per_group;
  *done = blocks <= INT32_MAX;
  if (!*done)
    return PIT_OK;
  pit_bitmap_values_params params = {.bits = b->bits,
                                     .values = m.values,
                                     .rows = rows,
                                     .words = b->words,
                                     .height = height,
                                     .split_log2 = split_log2,
                                     .blocks_per_group = blocks_per_group};
  return pit_cuda_index_launch(b, pit_bitmap_values, blocks, PIT_INDEX_THREADS,
                               /*overlap=*/true, &params);
}

/// Writes the bitmap of a matrix with any strides; not done if it has another
/// rank.
static pit_status read_elements(pit_cuda_build *b, bool *done) {
  const pit_rows r = pit_cuda_rows_of(b);
  int32_t last = r.tiling.rank - 1;
  *done = last <= 1;
  if (!*done)
    return PIT_OK;
  int64_t size = INT64_C(1) << r.size_log2;
  int32_t rows = b->groups;
  int32_t column_blocks = (int32_t)pit_ceil_div(b->words, COLUMN_BLOCK_WORDS);
  // As many column blocks as words at most, which have been checked.
  int32_t items = rows * column_blocks;
  pit_bitmap_elements_params params = {
      .bits = b->bits,
      .data = r.data.data,
      .row_stride = last == 1 ? r.data.strides[0] * size : 0,
      .column_stride = r.data.strides[last] * size,
      .background = r.background,
      .care = r.care,
      .words = b->words,
      .size_log2 = r.size_log2,
      .always = r.always,
      .rows = rows,
      .columns = (int32_t)b->extent,
      .column_blocks = column_blocks,
      .items = items};
  return pit_cuda_index_launch(
      b, pit_bitmap_elements,
      pit_cuda_index_blocks(b, items, PIT_INDEX_THREADS / 32),
      PIT_INDEX_THREADS, /*overlap=*/true, &params);
}

static pit_status read_values(pit_cuda_build *b, bool *done) {
  pit_status status = read_matrix(b, done);
  return status != PIT_OK || *done ? status : read_elements(b, done);
}

pit_status pit_cuda_bitmap_fill(const pit_cuda_work *work,
                                const pit_selection *selection,
                                const pit_index *elements, pit_bitmap *bitmap) {
  pit_context *context = work->context;
  bitmap->on_device = 1;
  pit_status status = pit_cuda_check_code(context);
  if (status == PIT_OK)
    status = pit_selection_check(context, selection, elements);
  if (status == PIT_OK)
    status = check_limits(context, bitmap);
  if (status != PIT_OK || pit_bitmap_is_empty(bitmap))
    return status;
  pit_cuda_build build;
  void *words = NULL;
  status = begin_scan(work, selection, elements, &build);
  if (status == PIT_OK)
    status = pit_cuda_index_alloc(&build, bitmap->rows * bitmap->row_words,
                                  sizeof(*bitmap->words), &words);
  if (status != PIT_OK)
    return status;
  bitmap->words = words;
  build.bits = words;
  build.words = (int32_t)(2 * bitmap->row_words);
  bool done = false;
  if (selection->source == PIT_SOURCE_VALUES ||
      selection->source == PIT_SOURCE_MASK)
    status = read_values(&build, &done);
  return status != PIT_OK || done ? status : pit_cuda_scan(&build);
}

//===----------------------------------------------------------------------===//
// Live fraction
//===----------------------------------------------------------------------===//

typedef struct counting {
  const pit_cuda_work *work;
  const pit_bitmap *bitmap;
  int64_t *results;    ///< on the device
  uint32_t *counts[2]; ///< of windows of rows, and of columns
  int32_t padded[2];
} counting;

/// The places at which the results have a candidate's numbers: a pair, or one
/// number, from WHOLE_ROWS on; -1: they do not.
static int32_t find_place(const pit_bitmap *bitmap, const pit_index *index) {
  if (bitmap->rank > 2)
    return -1;
  int32_t last = bitmap->rank - 1, other = 1 - index->axis;
  bool columns = last == 1 && index->axis == 0;
  int64_t size = last == 0 ? 1 : index->micro_tile[other];
  int64_t step = last == 0 ? 1 : index->step[other];
  int64_t extent = last == 0 ? 1 : bitmap->shape[other];
  if (last == 1 && index->groups == 1 && (size == 0 || size >= extent))
    return columns ? WHOLE_ROWS : WHOLE_COLUMNS;
  if (size != step || size >= 1 << LEVELS || (size & (size - 1)) != 0)
    return -1;
  return 2 * (__builtin_ctzll((uint64_t)size) + (columns ? LEVELS : 0));
}

/// Counts for all sizes of windows at once.
static pit_status count_tiles(const counting *c) {
  const pit_bitmap *bitmap = c->bitmap;
  const pit_cuda_build build = {.work = c->work};
  int32_t across = c->padded[1] / TILE;
  int32_t tiles = c->padded[0] / TILE * across;
  pit_live_fraction_tiles_params params = {
      .bits = (const uint32_t *)bitmap->words,
      .row_counts = c->counts[0],
      .column_counts = c->counts[1],
      .words = (int32_t)(2 * bitmap->row_words),
      .rows = (int32_t)bitmap->rows,
      .across = across,
      .tiles = tiles,
      .padded_rows = c->padded[0],
      .padded_columns = c->padded[1]};
  pit_status status = pit_cuda_index_launch(
      &build, pit_live_fraction_tiles,
      pit_cuda_index_blocks(&build, tiles, PIT_INDEX_THREADS / 32),
      PIT_INDEX_THREADS, /*overlap=*/true, &params);
  if (status != PIT_OK)
    return status;
  pit_live_fraction_sums_params sums = {.row_counts = c->counts[0],
                                        .column_counts = c->counts[1],
                                        .results = c->results,
                                        .padded_rows = c->padded[0],
                                        .padded_columns = c->padded[1]};
  const pit_cuda_grid grid = {
      .blocks = pit_cuda_index_blocks(
          &build, pit_max(c->padded[0], c->padded[1]), SUM_SHARE),
      .split = 2 * LEVELS,
      .threads = PIT_INDEX_THREADS,
      .overlap = true};
  return pit_cuda_start(c->work, pit_live_fraction_sums, grid, &sums);
}

/// Scans and counts one candidate.
static pit_status count_scan(const counting *c, const pit_index *index,
                             int32_t place) {
  const pit_selection selection = pit_selection_of_bitmap(c->bitmap);
  pit_cuda_build build;
  pit_status status = begin_scan(c->work, &selection, index, &build);
  int64_t words;
  void *bits = NULL;
  if (status == PIT_OK && (!pit_mul(index->groups, build.words, &words) ||
                           words > INT32_MAX - (1 << 20)))
    return pit_fail(
        c->work->context, PIT_ERROR_UNSUPPORTED,
        "live fraction: %lld groups of %lld micro-tiles are too many "
        "for a device",
        (long long)index->groups, (long long)build.extent);
  if (status == PIT_OK)
    status = pit_cuda_index_alloc(&build, words, sizeof(*build.bits), &bits);
  build.bits = bits;
  if (status == PIT_OK)
    status = pit_cuda_scan(&build);
  if (status != PIT_OK)
    return status;
  pit_live_fraction_groups_params params = {.bits = build.bits,
                                            .results = c->results + place,
                                            .groups = build.groups,
                                            .words = build.words};
  return pit_cuda_index_launch(
      &build, pit_live_fraction_groups,
      pit_cuda_index_blocks(&build, build.groups, PIT_INDEX_THREADS / 32),
      PIT_INDEX_THREADS, /*overlap=*/true, &params);
}

/// Puts all launches on the stream.
static pit_status launch_all(counting *c, const pit_index *indices,
                             int32_t count, int32_t num_results) {
  const pit_bitmap *bitmap = c->bitmap;
  int64_t columns = bitmap->shape[bitmap->rank - 1];
  c->padded[0] = (int32_t)(pit_ceil_div(bitmap->rows, TILE) * TILE);
  c->padded[1] = (int32_t)(pit_ceil_div(columns, TILE) * TILE);
  int64_t words = 2 * ((int64_t)num_results + c->padded[0] + c->padded[1]);
  const pit_cuda_build build = {.work = c->work};
  void *memory;
  pit_status status =
      pit_cuda_index_alloc(&build, words, sizeof(uint32_t), &memory);
  if (status != PIT_OK)
    return status;
  c->results = memory;
  c->counts[0] = (uint32_t *)memory + 2 * (int64_t)num_results;
  c->counts[1] = c->counts[0] + 2 * (int64_t)c->padded[0];
  status = pit_cuda_fill(c->work, memory, 0, words);
  bool tiles = false;
  int32_t place = NUM_RESULTS;
  for (int32_t i = 0; status == PIT_OK && i < count; ++i) {
    if (find_place(bitmap, &indices[i]) >= 0) {
      tiles = true;
    } else {
      status = count_scan(c, &indices[i], place);
      place += 2;
    }
  }
  return status == PIT_OK && tiles ? count_tiles(c) : status;
}

static void take(const pit_bitmap *bitmap, const pit_index *indices,
                 int32_t count, const int64_t *results,
                 pit_live_fraction *live_fractions) {
  int32_t next = NUM_RESULTS;
  for (int32_t i = 0; i < count; ++i) {
    int32_t place = find_place(bitmap, &indices[i]);
    bool whole = place >= WHOLE_ROWS;
    if (place < 0) {
      place = next;
      next += 2;
    }
    live_fractions[i].live = results[place];
    live_fractions[i].max_count = results[whole ? place : place + 1];
  }
}

pit_status pit_cuda_live_fractions(pit_index_builder *builder,
                                   const pit_bitmap *bitmap,
                                   const pit_index *indices, int32_t count,
                                   pit_live_fraction *live_fractions) {
  pit_context *context = builder->context;
  int32_t num_results = NUM_RESULTS;
  for (int32_t i = 0; i < count; ++i)
    num_results += find_place(bitmap, &indices[i]) < 0 ? 2 : 0;
  pit_status status = pit_cuda_check_code(context);
  if (status == PIT_OK)
    status = check_limits(context, bitmap);
  if (status == PIT_OK)
    status = pit_buffer_reserve(context, &builder->pyramid, num_results,
                                sizeof(int64_t), "a live fraction");
  pit_cuda_work work;
  if (status == PIT_OK)
    status =
        pit_builder_begin_work(builder, &builder->live_fraction_arena, &work);
  if (status != PIT_OK)
    return status;
  counting c = {.work = &work, .bitmap = bitmap};
  status = launch_all(&c, indices, count, num_results);
  pit_cuda_pop(context);
  int64_t *results = builder->pyramid.data;
  if (status == PIT_OK)
    status = pit_device_read(context, results, c.results,
                             num_results * (int64_t)sizeof(*results),
                             builder->stream);
  if (status == PIT_OK)
    take(bitmap, indices, count, results, live_fractions);
  return status;
}
