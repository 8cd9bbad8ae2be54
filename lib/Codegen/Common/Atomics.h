//===- Atomics.h - Combining with memory in one step ------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_COMMON_ATOMICS_H
#define PIT_LIB_CODEGEN_COMMON_ATOMICS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::pit {

/// The address of a memref's memory, without its offset.
Value pointerOf(OpBuilder &builder, Location loc, Value memref);

/// Combines `value` with an element of a memref in one step that no other
/// thread can see a part of.
void atomicCombine(OpBuilder &builder, Location loc, arith::AtomicRMWKind kind,
                   Value value, Value memref, ValueRange indices);
/// Is there such a step for elements of this type?
bool hasAtomicCombine(Type element);

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_COMMON_ATOMICS_H
