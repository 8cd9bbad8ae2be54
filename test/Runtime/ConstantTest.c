//===- ConstantTest.c - What calls keep of constant memory ----------------===//

#include "Builds.h"
#include "Reference.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const pit_manifest no_args = {.version = PIT_MANIFEST_WORD0,
                                     .device = kDLCPU};

enum { ROWS = 4, COLUMNS = 6, COUNT = 24 };

static int32_t build_index(pit_frame *frame, const float *x, int64_t height,
                           int64_t rows, const pit_index **index) {
  const pit_build build = build_of(32, 1, height, 1);
  const pit_view view = view_of(x, ROWS, COLUMNS);
  const int64_t shape[] = {rows, COLUMNS};
  return pit_rt_build(frame, &build, &view, shape, NULL, NULL, index);
}

typedef struct fixture {
  pit_context *context;
  pit_frame *frame;
  float x[COUNT];
  int64_t shape[2];
  DLTensor tensor;
  pit_constant *constant;
} fixture;

static pit_frame *enter(pit_context *context) {
  pit_frame *frame = NULL;
  assert_ok(context,
            pit_rt_enter(context, &no_args, NULL, NULL, NULL, NULL, &frame));
  return frame;
}

static int set_up(void **state) {
  static fixture f;
  f = (fixture){.x = {[1] = 1, [4] = 2, [10] = 3, [18] = 4},
                .shape = {ROWS, COLUMNS}};
  f.tensor = tensor_of(f.x, PIT_DTYPE_FLOAT, 32, 2, f.shape);
  assert_int_equal(pit_context_create(NULL, &f.context), PIT_OK);
  assert_ok(f.context, pit_constant_create(f.context, &f.tensor, &f.constant));
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  pit_constant_destroy(f->constant);
  pit_context_destroy(f->context);
  return 0;
}

/// One layout of two words.
typedef struct layout {
  int64_t words[3];
} layout;

static layout layout_of(int64_t form) { return (layout){{2, 7, form}}; }

typedef struct found {
  void *memory;
  int32_t state;
} found;

static found keep(fixture *f, pit_frame *frame, const void *data,
                  int64_t data_bytes, int64_t form, int64_t bytes) {
  layout l = layout_of(form);
  found result = {f, -1};
  assert_ok(f->context, pit_rt_keep(frame, data, data_bytes, l.words, bytes, 1,
                                    &result.memory, &result.state));
  assert_int_equal((uintptr_t)result.memory % 64, 0);
  return result;
}

/// A call that packs by copying; returns what state it found.
static int32_t call(fixture *f, int64_t form, float *first) {
  pit_frame *frame = enter(f->context);
  found k = keep(f, frame, f->x, sizeof(f->x), form, sizeof(f->x));
  float *packed = k.memory;
  if (k.state != PIT_KEEP_READY)
    memcpy(packed, f->x, sizeof(f->x));
  pit_rt_kept(frame, packed);
  *first = packed[1];
  pit_rt_leave(frame, 0);
  return k.state;
}

static pit_kept_stats stats_of(fixture *f) {
  pit_kept_stats stats;
  pit_context_kept(f->context, &stats);
  return stats;
}

static void test_packed_once(void **state) {
  fixture *f = *state;
  float first;
  assert_int_equal(call(f, 1, &first), PIT_KEEP_FILL);
  f->x[1] = 5; // an error of the caller's
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(call(f, 1, &first), PIT_KEEP_READY);
    assert_true(first == 1);
  }
  // Another form of it.
  assert_int_equal(call(f, 2, &first), PIT_KEEP_FILL);
  assert_int_equal(call(f, 2, &first), PIT_KEEP_READY);
  pit_kept_stats stats = stats_of(f);
  assert_int_equal(stats.constants, 1);
  assert_int_equal(stats.pieces, 2);
  assert_int_equal(stats.bytes, 2 * sizeof(f->x));
  assert_int_equal(stats.made, 2);
  assert_int_equal(stats.reused, 4);
  assert_int_equal(stats.refused, 0);

  pit_constant_changed(f->constant);
  assert_int_equal(stats_of(f).pieces, 0);
  assert_int_equal(stats_of(f).bytes, 0);
  assert_int_equal(call(f, 1, &first), PIT_KEEP_FILL);
  assert_true(first == 5);
  pit_constant_destroy(f->constant);
  f->constant = NULL;
  assert_int_equal(stats_of(f).pieces, 0);
  assert_int_equal(stats_of(f).constants, 0);
  assert_int_equal(call(f, 1, &first), PIT_KEEP_NONE);
  pit_constant_destroy(NULL);
  pit_constant_changed(NULL);
}

/// Parts of a constant are constant; what reaches beyond it is not.
static void test_ranges(void **state) {
  fixture *f = *state;
  pit_frame *frame = enter(f->context);
  float *x = f->x;
  struct {
    const void *data;
    int64_t bytes;
    int32_t state;
  } cases[] = {{x, sizeof(f->x), PIT_KEEP_FILL},
               {x, 4, PIT_KEEP_NONE},
               {x + 1, 4, PIT_KEEP_FILL},
               {x + COUNT - 1, 4, PIT_KEEP_FILL},
               {x + COUNT - 1, 8, PIT_KEEP_NONE},
               {x + COUNT, 4, PIT_KEEP_NONE},
               {(char *)x - 1, 4, PIT_KEEP_NONE},
               {x + 2, 0, PIT_KEEP_NONE},
               {&frame, sizeof(frame), PIT_KEEP_NONE}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    // The second one is the first's form, which is just being filled in.
    found k = keep(f, frame, cases[i].data, cases[i].bytes, 1, 8);
    assert_int_equal(k.state, cases[i].state);
    assert_non_null(k.memory);
  }
  pit_rt_leave(frame, 0);
  assert_int_equal(stats_of(f).refused, 0);
  assert_int_equal(pit_rt_keep(NULL, x, 4, NULL, 4, 1, NULL, NULL),
                   PIT_ERROR_INVALID_ARGUMENT);
}

/// A call that has not packed when it ends, after an error, leaves nothing.
static void test_abandoned(void **state) {
  fixture *f = *state;
  pit_frame *frame = enter(f->context);
  assert_int_equal(keep(f, frame, f->x, 8, 1, 8).state, PIT_KEEP_FILL);
  assert_int_equal(stats_of(f).pieces, 1);
  pit_rt_leave(frame, PIT_ERROR_SHAPE);
  assert_int_equal(stats_of(f).pieces, 0);
  assert_int_equal(stats_of(f).made, 0);
  frame = enter(f->context);
  assert_int_equal(keep(f, frame, f->x, 8, 1, 8).state, PIT_KEEP_FILL);
  pit_rt_leave(frame, 0);
}

/// A call goes on with what it found, or has packed, if the constant goes.
static void test_gone_in_a_call(void **state) {
  fixture *f = *state;
  float first;
  assert_int_equal(call(f, 1, &first), PIT_KEEP_FILL);
  pit_frame *reader = enter(f->context), *maker = enter(f->context);
  found read = keep(f, reader, f->x, sizeof(f->x), 1, sizeof(f->x));
  found made = keep(f, maker, f->x, sizeof(f->x), 2, sizeof(f->x));
  assert_int_equal(read.state, PIT_KEEP_READY);
  assert_int_equal(made.state, PIT_KEEP_FILL);
  pit_constant_destroy(f->constant);
  f->constant = NULL;
  assert_memory_equal(read.memory, f->x, sizeof(f->x));
  memcpy(made.memory, f->x, sizeof(f->x));
  pit_rt_kept(maker, made.memory);
  assert_memory_equal(made.memory, f->x, sizeof(f->x));
  pit_rt_leave(maker, 0);
  pit_rt_leave(reader, 0);
  assert_int_equal(stats_of(f).pieces, 0);
  assert_int_equal(stats_of(f).bytes, 0);
}

/// The same address, another shape: the layout says so.
static void test_overlapping(void **state) {
  fixture *f = *state;
  int64_t half[1] = {COUNT / 2};
  DLTensor part = tensor_of(f->x, PIT_DTYPE_FLOAT, 32, 1, half);
  pit_constant *other;
  float first;
  assert_ok(f->context, pit_constant_create(f->context, &part, &other));
  assert_int_equal(call(f, 1, &first), PIT_KEEP_FILL);
  pit_frame *frame = enter(f->context);
  assert_int_equal(keep(f, frame, f->x, 8, 2, 8).state, PIT_KEEP_FILL);
  pit_rt_leave(frame, 0);
  // What has changed has changed for both.
  pit_constant_changed(other);
  assert_int_equal(stats_of(f).pieces, 0);
  assert_int_equal(call(f, 1, &first), PIT_KEEP_FILL);
  pit_constant_destroy(other);
  assert_int_equal(call(f, 1, &first), PIT_KEEP_READY);
}

static void test_bound(void **state) {
  fixture *f = *state;
  pit_context_options options = {.kept_bytes = -3};
  char message[128];
  options.message = message;
  options.message_size = sizeof(message);
  pit_context *context;
  assert_int_equal(pit_context_create(&options, &context),
                   PIT_ERROR_INVALID_ARGUMENT);
  assert_string_equal(message, "context: kept_bytes is -3; it must be at least "
                               "1, or 0 for no bound");
  options.kept_bytes = sizeof(f->x) + 8;
  assert_int_equal(pit_context_create(&options, &context), PIT_OK);
  fixture g = {.context = context, .shape = {ROWS, COLUMNS}};
  g.tensor = tensor_of(g.x, PIT_DTYPE_FLOAT, 32, 2, g.shape);
  assert_ok(context, pit_constant_create(context, &g.tensor, &g.constant));
  float first;
  assert_int_equal(call(&g, 1, &first), PIT_KEEP_FILL);
  assert_int_equal(call(&g, 2, &first), PIT_KEEP_NONE);
  assert_int_equal(call(&g, 1, &first), PIT_KEEP_READY);
  pit_frame *frame = enter(context);
  const pit_index *index;
  assert_ok(context, build_index(frame, g.x, 2, ROWS, &index));
  assert_int_equal(index->total, 0);
  pit_rt_leave(frame, 0);
  pit_kept_stats stats = stats_of(&g);
  assert_int_equal(stats.pieces, 1);
  assert_int_equal(stats.refused, 2);
  pit_constant_changed(g.constant);
  assert_int_equal(call(&g, 2, &first), PIT_KEEP_FILL);
  pit_constant_destroy(g.constant);
  pit_context_destroy(context);
}

static void test_out_of_memory(void **state) {
  fixture *f = *state;
  pit_frame *frame = enter(f->context);
  layout l = layout_of(1);
  void *memory = f;
  int32_t found;
  // It is not kept; only who needs memory of the call misses it.
  assert_ok(f->context, pit_rt_keep(frame, f->x, 8, l.words, INT64_MAX / 4, 0,
                                    &memory, &found));
  assert_null(memory);
  assert_int_equal(found, PIT_KEEP_NONE);
  check_error(
      f->context,
      pit_rt_keep(frame, f->x, 8, l.words, INT64_MAX / 4, 1, &memory, &found),
      PIT_ERROR_OUT_OF_MEMORY, "out of memory for the scratch of a call");
  assert_int_equal(stats_of(f).refused, 2);
  check_error(f->context,
              pit_rt_keep(frame, f->x, 8, l.words, -1, 1, &memory, &found),
              PIT_ERROR_INVALID_ARGUMENT, "keep: -1 bytes");
  l.words[0] = 65;
  check_error(f->context,
              pit_rt_keep(frame, f->x, 8, l.words, 8, 1, &memory, &found),
              PIT_ERROR_INVALID_ARGUMENT,
              "keep: 8 bytes in a layout of 65 words; they must be at least 0 "
              "and 0 to 64");
  pit_rt_leave(frame, 0);
}

static void see(void *user, const pit_index *index, pit_source source,
                const DLTensor *data, const void *background) {
  assert_int_equal(index->total, 3);
  assert_int_equal(source, PIT_SOURCE_VALUES);
  assert_non_null(data->data);
  assert_true(*(const float *)background == 0);
  ++*(int *)user;
}

static void test_index(void **state) {
  fixture *f = *state;
  int seen = 0;
  assert_ok(f->context, pit_context_observe(f->context, see, &seen));
  assert_ok(f->context, pit_context_set_stats(f->context, PIT_STATS_ON));
  const pit_index *kept = NULL, *index;
  for (int i = 0; i < 3; ++i) {
    pit_frame *frame = enter(f->context);
    assert_ok(f->context, build_index(frame, f->x, 2, ROWS, &index));
    assert_true(i == 0 || index == kept);
    kept = index;
    assert_memory_equal(index->ids, ((int32_t[]){1, 4, 0}), 12);
    // Another index, of memory that may change.
    float other[COUNT] = {[3] = 1, [9] = 1, [12] = 1, [23] = 1};
    assert_ok(f->context, build_index(frame, other, 2, ROWS, &index));
    assert_ptr_not_equal(index, kept);
    pit_rt_leave(frame, 0);
  }
  assert_int_equal(seen, 6);
  // What is built is recorded, by its number in the call.
  pit_build_stats builds[8];
  int64_t copied;
  assert_int_equal(pit_context_stats(f->context, builds, 8, &copied), 4);
  assert_int_equal(builds[0].slot, 0);
  for (int i = 1; i < 4; ++i)
    assert_int_equal(builds[i].slot, 1);
  pit_kept_stats stats = stats_of(f);
  assert_int_equal(stats.pieces, 1);
  assert_true(stats.bytes > 0);
  assert_int_equal(stats.reused, 2);

  // Another micro-tile is another index.
  assert_ok(f->context, pit_context_observe(f->context, NULL, NULL));
  pit_frame *frame = enter(f->context);
  assert_ok(f->context, build_index(frame, f->x, 4, ROWS, &index));
  assert_int_equal(index->groups, 1);
  assert_int_equal(stats_of(f).pieces, 2);
  // An index that cannot be built is not kept.
  check_error(f->context, build_index(frame, f->x, 2, ROWS + 1, &index),
              PIT_ERROR_SHAPE, "must be 5x6");
  assert_null(index);
  pit_rt_leave(frame, 0);
  assert_int_equal(stats_of(f).pieces, 2);
  pit_constant_changed(f->constant);
  assert_int_equal(stats_of(f).bytes, 0);
}

static void test_errors(void **state) {
  fixture *f = *state;
  pit_constant *constant = f->constant;
  check_error(f->context, pit_constant_create(f->context, NULL, &constant),
              PIT_ERROR_INVALID_ARGUMENT, "constant is NULL");
  assert_null(constant);
  check_error(f->context, pit_constant_create(f->context, &f->tensor, NULL),
              PIT_ERROR_INVALID_ARGUMENT, "constant: an argument is NULL");
  assert_int_equal(pit_constant_create(NULL, &f->tensor, &constant),
                   PIT_ERROR_INVALID_ARGUMENT);
  int64_t strides[2] = {1, ROWS};
  DLTensor turned = f->tensor;
  turned.strides = strides;
  check_error(f->context, pit_constant_create(f->context, &turned, &constant),
              PIT_ERROR_LAYOUT, "constant: strides 1x4; it must be contiguous");
  DLTensor far = f->tensor;
  far.device.device_type = kDLCUDA;
  check_error(f->context, pit_constant_create(f->context, &far, &constant),
              PIT_ERROR_DEVICE, "constant is on a device of type 2");
  assert_int_equal(stats_of(f).constants, 1);
  pit_kept_stats stats = {.pieces = 3};
  pit_context_kept(NULL, &stats);
  assert_int_equal(stats.pieces, 0);
  pit_context_kept(f->context, NULL);
}

/// A result must not be written to what was promised not to change.
static void test_result(void **state) {
  fixture *f = *state;
  const pit_manifest gives = {
      .version = PIT_MANIFEST_WORD0,
      .num_results = 1,
      .device = kDLCPU,
      .values = (const pit_arg_info[]){{.kind = PIT_KIND_TENSOR,
                                        .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                        .rank = 1,
                                        .dims = {4}}}};
  int64_t shape[1] = {4}, views[2];
  DLTensor result = tensor_of(f->x + 20, PIT_DTYPE_FLOAT, 32, 1, shape);
  DLTensor *outs[] = {&result};
  pit_frame *frame;
  check_error(f->context,
              pit_rt_enter(f->context, &gives, NULL, outs, NULL, views, &frame),
              PIT_ERROR_INVALID_ARGUMENT,
              "result 0 is in memory that is constant");
  pit_constant_destroy(f->constant);
  f->constant = NULL;
  assert_ok(f->context,
            pit_rt_enter(f->context, &gives, NULL, outs, NULL, views, &frame));
  pit_rt_leave(frame, 0);
}

/// Many, and a context that goes first.
static void test_many(void **state) {
  fixture *f = *state;
  enum { MANY = 100 };
  static float data[MANY][2];
  pit_constant *constants[MANY];
  int64_t shape[1] = {2};
  for (int i = 0; i < MANY; ++i) {
    DLTensor tensor = tensor_of(data[i], PIT_DTYPE_FLOAT, 32, 1, shape);
    assert_ok(f->context,
              pit_constant_create(f->context, &tensor, &constants[i]));
  }
  for (int round = 0; round < 2; ++round) {
    pit_frame *frame = enter(f->context);
    for (int i = 0; i < MANY; ++i) {
      found k = keep(f, frame, data[i], 8, 1, 8);
      bool gone = round == 1 && i % 3 == 0;
      assert_int_equal(k.state, round == 0 ? PIT_KEEP_FILL
                                : gone     ? PIT_KEEP_NONE
                                           : PIT_KEEP_READY);
      if (round == 0)
        *(int *)k.memory = i;
      else if (!gone)
        assert_int_equal(*(int *)k.memory, i);
      pit_rt_kept(frame, k.memory);
    }
    for (int i = 0; round == 0 && i < MANY; i += 3)
      pit_constant_destroy(constants[i]);
    pit_rt_leave(frame, 0);
  }
  pit_context_destroy(f->context);
  assert_int_equal(pit_context_create(NULL, &f->context), PIT_OK);
  f->constant = NULL;
}

//===----------------------------------------------------------------------===//
// Several threads
//===----------------------------------------------------------------------===//

enum { THREADS = 4, ROUNDS = 300, WORDS = 512 };

typedef struct worker {
  pit_context *context;
  const int64_t *data;
  pit_constant *constant;
  bool disturbs; ///< says that the data has changed, now and then
  int failures;
} worker;

static void *work(void *argument) {
  worker *w = argument;
  pit_context *context = w->context;
  layout l = layout_of(1);
  const pit_build build = {.dtype = {PIT_DTYPE_INT, 64, 1},
                           .data_rank = 1,
                           .rank = 1,
                           .micro_tile = {1},
                           .step = {1}};
  const pit_view view = {w->data, {WORDS}, {1}};
  for (int round = 0; round < ROUNDS; ++round) {
    if (w->disturbs && round % 5 == 0)
      pit_constant_changed(w->constant);
    pit_frame *frame = NULL;
    w->failures += pit_rt_enter(context, &no_args, NULL, NULL, NULL, NULL,
                                &frame) != PIT_OK;
    void *memory;
    int32_t state;
    w->failures += pit_rt_keep(frame, w->data, WORDS * 8, l.words, WORDS * 8, 1,
                               &memory, &state) != PIT_OK;
    int64_t *packed = memory;
    for (int i = 0; state != PIT_KEEP_READY && i < WORDS; ++i)
      packed[i] = w->data[WORDS - 1 - i];
    pit_rt_kept(frame, packed);
    const pit_index *index = NULL;
    w->failures += pit_rt_build(frame, &build, &view, view.shape, NULL, NULL,
                                &index) != PIT_OK;
    for (int i = 0; i < WORDS; ++i)
      w->failures += packed[i] != w->data[WORDS - 1 - i];
    w->failures += !index || index->total != WORDS - 1 || index->ids[3] != 4;
    pit_rt_leave(frame, 0);
  }
  return NULL;
}

static void test_threads(void **state) {
  fixture *f = *state;
  static int64_t data[WORDS];
  for (int64_t i = 0; i < WORDS; ++i)
    data[i] = i;
  int64_t shape[1] = {WORDS};
  DLTensor tensor = tensor_of(data, PIT_DTYPE_INT, 64, 1, shape);
  pit_constant *constant;
  assert_ok(f->context, pit_constant_create(f->context, &tensor, &constant));
  for (int disturbed = 0; disturbed < 2; ++disturbed) {
    worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i) {
      workers[i] = (worker){.context = f->context,
                            .data = data,
                            .constant = constant,
                            .disturbs = disturbed && i == 0};
      assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i) {
      pthread_join(threads[i], NULL);
      assert_int_equal(workers[i].failures, 0);
    }
    pit_kept_stats stats = stats_of(f);
    assert_int_equal(stats.pieces, 2);
    assert_int_equal(stats.refused, 0);
    if (!disturbed)
      assert_int_equal(stats.made, 2);
  }
  pit_constant_destroy(constant);
  assert_int_equal(stats_of(f).bytes, 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_packed_once),    TEST(test_ranges),      TEST(test_abandoned),
      TEST(test_gone_in_a_call), TEST(test_overlapping), TEST(test_bound),
      TEST(test_out_of_memory),  TEST(test_index),       TEST(test_errors),
      TEST(test_result),         TEST(test_many),        TEST(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
