//===- RowsValues.h - Selections by value ---------------------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_ROWSVALUES_H
#define PIT_LIB_RUNTIME_INDEX_ROWSVALUES_H

#include "Rows.h"

/// Completes the rows of a tensor of values of X's shape: an element is
/// selected iff it differs from the background. Merges dimensions where the
/// micro-tiles stay the same, so that the inner loops are long.
void pit_rows_init_values(pit_rows *rows, uint64_t background);

#endif // PIT_LIB_RUNTIME_INDEX_ROWSVALUES_H
