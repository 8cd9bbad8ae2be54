//===- TransposeVectors.h - Rows to columns, in registers -------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_CPU_TRANSPOSEVECTORS_H
#define PIT_LIB_CODEGEN_CPU_TRANSPOSEVECTORS_H

#include "mlir/IR/Builders.h"

namespace mlir::pit::cpu {

/// As many vectors as each has elements, a power of two: element j of vector i
/// becomes element i of vector j.
SmallVector<Value> transposeVectors(OpBuilder &b, Location loc,
                                    ArrayRef<Value> rows);

/// Elements of a memref as a matrix with rows in one piece.
struct Matrix {
  Value memref;
  llvm::function_ref<SmallVector<Value>(Value row, Value column)> at;
  /// Nothing may be written beyond the last column; else there is room for a
  /// vector.
  bool exact = false;
};

/// to[column, row] = from[row, column], of so many rows and columns of `from`;
/// `extension`, unless null, is applied to each element.
void transposeMatrix(OpBuilder &b, Location loc, int64_t lanes,
                     const Matrix &from, const Matrix &to, Value rows,
                     Value columns, Operation *extension = nullptr);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_TRANSPOSEVECTORS_H
