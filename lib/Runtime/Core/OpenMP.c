//===- OpenMP.c - The OpenMP library whose threads are used ---------------===//

#include "OpenMP.h"
#include "Fork.h"

#include <stddef.h>

#ifdef PIT_PTHREADS

// Parallel.c starts threads of its own; the regions of programs have one
// thread.

static void alone(void (*body)(void *argument), void *argument,
                  int32_t threads) {
  (void)threads;
  body(argument);
}

static void nothing(void) {}
static int zero(void) { return 0; }
static int one(void) { return 1; }
static void ignore(int threads) { (void)threads; }

const pit_openmp *pit_openmp_chosen(void) {
  static const pit_openmp none = {alone, nothing, zero, one,
                                  one,   ignore,  zero, one};
  return &none;
}

void pit_openmp_choose(void) {}

void pit_openmp_before_fork(void) {}
void pit_openmp_after_fork(bool in_child) { (void)in_child; }

#else

#include <dlfcn.h>
#include <link.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// LLVM's
//===----------------------------------------------------------------------===//

static void own_parallel(void (*body)(void *argument), void *argument,
                         int32_t threads) {
#pragma omp parallel num_threads(threads)
  body(argument);
}

static void own_barrier(void) {
#pragma omp barrier
}

static const pit_openmp own = {
    .parallel = own_parallel,
    .barrier = own_barrier,
    .get_thread_num = omp_get_thread_num,
    .get_num_threads = omp_get_num_threads,
    .get_max_threads = omp_get_max_threads,
    .set_num_threads = omp_set_num_threads,
    .get_active_level = omp_get_active_level,
    .get_max_active_levels = omp_get_max_active_levels,
};

//===----------------------------------------------------------------------===//
// GNU's
//===----------------------------------------------------------------------===//

/// The interface of libgomp, which compilers call: stable since GCC 4.9.
typedef void gomp_parallel_function(void (*body)(void *argument),
                                    void *argument, unsigned threads,
                                    unsigned flags);

/// Set once, under `choosing`, before `found` says so.
static gomp_parallel_function *gomp_parallel;
static void (*gnu_set)(int threads);
static pit_openmp gnu;
static pthread_mutex_t choosing = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(const pit_openmp *) found;
/// How many libraries the process had loaded when it was last looked through.
static _Atomic unsigned long long seen;

/// The library that the thread uses; NULL before it chose.
static _Thread_local const pit_openmp *chosen;

static void gnu_parallel(void (*body)(void *argument), void *argument,
                         int32_t threads) {
  gomp_parallel(body, argument, (unsigned)threads, 0);
}

/// Code that was not compiled by pit_compile_* may call LLVM's library: its
/// teams must not be larger than what the runtime says of teams.
static void set_both(int threads) {
  gnu_set(threads);
  omp_set_num_threads(threads);
}

/// The function `name` of a library, written to a pointer to a function, which
/// C does not convert from a pointer to data.
static bool find(void *library, const char *name, void *function) {
  void *address = dlsym(library, name);
  memcpy(function, &address, sizeof(address));
  return address != NULL;
}

static bool read_gnu(void *library) {
  pit_openmp read = {.parallel = gnu_parallel, .set_num_threads = set_both};
  gomp_parallel_function *parallel;
  void (*set)(int threads);
  if (!find(library, "GOMP_parallel", &parallel) ||
      !find(library, "GOMP_barrier", &read.barrier) ||
      !find(library, "omp_get_thread_num", &read.get_thread_num) ||
      !find(library, "omp_get_num_threads", &read.get_num_threads) ||
      !find(library, "omp_get_max_threads", &read.get_max_threads) ||
      !find(library, "omp_set_num_threads", &set) ||
      !find(library, "omp_get_active_level", &read.get_active_level) ||
      !find(library, "omp_get_max_active_levels", &read.get_max_active_levels))
    return false;
  gomp_parallel = parallel;
  gnu_set = set;
  gnu = read;
  return true;
}

/// Whether others' calls of GNU's functions end in LLVM's library, which has
/// them as well: it was preloaded, or linked with the program.
static bool own_serves_all(void) {
  // RTLD_DEFAULT would begin with what this library was linked with.
  void *process = dlopen(NULL, RTLD_LAZY);
  void *first = process ? dlsym(process, "GOMP_parallel") : NULL;
  // By a pointer to data: see `find`.
  int (*function)(void) = omp_get_max_threads;
  void *mine;
  memcpy(&mine, &function, sizeof(mine));
  if (process)
    dlclose(process);
  Dl_info a, b;
  return first && dladdr(first, &a) && dladdr(mine, &b) &&
         a.dli_fbase == b.dli_fbase;
}

static int is_gnu(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  const char *slash = strrchr(info->dlpi_name, '/');
  const char *name = slash ? slash + 1 : info->dlpi_name;
  if (strncmp(name, "libgomp", strlen("libgomp")) != 0)
    return 0;
  *(const char **)data = info->dlpi_name;
  return 1;
}

static int count_loaded(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  *(unsigned long long *)data = info->dlpi_adds;
  return 1; // The first one knows.
}

void pit_openmp_before_fork(void) { pthread_mutex_lock(&choosing); }

/// GNU's threads are gone in the child of a fork, and its library does not know
/// it. LLVM's does.
void pit_openmp_after_fork(bool in_child) {
  pthread_mutex_unlock(&choosing);
  if (!in_child || atomic_load_explicit(&found, memory_order_relaxed) != &gnu)
    return;
  atomic_store_explicit(&found, &own, memory_order_release);
  // Nothing is looked for again.
  atomic_store_explicit(&seen, ~0ULL, memory_order_release);
  chosen = NULL;
}

/// Under `choosing`.
static void look(void) {
  const char *name = NULL;
  const char *asked = getenv("PIT_OPENMP");
  bool wants_own = asked && strcmp(asked, "llvm") == 0;
  bool wants_gnu = asked && strcmp(asked, "gnu") == 0;
  if (!wants_own && atomic_load_explicit(&found, memory_order_relaxed) != &gnu)
    dl_iterate_phdr(is_gnu, &name);
  if (name && (wants_gnu || !own_serves_all())) {
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (library && read_gnu(library)) {
      atomic_store_explicit(&found, &gnu, memory_order_release);
      // It stays: no call looks for another one.
      atomic_store_explicit(&seen, ~0ULL, memory_order_release);
    } else if (library) {
      dlclose(library);
    }
  }
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

void pit_openmp_choose(void) {
  unsigned long long loaded = 0;
  unsigned long long before = atomic_load_explicit(&seen, memory_order_acquire);
  if (before != ~0ULL) {
    pit_fork_handle();
    // The loader has a lock that it leaves locked in the child of a fork. No
    // fork happens while this thread has it.
    pthread_mutex_lock(&choosing);
    dl_iterate_phdr(count_loaded, &loaded);
    if (loaded != before) {
      look();
      atomic_compare_exchange_strong(&seen, &before, loaded);
    }
    pthread_mutex_unlock(&choosing);
  }
  const pit_openmp *known = atomic_load_explicit(&found, memory_order_acquire);
  chosen = known ? known : &own;
  if (chosen == &gnu && omp_get_max_threads() != gnu.get_max_threads())
    omp_set_num_threads(gnu.get_max_threads());
}

const pit_openmp *pit_openmp_chosen(void) {
  if (!chosen)
    pit_openmp_choose();
  return chosen;
}

#endif // PIT_PTHREADS
