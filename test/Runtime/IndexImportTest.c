//===- IndexImportTest.c - Indices of the caller's arrays -----------------===//

#include "Reference.h"

#include <stdlib.h>
#include <string.h>

/// A sound index: X is 6x8, groups are 3 blocks of 2 rows, ids are columns.
typedef struct arrays {
  int32_t counts[3];
  int64_t offsets[3];
  int32_t ids[8];
  int32_t origin[8];
  pit_chunk chunks[4];
} arrays;

static const arrays sound = {
    .counts = {3, 0, 2},
    .offsets = {0, 3, 5},
    .ids = {1, 4, 7, 9, 9, 0, 2, 9},
    .chunks = {{0, 2, 0}, {0, 1, 2}, {2, 2, 5}},
};

typedef struct fixture {
  pit_context *context;
  arrays a;
  pit_index_spec spec;
  pit_index_arrays view;
  pit_index index;
} fixture;

static int set_up(void **state) {
  static fixture f;
  f = (fixture){.a = sound};
  assert_int_equal(pit_context_create(NULL, &f.context), PIT_OK);
  f.spec = (pit_index_spec){
      .rank = 2, .axis = 1, .shape = {6, 8}, .micro_tile = {2, 1}};
  f.view = (pit_index_arrays){.counts = f.a.counts,
                              .offsets = f.a.offsets,
                              .ids = f.a.ids,
                              .groups = 3,
                              .capacity = 8};
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  pit_context_destroy(((fixture *)*state)->context);
  return 0;
}

static void refuse(fixture *f, pit_status wanted, const char *part) {
  check_error(f->context,
              pit_index_import(f->context, &f->spec, &f->view, &f->index),
              wanted, part);
}

static void test_sound(void **state) {
  fixture *f = *state;
  f->view.origin = f->a.origin;
  f->view.chunks = f->a.chunks;
  f->view.num_chunks = 3;
  f->spec.chunk_size = 2;
  assert_ok(f->context,
            pit_index_import(f->context, &f->spec, &f->view, &f->index));
  assert_int_equal(f->index.groups, 3);
  assert_int_equal(f->index.extent, 7);
  assert_int_equal(f->index.total, 5);
  assert_int_equal(f->index.max_count, 3);
  assert_int_equal(f->index.capacity, 8);
  assert_int_equal(f->index.source, PIT_SOURCE_IMPORT);
  assert_ptr_equal(f->index.ids, f->a.ids);
  pit_index_arrays out;
  assert_ok(f->context, pit_index_export(f->context, &f->index, &out));
  assert_memory_equal(&out, &f->view, sizeof(out));
}

static void test_groups(void **state) {
  fixture *f = *state;
  f->view.groups = 2;
  refuse(f, PIT_ERROR_SHAPE,
         "index: the arrays have 2 groups; the shape gives 3");
  f->view.groups = 3;
  f->view.counts = NULL;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: counts is NULL; it must have 3 elements");
  f->view.counts = f->a.counts;
  f->view.offsets = NULL;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: offsets is NULL; it must have 3 elements");
  f->view.offsets = f->a.offsets;
  f->view.ids = NULL;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: ids is NULL; it must have 8 elements");
  f->view.ids = f->a.ids;
  f->view.capacity = -8;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: ids has -8 elements; it cannot have fewer than 0");
  f->view.capacity = 6;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: group 2 has 2 ids from position 5 on; they must lie within "
         "the capacity of 6");
  f->view.capacity = 8;
  f->a.offsets[0] = -1;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: group 0 has 3 ids from position -1 on");
  f->a.offsets[0] = INT64_MAX;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: group 0 has 3 ids from position 9223372036854775807 on");
  f->a.offsets[0] = 0;
  f->a.counts[1] = 9;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: group 1 has 9 ids; there can be 0 to 8");
  f->a.counts[1] = -1;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: group 1 has -1 ids; there can be 0 to 8");
}

static void test_ids(void **state) {
  fixture *f = *state;
  f->a.ids[6] = 8;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: id 1 of group 2 is 8; it must be in [0, 8)");
  f->a.ids[6] = -1;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT, "index: id 1 of group 2 is -1;");
  f->a.ids[6] = 2;
  f->a.ids[0] = 6;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: ids 0 and 1 of group 0 are 6 and 4; they must ascend");
  f->spec.flags = PIT_INDEX_UNORDERED;
  assert_ok(f->context,
            pit_index_import(f->context, &f->spec, &f->view, &f->index));
  f->a.ids[0] = 7;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: id 7 is in group 0 twice; it may be there once");
  f->a.ids[0] = 1;
  f->a.origin[5] = -2;
  f->view.origin = f->a.origin;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: origin 0 of group 2 is -2; it must not be negative");
}

static void test_positions(void **state) {
  fixture *f = *state;
  // Out of order, but disjoint.
  f->a.offsets[0] = 3;
  f->a.offsets[2] = 0;
  memcpy(f->a.ids, (int32_t[]){0, 2, 9, 1, 4, 7}, 6 * sizeof(int32_t));
  assert_ok(f->context,
            pit_index_import(f->context, &f->spec, &f->view, &f->index));
  assert_int_equal(f->index.extent, 6);
  f->a.offsets[2] = 4;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: position 4 of group 2 belongs to another group as well");
}

static void test_chunks(void **state) {
  fixture *f = *state;
  f->view.chunks = f->a.chunks;
  f->view.num_chunks = 3;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: chunk_size is 0, but there are chunks; it must be their size");
  f->spec.chunk_size = 2;
  f->view.chunks = NULL;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: chunk_size is 2, but chunks is NULL");
  f->view.num_chunks = 0;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: the work list ends after 0 chunks; group 0, id 0 is not in");
  f->view.chunks = f->a.chunks;
  f->view.num_chunks = 2;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: the work list ends after 2 chunks; group 2, id 0 is not in "
         "it");
  f->view.num_chunks = 4;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: the work list has 4 chunks; with chunk_size 2 it must have 3");
  f->view.num_chunks = -1;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: chunks has -1 elements; it cannot have fewer than 0");
  f->view.num_chunks = 3;
  f->a.chunks[1].live = 2;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "index: chunk 1 is {group 0, live 2, first 2}; with chunk_size 2 it "
         "must be {0, 1, 2}");
  // What was built of nothing has no list, and can be imported again.
  memset(f->a.counts, 0, sizeof(f->a.counts));
  f->view.chunks = NULL;
  f->view.num_chunks = 0;
  assert_ok(f->context,
            pit_index_import(f->context, &f->spec, &f->view, &f->index));
}

static void test_null(void **state) {
  fixture *f = *state;
  assert_int_equal(pit_index_import(NULL, &f->spec, &f->view, &f->index),
                   PIT_ERROR_INVALID_ARGUMENT);
  check_error(f->context,
              pit_index_import(f->context, &f->spec, NULL, &f->index),
              PIT_ERROR_INVALID_ARGUMENT, "index import: an argument is NULL");
  check_error(f->context, pit_index_export(f->context, &f->index, NULL),
              PIT_ERROR_INVALID_ARGUMENT, "index export: arrays is NULL");
  check_error(f->context, pit_index_statistics(f->context, &f->index, NULL),
              PIT_ERROR_INVALID_ARGUMENT, "statistics: stats is NULL");
  pit_index_stats stats;
  check_error(f->context, pit_index_statistics(f->context, NULL, &stats),
              PIT_ERROR_INVALID_ARGUMENT,
              "statistics: the index is NULL; it must be an index");
}

static void test_few_ids_of_many(void **state) {
  // The check takes a time of the order of what is there: with memory of all
  // possible ids cleared for each group it would take minutes.
  enum { GROUPS = 1 << 17, EXTENT = INT32_MAX };
  fixture *f = *state;
  int32_t *counts = malloc(GROUPS * sizeof(*counts));
  int64_t *offsets = malloc(GROUPS * sizeof(*offsets));
  int32_t *ids = malloc(2 * GROUPS * sizeof(*ids));
  assert_true(counts && offsets && ids);
  for (int64_t g = 0; g < GROUPS; ++g) {
    counts[g] = 2;
    offsets[g] = 2 * g;
    ids[2 * g] = EXTENT - 1 - (int32_t)g;
    ids[2 * g + 1] = 7;
  }
  f->spec = (pit_index_spec){.rank = 2,
                             .axis = 1,
                             .shape = {GROUPS, EXTENT},
                             .micro_tile = {1, 1},
                             .flags = PIT_INDEX_UNORDERED};
  f->view = (pit_index_arrays){.counts = counts,
                               .offsets = offsets,
                               .ids = ids,
                               .groups = GROUPS,
                               .capacity = 2 * GROUPS};
  assert_ok(f->context,
            pit_index_import(f->context, &f->spec, &f->view, &f->index));
  // What one group has is not met by the next.
  ids[2 * GROUPS - 2] = 7;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT, "id 7 is in group 131071 twice");
  free(counts);
  free(offsets);
  free(ids);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_sound),           TEST(test_groups), TEST(test_ids),
      TEST(test_positions),       TEST(test_chunks), TEST(test_null),
      TEST(test_few_ids_of_many),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
