//===- TransposedReads.h - Tiles that are read the other way ----*- C++ -*-===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_TRANSPOSEDREADS_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_TRANSPOSEDREADS_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// Are all users of the tile ops that add up products, or something like them?
/// They can be told to read it in another order of dimensions.
bool isOfReductions(SReadOp read);

/// Has the users of what `read` gives take `tile` in its place, whose dimension
/// i is dimension `permutation[i]` of it. They become `linalg.generic`.
void replaceTransposed(RewriterBase &rewriter, SReadOp read, Value tile,
                       ArrayRef<int64_t> permutation);

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_TRANSPOSEDREADS_H
