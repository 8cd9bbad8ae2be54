//===- BranchedOps.h - Ops that branches compute in several ways *- C++ -*-===//

#ifndef PIT_LIB_CHOICE_BRANCHEDOPS_H
#define PIT_LIB_CHOICE_BRANCHEDOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {

/// Ops of a block of which all but the last are used by one another only.
/// Branches clone them, and all branches write to the same memory, as
/// bufferization has to find out of the results of scf.if.
class BranchedOps {
public:
  /// `ops` in the order of the block.
  BranchedOps(RewriterBase &rewriter, SmallVector<Operation *> ops)
      : b(rewriter), ops(std::move(ops)) {}

  ArrayRef<Operation *> getOps() const { return ops; }
  Operation *last() const { return ops.back(); }

  /// Creates memory for the last op's results, of the shapes of `like`. Not
  /// needed if that op says where its result goes.
  void createMemory(Location loc, ValueRange like);

  /// Clones the ops, which start from fills of their own: a fill becomes the
  /// first value of sums.
  void clone(IRMapping &mapping);

  /// Ends a branch with the clones' results.
  void yield(Location loc, const IRMapping &mapping);

  /// Puts a chain of scf.if in the place of the ops, which are erased: for each
  /// of `count` numbers `fill` makes the branch where `createCondition` holds,
  /// and none before it does; for std::nullopt that of all else.
  void replace(Location loc, size_t count,
               function_ref<Value(size_t)> createCondition,
               function_ref<void(std::optional<size_t>)> fill);

private:
  void cloneInit(Value init, IRMapping &mapping);
  void eraseFill(Value init);

  RewriterBase &b;
  SmallVector<Operation *> ops;
  SmallVector<Value> memory; ///< for each result
};

} // namespace mlir::pit

#endif // PIT_LIB_CHOICE_BRANCHEDOPS_H
