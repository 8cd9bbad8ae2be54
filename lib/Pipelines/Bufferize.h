//===- Bufferize.h - How pipelines bufferize --------------------*- C++ -*-===//

#ifndef PIT_LIB_PIPELINES_BUFFERIZE_H
#define PIT_LIB_PIPELINES_BUFFERIZE_H

namespace mlir {
class OpPassManager;
}

namespace mlir::pit {

/// Appends one-shot bufferization of functions and calls, whose buffers are
/// without gaps.
void addBufferization(OpPassManager &pm);

} // namespace mlir::pit

#endif // PIT_LIB_PIPELINES_BUFFERIZE_H
