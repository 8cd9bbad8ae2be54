//===- TensorMaps.h - TMA descriptors that a kernel takes -------*- C++ -*-===//
//
// A kernel that copies by TMA lists the descriptors that it takes as
//
//   pit.tensor_maps = [{argument = 1 : i64, box = array<i64: 128, 64>,
//                       swizzle = 128 : i64}, ...]
//
// each over the memref that is the launch's operand number `argument`. The host
// makes them at each launch (pit_rt_tensor_map), where the memref allows.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_HOST_TENSORMAPS_H
#define PIT_LIB_CODEGEN_GPU_HOST_TENSORMAPS_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::pit::cuda {

/// One TMA descriptor.
struct TensorMap {
  TypedValue<MemRefType> memref; ///< what it is of
  SmallVector<int64_t> box;      ///< elements of one copy, along each dimension
  int64_t swizzle;               ///< bytes
};

/// The descriptors that `kernel` takes when `launch` launches it. Reports
/// entries that fit no operand.
FailureOr<SmallVector<TensorMap>> getTensorMaps(gpu::GPUFuncOp kernel,
                                                LaunchOp launch);

/// Whether a descriptor of `memref` can be made, an i1. Null: there is none for
/// any memref of its type.
Value canHaveTensorMap(OpBuilder &builder, Location loc,
                       TypedValue<MemRefType> memref);

/// Makes a descriptor; returns its address on the host's stack.
Value makeTensorMap(OpBuilder &builder, Location loc, func::FuncOp function,
                    const TensorMap &map);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_HOST_TENSORMAPS_H
