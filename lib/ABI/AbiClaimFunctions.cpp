//===- AbiClaimFunctions.cpp - Which functions pit has computed -----------===//

#include "pit/ABI/Passes.h"
#include "pit/Dialect/Pit/IR/DiscardableAttributes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITABICLAIMFUNCTIONS
#include "pit/ABI/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

static bool hasOpsOfPit(func::FuncOp func) {
  return func
      .walk([](Operation *op) {
        return isa_and_present<PitDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct AbiClaimFunctions
    : pit::impl::PitAbiClaimFunctionsBase<AbiClaimFunctions> {
  using Base::Base;

  void runOnOperation() override {
    auto cuda = StringAttr::get(&getContext(), "cuda");
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func->hasAttr(kManifestAttr) && hasOpsOfPit(func))
        func->setAttr(kDeviceAttrName, cuda);
  }
};
} // namespace
