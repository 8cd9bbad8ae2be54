//===- StartKernel.h - The call that starts a kernel ------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_HOST_STARTKERNEL_H
#define PIT_LIB_CODEGEN_GPU_HOST_STARTKERNEL_H

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::pit::cuda {

/// A kernel reads no strides or offset that its argument's type does not leave
/// open. Reports an operand that has others.
LogicalResult checkLayouts(LaunchOp launch, gpu::GPUFuncOp kernel,
                           ValueRange operands);

/// The parameters of a kernel that takes these operands, as they lie in memory:
/// i64, pointer, ...
SmallVector<Value> makeParameters(OpBuilder &builder, Location loc,
                                  func::FuncOp function, ValueRange operands);

/// The call that starts a kernel.
struct KernelStart {
  gpu::GPUFuncOp kernel;
  Value blocks, split;   ///< of the grid: along x and y
  ArrayRef<Value> words; ///< the parameters, ...
  ArrayRef<Value> maps;  ///< ... after them the addresses of tensor maps,
  ArrayRef<Value>
      condition; ///< and the words that a predicated kernel asks for
};

void startKernel(OpBuilder &builder, Location loc, func::FuncOp function,
                 const KernelStart &start);

/// The pit_kernel that the host starts a kernel by; null if it never does.
LLVM::GlobalOp findConstant(ModuleOp module, gpu::GPUFuncOp kernel);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_HOST_STARTKERNEL_H
