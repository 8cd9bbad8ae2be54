//===- BufferizableOpInterfaceImpl.h - Bufferization of pit -----*- C++ -*-===//

#ifndef PIT_DIALECT_PIT_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define PIT_DIALECT_PIT_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
namespace pit {
/// Lets one-shot-bufferize take the ops of level 3. Loops lose their iter_args
/// and work on the inits' buffers; pit.sread writes into a fresh buffer,
/// pit.swrite updates its destination in place.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);
} // namespace pit
} // namespace mlir

#endif // PIT_DIALECT_PIT_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
