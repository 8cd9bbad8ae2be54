//===- IndexCalls.h - Runtime calls of indices, choices ---------*- C++ -*-===//
//
// The host code of a program calls the runtime for its indices and choices, for
// a CPU and for a GPU alike. The calls are those of include/pit-runtime/Abi.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_COMMON_INDEXCALLS_H
#define PIT_LIB_CODEGEN_COMMON_INDEXCALLS_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::pit {

/// Calls the runtime's builder. `bitmap` is what the op has seen, or null; its
/// bits it finds itself.
Value buildIndex(OpBuilder &builder, IndexOp op, Value bitmap,
                 func::FuncOp function);

/// The same for an index with what its micro-tiles hold; also whether that was
/// packed, an i1.
std::pair<Value, Value> buildPackedIndex(OpBuilder &builder, PackedIndexOp op,
                                         func::FuncOp function);

/// Calls the runtime for the transpose of the index at `index`; `choice` is
/// what the op's variant depends on, or null.
Value transposeIndex(OpBuilder &builder, TransposeIndexOp op, Value index,
                     Value choice, func::FuncOp function);

/// Asks the runtime for the variant (an index) and the bitmap. `mark` tells the
/// choices of a program apart. A choice on the device has a null variant, and
/// its word's address there takes the bitmap's place, as in `after`, which is
/// null if the choice comes after no other, and in `earlier`, what the op has
/// as seen.
std::pair<Value, Value> lowerChoose(OpBuilder &builder, ChooseOp op,
                                    Value after, Value earlier, int64_t mark,
                                    func::FuncOp function);

/// Has the runtime add what is live to the context's profile.
void lowerRecord(OpBuilder &builder, RecordOp op, func::FuncOp function);

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_COMMON_INDEXCALLS_H
