//===- Passes.h - Conversions out of the pit dialect ------------*- C++ -*-===//

#ifndef PIT_CONVERSION_PASSES_H
#define PIT_CONVERSION_PASSES_H

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::pit {

#define GEN_PASS_DECL
#include "pit/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pit/Conversion/Passes.h.inc"

} // namespace mlir::pit

#endif // PIT_CONVERSION_PASSES_H
