//===- TilingInterfaceImpl.h - Tiling of marks ------------------*- C++ -*-===//

#ifndef PIT_DIALECT_PIT_TRANSFORMS_TILINGINTERFACEIMPL_H
#define PIT_DIALECT_PIT_TRANSFORMS_TILINGINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
namespace pit {
/// Lets upstream tiling and fusion take pit.sparse on the values themselves or
/// by a mask: a tile of the mark marks a tile of its input.
void registerTilingInterfaceExternalModels(DialectRegistry &registry);
} // namespace pit
} // namespace mlir

#endif // PIT_DIALECT_PIT_TRANSFORMS_TILINGINTERFACEIMPL_H
