//===- IndexScan.c - From rows to one bit per micro-tile ------------------===//
//
// The work is cut into items that write different words. If the axis is X's
// last dimension, an item is a column block of ids of one group: its columns
// are the ids. Elsewhere an item is 64 ids of a column block of groups along
// the last dimension: each id gives a row of bits, one per group, and the 64
// rows, transposed, are one word of each group.
//
//===----------------------------------------------------------------------===//

#include "IndexScan.h"
#include "Core/Parallel.h"

#include <string.h>

typedef struct scan {
  const pit_rows *rows;
  int64_t words_per_group;
  uint64_t *bits;
  int64_t column_blocks; ///< of the last dimension
  int64_t id_words;      ///< axis not last: words of ids
  int64_t outer;         ///< groups, all windows of the last dimension as one
  _Atomic int64_t selected;
} scan;

/// The box of a group: coordinates over all dimensions but the last and the
/// axis (which count as one window here), row-major.
static pit_box box_of_group(const pit_tiling *tiling, int64_t group) {
  pit_box box = {0};
  for (int32_t d = tiling->rank - 2; d >= 0; --d) {
    const pit_dim *dim = &tiling->dims[d];
    if (d == tiling->axis)
      continue;
    pit_window(dim, group % dim->groups, &box.begin[d], &box.end[d]);
    group /= dim->groups;
  }
  return box;
}

static void scan_axis_last(void *argument, int64_t begin, int64_t end) {
  const scan *s = argument;
  const pit_tiling *tiling = &s->rows->tiling;
  int64_t extent = tiling->dims[tiling->axis].extent;
  for (int64_t item = begin; item < end; ++item) {
    int64_t group = item / s->column_blocks;
    int64_t first = item % s->column_blocks * PIT_COLUMN_BLOCK;
    pit_box box = box_of_group(tiling, group);
    s->rows->columns(s->rows, &box, first,
                     pit_min(PIT_COLUMN_BLOCK, extent - first),
                     s->bits + group * s->words_per_group + first / 64);
  }
}

static void scan_axis_before(void *argument, int64_t begin, int64_t end) {
  enum { GROUPS = 64 * PIT_TRANSPOSED_WORDS };
  const scan *s = argument;
  const pit_tiling *tiling = &s->rows->tiling;
  int64_t extent = tiling->dims[tiling->axis].extent;
  int64_t windows = tiling->dims[tiling->rank - 1].groups;
  uint64_t by_id[64][PIT_COLUMN_BLOCK_WORDS] = {{0}};
  for (int64_t item = begin; item < end; ++item) {
    int64_t column_block = item % s->column_blocks;
    int64_t word = item / s->column_blocks % s->id_words;
    int64_t outer = item / s->column_blocks / s->id_words;
    int64_t first = column_block * PIT_COLUMN_BLOCK;
    int64_t n = pit_min(PIT_COLUMN_BLOCK, windows - first);
    int64_t ids = pit_min(64, extent - word * 64);
    pit_box box = box_of_group(tiling, outer);
    for (int64_t i = 0; i < ids; ++i) {
      box.begin[tiling->axis] = word * 64 + i;
      box.end[tiling->axis] = word * 64 + i + 1;
      pit_rows_windows(s->rows, &box, first, n, by_id[i]);
    }
    for (int64_t i = ids; i < 64; ++i)
      memset(by_id[i], 0, sizeof(by_id[i]));
    uint64_t *to =
        s->bits + (outer * windows + first) * s->words_per_group + word;
    for (int64_t j = 0; j < n; j += GROUPS) {
      uint64_t by_group[GROUPS];
      s->rows->kernels->transpose(&by_id[0][j / 64], PIT_COLUMN_BLOCK_WORDS,
                                  by_group);
      for (int64_t g = 0; g < pit_min(GROUPS, n - j); ++g)
        to[(j + g) * s->words_per_group] = by_group[g];
    }
  }
}

void pit_scan(const pit_rows *rows, int32_t threads, uint64_t *bits) {
  const pit_tiling *tiling = &rows->tiling;
  int32_t last = tiling->rank - 1;
  int64_t extent = tiling->dims[tiling->axis].extent;
  scan s = {.rows = rows,
            .words_per_group = pit_ceil_div(extent, 64),
            .bits = bits,
            .outer = 1};
  for (int32_t d = 0; d < last; ++d)
    if (d != tiling->axis)
      s.outer *= tiling->dims[d].groups;
  if (tiling->axis == last) {
    s.column_blocks = pit_ceil_div(extent, PIT_COLUMN_BLOCK);
    int64_t items = s.outer * s.column_blocks;
    pit_parallel_for(threads, items, scan_axis_last, &s);
  } else {
    s.column_blocks = pit_ceil_div(tiling->dims[last].groups, PIT_COLUMN_BLOCK);
    s.id_words = s.words_per_group;
    int64_t items = s.outer * s.id_words * s.column_blocks;
    pit_parallel_for(threads, items, scan_axis_before, &s);
  }
}

//===----------------------------------------------------------------------===//
// Counting what is selected
//===----------------------------------------------------------------------===//

/// The windows that hold a coordinate.
static int64_t windows_at(const pit_dim *dim, int64_t coordinate) {
  if (dim->groups == 0)
    return 0;
  // Windows start at multiples of the step: those in (coordinate - size,
  // coordinate], as far as there are groups.
  int64_t last = pit_min(coordinate / dim->step, dim->groups - 1);
  int64_t past = coordinate - dim->size;
  int64_t first = past < 0 ? 0 : past / dim->step + 1;
  return pit_max(0, last - first + 1);
}

static void count_selected(void *argument, int64_t begin, int64_t end) {
  scan *s = argument;
  const pit_tiling *tiling = &s->rows->tiling;
  int32_t last = tiling->rank - 1;
  const pit_dim *dim = &tiling->dims[last];
  int64_t selected = 0;
  for (int64_t row = begin; row < end; ++row) {
    pit_box box = {0};
    int64_t times = 1;
    int64_t rest = row;
    for (int32_t d = last - 1; d >= 0; --d) {
      int64_t coordinate = rest % tiling->dims[d].extent;
      rest /= tiling->dims[d].extent;
      box.begin[d] = coordinate;
      box.end[d] = coordinate + 1;
      times *= windows_at(&tiling->dims[d], coordinate);
    }
    if (times == 0)
      continue;
    for (int64_t first = 0; first < dim->extent; first += PIT_COLUMN_BLOCK) {
      int64_t n = pit_min(PIT_COLUMN_BLOCK, dim->extent - first);
      uint64_t column_block[PIT_COLUMN_BLOCK_WORDS];
      s->rows->columns(s->rows, &box, first, n, column_block);
      if (dim->size == dim->step) {
        selected += times * pit_bits_count(column_block, 0, n);
        continue;
      }
      for (int64_t w = 0; w * 64 < n; ++w)
        for (uint64_t word = column_block[w]; word; word &= word - 1)
          selected +=
              times * windows_at(dim, first + w * 64 + __builtin_ctzll(word));
    }
  }
  atomic_fetch_add_explicit(&s->selected, selected, memory_order_relaxed);
}

int64_t pit_scan_selected(const pit_rows *rows, int32_t threads) {
  scan s = {.rows = rows, .selected = 0};
  int64_t count = 1;
  for (int32_t d = 0; d < rows->tiling.rank - 1; ++d)
    count *= rows->tiling.dims[d].extent;
  pit_parallel_for(threads, count, count_selected, &s);
  return s.selected;
}
