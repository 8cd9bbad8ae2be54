//===- PitDialect.cpp - Registration of the pit dialect -------------------===//

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pit;

#include "pit/Dialect/Pit/IR/PitDialect.cpp.inc"
#include "pit/Dialect/Pit/IR/PitEnums.cpp.inc"

void PitDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "pit/Dialect/Pit/IR/PitOps.cpp.inc"
      >();
}
