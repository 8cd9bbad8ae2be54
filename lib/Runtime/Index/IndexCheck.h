//===- IndexCheck.h - What a shape says of a source -----------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_INDEXCHECK_H
#define PIT_LIB_RUNTIME_INDEX_INDEXCHECK_H

#include "Core/Internal.h"

/// Checks element type and shape of a selection's data against a resolved
/// index; reads none of it.
pit_status pit_selection_check(pit_context *context,
                               const pit_selection *selection,
                               const pit_index *index);

/// For PIT_SOURCE_ROW_LENGTHS: the rows of a matrix; negative, if the tensor of
/// the index has no number of rows that is the same for each length.
int64_t pit_matrix_rows(const pit_data *data, const pit_index *index);

/// The largest length that a checked selection by lengths may have.
int64_t pit_most_rows(pit_source source, const pit_data *data,
                      const pit_index *index);

/// The most micro-tiles that a checked selection can make live: the capacity,
/// or what the source's shape says.
int64_t pit_selection_bound(const pit_selection *selection,
                            const pit_index *index);

#endif // PIT_LIB_RUNTIME_INDEX_INDEXCHECK_H
