//===- Rows.c - The rows of a selection, and windows of any ---------------===//

#include "Bitmap.h"
#include "Sources/Sources.h"

#include <string.h>

pit_status pit_rows_init(pit_context *context, const pit_selection *selection,
                         const pit_index *index, pit_rows *rows) {
  if (selection->bitmap)
    return pit_rows_init_bitmap(context, selection->bitmap, index, rows);
  pit_status status = pit_selection_check(context, selection, index);
  if (status != PIT_OK)
    return status;
  *rows = (pit_rows){.tiling = pit_tiling_of(index),
                     .kernels = context->kernels,
                     .data = selection->data};
  const pit_source_row *row = pit_source_find((int32_t)selection->source);
  if (row && row->read)
    return row->read(context, selection, index, rows);
  return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                  "index: source %d has no rows to scan",
                  (int)selection->source);
}

//===----------------------------------------------------------------------===//
// Windows, from columns
//===----------------------------------------------------------------------===//

/// Adds to `bits` the windows first.. of a column block that starts at
/// `column`, for windows of a power of two up to 64 without gaps.
static void merge_windows(const uint64_t *column_block, int64_t column,
                          int64_t n, int64_t size, int64_t first,
                          uint64_t *bits) {
  for (int64_t i = 0; i * 64 < n; ++i) {
    uint64_t word = column_block[i];
    if (size == 64)
      word = word != 0;
    else
      for (int64_t part = size; part > 1; part /= 2)
        word = pit_bits_merge_pairs(word);
    // 64 / size windows never straddle a word: `first` windows begin at a
    // multiple of 64 columns.
    int64_t at = (column + i * 64) / size - first;
    bits[at / 64] |= word << (at % 64);
  }
}

/// Adds to `bits` the windows first + begin.. of a column block that starts
/// at `column`, as far as they begin before its end. Returns the number of the
/// first window, from `first`, that does not end in it.
static int64_t cut_windows(const uint64_t *column_block, int64_t column,
                           int64_t width, const pit_dim *dim, int64_t first,
                           int64_t begin, int64_t n, uint64_t *bits) {
  int64_t open = begin;
  for (int64_t c = begin; c < n; ++c) {
    int64_t from, to;
    pit_window(dim, first + c, &from, &to);
    if (from >= column + width)
      break;
    if (to <= column + width)
      open = c + 1;
    from = pit_max(from, column) - column;
    to = pit_min(to, column + width) - column;
    if (from >= to)
      continue;
    // Up to 64 columns lie in two words, the second maybe past the column
    // block's.
    uint64_t any;
    if (to - from <= 64) {
      uint64_t low = column_block[from / 64] >> (from % 64);
      uint64_t high = column_block[from / 64 + 1] << 1 << (63 - from % 64);
      any = ((low | high) << (64 - (to - from))) != 0;
    } else {
      any = pit_bits_any(column_block, from, to);
    }
    bits[c / 64] |= any << (c % 64);
  }
  return open;
}

void pit_rows_windows(const pit_rows *rows, const pit_box *box, int64_t first,
                      int64_t n, uint64_t *bits) {
  const pit_dim *dim = &rows->tiling.dims[rows->tiling.rank - 1];
  if (dim->size == 1 && dim->step == 1) {
    rows->columns(rows, box, first, n, bits);
    return;
  }
  memset(bits, 0, (size_t)pit_ceil_div(n, 64) * sizeof(*bits));
  if (rows->windows) {
    rows->windows(rows, box, first, n, bits);
    return;
  }
  bool merge = dim->step == dim->size && dim->size <= 64 &&
               (dim->size & (dim->size - 1)) == 0;
  int64_t begin, end, skipped;
  pit_window(dim, first, &begin, &skipped);
  pit_window(dim, first + n - 1, &skipped, &end);
  uint64_t column_block[PIT_COLUMN_BLOCK_WORDS + 1] = {0};
  int64_t open = 0;
  for (int64_t column = begin / 64 * 64; column < end;
       column += PIT_COLUMN_BLOCK) {
    int64_t width = pit_min(PIT_COLUMN_BLOCK, end - column);
    rows->columns(rows, box, column, width, column_block);
    if (merge)
      merge_windows(column_block, column, width, dim->size, first, bits);
    else
      open =
          cut_windows(column_block, column, width, dim, first, open, n, bits);
  }
}
