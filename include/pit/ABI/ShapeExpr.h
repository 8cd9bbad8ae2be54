//===- ShapeExpr.h - Sizes as functions of the arguments' sizes -*- C++ -*-===//

#ifndef PIT_ABI_SHAPEEXPR_H
#define PIT_ABI_SHAPEEXPR_H

#include "pit/ABI/Manifest.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::pit {

/// Expresses sizes in a function as functions of the sizes of its arguments:
/// affine expressions whose symbols are the arguments' dimensions and the
/// values of integer arguments. Equal expressions are the same object. A null
/// expression is a size that is no such function, or is not found to be one.
///
/// May insert ops to find out; the destructor erases them.
class ShapeExprs : private OpBuilder::Listener {
public:
  /// In place of a dimension: the argument's value.
  static constexpr int64_t kScalar = -1;

  explicit ShapeExprs(FunctionOpInterface func);
  ~ShapeExprs();

  /// The size of `tensor`, or of the tensor that an index is of, along `dim`.
  AffineExpr ofDim(Value tensor, int64_t dim);
  /// An index that is part of a size.
  AffineExpr of(OpFoldResult size);

  /// An equal expression in a canonical form.
  AffineExpr simplify(AffineExpr expr) const {
    return simplifyAffineExpr(expr, /*numDims=*/0, symbols.size());
  }

  /// True if no arguments make `expr` negative, as far as its form tells.
  bool isNonNegative(AffineExpr expr) const;

  /// The program that computes `expr`, which may be null.
  ShapeProgram toProgram(AffineExpr expr) const;

private:
  /// Begins to look at an op: false if that would take too long.
  bool enter();
  bool isArgument(BlockArgument arg);
  AffineExpr ofArgument(int64_t arg, int64_t dim);
  AffineExpr ofLoop(Operation *loop, unsigned init, int64_t dim);
  AffineExpr ofResult(OpResult result, int64_t dim);
  AffineExpr ofIndexOp(Operation *op);
  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override;

  FunctionOpInterface func;
  MLIRContext *context;
  SmallVector<std::pair<int64_t, int64_t>>
      symbols; ///< argument, dimension or kScalar
  /// Sizes of the carried tensors of the loops that are being looked at.
  DenseMap<std::pair<Value, int64_t>, AffineExpr> assumed;
  SmallVector<Operation *> inserted;
  unsigned depth = 0, steps = 0;
};

} // namespace mlir::pit

#endif // PIT_ABI_SHAPEEXPR_H
