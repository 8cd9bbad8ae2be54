//===- IndexScan.h - From rows to one bit per micro-tile ------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_INDEXSCAN_H
#define PIT_LIB_RUNTIME_INDEX_INDEXSCAN_H

#include "Core/Internal.h"
#include "Rows.h"

/// Words of bits that each group takes: bit i of its words is micro-tile i.
static inline int64_t pit_words_per_group(const pit_index *index) {
  return pit_ceil_div(index->shape[index->axis], 64);
}

/// How many threads a scan of these rows is worth.
int32_t pit_scan_threads(const pit_context *context, const pit_rows *rows);

/// Writes the liveness of every micro-tile of X, which is not empty.
void pit_scan(const pit_rows *rows, int32_t threads, uint64_t *bits);

/// The number of (live micro-tile, selected element in it) pairs.
int64_t pit_scan_selected(const pit_rows *rows, int32_t threads);

/// pit_index_waste of an index on rows of its own source, NULL if that is a
/// list of blocks: they are selected as a whole.
pit_status pit_index_measure_waste(pit_context *context, const pit_index *index,
                                   const pit_rows *rows, double *waste);

/// Turns bits, of each micro-tile one, into counts, offsets, ids, the origins
/// (if `routing` is not NULL) and the work list of builder->index, whose
/// spec is resolved.
pit_status pit_index_compact(pit_index_builder *builder, const uint64_t *bits,
                             const pit_data *routing);

/// Makes room for the counts, offsets and ids of builder->index.
pit_status pit_index_reserve(pit_index_builder *builder);

#endif // PIT_LIB_RUNTIME_INDEX_INDEXSCAN_H
