//===- Frame.h - The memory of a call -------------------------------------===//

#ifndef PIT_LIB_RUNTIME_PROGRAM_FRAME_H
#define PIT_LIB_RUNTIME_PROGRAM_FRAME_H

#include "Core/Internal.h"

#include <string.h>

/// A piece of memory that is cut from the front.
typedef struct pit_block {
  struct pit_block *next;
  pit_buffer memory;
} pit_block;

struct pit_cuda_frame;
struct pit_kept;

/// An argument's memory.
typedef struct pit_argument {
  const void *data;
  int64_t bytes;
} pit_argument;

struct pit_frame {
  pit_frame *next; ///< in the context's list
  pit_context *context;
  const void *manifest;         ///< an address that the function alone has
  pit_argument largest[2];      ///< of its arguments that are tensors
  struct pit_cuda_frame *cuda;  ///< of a call on a device; NULL: on the CPU
  pit_block *blocks;            ///< the newest first: memory is cut from it
  int64_t used;                 ///< of the newest block
  pit_buffer scratch;           ///< of checks
  pit_index_builder **builders; ///< the n-th for the n-th build of a call
  int32_t builders_made, builders_used, builders_room;
  int32_t builds;         ///< of this call, those of kept indices too
  struct pit_kept **kept; ///< what the call holds of constants (Constant.h)
  int32_t num_kept, kept_room;
  _Atomic bool out_of_bounds; ///< an access of this call was
  int32_t default_threads;    ///< of the thread, to be restored; 0: untouched
};

/// Takes a frame for a CPU program from the context, or makes one.
pit_status pit_frame_acquire(pit_context *context, pit_frame **result);

/// Makes a frame as good as new, but for its memory.
void pit_frame_reset(pit_frame *frame);

/// Sets the calling thread's number of OpenMP threads to the context's until
/// pit_rt_leave.
void pit_frame_set_threads(pit_frame *frame);

/// Layers that call one function differ in this: the memory of its largest
/// argument but `value`, as a rule the weights. NULL: it has no other.
const void *pit_frame_site(const pit_frame *frame, const void *value);

/// The next builder of a call, or the one that a place had before.
pit_status pit_frame_builder(pit_frame *frame, pit_place *place,
                             pit_index_builder **builder);

/// The memory that a place of a program on a device allocates between these two
/// is that of the last time, from its second time on in one piece. Without a
/// place nothing happens.
pit_status pit_frame_place_begin(pit_frame *frame, pit_place *place);
void pit_frame_place_end(pit_frame *frame, pit_place *place);

/// The number of the next build of a call, or of the one of a place.
int32_t pit_frame_next_build(pit_frame *frame, pit_place *place);

/// Tells the context's observer of an index.
void pit_frame_observe(pit_context *context, const pit_index *index,
                       const pit_selection *selection);

/// The index that a build makes for a tensor of that shape, and its data.
pit_index_spec pit_spec_of(const pit_build *build, const int64_t *shape);
pit_selection pit_selection_of(const pit_build *build, const pit_view *data);

/// Puts `count` words behind the first `used` ones; returns how many there are.
static inline int64_t pit_append(int64_t *words, int64_t used,
                                 const int64_t *from, int64_t count) {
  memcpy(words + used, from, (size_t)count * sizeof(*words));
  return used + count;
}

/// The bytes from the first element of a tensor to the end of its last one; 0
/// if there is none, or rows go backwards.
int64_t pit_data_span(const pit_data *data);

#endif // PIT_LIB_RUNTIME_PROGRAM_FRAME_H
