//===- RandomSuite.h - Random cases by every kernel table -----------------===//

#ifndef PIT_TEST_RUNTIME_RANDOMSUITE_H
#define PIT_TEST_RUNTIME_RANDOMSUITE_H

#include "RandomCase.h"

/// What is tested with random cases; the state of the tests below.
typedef struct random_suite {
  void (*run)(pit_context *context, pit_index_builder *builder, uint64_t seed);
  int64_t count;    ///< of cases
  int64_t threaded; ///< of cases with several threads, which take longer
  uint64_t seed;    ///< of the first one
  uint64_t running; ///< seed of the last one that was begun
} random_suite;

/// Takes what a command line [COUNT [SEED]] has.
void random_arguments(random_suite *suite, int argc, char **argv);

/// With the kernel table that the runtime chooses, one or several threads, and
/// with those that it has for older CPUs.
void random_best(void **state);
void random_threads(void **state);
void random_baseline(void **state);
void random_avx2(void **state);

/// A case that fails is run again by its seed.
int random_print_seed(void **state);

/// A test of those above.
#define RANDOM_TEST(name, suite)                                               \
  cmocka_unit_test_prestate_setup_teardown(name, NULL, random_print_seed, suite)

#endif // PIT_TEST_RUNTIME_RANDOMSUITE_H
