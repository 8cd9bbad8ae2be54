//===- pit-test-rules.cpp - Asks for rules as a pass of others does -------===//
//
//   pit-test-rules FILE            prints the rules of each marked linalg op,
//                                  and what is wrong with its attribute
//                                  `pit_test.rule`
//   pit-test-rules FILE --tile     tiles each such op by the best of its rules
//
// With --target=NAME, --tf32, --sample=LABEL=FILE.npy and --profile=FILE the
// rules are those of such a search.
//
//===----------------------------------------------------------------------===//

#include "pit/Dialect/Pit/Transforms/Rules.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::pit;

/// The marked ops of a module.
static SmallVector<linalg::LinalgOp> findMarkedOps(ModuleOp module) {
  SmallVector<linalg::LinalgOp> ops;
  module.walk([&](linalg::LinalgOp op) {
    if (llvm::any_of(op->getOpOperands(),
                     [&](OpOperand &operand) { return getMark(op, operand); }))
      ops.push_back(op);
  });
  return ops;
}

static LogicalResult report(linalg::LinalgOp op, const RuleSearch &search) {
  SmallVector<std::string> refused;
  FailureOr<SmallVector<LegalRule>> rules = findRules(op, search, &refused);
  if (failed(rules))
    return failure();
  llvm::outs() << op->getName() << "\n";
  for (const LegalRule &legal : *rules) {
    llvm::outs() << "  legal: " << legal.rule << " by " << legal.index;
    if (legal.expected)
      llvm::outs() << llvm::formatv(", live fraction {0:F4}, {1:F2} of dense",
                                    legal.expected->liveFraction,
                                    legal.expected->time /
                                        legal.expected->dense);
    llvm::outs() << "\n";
  }
  for (StringRef why : refused)
    llvm::outs() << "  refused: " << why << "\n";
  if (auto rule = op->getAttrOfType<RuleAttr>("pit_test.rule")) {
    OrRefusal<LegalRule> legal = checkRule(op, rule);
    llvm::outs() << "  asked for: ";
    if (legal)
      llvm::outs() << "by " << legal->index << "\n";
    else
      llvm::outs() << legal.refusal().why << "\n";
  }
  return success();
}

static LogicalResult tile(linalg::LinalgOp op, const RuleSearch &search) {
  FailureOr<SmallVector<LegalRule>> rules = findRules(op, search);
  if (failed(rules) || rules->empty())
    return rules;
  // What was found is what a check finds.
  OrRefusal<LegalRule> legal = checkRule(op, rules->front().rule);
  if (!legal)
    return op->emitOpError() << legal.refusal().why;
  IRRewriter rewriter(op.getContext());
  planByRule(rewriter, op, *legal);
  return tileByRule(rewriter, op);
}

int main(int argc, char **argv) {
  StringRef file, profile;
  bool tiles = false;
  RuleSearch search;
  SmallVector<std::string> samples;
  for (StringRef argument : ArrayRef(argv + 1, argc - 1))
    if (argument == "--tile")
      tiles = true;
    else if (argument == "--tf32")
      search.tf32 = true;
    else if (argument.consume_front("--target="))
      search.target = argument.str();
    else if (argument.consume_front("--sample="))
      samples.push_back(argument.str());
    else if (argument.consume_front("--profile="))
      profile = argument;
    else
      file = argument;
  MLIRContext context;
  context.loadDialect<PitDialect, affine::AffineDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return 1;
  // Before an op is planned.
  llvm::MapVector<Operation *, KnownZeros> zeros;
  for (auto function : module->getOps<func::FuncOp>()) {
    FailureOr<KnownZeros> known = KnownZeros::load(function, samples, profile);
    if (failed(known))
      return 1;
    zeros.insert({function, std::move(*known)});
  }
  for (linalg::LinalgOp op : findMarkedOps(*module)) {
    search.zeros = &zeros.find(op->getParentOfType<func::FuncOp>())->second;
    if (failed(tiles ? tile(op, search) : report(op, search)))
      return 1;
  }
  if (tiles) {
    module->print(llvm::outs());
    llvm::outs() << "\n";
  }
}
