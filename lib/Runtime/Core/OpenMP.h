//===- OpenMP.h - The OpenMP library whose threads are used ---------------===//
//
// A process may hold several OpenMP libraries, each with threads of its own:
// torch brings GNU's. Threads that have nothing to do spin for a while, on the
// cores that the threads of the other library need then: a call of a program
// right after one of torch's took three times as long. So where the process has
// GNU's library, programs and the runtime run on its threads; elsewhere on
// those of LLVM's, which the runtime is linked with.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_CORE_OPENMP_H
#define PIT_LIB_RUNTIME_CORE_OPENMP_H

#include <stdbool.h>
#include <stdint.h>

/// Functions of an OpenMP library, as omp.h has them but for `parallel`: it
/// calls body(argument) on each thread of a team of `threads` or fewer.
typedef struct pit_openmp {
  void (*parallel)(void (*body)(void *argument), void *argument,
                   int32_t threads);
  void (*barrier)(void);
  int (*get_thread_num)(void);
  int (*get_num_threads)(void);
  int (*get_max_threads)(void);
  void (*set_num_threads)(int threads);
  int (*get_active_level)(void);
  int (*get_max_active_levels)(void);
} pit_openmp;

/// The library that the calling thread uses: the one that pit_openmp_choose
/// found last.
const pit_openmp *pit_openmp_chosen(void);

/// Chooses anew, since libraries may have been loaded. Not between what depends
/// on a number of threads and the end of that: a call chooses when it begins.
void pit_openmp_choose(void);

#endif // PIT_LIB_RUNTIME_CORE_OPENMP_H
