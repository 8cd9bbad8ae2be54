//===- InlineAllocaScopes.cpp - Scopes of stack memory become stacksave ---===//

#include "pit/Codegen/CPU/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITINLINEALLOCASCOPES
#include "pit/Codegen/CPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

namespace {

bool allocates(memref::AllocaScopeOp scope) {
  return scope
      .walk([](Operation *op) {
        return isa<memref::AllocaOp, LLVM::AllocaOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

void inlineScope(memref::AllocaScopeOp scope, IRRewriter &rewriter) {
  Block *body = &scope.getBodyRegion().front();
  auto yield = cast<memref::AllocaScopeReturnOp>(body->getTerminator());
  rewriter.setInsertionPoint(scope);
  Value stack;
  if (allocates(scope))
    stack = LLVM::StackSaveOp::create(
        rewriter, scope.getLoc(),
        LLVM::LLVMPointerType::get(rewriter.getContext()));
  rewriter.inlineBlockBefore(body, scope);
  if (stack)
    LLVM::StackRestoreOp::create(rewriter, scope.getLoc(), stack);
  rewriter.replaceOp(scope, yield.getOperands());
  rewriter.eraseOp(yield);
}

struct PitInlineAllocaScopes
    : pit::impl::PitInlineAllocaScopesBase<PitInlineAllocaScopes> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk(
        [&](memref::AllocaScopeOp scope) { inlineScope(scope, rewriter); });
  }
};

} // namespace
