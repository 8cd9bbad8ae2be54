//===- Parallel.h - A parallel loop ---------------------------------------===//
//
// The one place that knows about threads. Workers are those of an OpenMP
// library (OpenMP.h), which the runtime and the programs share; built with
// PIT_PTHREADS they are threads of their own, started and joined per loop:
// ThreadSanitizer cannot see the synchronization inside an OpenMP library, but
// it sees theirs.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_CORE_PARALLEL_H
#define PIT_LIB_RUNTIME_CORE_PARALLEL_H

#include <stdint.h>

/// Calls body(argument, begin, end) on ranges that together are [0, count),
/// each once, on up to `threads` threads at a time. Returns when all are done.
void pit_parallel_for(int32_t threads, int64_t count,
                      void (*body)(void *argument, int64_t begin, int64_t end),
                      void *argument);

/// Makes sure that a team of `threads` can be started here, and says how many
/// may be in one: fewer if the system has no more threads for this process.
/// OpenMP's library ends the process when it cannot make a thread, so each
/// parallel region has to be of a size that was asked for here.
int32_t pit_parallel_ready(int32_t threads);

/// The number of threads a loop started here may use if nobody says otherwise.
int32_t pit_parallel_default(void);

/// Sets pit_parallel_default for this thread and the parallel regions of the
/// programs it runs; returns what it was.
int32_t pit_parallel_set_default(int32_t threads);

#endif // PIT_LIB_RUNTIME_CORE_PARALLEL_H
