//===- Passes.h - Passes that make and lower kernels -------------*- C++
//-*-===//

#ifndef PIT_KERNEL_PASSES_H
#define PIT_KERNEL_PASSES_H

#include "pit/Kernel/DeviceCode.h"

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace mlir::pit {

#define GEN_PASS_DECL
#include "pit/Kernel/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pit/Kernel/Passes.h.inc"

} // namespace mlir::pit

#endif // PIT_KERNEL_PASSES_H
