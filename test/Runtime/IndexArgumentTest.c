//===- IndexArgumentTest.c - Indices as arguments of calls ----------------===//

#include "Core/Internal.h"

#include "Reference.h"

#include <stdlib.h>
#include <string.h>

enum { F32 = PIT_DTYPE_FLOAT | 32 << 8, GROUPS = 3, ROOM = 12 };

/// f(x: 2x2 f32, i: index of axis 1, micro-tile 2x1)
static const pit_manifest manifest = {
    .version = PIT_MANIFEST_WORD0,
    .num_args = 2,
    .device = kDLCPU,
    .values = (const pit_arg_info[]){{.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                      .rank = 2,
                                      .dims = {2, 2}},
                                     {.kind = PIT_KIND_INDEX,
                                      .rank = 2,
                                      .axis = 1,
                                      .micro_tile = {2, 1},
                                      .step = {2, 1}}}};

typedef struct fixture {
  pit_context *context;
  int32_t counts[GROUPS], ids[ROOM], origin[ROOM];
  int64_t offsets[GROUPS];
  pit_chunk chunks[ROOM];
  pit_index index; ///< of the arrays: {1, 4, 5}, {}, {0, 2}
  pit_index_builder *builder;
  const pit_index *built;
  float x[4];
  int64_t x_shape[2];
  DLTensor x_tensor;
} fixture;

static const pit_index_spec spec = {
    .rank = 2, .axis = 1, .shape = {6, 6}, .micro_tile = {2, 1}};

static pit_status import(fixture *f, uint32_t flags) {
  pit_index_spec wanted = spec;
  wanted.flags = flags;
  pit_index_arrays arrays = {.counts = f->counts,
                             .offsets = f->offsets,
                             .ids = f->ids,
                             .origin = f->origin,
                             .groups = GROUPS,
                             .capacity = ROOM};
  return pit_index_import(f->context, &wanted, &arrays, &f->index);
}

static pit_status build(fixture *f, int32_t blocks[][2], int64_t count) {
  int64_t shape[2] = {count, 2};
  DLTensor list = tensor_of(blocks, PIT_DTYPE_INT, 32, 2, shape);
  return pit_index_build(f->builder, &spec, PIT_SOURCE_BLOCKS, &list, NULL,
                         &f->built);
}

static int set_up(void **state) {
  static fixture f;
  f = (fixture){.counts = {3, 0, 2},
                .offsets = {0, 3, 3},
                .ids = {1, 4, 5, 0, 2},
                .x_shape = {2, 2}};
  f.x_tensor = tensor_of(f.x, PIT_DTYPE_FLOAT, 32, 2, f.x_shape);
  assert_int_equal(pit_context_create(NULL, &f.context), PIT_OK);
  assert_ok(f.context, import(&f, 0));
  assert_ok(f.context, pit_index_builder_create(f.context, &f.builder));
  int32_t blocks[][2] = {{0, 1}, {0, 4}, {2, 5}};
  assert_ok(f.context, build(&f, blocks, 3));
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  pit_index_builder_destroy(f->builder);
  pit_context_destroy(f->context);
  return 0;
}

static int32_t call_with(fixture *f, pit_value x, pit_value index) {
  const pit_value ins[2] = {x, index};
  int64_t views[4];
  pit_frame *frame = (pit_frame *)f;
  int32_t status =
      pit_rt_enter(f->context, &manifest, ins, NULL, NULL, views, &frame);
  if (status != PIT_OK)
    assert_null(frame);
  else
    assert_int_equal(pit_rt_leave(frame, PIT_OK), PIT_OK);
  return status;
}

static int32_t call(fixture *f, const void *x, const void *index) {
  return call_with(f, pit_tensor_value(x), pit_index_value(index));
}

static void accept(fixture *f, const pit_index *index) {
  assert_ok(f->context, call(f, &f->x_tensor, index));
}

static void refuse(fixture *f, const void *index, pit_status wanted,
                   const char *part) {
  check_error(f->context, call(f, &f->x_tensor, index), wanted, part);
}

/// The caller may write its arrays between calls: each call looks.
static void test_arrays_change(void **state) {
  fixture *f = *state;
  const pit_index *index = &f->index;
  accept(f, index);
  f->ids[1] = 1000;
  refuse(f, index, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: id 1 of group 0 is 1000; it must be in [0, 6)");
  f->ids[1] = -1;
  refuse(f, index, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: id 1 of group 0 is -1; it must be in [0, 6)");
  f->ids[1] = 1;
  refuse(f, index, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: ids 0 and 1 of group 0 are 1 and 1; they must ascend");
  f->ids[1] = 3;
  accept(f, index);
  f->ids[2] = 6;
  refuse(f, index, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: id 2 of group 0 is 6; it must be in [0, 6)");
  f->ids[2] = 5;
  f->counts[0] = 100000;
  refuse(f, index, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: group 0 has 100000 ids; there can be 0 to 6");
  f->counts[0] = -1;
  refuse(f, index, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: group 0 has -1 ids; there can be 0 to 6");
  f->counts[0] = 2;
  refuse(f, index, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: the index has extent 5, total 5, max_count 3; its groups "
         "give 5, 4 and 2; indices of other counts have to be imported anew");
  f->counts[0] = 3;
  f->offsets[2] = ROOM - 1;
  refuse(f, index, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: group 2 has 2 ids from position 11 on; they must lie "
         "within the capacity of 12");
  f->offsets[2] = INT64_MIN;
  refuse(f, index, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: group 2 has 2 ids from position -9223372036854775808");
  f->offsets[2] = 1;
  refuse(f, index, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: position 1 of group 2 belongs to another group as well");
  f->offsets[2] = 3;
  f->origin[3] = -1;
  refuse(f, index, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: origin 0 of group 2 is -1; it must not be negative");
  f->origin[3] = 0;
  accept(f, index);
}

/// Ids in any order are those of an index that was imported so; they are
/// different all the same.
static void test_unordered(void **state) {
  fixture *f = *state;
  f->ids[0] = 5, f->ids[2] = 1;
  check_error(f->context, import(f, 0), PIT_ERROR_INVALID_ARGUMENT,
              "index: ids 0 and 1 of group 0 are 5 and 4; they must ascend");
  assert_ok(f->context, import(f, PIT_INDEX_UNORDERED));
  accept(f, &f->index);
  f->ids[1] = 5;
  refuse(f, &f->index, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: id 5 is in group 0 twice; it may be there once");
  f->ids[1] = 7;
  refuse(f, &f->index, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: id 1 of group 0 is 7; it must be in [0, 6)");
}

static void test_pointers(void **state) {
  fixture *f = *state;
  const pit_index sound = f->index;
  pit_index *index = &f->index;
#define REFUSE(member, value, status, part)                                    \
  do {                                                                         \
    index->member = (value);                                                   \
    refuse(f, index, (status), (part));                                        \
    *index = sound;                                                            \
  } while (0)
  REFUSE(ids, NULL, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: ids is NULL; it must have 12 elements");
  REFUSE(counts, NULL, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: counts is NULL; it must have 3 elements");
  REFUSE(offsets, NULL, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: offsets is NULL; it must have 3 elements");
  REFUSE(ids, (const int32_t *)((uintptr_t)f->ids + 1), PIT_ERROR_ALIGNMENT,
         "argument 1: ids is 1 bytes past a multiple of 4; it must be aligned "
         "to its element");
  REFUSE(offsets, (const int64_t *)((uintptr_t)f->offsets + 4),
         PIT_ERROR_ALIGNMENT,
         "argument 1: offsets is 4 bytes past a multiple of 8");
  REFUSE(origin, (const int32_t *)((uintptr_t)f->origin + 2),
         PIT_ERROR_ALIGNMENT,
         "argument 1: origin is 2 bytes past a multiple of 4");
  REFUSE(capacity, -1, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: ids has -1 elements; it cannot have fewer than 0");
  REFUSE(num_chunks, 1, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: chunks is NULL; it must have 1 elements");
#undef REFUSE
  accept(f, index);
}

/// Fields that do not belong together.
static void test_fields(void **state) {
  fixture *f = *state;
  const pit_index sound = f->index;
  pit_index *index = &f->index;
#define REFUSE(member, value, status, part)                                    \
  do {                                                                         \
    index->member = (value);                                                   \
    refuse(f, index, (status), (part));                                        \
    *index = sound;                                                            \
  } while (0)
  REFUSE(rank, 0, PIT_ERROR_SHAPE,
         "argument 1 is an index of axis 1 of rank 0; it must be of axis 1 of "
         "rank 2");
  REFUSE(rank, INT32_MAX, PIT_ERROR_SHAPE, "of rank 2147483647; it must");
  REFUSE(axis, -1, PIT_ERROR_SHAPE, "of axis -1 of rank 2; it must");
  REFUSE(micro_tile[0], 1, PIT_ERROR_SHAPE,
         "argument 1 is an index with micro_tile[0] = 1; it must be 2");
  REFUSE(shape[0], 12, PIT_ERROR_SHAPE,
         "argument 1: group_shape[0] of the index is 3; its other fields give "
         "6");
  REFUSE(shape[0], -1, PIT_ERROR_SHAPE,
         "index: dimension 0 is -1; it cannot be negative");
  REFUSE(shape[1], INT64_MAX, PIT_ERROR_UNSUPPORTED, "it can be at most 2^60");
  REFUSE(groups, 4, PIT_ERROR_SHAPE,
         "argument 1: the index has 4 groups; its group_shape gives 3");
  REFUSE(total, 4, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: the index has extent 5, total 4, max_count 3; its groups "
         "give 5, 5 and 3");
  REFUSE(extent, INT64_MAX, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: the index has extent 9223372036854775807");
  REFUSE(chunk_size, -1, PIT_ERROR_INVALID_ARGUMENT,
         "index: chunk_size is -1; it must be in");
  REFUSE(chunk_size, 2, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: the work list ends after 0 chunks");
  REFUSE(status, PIT_ERROR_CAPACITY, PIT_ERROR_CAPACITY,
         "argument 1: the index is not complete (status 8, capacity exceeded)");
  REFUSE(flags, PIT_INDEX_DEVICE, PIT_ERROR_DEVICE,
         "argument 1 is an index with arrays in the memory of a device");
#undef REFUSE
  accept(f, index);
}

/// What a builder made needs no check, until it is something else.
static void test_seal(void **state) {
  fixture *f = *state;
  accept(f, f->built);
  assert_true(pit_index_is_sealed(f->built));
  assert_false(pit_index_is_sealed(&f->index));
  // A copy is as good, but has to be looked at: its builder may build anew.
  pit_index copy = *f->built;
  assert_false(pit_index_is_sealed(&copy));
  accept(f, &copy);
  int32_t other[][2] = {{1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 5}};
  assert_ok(f->context, build(f, other, 5));
  assert_true(pit_index_is_sealed(f->built));
  accept(f, f->built);
  refuse(f, &copy, PIT_ERROR_INVALID_ARGUMENT, "argument 1: ");
  // Nobody may write the builder's index; if it happens, it shows.
  pit_index *altered = (pit_index *)(uintptr_t)f->built;
  int32_t ids[] = {0, 1, 2, 3, 600};
  altered->ids = ids;
  refuse(f, altered, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1: id 4 of group 1 is 600; it must be in [0, 6)");
  // After a build that failed there is no index.
  int32_t wrong[][2] = {{0, 6}};
  check_error(f->context, build(f, wrong, 1), PIT_ERROR_INVALID_ARGUMENT,
              "index: block 0 has id 6");
  refuse(f, altered, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1 is not an index; it must be one that pit_index_build or "
         "pit_index_import made");
}

/// Each in the place of the other, and neither.
static void test_confusion(void **state) {
  fixture *f = *state;
  // Where nothing lies behind it: a sanitizer sees what reads on.
  DLTensor *alone = malloc(sizeof(*alone));
  assert_non_null(alone);
  *alone = f->x_tensor;
  refuse(f, alone, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1 is not an index; it must be one that");
  free(alone);
  f->x_tensor.data = NULL;
  refuse(f, &f->x_tensor, PIT_ERROR_INVALID_ARGUMENT, "argument 0: its shape");
  f->x_tensor.data = f->x;
  const pit_index none = {0};
  refuse(f, &none, PIT_ERROR_INVALID_ARGUMENT, "argument 1 is not an index");
  refuse(f, (const char *)&f->index + 4, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1 is not an index");
  refuse(f, NULL, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1 is NULL; it must be an index");
  const pit_value tensor = pit_tensor_value(&f->x_tensor);
  const pit_value index_value = pit_index_value(&f->index);
  check_error(f->context, call_with(f, index_value, index_value),
              PIT_ERROR_INVALID_ARGUMENT,
              "argument 0 is an index; it must be a tensor");
  check_error(f->context, call_with(f, tensor, tensor),
              PIT_ERROR_INVALID_ARGUMENT,
              "argument 1 is a tensor; it must be an index");
  const pit_value odd = {.kind = PIT_KIND_SCALAR, .tensor = &f->x_tensor};
  check_error(f->context, call_with(f, odd, index_value),
              PIT_ERROR_INVALID_ARGUMENT,
              "argument 0 has kind 2; it must be a tensor (PIT_KIND_TENSOR) or "
              "an index (PIT_KIND_INDEX)");
  check_error(f->context, call(f, (const char *)&f->x_tensor + 2, &f->index),
              PIT_ERROR_INVALID_ARGUMENT,
              "argument 0 is not the address of a DLTensor");
  pit_index_arrays arrays;
  const pit_index *index = (const pit_index *)(const void *)&f->x_tensor;
  check_error(f->context, pit_index_export(f->context, index, &arrays),
              PIT_ERROR_INVALID_ARGUMENT,
              "index export: the index is not an index; it must be one that");
  pit_index_stats stats;
  check_error(f->context, pit_index_statistics(f->context, index, &stats),
              PIT_ERROR_INVALID_ARGUMENT,
              "statistics: the index is not an index; it must be one that");
  double waste;
  check_error(f->context,
              pit_index_waste(f->context, index, PIT_SOURCE_VALUES,
                              &f->x_tensor, NULL, &waste),
              PIT_ERROR_INVALID_ARGUMENT,
              "waste: the index is not an index; it must be one that");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_arrays_change), TEST(test_unordered), TEST(test_pointers),
      TEST(test_fields),        TEST(test_seal),      TEST(test_confusion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
