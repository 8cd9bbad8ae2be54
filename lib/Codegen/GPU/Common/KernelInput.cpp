//===- KernelInput.cpp - What a kernel is made of -------------------------===//

#include "KernelLowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Regions that only bound the life of buffers are in the way.
static LogicalResult inlineScopes(RewriterBase &rewriter,
                                  func::FuncOp function) {
  SmallVector<memref::AllocaScopeOp> scopes;
  SmallVector<scf::ForallOp> foralls;
  function.walk([&](Operation *op) {
    if (auto scope = dyn_cast<memref::AllocaScopeOp>(op))
      scopes.push_back(scope);
    else if (auto forall = dyn_cast<scf::ForallOp>(op))
      foralls.push_back(forall);
  });
  for (memref::AllocaScopeOp scope : scopes) {
    if (!scope.getBodyRegion().hasOneBlock())
      return scope.emitOpError("of several blocks in a kernel; use scf for "
                               "control flow");
    Block *body = &scope.getBodyRegion().front();
    Operation *terminator = body->getTerminator();
    rewriter.inlineBlockBefore(body, scope);
    rewriter.replaceOp(scope, terminator->getOperands());
    rewriter.eraseOp(terminator);
  }
  for (scf::ForallOp forall : foralls) {
    rewriter.setInsertionPoint(forall);
    if (failed(scf::forallToForLoop(rewriter, forall)))
      return forall.emitOpError("cannot become loops of one thread block");
  }
  return success();
}

/// Refuses what no kernel is made of; finds the `atomics`.
static LogicalResult check(func::FuncOp function,
                           llvm::SmallDenseSet<Operation *> &atomics) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("kernel of several blocks; use scf for control "
                              "flow");
  if (function.getNumResults())
    return function.emitError() << "kernel returns " << function.getNumResults()
                                << " values; results of a kernel are memref "
                                   "arguments that it writes";
  for (Type type : function.getArgumentTypes()) {
    auto memref = dyn_cast<MemRefType>(type);
    if (memref ? memref.isStrided()
               : type.isIntOrIndexOrFloat() || isa<SparsityIndexType>(type))
      continue;
    return function.emitError()
           << "kernel argument of type " << type
           << "; a memref with strides, a scalar or an index is right";
  }
  WalkResult walk = function.walk([&](Operation *op) {
    if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) ||
        llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>)) {
      op->emitOpError("works on tensors: bufferize it first");
      return WalkResult::interrupt();
    }
    auto read = dyn_cast<SReadOp>(op);
    auto write = dyn_cast<SWriteOp>(op);
    if ((read && read.isWhole()) || (write && write.isWhole())) {
      op->emitOpError("packs a whole tensor: run pit-tile first");
      return WalkResult::interrupt();
    }
    bool isAtomic = false;
    for (Operation *up = op; write && up != function; up = up->getParentOp()) {
      if (auto loop = dyn_cast<ForallOp>(up))
        isAtomic |= loop.getConflicts() == Conflicts::Atomic;
      else if (auto loop = dyn_cast<ForOp>(up))
        isAtomic |= loop.getConflicts() == Conflicts::Atomic;
    }
    if (!isAtomic || !write.getCombine())
      return WalkResult::advance();
    Type element = write.getDestType().getElementType();
    if (!hasAtomicCombine(element)) {
      op->emitOpError() << "combines elements of " << element
                        << " that several groups write; atomics take numbers "
                           "of 1, 2, 4 or 8 bytes";
      return WalkResult::interrupt();
    }
    atomics.insert(op);
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult cuda::prepareKernel(RewriterBase &rewriter, func::FuncOp function,
                                  llvm::SmallDenseSet<Operation *> &atomics) {
  return failure(failed(inlineScopes(rewriter, function)) ||
                 failed(check(function, atomics)));
}

gpu::GPUFuncOp cuda::createGpuFunc(RewriterBase &rewriter,
                                   func::FuncOp function,
                                   gpu::GPUModuleOp device, StringRef name,
                                   int64_t threads, ArrayRef<Type> more) {
  auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
  SmallVector<Type> types;
  for (Type type : function.getArgumentTypes())
    types.push_back(isa<SparsityIndexType>(type) ? pointer : type);
  llvm::append_range(types, more);
  rewriter.setInsertionPointToEnd(device.getBody());
  auto kernel = gpu::GPUFuncOp::create(rewriter, function.getLoc(), name,
                                       rewriter.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  rewriter.getUnitAttr());
  int32_t count = threads;
  kernel.setKnownBlockSizeAttr(rewriter.getDenseI32ArrayAttr({count, 1, 1}));
  return kernel;
}
