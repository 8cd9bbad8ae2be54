//===- LiveFractionsTest.c - Bitmaps, live fraction, indices of bitmaps ---===//
//
//   LiveFractionsTest [COUNT [SEED]]
//
// Random cases against the reference with every kernel table that this CPU
// runs, one and several threads. A failing case prints its seed; run it again
// with COUNT 1.
//
//===----------------------------------------------------------------------===//

#include "Core/Internal.h"
#include "RandomSuite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_bits(const selected *x, const pit_bitmap *bitmap) {
  int64_t n = x->shape[x->rank - 1];
  assert_int_equal(bitmap->rank, x->rank);
  assert_int_equal(bitmap->row_words, (n + 63) / 64);
  assert_int_equal(bitmap->rows * n, x->elements);
  for (int64_t r = 0; r < bitmap->rows; ++r)
    for (int64_t j = 0; j < bitmap->row_words * 64; ++j) {
      uint64_t bit = bitmap->words[r * bitmap->row_words + j / 64] >> j % 64;
      assert_int_equal(bit & 1, j < n ? x->bytes[r * n + j] : 0);
    }
}

static void check_live_fractions(const pit_index_spec *spec, const selected *x,
                                 const pit_live_fraction *live_fraction) {
  pit_live_fraction wanted = reference_live_fraction(spec, x);
  assert_int_equal(live_fraction->groups, wanted.groups);
  assert_int_equal(live_fraction->micro_tiles, wanted.micro_tiles);
  assert_int_equal(live_fraction->live, wanted.live);
  assert_int_equal(live_fraction->max_count, wanted.max_count);
  assert_true(fabs(live_fraction->live_fraction - wanted.live_fraction) <
              1e-12);
}

/// The case's own micro-tile, some that the runtime proposes, and random ones.
static int32_t some_candidates(test_case *c, pit_index_spec *specs,
                               int32_t room) {
  enum { MAX = 512 };
  static pit_index_spec proposed[MAX];
  int32_t found =
      pit_live_fraction_candidates(c->spec.rank, c->spec.shape, proposed, MAX);
  assert_in_range(found, 1, MAX);
  int32_t count = 0;
  specs[count++] = c->spec;
  // All of the first ones: each is part of the next.
  bool in_order = rng_range(&c->r, 0, 1);
  while (count < room) {
    pit_index_spec spec = c->spec;
    if (in_order && count <= found)
      spec = proposed[count - 1];
    else if (rng_range(&c->r, 0, 1))
      spec = proposed[rng_range(&c->r, 0, found - 1)];
    else if (random_micro_tile(&c->r, &spec) > 400000)
      continue;
    specs[count++] = spec;
  }
  return count;
}

static void run_case(pit_context *context, pit_index_builder *builder,
                     uint64_t seed) {
  enum { CANDIDATES = 12 };
  test_case c;
  random_case(context, &c, seed, /*with_blocks=*/false);
  const void *background = c.has_background ? &c.background : NULL;
  const pit_bitmap *bitmap = NULL;
  assert_ok(context, pit_bitmap_build(builder, c.spec.rank, c.spec.shape,
                                      c.source, &c.data, background, &bitmap));
  assert_int_equal(bitmap->source, c.source);
  check_bits(&c.x, bitmap);

  pit_index_spec specs[CANDIDATES];
  pit_live_fraction live_fractions[CANDIDATES];
  int32_t count = some_candidates(&c, specs, CANDIDATES);
  assert_ok(context, pit_bitmap_live_fractions(builder, bitmap, specs, count,
                                               live_fractions));
  for (int32_t i = 0; i < count; ++i)
    check_live_fractions(&specs[i], &c.x, &live_fractions[i]);

  for (int32_t i = 0; i < 3; ++i) {
    const pit_index *index = NULL;
    assert_ok(context,
              pit_index_from_bitmap(builder, &specs[i], bitmap, &index));
    assert_int_equal(index->source, c.source);
    check_index(&specs[i], &c.x, index, /*origin=*/false);
    assert_int_equal(index->total, live_fractions[i].live);
    assert_int_equal(index->max_count, live_fractions[i].max_count);
  }
  // The bitmap is still what it was.
  check_bits(&c.x, bitmap);
  free_case(&c);
}

//===----------------------------------------------------------------------===//
// Cases by hand
//===----------------------------------------------------------------------===//

/// Columns and rows with more ones than a few bits count.
static void test_long_groups(void **state) {
  builder_fixture *f = *state;
  enum { ROWS = 70001, COLUMNS = 71 };
  uint8_t *mask = calloc(ROWS * COLUMNS, 1);
  // Column j has its first ROWS - 1000 j ones, as far as there are any.
  int64_t live = 0;
  for (int64_t r = 0; r < ROWS; ++r)
    for (int64_t j = 0; j < COLUMNS; ++j) {
      mask[r * COLUMNS + j] = r < ROWS - 1000 * j;
      live += mask[r * COLUMNS + j];
    }
  int64_t shape[2] = {ROWS, COLUMNS};
  DLTensor tensor = tensor_of(mask, PIT_DTYPE_UINT, 8, 2, shape);
  const pit_bitmap *bitmap;
  assert_ok(f->context, pit_bitmap_build(f->builder, 2, shape, PIT_SOURCE_MASK,
                                         &tensor, NULL, &bitmap));
  pit_index_spec specs[] = {
      {.rank = 2, .axis = 0, .shape = {ROWS, COLUMNS}, .micro_tile = {1, 1}},
      {.rank = 2, .axis = 1, .shape = {ROWS, COLUMNS}, .micro_tile = {1, 1}},
      {.rank = 2, .axis = 0, .shape = {ROWS, COLUMNS}, .micro_tile = {1, 0}},
      {.rank = 2, .axis = 1, .shape = {ROWS, COLUMNS}, .micro_tile = {0, 1}},
      {.rank = 2, .axis = 0, .shape = {ROWS, COLUMNS}, .micro_tile = {1, 70}},
  };
  pit_live_fraction c[5];
  assert_ok(f->context,
            pit_bitmap_live_fractions(f->builder, bitmap, specs, 5, c));
  assert_int_equal(c[0].live, live);
  assert_int_equal(c[0].max_count, ROWS);
  assert_int_equal(c[0].groups, COLUMNS);
  assert_int_equal(c[1].live, live);
  assert_int_equal(c[1].max_count, COLUMNS);
  assert_int_equal(c[2].live, ROWS);
  assert_int_equal(c[2].max_count, ROWS);
  assert_int_equal(c[3].live, COLUMNS);
  assert_int_equal(c[3].groups, 1);
  assert_int_equal(c[4].live, ROWS + 1);
  assert_int_equal(c[4].groups, 2);
  free(mask);
}

static void test_candidates(void **state) {
  (void)state;
  pit_index_spec specs[32];
  assert_int_equal(
      pit_live_fraction_candidates(2, (int64_t[]){599, 512}, specs, 32), 18);
  assert_int_equal(specs[0].axis, 1);
  assert_int_equal(specs[7].micro_tile[0], 128);
  assert_int_equal(specs[8].micro_tile[0], 0);
  assert_int_equal(specs[8].micro_tile[1], 1);
  assert_int_equal(specs[9].axis, 0);
  assert_int_equal(specs[17].micro_tile[1], 0);
  assert_int_equal(specs[17].shape[1], 512);
  // A size that covers the dimension is the whole one.
  assert_int_equal(
      pit_live_fraction_candidates(2, (int64_t[]){2, 5}, specs, 32), 2 + 4);
  assert_int_equal(pit_live_fraction_candidates(1, (int64_t[]){5}, specs, 32),
                   1);
  assert_int_equal(pit_live_fraction_candidates(2, (int64_t[]){0, 1}, NULL, 0),
                   2);
  // Of 3 dimensions: one along each of two others, and squares of both.
  specs[1].rank = 77;
  assert_int_equal(
      pit_live_fraction_candidates(3, (int64_t[]){4, 4, 4}, specs, 1),
      3 * (1 + 2 * 2 + 1));
  assert_int_equal(specs[1].rank, 77);
  assert_int_equal(pit_live_fraction_candidates(0, (int64_t[]){4}, specs, 1),
                   0);
  assert_int_equal(pit_live_fraction_candidates(9, (int64_t[]){4}, specs, 1),
                   0);
  assert_int_equal(pit_live_fraction_candidates(1, NULL, specs, 1), 0);
}

/// Words that somebody else wrote.
static void test_own_words(void **state) {
  builder_fixture *f = *state;
  uint64_t words[] = {0x5, 0x3F, 0, 0x20};
  pit_bitmap bitmap = {.words = words,
                       .rows = 2,
                       .row_words = 2,
                       .rank = 2,
                       .source = PIT_SOURCE_IMPORT,
                       .shape = {2, 70}};
  pit_index_spec spec = {
      .rank = 2, .axis = 1, .shape = {2, 70}, .micro_tile = {2, 1}};
  pit_live_fraction live_fraction;
  const pit_index *index;
  assert_ok(f->context, pit_bitmap_live_fractions(f->builder, &bitmap, &spec, 1,
                                                  &live_fraction));
  assert_int_equal(live_fraction.live, 8);
  assert_ok(f->context,
            pit_index_from_bitmap(f->builder, &spec, &bitmap, &index));
  assert_memory_equal(index->ids, ((int32_t[]){0, 2, 64, 65, 66, 67, 68, 69}),
                      32);
  assert_int_equal(index->source, PIT_SOURCE_IMPORT);
  assert_ok(f->context,
            pit_bitmap_live_fractions(f->builder, &bitmap, NULL, 0, NULL));

  words[3] = UINT64_C(1) << 6;
  check_error(
      f->context,
      pit_bitmap_live_fractions(f->builder, &bitmap, &spec, 1, &live_fraction),
      PIT_ERROR_INVALID_ARGUMENT,
      "bitmap: bit 70 of row 1 is set; rows end at 70, and the bits "
      "past that must be 0");
  check_error(f->context,
              pit_index_from_bitmap(f->builder, &spec, &bitmap, &index),
              PIT_ERROR_INVALID_ARGUMENT, "bitmap: bit 70 of row 1 is set");
  assert_null(index);
  words[3] = 0;

  pit_bitmap wrong = bitmap;
  wrong.row_words = 1;
  check_error(
      f->context,
      pit_bitmap_live_fractions(f->builder, &wrong, &spec, 1, &live_fraction),
      PIT_ERROR_SHAPE, "bitmap: 2 rows of 1 words; its shape has 2 of 2");
  wrong = bitmap;
  wrong.words = NULL;
  check_error(
      f->context,
      pit_bitmap_live_fractions(f->builder, &wrong, &spec, 1, &live_fraction),
      PIT_ERROR_ALIGNMENT, "bitmap: the words are at");
  wrong = bitmap;
  wrong.rank = 9;
  check_error(
      f->context,
      pit_bitmap_live_fractions(f->builder, &wrong, &spec, 1, &live_fraction),
      PIT_ERROR_SHAPE, "bitmap: rank 9; ranks 1 to 8 are supported");
  wrong = bitmap;
  wrong.shape[0] = -1;
  check_error(
      f->context,
      pit_bitmap_live_fractions(f->builder, &wrong, &spec, 1, &live_fraction),
      PIT_ERROR_SHAPE, "bitmap: dimension 0 is -1");
  wrong = bitmap;
  for (int32_t source = 7; source <= 9; ++source) {
    char part[64];
    snprintf(part, sizeof(part), "bitmap: there is none of source %d", source);
    wrong.source = source;
    check_error(
        f->context,
        pit_bitmap_live_fractions(f->builder, &wrong, &spec, 1, &live_fraction),
        PIT_ERROR_INVALID_ARGUMENT, part);
  }
}

static void test_errors(void **state) {
  builder_fixture *f = *state;
  float x[12] = {[3] = 1};
  int64_t shape[2] = {3, 4};
  DLTensor tensor = tensor_of(x, PIT_DTYPE_FLOAT, 32, 2, shape);
  const pit_bitmap *bitmap;
  check_error(f->context,
              pit_bitmap_build(f->builder, 0, shape, PIT_SOURCE_VALUES, &tensor,
                               NULL, &bitmap),
              PIT_ERROR_SHAPE, "bitmap: rank 0; ranks 1 to 8 are supported");
  assert_null(bitmap);
  check_error(f->context,
              pit_bitmap_build(f->builder, 2, (int64_t[]){3, 5},
                               PIT_SOURCE_VALUES, &tensor, NULL, &bitmap),
              PIT_ERROR_SHAPE, "has shape 3x4; it must be 3x5");
  check_error(f->context,
              pit_bitmap_build(f->builder, 2, (int64_t[]){-3, 4},
                               PIT_SOURCE_VALUES, &tensor, NULL, &bitmap),
              PIT_ERROR_SHAPE, "bitmap: dimension 0 is -3");
  check_error(f->context,
              pit_bitmap_build(f->builder, 2, NULL, PIT_SOURCE_VALUES, &tensor,
                               NULL, &bitmap),
              PIT_ERROR_INVALID_ARGUMENT, "bitmap: the shape is NULL");
  check_error(f->context,
              pit_bitmap_build(f->builder, 3,
                               (int64_t[]){INT64_MAX / 2, INT64_MAX / 2, 1},
                               PIT_SOURCE_VALUES, &tensor, NULL, &bitmap),
              PIT_ERROR_SHAPE, "are more than 63 bits count");
  int32_t pairs[2] = {0, 0};
  int64_t pairs_shape[2] = {1, 2};
  DLTensor blocks = tensor_of(pairs, PIT_DTYPE_INT, 32, 2, pairs_shape);
  check_error(f->context,
              pit_bitmap_build(f->builder, 2, shape, PIT_SOURCE_BLOCKS, &blocks,
                               NULL, &bitmap),
              PIT_ERROR_INVALID_ARGUMENT,
              "bitmap: the source is a list of blocks");
  int32_t lengths[3] = {0, 5, 1};
  int64_t lengths_shape[1] = {3};
  DLTensor long_rows = tensor_of(lengths, PIT_DTYPE_INT, 32, 1, lengths_shape);
  check_error(f->context,
              pit_bitmap_build(f->builder, 2, shape, PIT_SOURCE_ROW_LENGTHS,
                               &long_rows, NULL, &bitmap),
              PIT_ERROR_INVALID_ARGUMENT,
              "bitmap: the source is lengths of the rows of a batch");
  check_error(f->context,
              pit_bitmap_build(f->builder, 2, shape, PIT_SOURCE_LENGTHS,
                               &long_rows, NULL, &bitmap),
              PIT_ERROR_INVALID_ARGUMENT, "is 5; it must be in [0, 4]");
  check_error(f->context,
              pit_bitmap_build(f->builder, 2, shape, PIT_SOURCE_VALUES, &tensor,
                               NULL, NULL),
              PIT_ERROR_INVALID_ARGUMENT, "the place for the result is NULL");
  assert_int_equal(pit_bitmap_build(NULL, 2, shape, PIT_SOURCE_VALUES, &tensor,
                                    NULL, &bitmap),
                   PIT_ERROR_INVALID_ARGUMENT);

  assert_ok(f->context,
            pit_bitmap_build(f->builder, 2, shape, PIT_SOURCE_VALUES, &tensor,
                             NULL, &bitmap));
  pit_index_spec specs[2] = {
      {.rank = 2, .axis = 1, .shape = {3, 4}, .micro_tile = {2, 1}},
      {.rank = 2, .axis = 1, .shape = {4, 4}, .micro_tile = {2, 1}}};
  pit_live_fraction live_fractions[2];
  check_error(
      f->context,
      pit_bitmap_live_fractions(f->builder, bitmap, specs, 2, live_fractions),
      PIT_ERROR_SHAPE,
      "live fraction: candidate 1 has shape 4x4; it must be the bitmap's, "
      "3x4");
  specs[1].axis = 2;
  check_error(
      f->context,
      pit_bitmap_live_fractions(f->builder, bitmap, specs, 2, live_fractions),
      PIT_ERROR_INVALID_ARGUMENT, "index: axis 2");
  check_error(
      f->context,
      pit_bitmap_live_fractions(f->builder, NULL, specs, 1, live_fractions),
      PIT_ERROR_INVALID_ARGUMENT, "bitmap: the bitmap is NULL");
  check_error(
      f->context,
      pit_bitmap_live_fractions(f->builder, bitmap, NULL, 1, live_fractions),
      PIT_ERROR_INVALID_ARGUMENT, "live fraction: 1 candidates at");
  assert_int_equal(
      pit_bitmap_live_fractions(NULL, bitmap, specs, 1, live_fractions),
      PIT_ERROR_INVALID_ARGUMENT);
  const pit_index *index;
  specs[0].shape[0] = 4;
  check_error(f->context,
              pit_index_from_bitmap(f->builder, &specs[0], bitmap, &index),
              PIT_ERROR_SHAPE,
              "index: the bitmap has shape 3x4; it must be "
              "4x4");
  check_error(f->context,
              pit_index_from_bitmap(f->builder, &specs[0], bitmap, NULL),
              PIT_ERROR_INVALID_ARGUMENT, "the place for the result is NULL");
  specs[0].shape[0] = 3;
  specs[0].capacity = 0;
  for (int i = 0; i < 12; ++i)
    x[i] = 1;
  assert_ok(f->context,
            pit_bitmap_build(f->builder, 2, shape, PIT_SOURCE_VALUES, &tensor,
                             NULL, &bitmap));
  specs[0].capacity = 7;
  check_error(
      f->context, pit_index_from_bitmap(f->builder, &specs[0], bitmap, &index),
      PIT_ERROR_CAPACITY, "8 micro-tiles are live, but the capacity is 7");
}

int main(int argc, char **argv) {
  // Fewer with threads: where each loop starts them, they are most of the time.
  random_suite suite = {
      .run = run_case, .count = 150, .threaded = 30, .seed = 1};
  random_arguments(&suite, argc, argv);
  const struct CMUnitTest tests[] = {
      BUILDER_TEST(test_long_groups),       BUILDER_TEST(test_candidates),
      BUILDER_TEST(test_own_words),         BUILDER_TEST(test_errors),
      RANDOM_TEST(random_best, &suite),     RANDOM_TEST(random_threads, &suite),
      RANDOM_TEST(random_baseline, &suite), RANDOM_TEST(random_avx2, &suite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
