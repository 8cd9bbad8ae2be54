//===- RunWhere.cpp - A pipeline on some ops ------------------------------===//

#include "pit/Frontend/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITRUNWHERE
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

namespace {
struct RunWhere : pit::impl::PitRunWhereBase<RunWhere> {
  using Base::Base;

  RunWhere(StringRef name, StringRef used, const OpPassManager &passes)
      : passes(passes) {
    attribute = name.str();
    dialect = used.str();
    // For who prints the pipeline that this is in.
    std::string text;
    llvm::raw_string_ostream os(text);
    passes.printAsTextualPipeline(os);
    pipeline = text;
  }

  LogicalResult initializeOptions(
      StringRef options,
      function_ref<LogicalResult(const Twine &)> errorHandler) override {
    if (failed(Base::initializeOptions(options, errorHandler)))
      return failure();
    if (attribute.empty() && dialect.empty())
      return errorHandler("pit-run-where: attribute is missing, the name that "
                          "ops have to have, or dialect, of which there has "
                          "to be an op in them");
    std::string message;
    llvm::raw_string_ostream os(message);
    FailureOr<OpPassManager> parsed = parsePassPipeline(pipeline, os);
    if (failed(parsed))
      return errorHandler("pit-run-where: pipeline: " + message);
    passes = std::move(*parsed);
    return success();
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    if (passes)
      passes->getDependentDialects(registry);
  }

  void runOnOperation() override {
    Operation *op = getOperation();
    if (!passes || !isMeant(op))
      return;
    if (std::optional<StringRef> anchor = passes->getOpName();
        anchor && op->getName().getStringRef() != *anchor)
      return;
    if (failed(runPipeline(*passes, op)))
      signalPassFailure();
  }

private:
  bool isMeant(Operation *op) {
    if (!attribute.empty() && !op->hasAttr(attribute))
      return false;
    if (dialect.empty())
      return true;
    WalkResult found = op->walk([&](Operation *inner) {
      return inner->getName().getDialectNamespace() == dialect
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    return found.wasInterrupted();
  }

  std::optional<OpPassManager> passes;
};
} // namespace

std::unique_ptr<Pass> pit::createPitRunWhere(StringRef attribute,
                                             const OpPassManager &pipeline) {
  return std::make_unique<RunWhere>(attribute, /*dialect=*/"", pipeline);
}

std::unique_ptr<Pass>
pit::createPitRunWhereUsed(StringRef dialect, const OpPassManager &pipeline) {
  return std::make_unique<RunWhere>(/*attribute=*/"", dialect, pipeline);
}
