//===- DropSigns.cpp - Integers without signs in their types --------------===//

#include "pit/Dialect/Pit/IR/DiscardableAttributes.h"
#include "pit/Frontend/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITDROPSIGNS
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

static IntegerType getSignless(IntegerType type) {
  return IntegerType::get(type.getContext(), type.getWidth());
}

/// The element type of a value, if it is an integer that says whether it has a
/// sign; null otherwise.
static IntegerType getSigned(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer && !integer.isSignless() ? integer : IntegerType();
}

static bool hasSigns(Operation *root) {
  auto isSigned = [](Type type) { return bool(getSigned(type)); };
  return root
      ->walk([&](Operation *op) {
        bool found = llvm::any_of(op->getResultTypes(), isSigned);
        for (Region &region : op->getRegions())
          for (Block &block : region)
            found |= llvm::any_of(block.getArgumentTypes(), isSigned);
        if (auto function = dyn_cast<func::FuncOp>(op))
          found |= llvm::any_of(function.getArgumentTypes(), isSigned) ||
                   llvm::any_of(function.getResultTypes(), isSigned);
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Changes all types, and the constants of such types.
static void dropSigns(Operation *root) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [](IntegerType type) -> Type { return getSignless(type); });
  replacer.addReplacement([](DenseIntElementsAttr attr) -> Attribute {
    IntegerType element = getSigned(attr.getType());
    return element ? attr.bitcast(getSignless(element)) : attr;
  });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  root->walk([](UnrealizedConversionCastOp cast) {
    if (cast.getInputs().getTypes() != cast.getResultTypes())
      return;
    cast.replaceAllUsesWith(cast.getInputs());
    cast.erase();
  });
}

namespace {
struct DropSignsPass : pit::impl::PitDropSignsBase<DropSignsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!hasSigns(module))
      return markAllAnalysesPreserved();
    // Set afterwards: else the attributes would lose the signs, too.
    SmallVector<std::tuple<func::FuncOp, unsigned, bool, IntegerType>> elements;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function.isPublic())
        continue;
      for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
        if (IntegerType element = getSigned(type))
          elements.emplace_back(function, i, true, element);
      for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
        if (IntegerType element = getSigned(type))
          elements.emplace_back(function, i, false, element);
    }
    dropSigns(module);
    for (auto [function, i, isArgument, element] : elements) {
      auto attr = TypeAttr::get(element);
      if (isArgument)
        function.setArgAttr(i, pit::kElementAttrName, attr);
      else
        function.setResultAttr(i, pit::kElementAttrName, attr);
    }
  }
};
} // namespace
