//===- Context.c - Contexts: messages, statistics -------------------------===//

#include "Constant.h"
#include "Core/Fork.h"
#include "Core/Parallel.h"
#include "Core/Poison.h"
#include "Cuda/CudaContext.h"
#include "Index/ScanKernels.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif
#include <time.h>

static pit_status check_options(pit_context *context,
                                const pit_context_options *options) {
  if (options->threads < 0 || options->threads > PIT_MAX_THREADS)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "context: threads is %d; it must be in [1, %d], or 0 for "
                    "what OpenMP would use",
                    options->threads, PIT_MAX_THREADS);
  if (options->device_type != 0 && options->device_type != kDLCPU &&
      options->device_type != kDLCUDA)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "context: device_type is %d; it must be %d (the CPU, as is "
                    "0) or %d (CUDA)",
                    options->device_type, (int)kDLCPU, (int)kDLCUDA);
  if (options->kept_bytes < 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "context: kept_bytes is %lld; it must be at least 1, or 0 "
                    "for no bound",
                    (long long)options->kept_bytes);
  return PIT_OK;
}

pit_status pit_context_create(const pit_context_options *options,
                              pit_context **context) {
  if (!context)
    return PIT_ERROR_INVALID_ARGUMENT;
  *context = NULL;
  pit_context *made = calloc(1, sizeof(*made));
  if (!made)
    return PIT_ERROR_OUT_OF_MEMORY;
  made->references = 1;
  if (pthread_mutex_init(&made->lock, NULL) != 0) {
    free(made);
    return PIT_ERROR_OUT_OF_MEMORY;
  }
  pit_fork_watch(made);
  const pit_context_options none = {0};
  if (!options)
    options = &none;
  pit_status status = check_options(made, options);
  if (status == PIT_OK && options->device_type == kDLCUDA)
    status = pit_cuda_open(made, options);
  if (status != PIT_OK) {
    if (options->message)
      pit_context_message(made, options->message, options->message_size);
    pit_context_destroy(made);
    return status;
  }
  made->threads = options->threads;
  made->kept_limit = options->kept_bytes;
  made->deterministic = options->deterministic != 0;
  made->bytes_per_thread = 1 << 18;
  made->kernels = pit_scan_kernels_select();
  *context = made;
  return PIT_OK;
}

void pit_context_retain(pit_context *context) {
  atomic_fetch_add_explicit(&context->references, 1, memory_order_relaxed);
}

void pit_context_destroy(pit_context *context) {
  if (!context || atomic_fetch_sub_explicit(&context->references, 1,
                                            memory_order_acq_rel) > 1)
    return;
  pit_fork_forget(context);
  pit_frames_free(context->free_frames);
  pit_constants_free(context);
  pit_context *next = NULL;
  if (context->cuda) {
    next = atomic_load(&context->cuda->next);
    pit_cuda_close(context);
  }
  pthread_mutex_destroy(&context->lock);
  free(context->stats);
  free(context->choices);
  pit_profile_free(context->profile);
  free(context);
  pit_context_destroy(next);
}

int32_t pit_context_threads(const pit_context *context) {
  return context && context->threads ? context->threads
                                     : pit_parallel_default();
}

int32_t pit_threads_for(const pit_context *context, int64_t bytes) {
  return (int32_t)pit_min(pit_context_threads(context),
                          bytes / context->bytes_per_thread + 1);
}

void pit_report(pit_context *context, const char *format, ...) {
  if (!context)
    return;
  char message[PIT_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&context->lock);
  memcpy(context->message, message, sizeof(message));
  pthread_mutex_unlock(&context->lock);
}

size_t pit_context_message(pit_context *context, char *buffer, size_t size) {
  if (!buffer)
    size = 0;
  if (!context) {
    if (size)
      buffer[0] = '\0';
    return 0;
  }
  pthread_mutex_lock(&context->lock);
  size_t length = strlen(context->message);
  if (size) {
    size_t copied = length < size ? length : size - 1;
    memcpy(buffer, context->message, copied);
    buffer[copied] = '\0';
  }
  pthread_mutex_unlock(&context->lock);
  return length;
}

pit_status pit_context_set_stats(pit_context *context, pit_stats_mode mode) {
  if (!context)
    return PIT_ERROR_INVALID_ARGUMENT;
  if (mode < PIT_STATS_OFF || mode > PIT_STATS_WASTE)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "statistics mode %d is none of 0 (off), 1 (on) and "
                    "2 (with the waste)",
                    (int)mode);
  pthread_mutex_lock(&context->lock);
  if (mode != PIT_STATS_OFF && !context->stats)
    context->stats = calloc(PIT_STATS_KEPT, sizeof(*context->stats));
  bool failed = mode != PIT_STATS_OFF && !context->stats;
  context->stats_count = 0;
  atomic_store(&context->stats_mode, failed ? PIT_STATS_OFF : mode);
  pthread_mutex_unlock(&context->lock);
  return failed ? pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                           "out of memory for %d statistics records",
                           (int)PIT_STATS_KEPT)
                : PIT_OK;
}

pit_status pit_context_observe(pit_context *context,
                               pit_index_observer observer, void *user) {
  if (!context)
    return PIT_ERROR_INVALID_ARGUMENT;
  context->observer = observer;
  context->observer_user = user;
  return PIT_OK;
}

void pit_context_record(pit_context *context, const pit_build_stats *stats) {
  pthread_mutex_lock(&context->lock);
  if (atomic_load(&context->stats_mode) != PIT_STATS_OFF)
    context->stats[context->stats_count++ % PIT_STATS_KEPT] = *stats;
  pthread_mutex_unlock(&context->lock);
}

int64_t pit_context_stats(pit_context *context, pit_build_stats *stats,
                          int64_t max, int64_t *copied) {
  if (copied)
    *copied = 0;
  if (!context)
    return 0;
  pthread_mutex_lock(&context->lock);
  int64_t count = context->stats_count;
  int64_t give = pit_min(pit_min(count, PIT_STATS_KEPT), stats ? max : 0);
  for (int64_t i = 0; i < give; ++i)
    stats[i] = context->stats[(count - give + i) % PIT_STATS_KEPT];
  pthread_mutex_unlock(&context->lock);
  if (copied)
    *copied = pit_max(give, 0);
  return count;
}

int64_t pit_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

enum { CACHE_LINE = 64, HUGE_PAGE = 2 << 20 };

/// `bytes` on a cache line of their own. Memory that covers huge pages asks for
/// them: packed operands are read column block by column block, and each column
/// block would need dozens of small pages.
static void *allocate(int64_t bytes) {
  if (bytes < 2 * HUGE_PAGE)
    return aligned_alloc(CACHE_LINE, (size_t)pit_round_up(bytes, CACHE_LINE));
  int64_t rounded = pit_round_up(bytes, HUGE_PAGE);
  void *memory = aligned_alloc(HUGE_PAGE, (size_t)rounded);
#ifdef MADV_HUGEPAGE
  // Small pages do as well; the kernel may have none of the others.
  if (memory)
    (void)madvise(memory, (size_t)rounded, MADV_HUGEPAGE);
#endif
  return memory;
}

pit_status pit_buffer_reserve(pit_context *context, pit_buffer *buffer,
                              int64_t count, int64_t size, const char *what) {
  int64_t bytes;
  bool fits = pit_mul(count, size, &bytes) && bytes < INT64_MAX / 2;
  if (fits && bytes <= buffer->bytes) {
    pit_poison(buffer->data, buffer->bytes);
    pit_unpoison(buffer->data, bytes);
    return PIT_OK;
  }
  int64_t held = buffer->bytes;
  pit_buffer_free(buffer);
  // Growing by half at least keeps a slowly growing caller from allocating
  // every time. Zero bytes never get here.
  int64_t room = fits ? pit_max(bytes, held + held / 2) : 0;
  if (fits)
    buffer->data = allocate(room);
  if (!buffer->data)
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for %s: %lld x %lld bytes", what,
                    (long long)count, (long long)size);
  buffer->bytes = room;
  pit_poison((char *)buffer->data + bytes, room - bytes);
  return PIT_OK;
}

void pit_buffer_free(pit_buffer *buffer) {
  pit_unpoison(buffer->data, buffer->bytes);
  free(buffer->data);
  *buffer = (pit_buffer){0};
}
