//===- TensorMaps.h - TMA descriptors that a kernel takes -------*- C++ -*-===//
//
// A kernel that copies by TMA lists the descriptors that it takes, each over an
// argument, as #pit.tensor_map. The host makes them at each launch, where the
// memref allows.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_HOST_TENSORMAPS_H
#define PIT_LIB_CODEGEN_GPU_HOST_TENSORMAPS_H

#include "Dialect/Pit/IR/Arithmetic.h"

#include "pit/Dialect/Pit/IR/LaunchInfo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::pit::cuda {

/// One TMA descriptor.
struct TensorMap {
  TypedValue<MemRefType> memref; ///< what it is of
  SmallVector<int64_t> box;      ///< elements of one copy, along each dimension
  int64_t swizzle;               ///< bytes
  int64_t alongK = -1;           ///< dimension; -1: it is not to be copied
  SmallVector<int64_t> order = {}; ///< of a copy; empty: the memref's
};

/// The descriptors that `kernel` takes when `launch` launches it. Reports
/// entries that fit no operand.
FailureOr<SmallVector<TensorMap>> getTensorMaps(gpu::GPUFuncOp kernel,
                                                LaunchOp launch);

/// Whether a descriptor of a memref can be made, as i1. Null: of no memref of
/// that type.
struct TensorMapFit {
  Value extents; ///< its extents are right
  Value layout;  ///< its address and strides are, too
};
TensorMapFit canHaveTensorMap(OpBuilder &builder, Location loc,
                              TypedValue<MemRefType> memref);

/// How many elements a memref has (i64).
Value countElements(OpBuilder &builder, Location loc, Value memref);

/// The descriptors of a launch.
class LaunchedMaps : ArithEmitter {
public:
  LaunchedMaps(OpBuilder &builder, Location loc, func::FuncOp function,
               LaunchOp launch, ArrayRef<TensorMap> maps)
      : ArithEmitter(builder, loc), function(function), launch(launch),
        maps(maps) {}

  /// Whether they can be made, and what has to be copied for them pays (i1).
  /// Null: never, by types alone.
  Value require();
  /// Makes them; returns their addresses on the host's stack. Kernels that copy
  /// ask for `condition`: the address of a word and what it has to be (i64).
  SmallVector<Value> make(ValueRange condition);

private:
  /// The memory of a descriptor: a memref or a copy of it.
  struct Source {
    Value data; ///< address (i64)
    SmallVector<OpFoldResult> sizes, strides;
  };

  Value constant(int64_t value);
  Value wordOf(OpFoldResult number);
  Value copyPays();
  Source sourceOf(const TensorMap &map);
  Source copyOf(const TensorMap &map, ValueRange condition);
  Source placeOf(const TensorMap &map, ValueRange condition);
  Value makeMap(const TensorMap &map, const Source &source);

  func::FuncOp function;
  LaunchOp launch;
  SmallVector<TensorMap> maps;
  /// Whether TMA can take a memref where it lies (i1); null: none of its type.
  llvm::SmallMapVector<Value, Value, 4> inPlace;
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_HOST_TENSORMAPS_H
