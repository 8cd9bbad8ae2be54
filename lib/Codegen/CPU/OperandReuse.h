//===- OperandReuse.h - How often mainloops read an operand -----*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_CPU_OPERANDREUSE_H
#define PIT_LIB_CODEGEN_CPU_OPERANDREUSE_H

#include "Codegen/Common/Index.h"

namespace mlir::pit::cpu {

/// Does `mainloop`, all over the tile loop `loop` around it, come by an element
/// of a tensor of which its tile has these subscripts more than `times` times,
/// or `in` elements together, on average? An i1, before `loop`.
Value isReadMoreThan(OpBuilder &b, ForallOp loop, MainloopOp mainloop,
                     ValueRange subscripts, const IndexMap &indices,
                     int64_t times, int64_t in = 1);

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_OPERANDREUSE_H
