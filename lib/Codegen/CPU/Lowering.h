//===- Lowering.h - State of the lowering to scf ----------------*- C++ -*-===//
//
// The parts of convert-pit-to-scf share this.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_CPU_LOWERING_H
#define PIT_LIB_CODEGEN_CPU_LOWERING_H

#include "Codegen/Common/Index.h"
#include "ReadAhead.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::pit::cpu {

/// Lower one op at the builder's insertion point. `vectorBits` is the width of
/// a vector register.
void lowerSRead(OpBuilder &builder, SReadOp op, const ChunkMap &chunks,
                ElementPlaces &places, int64_t vectorBits);
void lowerSWrite(OpBuilder &builder, SWriteOp op, const ChunkMap &chunks,
                 int64_t vectorBits);
void lowerScan(OpBuilder &builder, ScanOp op, const ChunkMap &chunks,
               int64_t vectorBits);
void lowerCoords(OpBuilder &builder, CoordsOp op, const ChunkMap &chunks);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_LOWERING_H
