//===- Compare.h - How far two tensors lie apart --------------------------===//

#ifndef PIT_TOOLS_SUPPORT_COMPARE_H
#define PIT_TOOLS_SUPPORT_COMPARE_H

#include "Tensor.h"

typedef struct comparison {
  double tolerance;
  int64_t off;   ///< elements that lie farther apart
  int64_t first; ///< the first of them
  double max_absolute, max_relative;
} comparison;

/// How far sums in another order may lie apart, as a part of the size of the
/// result's elements.
double compare_tolerance(DLDataType dtype);

/// Compares tensors of one shape and type. The error is relative to the wanted
/// element, or to the root of the mean square of all where the element is
/// smaller. A tolerance less than 0 is that of the type.
void compare_tensors(const tensor *is, const tensor *wanted, double tolerance,
                     comparison *found);

#endif // PIT_TOOLS_SUPPORT_COMPARE_H
