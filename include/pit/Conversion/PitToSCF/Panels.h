//===- Panels.h - Which rings a CPU computes --------------------*- C++ -*-===//

#ifndef PIT_CONVERSION_PITTOSCF_PANELS_H
#define PIT_CONVERSION_PITTOSCF_PANELS_H

#include "pit/Dialect/Pit/IR/Pit.h"

namespace mlir::pit {

/// Can convert-pit-to-scf lower the ring, for vectors of so many bits?
bool fitsPanels(RingOp ring, int64_t vectorBits);

} // namespace mlir::pit

#endif // PIT_CONVERSION_PITTOSCF_PANELS_H
