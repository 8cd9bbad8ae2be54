//===- FrameTest.c - Memory and indices of a call -------------------------===//

#include "Builds.h"
#include "Reference.h"

#include <stdio.h>
#include <string.h>

static const pit_manifest no_args = {.version = PIT_MANIFEST_WORD0,
                                     .device = kDLCPU};

typedef struct fixture {
  pit_context *context;
  pit_frame *frame;
  float x[24];
  pit_build build; ///< axis 1, micro-tiles of 2x1
  pit_view view;   ///< of x, 4x6
  const pit_index *index;
  int seen; ///< by the observer
} fixture;

static void enter(fixture *f) {
  assert_ok(f->context, pit_rt_enter(f->context, &no_args, NULL, NULL, NULL,
                                     NULL, &f->frame));
}

static int set_up(void **state) {
  static fixture f;
  f = (fixture){.x = {[1] = 1, [4] = 2, [10] = 3, [18] = 4}};
  f.build = build_of(32, 1, 2, 1);
  f.view = view_of(f.x, 4, 6);
  assert_int_equal(pit_context_create(NULL, &f.context), PIT_OK);
  enter(&f);
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  pit_rt_leave(f->frame, 0);
  pit_context_destroy(f->context);
  return 0;
}

static void test_alloc(void **state) {
  fixture *f = *state;
  enum { COUNT = 60 };
  char *pieces[COUNT];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < COUNT; ++i) {
      void *memory;
      assert_ok(f->context, pit_rt_alloc(f->frame, i * 997L, &memory));
      assert_int_equal((uintptr_t)memory % 64, 0);
      pieces[i] = memory;
      memset(pieces[i], i, (size_t)i * 997);
    }
    for (int i = 0; i < COUNT; ++i) {
      for (int j = 0; j < i * 997; ++j)
        assert_int_equal(pieces[i][j], i);
      assert_true(i == 0 || pieces[i] != pieces[i - 1]);
    }
    pit_rt_leave(f->frame, 0);
    enter(f);
  }
  void *memory = f;
  check_error(f->context, pit_rt_alloc(f->frame, -1, &memory),
              PIT_ERROR_INVALID_ARGUMENT,
              "scratch of -1 bytes; it must not be negative");
  assert_null(memory);
  check_error(f->context, pit_rt_alloc(f->frame, INT64_MAX, &memory),
              PIT_ERROR_OUT_OF_MEMORY,
              "out of memory for the scratch of a call");
  assert_int_equal(pit_rt_alloc(NULL, 1, &memory), PIT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(pit_rt_leave(NULL, 7), 7);
}

static void test_nested(void **state) {
  fixture *f = *state;
  pit_frame *outer = f->frame;
  enter(f);
  assert_ptr_not_equal(f->frame, outer);
  pit_rt_leave(f->frame, 0);
  f->frame = outer;
}

static int32_t build(fixture *f) {
  f->index = (const pit_index *)f;
  return pit_rt_build(f->frame, &f->build, &f->view, f->view.shape, NULL, NULL,
                      &f->index);
}

static void see(void *user, const pit_index *index, pit_source source,
                const DLTensor *data, const void *background) {
  fixture *f = user;
  assert_int_equal(index->total, 3);
  assert_int_equal(source, PIT_SOURCE_VALUES);
  assert_ptr_equal(data->data, f->x);
  assert_int_equal(data->ndim, 2);
  assert_int_equal(data->shape[1], 6);
  assert_int_equal(data->strides[0], 6);
  assert_int_equal(data->dtype.bits, 32);
  assert_true(*(const float *)background == 0);
  ++f->seen;
}

static void test_observe(void **state) {
  fixture *f = *state;
  assert_ok(f->context, pit_context_observe(f->context, see, f));
  assert_ok(f->context, build(f));
  assert_ok(f->context, build(f));
  assert_int_equal(f->seen, 2);
  assert_ok(f->context, pit_context_observe(f->context, NULL, NULL));
  assert_ok(f->context, build(f));
  assert_int_equal(f->seen, 2);
  assert_int_equal(pit_context_observe(NULL, see, f),
                   PIT_ERROR_INVALID_ARGUMENT);
}

static void test_build(void **state) {
  fixture *f = *state;
  assert_ok(f->context, pit_context_set_stats(f->context, PIT_STATS_ON));
  const pit_index *indices[20];
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20; ++i) {
      assert_ok(f->context, build(f));
      indices[i] = f->index;
    }
    for (int i = 0; i < 20; ++i) {
      assert_int_equal(indices[i]->total, 3);
      assert_int_equal(indices[i]->counts[0], 2);
      assert_memory_equal(indices[i]->ids, ((int32_t[]){1, 4, 0}), 12);
      assert_true(i == 0 || indices[i] != indices[i - 1]);
    }
    pit_rt_leave(f->frame, 0);
    enter(f);
  }
  pit_build_stats stats[2];
  assert_int_equal(pit_context_stats(f->context, stats, 2, NULL), 40);
  assert_int_equal(stats[0].slot, 18);
  assert_int_equal(stats[1].slot, 19);
}

static void test_build_errors(void **state) {
  fixture *f = *state;
  const pit_build sound = f->build;
  f->build.flags = 8;
  check_error(f->context, build(f), PIT_ERROR_INVALID_ARGUMENT,
              "index: flags 0x8; known are 0x5");
  assert_null(f->index);
  f->build = sound;
  f->build.micro_tile[1] = 2;
  check_error(f->context, build(f), PIT_ERROR_INVALID_ARGUMENT,
              "on the axis both must be 1");
  f->build = sound;
  f->build.source = 17;
  check_error(f->context, build(f), PIT_ERROR_INVALID_ARGUMENT,
              "index: source 17");
  f->build = sound;
  const int64_t shape[] = {5, 6};
  check_error(
      f->context,
      pit_rt_build(f->frame, &f->build, &f->view, shape, NULL, NULL, &f->index),
      PIT_ERROR_SHAPE,
      "index: the tensor of values has shape 4x6; it must be 5x6");
  assert_int_equal(
      pit_rt_build(NULL, &f->build, &f->view, shape, NULL, NULL, &f->index),
      PIT_ERROR_INVALID_ARGUMENT);
}

static void test_check_dim(void **state) {
  fixture *f = *state;
  assert_ok(f->context, pit_rt_check_dim(f->frame, 1, 2, 7, 7));
  check_error(f->context, pit_rt_check_dim(f->frame, 1, 2, 7, 8),
              PIT_ERROR_SHAPE,
              "result 1: dimension 2 is 8; the computed result has 7");
}

static void test_assert(void **state) {
  fixture *f = *state;
  assert_ok(f->context, pit_rt_assert(f->frame, 1, "holds"));
  check_error(f->context, pit_rt_assert(f->frame, 0, "id < 12"),
              PIT_ERROR_INVALID_ARGUMENT,
              "the program asserts what does not hold: id < 12");
}

static void test_workers(void **state) {
  fixture *f = *state;
  assert_int_equal(pit_rt_workers(f->frame), pit_context_threads(f->context));
}

static void test_check_bounds(void **state) {
  fixture *f = *state;
  pit_rt_check_bounds(f->frame, "here", 0, 0, 8, 8);
  pit_rt_check_bounds(f->frame, "here", 0, 8, 0, 8);
  pit_rt_check_bounds(f->frame, "here", 0, -5, -1, 0);
  assert_int_equal(pit_rt_leave(f->frame, PIT_OK), PIT_OK);
  static const int64_t outside[][3] = {
      {-1, 1, 8}, {7, 2, 8}, {0, 1, 0}, {INT64_MAX, 1, 8}, {INT64_MIN, 1, 8}};
  for (size_t i = 0; i < sizeof(outside) / sizeof(*outside); ++i) {
    enter(f);
    pit_rt_check_bounds(f->frame, "a.mlir:1:2: memref.load", 3, outside[i][0],
                        outside[i][1], outside[i][2]);
    // The first one counts.
    pit_rt_check_bounds(f->frame, "there", 0, 9, 1, 9);
    char part[128];
    snprintf(part, sizeof(part),
             "out of bounds: a.mlir:1:2: memref.load: elements from %lld on, "
             "%lld of them, along dimension 3, which has %lld",
             (long long)outside[i][0], (long long)outside[i][1],
             (long long)outside[i][2]);
    check_error(f->context, pit_rt_leave(f->frame, PIT_OK), PIT_ERROR_INTERNAL,
                part);
  }
  // An earlier error stays, and a new call is a new one.
  enter(f);
  pit_rt_check_bounds(f->frame, "here", 0, 9, 1, 9);
  assert_int_equal(pit_rt_leave(f->frame, PIT_ERROR_SHAPE), PIT_ERROR_SHAPE);
  pit_rt_check_bounds(NULL, "here", 0, 9, 1, 9);
  enter(f);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
/// A call's memory is what it asked for, and its own.
static void test_poisoned(void **state) {
  fixture *f = *state;
  void *first, *second;
  assert_ok(f->context, pit_rt_alloc(f->frame, 100, &first));
  assert_ok(f->context, pit_rt_alloc(f->frame, 64, &second));
  assert_null(__asan_region_is_poisoned(first, 100));
  assert_null(__asan_region_is_poisoned(second, 64));
  assert_true(__asan_address_is_poisoned((char *)first + 104));
  assert_true(__asan_address_is_poisoned((char *)second - 1));
  assert_true(__asan_address_is_poisoned((char *)second + 64));
  assert_int_equal(pit_rt_leave(f->frame, PIT_OK), PIT_OK);
  assert_true(__asan_address_is_poisoned(first));
  enter(f);
  assert_ok(f->context, pit_rt_alloc(f->frame, 10, &second));
  assert_ptr_equal(first, second);
  assert_true(__asan_address_is_poisoned((char *)second + 16));
}

/// A smaller index does not show what a larger one left in its memory.
static void test_poisoned_index(void **state) {
  fixture *f = *state;
  uint8_t mask[64];
  int64_t shape[1] = {64};
  DLTensor tensor = tensor_of(mask, PIT_DTYPE_UINT, 8, 1, shape);
  pit_index_spec spec = {.rank = 1, .shape = {64}, .micro_tile = {1}};
  pit_index_builder *builder;
  const pit_index *index;
  assert_ok(f->context, pit_index_builder_create(f->context, &builder));
  for (int live = 64; live > 0; live -= 40) {
    for (int i = 0; i < 64; ++i)
      mask[i] = i < live;
    assert_ok(f->context, pit_index_build(builder, &spec, PIT_SOURCE_MASK,
                                          &tensor, NULL, &index));
    assert_int_equal(index->total, live);
    assert_null(__asan_region_is_poisoned((void *)index->ids, 4 * live));
  }
  assert_true(__asan_address_is_poisoned(index->ids + index->capacity));
  pit_index_builder_destroy(builder);
}
#define HAS_POISON
#endif
#endif

/// A place of a loop gets its memory again, and more as it needs more.
static void test_reallocate(void **state) {
  fixture *f = *state;
  pit_place one = {0}, two = {0};
  void *first, *memory, *turn[2];
  assert_ok(f->context, pit_rt_realloc(f->frame, 1000, 0, &one, &first));
  assert_int_equal((uintptr_t)first % 64, 0);
  for (int64_t bytes = 0; bytes <= 1000; bytes += 250) {
    assert_ok(f->context, pit_rt_realloc(f->frame, bytes, 0, &one, &memory));
    assert_ptr_equal(memory, first);
  }
  for (int i = 0; i < 2; ++i)
    assert_ok(f->context, pit_rt_realloc(f->frame, 1000, 1, &two, &turn[i]));
  assert_ptr_not_equal(turn[0], turn[1]);
  assert_ptr_not_equal(turn[0], first);
  for (int i = 0; i < 6; ++i) {
    assert_ok(f->context, pit_rt_realloc(f->frame, 900, 1, &two, &memory));
    assert_ptr_equal(memory, turn[i % 2]);
  }
  // What grows by one byte each time moves a few times only.
  int moves = 0;
  for (int64_t bytes = 1001; bytes < 100000; ++bytes) {
    void *before = first;
    assert_ok(f->context, pit_rt_realloc(f->frame, bytes, 0, &one, &first));
    memset(first, 1, (size_t)bytes);
    moves += first != before;
  }
  assert_in_range(moves, 1, 8);

  assert_int_equal(pit_rt_realloc(f->frame, -1, 0, &one, &memory),
                   PIT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(pit_rt_realloc(f->frame, 1, 0, NULL, &memory),
                   PIT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(pit_rt_realloc(NULL, 1, 0, &two, &memory),
                   PIT_ERROR_INVALID_ARGUMENT);
}

/// A place of a loop builds its index in the same memory; other builds have
/// memory of their own.
static void test_rebuild(void **state) {
  fixture *f = *state;
  pit_place place = {0};
  const pit_index *other, *first = NULL;
  assert_ok(f->context, pit_rt_build(f->frame, &f->build, &f->view,
                                     f->view.shape, NULL, NULL, &other));
  const int64_t total = other->total;
  for (int i = 0; i < 100; ++i) {
    f->x[0] = (float)(i % 2);
    assert_ok(f->context, pit_rt_build(f->frame, &f->build, &f->view,
                                       f->view.shape, NULL, &place, &f->index));
    assert_int_equal(f->index->total, total + i % 2);
    assert_ptr_not_equal(f->index, other);
    if (i > 0)
      assert_ptr_equal(f->index, first);
    first = f->index;
  }
  assert_int_equal(other->total, total);
  assert_int_equal(pit_rt_build(f->frame, &f->build, &f->view, f->view.shape,
                                NULL, &place, NULL),
                   PIT_ERROR_INVALID_ARGUMENT);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_alloc),      TEST(test_nested),         TEST(test_build),
      TEST(test_observe),    TEST(test_build_errors),   TEST(test_check_dim),
      TEST(test_workers),    TEST(test_check_bounds),   TEST(test_assert),
      TEST(test_reallocate), TEST(test_rebuild),
#ifdef HAS_POISON
      TEST(test_poisoned),   TEST(test_poisoned_index),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
