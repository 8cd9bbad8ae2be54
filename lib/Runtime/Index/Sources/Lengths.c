//===- Lengths.c - The first elements of rows, and the first rows ---------===//

#include "Sources.h"

#include <string.h>

/// Checks that each length lies in [0, limit].
static pit_status check_numbers(pit_context *context, const pit_data *data,
                                int64_t limit) {
  pit_box all = {0};
  memcpy(all.end, data->shape, sizeof(all.end));
  if (pit_box_empty(&all, data->rank))
    return PIT_OK;
  int64_t coords[PIT_MAX_RANK] = {0};
  int64_t slot = 0;
  do {
    int64_t length =
        pit_data_int(data, pit_source_offset(data, coords, data->rank));
    if (length < 0 || length > limit)
      return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "index: length %lld (in row-major order) is %lld; it "
                      "must be in [0, %lld]",
                      (long long)slot, (long long)length, (long long)limit);
    ++slot;
  } while (pit_box_next(&all, data->rank, coords));
  return PIT_OK;
}

/// The first coordinate of a micro-tile tells of all others, from dimension
/// `dim` on.
static void take_first(pit_general *general, int32_t dim) {
  for (int32_t d = dim; d < general->tiling.rank; ++d)
    general->tiling.dims[d].size = pit_min(general->tiling.dims[d].size, 1);
}

//===----------------------------------------------------------------------===//
// Lengths of elements along a dimension
//===----------------------------------------------------------------------===//

static pit_status check(pit_context *context, const pit_data *data,
                        const pit_index *index) {
  pit_status status =
      pit_source_check_integers(context, "the tensor of lengths", data);
  if (status != PIT_OK)
    return status;
  if (data->rank >= index->rank)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: lengths of rank %d for a tensor of rank %d; their "
                    "rank must be less",
                    data->rank, index->rank);
  return pit_source_check_shape(context, "the tensor of lengths", data,
                                index->shape, data->rank);
}

static void range(const pit_data *data, const pit_index *index, int64_t *least,
                  int64_t *most) {
  *least = 0;
  *most = index->shape[data->rank];
}

static void row(const pit_rows *rows, const int64_t *coords, int64_t first,
                int64_t n, uint64_t *bits) {
  int32_t last = rows->tiling.rank - 1;
  int32_t dim = rows->data.rank;
  int64_t length =
      pit_data_int(&rows->data, pit_source_offset(&rows->data, coords, dim));
  if (dim == last)
    pit_bits_fill(bits, 0, pit_min(length - first, n));
  else if (coords[dim] < length)
    pit_bits_fill(bits, 0, n);
}

PIT_SOURCE_COLUMNS(columns, row)

static pit_status read_lengths(pit_context *context,
                               const pit_selection *selection,
                               const pit_index *index, pit_rows *rows) {
  rows->columns = columns;
  const pit_data *data = &selection->data;
  return check_numbers(context, data, index->shape[data->rank]);
}

static void describe(const pit_data *data, const pit_index *index,
                     pit_general *general) {
  (void)index;
  general->kind = PIT_SCAN_LENGTHS;
  for (int32_t d = 0; d < data->rank; ++d)
    general->place[d] = data->strides[d];
  general->number[data->rank] = 1;
  take_first(general, data->rank);
}

const pit_source_row pit_source_lengths = {.name = "lengths",
                                           .check = check,
                                           .read = read_lengths,
                                           .range = range,
                                           .describe = describe};

//===----------------------------------------------------------------------===//
// Lengths of the rows of matrices, one after the other
//===----------------------------------------------------------------------===//

/// The rows of a matrix; negative, if the tensor of the index has no number of
/// rows that is the same for each length.
static int64_t rows_of_matrix(const pit_data *data, const pit_index *index) {
  int64_t count = data->shape[0], rows = index->shape[0];
  if (count == 0)
    return rows == 0 ? 0 : -1;
  return rows % count == 0 ? rows / count : -1;
}

static pit_status check_rows(pit_context *context, const pit_data *data,
                             const pit_index *index) {
  pit_status status =
      pit_source_check_integers(context, "the vector of lengths", data);
  if (status != PIT_OK)
    return status;
  if (data->rank != 1 || index->axis != 0)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: lengths of rank %d, along axis %d; those of rows "
                    "of a batch are a vector, and the axis is 0",
                    data->rank, index->axis);
  if (rows_of_matrix(data, index) < 0)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: %lld lengths for %lld rows; there must be as many "
                    "rows for each",
                    (long long)data->shape[0], (long long)index->shape[0]);
  return PIT_OK;
}

static void range_of_rows(const pit_data *data, const pit_index *index,
                          int64_t *least, int64_t *most) {
  *least = 0;
  *most = rows_of_matrix(data, index);
}

static void row_of_rows(const pit_rows *rows, const int64_t *coords,
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

PIT_SOURCE_COLUMNS(columns_of_rows, row_of_rows)

static pit_status read_rows(pit_context *context,
                            const pit_selection *selection,
                            const pit_index *index, pit_rows *rows) {
  rows->columns = columns_of_rows;
  return check_numbers(context, &selection->data,
                       rows_of_matrix(&selection->data, index));
}

static void describe_rows(const pit_data *data, const pit_index *index,
                          pit_general *general) {
  general->kind = PIT_SCAN_ROW_LENGTHS;
  general->number[0] = 1;
  general->slot_stride = data->strides[0];
  general->slots = rows_of_matrix(data, index);
  take_first(general, 1);
}

const pit_source_row pit_source_row_lengths = {
    .name = "row_lengths",
    .check = check_rows,
    .read = read_rows,
    .range = range_of_rows,
    .describe = describe_rows,
    .no_bitmap = "the source is lengths of the rows of a batch, of which an "
                 "index alone is built"};
