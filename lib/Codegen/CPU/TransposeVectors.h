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

/// The matrix that is transposed.
struct Transposition {
  Value rows, columns;            ///< of the matrix that is read
  int64_t lanes;                  ///< of the vectors to do it in
  Operation *extension = nullptr; ///< applied to each element, unless null
};

/// to[column, row] = from[row, column].
void transposeMatrix(OpBuilder &b, Location loc, const Matrix &from,
                     const Matrix &to, const Transposition &how);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_TRANSPOSEVECTORS_H
