//===- IndexStats.c - Live fraction and waste -----------------------------===//

#include "IndexScan.h"

#include <stdio.h>

static pit_status need_host(pit_context *context, const char *what,
                            const pit_index *index) {
  char name[64];
  snprintf(name, sizeof(name), "%s: the index", what);
  pit_status status = pit_index_expect(context, name, index);
  if (status == PIT_OK)
    status = pit_index_check_fields(context, what, index);
  if (status != PIT_OK || !(index->flags & PIT_INDEX_DEVICE))
    return status;
  return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                  "%s: the index is in device memory; copy it to the host "
                  "first",
                  what);
}

pit_status pit_index_statistics(pit_context *context, const pit_index *index,
                                pit_index_stats *stats) {
  if (!stats)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "statistics: stats is NULL");
  pit_status status = need_host(context, "statistics", index);
  if (status != PIT_OK)
    return status;
  int64_t all = index->groups * index->shape[index->axis];
  *stats = (pit_index_stats){.micro_tiles = all,
                             .live = index->total,
                             .live_fraction =
                                 all ? (double)index->total / (double)all : 0};
  return PIT_OK;
}

/// Elements of a micro-tile of the group.
static int64_t volume(const pit_index *index, const pit_tiling *tiling,
                      int64_t group) {
  int64_t elements = 1;
  for (int32_t d = index->rank - 1; d >= 0; --d) {
    if (d == index->axis)
      continue;
    int64_t begin, end;
    pit_window(&tiling->dims[d], group % index->group_shape[d], &begin, &end);
    group /= index->group_shape[d];
    elements *= end - begin;
  }
  return elements;
}

pit_status pit_index_measure_waste(pit_context *context, const pit_index *index,
                                   const pit_rows *rows, double *waste) {
  *waste = 0;
  if (index->total == 0 || !rows)
    return PIT_OK;
  int64_t elements;
  char dims[PIT_DIMS_NAME_SIZE];
  if (!pit_tensor_bytes(index->rank, index->shape, 1, &elements))
    return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                    "waste: a tensor of %s has more elements than 63 bits "
                    "count",
                    pit_dims_name(index->shape, index->rank, dims));
  pit_tiling tiling = pit_tiling_of(index);
  // In floating point: overlapping windows may count past 63 bits.
  double covered = 0;
  for (int64_t g = 0; g < index->groups; ++g)
    if (index->counts[g] > 0)
      covered += (double)index->counts[g] * (double)volume(index, &tiling, g);
  double selected =
      (double)pit_scan_selected(rows, pit_scan_threads(context, rows));
  if (selected > covered)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "waste: the index covers %.0f elements, but the source "
                    "selects %.0f; it must be the one the index was made from",
                    covered, selected);
  if (covered > 0)
    *waste = 1 - selected / covered;
  return PIT_OK;
}

pit_status pit_index_waste(pit_context *context, const pit_index *index,
                           pit_source source, const DLTensor *data,
                           const void *background, double *waste) {
  if (!context || !index || !waste)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "waste: an argument is NULL");
  pit_selection selection;
  pit_buffer scratch = {0};
  pit_status status = need_host(context, "waste", index);
  if (status == PIT_OK)
    status = pit_index_check_contents(context, "waste", index, &scratch);
  pit_buffer_free(&scratch);
  if (status != PIT_OK)
    return status;
  status =
      pit_selection_from_tensor(context, source, data, background, &selection,
                                /*on_device=*/NULL);
  if (status != PIT_OK)
    return status;
  if (source == PIT_SOURCE_BLOCKS)
    return pit_index_measure_waste(context, index, NULL, waste);
  pit_rows rows;
  status = pit_rows_init(context, &selection, index, &rows);
  return status == PIT_OK
             ? pit_index_measure_waste(context, index, &rows, waste)
             : status;
}
