//===- MainloopLowering.h - A mainloop to loops -----------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_CPU_MAINLOOPLOWERING_H
#define PIT_LIB_CODEGEN_CPU_MAINLOOPLOWERING_H

#include "PackOperands.h"

namespace mlir::pit::cpu {

/// Lowers a mainloop on memrefs at the builder's insertion point; the op itself
/// stays. `operands` are those that were packed before.
void lowerMainloop(OpBuilder &builder, MainloopOp mainloop,
                   const PackedOperands &operands, const IndexMap &indices,
                   ChunkMap &chunks);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_MAINLOOPLOWERING_H
