//===- Passes.td - Passes on the pipeline of kernels -------*- tablegen -*-===//

#ifndef PIT_CODEGEN_GPU_PIPELINE_PASSES_TD
#define PIT_CODEGEN_GPU_PIPELINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertPitGPUToNVVM
    : Pass<"convert-pit-gpu-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lowers the pipeline of kernels to nvvm";
  let description = [{
    Each op of the `pit_gpu` dialect becomes ops of nvvm, llvm, arith and scf:
    a file of `lib/Codegen/GPU/Pipeline` for stages, copies, products, fragments, and
    roles. Rings get their places in dynamic shared memory, and tensor maps become
    parameters of the kernel, behind its others, in their order.

    `known_block_size` and the threads, shared bytes and tensor maps of
    `pit.launch_info` say how to launch a kernel.

    Example: docs/HopperKernel.md.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::pit::PitDialect",
                           "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
}

#endif // PIT_CODEGEN_GPU_PIPELINE_PASSES_TD
