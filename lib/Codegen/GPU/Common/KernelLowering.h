//===- KernelLowering.h - What both kinds of kernels share ------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_KERNELLOWERING_H
#define PIT_LIB_CODEGEN_GPU_COMMON_KERNELLOWERING_H

#include "Lowering.h"

#include "pit/Target/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::pit::cuda {

struct KernelOptions {
  int64_t threads;        ///< of a block
  int64_t maxSharedBytes; ///< of shared memory that a block may have
  GpuTarget target;       ///< the oldest GPU to run on
};

/// The properties of a kernel that its function does not state.
struct KernelHead {
  std::string name;
  int64_t threads;        ///< of a block
  SmallVector<Type> more; ///< parameters, after those of the function
};

/// An empty kernel in `device`. A parameter that is an index is its address.
gpu::GPUFuncOp createGpuFunc(RewriterBase &rewriter, func::FuncOp function,
                             gpu::GPUModuleOp device, const KernelHead &head);

/// Has `function`, a copy of what the kernel is made of, use the arguments of
/// the kernel; gives its indices, which are read at the rewriter's place.
IndexMap bindArguments(RewriterBase &rewriter, func::FuncOp function,
                       gpu::GPUFuncOp kernel);

/// The dynamic shared memory of the module's kernels. The array is external:
/// LLVM takes an internal one of no bytes to be empty.
LLVM::GlobalOp getDynamicShared(RewriterBase &rewriter, gpu::GPUModuleOp device,
                                StringRef name, int64_t alignment);

/// Takes what is in the way out of a function that is to be a kernel, and
/// refuses what no kernel is made of. Adds to `atomics` the SWrites that others
/// may disturb.
LogicalResult prepareKernel(RewriterBase &rewriter, func::FuncOp function,
                            llvm::SmallDenseSet<Operation *> &atomics);

/// How the blocks of the grid share a kernel.
struct GridPlan {
  /// Ops of the kernel depend on each other across the grid: one block alone
  /// runs all of them.
  bool oneBlock = false;
  /// A loop over the chunks of a group that blocks may share, in each iteration
  /// of the outermost pit.forall.
  ForOp split;
};

/// Looks at the ops of a kernel function.
FailureOr<GridPlan> planGrid(func::FuncOp function);

/// How many steps the mainloops of later iterations have: more, as those of a
/// causal attention, or fewer, as those of its gradients of keys. Blocks should
/// begin with the most.
enum class LaterSteps { Same, More, Fewer };
LaterSteps compareLaterSteps(ForallOp loop);

/// Has one iteration a number of steps that others do not have, because ids or
/// bounds of its own say how many?
bool stepsDiffer(ForallOp loop);

/// Do the steps of tiles read other things in each row of tiles, numbered by
/// the last variable but one, as those of an attention do of each head? Then
/// blocks should go through a row before they begin the next one.
bool readDisjointRows(ForallOp loop);

/// Does `value`, of the loop's body, depend on `variable`?
bool dependsOn(ForallOp loop, Value value, Value variable);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_KERNELLOWERING_H
