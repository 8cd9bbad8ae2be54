//===- MemoryEffects.h - Effects of llvm's ops ------------------*- C++ -*-===//

#ifndef PIT_CODEGEN_COMMON_MEMORYEFFECTS_H
#define PIT_CODEGEN_COMMON_MEMORYEFFECTS_H

namespace mlir {
class DialectRegistry;
namespace pit {
/// Says what the ops of the llvm dialect in pit's loops do to memory, where
/// MLIR does not: passes of others, as the deallocation of buffers, refuse what
/// they do not know.
void registerMemoryEffectsExternalModels(DialectRegistry &registry);
} // namespace pit
} // namespace mlir

#endif // PIT_CODEGEN_COMMON_MEMORYEFFECTS_H
