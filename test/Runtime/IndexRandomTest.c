//===- IndexRandomTest.c - Random indices against the reference -----------===//
//
//   IndexRandomTest [COUNT [SEED]]
//
// Every kernel table that this CPU runs, one and several threads. A failing
// case prints its seed; run it again with COUNT 1.
//
//===----------------------------------------------------------------------===//

#include "Core/Internal.h"
#include "Index/ScanKernels.h"
#include "RandomCase.h"

#include <math.h>
#include <stdlib.h>

static int64_t case_count = 1000;
static uint64_t first_seed = 1;

static void run_case(pit_context *context, pit_index_builder *builder,
                     uint64_t seed) {
  test_case c;
  random_case(context, &c, seed, /*with_blocks=*/true);
  const void *background = c.has_background ? &c.background : NULL;
  const pit_index *index = NULL;
  assert_ok(context, pit_index_build(builder, &c.spec, c.source, &c.data,
                                     background, &index));
  bool origin = c.source == PIT_SOURCE_ASSIGNMENT &&
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

static uint64_t running_seed;

static void run_cases(const pit_scan_kernels *kernels, int32_t threads) {
  pit_context_options options = {.threads = threads};
  pit_context *context;
  assert_int_equal(pit_context_create(&options, &context), PIT_OK);
  context->bytes_per_thread = 64;
  if (kernels)
    context->kernels = kernels;
  pit_index_builder *builder;
  assert_ok(context, pit_index_builder_create(context, &builder));
  for (int64_t i = 0; i < case_count; ++i) {
    running_seed = first_seed + (uint64_t)i;
    run_case(context, builder, running_seed);
  }
  pit_index_builder_destroy(builder);
  pit_context_destroy(context);
}

static void test_best(void **state) {
  (void)state;
  run_cases(NULL, 1);
}

static void test_threads(void **state) {
  (void)state;
  run_cases(NULL, 4);
}

static void test_baseline(void **state) {
  (void)state;
  run_cases(&pit_scan_kernels_baseline, 1);
}

static void test_avx2(void **state) {
  (void)state;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v3")) {
    run_cases(&pit_scan_kernels_avx2, 1);
    return;
  }
#endif
  skip();
}

static int print_seed(void **state) {
  (void)state;
  print_message("last seed: %llu\n", (unsigned long long)running_seed);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1)
    case_count = strtoll(argv[1], NULL, 10);
  if (argc > 2)
    first_seed = strtoull(argv[2], NULL, 10);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_best, print_seed),
      cmocka_unit_test_teardown(test_threads, print_seed),
      cmocka_unit_test_teardown(test_baseline, print_seed),
      cmocka_unit_test_teardown(test_avx2, print_seed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
