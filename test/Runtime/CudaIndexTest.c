//===- CudaIndexTest.c - What a build puts on a device --------------------===//
//
// Over the fake driver, which runs nothing: which kernels are started, and what
// the host knows. test/GPU/index_check.py checks what they compute.
//
//===----------------------------------------------------------------------===//

#include "Builds.h"
#include "CudaFixture.h"

#include <string.h>

enum { F16 = PIT_DTYPE_FLOAT | 16 << 8, I32 = 32 << 8, U8 = 1 | 8 << 8 };

typedef struct test_case {
  const char *name;
  pit_index_spec spec;
  pit_source source;
  int32_t dtype, rank; ///< of the data
  int64_t shape[PIT_MAX_RANK];
  int64_t offset; ///< of the data, in bytes
  // What is expected.
  int32_t launches;
  const char *last;
  unsigned blocks;  ///< of the last launch; 0: any
  int64_t capacity; ///< 0: groups * extent
} test_case;

static const test_case cases[] = {
    {"blocks of rows",
     {.rank = 2, .axis = 1, .shape = {4096, 4096}, .micro_tile = {32}},
     PIT_SOURCE_VALUES,
     F16,
     2,
     {4096, 4096},
     0,
     2,
     "pit_index_lists",
     128,
     0},
    {"whole rows",
     {.rank = 2, .axis = 0, .shape = {4096, 4096}},
     PIT_SOURCE_VALUES,
     F16,
     2,
     {4096, 4096},
     0,
     2,
     "pit_index_lists",
     1,
     0},
    {"dense",
     {.rank = 2,
      .axis = 1,
      .shape = {4096, 4096},
      .micro_tile = {32},
      .flags = PIT_INDEX_DENSE},
     PIT_SOURCE_VALUES,
     F16,
     2,
     {4096, 4096},
     0,
     3,
     "pit_index_lists",
     128,
     0},
    {"a smaller capacity",
     {.rank = 2,
      .axis = 1,
      .shape = {64, 64},
      .micro_tile = {32},
      .capacity = 100},
     PIT_SOURCE_VALUES,
     F16,
     2,
     {64, 64},
     0,
     3,
     "pit_index_lists",
     2,
     100},
    {"a work list",
     {.rank = 2,
      .axis = 1,
      .shape = {4096, 4096},
      .micro_tile = {32},
      .chunk_size = 64},
     PIT_SOURCE_VALUES,
     F16,
     2,
     {4096, 4096},
     0,
     3,
     "pit_index_place",
     0,
     0},
    {"no rows of many columns",
     {.rank = 2, .axis = 1, .shape = {0, 16480}, .micro_tile = {32}},
     PIT_SOURCE_VALUES,
     F16,
     2,
     {0, 16480},
     0,
     2,
     "pit_index_lists",
     1,
     0},
    {"rows that are not aligned",
     {.rank = 2, .axis = 1, .shape = {64, 64}, .micro_tile = {32}},
     PIT_SOURCE_VALUES,
     F16,
     2,
     {64, 64},
     2,
     2,
     "pit_index_lists",
     2,
     0},
    {"nothing",
     {.rank = 2, .axis = 1, .shape = {64, 0}, .micro_tile = {32}},
     PIT_SOURCE_VALUES,
     F16,
     2,
     {64, 0},
     0,
     2,
     "pit_index_lists",
     0,
     0},
    {"a long mask: its blocks count what is before them",
     {.rank = 1, .shape = {100000}},
     PIT_SOURCE_MASK,
     U8,
     1,
     {100000},
     0,
     2,
     "pit_index_lists",
     0,
     0},
    {"a longer mask: a launch counts for all blocks",
     {.rank = 1, .shape = {200000}},
     PIT_SOURCE_MASK,
     U8,
     1,
     {200000},
     0,
     3,
     "pit_index_lists",
     0,
     0},
    {"bits",
     {.rank = 2, .axis = 0, .shape = {64, 64}},
     PIT_SOURCE_MASK_BITS,
     U8,
     2,
     {64, 8},
     0,
     2,
     "pit_index_lists",
     1,
     0},
    {"lengths",
     {.rank = 3, .axis = 1, .shape = {4, 128, 64}, .micro_tile = {1}},
     PIT_SOURCE_LENGTHS,
     I32,
     1,
     {4},
     0,
     3,
     "pit_index_lists",
     4,
     0},
    {"routing",
     {.rank = 2, .axis = 0, .shape = {1000, 64}, .micro_tile = {0, 1}},
     PIT_SOURCE_ROUTING,
     I32,
     2,
     {1000, 4},
     0,
     2,
     "pit_index_lists",
     64,
     0},
    {"routing, dense: each slot lies in one group",
     {.rank = 2,
      .axis = 0,
      .shape = {1000, 64},
      .micro_tile = {0, 1},
      .flags = PIT_INDEX_DENSE},
     PIT_SOURCE_ROUTING,
     I32,
     2,
     {1000, 4},
     0,
     2,
     "pit_index_lists",
     64,
     4000},
    {"routing to windows that overlap",
     {.rank = 2,
      .axis = 0,
      .shape = {1000, 64},
      .micro_tile = {0, 2},
      .step = {0, 1},
      .flags = PIT_INDEX_DENSE},
     PIT_SOURCE_ROUTING,
     I32,
     2,
     {1000, 4},
     0,
     4,
     "pit_index_lists",
     63,
     0},
    {"blocks",
     {.rank = 2,
      .axis = 1,
      .shape = {64, 64},
      .micro_tile = {32},
      .flags = PIT_INDEX_DENSE},
     PIT_SOURCE_BLOCKS,
     I32,
     2,
     {10, 2},
     0,
     3,
     "pit_index_lists",
     2,
     10},
};

static DLTensor data_of(const test_case *c, void *memory, int64_t *shape) {
  memcpy(shape, c->shape, sizeof(c->shape));
  DLTensor tensor = cuda_tensor(memory, (uint8_t)c->dtype,
                                (uint8_t)(c->dtype >> 8), c->rank, shape);
  tensor.byte_offset = (uint64_t)c->offset;
  return tensor;
}

static void check_case(cuda_fixture *f, pit_index_builder *builder,
                       const test_case *c, void *memory) {
  int64_t shape[PIT_MAX_RANK];
  DLTensor data = data_of(c, memory, shape);
  const pit_index *index;
  int before = f->fake->launches;
  assert_ok(f->context,
            pit_index_build(builder, &c->spec, c->source, &data, NULL, &index));
  const fake_launch *last = &f->fake->last;
  if (f->fake->launches - before != c->launches ||
      strcmp(last->kernel, c->last) != 0 ||
      (c->blocks && last->blocks != c->blocks))
    fail_msg("%s: %d launches, the last %s with %u blocks", c->name,
             f->fake->launches - before, last->kernel, last->blocks);
  int64_t extent = c->spec.shape[c->spec.axis];
  int64_t capacity = c->capacity ? c->capacity : index->groups * extent;
  assert_int_equal(index->capacity, capacity);
  assert_int_equal(index->extent, capacity);
  assert_int_equal(index->total, capacity);
  assert_int_equal(index->max_count, extent);
  assert_int_equal(index->chunk_size, c->spec.chunk_size);
  assert_true(index->num_chunks >= 0 &&
              (index->num_chunks > 0) == (c->spec.chunk_size > 0));
  assert_true(index->flags & PIT_INDEX_DEVICE);
  assert_true(index->tag == PIT_INDEX_TAG);
  assert_true((index->flags & c->spec.flags) == c->spec.flags);
  assert_true(index->device_copy >= sizeof(pit_index));
  assert_true((index->origin != NULL) == (c->source == PIT_SOURCE_ROUTING));
}

static void test_launches(void **state) {
  cuda_fixture *f = *state;
  // Never read: only its address counts.
  _Alignas(16) static char memory[64];
  pit_index_builder *builder;
  assert_ok(f->context, pit_index_builder_create(f->context, &builder));
  int allocations = 0;
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i)
      check_case(f, builder, &cases[i], memory);
    // The second time, nothing is allocated.
    assert_true(round == 0 || f->fake->allocations == allocations);
    allocations = f->fake->allocations;
  }
  pit_index_builder_destroy(builder);
}

static void test_errors(void **state) {
  cuda_fixture *f = *state;
  static char memory[64];
  pit_index_builder *builder;
  assert_ok(f->context, pit_index_builder_create(f->context, &builder));
  const pit_index *index;
  int64_t shape[PIT_MAX_RANK];
  test_case c = cases[0];
  c.shape[1] = 4095;
  DLTensor data = data_of(&c, memory, shape);
  check_error(f->context,
              pit_index_build(builder, &c.spec, c.source, &data, NULL, &index),
              PIT_ERROR_SHAPE,
              "index: the tensor of values has shape 4096x4095; it must be "
              "4096x4096");
  assert_null(index);
  c = cases[0];
  c.spec.shape[0] = c.shape[0] = INT64_C(1) << 30;
  c.spec.micro_tile[0] = 1;
  data = data_of(&c, memory, shape);
  check_error(f->context,
              pit_index_build(builder, &c.spec, c.source, &data, NULL, &index),
              PIT_ERROR_UNSUPPORTED,
              "index: 1073741824 groups of 4096 ids; a device takes at most");
  c = cases[0];
  c.source = PIT_SOURCE_BLOCKS;
  data = data_of(&c, memory, shape);
  check_error(f->context,
              pit_index_build(builder, &c.spec, c.source, &data, NULL, &index),
              PIT_ERROR_DTYPE, "index: the block list has element type f16");
  // A kernel that may begin before the one before it has ended.
  cuda_fail(f, "cuLaunchKernelEx", 719, 0, 1);
  c = cases[0];
  data = data_of(&c, memory, shape);
  check_error(f->context,
              pit_index_build(builder, &c.spec, c.source, &data, NULL, &index),
              PIT_ERROR_DRIVER, "cuda: starting kernel 'pit_index_columns'");
  pit_index_builder_destroy(builder);
}

/// An index of a caller's arrays gets a copy in device memory.
static void test_import(void **state) {
  cuda_fixture *f = *state;
  _Alignas(16) static char memory[1024];
  // x: 4x6 f32, axis 1, micro-tiles of 2x1.
  pit_index_spec spec = {.rank = 2,
                         .axis = 1,
                         .shape = {4, 6},
                         .micro_tile = {2},
                         .flags = PIT_INDEX_DEVICE};
  pit_index_arrays arrays = {.counts = (const int32_t *)memory,
                             .offsets = (const int64_t *)(memory + 256),
                             .ids = (const int32_t *)(memory + 512),
                             .groups = 2,
                             .capacity = 12};
  pit_index index;
  assert_ok(f->context, pit_index_import(f->context, &spec, &arrays, &index));
  pit_frame *frame = cuda_enter(f, NULL);
  // The first question for its place makes it one, later ones do not.
  const pit_index *copy, *again;
  assert_ok(f->context, pit_rt_device_index(frame, &index, &copy));
  assert_int_equal(f->fake->launches, 1);
  assert_string_equal(f->fake->last.kernel, "pit_index_copy_head");
  assert_non_null(copy);
  assert_ptr_not_equal(copy, &index);
  assert_ok(f->context, pit_rt_device_index(frame, &index, &again));
  assert_ptr_equal(copy, again);
  assert_int_equal(f->fake->launches, 1);
  assert_int_equal(pit_rt_leave(frame, 0), 0);
}

/// Builds an index of a matrix of 96 rows, and packs.
static bool build_packed(cuda_fixture *f, const pit_build *build,
                         int64_t columns, int64_t rows) {
  _Alignas(16) static char memory[64];
  const pit_view view = view_of(memory, 96, columns);
  const pit_index *index = NULL;
  pit_packed packed = {memory, rows, -1};
  pit_frame *frame = cuda_enter(f, NULL);
  assert_ok(f->context,
            pit_rt_build_packed(frame, build, &view, &packed, NULL, &index));
  assert_non_null(index);
  assert_int_equal(index->micro_tile[0], build->micro_tile[0]);
  assert_int_equal(pit_rt_leave(frame, 0), 0);
  assert_true(packed.done == 0 || packed.done == 1);
  return packed.done;
}

/// Which builds pack, and by which kernels.
static void test_packed(void **state) {
  cuda_fixture *f = *state;
  pit_build build = build_of(16, 1, 32, 1);
  const int64_t room = 3 * 4096;
  assert_true(build_packed(f, &build, 4096, room));
  assert_int_equal(f->fake->launches, 2);
  assert_string_equal(f->fake->last.kernel, "pit_index_packed_32");
  assert_int_equal(f->fake->last.blocks, 3 * 4);
  assert_int_equal(f->fake->last.cluster, 4);
  // Without room for all.
  assert_false(build_packed(f, &build, 4096, room - 1));
  assert_string_equal(f->fake->last.kernel, "pit_index_lists");
  assert_true(build_packed(f, &build, 16384, 4 * room));
  assert_int_equal(f->fake->last.blocks, 3 * 8);
  assert_false(build_packed(f, &build, 16384 + 8, 5 * room));
  build = build_of(16, 1, 16, 1);
  assert_true(build_packed(f, &build, 4096, 2 * room));
  assert_string_equal(f->fake->last.kernel, "pit_index_packed_16");
  // Windows that overlap.
  build.step[0] = 8;
  assert_false(build_packed(f, &build, 4096, 4 * room));
  build = build_of(32, 1, 32, 1);
  assert_false(build_packed(f, &build, 4096, room));
}

/// Before sm_90 there are no clusters.
static void test_packed_before_sm_90(void **state) {
  cuda_fixture *f = *state;
  f->fake->capability_major = 8;
  assert_ok(NULL, cuda_create(f, 0, ""));
  const pit_build build = build_of(16, 1, 32, 1);
  assert_false(build_packed(f, &build, 4096, 3 * 4096));
  assert_string_equal(f->fake->last.kernel, "pit_index_lists");
}

/// What a runtime says that was built without the compiler.
static void test_without_code(void **state) {
  cuda_fixture *f = *state;
  static char memory[64];
  pit_index_builder *builder;
  assert_ok(f->context, pit_index_builder_create(f->context, &builder));
  const pit_index *index;
  int64_t shape[PIT_MAX_RANK];
  DLTensor data = data_of(&cases[0], memory, shape);
  check_error(f->context,
              pit_index_build(builder, &cases[0].spec, cases[0].source, &data,
                              NULL, &index),
              PIT_ERROR_UNSUPPORTED,
              "index: this runtime was built without the compiler, and so "
              "without device code");
  pit_index_builder_destroy(builder);
}

/// Passes an index of axis 1, micro-tiles of 2x1.
static int32_t pass_index(cuda_fixture *f, const pit_index *index) {
  // clang-format off
  const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0, .num_args = 1, .device = kDLCUDA, .values = (const pit_arg_info[]){{.kind = PIT_KIND_INDEX, .rank = 2, .axis = 1, .micro_tile = {2, 1}, .step = {2, 1}}}};
  // clang-format on
  const pit_value ins[] = {{.kind = PIT_KIND_INDEX, .index = index}};
  int64_t views[1];
  pit_frame *frame;
  int32_t status =
      pit_rt_enter(f->context, &manifest, ins, NULL, NULL, views, &frame);
  return status == PIT_OK ? pit_rt_leave(frame, PIT_OK) : status;
}

static void test_index_arguments(void **state) {
  cuda_fixture *f = *state;
  struct {
    char copy[512];
    int32_t counts[2];
    int64_t offsets[2];
    int32_t ids[12];
  } device = {0};
  pit_index_spec spec = {.rank = 2,
                         .axis = 1,
                         .shape = {4, 6},
                         .micro_tile = {2, 1},
                         .flags = PIT_INDEX_DEVICE};
  pit_index_arrays arrays = {.counts = device.counts,
                             .offsets = device.offsets,
                             .ids = device.ids,
                             .groups = 2,
                             .capacity = 12};
  pit_index index;
  assert_ok(f->context, pit_index_import(f->context, &spec, &arrays, &index));
  assert_int_equal(index.flags, PIT_INDEX_DEVICE);
  assert_int_equal(index.extent, 12);
  assert_int_equal(index.total, 12);
  assert_int_equal(index.max_count, 6);
  pit_index_stats stats;
  check_error(f->context, pit_index_statistics(f->context, &index, &stats),
              PIT_ERROR_UNSUPPORTED,
              "statistics: the index is in device memory");
  double waste;
  float x[24] = {0};
  int64_t shape[2] = {4, 6};
  DLTensor data = tensor_of(x, PIT_DTYPE_FLOAT, 32, 2, shape);
  check_error(f->context,
              pit_index_waste(f->context, &index, PIT_SOURCE_VALUES, &data,
                              NULL, &waste),
              PIT_ERROR_UNSUPPORTED, "waste: the index is in device memory");

  pit_frame *frame = cuda_enter(f, NULL);
  // One that a builder of the runtime has made knows where its copy is.
  index.device_copy = 512;
  assert_ok(f->context, pass_index(f, &index));
  const pit_index *copy;
  assert_ok(f->context, pit_rt_device_index(frame, &index, &copy));
  assert_ptr_equal(copy, &device);
  index.ids = NULL;
  check_error(f->context, pass_index(f, &index), PIT_ERROR_INVALID_ARGUMENT,
              "argument 0: ids is NULL; it must have 12 elements");
  index.ids = device.ids;
  index.groups = 3;
  check_error(f->context, pass_index(f, &index), PIT_ERROR_SHAPE,
              "argument 0: the index has 3 groups; its group_shape gives 2");
  index.groups = 2;
  index.flags = 0;
  check_error(f->context, pit_rt_device_index(frame, &index, &copy),
              PIT_ERROR_DEVICE,
              "index: its place in device memory was asked for, but its arrays "
              "are in the host's");
  check_error(f->context, pass_index(f, &index), PIT_ERROR_DEVICE,
              "argument 0 is an index with arrays in the memory of the host; "
              "the program runs on a CUDA device");
  pit_rt_leave(frame, 0);

  arrays.counts = NULL;
  check_error(f->context, pit_index_import(f->context, &spec, &arrays, &index),
              PIT_ERROR_INVALID_ARGUMENT,
              "index: counts is NULL; it must have 2 elements");
  pit_context *plain;
  assert_int_equal(pit_context_create(NULL, &plain), PIT_OK);
  check_error(plain, pit_index_import(plain, &spec, &arrays, &index),
              PIT_ERROR_DEVICE,
              "index: the arrays are in device memory, but the context was "
              "made without a device");
  data.device.device_type = kDLCUDA;
  pit_index_builder *builder;
  const pit_index *built;
  assert_ok(plain, pit_index_builder_create(plain, &builder));
  spec.flags = 0;
  check_error(
      plain,
      pit_index_build(builder, &spec, PIT_SOURCE_VALUES, &data, NULL, &built),
      PIT_ERROR_DEVICE,
      "index: data is on a device of type 2; it must be on the CPU");
  pit_index_builder_destroy(builder);
  pit_context_destroy(plain);
  assert_ok(f->context, pit_index_builder_create(f->context, &builder));
  data.device.device_id = 1;
  check_error(
      f->context,
      pit_index_build(builder, &spec, PIT_SOURCE_VALUES, &data, NULL, &built),
      PIT_ERROR_DEVICE, "index: data is on device 1; it must be on device 0");
  pit_index_builder_destroy(builder);
}

/// An index that a loop builds again takes the memory of the one before.
static void test_rebuild(void **state) {
  cuda_fixture *f = *state;
  enum { ROWS = 4096, COLUMNS = 4096 };
  const pit_build build = build_of(32, 1, 32, 1);
  pit_frame *frame = cuda_enter(f, f->stream());
  void *data;
  assert_ok(f->context, pit_rt_alloc(frame, ROWS * COLUMNS * 4L, &data));
  const pit_view view = view_of(data, ROWS, COLUMNS);
  const pit_index *index, *other;
  const void *seen[3] = {0};
  pit_place place = {0};
  for (int i = 0; i < 3; ++i) {
    assert_ok(f->context, pit_rt_build(frame, &build, &view, view.shape, NULL,
                                       &place, &index));
    seen[i] = index->ids;
  }
  assert_ptr_equal(seen[1], seen[2]);
  const size_t allocated = f->fake->allocated;
  for (int i = 0; i < 100; ++i)
    assert_ok(f->context, pit_rt_build(frame, &build, &view, view.shape, NULL,
                                       &place, &index));
  assert_int_equal(f->fake->allocated, allocated);
  assert_ptr_equal(index->ids, seen[1]);
  // Others have memory of their own.
  for (int i = 0; i < 3; ++i) {
    assert_ok(f->context, pit_rt_build(frame, &build, &view, view.shape, NULL,
                                       NULL, &other));
    assert_ptr_not_equal(other->ids, index->ids);
  }
  pit_rt_leave(frame, 0);
}

int main(void) {
  const struct CMUnitTest with_code[] = {
      CUDA_TEST(test_index_arguments),
      CUDA_TEST(test_launches),
      CUDA_TEST(test_errors),
      CUDA_TEST(test_import),
      CUDA_TEST(test_rebuild),
      CUDA_TEST(test_packed),
      cmocka_unit_test_setup_teardown(test_packed_before_sm_90,
                                      cuda_set_up_bare, cuda_tear_down),
  };
  const struct CMUnitTest without_code[] = {
      CUDA_TEST(test_index_arguments),
      CUDA_TEST(test_without_code),
  };
  return CUDA_DEVICE_CODE ? cmocka_run_group_tests(with_code, NULL, NULL)
                          : cmocka_run_group_tests(without_code, NULL, NULL);
}
