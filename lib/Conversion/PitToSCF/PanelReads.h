//===- PanelReads.h - How often rings read an operand -----------*- C++ -*-===//

#ifndef PIT_LIB_CONVERSION_PITTOSCF_PANELREADS_H
#define PIT_LIB_CONVERSION_PITTOSCF_PANELREADS_H

#include "../Common/Index.h"

namespace mlir::pit {

/// Does `ring`, all over the tile loop `loop` around it, come by an element of
/// a tensor of which its tile has these subscripts more than `times` times, or
/// `in` elements together, on average? An i1, before `loop`.
Value isReadMoreThan(OpBuilder &b, ForallOp loop, RingOp ring,
                     ValueRange subscripts, const IndexMap &indices,
                     int64_t times, int64_t in = 1);

} // namespace mlir::pit

#endif // PIT_LIB_CONVERSION_PITTOSCF_PANELREADS_H
