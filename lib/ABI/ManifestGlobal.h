//===- ManifestGlobal.h - The constant that a manifest becomes --*- C++ -*-===//

#ifndef PIT_LIB_ABI_MANIFESTGLOBAL_H
#define PIT_LIB_ABI_MANIFESTGLOBAL_H

#include "pit/ABI/Manifest.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::pit {

/// Emits the constant `name`, which begins with the pit_manifest of
/// pit-runtime/Abi.h.
LLVM::GlobalOp emitManifest(OpBuilder &builder, Location loc, StringRef name,
                            const Manifest &manifest);

} // namespace mlir::pit

#endif // PIT_LIB_ABI_MANIFESTGLOBAL_H
