//===- IndexCheck.c - What a shape says of a source -----------------------===//

#include "IndexCheck.h"

#include <string.h>

static pit_status check_integers(pit_context *context, const char *what,
                                 const pit_data *data) {
  char name[PIT_DTYPE_NAME_SIZE];
  if (data->dtype.code != PIT_DTYPE_INT || data->dtype.bits < 32)
    return pit_fail(context, PIT_ERROR_DTYPE,
                    "index: %s has element type %s; it must be i32 or i64",
                    what, pit_dtype_name(data->dtype, name));
  return PIT_OK;
}

static pit_status check_shape(pit_context *context, const char *what,
                              const pit_data *data, const int64_t *shape,
                              int32_t rank) {
  bool same = data->rank == rank;
  for (int32_t d = 0; same && d < rank; ++d)
    same = data->shape[d] == shape[d];
  char is[PIT_DIMS_NAME_SIZE], wanted[PIT_DIMS_NAME_SIZE];
  if (!same)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: %s has shape %s; it must be %s", what,
                    pit_dims_name(data->shape, data->rank, is),
                    pit_dims_name(shape, rank, wanted));
  return PIT_OK;
}

static pit_status check_mask_bits(pit_context *context, const pit_data *data,
                                  const pit_index *index) {
  char name[PIT_DTYPE_NAME_SIZE];
  if (data->dtype.code != PIT_DTYPE_UINT || data->dtype.bits != 8)
    return pit_fail(context, PIT_ERROR_DTYPE,
                    "index: the bit mask has element type %s; it must be "
                    "packed into u8",
                    pit_dtype_name(data->dtype, name));
  int64_t shape[PIT_MAX_RANK];
  memcpy(shape, index->shape, sizeof(shape));
  shape[index->rank - 1] = pit_ceil_div(shape[index->rank - 1], 8);
  return check_shape(context, "the bit mask", data, shape, index->rank);
}

static pit_status check_lengths(pit_context *context, const pit_data *data,
                                const pit_index *index) {
  pit_status status = check_integers(context, "the tensor of lengths", data);
  if (status != PIT_OK)
    return status;
  if (data->rank >= index->rank)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: lengths of rank %d for a tensor of rank %d; their "
                    "rank must be less",
                    data->rank, index->rank);
  return check_shape(context, "the tensor of lengths", data, index->shape,
                     data->rank);
}

static pit_status check_row_lengths(pit_context *context, const pit_data *data,
                                    const pit_index *index) {
  pit_status status = check_integers(context, "the vector of lengths", data);
  if (status != PIT_OK)
    return status;
  if (data->rank != 1 || index->axis != 0)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: lengths of rank %d, along axis %d; those of rows "
                    "of a batch are a vector, and the axis is 0",
                    data->rank, index->axis);
  if (pit_matrix_rows(data, index) < 0)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: %lld lengths for %lld rows; there must be as many "
                    "rows for each",
                    (long long)data->shape[0], (long long)index->shape[0]);
  return PIT_OK;
}

int64_t pit_matrix_rows(const pit_data *data, const pit_index *index) {
  int64_t count = data->shape[0], rows = index->shape[0];
  if (count == 0)
    return rows == 0 ? 0 : -1;
  return rows % count == 0 ? rows / count : -1;
}

int64_t pit_most_rows(pit_source source, const pit_data *data,
                      const pit_index *index) {
  return source == PIT_SOURCE_LENGTHS ? index->shape[data->rank]
                                      : pit_matrix_rows(data, index);
}

static pit_status check_routing(pit_context *context, const pit_data *data,
                                const pit_index *index) {
  pit_status status = check_integers(context, "the routing", data);
  if (status != PIT_OK)
    return status;
  char dims[PIT_DIMS_NAME_SIZE];
  if (index->rank != 2)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: a routing is of a tensor of rank 2 (tokens x "
                    "experts), not %d",
                    index->rank);
  if (data->rank != 2 || data->shape[0] != index->shape[0])
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: the routing has shape %s; it must have one row "
                    "for each of the %lld tokens",
                    pit_dims_name(data->shape, data->rank, dims),
                    (long long)index->shape[0]);
  if (data->shape[1] > INT32_MAX)
    return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                    "index: the routing has %lld slots a token; at most "
                    "%lld are supported",
                    (long long)data->shape[1], (long long)INT32_MAX);
  return PIT_OK;
}

static pit_status check_blocks(pit_context *context, const pit_data *data) {
  pit_status status = check_integers(context, "the block list", data);
  char name[PIT_DIMS_NAME_SIZE];
  if (status == PIT_OK && (data->rank != 2 || data->shape[1] != 2))
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: the block list has shape %s; it must have one row "
                    "(group, id) for each block",
                    pit_dims_name(data->shape, data->rank, name));
  return status;
}

pit_status pit_selection_check(pit_context *context,
                               const pit_selection *selection,
                               const pit_index *index) {
  const pit_data *data = &selection->data;
  switch (selection->source) {
  case PIT_SOURCE_VALUES:
    return check_shape(context, "the tensor of values", data, index->shape,
                       index->rank);
  case PIT_SOURCE_MASK:
    return check_shape(context, "the mask", data, index->shape, index->rank);
  case PIT_SOURCE_MASK_BITS:
    return check_mask_bits(context, data, index);
  case PIT_SOURCE_LENGTHS:
    return check_lengths(context, data, index);
  case PIT_SOURCE_ROW_LENGTHS:
    return check_row_lengths(context, data, index);
  case PIT_SOURCE_ROUTING:
    return check_routing(context, data, index);
  case PIT_SOURCE_BLOCKS:
    return check_blocks(context, data);
  case PIT_SOURCE_IMPORT:
  case PIT_SOURCE_INDEX:
    break;
  }
  return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                  "index: source %d cannot be built from",
                  (int)selection->source);
}

int64_t pit_selection_bound(const pit_selection *selection,
                            const pit_index *index) {
  const pit_data *data = &selection->data;
  int64_t bound = index->capacity, slots;
  if (selection->source == PIT_SOURCE_BLOCKS)
    return pit_min(bound, data->shape[0]);
  if (selection->source != PIT_SOURCE_ROUTING ||
      !pit_mul(data->shape[0], data->shape[1], &slots))
    return bound;
  // Each slot is in one group, unless windows overlap.
  int32_t other = 1 - index->axis;
  bool overlap = index->micro_tile[other] > index->step[other];
  return overlap ? bound : pit_min(bound, slots);
}
