//===- TransposedReads.h - Tiles that are read the other way ----*- C++ -*-===//
//
// Ids that select elements within rows make loads of single elements. Passes
// have what they select written transposed before, so that ids, or positions,
// select rows: pit-pack-columns and pit-transpose-gathered.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_DIALECT_PIT_TRANSFORMS_TRANSPOSEDREADS_H
#define PIT_LIB_DIALECT_PIT_TRANSFORMS_TRANSPOSEDREADS_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// Bytes of the elements whose rows wgmma takes transposed. Others have to lie
/// along k.
constexpr int64_t kTransposedBytes = 2;

/// The reads of a function, if its target has tensor cores that take rows of
/// either operand from memory; none if it has not. Fails if there is no such
/// target.
FailureOr<SmallVector<SReadOp>> listReadsForWgmma(func::FuncOp function,
                                                  StringRef target);

/// Do ids select elements within the rows that a tile reads, of a type whose
/// rows wgmma takes transposed, and nothing else, for ops that add up products
/// or something like them? These can be told to read the tile in another order
/// of dimensions.
bool readsElementsOfRows(SReadOp read);

/// Is a row of so many elements copied in whole pieces?
bool isInPieces(int64_t elements);

/// The tiles of a loop along the variables of which `counts` is true; nothing
/// if that is not known.
std::optional<int64_t> countTiles(ForallOp tiles,
                                  function_ref<bool(int64_t)> counts);

/// `values` in the order of a permutation.
template <typename T>
SmallVector<T> inOrder(ArrayRef<int64_t> order, ArrayRef<T> values) {
  return llvm::map_to_vector(order, [&](int64_t d) { return values[d]; });
}

/// A tile of a tensor, and the order of its dimensions in a copy.
struct TransposedTile {
  Value source;
  ValueRange from;
  ArrayRef<int64_t> shape;
  TypedAttr pad;
  ArrayRef<int64_t> permutation;
};

/// Writes a tile, transposed, into `into`.
Value copyTransposed(OpBuilder &b, Location loc, const TransposedTile &copied,
                     Value into, ValueRange to);

/// Has the users of what `read` gives read a tile of `source` in its place,
/// whose dimension i is dimension `permutation[i]` of it. They become
/// `linalg.generic`.
void replaceTransposed(RewriterBase &rewriter, SReadOp read, Value source,
                       ValueRange subscripts, ArrayRef<int64_t> permutation);

} // namespace mlir::pit

#endif // PIT_LIB_DIALECT_PIT_TRANSFORMS_TRANSPOSEDREADS_H
