//===- Routing.c - The experts of tokens ----------------------------------===//

#include "Sources.h"

static pit_status check(pit_context *context, const pit_data *data,
                        const pit_index *index) {
  pit_status status = pit_source_check_integers(context, "the routing", data);
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

static void range(const pit_data *data, const pit_index *index, int64_t *least,
                  int64_t *most) {
  (void)data;
  *least = -1;
  *most = index->shape[1] - 1;
}

static pit_status check_numbers(pit_context *context, const pit_data *data,
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

static void row(const pit_rows *rows, const int64_t *coords, int64_t first,
                int64_t n, uint64_t *bits) {
  const pit_data *data = &rows->data;
  for (int64_t slot = 0; slot < data->shape[1]; ++slot) {
    int64_t expert = pit_data_int(data, coords[0] * data->strides[0] +
                                            slot * data->strides[1]);
    if (expert >= first && expert < first + n)
      bits[(expert - first) / 64] |= UINT64_C(1) << ((expert - first) % 64);
  }
}

PIT_SOURCE_COLUMNS(columns, row)

static pit_status read_routing(pit_context *context,
                               const pit_selection *selection,
                               const pit_index *index, pit_rows *rows) {
  rows->columns = columns;
  return check_numbers(context, &selection->data, index);
}

static int64_t bound(const pit_data *data, const pit_index *index) {
  int64_t slots;
  // Each slot is in one group, unless windows overlap.
  int32_t other = 1 - index->axis;
  bool overlap = index->micro_tile[other] > index->step[other];
  return overlap || !pit_mul(data->shape[0], data->shape[1], &slots) ? INT64_MAX
                                                                     : slots;
}

static void describe(const pit_data *data, const pit_index *index,
                     pit_general *general) {
  (void)index;
  general->kind = PIT_SCAN_ROUTING;
  general->place[0] = data->strides[0];
  general->number[1] = 1;
  general->slot_stride = data->strides[1];
  general->slots = data->shape[1];
}

const pit_source_row pit_source_routing = {.name = "routing",
                                           .check = check,
                                           .read = read_routing,
                                           .range = range,
                                           .bound = bound,
                                           .describe = describe};

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
