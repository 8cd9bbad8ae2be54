//===- Mainloops.h - Which mainloops a CPU computes -------------*- C++ -*-===//

#ifndef PIT_CODEGEN_CPU_MAINLOOPS_H
#define PIT_CODEGEN_CPU_MAINLOOPS_H

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Target/Target.h"

namespace mlir::pit::cpu {

/// Can this CPU compute the mainloop? If not, `why` says the reason.
bool fitsMainloop(MainloopOp mainloop, const CpuTarget &target,
                  std::string &why);

} // namespace mlir::pit::cpu

#endif // PIT_CODEGEN_CPU_MAINLOOPS_H
