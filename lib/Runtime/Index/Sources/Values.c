//===- Values.c - Elements that differ from a background ------------------===//

#include "Index/Rows.h"
#include "Sources.h"

static pit_status check_values(pit_context *context, const pit_data *data,
                               const pit_index *index) {
  return pit_source_check_shape(context, "the tensor of values", data,
                                index->shape, index->rank);
}

static pit_status read_values(pit_context *context,
                              const pit_selection *selection,
                              const pit_index *index, pit_rows *rows) {
  (void)context, (void)index;
  pit_rows_init_values(rows, selection->background);
  return PIT_OK;
}

const pit_source_row pit_source_values = {
    .name = "values", .check = check_values, .read = read_values};

static pit_status check_mask(pit_context *context, const pit_data *data,
                             const pit_index *index) {
  return pit_source_check_shape(context, "the mask", data, index->shape,
                                index->rank);
}

static pit_status read_mask(pit_context *context,
                            const pit_selection *selection,
                            const pit_index *index, pit_rows *rows) {
  (void)context, (void)index, (void)selection;
  pit_rows_init_values(rows, 0);
  return PIT_OK;
}

const pit_source_row pit_source_mask = {
    .name = "mask", .check = check_mask, .read = read_mask};
