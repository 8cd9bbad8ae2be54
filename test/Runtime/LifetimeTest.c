//===- LifetimeTest.c - Programs and contexts that end while calls run ----===//

#include "pit-runtime/Abi.h"

#include "Reference.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 200 };

/// f() does what `user` says while it runs.
typedef struct code {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int running;  ///< calls that have begun
  bool may_end; ///< calls wait for it
  _Atomic int closed;
  pit_program *to_close;      ///< by the call itself; or NULL
  pit_context *to_destroy;    ///< by the call itself; or NULL
  _Atomic int calls_unloaded; ///< that found the code gone
} code;

static code the_code = {.lock = PTHREAD_MUTEX_INITIALIZER,
                        .changed = PTHREAD_COND_INITIALIZER};

static const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                      .device = kDLCPU};

static int32_t body(pit_context *context, const pit_value *ins,
                    DLTensor *const *outs, pit_stream stream) {
  pit_frame *frame;
  int32_t status =
      pit_rt_enter(context, &manifest, ins, outs, stream, NULL, &frame);
  if (status != PIT_OK)
    return status;
  code *c = &the_code;
  pthread_mutex_lock(&c->lock);
  ++c->running;
  pthread_cond_broadcast(&c->changed);
  pit_program *program = c->to_close;
  pit_context *gone = c->to_destroy;
  c->to_close = NULL;
  c->to_destroy = NULL;
  while (!c->may_end)
    pthread_cond_wait(&c->changed, &c->lock);
  pthread_mutex_unlock(&c->lock);
  pit_program_close(program);
  pit_context_destroy(gone);
  if (c->closed > 0)
    ++c->calls_unloaded;
  void *memory;
  status = pit_rt_alloc(frame, 1000, &memory);
  if (status == PIT_OK)
    memset(memory, 1, 1000);
  return pit_rt_leave(frame, status);
}

static void *look_up(void *user, const char *symbol) {
  (void)user;
  void *address = NULL;
  int32_t (*function)(pit_context *, const pit_value *, DLTensor *const *,
                      pit_stream) = body;
  if (strcmp(symbol, "pit_program_entries") == 0)
    return (void *)(uintptr_t)"f\0";
  if (strcmp(symbol, "pit_f_manifest") == 0)
    return (void *)(uintptr_t)&manifest;
  if (strcmp(symbol, "pit_f") == 0)
    memcpy(&address, &function, sizeof(address));
  return address;
}

static void unload(void *user) { ++((code *)user)->closed; }

static pit_program *load(void) {
  the_code.running = 0;
  the_code.may_end = false;
  the_code.closed = 0;
  pit_program *program;
  assert_int_equal(
      pit_program_from_lookup(NULL, look_up, &the_code, unload, &program),
      PIT_OK);
  return program;
}

typedef struct caller {
  pthread_t thread;
  pit_context *context;
  const pit_entry *entry;
  pit_program *program; ///< a reference of its own; or NULL
  int32_t status;
} caller;

static void *call(void *argument) {
  caller *c = argument;
  c->status = pit_entry_run(c->context, c->entry, NULL, 0, NULL, 0, NULL);
  return NULL;
}

static void let_end(void) {
  pthread_mutex_lock(&the_code.lock);
  the_code.may_end = true;
  pthread_cond_broadcast(&the_code.changed);
  pthread_mutex_unlock(&the_code.lock);
}

/// Both end while four calls run, which end as ever and then unload the code.
static void test_in_flight(void **state) {
  (void)state;
  pit_program *program = load();
  pit_context *context;
  assert_int_equal(pit_context_create(NULL, &context), PIT_OK);
  caller callers[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    callers[i] =
        (caller){.context = context, .entry = pit_program_entry_at(program, 0)};
    assert_int_equal(
        pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
  }
  pthread_mutex_lock(&the_code.lock);
  while (the_code.running < THREADS)
    pthread_cond_wait(&the_code.changed, &the_code.lock);
  pthread_mutex_unlock(&the_code.lock);
  pit_program_close(program);
  pit_context_destroy(context);
  assert_int_equal(the_code.closed, 0);
  let_end();
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(callers[i].thread, NULL);
    assert_int_equal(callers[i].status, PIT_OK);
  }
  assert_int_equal(the_code.closed, 1);
  assert_int_equal(the_code.calls_unloaded, 0);
}

/// A call ends its own program and its own context.
static void test_inside(void **state) {
  (void)state;
  pit_program *program = load();
  pit_context *context;
  assert_int_equal(pit_context_create(NULL, &context), PIT_OK);
  the_code.may_end = true;
  the_code.to_close = program;
  the_code.to_destroy = context;
  assert_int_equal(pit_entry_run(context, pit_program_entry_at(program, 0),
                                 NULL, 0, NULL, 0, NULL),
                   PIT_OK);
  assert_int_equal(the_code.closed, 1);
  assert_int_equal(the_code.calls_unloaded, 0);
}

static void *call_often(void *argument) {
  caller *c = argument;
  for (int i = 0; i < ROUNDS && c->status == PIT_OK; ++i)
    c->status = pit_entry_run(c->context, c->entry, NULL, 0, NULL, 0, NULL);
  pit_program_close(c->program);
  return NULL;
}

/// Threads with references of their own may begin calls after the maker has
/// closed the program.
static void test_references(void **state) {
  (void)state;
  pit_program *program = load();
  the_code.may_end = true;
  pit_context *context;
  assert_int_equal(pit_context_create(NULL, &context), PIT_OK);
  caller callers[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    callers[i] = (caller){.context = context,
                          .entry = pit_program_entry_at(program, 0),
                          .program = pit_program_retain(program)};
    assert_ptr_equal(callers[i].program, program);
    assert_int_equal(
        pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
  }
  pit_program_close(program);
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(callers[i].thread, NULL);
    assert_int_equal(callers[i].status, PIT_OK);
  }
  assert_int_equal(the_code.closed, 1);
  assert_int_equal(the_code.calls_unloaded, 0);
  assert_int_equal(the_code.running, THREADS * ROUNDS);
  assert_null(pit_program_retain(NULL));
  pit_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_in_flight),
      cmocka_unit_test(test_inside),
      cmocka_unit_test(test_references),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
