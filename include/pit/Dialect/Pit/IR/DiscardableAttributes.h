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
/// How a mainloop is run: a #pit.cpu_schedule or, in a kernel, a
/// #pit.ampere_schedule.
inline constexpr llvm::StringLiteral kScheduleAttrName = "pit.schedule";
/// How a second kernel runs it, for a GPU that has wgmma: a
/// #pit.hopper_schedule.
inline constexpr llvm::StringLiteral kHopperScheduleAttrName =
    "pit.hopper_schedule";

//===--- Entry points, see pit-drop-signs ---------------------------------===//

/// Of an argument or a result: the type that its elements have for callers, a
/// signed or unsigned integer of the same width.
inline constexpr llvm::StringLiteral kElementAttrName = "pit.element";

//===--- Functions of others, see pit-abi-claim-functions -----------------===//

/// Of a function: "cuda", where its tensors are and pit has it computed.
inline constexpr llvm::StringLiteral kDeviceAttrName = "pit.device";
/// Of an argument of such a function: the stream that its work goes to.
inline constexpr llvm::StringLiteral kStreamAttrName = "pit.stream";

//===--- Kernels, see convert-pit-to-gpu ----------------------------------===//

/// Of a module: its functions become kernels. Of a gpu.module: they are kernels
/// of pit.
inline constexpr llvm::StringLiteral kKernelsAttrName = "pit.kernels";
/// Numbers of a kernel.
inline constexpr llvm::StringLiteral kThreadsAttrName = "pit.threads";
inline constexpr llvm::StringLiteral kSharedBytesAttrName = "pit.shared_bytes";
inline constexpr llvm::StringLiteral kScratchBytesAttrName =
    "pit.scratch_bytes";
inline constexpr llvm::StringLiteral kPartialBytesAttrName =
    "pit.partial_bytes";
inline constexpr llvm::StringLiteral kPartsAttrName = "pit.parts";
inline constexpr llvm::StringLiteral kBlocksAttrName = "pit.blocks";
inline constexpr llvm::StringLiteral kClusterAttrName = "pit.cluster";
inline constexpr llvm::StringLiteral kFillsAttrName = "pit.fills";
inline constexpr llvm::StringLiteral kFillsAtMostAttrName = "pit.fills_at_most";
/// What a kernel does.
inline constexpr llvm::StringLiteral kSplitAttrName = "pit.split";
inline constexpr llvm::StringLiteral kPersistentAttrName = "pit.persistent";
inline constexpr llvm::StringLiteral kProgrammaticLaunchAttrName =
    "pit.programmatic_launch";
inline constexpr llvm::StringLiteral kPredicatedAttrName = "pit.predicated";
/// The kernel to launch in its place, and the descriptors that it takes.
inline constexpr llvm::StringLiteral kHopperAttrName = "pit.hopper";
inline constexpr llvm::StringLiteral kTensorMapsAttrName = "pit.tensor_maps";
/// Of a pit.launch: the next kernel may do what this one does.
inline constexpr llvm::StringLiteral kFillsForNextAttrName =
    "pit.fills_for_next";

} // namespace mlir::pit

#endif // PIT_DIALECT_PIT_IR_DISCARDABLEATTRIBUTES_H
