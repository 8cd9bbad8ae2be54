//===- Rows.c - Selections other than values, and windows of any ----------===//

#include "Bitmap.h"
#include "IndexCheck.h"
#include "RowsValues.h"

#include <string.h>

//===----------------------------------------------------------------------===//
// Bits, lengths, routings
//===----------------------------------------------------------------------===//

/// Calls `row` for each row of the box; it adds its columns to `bits`.
static void for_each_row(const pit_rows *rows, const pit_box *box,
                         int64_t first, int64_t n, uint64_t *bits,
                         void (*row)(const pit_rows *rows,
                                     const int64_t *coords, int64_t first,
                                     int64_t n, uint64_t *bits)) {
  int32_t dims = rows->tiling.rank - 1;
  memset(bits, 0, (size_t)pit_ceil_div(n, 64) * sizeof(*bits));
  if (pit_box_empty(box, dims))
    return;
  int64_t coords[PIT_MAX_RANK];
  memcpy(coords, box->begin, sizeof(coords));
  do
    row(rows, coords, first, n, bits);
  while (pit_box_next(box, dims, coords));
}

static int64_t offset_of(const pit_data *data, const int64_t *coords,
                         int32_t dims) {
  int64_t offset = 0;
  for (int32_t d = 0; d < dims; ++d)
    offset += coords[d] * data->strides[d];
  return offset;
}

static void mask_bits_row(const pit_rows *rows, const int64_t *coords,
                          int64_t first, int64_t n, uint64_t *bits) {
  int32_t last = rows->tiling.rank - 1;
  const uint8_t *row =
      (const uint8_t *)rows->data.data + offset_of(&rows->data, coords, last);
  int64_t stride = rows->data.strides[last];
  for (int64_t j = 0; j < n; j += 8) {
    uint64_t byte = row[(first + j) / 8 * stride];
    if (n - j < 8)
      byte &= (1U << (n - j)) - 1;
    bits[j / 64] |= byte << (j % 64);
  }
}

static void mask_bits_columns(const pit_rows *rows, const pit_box *box,
                              int64_t first, int64_t n, uint64_t *bits) {
  for_each_row(rows, box, first, n, bits, mask_bits_row);
}

static void lengths_row(const pit_rows *rows, const int64_t *coords,
                        int64_t first, int64_t n, uint64_t *bits) {
  int32_t last = rows->tiling.rank - 1;
  int32_t dim = rows->data.rank;
  int64_t length =
      pit_data_int(&rows->data, offset_of(&rows->data, coords, dim));
  if (dim == last)
    pit_bits_fill(bits, 0, pit_min(length - first, n));
  else if (coords[dim] < length)
    pit_bits_fill(bits, 0, n);
}

static void row_lengths_row(const pit_rows *rows, const int64_t *coords,
                            int64_t first, int64_t n, uint64_t *bits) {
  const pit_data *data = &rows->data;
  // Without rows nobody asks.
  int64_t each = rows->tiling.dims[0].extent / data->shape[0];
  int64_t stride = data->strides[0];
  if (rows->tiling.rank > 1) {
    int64_t matrix = coords[0] / each;
    if (coords[0] - matrix * each < pit_data_int(data, matrix * stride))
      pit_bits_fill(bits, 0, n);
    return;
  }
  for (int64_t at = first; at < first + n;) {
    int64_t matrix = at / each, start = matrix * each;
    int64_t end = start + pit_data_int(data, matrix * stride);
    pit_bits_fill(bits, at - first, pit_min(end, first + n) - first);
    at = start + each;
  }
}

static void row_lengths_columns(const pit_rows *rows, const pit_box *box,
                                int64_t first, int64_t n, uint64_t *bits) {
  for_each_row(rows, box, first, n, bits, row_lengths_row);
}

static void lengths_columns(const pit_rows *rows, const pit_box *box,
                            int64_t first, int64_t n, uint64_t *bits) {
  for_each_row(rows, box, first, n, bits, lengths_row);
}

static void routing_row(const pit_rows *rows, const int64_t *coords,
                        int64_t first, int64_t n, uint64_t *bits) {
  const pit_data *data = &rows->data;
  for (int64_t slot = 0; slot < data->shape[1]; ++slot) {
    int64_t expert = pit_data_int(data, coords[0] * data->strides[0] +
                                            slot * data->strides[1]);
    if (expert >= first && expert < first + n)
      bits[(expert - first) / 64] |= UINT64_C(1) << ((expert - first) % 64);
  }
}

static void routing_columns(const pit_rows *rows, const pit_box *box,
                            int64_t first, int64_t n, uint64_t *bits) {
  for_each_row(rows, box, first, n, bits, routing_row);
}

int32_t pit_routing_slot(const pit_data *data, int64_t token, int64_t begin,
                         int64_t end) {
  for (int64_t slot = 0; slot < data->shape[1]; ++slot) {
    int64_t expert =
        pit_data_int(data, token * data->strides[0] + slot * data->strides[1]);
    if (expert >= begin && expert < end)
      return (int32_t)slot;
  }
  return -1;
}

bool pit_routing_has_origin(const pit_index *index) {
  return index->axis == 0 || index->micro_tile[0] == 1;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static pit_status check_lengths(pit_context *context,
                                const pit_selection *selection,
                                const pit_index *index) {
  const pit_data *data = &selection->data;
  pit_box all = {0};
  memcpy(all.end, data->shape, sizeof(all.end));
  if (pit_box_empty(&all, data->rank))
    return PIT_OK;
  int64_t limit = pit_most_rows(selection->source, data, index);
  int64_t coords[PIT_MAX_RANK] = {0};
  int64_t slot = 0;
  do {
    int64_t length = pit_data_int(data, offset_of(data, coords, data->rank));
    if (length < 0 || length > limit)
      return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "index: length %lld (in row-major order) is %lld; it "
                      "must be in [0, %lld]",
                      (long long)slot, (long long)length, (long long)limit);
    ++slot;
  } while (pit_box_next(&all, data->rank, coords));
  return PIT_OK;
}

static pit_status check_routing(pit_context *context, const pit_data *data,
                                const pit_index *index) {
  for (int64_t token = 0; token < data->shape[0]; ++token)
    for (int64_t slot = 0; slot < data->shape[1]; ++slot) {
      int64_t expert = pit_data_int(data, token * data->strides[0] +
                                              slot * data->strides[1]);
      if (expert < -1 || expert >= index->shape[1])
        return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                        "index: slot %lld of token %lld is assigned to expert "
                        "%lld; it must be in [0, %lld), or -1 for none",
                        (long long)slot, (long long)token, (long long)expert,
                        (long long)index->shape[1]);
    }
  return PIT_OK;
}

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
  switch (selection->source) {
  case PIT_SOURCE_VALUES:
    pit_rows_init_values(rows, selection->background);
    return PIT_OK;
  case PIT_SOURCE_MASK:
    pit_rows_init_values(rows, 0);
    return PIT_OK;
  case PIT_SOURCE_MASK_BITS:
    rows->columns = mask_bits_columns;
    return PIT_OK;
  case PIT_SOURCE_LENGTHS:
    rows->columns = lengths_columns;
    return check_lengths(context, selection, index);
  case PIT_SOURCE_ROW_LENGTHS:
    rows->columns = row_lengths_columns;
    return check_lengths(context, selection, index);
  case PIT_SOURCE_ROUTING:
    rows->columns = routing_columns;
    return check_routing(context, &rows->data, index);
  case PIT_SOURCE_BLOCKS:
  case PIT_SOURCE_IMPORT:
  case PIT_SOURCE_INDEX:
    break;
  }
  return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                  "index: source %d has no rows to scan",
                  (int)selection->source);
}

//===----------------------------------------------------------------------===//
// Windows, from columns
//===----------------------------------------------------------------------===//

/// Adds to `bits` the windows first.. of a strip of columns that starts at
/// `column`, for windows of a power of two up to 64 without gaps.
static void merge_windows(const uint64_t *strip, int64_t column, int64_t n,
                          int64_t size, int64_t first, uint64_t *bits) {
  for (int64_t i = 0; i * 64 < n; ++i) {
    uint64_t word = strip[i];
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

/// Adds to `bits` the windows first + begin.. of a strip of columns that starts
/// at `column`, as far as they begin before its end. Returns the number of the
/// first window, from `first`, that does not end in it.
static int64_t cut_windows(const uint64_t *strip, int64_t column, int64_t width,
                           const pit_dim *dim, int64_t first, int64_t begin,
                           int64_t n, uint64_t *bits) {
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
    // Up to 64 columns lie in two words, the second maybe past the strip's.
    uint64_t any;
    if (to - from <= 64) {
      uint64_t low = strip[from / 64] >> (from % 64);
      uint64_t high = strip[from / 64 + 1] << 1 << (63 - from % 64);
      any = ((low | high) << (64 - (to - from))) != 0;
    } else {
      any = pit_bits_any(strip, from, to);
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
  uint64_t strip[PIT_STRIP_WORDS + 1] = {0};
  int64_t open = 0;
  for (int64_t column = begin / 64 * 64; column < end; column += PIT_STRIP) {
    int64_t width = pit_min(PIT_STRIP, end - column);
    rows->columns(rows, box, column, width, strip);
    if (merge)
      merge_windows(strip, column, width, dim->size, first, bits);
    else
      open = cut_windows(strip, column, width, dim, first, open, n, bits);
  }
}
