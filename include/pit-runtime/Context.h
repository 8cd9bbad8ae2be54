//===- Context.h - Contexts: threads, scratch, messages -------------------===//
//
// A context owns the scratch memory of the calls made on it. Several threads
// may use one context at once. After the first few calls of a kind, a call
// allocates nothing.
//
// A call of a CUDA program puts work on its stream and returns; it never waits.
// Its scratch memory belongs to the stream: the next call on the same stream
// takes it, one on another stream only if the work is known to be done. A call
// on a stream that is being captured in a graph gets scratch memory that is the
// graph's, together with the other calls captured from that stream, until the
// driver has destroyed the graph and everything instantiated from it; then it
// is used again.
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

/// The most threads that a context may be given.
#define PIT_MAX_THREADS 4096

/// Set every field, or start from `pit_context_options options = {0};`.
typedef struct pit_context_options {
  /// Threads a call may use, at most PIT_MAX_THREADS. 0: what OpenMP would use
  /// (OMP_NUM_THREADS).
  int32_t threads;
  /// DLPack's device types: 0 or kDLCPU (1): CPU programs alone; kDLCUDA (2):
  /// CUDA programs, too, on the device of ordinal `device_id`.
  int32_t device_type;
  int32_t device_id;
  /// The CUDA driver's library; NULL: libcuda.so.1.
  const char *cuda_library;
  /// The folder that keeps code that was compiled for a device from one process
  /// to the next. NULL: $PIT_CACHE_DIR, $XDG_CACHE_HOME/pit or ~/.cache/pit,
  /// whichever is set first; "" (or PIT_CACHE_DIR="") keeps nothing. A folder
  /// that cannot be made or written is no error.
  const char *cache_folder;
  /// Receives one line, cut to its size, if no context can be made. NULL: none.
  char *message;
  size_t message_size;
  /// How many bytes may be kept of constants (Constant.h); 0: no bound. Memory
  /// that does not fit is made in each call.
  int64_t kept_bytes;
  /// Not 0: programs that choose between variants scan their data in each
  /// call, so that the choice depends on nothing else; see pit_entry_choices.
  int32_t deterministic;
} pit_context_options;

/// Makes a context. `options` may be NULL. After an error there is none. A
/// context with a device uses the device's primary context, as the CUDA runtime
/// does, and leaves the calling thread's current context as it was.
PIT_RT_EXPORT pit_status pit_context_create(const pit_context_options *options,
                                            pit_context **context);

/// Frees a context, its scratch and its constants. Calls that are running on it
/// keep it until they return; no call may begin afterwards. Work of its calls
/// on a device must be done, and its index builders, constants and graphs that
/// captured its calls must not be used afterwards. NULL is fine.
PIT_RT_EXPORT void pit_context_destroy(pit_context *context);

/// The number of threads a call on this context may use from this thread.
PIT_RT_EXPORT int32_t pit_context_threads(const pit_context *context);

/// Copies the message of the last error on this context, at most size - 1
/// characters and a NUL, into `buffer`. Returns the length of the whole message
/// (0: no error yet), so that a caller can see that it was cut.
PIT_RT_EXPORT size_t pit_context_message(pit_context *context, char *buffer,
                                         size_t size);

/// The record of the indices that calls on this context build.
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
  int64_t micro_tiles;  ///< all micro-tiles, live or not
  int64_t live;         ///< micro-tiles in the index; -1: on a device
  int64_t max_count;    ///< live micro-tiles of the fullest group; or -1
  int64_t build_ns;     ///< wall time of the build; -1: on a device
  double live_fraction; ///< live / micro_tiles; 0 if there are none; or -1
  double waste;         ///< see pit_index_waste; -1 if it was not measured
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
