//===- PitToLLVM.cpp - From loops over vectors and tiles to llvm ----------===//

#include "Steps.h"

#include "pit/Codegen/CPU/Passes.h"
#include "pit/Codegen/Common/Passes.h"
#include "pit/Pipelines/Pipelines.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void pit::buildPitToControlFlow(OpPassManager &pm,
                                const PitToLLVMOptions &options) {
  OpPassManager &func = pm.nest<func::FuncOp>();
  PitVectorizeOptions vectorize;
  vectorize.vectorWidth = options.vectorWidth;
  vectorize.parallel = options.openmp;
  func.addPass(createPitVectorize(vectorize));
  func.addPass(createPitInlineAllocaScopes());
  addCleanUp(func);
  // Transfers of several dimensions come from the caller only; they are as
  // large as he made them.
  VectorTransferToSCFOptions transfers;
  transfers.enableFullUnroll();
  func.addPass(createConvertVectorToSCFPass(transfers));
  func.addPass(vector::createLowerVectorMultiReductionPass());
  if (options.checkBounds)
    pm.addPass(createPitCheckBounds());
  // Views go into the accesses.
  OpPassManager &folding = pm.nest<func::FuncOp>();
  folding.addPass(createPitLowerReshapes());
  folding.addPass(memref::createFoldMemRefAliasOpsPass());
  folding.addPass(memref::createExpandStridedMetadataPass());
  folding.addPass(createLowerAffinePass());
  if (options.openmp) {
    pm.addPass(createForallToParallelLoopPass());
    pm.addNestedPass<func::FuncOp>(pit::createPitSequenceNestedLoops());
    pm.addPass(createConvertSCFToOpenMPPass());
    pm.addNestedPass<func::FuncOp>(pit::createPitBalanceLoops());
  } else {
    pm.addPass(createForallToForLoopPass());
  }
  pm.addNestedPass<func::FuncOp>(pit::createPitInlineAllocaScopes());
  addCleanUp(pm);
  // Powers become loops.
  pm.addPass(pit::createPitLowerMath());
  pm.addPass(createSCFToControlFlowPass());
}

void pit::buildControlFlowToLLVM(OpPassManager &pm,
                                 const PitToLLVMOptions &options) {
  // Functions of f16 are computed in f32, and so is everything in bf16 and f8.
  pm.addPass(math::createMathExtendToSupportedTypes());
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"bf16", "f8E4M3FN", "f8E5M2"};
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
  pm.addPass(pit::createPitLowerF8());
  pm.addPass(pit::createPitLowerBf16());
  pm.addPass(arith::createArithExpandOpsPass());
  // The calls into libm take vectors apart, so vectors come later.
  ConvertMathToLLVMPassOptions math;
  math.approximateLog1p = false;
  pm.addPass(createConvertMathToLLVMPass(math));
  pm.addPass(createConvertMathToLibmPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.reassociateFPReductions = true;
  vectors.force32BitVectorIndices = false;
  pm.addPass(createConvertVectorToLLVMPass(vectors));
  pm.addPass(createConvertComplexToLLVMPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  // Tile registers are handed on from block to block, which OpenMP's conversion
  // has to see as LLVM's. A dialect that is not loaded cannot be asked for.
  ConvertToLLVMPassOptions blocks;
  blocks.filterDialects = {"cf"};
  if (options.amx)
    blocks.filterDialects.push_back("amx");
  pm.addPass(createConvertToLLVMPass(blocks));
  if (options.openmp)
    pm.addPass(createConvertOpenMPToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  addCleanUp(pm);
}

void pit::buildPitToLLVM(OpPassManager &pm, const PitToLLVMOptions &options) {
  buildPitToControlFlow(pm, options);
  buildControlFlowToLLVM(pm, options);
}
