//===- PanelLowering.h - A ring to loops over register blocks ---*- C++ -*-===//

#ifndef PIT_LIB_CONVERSION_PITTOSCF_PANELLOWERING_H
#define PIT_LIB_CONVERSION_PITTOSCF_PANELLOWERING_H

#include "PanelPack.h"

namespace mlir::pit {

/// Lowers a ring on memrefs at the builder's insertion point; the op itself
/// stays. `operands` are those that were packed before.
LogicalResult lowerPanels(OpBuilder &builder, RingOp ring,
                          const PackedOperands &operands,
                          const IndexMap &indices, ChunkMap &chunks,
                          PanelTarget target);

} // namespace mlir::pit

#endif // PIT_LIB_CONVERSION_PITTOSCF_PANELLOWERING_H
