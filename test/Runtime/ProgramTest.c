//===- ProgramTest.c - Programs: load, ask, run ---------------------------===//

#include "pit-runtime/Abi.h"

#include "Reference.h"

#include <string.h>
#include <unistd.h>

typedef struct fixture {
  pit_context *context;
  pit_program *program;
} fixture;

static int set_up(void **state) {
  static fixture f;
  f = (fixture){0};
  assert_int_equal(pit_context_create(NULL, &f.context), PIT_OK);
  assert_ok(f.context,
            pit_program_open(f.context, PIT_TEST_PROGRAM, &f.program));
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  pit_program_close(f->program);
  pit_context_destroy(f->context);
  return 0;
}

static void test_ask(void **state) {
  fixture *f = *state;
  assert_int_equal(pit_program_num_entries(f->program), 3);
  assert_string_equal(pit_entry_name(pit_program_entry_at(f->program, 1)),
                      "count");
  assert_null(pit_program_entry_at(f->program, 3));
  assert_null(pit_program_entry_at(f->program, -1));
  const pit_entry *entry;
  check_error(f->context,
              pit_program_entry(f->context, f->program, "scales", &entry),
              PIT_ERROR_NOT_FOUND,
              "the program has no entry 'scales'; it has: scale, count, pairs");
  assert_ok(f->context,
            pit_program_entry(f->context, f->program, "scale", &entry));
  assert_int_equal(pit_entry_num_args(entry), 2);
  assert_int_equal(pit_entry_num_results(entry), 1);
  assert_int_equal(pit_entry_workspace(entry), 128);
  pit_arg_info info;
  assert_true(pit_entry_arg(entry, 0, &info));
  assert_int_equal(info.kind, PIT_KIND_TENSOR);
  assert_int_equal(info.rank, 2);
  assert_int_equal(info.dims[1], -1);
  assert_int_equal(info.dtype.bits, 32);
  assert_true(pit_entry_arg(entry, 1, &info));
  assert_int_equal(info.kind, PIT_KIND_SCALAR);
  assert_false(pit_entry_arg(entry, 2, &info));
  assert_true(pit_entry_result(entry, 0, &info));
  assert_int_equal(info.dims[0], -1);
  assert_false(pit_entry_result(entry, 1, &info));
  assert_ok(f->context,
            pit_program_entry(f->context, f->program, "pairs", &entry));
  assert_true(pit_entry_arg(entry, 0, &info));
  assert_int_equal(info.kind, PIT_KIND_INDEX);
  assert_int_equal(info.axis, 1);
  assert_int_equal(info.micro_tile[0], 2);
  assert_true(pit_entry_result(entry, 0, &info));
  assert_int_equal(info.dims[0], 1);
}

static void test_run(void **state) {
  fixture *f = *state;
  float x[15] = {[1] = 1, [4] = 2, [6] = 3, [14] = 4};
  int64_t x_shape[2] = {5, 3};
  DLTensor x_tensor = tensor_of(x, PIT_DTYPE_FLOAT, 32, 2, x_shape);
  float factor = 2.5F, y[15];
  DLTensor factor_tensor = tensor_of(&factor, PIT_DTYPE_FLOAT, 32, 0, NULL);
  DLTensor y_tensor = tensor_of(y, PIT_DTYPE_FLOAT, 32, 2, x_shape);
  pit_value ins[] = {{.tensor = &x_tensor}, {.tensor = &factor_tensor}};
  DLTensor *outs[] = {&y_tensor};
  const pit_entry *entry;
  assert_ok(f->context,
            pit_program_entry(f->context, f->program, "scale", &entry));
  assert_ok(f->context,
            pit_entry_run(f->context, entry, ins, 2, outs, 1, NULL));
  for (int i = 0; i < 15; ++i)
    assert_true(y[i] == 2.5F * x[i]);
  check_error(f->context,
              pit_entry_run(f->context, entry, ins, 1, outs, 1, NULL),
              PIT_ERROR_INVALID_ARGUMENT, "'scale' takes 2 arguments, not 1");
  check_error(f->context,
              pit_entry_run(f->context, entry, ins, 2, outs, 0, NULL),
              PIT_ERROR_INVALID_ARGUMENT, "'scale' takes 1 results, not 0");
  check_error(f->context,
              pit_entry_run(f->context, NULL, ins, 2, outs, 1, NULL),
              PIT_ERROR_INVALID_ARGUMENT, "run: an argument is NULL");

  x_shape[1] = 1;
  int64_t shape[PIT_MAX_RANK];
  check_error(
      f->context, pit_entry_result_shape(f->context, entry, ins, 2, 0, shape),
      PIT_ERROR_SHAPE, "dimension 1 of argument 0 is 1; it must be at least 2");
  x_shape[1] = 3;

  assert_ok(f->context,
            pit_program_entry(f->context, f->program, "count", &entry));
  assert_ok(f->context,
            pit_entry_result_shape(f->context, entry, ins, 1, 0, shape));
  assert_int_equal(shape[0], 3);
  int32_t counts[3];
  DLTensor counts_tensor = tensor_of(counts, PIT_DTYPE_INT, 32, 1, shape);
  outs[0] = &counts_tensor;
  assert_ok(f->context,
            pit_entry_run(f->context, entry, ins, 1, outs, 1, NULL));
  assert_memory_equal(counts, ((int32_t[]){1, 1, 1}), sizeof(counts));
  shape[0] = 2;
  check_error(f->context,
              pit_entry_run(f->context, entry, ins, 1, outs, 1, NULL),
              PIT_ERROR_SHAPE, "result 0: dimension 0 is 2; it must be 3");
  check_error(f->context,
              pit_entry_result_shape(f->context, entry, ins, 1, 1, shape),
              PIT_ERROR_INVALID_ARGUMENT, "'count' has no result 1; it has 1");
  x_tensor.ndim = 1;
  check_error(f->context,
              pit_entry_result_shape(f->context, entry, ins, 1, 0, shape),
              PIT_ERROR_SHAPE, "argument 0 has rank 1; it must be 2");
  ins[0].tensor = NULL;
  check_error(
      f->context, pit_entry_result_shape(f->context, entry, ins, 1, 0, shape),
      PIT_ERROR_INVALID_ARGUMENT, "argument 0 is NULL; it must be a tensor");
}

static void test_run_index(void **state) {
  fixture *f = *state;
  int32_t pairs[] = {0, 1, 1, 0, 0, 1};
  int64_t shape[2] = {3, 2};
  DLTensor list = tensor_of(pairs, PIT_DTYPE_INT, 32, 2, shape);
  pit_index_spec spec = {
      .rank = 2, .axis = 1, .shape = {4, 2}, .micro_tile = {2, 1}};
  pit_index_builder *builder;
  const pit_index *index;
  assert_ok(f->context, pit_index_builder_create(f->context, &builder));
  assert_ok(f->context, pit_index_build(builder, &spec, PIT_SOURCE_BLOCKS,
                                        &list, NULL, &index));
  float total = 0;
  int64_t one = 1;
  DLTensor total_tensor = tensor_of(&total, PIT_DTYPE_FLOAT, 32, 1, &one);
  pit_value ins[] = {{.kind = PIT_KIND_INDEX, .index = index}};
  DLTensor *outs[] = {&total_tensor};
  const pit_entry *entry;
  assert_ok(f->context,
            pit_program_entry(f->context, f->program, "pairs", &entry));
  assert_ok(f->context,
            pit_entry_run(f->context, entry, ins, 1, outs, 1, NULL));
  assert_true(total == 2);
  pit_index broken = *index;
  broken.groups = 7;
  ins[0] = pit_index_value(&broken);
  check_error(f->context,
              pit_entry_run(f->context, entry, ins, 1, outs, 1, NULL),
              PIT_ERROR_SHAPE, "argument 0: the index has 7 groups");
  pit_index_builder_destroy(builder);
}

static void test_open_errors(void **state) {
  fixture *f = *state;
  pit_program *program;
  check_error(f->context,
              pit_program_open(f->context, "./no-such-program.so", &program),
              PIT_ERROR_LOAD, "cannot load './no-such-program.so': ");
  check_error(
      f->context, pit_program_open(f->context, PIT_RUNTIME_FILE, &program),
      PIT_ERROR_LOAD, "not a program of pit: no symbol pit_program_entries");
  check_error(f->context, pit_program_open(f->context, NULL, &program),
              PIT_ERROR_INVALID_ARGUMENT, "program: an argument is NULL");
}

/// A name without a folder is a file of this folder.
static void test_open_here(void **state) {
  fixture *f = *state;
  char folder[4096], path[] = PIT_TEST_PROGRAM;
  assert_non_null(getcwd(folder, sizeof(folder)));
  char *name = strrchr(path, '/');
  *name++ = '\0';
  assert_int_equal(chdir(path), 0);
  pit_program *program;
  pit_status status = pit_program_open(f->context, name, &program);
  assert_int_equal(chdir(folder), 0);
  assert_ok(f->context, status);
  assert_int_equal(pit_program_num_entries(program), 3);
  pit_program_close(program);
}

/// Symbols in memory.
typedef struct symbols {
  const char *entries;
  void *function;
  const void *manifest;
  int closed;
  const char *features;
} symbols;

static void *look_up(void *user, const char *symbol) {
  symbols *s = user;
  if (strcmp(symbol, "pit_program_entries") == 0)
    return (void *)(uintptr_t)s->entries;
  if (strcmp(symbol, "pit_f") == 0)
    return s->function;
  if (strcmp(symbol, "pit_f_manifest") == 0)
    return (void *)(uintptr_t)s->manifest;
  if (strcmp(symbol, "pit_program_features") == 0)
    return (void *)(uintptr_t)s->features;
  return NULL;
}

static void close_symbols(void *user) { ++((symbols *)user)->closed; }

static void test_lookup(void **state) {
  fixture *f = *state;
  static const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                        .device = kDLCPU};
  static const pit_manifest on_device = {.version = PIT_MANIFEST_WORD0,
                                         .device = kDLCUDA};
  static const pit_arg_info odd = {.kind = (pit_arg_kind)5};
  static const pit_manifest broken = {.version = PIT_MANIFEST_WORD0,
                                      .num_args = 1,
                                      .device = kDLCPU,
                                      .values = &odd};
  symbols s = {"f\0", &s, &manifest, 0, NULL};
  pit_program *program = NULL;
#define FROM_LOOKUP()                                                          \
  pit_program_from_lookup(f->context, look_up, &s, close_symbols, &program)
  assert_ok(f->context, FROM_LOOKUP());
  assert_int_equal(pit_program_num_entries(program), 1);
  assert_int_equal(s.closed, 0);
  assert_int_equal(pit_entry_device(pit_program_entry_at(program, 0)), kDLCPU);
  pit_program_close(program);
  assert_int_equal(s.closed, 1);
  s.manifest = &on_device;
  assert_ok(f->context, FROM_LOOKUP());
  assert_int_equal(pit_entry_device(pit_program_entry_at(program, 0)), kDLCUDA);
  pit_program_close(program);
  s.manifest = &manifest;
  s.closed = 1;
  s.entries = "";
  assert_ok(f->context, FROM_LOOKUP());
  const pit_entry *entry;
  check_error(f->context, pit_program_entry(f->context, program, "f", &entry),
              PIT_ERROR_NOT_FOUND,
              "the program has no entry 'f'; it has: none");
  pit_program_close(program);
  assert_int_equal(s.closed, 2);

  s.entries = "g\0";
  check_error(f->context, FROM_LOOKUP(), PIT_ERROR_LOAD,
              "the program lists 'g' but has no symbol pit_g");
  assert_int_equal(s.closed, 3);
  s.entries = "f\0";
  s.manifest = NULL;
  check_error(f->context, FROM_LOOKUP(), PIT_ERROR_LOAD,
              "the program lists 'f' but has no symbol pit_f_manifest");
  s.manifest = &broken;
  check_error(f->context, FROM_LOOKUP(), PIT_ERROR_LOAD,
              "malformed manifest: argument 0 has kind 5");
  s.entries = NULL;
  check_error(f->context, FROM_LOOKUP(), PIT_ERROR_LOAD,
              "no symbol pit_program_entries");
  assert_int_equal(s.closed, 6);
  check_error(
      f->context,
      pit_program_from_lookup(f->context, NULL, &s, close_symbols, &program),
      PIT_ERROR_INVALID_ARGUMENT, "program: an argument is NULL");
  assert_int_equal(s.closed, 7);
  pit_program_close(NULL);
}

/// A program of another CPU is not loaded.
static void test_features(void **state) {
  fixture *f = *state;
  static const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                        .device = kDLCPU};
  symbols s = {"f\0", &s, &manifest, 0, ""};
  pit_program *program = NULL;
  assert_ok(f->context, FROM_LOOKUP());
  pit_program_close(program);
  s.features = "abacus\0slide-rule\0";
  check_error(f->context, FROM_LOOKUP(), PIT_ERROR_UNSUPPORTED,
              "the program was compiled for a CPU with features that this one "
              "does not have, as far as the runtime knows: abacus, slide-rule; "
              "compile it for this CPU (--cpu)");
  assert_int_equal(s.closed, 2);
  assert_int_equal(pit_rt_lists_cpu_feature("abacus"), 0);
  assert_int_equal(pit_rt_lists_cpu_feature(NULL), 0);
#ifdef __x86_64__
  s.features = "sse2\0cmov\0";
  assert_ok(f->context, FROM_LOOKUP());
  pit_program_close(program);
  assert_int_equal(pit_rt_lists_cpu_feature("avx512f"), 1);
  // Asked for when a program runs (pit_rt_request_amx).
  assert_int_equal(pit_rt_lists_cpu_feature("amx-tile"), 0);
  // The same answers as the compiler's.
#define SAME(feature)                                                          \
  s.features = feature "\0";                                                   \
  if (__builtin_cpu_supports(feature)) {                                       \
    assert_ok(f->context, FROM_LOOKUP());                                      \
    pit_program_close(program);                                                \
  } else {                                                                     \
    check_error(f->context, FROM_LOOKUP(), PIT_ERROR_UNSUPPORTED, feature);    \
  }
  __builtin_cpu_init();
  SAME("avx")
  SAME("avx2")
  SAME("fma")
  SAME("bmi2")
  SAME("sse4a")
  SAME("xop")
  SAME("avx512f")
  SAME("avx512bf16")
  SAME("avx512fp16")
  SAME("avx512vnni")
  SAME("avx512vp2intersect")
  SAME("avxvnni")
  SAME("avxvnniint8")
#undef SAME
#endif
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_ask),         TEST(test_run),    TEST(test_run_index),
      TEST(test_open_errors), TEST(test_lookup), TEST(test_open_here),
      TEST(test_features),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
