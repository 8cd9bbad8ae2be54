//===- Mainloops.h - Which mainloops a CPU computes -------------*- C++ -*-===//

#ifndef PIT_CODEGEN_CPU_MAINLOOPS_H
#define PIT_CODEGEN_CPU_MAINLOOPS_H

#include "pit/Dialect/Pit/IR/Pit.h"

namespace mlir::pit::cpu {

/// Can convert-pit-to-scf lower the mainloop, for vectors of so many bits?
bool fitsMainloop(MainloopOp mainloop, int64_t vectorBits);

} // namespace mlir::pit::cpu

#endif // PIT_CODEGEN_CPU_MAINLOOPS_H
