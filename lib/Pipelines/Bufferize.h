//===- Bufferize.h - How pipelines bufferize --------------------*- C++ -*-===//

#ifndef PIT_LIB_PIPELINES_BUFFERIZE_H
#define PIT_LIB_PIPELINES_BUFFERIZE_H

namespace mlir {
class OpPassManager;
}

namespace mlir::pit {

/// Appends one-shot bufferization of functions and calls, whose buffers are
/// without gaps. Unless `inPlace`, each op writes to a copy: nothing is decided
/// that could be wrong.
void addBufferization(OpPassManager &pm, bool inPlace = true);

} // namespace mlir::pit

#endif // PIT_LIB_PIPELINES_BUFFERIZE_H
