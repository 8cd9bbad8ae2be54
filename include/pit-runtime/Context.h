//===- Context.h - Contexts: threads, scratch, messages -------------------===//
//
// A context owns the scratch memory of the calls made on it. Several threads
// may use one context at once. After the first few calls of a kind, a call
// allocates nothing.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_RUNTIME_CONTEXT_H
#define PIT_RUNTIME_CONTEXT_H

#include "pit-runtime/Status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pit_context pit_context;

/// A stream of the device a program runs on (a CUstream); NULL on the CPU.
typedef void *pit_stream;

/// Set every field, or start from `pit_context_options options = {0};`.
typedef struct pit_context_options {
  /// Threads a call may use. 0: what OpenMP would use (OMP_NUM_THREADS).
  int32_t threads;
} pit_context_options;

/// Makes a context. `options` may be NULL.
PIT_RT_EXPORT pit_status pit_context_create(const pit_context_options *options,
                                            pit_context **context);

/// Frees a context and its scratch. No call may be running on it, and its index
/// builders and programs' results must not be used afterwards. NULL is fine.
PIT_RT_EXPORT void pit_context_destroy(pit_context *context);

/// The number of threads a call on this context may use from this thread.
PIT_RT_EXPORT int32_t pit_context_threads(const pit_context *context);

/// Copies the message of the last error on this context, at most size - 1
/// characters and a NUL, into `buffer`. Returns the length of the whole message
/// (0: no error yet), so that a caller can see that it was cut.
PIT_RT_EXPORT size_t pit_context_message(pit_context *context, char *buffer,
                                         size_t size);

/// What is recorded about the indices that calls on this context build.
typedef enum pit_stats_mode {
  PIT_STATS_OFF = 0,
  PIT_STATS_ON = 1,   ///< counts and times: free
  PIT_STATS_WASTE = 2 ///< also the waste, which scans the source once more
} pit_stats_mode;

/// One recorded build.
typedef struct pit_build_stats {
  int64_t slot;   ///< n for the n-th build of a call, from 0; -1 of a builder
  int32_t source; ///< pit_source
  int32_t axis;
  int64_t groups;
  int64_t micro_tiles; ///< all micro-tiles, live or not
  int64_t live;        ///< micro-tiles in the index
  int64_t max_count;   ///< live micro-tiles of the fullest group
  int64_t build_ns;    ///< wall time of the build
  double coverage;     ///< live / micro_tiles; 0 if there are none
  double waste;        ///< see pit_index_waste; -1 if it was not measured
} pit_build_stats;

/// Forgets what was recorded and sets what will be.
PIT_RT_EXPORT pit_status pit_context_set_stats(pit_context *context,
                                               pit_stats_mode mode);

/// Copies the latest recorded builds, oldest first, at most `max` of them, into
/// `stats`; `copied` receives how many. Returns the number of builds since
/// pit_context_set_stats; the context keeps the latest 1024 of them.
PIT_RT_EXPORT int64_t pit_context_stats(pit_context *context,
                                        pit_build_stats *stats, int64_t max,
                                        int64_t *copied);

#ifdef __cplusplus
}
#endif

#endif // PIT_RUNTIME_CONTEXT_H
