//===- Constant.h - Memory that does not change ---------------------------===//
//
// Weights are the same in every call, but a program packs them, and lists what
// of them is not zero, each time: it cannot know. A pit_constant is the
// caller's promise that a tensor's memory does not change. From then on CPU
// programs keep what they make of it, and later calls find it there:
//
//   - dense operands, packed into the order that the program reads them in,
//   - indices of sparse operands, such as pruned weights.
//
// The promise is about memory, not about arguments: all calls on the context
// profit whose arguments lie in that memory, of whatever program, and programs
// that want the same form share it. Nothing is kept without a promise.
//
// Kept memory belongs to the constant. It takes about as much memory as the
// tensor for each form that programs want of it (a bf16 operand that is
// computed in f32 twice as much); pit_context_options.kept_bytes bounds all of
// it. Programs of a device take the promise and keep nothing.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_RUNTIME_CONSTANT_H
#define PIT_RUNTIME_CONSTANT_H

#include "pit-runtime/Context.h"

#include <dlpack/dlpack.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pit_constant pit_constant;

/// Promises that the memory of a tensor (contiguous, on the CPU or the
/// context's device) does not change until pit_constant_destroy. To write
/// there, to free it and to use it for something else is an error of the
/// caller's that calls cannot see: they would compute with what was there
/// before. A call whose result lies there is refused. Constants may overlap or
/// be the same memory.
PIT_RT_EXPORT pit_status pit_constant_create(pit_context *context,
                                             const DLTensor *tensor,
                                             pit_constant **constant);

/// Ends the promise and frees what was kept because of it, once no call uses
/// it. NULL is fine.
PIT_RT_EXPORT void pit_constant_destroy(pit_constant *constant);

/// Says that the memory has changed after all, and will not from now on: what
/// was made of it, whichever constant it belongs to, is made again when it is
/// next wanted. No call that reads the memory may be running while it changes.
PIT_RT_EXPORT void pit_constant_changed(pit_constant *constant);

/// The memory that a context keeps.
typedef struct pit_kept_stats {
  int64_t constants; ///< promises that hold
  int64_t pieces;    ///< packed operands and indices that are kept
  int64_t bytes;     ///< of these
  int64_t made;      ///< how many have been made so far
  int64_t reused;    ///< how often a call found one
  int64_t refused;   ///< how often there was no memory for one, or the bound
                     ///< did not allow it; the call then made its own
} pit_kept_stats;

PIT_RT_EXPORT void pit_context_kept(pit_context *context,
                                    pit_kept_stats *stats);

#ifdef __cplusplus
}
#endif

#endif // PIT_RUNTIME_CONSTANT_H
