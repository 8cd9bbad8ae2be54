//===- DiscardableAttributes.h - What passes tell each other ----*- C++ -*-===//
//
// The names of the dialect's discardable attributes. PitDialect verifies each
// of them: that it is on an op that has a use for it, and its value.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_DIALECT_PIT_IR_DISCARDABLEATTRIBUTES_H
#define PIT_DIALECT_PIT_IR_DISCARDABLEATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::pit {

//===--- Plans ------------------------------------------------------------===//

/// The #pit.rule of a linalg op.
inline constexpr llvm::StringLiteral kRuleAttrName = "pit.rule";

//===--- Entry points, see pit-drop-signs and pit-abi-prepare -------------===//

/// On an argument or a result: the type that its elements have for callers, a
/// signed or unsigned integer of the same width.
inline constexpr llvm::StringLiteral kElementAttrName = "pit.element";
/// The manifest of an entry point.
inline constexpr llvm::StringLiteral kManifestAttr = "pit.manifest";
/// The requirements on the shapes of a function's arguments, as the words of a
/// manifest.
inline constexpr llvm::StringLiteral kRequireAttr = "pit.require";
/// The mark of the argument that is the frame of the call.
inline constexpr llvm::StringLiteral kFrameAttr = "pit.frame";

//===--- Functions of others, see pit-abi-claim-functions -----------------===//

/// On a function: "cuda", the device of its tensors, on which pit has it
/// computed.
inline constexpr llvm::StringLiteral kDeviceAttrName = "pit.device";
/// On an argument of such a function: the stream that its work goes to.
inline constexpr llvm::StringLiteral kStreamAttrName = "pit.stream";

//===--- Kernels, see convert-pit-to-gpu ----------------------------------===//

/// On a module: its functions become kernels. On a gpu.module: they are kernels
/// of pit.
inline constexpr llvm::StringLiteral kKernelsAttrName = "pit.kernels";
/// The #pit.launch_info of a kernel.
inline constexpr llvm::StringLiteral kLaunchInfoAttrName = "pit.launch_info";

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_IR_DISCARDABLEATTRIBUTES_H
