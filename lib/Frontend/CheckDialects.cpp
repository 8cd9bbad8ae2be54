//===- CheckDialects.cpp - What programs may consist of -------------------===//

#include "pit/Analysis/Upstream.h"
#include "pit/Frontend/Passes.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCHECKDIALECTS
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

static constexpr StringLiteral kTaken[] = {
    "affine", "arith", "bufferization", "builtin", "cf",   "complex",
    "func",   "index", "linalg",        "llvm",    "math", "memref",
    "omp",    "pit",   "scf",           "tensor",  "ub",   "vector"};

namespace {
/// The pass that lowers a dialect to those that are taken.
struct Advice {
  StringLiteral dialect, text;
};
} // namespace

static constexpr Advice kAdvice[] = {
    {"tosa",
     "lower it first, as by mlir-opt --pass-pipeline='builtin.module(func.func("
     "tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor))'"},
    {"sparse_tensor",
     "lower it first, as by mlir-opt --sparsifier, or use dense tensors that "
     "pit.sparse marks"},
    {"shape", "lower it first, as by mlir-opt --shape-to-shape-lowering "
              "--convert-shape-to-std"},
    {"quant", "lower it first, as by mlir-opt --lower-quant-ops "
              "--strip-func-quant-types"},
    {"ml_program",
     "programs keep nothing from call to call: hand it in and out "
     "as an argument and a result"},
    {"gpu", "pit makes kernels of linalg ops by itself"},
    {"stablehlo", "lower it first, as by stablehlo-opt "
                  "--stablehlo-legalize-to-linalg"},
    {"torch", "lower it first, as by torch-mlir-opt --pass-pipeline='"
              "builtin.module(torch-backend-to-linalg-on-tensors-backend-"
              "pipeline)'"},
};

static StringRef adviceOn(StringRef dialect) {
  for (const Advice &advice : kAdvice)
    if (advice.dialect == dialect)
      return advice.text;
  return "lower it first";
}

namespace {
struct CheckDialectsPass : pit::impl::PitCheckDialectsBase<CheckDialectsPass> {
  void runOnOperation() override {
    WalkResult found =
        getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
          StringRef dialect = op->getName().getDialectNamespace();
          if (llvm::is_contained(kTaken, dialect))
            return WalkResult(pit::checkSelectable(op));
          op->emitError() << "'" << op->getName() << "' op is of dialect "
                          << (dialect.empty() ? "(none)" : dialect)
                          << ", which pit does not take: " << adviceOn(dialect)
                          << "; taken are "
                          << llvm::join(ArrayRef(kTaken), ", ");
          return WalkResult::interrupt();
        });
    if (found.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
