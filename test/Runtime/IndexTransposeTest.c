//===- IndexTransposeTest.c - Where the ids of an index lie ---------------===//
//
// By hand, and what is refused; test/GPU/index_check.py compares random indices
// with numpy, here and on a device.
//
//===----------------------------------------------------------------------===//

#include "Reference.h"

/// X is 6x4: groups are columns, ids are rows. Row 1 is in groups 0, 2 and 3,
/// row 5 in group 2, row 0 in group 3.
static int64_t pairs[] = {2, 5, 0, 1, 3, 0, 3, 1, 2, 1};

static const pit_index_spec rows = {
    .rank = 2, .axis = 0, .shape = {6, 4}, .micro_tile = {1, 1}};

static void test_transpose(void **state) {
  builder_fixture *f = *state;
  int64_t shape[] = {5, 2};
  DLTensor data = tensor_of(pairs, PIT_DTYPE_INT, 64, 2, shape);
  assert_ok(f->context, pit_index_build(f->builder, &rows, PIT_SOURCE_BLOCKS,
                                        &data, NULL, &f->index));
  pit_index_builder *other;
  assert_ok(f->context, pit_index_builder_create(f->context, &other));
  const pit_index *t;
  assert_ok(f->context, pit_index_transpose(other, f->index, &t));
  assert_int_equal(t->rank, 2);
  assert_int_equal(t->axis, 1);
  assert_int_equal(t->shape[0], 6);
  assert_int_equal(t->shape[1], 5);
  assert_int_equal(t->groups, 6);
  assert_int_equal(t->total, 5);
  assert_int_equal(t->extent, 5);
  assert_int_equal(t->max_count, 3);
  assert_int_equal(t->source, PIT_SOURCE_INDEX);
  assert_null(t->origin);
  const int32_t counts[] = {1, 3, 0, 0, 0, 1}, ids[] = {3, 0, 1, 4, 2};
  const int64_t offsets[] = {0, 1, 4, 4, 4, 4};
  assert_memory_equal(t->counts, counts, sizeof(counts));
  assert_memory_equal(t->offsets, offsets, sizeof(offsets));
  assert_memory_equal(t->ids, ids, sizeof(ids));

  // Twice is the index again, with its groups as the matrix's columns.
  pit_index_builder *third;
  const pit_index *twice;
  assert_ok(f->context, pit_index_builder_create(f->context, &third));
  assert_ok(f->context, pit_index_transpose(third, t, &twice));
  assert_int_equal(twice->groups, 5);
  assert_int_equal(twice->total, 5);
  pit_index_builder_destroy(third);
  pit_index_builder_destroy(other);
}

static void test_gaps_and_nothing(void **state) {
  builder_fixture *f = *state;
  const int32_t counts[] = {1, 0, 2, 0}, ids[] = {9, 2, 9, 9, 0, 2};
  const int64_t offsets[] = {1, 0, 4, 6};
  const pit_index_arrays arrays = {.counts = counts,
                                   .offsets = offsets,
                                   .ids = ids,
                                   .groups = 4,
                                   .capacity = 6};
  pit_index index;
  const pit_index *t;
  assert_ok(f->context, pit_index_import(f->context, &rows, &arrays, &index));
  assert_ok(f->context, pit_index_transpose(f->builder, &index, &t));
  assert_int_equal(t->shape[1], 6);
  const int32_t lists[] = {4, 1, 5}, wanted[] = {1, 0, 2, 0, 0, 0};
  assert_memory_equal(t->counts, wanted, sizeof(wanted));
  assert_memory_equal(t->ids, lists, sizeof(lists));

  // No rows, and no groups.
  const int64_t shapes[][2] = {{0, 4}, {6, 0}};
  for (int i = 0; i < 2; ++i) {
    const int32_t none[] = {0, 0, 0, 0};
    pit_index_spec spec = rows;
    spec.shape[0] = shapes[i][0];
    spec.shape[1] = shapes[i][1];
    const pit_index_arrays empty = {.counts = none,
                                    .offsets = offsets,
                                    .ids = ids,
                                    .groups = shapes[i][1],
                                    .capacity = 6};
    assert_ok(f->context, pit_index_import(f->context, &spec, &empty, &index));
    assert_ok(f->context, pit_index_transpose(f->builder, &index, &t));
    assert_int_equal(t->groups, shapes[i][0]);
    assert_int_equal(t->total, 0);
  }
}

static void test_refused(void **state) {
  builder_fixture *f = *state;
  int64_t shape[] = {5, 2};
  DLTensor data = tensor_of(pairs, PIT_DTYPE_INT, 64, 2, shape);
  assert_ok(f->context, pit_index_build(f->builder, &rows, PIT_SOURCE_BLOCKS,
                                        &data, NULL, &f->index));
  const pit_index *t;
  check_error(f->context, pit_index_transpose(f->builder, f->index, &t),
              PIT_ERROR_INVALID_ARGUMENT, "another builder");
  check_error(f->context, pit_index_transpose(f->builder, NULL, &t),
              PIT_ERROR_INVALID_ARGUMENT, "NULL");
  check_error(f->context, pit_index_transpose(f->builder, f->index, NULL),
              PIT_ERROR_INVALID_ARGUMENT, "the place");
  assert_int_equal(pit_index_transpose(NULL, f->index, &t),
                   PIT_ERROR_INVALID_ARGUMENT);
  const int64_t words[48] = {0};
  check_error(f->context,
              pit_index_transpose(f->builder,
                                  (const pit_index *)(const void *)words, &t),
              PIT_ERROR_INVALID_ARGUMENT, "not an index");

  // The caller's arrays are checked again.
  int32_t ids[] = {0, 1};
  const int32_t counts[] = {1, 1, 0, 0};
  const int64_t offsets[] = {0, 1, 2, 2};
  const pit_index_arrays arrays = {.counts = counts,
                                   .offsets = offsets,
                                   .ids = ids,
                                   .groups = 4,
                                   .capacity = 2};
  pit_index index;
  assert_ok(f->context, pit_index_import(f->context, &rows, &arrays, &index));
  ids[1] = 6;
  check_error(f->context, pit_index_transpose(f->builder, &index, &t),
              PIT_ERROR_INVALID_ARGUMENT, "6");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BUILDER_TEST(test_transpose),
      BUILDER_TEST(test_gaps_and_nothing),
      BUILDER_TEST(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
