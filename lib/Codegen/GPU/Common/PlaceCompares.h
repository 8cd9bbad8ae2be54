//===- PlaceCompares.h - Comparisons of rows and columns --------*- C++ -*-===//
//
// A mask of an edge or a causal one compares sums of an element's row and
// column with something that is the same for all elements of a tile. The
// elements' part is then in numbers of 32 bits, and known for a thread's
// columns but for where the first one is.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_PLACECOMPARES_H
#define PIT_LIB_CODEGEN_GPU_COMMON_PLACECOMPARES_H

#include "Emitter.h"

namespace mlir::pit::cuda {

/// The left operand of a comparison less the right one: rows and columns, each
/// so many times, and values (index) that are the same for all elements, which
/// are added if `second` holds and else subtracted.
struct PlaceCompare {
  int64_t rows = 0, cols = 0;
  SmallVector<std::pair<Value, bool>> same;

  /// What is compared with rows and columns (i32). `lookup` gives the values in
  /// it where the builder is.
  Value limit(Emitter &e, function_ref<Value(Value)> lookup) const;
};

/// Times that a value of a region is the row and the column.
using Place = std::pair<int64_t, int64_t>;

/// A comparison of index as such a one; nothing if it is another.
std::optional<PlaceCompare>
findPlaceCompare(arith::CmpIOp compare,
                 function_ref<std::optional<Place>(Value)> placeOf);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_PLACECOMPARES_H
