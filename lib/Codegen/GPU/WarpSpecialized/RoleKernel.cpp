//===- RoleKernel.cpp - A kernel whose warps have roles -------------------===//

#include "RoleKernel.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

void RoleKernel::createKernel(const LaunchInfo &info, ArrayRef<Type> more) {
  kernel = createGpuFunc(rewriter, function, device,
                         {(function.getName() + "_hopper").str(), info.threads,
                          llvm::to_vector(more)});
  info.setOn(kernel);
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
}

void RoleKernel::createRoles(int64_t blocks, ArrayRef<KernelRole> roles) {
  // The next kernel may come to where blocks of this one have ended; this one
  // has, and now waits for the one before.
  using Control = NVVM::GridDepActionKind;
  NVVM::GriddepcontrolOp::create(rewriter, loc, Control::launch_dependents);
  NVVM::GriddepcontrolOp::create(rewriter, loc, Control::wait);
  SmallVector<StringRef> names;
  SmallVector<int64_t> warps, registers;
  for (const KernelRole &role : roles) {
    names.push_back(role.name);
    warps.push_back(role.warps);
    registers.push_back(role.registers);
  }
  auto op = pitgpu::RolesOp::create(
      rewriter, loc, rewriter.getStrArrayAttr(names),
      rewriter.getDenseI64ArrayAttr(warps),
      rewriter.getDenseI64ArrayAttr(registers),
      rewriter.getI64IntegerAttr(blocks), /*bodiesCount=*/roles.size());
  gpu::ReturnOp::create(rewriter, loc);
  for (auto [role, body] : llvm::zip(roles, op.getBodies())) {
    rewriter.createBlock(&body);
    role.lower();
  }
}

void RoleKernel::lowerCopy(
    function_ref<void(MainloopNest, const IndexMap &)> lower) {
  // Ids and indices are known by its arguments.
  func::FuncOp copy = function.clone();
  IndexMap indices = bindArguments(rewriter, copy, kernel);
  MainloopNest nest = *matchMainloopNest(copy);
  Block *body = &copy.front();
  rewriter.eraseOp(body->getTerminator());
  rewriter.getInsertionBlock()->getOperations().splice(
      rewriter.getInsertionPoint(), body->getOperations());
  {
    OpBuilder::InsertionGuard guard(rewriter);
    lower(nest, indices);
  }
  copy.erase();
}
