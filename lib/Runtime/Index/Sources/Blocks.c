//===- Blocks.c - A list of the live micro-tiles --------------------------===//

#include "Sources.h"

static pit_status check(pit_context *context, const pit_data *data,
                        const pit_index *index) {
  (void)index;
  pit_status status =
      pit_source_check_integers(context, "the block list", data);
  char name[PIT_DIMS_NAME_SIZE];
  if (status == PIT_OK && (data->rank != 2 || data->shape[1] != 2))
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: the block list has shape %s; it must have one row "
                    "(group, id) for each block",
                    pit_dims_name(data->shape, data->rank, name));
  return status;
}

static int64_t bound(const pit_data *data, const pit_index *index) {
  (void)index;
  return data->shape[0];
}

const pit_source_row pit_source_blocks = {
    .name = "blocks",
    .check = check,
    .bound = bound,
    .no_bitmap = "the source is a list of blocks, which names micro-tiles; a "
                 "bitmap is made of elements"};
