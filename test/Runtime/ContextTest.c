//===- ContextTest.c - Contexts: options, messages, statistics ------------===//

#include "Reference.h"

#include <stdio.h>
#include <string.h>

static void test_create(void **state) {
  (void)state;
  pit_context *context = NULL;
  assert_int_equal(pit_context_create(NULL, NULL), PIT_ERROR_INVALID_ARGUMENT);
  pit_context_options options = {.threads = -1};
  assert_int_equal(pit_context_create(&options, &context),
                   PIT_ERROR_INVALID_ARGUMENT);
  assert_null(context);
  char message[61];
  options.message = message;
  options.message_size = sizeof(message);
  assert_int_equal(pit_context_create(&options, &context),
                   PIT_ERROR_INVALID_ARGUMENT);
  assert_string_equal(message, "context: threads is -1; it must be in [1, 4096]"
                               ", or 0 for wh");
  options.threads = 3;
  options.device_type = 4;
  assert_int_equal(pit_context_create(&options, &context),
                   PIT_ERROR_INVALID_ARGUMENT);
  assert_memory_equal(message, "context: device_type is 4; it must be 1", 39);
  assert_null(context);
  options.device_type = kDLCPU;
  assert_int_equal(pit_context_create(&options, &context), PIT_OK);
  assert_int_equal(pit_context_threads(context), 3);
  pit_context_destroy(context);
  assert_int_equal(pit_context_create(NULL, &context), PIT_OK);
  assert_true(pit_context_threads(context) >= 1);
  pit_context_destroy(context);
  pit_context_destroy(NULL);
}

static void test_status_strings(void **state) {
  (void)state;
  assert_string_equal(pit_status_string(PIT_OK), "ok");
  for (int32_t a = PIT_OK; a <= PIT_ERROR_DRIVER; ++a)
    for (int32_t b = PIT_OK; b < a; ++b)
      assert_string_not_equal(pit_status_string(a), pit_status_string(b));
  assert_string_equal(pit_status_string(-1), "unknown status");
  assert_string_equal(pit_status_string(PIT_ERROR_DRIVER + 1),
                      "unknown status");
}

/// Headers, library and package are of one version.
static void test_version(void **state) {
  (void)state;
  char version[32];
  snprintf(version, sizeof(version), "%d.%d.%d", PIT_VERSION_MAJOR,
           PIT_VERSION_MINOR, PIT_VERSION_PATCH);
  assert_string_equal(version, PIT_VERSION_STRING);
  assert_string_equal(version, pit_version());
  assert_string_equal(version, PIT_PROJECT_VERSION);
}

static void test_message(void **state) {
  (void)state;
  pit_context *context;
  assert_int_equal(pit_context_create(NULL, &context), PIT_OK);
  char buffer[16] = "untouched";
  assert_int_equal(pit_context_message(context, buffer, sizeof(buffer)), 0);
  assert_string_equal(buffer, "");
  assert_int_equal(pit_index_groups(context, NULL, NULL, NULL),
                   PIT_ERROR_INVALID_ARGUMENT);
  const char *whole = "index: the spec is NULL";
  assert_int_equal(pit_context_message(context, NULL, 0), strlen(whole));
  assert_int_equal(pit_context_message(context, buffer, sizeof(buffer)),
                   strlen(whole));
  assert_string_equal(buffer, "index: the spec");
  assert_int_equal(pit_context_message(NULL, buffer, sizeof(buffer)), 0);
  assert_string_equal(buffer, "");
  pit_context_destroy(context);
}

static void test_stats(void **state) {
  (void)state;
  pit_context *context;
  pit_index_builder *builder;
  const pit_index *index;
  assert_int_equal(pit_context_create(NULL, &context), PIT_OK);
  assert_ok(context, pit_index_builder_create(context, &builder));
  float values[8] = {1, 0, 0, 0, 0, 0, 5, 6};
  int64_t shape[2] = {2, 4};
  DLTensor x = tensor_of(values, PIT_DTYPE_FLOAT, 32, 2, shape);
  pit_index_spec spec = {
      .rank = 2, .axis = 1, .shape = {2, 4}, .micro_tile = {2, 1}};
#define BUILD()                                                                \
  assert_ok(context, pit_index_build(builder, &spec, PIT_SOURCE_VALUES, &x,    \
                                     NULL, &index))
  pit_build_stats stats[4];
  int64_t copied = -1;
  BUILD();
  assert_int_equal(pit_context_stats(context, stats, 4, &copied), 0);
  assert_int_equal(copied, 0);
  assert_int_equal(pit_context_set_stats(context, (pit_stats_mode)7),
                   PIT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(pit_context_set_stats(NULL, PIT_STATS_ON),
                   PIT_ERROR_INVALID_ARGUMENT);

  assert_ok(context, pit_context_set_stats(context, PIT_STATS_ON));
  BUILD();
  assert_int_equal(pit_context_stats(context, stats, 4, &copied), 1);
  assert_int_equal(copied, 1);
  assert_int_equal(stats[0].slot, -1);
  assert_int_equal(stats[0].source, PIT_SOURCE_VALUES);
  assert_int_equal(stats[0].axis, 1);
  assert_int_equal(stats[0].groups, 1);
  assert_int_equal(stats[0].micro_tiles, 4);
  assert_int_equal(stats[0].live, 3);
  assert_int_equal(stats[0].max_count, 3);
  assert_true(stats[0].build_ns > 0);
  assert_true(stats[0].live_fraction == 0.75);
  assert_true(stats[0].waste == -1);

  assert_ok(context, pit_context_set_stats(context, PIT_STATS_WASTE));
  for (int i = 0; i < 1500; ++i) {
    values[1] = (float)(i == 1499);
    BUILD();
  }
  assert_int_equal(pit_context_stats(context, stats, 2, &copied), 1500);
  assert_int_equal(copied, 2);
  assert_true(stats[0].waste == 0.5);
  assert_int_equal(stats[0].live, 3);
  assert_int_equal(stats[1].live, 4);
  assert_int_equal(pit_context_stats(context, NULL, 2, NULL), 1500);

  assert_ok(context, pit_context_set_stats(context, PIT_STATS_OFF));
  BUILD();
  assert_int_equal(pit_context_stats(context, stats, 2, &copied), 0);
  pit_index_builder_destroy(builder);
  pit_index_builder_destroy(NULL);
  pit_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_create),  cmocka_unit_test(test_status_strings),
      cmocka_unit_test(test_version), cmocka_unit_test(test_message),
      cmocka_unit_test(test_stats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
