//===- pit-test-rules.cpp - Asks for rules as a pass of others does -------===//
//
//   pit-test-rules FILE            prints the rules of each marked linalg op,
//   and what
//                                  is wrong with its attribute `pit_test.rule`
//   pit-test-rules FILE --tile     tiles each such op by the best of its rules
//
//===----------------------------------------------------------------------===//

#include "pit/Dialect/Pit/Transforms/Rules.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
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

static LogicalResult report(linalg::LinalgOp op) {
  SmallVector<std::string> refused;
  FailureOr<SmallVector<LegalRule>> rules = findRules(op, {}, &refused);
  if (failed(rules))
    return failure();
  llvm::outs() << op->getName() << "\n";
  for (const LegalRule &legal : *rules)
    llvm::outs() << "  legal: " << legal.rule << " by " << legal.index << "\n";
  for (StringRef why : refused)
    llvm::outs() << "  refused: " << why << "\n";
  if (auto rule = op->getAttrOfType<RuleAttr>("pit_test.rule")) {
    std::string why;
    FailureOr<LegalRule> legal = checkRule(op, rule, why);
    llvm::outs() << "  asked for: ";
    if (succeeded(legal))
      llvm::outs() << "by " << legal->index << "\n";
    else
      llvm::outs() << why << "\n";
  }
  return success();
}

static LogicalResult tile(linalg::LinalgOp op) {
  FailureOr<SmallVector<LegalRule>> rules = findRules(op);
  if (failed(rules) || rules->empty())
    return rules;
  // What was found is what a check finds.
  std::string why;
  FailureOr<LegalRule> legal = checkRule(op, rules->front().rule, why);
  if (failed(legal))
    return op->emitOpError() << why;
  IRRewriter rewriter(op.getContext());
  planByRule(rewriter, op, *legal);
  return tileByRule(rewriter, op);
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3 || (argc == 3 && StringRef(argv[2]) != "--tile")) {
    llvm::errs() << "usage: pit-test-rules FILE [--tile]\n";
    return 2;
  }
  MLIRContext context;
  context.loadDialect<PitDialect, affine::AffineDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  for (linalg::LinalgOp op : findMarkedOps(*module))
    if (failed(argc == 3 ? tile(op) : report(op)))
      return 1;
  if (argc == 3) {
    module->print(llvm::outs());
    llvm::outs() << "\n";
  }
}
