//===- Mainloops.h - Which mainloops a CPU computes -------------*- C++ -*-===//

#ifndef PIT_CODEGEN_CPU_MAINLOOPS_H
#define PIT_CODEGEN_CPU_MAINLOOPS_H

#include "pit/Analysis/Refusal.h"
#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Target/Target.h"

namespace mlir::pit::cpu {

/// Can this CPU compute the mainloop?
Refused checkMainloop(MainloopOp mainloop, const CpuTarget &target);

} // namespace mlir::pit::cpu

#endif // PIT_CODEGEN_CPU_MAINLOOPS_H
