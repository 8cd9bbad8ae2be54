//===- VerifyStage.cpp - Verifies a program between two levels ------------===//

#include "pit/Codegen/Common/Passes.h"

#include "mlir/IR/Verifier.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITVERIFYSTAGE
#include "pit/Codegen/Common/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

namespace {
struct VerifyStagePass : pit::impl::PitVerifyStageBase<VerifyStagePass> {
  void runOnOperation() override {
    if (failed(verify(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
