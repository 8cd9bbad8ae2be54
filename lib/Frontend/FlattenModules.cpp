//===- FlattenModules.cpp - One module instead of nested ones -------------===//

#include "pit/Dialect/Pit/IR/DiscardableAttributes.h"
#include "pit/Frontend/Passes.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITFLATTENMODULES
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

/// Nobody outside of its module can name it.
static bool isPrivateDefinition(SymbolOpInterface symbol) {
  return symbol.isPrivate() && !symbol.isDeclaration();
}

/// Makes the name of `inner` free in `outer`, or drops a declaration that
/// `outer` has, too.
static LogicalResult resolveClash(SymbolOpInterface inner,
                                  SymbolOpInterface outer,
                                  SymbolTable &innerTable,
                                  SymbolTable &outerTable) {
  if (isPrivateDefinition(inner))
    return innerTable.renameToUnique(inner, {&outerTable});
  if (isPrivateDefinition(outer))
    return outerTable.renameToUnique(outer, {&innerTable});
  auto declared = dyn_cast<FunctionOpInterface>(inner.getOperation());
  auto known = dyn_cast<FunctionOpInterface>(outer.getOperation());
  if (declared && known && declared.isExternal() &&
      declared.getFunctionType() == known.getFunctionType()) {
    innerTable.erase(inner);
    return success();
  }
  InFlightDiagnostic diag = inner->emitOpError()
                            << "@" << inner.getName()
                            << " stands in a nested module, but the module "
                               "around it has a symbol of that name; one of "
                               "both has to be renamed";
  diag.attachNote(outer->getLoc()) << "which is here";
  return failure();
}

/// Moves what `inner` holds in front of it.
static LogicalResult flatten(ModuleOp inner, ModuleOp outer) {
  SymbolTable innerTable(inner), outerTable(outer);
  for (auto symbol :
       llvm::make_early_inc_range(inner.getOps<SymbolOpInterface>())) {
    auto other = dyn_cast_or_null<SymbolOpInterface>(
        outerTable.lookup(symbol.getName()));
    if (other && other.getOperation() != inner.getOperation() &&
        failed(resolveClash(symbol, other, innerTable, outerTable)))
      return failure();
  }
  inner->getBlock()->getOperations().splice(inner->getIterator(),
                                            inner.getBody()->getOperations());
  inner.erase();
  return success();
}

namespace {
struct FlattenModulesPass
    : pit::impl::PitFlattenModulesBase<FlattenModulesPass> {
  void runOnOperation() override {
    ModuleOp outer = getOperation();
    // Inner modules that hold modules leave these in their place.
    while (true) {
      auto modules = outer.getOps<ModuleOp>();
      auto it = llvm::find_if(modules, [](ModuleOp inner) {
        return !inner->hasAttr(pit::kKernelsAttrName);
      });
      if (it == modules.end())
        return;
      if (failed(flatten(*it, outer)))
        return signalPassFailure();
    }
  }
};
} // namespace
