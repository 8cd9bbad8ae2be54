//===- IndexRandomTest.c - Random indices against the reference -----------===//
//
//   IndexRandomTest [COUNT [SEED]]
//
// Every kernel table that this CPU runs, one and several threads. A failing
// case prints its seed; run it again with COUNT 1.
//
//===----------------------------------------------------------------------===//

#include "RandomSuite.h"

#include <math.h>

static void run_case(pit_context *context, pit_index_builder *builder,
                     uint64_t seed) {
  test_case c;
  random_case(context, &c, seed, /*with_blocks=*/true);
  const void *background = c.has_background ? &c.background : NULL;
  const pit_index *index = NULL;
  assert_ok(context, pit_index_build(builder, &c.spec, c.source, &c.data,
                                     background, &index));
  bool origin = c.source == PIT_SOURCE_ROUTING &&
                (c.spec.axis == 0 || c.spec.micro_tile[0] == 1);
  check_index(&c.spec, &c.x, index, origin);
  double waste = -1;
  assert_ok(context, pit_index_waste(context, index, c.source, &c.data,
                                     background, &waste));
  assert_true(fabs(waste - reference_waste(&c.spec, &c.x)) < 1e-9);

  // What was exported can be imported.
  pit_index_arrays arrays;
  pit_index imported;
  assert_ok(context, pit_index_export(context, index, &arrays));
  c.spec.flags = 0;
  assert_ok(context, pit_index_import(context, &c.spec, &arrays, &imported));
  assert_int_equal(imported.total, index->total);
  assert_int_equal(imported.extent, index->extent);
  assert_int_equal(imported.max_count, index->max_count);
  free_case(&c);
}

int main(int argc, char **argv) {
  random_suite suite = {
      .run = run_case, .count = 1000, .threaded = 1000, .seed = 1};
  random_arguments(&suite, argc, argv);
  const struct CMUnitTest tests[] = {
      RANDOM_TEST(random_best, &suite),
      RANDOM_TEST(random_threads, &suite),
      RANDOM_TEST(random_baseline, &suite),
      RANDOM_TEST(random_avx2, &suite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
