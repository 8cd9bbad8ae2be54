//===- MaskBits.c - A mask of one bit an element --------------------------===//

#include "Sources.h"

#include <string.h>

static pit_status check(pit_context *context, const pit_data *data,
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
  return pit_source_check_shape(context, "the bit mask", data, shape,
                                index->rank);
}

static void row(const pit_rows *rows, const int64_t *coords, int64_t first,
                int64_t n, uint64_t *bits) {
  int32_t last = rows->tiling.rank - 1;
  const uint8_t *from = (const uint8_t *)rows->data.data +
                        pit_source_offset(&rows->data, coords, last);
  int64_t stride = rows->data.strides[last];
  for (int64_t j = 0; j < n; j += 8) {
    uint64_t byte = from[(first + j) / 8 * stride];
    if (n - j < 8)
      byte &= (1U << (n - j)) - 1;
    bits[j / 64] |= byte << (j % 64);
  }
}

PIT_SOURCE_COLUMNS(columns, row)

static pit_status read_bits(pit_context *context,
                            const pit_selection *selection,
                            const pit_index *index, pit_rows *rows) {
  (void)context, (void)selection, (void)index;
  rows->columns = columns;
  return PIT_OK;
}

static void describe(const pit_data *data, const pit_index *index,
                     pit_general *general) {
  int32_t last = index->rank - 1;
  general->kind = PIT_SCAN_MASK_BITS;
  for (int32_t d = 0; d < last; ++d)
    general->place[d] = data->strides[d];
  general->number[last] = 1;
  general->slot_stride = data->strides[last];
}

const pit_source_row pit_source_mask_bits = {.name = "mask_bits",
                                             .check = check,
                                             .read = read_bits,
                                             .describe = describe};
