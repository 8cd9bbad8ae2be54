//===- Frame.c - The memory of a call -------------------------------------===//
//
// A frame is used by one call at a time and then kept by the context. It holds
// blocks of memory that are cut from the front, and one index builder per build
// of a call. A call that needed several blocks leaves them to be replaced by
// one of the same total, so that calls of one kind soon allocate nothing.
//
//===----------------------------------------------------------------------===//

#include "Constant.h"
#include "Core/Parallel.h"
#include "Core/Poison.h"
#include "Cuda/CudaContext.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_BLOCK_BYTES = 1 << 16 };

/// In a process with AddressSanitizer only what a call has asked for may be
/// touched, until the call's end, and there is a gap behind each piece.
static int64_t gap_bytes(void) { return pit_has_poison() ? 64 : 0; }

static void forbid(const pit_block *block) {
  pit_poison(block->memory.data, block->memory.bytes);
}

static void free_blocks(pit_block *blocks) {
  while (blocks) {
    pit_block *next = blocks->next;
    pit_buffer_free(&blocks->memory);
    free(blocks);
    blocks = next;
  }
}

/// Puts an empty block of at least `bytes` in front.
static pit_status add_block(pit_frame *frame, int64_t bytes) {
  pit_block *added = calloc(1, sizeof(*added));
  if (!added)
    return pit_fail(frame->context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for the scratch of a call");
  pit_status status = pit_buffer_reserve(frame->context, &added->memory,
                                         pit_max(bytes, MIN_BLOCK_BYTES), 1,
                                         "the scratch of a call");
  if (status != PIT_OK) {
    free(added);
    return status;
  }
  forbid(added);
  added->next = frame->blocks;
  frame->blocks = added;
  frame->used = 0;
  return PIT_OK;
}

void pit_frames_free(pit_frame *frames) {
  while (frames) {
    pit_frame *next = frames->next;
    free_blocks(frames->blocks);
    pit_buffer_free(&frames->scratch);
    for (int32_t i = 0; i < frames->builders_made; ++i)
      pit_index_builder_destroy(frames->builders[i]);
    free(frames->builders);
    free(frames->kept);
    if (frames->cuda)
      pit_cuda_frame_free(frames->context, frames->cuda);
    free(frames);
    frames = next;
  }
}

void pit_frame_reset(pit_frame *frame) {
  frame->next = NULL;
  frame->used = 0;
  frame->builders_used = 0;
  frame->builds = 0;
  frame->out_of_bounds = false;
  frame->default_threads = 0;
  memset(frame->largest, 0, sizeof(frame->largest));
}

pit_status pit_frame_acquire(pit_context *context, pit_frame **result) {
  pthread_mutex_lock(&context->lock);
  pit_frame *frame = context->free_frames;
  if (frame)
    context->free_frames = frame->next;
  pthread_mutex_unlock(&context->lock);
  if (!frame)
    frame = calloc(1, sizeof(*frame));
  if (!frame)
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for the frame of a call");
  frame->context = context;
  pit_frame_reset(frame);
  if (frame->blocks && frame->blocks->next) {
    int64_t total = 0;
    for (const pit_block *b = frame->blocks; b; b = b->next)
      total += b->memory.bytes;
    free_blocks(frame->blocks);
    frame->blocks = NULL;
    // If there is no room for one block now, the call may still need less.
    (void)add_block(frame, total);
  }
  *result = frame;
  return PIT_OK;
}

void pit_frame_set_threads(pit_frame *frame) {
  if (frame->context->threads)
    frame->default_threads = pit_parallel_set_default(frame->context->threads);
}

const void *pit_frame_site(const pit_frame *frame, const void *value) {
  return frame->largest[frame->largest[0].data == value].data;
}

int32_t pit_rt_leave(pit_frame *frame, int32_t status) {
  if (!frame)
    return status;
  if (frame->default_threads)
    pit_parallel_set_default(frame->default_threads);
  if (status == PIT_OK && frame->out_of_bounds)
    status = PIT_ERROR_INTERNAL;
  pit_context *context = frame->context;
  if (frame->cuda) {
    status = pit_cuda_frame_release(frame, status);
    pit_cuda_pop(context);
  } else {
    pit_kept_release(frame);
    for (const pit_block *block = frame->blocks; block; block = block->next)
      forbid(block);
    pthread_mutex_lock(&context->lock);
    frame->next = context->free_frames;
    context->free_frames = frame;
    pthread_mutex_unlock(&context->lock);
  }
  pit_context_destroy(context); // what pit_rt_enter retained
  return status;
}

int32_t pit_rt_alloc(pit_frame *frame, int64_t bytes, void **memory) {
  if (!frame || !memory)
    return PIT_ERROR_INVALID_ARGUMENT;
  if (frame->cuda)
    return pit_cuda_alloc(&frame->cuda->work, bytes, memory);
  *memory = NULL;
  if (bytes < 0)
    return pit_fail(frame->context, PIT_ERROR_INVALID_ARGUMENT,
                    "scratch of %lld bytes; it must not be negative",
                    (long long)bytes);
  // Each piece takes whole cache lines, at least one: pieces differ.
  int64_t gap = gap_bytes();
  int64_t size = bytes > INT64_MAX - 64 - gap
                     ? INT64_MAX
                     : pit_max(64, (bytes + 63) / 64 * 64) + gap;
  if (!frame->blocks || size > frame->blocks->memory.bytes - frame->used) {
    pit_status status = add_block(frame, size);
    if (status != PIT_OK)
      return status;
  }
  *memory = (char *)frame->blocks->memory.data + frame->used;
  pit_unpoison(*memory, bytes);
  frame->used += size;
  return PIT_OK;
}

int32_t pit_rt_realloc(pit_frame *frame, int64_t bytes, int32_t two,
                       pit_place *place, void **memory) {
  if (!frame || !place || !memory)
    return PIT_ERROR_INVALID_ARGUMENT;
  int32_t i = two ? place->next & 1 : 0;
  place->next = !i;
  if (place->memory[i] && bytes >= 0 && bytes <= place->bytes[i]) {
    *memory = place->memory[i];
    return PIT_OK;
  }
  // A list that grows step by step is not copied to a new place in each.
  int64_t room = bytes, before = place->bytes[i];
  if (bytes > before && before <= INT64_MAX / 2)
    room = pit_max(bytes, 2 * before);
  int32_t status = pit_rt_alloc(frame, room, memory);
  if (status == PIT_OK) {
    place->memory[i] = *memory;
    place->bytes[i] = room;
  }
  return status;
}

int32_t pit_rt_workers(pit_frame *frame) {
  if (!frame)
    return 1;
  int32_t wanted = pit_parallel_default();
  int32_t threads = pit_parallel_ready(wanted);
  if (threads == wanted)
    return threads;
  int32_t before = pit_parallel_set_default(threads);
  if (!frame->default_threads)
    frame->default_threads = before;
  return threads;
}

int32_t pit_rt_check_dim(pit_frame *frame, int32_t result, int32_t dim,
                         int64_t computed, int64_t given) {
  if (computed == given)
    return PIT_OK;
  return pit_fail(frame ? frame->context : NULL, PIT_ERROR_SHAPE,
                  "result %d: dimension %d is %lld; the computed result has "
                  "%lld",
                  result, dim, (long long)given, (long long)computed);
}

int32_t pit_rt_assert(pit_frame *frame, int32_t holds, const char *text) {
  if (holds)
    return PIT_OK;
  return pit_fail(frame ? frame->context : NULL, PIT_ERROR_INVALID_ARGUMENT,
                  "the program asserts what does not hold: %s",
                  text ? text : "");
}

void pit_rt_check_bounds(pit_frame *frame, const char *what, int32_t dim,
                         int64_t first, int64_t count, int64_t size) {
  if (!frame || count <= 0 || (first >= 0 && first <= size - count))
    return;
  // The first one says more than those that follow from it.
  if (atomic_exchange(&frame->out_of_bounds, true))
    return;
  if (dim < 0)
    pit_report(frame->context,
               "out of bounds: %s: elements from %lld on, %lld of them, "
               "counted in memory, where there are %lld",
               what, (long long)first, (long long)count, (long long)size);
  else
    pit_report(frame->context,
               "out of bounds: %s: elements from %lld on, %lld of them, along "
               "dimension %d, which has %lld",
               what, (long long)first, (long long)count, dim, (long long)size);
}
