//===- KernelInput.cpp - What a kernel is made of -------------------------===//

#include "KernelLowering.h"

#include "Codegen/Common/TileInput.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
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
  if (failed(checkTileInput(
          function,
          {/*hasAtomics=*/true, "kernels take none, sequential and atomic"})))
    return failure();
  function.walk([&](SWriteOp write) {
    if (isAtomic(write))
      atomics.insert(write);
  });
  return success();
}

LogicalResult cuda::prepareKernel(RewriterBase &rewriter, func::FuncOp function,
                                  llvm::SmallDenseSet<Operation *> &atomics) {
  return failure(failed(inlineScopes(rewriter, function)) ||
                 failed(check(function, atomics)));
}

LLVM::GlobalOp cuda::getDynamicShared(RewriterBase &rewriter,
                                      gpu::GPUModuleOp device, StringRef name,
                                      int64_t alignment) {
  if (auto global = device.lookupSymbol<LLVM::GlobalOp>(name)) {
    int64_t known = global.getAlignment().value_or(1);
    global.setAlignment(std::max(known, alignment));
    return global;
  }
  OpBuilder::InsertionGuard guard(rewriter);
  auto space = static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
  auto type = LLVM::LLVMArrayType::get(rewriter.getI8Type(), 0);
  rewriter.setInsertionPointToStart(device.getBody());
  return LLVM::GlobalOp::create(rewriter, device.getLoc(), type,
                                /*isConstant=*/false, LLVM::Linkage::External,
                                name, /*value=*/Attribute(), alignment, space);
}

gpu::GPUFuncOp cuda::createGpuFunc(RewriterBase &rewriter,
                                   func::FuncOp function,
                                   gpu::GPUModuleOp device,
                                   const KernelHead &head) {
  auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
  SmallVector<Type> types;
  for (Type type : function.getArgumentTypes())
    types.push_back(isa<SparsityIndexType>(type) ? pointer : type);
  llvm::append_range(types, head.more);
  rewriter.setInsertionPointToEnd(device.getBody());
  auto kernel = gpu::GPUFuncOp::create(rewriter, function.getLoc(), head.name,
                                       rewriter.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  rewriter.getUnitAttr());
  int32_t count = head.threads;
  kernel.setKnownBlockSizeAttr(rewriter.getDenseI32ArrayAttr({count, 1, 1}));
  return kernel;
}

IndexMap cuda::bindArguments(RewriterBase &rewriter, func::FuncOp function,
                             gpu::GPUFuncOp kernel) {
  IndexMap indices;
  for (auto [from, to] :
       llvm::zip(function.getArguments(), kernel.getArguments())) {
    if (auto type = dyn_cast<SparsityIndexType>(from.getType()))
      indices[from] =
          readIndex(rewriter, function.getLoc(), type, to, /*space=*/1);
    else
      rewriter.replaceAllUsesWith(from, to);
  }
  return indices;
}
