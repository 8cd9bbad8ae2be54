//===- PitDialect.cpp - Registration of the pit dialect -------------------===//

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::pit;

#include "pit/Dialect/Pit/IR/PitDialect.cpp.inc"
#include "pit/Dialect/Pit/IR/PitEnums.cpp.inc"

namespace {
/// Functions with ops of the dialect may be inlined, also into its loops: none
/// of them depends on the function that it stands in.
struct PitInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void PitDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "pit/Dialect/Pit/IR/PitOps.cpp.inc"
      >();
  addInterfaces<PitInlinerInterface>();
}
