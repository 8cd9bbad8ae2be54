//===- Mlp.cpp - A dialect of two ops -------------------------------------===//

#include "Mlp.h"

#include "MlpDialect.cpp.inc"

void mlp::MlpDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "MlpOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "MlpOps.cpp.inc"
