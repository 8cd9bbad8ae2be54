//===- Constant.h - What calls keep of constant memory --------------------===//

#ifndef PIT_LIB_RUNTIME_PROGRAM_CONSTANT_H
#define PIT_LIB_RUNTIME_PROGRAM_CONSTANT_H

#include "Frame.h"

/// The memory of a constant.
typedef struct pit_range {
  uintptr_t begin, end;
  pit_constant *constant;
} pit_range;

/// Something that is made of constant memory. Its maker fills it in; from
/// `ready` on it does not change, and calls may use it until they leave, even
/// if the constant has gone: the last one frees it. Numbers and links are under
/// the context's lock.
typedef struct pit_kept {
  struct pit_kept *next;      ///< of the same constant
  struct pit_constant *owner; ///< NULL: it is to be freed
  int32_t users;              ///< calls
  bool ready;
  const void *data; ///< what it is made of
  pit_buffer memory;
  pit_index_builder *builder; ///< of an index; NULL: it is packed
  const pit_index *index;
  int64_t bytes; ///< as counted
  int64_t num_words;
  int64_t words[]; ///< how it is made
} pit_kept;

/// A call's request for `bytes` of memory at `data`: two keys are equal only if
/// the same would be made.
typedef struct pit_kept_key {
  const void *data;
  int64_t bytes;
  bool index;
  int64_t num_words;
  const int64_t *words;
} pit_kept_key;

/// Looks for what is kept (PIT_KEEP_READY), or makes room for the call to fill
/// in: `room` bytes, or for an index a builder (PIT_KEEP_FILL). The frame holds
/// it until it is left. PIT_KEEP_NONE: the memory is not constant, there is no
/// room, or another call is just filling it in.
int32_t pit_kept_find(pit_frame *frame, const pit_kept_key *key, int64_t room,
                      pit_kept **kept);

/// Lets other calls find what this one has filled in.
void pit_kept_publish(pit_context *context, pit_kept *kept);

/// Gives back what a call holds; what it has not filled in is gone.
void pit_kept_release(pit_frame *frame);

/// True if some of the memory is a constant's.
bool pit_constant_overlaps(pit_context *context, const void *data,
                           int64_t bytes);

/// Frees the context's constants and what they keep.
void pit_constants_free(pit_context *context);

#endif // PIT_LIB_RUNTIME_PROGRAM_CONSTANT_H
