//===- ProfileTest.c - The live fraction that calls record ----------------===//

#include "Builds.h"
#include "Reference.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const pit_manifest no_args = {.version = PIT_MANIFEST_WORD0,
                                     .device = kDLCPU};

enum { ROWS = 8, N = 16 };

static const char mark[] = "f:0\0a \"b\"\\\nc\0f.mlir:2:8";

typedef struct fixture {
  pit_context *context;
  pit_frame *frame;
  float x[ROWS * N];
  char path[64];
} fixture;

static int set_up(void **state) {
  static fixture f;
  f = (fixture){0};
  assert_int_equal(pit_context_create(NULL, &f.context), PIT_OK);
  assert_ok(f.context, pit_rt_enter(f.context, &no_args, NULL, NULL, NULL, NULL,
                                    &f.frame));
  snprintf(f.path, sizeof(f.path), "/tmp/pit-profile-%d.json", (int)getpid());
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  pit_rt_leave(f->frame, 0);
  pit_context_destroy(f->context);
  remove(f->path);
  return 0;
}

static char *read_profile(const fixture *f, char *text, size_t size) {
  FILE *file = fopen(f->path, "r");
  assert_non_null(file);
  text[fread(text, 1, size - 1, file)] = '\0';
  fclose(file);
  return text;
}

static int32_t record_shape(fixture *f, int64_t rows, const char *of) {
  const pit_build build = build_of(32, 1, 1, 1);
  const pit_view view = view_of(f->x, rows, N);
  return pit_rt_record(f->frame, &build, &view, view.shape, of, NULL);
}

static void record(fixture *f, const char *of, int rows) {
  memset(f->x, 0, sizeof(f->x));
  for (int i = 0; i < rows * N; ++i)
    f->x[i] = 1;
  assert_ok(f->context, record_shape(f, ROWS, of));
}

static void test_profile(void **state) {
  fixture *f = *state;
  record(f, mark, 2);
  record(f, mark, 5);
  static const char other[] = "f:1\0a\0b";
  record(f, other, 8);
  assert_ok(f->context, pit_context_write_profile(f->context, f->path));
  char text[1 << 16];
  read_profile(f, text, sizeof(text));
  assert_non_null(strstr(text, "{\"pit_profile\": 1, \"dropped\": 0, "));
  assert_non_null(strstr(text,
                         "{\"label\": \"f:0\", \"signature\": \"a \\\"b\\\""
                         "\\\\\\u000ac\", \"location\": \"f.mlir:2:8\",\n"
                         "   \"shape\": [8, 16], \"calls\": 2,"));
  assert_non_null(strstr(text, "{\"axis\": 1, \"micro_tile\": [1, 1], "
                               "\"micro_tiles\": 128, \"live\": {\"min\": 32, "
                               "\"mean\": 56, \"max\": 80}}"));
  assert_non_null(strstr(text, "{\"axis\": 0, \"micro_tile\": [1, 0], "
                               "\"micro_tiles\": 8, \"live\": {\"min\": 2, "
                               "\"mean\": 3.5, \"max\": 5}}"));
  const char *second = strstr(text, "{\"label\": \"f:1\"");
  assert_non_null(second);
  assert_non_null(strstr(second, "\"calls\": 1,"));
  // Each shape has an entry of its own.
  assert_ok(f->context, record_shape(f, ROWS / 2, mark));
  assert_ok(f->context, pit_context_write_profile(f->context, f->path));
  read_profile(f, text, sizeof(text));
  assert_non_null(strstr(text, "\"shape\": [8, 16], \"calls\": 2,"));
  assert_non_null(strstr(text, "\"shape\": [4, 16], \"calls\": 1,"));
}

static void test_errors(void **state) {
  fixture *f = *state;
  assert_int_equal(pit_context_write_profile(f->context, f->path),
                   PIT_ERROR_NOT_FOUND);
  assert_int_equal(access(f->path, F_OK), -1);
  assert_int_equal(pit_context_write_profile(NULL, f->path),
                   PIT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(pit_context_write_profile(f->context, NULL),
                   PIT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(pit_rt_record(NULL, NULL, NULL, NULL, mark, NULL),
                   PIT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(record_shape(f, ROWS, NULL), PIT_ERROR_INVALID_ARGUMENT);
  record(f, mark, 1);
  assert_int_equal(pit_context_write_profile(f->context, "/nowhere/p.json"),
                   PIT_ERROR_NOT_FOUND);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_profile, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_errors, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
