//===- Live.h - Which elements are not the background -----------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_COMMON_LIVE_H
#define PIT_LIB_CODEGEN_COMMON_LIVE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::pit {

/// Does `value`, an element or a vector, differ from the background, or from 0
/// if that is null? An i1 or a vector of them. NaN differs from everything,
/// -0.0 not from 0.0. By integers, which all machines compare in one step,
/// also where they have no halves.
Value isLive(OpBuilder &builder, Location loc, Value value,
             TypedAttr background);

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_COMMON_LIVE_H
