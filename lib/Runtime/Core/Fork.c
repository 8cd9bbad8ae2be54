//===- Fork.c - What the child of a fork finds ----------------------------===//
//
// A fork copies all memory and one thread. Locks that other threads held stay
// locked in the child, and what they were changing stays half changed. So a
// fork waits for the locks of all contexts, and holds them while it copies: the
// child finds each context whole, and its lock open.
//
// That takes a list of the contexts, since handlers of pthread_atfork have no
// argument. It is the runtime's only list of what programs have made.
//
// A fork cannot wait for ever, whatever handlers of others have locked before
// these run (OpenMP libraries and allocators have some). For nobody who holds a
// context's lock takes another lock, computes in parallel, or waits; and who
// holds that of OpenMP.c asks the loader alone. The lock of Parallel.c is held
// while threads are made, so forks do not wait for it. It guards no data, and
// the child makes it anew.
//
//===----------------------------------------------------------------------===//

#include "Fork.h"
#include "Internal.h"

static pthread_once_t handled = PTHREAD_ONCE_INIT;
static pthread_mutex_t watching = PTHREAD_MUTEX_INITIALIZER;
static pit_context *newest; ///< under `watching`

static void before_fork(void) {
  pthread_mutex_lock(&watching);
  for (pit_context *context = newest; context; context = context->older)
    pthread_mutex_lock(&context->lock);
  pit_openmp_before_fork();
}

static void open_all(void) {
  for (pit_context *context = newest; context; context = context->older)
    pthread_mutex_unlock(&context->lock);
  pthread_mutex_unlock(&watching);
}

static void after_fork_in_parent(void) {
  pit_openmp_after_fork(false);
  open_all();
}

static void after_fork_in_child(void) {
  pit_openmp_after_fork(true);
  pit_parallel_after_fork();
  for (pit_context *context = newest; context; context = context->older)
    pit_constants_after_fork(context);
  open_all();
}

static void handle(void) {
  // Without memory for it forks are as in any other library.
  (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

void pit_fork_handle(void) { pthread_once(&handled, handle); }

void pit_fork_watch(pit_context *context) {
  pit_fork_handle();
  pthread_mutex_lock(&watching);
  context->older = newest;
  context->newer = NULL;
  if (newest)
    newest->newer = context;
  newest = context;
  pthread_mutex_unlock(&watching);
}

void pit_fork_forget(pit_context *context) {
  pthread_mutex_lock(&watching);
  if (context->newer)
    context->newer->older = context->older;
  else
    newest = context->older;
  if (context->older)
    context->older->newer = context->newer;
  pthread_mutex_unlock(&watching);
}
