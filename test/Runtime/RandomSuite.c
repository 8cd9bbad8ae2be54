//===- RandomSuite.c - Random cases by every kernel table -----------------===//

#include "RandomSuite.h"

#include "Core/Internal.h"
#include "Index/ScanKernels.h"

#include <stdlib.h>

void random_arguments(random_suite *suite, int argc, char **argv) {
  if (argc > 1)
    suite->count = suite->threaded = strtoll(argv[1], NULL, 10);
  if (argc > 2)
    suite->seed = strtoull(argv[2], NULL, 10);
}

static void run_cases(random_suite *suite, const pit_scan_kernels *kernels,
                      int32_t threads) {
  pit_context_options options = {.threads = threads};
  pit_context *context;
  assert_int_equal(pit_context_create(&options, &context), PIT_OK);
  context->bytes_per_thread = 64;
  if (kernels)
    context->kernels = kernels;
  pit_index_builder *builder;
  assert_ok(context, pit_index_builder_create(context, &builder));
  int64_t count = threads > 1 ? suite->threaded : suite->count;
  for (int64_t i = 0; i < count; ++i) {
    suite->running = suite->seed + (uint64_t)i;
    suite->run(context, builder, suite->running);
  }
  pit_index_builder_destroy(builder);
  pit_context_destroy(context);
}

void random_best(void **state) { run_cases(*state, NULL, 1); }

void random_threads(void **state) { run_cases(*state, NULL, 4); }

void random_baseline(void **state) {
  run_cases(*state, &pit_scan_kernels_baseline, 1);
}

void random_avx2(void **state) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v3")) {
    run_cases(*state, &pit_scan_kernels_avx2, 1);
    return;
  }
#endif
  (void)state;
  skip();
}

int random_print_seed(void **state) {
  const random_suite *suite = *state;
  print_message("last seed: %llu\n", (unsigned long long)suite->running);
  return 0;
}
