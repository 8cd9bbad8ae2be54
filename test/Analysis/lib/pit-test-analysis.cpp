//===- pit-test-analysis.cpp - Print what lib/Analysis finds --------------===//
//
// Prints a report for each linalg op of a module. Attributes on the op ask for
// more: `pit_test.operand = 0` (a number or an array of numbers) marks inputs,
// with `pit_test.background` of the element type (default 0);
// `pit_test.result = 0` marks a result; `pit_test.pad = [2]` asks for padding
// along dims; `pit_test.factors` for the factors of result 0;
// `pit_test.strict` for the dense program's bits; `pit_test.quiet` leaves the
// axes out.
//
//===----------------------------------------------------------------------===//

#include "pit/Analysis/Factors.h"
#include "pit/Analysis/Padding.h"
#include "pit/Analysis/PitAxis.h"
#include "pit/Analysis/Skipping.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::pit;

static SmallVector<unsigned> getNumbers(Operation *op, StringRef name) {
  SmallVector<unsigned> numbers;
  if (auto one = op->getAttrOfType<IntegerAttr>(name))
    numbers.push_back(one.getInt());
  if (auto many = op->getAttrOfType<ArrayAttr>(name))
    for (auto one : many.getAsRange<IntegerAttr>())
      numbers.push_back(one.getInt());
  return numbers;
}

static TypedAttr getBackground(linalg::LinalgOp op, unsigned operand) {
  if (auto given = op->getAttrOfType<TypedAttr>("pit_test.background"))
    return given;
  if (operand >= op->getNumOperands())
    return {};
  return zeroOf(getElementTypeOrSelf(op->getOperand(operand).getType()));
}

static void reportAxes(linalg::LinalgOp op, raw_ostream &os) {
  for (const AxisVerdict &verdict : analyzeAxes(op))
    os << "  " << verdict.reason << (verdict.isExact ? " (exact)" : "") << "\n";
}

static void reportPadding(linalg::LinalgOp op, ArrayRef<unsigned> dims,
                          std::optional<unsigned> marked, raw_ostream &os) {
  auto pads = findPadding(op, dims, marked,
                          marked ? getBackground(op, *marked) : TypedAttr());
  os << "  padding: ";
  if (pads)
    llvm::interleaveComma(*pads, os);
  else
    os << "peel " << pads.refusal().why;
  os << "\n";
}

static void reportFactors(linalg::LinalgOp op, raw_ostream &os) {
  FailureOr<SumOfProducts> sum = matchSumOfProducts(op);
  if (failed(sum)) {
    os << "  no sum of products\n";
    return;
  }
  for (const Factor &factor : sum->factors) {
    os << "  factor of operands [";
    llvm::interleaveComma(factor.operands, os);
    os << "] varies along [";
    SmallVector<unsigned> dims;
    for (unsigned dim = 0; dim != op.getNumLoops(); ++dim)
      if (variesAlong(op, factor, dim))
        dims.push_back(dim);
    llvm::interleaveComma(dims, os);
    os << "]\n";
  }
}

static void report(linalg::LinalgOp op, raw_ostream &os) {
  os << op->getName() << "\n";
  if (!op->hasAttr("pit_test.quiet"))
    reportAxes(op, os);
  SmallVector<unsigned> operands = getNumbers(op, "pit_test.operand");
  bool strict = op->hasAttr("pit_test.strict");
  for (unsigned operand : operands)
    os << "  "
       << analyzeSkipping(op, operand, getBackground(op, operand), strict)
              .reason
       << "\n";
  for (unsigned result : getNumbers(op, "pit_test.result"))
    os << "  " << analyzeResultSkipping(op, result).reason << "\n";
  if (op->hasAttr("pit_test.pad"))
    reportPadding(op, getNumbers(op, "pit_test.pad"),
                  operands.empty() ? std::nullopt
                                   : std::optional<unsigned>(operands.front()),
                  os);
  if (op->hasAttr("pit_test.factors"))
    reportFactors(op, os);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: pit-test-analysis FILE.mlir\n";
    return 2;
  }
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  module->walk([](linalg::LinalgOp op) { report(op, llvm::outs()); });
  return 0;
}
