//===- Sources.c - The table of the sources of an index -------------------===//

#include "Sources.h"

static const pit_source_row imported = {.name = "import"};
static const pit_source_row transposed = {
    .name = "index", .no_bitmap = "the source is another index"};

static const pit_source_row *const rows[] = {
    [PIT_SOURCE_VALUES] = &pit_source_values,
    [PIT_SOURCE_MASK] = &pit_source_mask,
    [PIT_SOURCE_MASK_BITS] = &pit_source_mask_bits,
    [PIT_SOURCE_LENGTHS] = &pit_source_lengths,
    [PIT_SOURCE_ROUTING] = &pit_source_routing,
    [PIT_SOURCE_BLOCKS] = &pit_source_blocks,
    [PIT_SOURCE_IMPORT] = &imported,
    [PIT_SOURCE_INDEX] = &transposed,
    [PIT_SOURCE_ROW_LENGTHS] = &pit_source_row_lengths};

const pit_source_row *pit_source_find(int32_t source) {
  return source >= 0 && source < (int32_t)(sizeof(rows) / sizeof(*rows))
             ? rows[source]
             : NULL;
}

const char *pit_source_name(pit_source source) {
  const pit_source_row *row = pit_source_find((int32_t)source);
  return row ? row->name : NULL;
}

pit_status pit_selection_check(pit_context *context,
                               const pit_selection *selection,
                               const pit_index *index) {
  const pit_source_row *row = pit_source_find((int32_t)selection->source);
  return row && row->check ? row->check(context, &selection->data, index)
                           : pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                                      "index: source %d cannot be built from",
                                      (int)selection->source);
}

int64_t pit_selection_bound(const pit_selection *selection,
                            const pit_index *index) {
  const pit_source_row *row = pit_source_find((int32_t)selection->source);
  return row && row->bound
             ? pit_min(index->capacity, row->bound(&selection->data, index))
             : index->capacity;
}

pit_status pit_source_check_integers(pit_context *context, const char *what,
                                     const pit_data *data) {
  char name[PIT_DTYPE_NAME_SIZE];
  if (data->dtype.code != PIT_DTYPE_INT || data->dtype.bits < 32)
    return pit_fail(context, PIT_ERROR_DTYPE,
                    "index: %s has element type %s; it must be i32 or i64",
                    what, pit_dtype_name(data->dtype, name));
  return PIT_OK;
}

pit_status pit_source_check_shape(pit_context *context, const char *what,
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
