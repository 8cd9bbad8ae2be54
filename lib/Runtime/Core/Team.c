//===- Team.c - Parallel regions of programs ------------------------------===//
//
// LLVM's code generation for OpenMP calls libomp. The compiler renames these
// functions (lib/CAPI/Codegen.cpp): what was __kmpc_barrier is
// pit_rt_omp_barrier. So programs run on the threads of whichever library
// OpenMP.h chooses. Their parameters are those of libomp
// (openmp/runtime/src/kmp.h); the first one, a place in the source, is not
// used.
//
// A loop is shared by steps, counted from 0. Every schedule but `static` cuts
// the loop's chunks into parts that follow one another, one for each thread. A
// thread takes the chunks of its own part, then those that others have left. So
// a thread finds what it computed in the loop before in its own cache.
//
//===----------------------------------------------------------------------===//

#include "OpenMP.h"
#include "Parallel.h"
#include "pit-runtime/Abi.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef void region_body(int32_t *thread, int32_t *bound, void *arguments);

enum {
  SCHEDULE_STATIC_CHUNKED = 33, // kmp_sch_static_chunked
  // A barrier is between two loops of a region. So threads are in one of two
  // loops, and the counter of a third can be made ready.
  COUNTERS = 3,
  PARTS = 64, // of a loop, at most; threads share them if there are more
};

/// How many chunks of a part were taken; loops use the counters in turns.
typedef struct part {
  _Alignas(64) _Atomic uint64_t taken[COUNTERS];
} part;

/// A parallel region.
typedef struct team {
  const pit_openmp *openmp; ///< whose threads it has
  region_body *body;
  void *arguments;
  part *parts; ///< of dynamic loops
} team;

/// The state of a thread in the region that it is in, and in the dynamic loop
/// there.
typedef struct member {
  team *team;
  int32_t thread, threads;
  uint64_t loops; ///< of the region, so far
  uint64_t lower, step, chunk, trip;
  uint64_t visited; ///< parts that have no chunks left, its own first
} member;

static _Thread_local member me = {.threads = 1};

static uint64_t parts_of(int32_t threads) {
  return threads < PARTS ? (uint64_t)threads : PARTS;
}

static void enter(void *argument) {
  team *entered = argument;
  member outer = me;
  me = (member){.team = entered,
                .thread = entered->openmp->get_thread_num(),
                .threads = entered->openmp->get_num_threads()};
  int32_t thread = me.thread, bound = 0;
  me.team->body(&thread, &bound, me.team->arguments);
  me = outer;
}

/// A region of one thread, which may be inside of another one.
static void enter_alone(team *alone) {
  member outer = me;
  me = (member){.team = alone, .threads = 1};
  int32_t thread = 0, bound = 0;
  alone->body(&thread, &bound, alone->arguments);
  me = outer;
}

static void enter_several(team *forked, int32_t threads) {
  part parts[PARTS];
  // A library may make a smaller team, which has no more parts than this.
  for (uint64_t i = 0; i < parts_of(threads); ++i)
    for (int counter = 0; counter < COUNTERS; ++counter)
      atomic_init(&parts[i].taken[counter], 0);
  forked->parts = parts;
  forked->openmp->parallel(enter, forked, threads);
}

static void fork_team(void *body, bool several, void *arguments) {
  team forked = {.openmp = pit_openmp_chosen(), .arguments = arguments};
  // ISO C has no other conversion of a pointer to data to one to a function.
  *(void **)&forked.body = body;
  int32_t threads = several ? pit_parallel_default() : 1;
  if (threads <= 1)
    enter_alone(&forked);
  else
    enter_several(&forked, threads);
}

void pit_rt_omp_fork_call_if(const void *place, int32_t count, void *body,
                             int32_t condition, void *arguments) {
  (void)place;
  (void)count; // one, or none: what a region needs is in one structure
  fork_team(body, condition != 0, arguments);
}

void pit_rt_omp_fork_call(const void *place, int32_t count, void *body, ...) {
  (void)place;
  va_list list;
  va_start(list, body);
  void *arguments = count > 0 ? va_arg(list, void *) : NULL;
  va_end(list);
  fork_team(body, true, arguments);
}

int32_t pit_rt_omp_global_thread_num(const void *place) {
  (void)place;
  return me.thread;
}

int32_t pit_rt_omp_get_thread_num(void) { return me.thread; }

void pit_rt_omp_barrier(const void *place, int32_t thread) {
  (void)place;
  (void)thread;
  if (me.threads > 1)
    me.team->openmp->barrier();
}

static uint64_t trip_count(uint64_t lower, uint64_t upper, uint64_t step) {
  return upper < lower ? 0 : (upper - lower) / step + 1;
}

void pit_rt_omp_for_static_init_8u(const void *place, int32_t thread,
                                   int32_t schedule, int32_t *last,
                                   uint64_t *lower, uint64_t *upper,
                                   int64_t *stride, int64_t step,
                                   int64_t chunk) {
  (void)place;
  (void)thread;
  uint64_t by = (uint64_t)step, mine = (uint64_t)me.thread,
           threads = (uint64_t)me.threads;
  uint64_t trip = trip_count(*lower, *upper, by);
  *last = 0;
  *stride = (int64_t)(trip * by);
  if (trip == 0)
    return; // The bounds say that there is nothing to do.
  uint64_t first, count;
  if (schedule == SCHEDULE_STATIC_CHUNKED) {
    // The caller goes on from chunk to chunk by the stride.
    count = chunk > 0 ? (uint64_t)chunk : 1;
    first = mine * count;
    *stride = (int64_t)(count * threads * by);
    *last = (trip - 1) / count % threads == mine;
  } else {
    uint64_t more = trip % threads;
    count = trip / threads + (mine < more);
    first = mine * (trip / threads) + (mine < more ? mine : more);
    *last = count > 0 && first + count == trip;
  }
  *lower += first * by;
  *upper = *lower + count * by - by; // a step below `lower` if there is nothing
}

void pit_rt_omp_for_static_fini(const void *place, int32_t thread) {
  (void)place;
  (void)thread;
}

void pit_rt_omp_dispatch_init_8u(const void *place, int32_t id,
                                 int32_t schedule, uint64_t lower,
                                 uint64_t upper, int64_t step, int64_t chunk) {
  (void)place;
  (void)id;
  (void)schedule;
  me.lower = lower;
  me.step = (uint64_t)step;
  me.chunk = chunk > 0 ? (uint64_t)chunk : 1;
  me.trip = trip_count(lower, upper, me.step);
  me.visited = 0;
  // No thread is in the loop before the last one any more, and none is in the
  // next one before all have been here.
  uint64_t thread = (uint64_t)me.thread;
  if (me.threads > 1 && thread < PARTS)
    atomic_store_explicit(
        &me.team->parts[thread].taken[(me.loops + 1) % COUNTERS], 0,
        memory_order_relaxed);
  ++me.loops;
}

/// Takes a chunk that nobody has; false if there is none.
static bool take(uint64_t chunks, uint64_t *number) {
  if (me.threads == 1) {
    *number = me.visited++;
    return *number < chunks;
  }
  uint64_t parts = parts_of(me.threads);
  for (; me.visited < parts; ++me.visited) {
    uint64_t from = ((uint64_t)me.thread + me.visited) % parts;
    uint64_t first = chunks * from / parts;
    uint64_t end = chunks * (from + 1) / parts;
    uint64_t taken = atomic_fetch_add_explicit(
        &me.team->parts[from].taken[(me.loops - 1) % COUNTERS], 1,
        memory_order_relaxed);
    if (taken < end - first) {
      *number = first + taken;
      return true;
    }
  }
  return false;
}

int32_t pit_rt_omp_dispatch_next_8u(const void *place, int32_t thread,
                                    int32_t *last, uint64_t *lower,
                                    uint64_t *upper, int64_t *step) {
  (void)place;
  (void)thread;
  uint64_t chunks = me.trip / me.chunk + (me.trip % me.chunk != 0), number;
  if (!take(chunks, &number))
    return 0;
  uint64_t first = number * me.chunk;
  uint64_t left = me.trip - first;
  uint64_t count = left < me.chunk ? left : me.chunk;
  *last = number == chunks - 1;
  *lower = me.lower + first * me.step;
  *upper = *lower + (count - 1) * me.step;
  *step = (int64_t)me.step;
  return 1;
}
