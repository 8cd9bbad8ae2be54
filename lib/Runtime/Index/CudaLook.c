//===- CudaLook.c - A device looks, and decides ---------------------------===//
//
// Two launches: one reads the values, or their bitmap, for all variants, if it
// is time to look, and one decides and lists (Device/ChooseScan.mlir,
// Device/Choose.mlir). After another choice by the same values there is the
// second alone. If the first kernel cannot read the values or lacks what
// a variant needs, the scans of all variants' indices take its place.
//
//===----------------------------------------------------------------------===//

#include "CudaLook.h"
#include "CudaMatrix.h"

#include "pit-runtime/Abi.h"

enum {
  STATE_LOOK = 3,        ///< word of the state: is there to be a look?
  MAX_COUNT_BLOCKS = 64, ///< that count bits
  MIN_HEIGHT = 8,        ///< of the windows of one read
  MAX_HEIGHT = 128,
  ROWS_HEIGHT = 64, ///< of windows if only rows are asked for
  MAX_WARP_ROWS = 32
};

_Static_assert(PIT_MAX_VARIANTS == 16, "Device/Choose.mlir has room for 16");
_Static_assert(sizeof(pit_index) == 384, "as Device/ChooseScan.mlir has it");

/// A variant as the kernels read it (!variant of Device/Index.mlir.in).
typedef struct row {
  double fixed, live;
  const int32_t *numbers;
  const uint32_t *bits;
  void *copy;
  const void *counts, *offsets, *ids;
  int64_t extent;
  int32_t num_numbers, parts, part_words, groups, words, slices, span, same;
} row;

typedef struct table {
  row rows[PIT_MAX_VARIANTS];
} table;

static pit_status launch(const pit_cuda_work *work, const char *kernel,
                         int64_t blocks, int32_t threads, void **params) {
  const pit_cuda_build build = {.work = work};
  return pit_cuda_index_launch(&build, kernel, blocks, threads,
                               /*overlap=*/true, params);
}

static table make_table(const pit_cuda_variant *variants, int32_t count) {
  table table = {0};
  for (int32_t v = 0; v < count; ++v) {
    const pit_cuda_variant *variant = &variants[v];
    const pit_cuda_build *build = &variant->build;
    row *row = &table.rows[v];
    row->fixed = variant->fixed;
    if (variant->dense)
      continue;
    row->live = variant->live;
    row->numbers = variant->numbers;
    row->num_numbers = variant->num_numbers;
    row->bits = variant->bits;
    row->parts = variant->parts;
    row->part_words = variant->part_words;
    row->copy = build->copy;
    row->counts = build->head.counts;
    row->offsets = build->head.offsets;
    row->ids = build->head.ids;
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
  if (!first->data)
    r->matrix = *m;
  return first->data == m->data && first->rows.extent == m->rows.extent &&
         first->columns.extent == m->columns.extent &&
         first->row_stride == m->row_stride &&
         first->row_bytes == m->row_bytes && first->size_log2 == m->size_log2;
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
  int64_t pieces = pit_ceil_div(r->matrix.row_bytes, PIT_PIECE_BYTES);
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
                              pit_cuda_decision d, int32_t *looking) {
  int64_t blocks = (int64_t)r->windows * r->blocks_per_window;
  pit_status status = alloc_findings(work, r, blocks);
  if (status != PIT_OK)
    return status;
  pit_index heads[2] = {{0}, {0}};
  void *copy = NULL, *row_copy = NULL;
  uint32_t *bits = NULL, *row_bits = NULL;
  int32_t words = 0;
  int64_t part_bytes = 0;
  if (r->columns) {
    heads[0] = r->columns->build.head;
    copy = r->columns->build.copy;
    bits = r->columns->bits;
    words = r->columns->build.words;
  }
  if (r->rows) {
    heads[1] = r->rows->build.head;
    row_copy = r->rows->build.copy;
    row_bits = r->rows->bits;
    part_bytes = r->rows->part_words * (int64_t)sizeof(*row_bits);
  }
  pit_cuda_matrix *m = &r->matrix;
  void *params[] = {heads,           &copy,
                    &row_copy,       &d.slot,
                    &d.state,        &d.elapsed,
                    &bits,           &words,
                    &r->numbers,     &row_bits,
                    &part_bytes,     &m->data,
                    &m->row_stride,  &m->row_bytes,
                    &m->size_log2,   PIT_PATTERN_PARAMS(m->pattern),
                    &m->rows.extent, &r->height,
                    &r->split_log2,  &r->blocks_per_window,
                    &d.after};
  *looking = (int32_t)blocks;
  return launch(work, "pit_choose_scan", blocks, PIT_INDEX_THREADS, params);
}

//===----------------------------------------------------------------------===//
// A scan for each variant
//===----------------------------------------------------------------------===//

static pit_status scan_each(const pit_cuda_work *work,
                            pit_cuda_variant *variants, int32_t count,
                            pit_cuda_decision d, int32_t *looking) {
  void *begin[] = {&d.slot, &d.state, &d.elapsed, &d.after};
  pit_status status = launch(work, "pit_choose_begin", 1, 32, begin);
  int64_t most = 0;
  for (int32_t v = 0; v < count && status == PIT_OK; ++v) {
    pit_cuda_build *build = &variants[v].build;
    if (variants[v].dense)
      continue;
    build->condition =
        (pit_cuda_condition){(const int32_t *)d.state + STATE_LOOK, 1};
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
  table table = make_table(variants, count);
  void *params[] = {&table, &count, &d.state};
  *looking = (int32_t)blocks;
  return launch(work, "pit_choose_count", blocks, PIT_INDEX_THREADS, params);
}

//===----------------------------------------------------------------------===//
// The decision
//===----------------------------------------------------------------------===//

/// Has a device look. `looking` becomes the number of blocks that tell it.
static pit_status look(const pit_cuda_work *work, pit_cuda_variant *variants,
                       int32_t count, const pit_cuda_decision *decision,
                       int32_t *looking) {
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
             ? read_matrix(work, &r, *decision, looking)
             : scan_each(work, variants, count, *decision, looking);
}

pit_status pit_cuda_look(const pit_cuda_work *work, pit_cuda_variant *variants,
                         int32_t count, const pit_cuda_decision *decision) {
  int64_t multiprocessors = pit_cuda_device(work->context)->multiprocessors;
  int32_t looking = 1; // if another choice has
  if (!decision->seen) {
    pit_status status = look(work, variants, count, decision, &looking);
    if (status != PIT_OK)
      return status;
  }
  table table = make_table(variants, count);
  int64_t most = 1;
  for (int32_t v = 0; v < count; ++v)
    most = pit_max(most, (int64_t)table.rows[v].groups * table.rows[v].slices);
  pit_cuda_decision d = *decision;
  void *params[] = {&table,   &count,  &d.slot,  &d.state, &d.elapsed,
                    &looking, &d.news, &d.after, &d.seen};
  return launch(work, "pit_choose_list", pit_min(most, multiprocessors),
                PIT_INDEX_THREADS, params);
}
