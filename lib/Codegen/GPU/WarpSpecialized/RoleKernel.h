//===- RoleKernel.h - A kernel whose warps have roles -----------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_ROLEKERNEL_H
#define PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_ROLEKERNEL_H

#include "Codegen/GPU/Common/KernelLowering.h"
#include "Codegen/GPU/Common/MainloopNest.h"

#include "pit/Dialect/Pit/IR/LaunchInfo.h"

namespace mlir::pit::cuda {

/// Makes a kernel of a function, in ops of the pipeline level. Each role has
/// the loops and scalar code of the function for itself.
class RoleKernel {
protected:
  RoleKernel(func::FuncOp function, gpu::GPUModuleOp device)
      : function(function), device(device), rewriter(function.getContext()) {}

  struct KernelRole {
    StringRef name;
    int64_t warps, registers;
    /// Makes the role's code at the rewriter's place.
    std::function<void()> lower;
  };

  /// Makes the kernel, with `more` parameters than the function has, and takes
  /// the rewriter into it. The lowering of the pipeline adds to `info`.
  void createKernel(const LaunchInfo &info, ArrayRef<Type> more = {});
  /// Ends the kernel with its roles, the first one of the first warps, for so
  /// many blocks on a multiprocessor.
  void createRoles(int64_t blocks, ArrayRef<KernelRole> roles);
  /// Has `lower` lower a copy of the function's code, at the rewriter's place.
  void
  lowerCopy(function_ref<void(MainloopNest, const IndexMap &indices)> lower);

  func::FuncOp function;
  gpu::GPUModuleOp device;
  IRRewriter rewriter;
  Location loc = UnknownLoc::get(function.getContext());
  gpu::GPUFuncOp kernel;
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_ROLEKERNEL_H
