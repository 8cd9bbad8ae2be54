//===- ContractionInfo.h - What contraction a mainloop computes -*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_COMMON_CONTRACTIONINFO_H
#define PIT_LIB_CODEGEN_COMMON_CONTRACTIONINFO_H

#include "pit/Analysis/Refusal.h"
#include "pit/Dialect/Pit/IR/Pit.h"

namespace mlir::pit {

/// One of the two operands: a tile for each contraction, all of one kind.
struct ContractionOperand {
  SmallVector<unsigned> views; ///< that it reads, each once
  Type element;
  int64_t elementBytes = 0;
  int64_t outer = 0;   ///< extent along m or n, of the tile
  int rowDim = -1;     ///< dimension of the source along rows; -1: none
  int colDim = -1;     ///< along columns; -1: none
  bool kIsCol = false; ///< k runs along the columns
};

/// C[m, n] += A[m, k] * B[k, n], or with another scalar function of the three.
/// If there are several accumulators, each is such a C.
struct ContractionInfo {
  int64_t m = 1, n = 1, k = 1; ///< extents of the tile
  int mDim = -1, nDim = -1;    ///< dimensions of the accumulator's tile
  ContractionOperand a, b;
  /// Which of the views of a and b each accumulator's contraction reads.
  SmallVector<std::array<unsigned, 2>> pairs;
  Type accumulator;
  bool isMultiplyAdd = false; ///< see isMultiplyAdd()
  bool padsZero = false;      ///< elements that do not exist are read as 0
};

/// Does a body take a, b, acc and scales, and yield acc + a * b, and that times
/// all of the scales, of elements that are widened at most?
bool isMultiplyAdd(Block &body);
inline bool isMultiplyAdd(ContractOp op) {
  return isMultiplyAdd(op.getBody().front());
}
inline bool isMultiplyAdd(MainloopOp mainloop) {
  return isMultiplyAdd(mainloop.getContraction());
}

/// The contraction of a mainloop. Refuses if it is no contraction of
/// matrices: a tile has one dimension for each of m, n and k at most, no
/// operand is read by windows, and elements are numbers of whole bytes.
OrRefusal<ContractionInfo> describeContraction(MainloopOp mainloop);

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_COMMON_CONTRACTIONINFO_H
