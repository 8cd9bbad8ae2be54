//===- OperandReuse.h - How often mainloops read an operand -----*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_CPU_OPERANDREUSE_H
#define PIT_LIB_CODEGEN_CPU_OPERANDREUSE_H

#include "Codegen/Common/Index.h"

namespace mlir::pit::cpu {

/// The reads, or writes, of a tensor by a mainloop.
struct TensorReads {
  ForallOp loop; ///< a tile loop around the mainloop
  MainloopOp mainloop;
  ValueRange subscripts; ///< of the tensor, where a tile begins
  const IndexMap &indices;
};

/// Does the mainloop, all over the loop, come by an element of the tensor more
/// than `times` times, or `in` elements together (an index; null is 1), on
/// average? An i1, before the loop.
Value isReadMoreThan(OpBuilder &b, const TensorReads &reads, int64_t times,
                     Value in = {});

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_OPERANDREUSE_H
