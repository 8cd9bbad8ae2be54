//===- Fork.h - What the child of a fork finds --------------------*- C -*-===//

#ifndef PIT_LIB_RUNTIME_CORE_FORK_H
#define PIT_LIB_RUNTIME_CORE_FORK_H

#include "pit-runtime/Context.h"

#include <stdbool.h>

/// Has the process call the handlers of Fork.c when it forks. May be called by
/// any thread that holds no lock, any number of times.
void pit_fork_handle(void);

/// Has forks wait for a context, until `pit_fork_forget`.
void pit_fork_watch(pit_context *context);
void pit_fork_forget(pit_context *context);

// The functions that the handlers call. OpenMP.c says in which of the two
// processes it is.
void pit_openmp_before_fork(void);
void pit_openmp_after_fork(bool in_child);
void pit_parallel_after_fork(void); ///< in the child

#endif // PIT_LIB_RUNTIME_CORE_FORK_H
