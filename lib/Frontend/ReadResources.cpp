//===- ReadResources.cpp - Constants that lie in resources ----------------===//

#include "pit/Frontend/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITREADRESOURCES
#include "pit/Frontend/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

/// Bytes of an element in a resource; nothing if its type has no fixed size.
static std::optional<int64_t> bytesOf(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element)) {
    std::optional<int64_t> part = bytesOf(complex.getElementType());
    return part ? std::optional(2 * *part) : std::nullopt;
  }
  if (element.isIndex())
    return sizeof(int64_t);
  if (!element.isIntOrFloat())
    return std::nullopt;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

/// Does LLVM IR get elements of this type right from a resource? MLIR
/// translates words and floats.
static bool isTranslated(Type element) {
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8;
}

static LogicalResult read(arith::ConstantOp constant,
                          DenseResourceElementsAttr elements) {
  DenseResourceElementsHandle handle = elements.getRawHandle();
  AsmResourceBlob *blob = handle.getBlob();
  ShapedType type = elements.getType();
  if (!blob)
    return constant.emitOpError()
           << "is in resource '" << handle.getKey()
           << "', which the program does not have: print it with its large "
              "elements and resources";
  ArrayRef<char> data = blob->getData();
  std::optional<int64_t> bytes = bytesOf(type.getElementType());
  if (!bytes)
    return success();
  if (static_cast<int64_t>(data.size()) != *bytes * type.getNumElements())
    return constant.emitOpError()
           << "has type " << type << " of " << *bytes * type.getNumElements()
           << " bytes, but resource '" << handle.getKey() << "' has "
           << data.size();
  if (type.getNumElements() != 1 && isTranslated(type.getElementType()))
    return success();
  if (type.getElementType().isInteger(1))
    constant.setValueAttr(DenseElementsAttr::get(
        type, llvm::to_vector(
                  llvm::map_range(data, [](char byte) { return byte != 0; }))));
  else
    constant.setValueAttr(DenseElementsAttr::getFromRawBuffer(type, data));
  return success();
}

namespace {
struct ReadResourcesPass : pit::impl::PitReadResourcesBase<ReadResourcesPass> {
  void runOnOperation() override {
    WalkResult walk =
        getOperation().walk([](arith::ConstantOp constant) -> WalkResult {
          auto elements =
              dyn_cast<DenseResourceElementsAttr>(constant.getValue());
          return elements ? read(constant, elements) : success();
        });
    if (walk.wasInterrupted())
      return signalPassFailure();
  }
};
} // namespace
