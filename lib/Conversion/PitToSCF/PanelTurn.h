//===- PanelTurn.h - Rows to columns, in registers --------------*- C++ -*-===//

#ifndef PIT_LIB_CONVERSION_PITTOSCF_PANELTURN_H
#define PIT_LIB_CONVERSION_PITTOSCF_PANELTURN_H

#include "mlir/IR/Builders.h"

namespace mlir::pit {

/// As many vectors as each has elements, a power of two: element j of vector i
/// becomes element i of vector j.
SmallVector<Value> turnVectors(OpBuilder &b, Location loc,
                               ArrayRef<Value> rows);

} // namespace mlir::pit

#endif // PIT_LIB_CONVERSION_PITTOSCF_PANELTURN_H
