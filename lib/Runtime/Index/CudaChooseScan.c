//===- CudaChooseScan.c - A device scans, and decides ---------------------===//
//
// Two launches: one reads the values, or their bitmap, for all variants, if it
// is time to scan, and one decides and lists (Device/ChooseScan.c,
// Device/Choose.c). After another choice by the same values there is the
// second alone. If the first kernel cannot read the values or lacks what
// a variant needs, the scans of all variants' indices take its place.
//
//===----------------------------------------------------------------------===//

#include "CudaChooseScan.h"
#include "CudaIndexScan.h"

enum {
  MAX_COUNT_BLOCKS = 64, ///< that count bits
  MIN_HEIGHT = 8,        ///< of the windows of one read
  MAX_HEIGHT = 128,
  ROWS_HEIGHT = 64, ///< of windows if only rows are asked for
  MAX_WARP_ROWS = 32
};

static pit_choice_table make_table(const pit_cuda_variant *variants,
                                   int32_t count) {
  pit_choice_table table = {0};
  for (int32_t v = 0; v < count; ++v) {
    const pit_cuda_variant *variant = &variants[v];
    const pit_cuda_build *build = &variant->build;
    pit_choice_variant *row = &table.variants[v];
    row->fixed = variant->fixed;
    if (variant->dense)
      continue;
    row->live = variant->live;
    row->numbers = variant->numbers;
    row->num_numbers = variant->num_numbers;
    row->bits = variant->bits;
    row->parts = variant->parts;
    row->part_words = variant->part_words;
    row->arrays = build->arrays;
    row->extent = build->extent;
    row->groups = build->groups;
    row->words = build->words;
    row->same = variant->same;
    // A block lists as many words at once as it has threads. Few long groups
    // are cut, so that all multiprocessors have something to do.
    int64_t wave = pit_cuda_device(build->work->context)->multiprocessors;
    int64_t wanted = pit_max(1, wave / pit_max(build->groups, 1));
    int64_t turns = pit_ceil_div(build->words, wanted * PIT_INDEX_THREADS);
    row->span = (int32_t)(pit_max(turns, 1) * PIT_INDEX_THREADS);
    row->slices = (int32_t)pit_max(1, pit_ceil_div(build->words, row->span));
  }
  return table;
}

//===----------------------------------------------------------------------===//
// One read for all variants
//===----------------------------------------------------------------------===//

/// How that reads.
typedef struct reading {
  pit_cuda_matrix matrix;
  pit_cuda_variant *columns, *rows; ///< of micro-tiles h x 1, and whole rows
  int32_t height, windows, split_log2, blocks_per_window;
  int32_t *numbers; ///< of live micro-tiles, one of each block
} reading;

/// Is that the matrix that is read? The first one is.
static bool is_same(reading *r, const pit_cuda_matrix *m) {
  const pit_cuda_matrix *first = &r->matrix;
  if (!first->values.data)
    r->matrix = *m;
  const pit_cuda_values *own = &first->values, *other = &m->values;
  return own->data == other->data && first->rows.extent == m->rows.extent &&
         first->columns.extent == m->columns.extent &&
         own->row_stride == other->row_stride &&
         own->row_bytes == other->row_bytes &&
         own->size_log2 == other->size_log2;
}

/// The matrix, or its bitmap, that a build reads.
static bool get_matrix(const pit_cuda_build *build, pit_cuda_matrix *m) {
  if (build->selection->bitmap)
    return pit_cuda_get_bit_matrix(build, m);
  const pit_rows rows = pit_cuda_rows_of(build);
  return rows.tiling.rank == 2 && pit_cuda_get_matrix(&rows, m);
}

/// Takes a variant into the reading, if it has room for such a one.
static bool add_variant(reading *r, pit_cuda_variant *variant) {
  pit_cuda_matrix m;
  if (!get_matrix(&variant->build, &m) || m.rows.extent == 0 ||
      m.columns.extent == 0 || !is_same(r, &m))
    return false;
  if (m.axis_last) {
    int64_t height = m.rows.size;
    if (r->columns || height != m.rows.step || height < MIN_HEIGHT ||
        height > MAX_HEIGHT || height % MIN_HEIGHT != 0)
      return false;
    r->columns = variant;
    r->height = (int32_t)height;
    return true;
  }
  if (r->rows || variant->build.groups != 1 ||
      m.columns.size < m.columns.extent)
    return false;
  r->rows = variant;
  return true;
}

/// Cuts the matrix into windows of rows, and these among blocks and warps.
static bool plan(reading *r, int64_t multiprocessors) {
  if (!r->columns)
    r->height = ROWS_HEIGHT;
  int64_t windows = pit_ceil_div(r->matrix.rows.extent, r->height);
  int64_t pieces = pit_ceil_div(r->matrix.values.row_bytes, PIT_PIECE_BYTES);
  // Warps share the rows of a window until there are enough of them, and until
  // each has few enough.
  const int32_t warps = PIT_INDEX_THREADS / 32;
  while (1 << r->split_log2 < warps &&
         (r->height >> r->split_log2 > MAX_WARP_ROWS ||
          (r->height >> r->split_log2 > 4 &&
           (windows * pieces) << r->split_log2 < 24 * multiprocessors)))
    ++r->split_log2;
  r->blocks_per_window = (int32_t)pit_ceil_div(pieces, warps >> r->split_log2);
  r->windows = (int32_t)windows;
  return windows * r->blocks_per_window <= INT32_MAX &&
         r->height >> r->split_log2 <= MAX_WARP_ROWS;
}

/// The plan, if there is one that suits all variants.
static bool plan_reading(reading *r, pit_cuda_variant *variants, int32_t count,
                         int64_t multiprocessors) {
  for (int32_t v = 0; v < count; ++v)
    if (!variants[v].dense && !add_variant(r, &variants[v]))
      return false;
  return (r->columns || r->rows) && plan(r, multiprocessors);
}

/// The memory for what is found.
static pit_status alloc_findings(const pit_cuda_work *work, reading *r,
                                 int64_t blocks) {
  void *numbers, *bits = NULL;
  const pit_cuda_build build = {.work = work};
  pit_status status =
      pit_cuda_index_alloc(&build, blocks, sizeof(*r->numbers), &numbers);
  r->numbers = numbers;
  if (r->columns) {
    r->columns->numbers = numbers;
    r->columns->num_numbers = (int32_t)blocks;
  }
  if (status != PIT_OK || !r->rows)
    return status;
  int64_t words = pit_ceil_div((int64_t)r->windows * r->height, 32);
  status = pit_cuda_index_alloc(&build, r->blocks_per_window * words,
                                sizeof(*r->rows->bits), &bits);
  r->rows->bits = bits;
  r->rows->parts = r->blocks_per_window;
  r->rows->part_words = (int32_t)words;
  return status;
}

static pit_status read_matrix(const pit_cuda_work *work, reading *r,
                              pit_cuda_decision d, int32_t *scanning) {
  int64_t blocks = (int64_t)r->windows * r->blocks_per_window;
  pit_status status = alloc_findings(work, r, blocks);
  if (status != PIT_OK)
    return status;
  const pit_cuda_build work_only = {.work = work};
  pit_choose_scan_params params = {.slot = d.slot,
                                   .state = d.state,
                                   .after = d.after,
                                   .counts = r->numbers,
                                   .values = r->matrix.values,
                                   .rows = r->matrix.rows.extent,
                                   .elapsed = d.elapsed,
                                   .height = r->height,
                                   .split_log2 = r->split_log2,
                                   .blocks_per_group = r->blocks_per_window};
  if (r->columns) {
    params.head = r->columns->build.head;
    params.copy = r->columns->build.arrays.copy;
    params.bits = r->columns->bits;
    params.words = r->columns->build.words;
  }
  if (r->rows) {
    params.row_head = r->rows->build.head;
    params.row_copy = r->rows->build.arrays.copy;
    params.row_bits = r->rows->bits;
    params.part_bytes = r->rows->part_words * (int64_t)sizeof(*params.row_bits);
  }
  *scanning = (int32_t)blocks;
  return pit_cuda_index_launch(&work_only, pit_choose_scan, blocks,
                               PIT_INDEX_THREADS, /*overlap=*/true, &params);
}

//===----------------------------------------------------------------------===//
// A scan for each variant
//===----------------------------------------------------------------------===//

static pit_status scan_each(const pit_cuda_work *work,
                            pit_cuda_variant *variants, int32_t count,
                            pit_cuda_decision d, int32_t *scanning) {
  const pit_cuda_build work_only = {.work = work};
  pit_choose_begin_params begin = {
      .slot = d.slot, .state = d.state, .after = d.after, .elapsed = d.elapsed};
  pit_status status =
      pit_cuda_index_launch(&work_only, pit_choose_begin, 1, PIT_WARP_THREADS,
                            /*overlap=*/true, &begin);
  int64_t most = 0;
  for (int32_t v = 0; v < count && status == PIT_OK; ++v) {
    pit_cuda_build *build = &variants[v].build;
    if (variants[v].dense)
      continue;
    build->condition = (pit_cuda_condition){&d.state->scan, 1};
    status = pit_cuda_scan(build);
    most = pit_max(most, (int64_t)build->groups * build->words);
  }
  int64_t blocks = pit_ceil_div(most, 4 * PIT_INDEX_THREADS);
  blocks = pit_max(1, pit_min(blocks, MAX_COUNT_BLOCKS));
  for (int32_t v = 0; v < count && status == PIT_OK; ++v) {
    if (variants[v].dense)
      continue;
    void *numbers;
    status = pit_cuda_index_alloc(&variants[v].build, blocks, sizeof(int32_t),
                                  &numbers);
    variants[v].numbers = numbers;
    variants[v].num_numbers = (int32_t)blocks;
  }
  if (status != PIT_OK)
    return status;
  pit_choose_count_params params = {
      .table = make_table(variants, count), .state = d.state, .count = count};
  *scanning = (int32_t)blocks;
  return pit_cuda_index_launch(&work_only, pit_choose_count, blocks,
                               PIT_INDEX_THREADS, /*overlap=*/true, &params);
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

/// Has a device scan. `scanning` becomes the number of blocks that tell it.
static pit_status scan(const pit_cuda_work *work, pit_cuda_variant *variants,
                       int32_t count, const pit_cuda_decision *decision,
                       int32_t *scanning) {
  int64_t multiprocessors = pit_cuda_device(work->context)->multiprocessors;
  for (int32_t v = 0; v < count; ++v) {
    pit_cuda_variant *variant = &variants[v];
    variant->numbers = NULL;
    variant->num_numbers = variant->part_words = 0;
    variant->bits = variant->build.bits;
    variant->parts = 1;
  }
  reading r = {.columns = NULL};
  return plan_reading(&r, variants, count, multiprocessors)
             ? read_matrix(work, &r, *decision, scanning)
             : scan_each(work, variants, count, *decision, scanning);
}

pit_status pit_cuda_choose_scan(const pit_cuda_work *work,
                                pit_cuda_variant *variants, int32_t count,
                                const pit_cuda_decision *decision) {
  int64_t multiprocessors = pit_cuda_device(work->context)->multiprocessors;
  int32_t scanning = 1; // if another choice has
  if (!decision->seen) {
    pit_status status = scan(work, variants, count, decision, &scanning);
    if (status != PIT_OK)
      return status;
  }
  pit_choose_list_params params = {.table = make_table(variants, count),
                                   .slot = decision->slot,
                                   .state = decision->state,
                                   .report = decision->report,
                                   .after = decision->after,
                                   .seen = decision->seen,
                                   .count = count,
                                   .elapsed = decision->elapsed,
                                   .expected = scanning};
  int64_t most = 1;
  for (int32_t v = 0; v < count; ++v)
    most = pit_max(most, (int64_t)params.table.variants[v].groups *
                             params.table.variants[v].slices);
  const pit_cuda_build work_only = {.work = work};
  return pit_cuda_index_launch(&work_only, pit_choose_list,
                               pit_min(most, multiprocessors),
                               PIT_INDEX_THREADS, /*overlap=*/true, &params);
}
