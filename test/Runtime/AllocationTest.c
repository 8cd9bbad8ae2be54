//===- AllocationTest.c - The steady state allocates nothing --------------===//
//
// Counts every allocation of the process by standing in for the C library's
// functions, which glibc permits and the sanitizers do not.
//
//===----------------------------------------------------------------------===//

#include "Builds.h"

#include "CudaFixture.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static _Atomic int64_t allocations;
/// Which allocation finds no memory; 0: none does.
static _Atomic int64_t failing;

static bool has_memory(void) { return ++allocations != failing; }

void *malloc(size_t size) { return has_memory() ? __libc_malloc(size) : NULL; }

void *calloc(size_t count, size_t size) {
  return has_memory() ? __libc_calloc(count, size) : NULL;
}

void *realloc(void *old, size_t size) {
  return has_memory() ? __libc_realloc(old, size) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size) {
  return has_memory() ? __libc_memalign(alignment, size) : NULL;
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  ++allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}

enum { ROWS = 512, COLUMNS = 2048, WARM_UP = 3, ROUNDS = 20 };

static float x[ROWS * COLUMNS];

static void draw(rng *r) {
  double live_fraction = rng_unit(r);
  for (int64_t i = 0; i < (int64_t)ROWS * COLUMNS; ++i)
    x[i] = rng_unit(r) < live_fraction ? 1 : 0;
}

static void test_builder(void **state) {
  (void)state;
  pit_context_options options = {.threads = 2};
  pit_context *context;
  pit_index_builder *builder;
  assert_int_equal(pit_context_create(&options, &context), PIT_OK);
  assert_ok(context, pit_index_builder_create(context, &builder));
  assert_ok(context, pit_context_set_stats(context, PIT_STATS_WASTE));
  int64_t shape[2] = {ROWS, COLUMNS};
  DLTensor tensor = tensor_of(x, PIT_DTYPE_FLOAT, 32, 2, shape);
  pit_index_spec spec = {.rank = 2,
                         .axis = 1,
                         .shape = {ROWS, COLUMNS},
                         .micro_tile = {4, 1},
                         .chunk_size = 16};
  rng r = {7};
  int64_t before = allocations;
  for (int round = 0; round < WARM_UP + ROUNDS; ++round) {
    draw(&r);
    if (round == WARM_UP) {
      // The counting works: the first rounds did allocate.
      assert_true(allocations > before);
      before = allocations;
    }
    const pit_index *index;
    assert_ok(context, pit_index_build(builder, &spec, PIT_SOURCE_VALUES,
                                       &tensor, NULL, &index));
    const pit_bitmap *bitmap;
    pit_index_spec candidates[32];
    pit_live_fraction live_fractions[32];
    int32_t count = pit_live_fraction_candidates(2, shape, candidates, 32);
    assert_in_range(count, 1, 32);
    assert_ok(context, pit_bitmap_build(builder, 2, shape, PIT_SOURCE_VALUES,
                                        &tensor, NULL, &bitmap));
    assert_ok(context, pit_bitmap_live_fractions(builder, bitmap, candidates,
                                                 count, live_fractions));
    assert_ok(context, pit_index_from_bitmap(builder, &spec, bitmap, &index));
  }
  assert_int_equal(allocations - before, 0);
  pit_index_builder_destroy(builder);
  pit_context_destroy(context);
}

static void test_call(void **state) {
  (void)state;
  static const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                        .device = kDLCPU};
  const pit_build build = build_of(32, 0, 1, 32);
  pit_variants variants =
      variants_of(build_of(32, 1, 1, 1), build_of(32, 1, 32, 1));
  variants.flags = PIT_CHOOSE_DETERMINISTIC;
  const pit_view view = view_of(x, ROWS, COLUMNS);
  pit_context *context;
  assert_int_equal(pit_context_create(NULL, &context), PIT_OK);
  rng r = {8};
  int64_t before = allocations;
  for (int round = 0; round < WARM_UP + ROUNDS; ++round) {
    draw(&r);
    if (round == WARM_UP) {
      // The counting works: the first rounds did allocate.
      assert_true(allocations > before);
      before = allocations;
    }
    pit_frame *frame;
    assert_ok(context,
              pit_rt_enter(context, &manifest, NULL, NULL, NULL, NULL, &frame));
    static const pit_cost costs[] = {{1e5, 0, 0}, {0, 1, 0}, {0, 10, 0}};
    const pit_bitmap *bitmap;
    const pit_index *chosen;
    int32_t variant;
    assert_ok(context, pit_rt_choose(frame, &variants, &view, costs, NULL,
                                     &bitmap, &variant));
    assert_non_null(bitmap);
    assert_ok(context, pit_rt_build(frame, &build, &view, view.shape, bitmap,
                                    NULL, &chosen));
    for (int i = 0; i < 6; ++i) {
      const pit_index *index;
      void *memory;
      assert_ok(context, pit_rt_build(frame, &build, &view, view.shape, NULL,
                                      NULL, &index));
      // Sizes differ from call to call, up to some 300 KB.
      assert_ok(
          context,
          pit_rt_alloc(frame, (i + 1) * rng_range(&r, 10000, 50000), &memory));
    }
    // The first calls meet the largest sizes.
    void *memory;
    if (round < WARM_UP)
      assert_ok(context, pit_rt_alloc(frame, 1 << 21, &memory));
    assert_int_equal(pit_rt_leave(frame, 0), 0);
  }
  assert_int_equal(allocations - before, 0);
  pit_context_destroy(context);
}

/// A call that packs a constant, and lists its columns.
static pit_status call_on_constant(pit_context *context) {
  static const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                        .device = kDLCPU};
  static const int64_t layout[] = {1, 5};
  const pit_build build = build_of(32, 1, 4, 1);
  const pit_view view = view_of(x, 4, 64);
  pit_frame *frame;
  int32_t status =
      pit_rt_enter(context, &manifest, NULL, NULL, NULL, NULL, &frame);
  if (status != PIT_OK)
    return (pit_status)status;
  void *memory;
  int32_t state;
  status = pit_rt_keep(frame, x, sizeof(x), layout, 100000, 1, &memory, &state);
  if (status == PIT_OK) {
    if (state != PIT_KEEP_READY)
      *(int *)memory = 7;
    pit_rt_kept(frame, memory);
    assert_int_equal(*(int *)memory, 7);
  }
  const pit_index *index;
  if (status == PIT_OK)
    status = pit_rt_build(frame, &build, &view, view.shape, NULL, NULL, &index);
  if (status == PIT_OK)
    assert_int_equal(index->total, 2);
  return (pit_status)pit_rt_leave(frame, status);
}

/// Of what a constant's call allocates, one after the other finds no memory.
static void test_constant(void **state) {
  (void)state;
  memset(x, 0, sizeof(x));
  x[3] = x[9] = 1;
  int64_t shape[2] = {ROWS, COLUMNS};
  DLTensor tensor = tensor_of(x, PIT_DTYPE_FLOAT, 32, 2, shape);
  int32_t failures = 0, kept = 0;
  for (int64_t nth = 1; nth <= 40; ++nth) {
    pit_context *context;
    pit_constant *constant;
    assert_int_equal(pit_context_create(NULL, &context), PIT_OK);
    failing = allocations + nth;
    pit_status status = pit_constant_create(context, &tensor, &constant);
    if (status != PIT_OK) {
      check_error(context, status, PIT_ERROR_OUT_OF_MEMORY, "a constant");
      assert_null(constant);
      ++failures;
    }
    status = call_on_constant(context);
    assert_true(status == PIT_OK || status == PIT_ERROR_OUT_OF_MEMORY);
    failures += status != PIT_OK;
    failing = 0;
    int64_t before = 0;
    for (int round = 0; round < WARM_UP + ROUNDS; ++round) {
      if (round == WARM_UP)
        before = allocations;
      assert_ok(context, call_on_constant(context));
    }
    assert_int_equal(allocations - before, 0);
    pit_kept_stats stats;
    pit_context_kept(context, &stats);
    assert_int_equal(stats.pieces, 2 * stats.constants);
    kept += stats.pieces == 2;
    pit_constant_destroy(constant);
    pit_context_destroy(context);
  }
  // Of a constant two, of a call some at least; then there is enough.
  assert_in_range(failures, 3, 30);
  assert_int_equal(kept, 38);
}

/// Nothing on the host, nor on the device.
static void test_device_call(void **state) {
  cuda_fixture *f = *state;
  const pit_image image = {" k ", 4};
  void *streams[] = {f->stream(), f->stream()};
  f->fake->events_pending = 1;
  int64_t before = 0;
  int device_before = 0;
  for (int round = 0; round < WARM_UP + ROUNDS; ++round) {
    if (round == WARM_UP) {
      before = allocations;
      device_before = f->fake->allocations;
    }
    pit_frame *frame = cuda_enter(f, streams[round % 2]);
    void *memory;
    for (int i = 0; i < 6; ++i)
      assert_ok(f->context, pit_rt_alloc(frame, 700000 * i, &memory));
    void *params[] = {&memory};
    assert_ok(f->context,
              pit_rt_launch(frame, &(pit_kernel){&image, "k", 32, 0, 0, 0}, 1,
                            1, params));
    assert_int_equal(pit_rt_leave(frame, 0), 0);
  }
  assert_int_equal(allocations - before, 0);
  assert_true(device_before > 0);
  assert_int_equal(f->fake->allocations, device_before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_builder),
      cmocka_unit_test(test_call),
      cmocka_unit_test(test_constant),
      CUDA_TEST(test_device_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
