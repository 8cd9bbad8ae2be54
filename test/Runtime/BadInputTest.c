//===- BadInputTest.c - Functions of the interface on bad arguments -------===//
//
// Each function that takes pointers, sizes or strings is given none, absurd and
// misaligned ones. What it must not do, sanitizers see.
//
//===----------------------------------------------------------------------===//

#include "pit-runtime/Abi.h"
#include "pit-runtime/Runtime.h"

#include "Reference.h"

#include <string.h>

#define INVALID(status) assert_int_equal((status), PIT_ERROR_INVALID_ARGUMENT)

typedef struct fixture {
  pit_context *context;
  pit_index_builder *builder;
  pit_program *program;
  float x[64];
  int64_t shape[2], strides[2];
  DLTensor tensor;
  pit_index_spec spec;
} fixture;

static int set_up(void **state) {
  static fixture f;
  f = (fixture){
      .shape = {8, 8},
      .spec = {.rank = 2, .axis = 1, .shape = {8, 8}, .micro_tile = {2, 1}}};
  f.tensor = tensor_of(f.x, PIT_DTYPE_FLOAT, 32, 2, f.shape);
  assert_int_equal(pit_context_create(NULL, &f.context), PIT_OK);
  assert_ok(f.context, pit_index_builder_create(f.context, &f.builder));
  assert_ok(f.context,
            pit_program_open(f.context, PIT_TEST_PROGRAM, &f.program));
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  pit_program_close(f->program);
  pit_index_builder_destroy(f->builder);
  pit_context_destroy(f->context);
  return 0;
}

/// NULL in the place of everything, and of each thing alone.
static void test_null_index(void **state) {
  fixture *f = *state;
  pit_context *c = f->context;
  const pit_index *built;
  pit_index index;
  pit_index_arrays arrays = {0};
  pit_index_stats stats;
  double waste;
  INVALID(pit_index_groups(NULL, NULL, NULL, NULL));
  INVALID(pit_index_groups(c, NULL, NULL, NULL));
  assert_ok(c, pit_index_groups(NULL, &f->spec, NULL, NULL));
  INVALID(pit_index_builder_create(NULL, NULL));
  INVALID(pit_index_builder_create(c, NULL));
  pit_index_builder_destroy(NULL);
  INVALID(pit_index_builder_set_stream(NULL, NULL));
  INVALID(pit_index_build(NULL, &f->spec, 0, &f->tensor, NULL, &built));
  INVALID(pit_index_build(f->builder, NULL, 0, &f->tensor, NULL, &built));
  INVALID(pit_index_build(f->builder, &f->spec, 0, NULL, NULL, &built));
  INVALID(pit_index_build(f->builder, &f->spec, 0, &f->tensor, NULL, NULL));
  INVALID(pit_index_build(f->builder, &f->spec, (pit_source)-1, &f->tensor,
                          NULL, &built));
  INVALID(pit_index_build(f->builder, &f->spec, PIT_SOURCE_IMPORT, &f->tensor,
                          NULL, &built));
  INVALID(pit_index_import(NULL, &f->spec, &arrays, &index));
  INVALID(pit_index_import(c, NULL, &arrays, &index));
  INVALID(pit_index_import(c, &f->spec, NULL, &index));
  INVALID(pit_index_import(c, &f->spec, &arrays, NULL));
  assert_int_equal(pit_index_import(c, &f->spec, &arrays, &index),
                   PIT_ERROR_SHAPE);
  arrays.groups = 4;
  INVALID(pit_index_import(c, &f->spec, &arrays, &index));
  assert_ok(c,
            pit_index_build(f->builder, &f->spec, 0, &f->tensor, NULL, &built));
  INVALID(pit_index_export(NULL, NULL, NULL));
  INVALID(pit_index_export(c, built, NULL));
  INVALID(pit_index_export(c, NULL, &arrays));
  INVALID(pit_index_statistics(NULL, NULL, NULL));
  INVALID(pit_index_statistics(c, NULL, &stats));
  INVALID(pit_index_statistics(c, built, NULL));
  INVALID(pit_index_waste(NULL, built, 0, &f->tensor, NULL, &waste));
  INVALID(pit_index_waste(c, NULL, 0, &f->tensor, NULL, &waste));
  INVALID(pit_index_waste(c, built, 0, NULL, NULL, &waste));
  INVALID(pit_index_waste(c, built, 0, &f->tensor, NULL, NULL));
  INVALID(pit_index_waste(c, built, 77, &f->tensor, NULL, &waste));
  INVALID(pit_context_observe(NULL, NULL, NULL));
}

static void test_null_context(void **state) {
  fixture *f = *state;
  pit_context *c = f->context;
  char text[4] = "abc";
  INVALID(pit_context_create(NULL, NULL));
  pit_context_destroy(NULL);
  assert_true(pit_context_threads(NULL) >= 1);
  assert_int_equal(pit_context_message(NULL, NULL, 0), 0);
  assert_int_equal(pit_context_message(NULL, NULL, 10), 0);
  assert_int_equal(pit_context_message(NULL, text, sizeof(text)), 0);
  assert_string_equal(text, "");
  INVALID(pit_constant_create(c, NULL, NULL));
  assert_true(pit_context_message(c, NULL, 10) > 0);
  assert_true(pit_context_message(c, text, 1) > 0);
  assert_string_equal(text, "");
  INVALID(pit_context_set_stats(NULL, PIT_STATS_ON));
  INVALID(pit_context_set_stats(c, (pit_stats_mode)-1));
  INVALID(pit_context_set_stats(c, (pit_stats_mode)1000));
  int64_t copied = 7;
  assert_int_equal(pit_context_stats(NULL, NULL, 1, &copied), 0);
  assert_int_equal(copied, 0);
  assert_ok(c, pit_context_set_stats(c, PIT_STATS_ON));
  const pit_index *index;
  assert_ok(c,
            pit_index_build(f->builder, &f->spec, 0, &f->tensor, NULL, &index));
  assert_int_equal(pit_context_stats(c, NULL, 100, NULL), 1);
  pit_build_stats stats;
  assert_int_equal(pit_context_stats(c, &stats, INT64_MIN, &copied), 1);
  assert_int_equal(copied, 0);
  assert_int_equal(pit_context_stats(c, &stats, 1, NULL), 1);

  pit_constant *constant = NULL;
  INVALID(pit_constant_create(NULL, &f->tensor, &constant));
  INVALID(pit_constant_create(c, NULL, &constant));
  INVALID(pit_constant_create(c, &f->tensor, NULL));
  pit_constant_destroy(NULL);
  pit_constant_changed(NULL);
  pit_context_kept(NULL, NULL);
  pit_context_kept(c, NULL);
  pit_kept_stats kept;
  pit_context_kept(NULL, &kept);
  assert_int_equal(kept.constants, 0);
}

static void test_options(void **state) {
  (void)state;
  struct {
    pit_context_options options;
    const char *part;
  } cases[] = {
      {{.threads = PIT_MAX_THREADS + 1},
       "context: threads is 4097; it must be in [1, 4096], or 0 for what "
       "OpenMP would use"},
      {{.threads = INT32_MAX}, "context: threads is 2147483647"},
      {{.threads = INT32_MIN}, "context: threads is -2147483648"},
      {{.kept_bytes = INT64_MIN}, "context: kept_bytes is -9223372036854"},
      {{.device_type = -1}, "context: device_type is -1"},
      {{.device_type = kDLCUDA, .cuda_library = "/no/such/library.so"},
       "/no/such/library.so"},
      {{.device_type = kDLCUDA, .cuda_library = "%s%n%s"}, "%s%n%s"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    char message[512] = "";
    cases[i].options.message = message;
    cases[i].options.message_size = sizeof(message);
    pit_context *context = (pit_context *)message;
    assert_int_not_equal(pit_context_create(&cases[i].options, &context),
                         PIT_OK);
    assert_null(context);
    assert_non_null(strstr(message, cases[i].part));
    cases[i].options.message_size = 0;
    assert_int_not_equal(pit_context_create(&cases[i].options, &context),
                         PIT_OK);
    cases[i].options.message = NULL;
    cases[i].options.message_size = 100;
    assert_int_not_equal(pit_context_create(&cases[i].options, &context),
                         PIT_OK);
  }
}

/// Of a context without a device, and of none.
static void test_device(void **state) {
  fixture *f = *state;
  pit_device_info info;
  pit_stream stream;
  void *memory;
  INVALID(pit_device_query(NULL, &info));
  INVALID(pit_device_alloc(NULL, 1, &memory));
  INVALID(pit_device_free(NULL, NULL));
  INVALID(pit_device_write(NULL, NULL, NULL, 1, NULL));
  INVALID(pit_device_read(NULL, NULL, NULL, 1, NULL));
  INVALID(pit_stream_create(NULL, &stream));
  INVALID(pit_stream_destroy(NULL, NULL));
  INVALID(pit_stream_wait(NULL, NULL));
#define NO_DEVICE(call) assert_int_equal((call), PIT_ERROR_DEVICE)
  pit_context *c = f->context;
  NO_DEVICE(pit_device_query(c, &info));
  NO_DEVICE(pit_device_query(c, NULL));
  NO_DEVICE(pit_device_alloc(c, 1, &memory));
  NO_DEVICE(pit_device_free(c, f->x));
  NO_DEVICE(pit_device_write(c, f->x, f->x, INT64_MIN, NULL));
  NO_DEVICE(pit_device_read(c, NULL, NULL, INT64_MAX, NULL));
  NO_DEVICE(pit_stream_create(c, &stream));
  NO_DEVICE(pit_stream_destroy(c, f->x));
  NO_DEVICE(pit_stream_wait(c, f->x));
#undef NO_DEVICE
}

static void refuse_build(fixture *f, pit_status wanted, const char *part) {
  const pit_index *index;
  check_error(f->context,
              pit_index_build(f->builder, &f->spec, PIT_SOURCE_VALUES,
                              &f->tensor, NULL, &index),
              wanted, part);
  assert_null(index);
}

/// Not to be built from, nor to be a constant.
static void refuse_tensor(fixture *f, pit_status wanted, const char *part) {
  refuse_build(f, wanted, part);
  pit_constant *constant = NULL;
  assert_int_not_equal(pit_constant_create(f->context, &f->tensor, &constant),
                       PIT_OK);
}

/// Tensors that are none.
static void test_tensor(void **state) {
  fixture *f = *state;
  const DLTensor sound = f->tensor;
#define REFUSE(set, status, part)                                              \
  do {                                                                         \
    set;                                                                       \
    refuse_tensor(f, (status), (part));                                        \
    f->tensor = sound;                                                         \
    f->shape[0] = f->shape[1] = 8;                                             \
  } while (0)
  REFUSE(f->tensor.ndim = -1, PIT_ERROR_SHAPE, "has rank -1");
  REFUSE(f->tensor.ndim = INT32_MAX, PIT_ERROR_SHAPE, "has rank 2147483647");
  REFUSE(f->tensor.shape = NULL, PIT_ERROR_INVALID_ARGUMENT, "but no shape");
  REFUSE(f->tensor.shape = (int64_t *)((uintptr_t)f->shape + 1),
         PIT_ERROR_ALIGNMENT, "they must be aligned to 8 bytes");
  REFUSE(f->tensor.strides = (int64_t *)((uintptr_t)f->strides + 4),
         PIT_ERROR_ALIGNMENT, "they must be aligned to 8 bytes");
  REFUSE(f->tensor.data = NULL, PIT_ERROR_INVALID_ARGUMENT, "data is NULL");
  REFUSE(f->tensor.byte_offset = UINT64_MAX - 255 - (uintptr_t)f->x,
         PIT_ERROR_SHAPE, "does not fit in memory");
  REFUSE(f->tensor.byte_offset = 3, PIT_ERROR_ALIGNMENT, "3 past a multiple");
  REFUSE(f->shape[0] = -1, PIT_ERROR_SHAPE, "dimension 0 is -1");
  REFUSE(f->shape[0] = INT64_MIN, PIT_ERROR_SHAPE, "dimension 0 is -92233");
  REFUSE(f->shape[0] = INT64_MAX, PIT_ERROR_SHAPE, "does not fit in memory");
  REFUSE(f->tensor.dtype.code = 99, PIT_ERROR_DTYPE, "(code 99, 32 bits)");
  REFUSE(f->tensor.dtype.bits = 0, PIT_ERROR_DTYPE, "(code 2, 0 bits)");
  REFUSE(f->tensor.dtype.bits = 12, PIT_ERROR_DTYPE, "(code 2, 12 bits)");
  REFUSE(f->tensor.dtype.lanes = 0, PIT_ERROR_DTYPE, "with 0 lanes");
  REFUSE(f->tensor.dtype.lanes = 65535, PIT_ERROR_DTYPE, "with 65535 lanes");
  REFUSE(f->tensor.device.device_type = (DLDeviceType)0, PIT_ERROR_DEVICE,
         "on a device of type 0");
  REFUSE(f->tensor.device.device_type = kDLCUDA, PIT_ERROR_DEVICE,
         "on a device of type 2");
  f->tensor.strides = f->strides;
  const DLTensor strided = f->tensor;
  const int64_t absurd[] = {INT64_MAX, INT64_MIN, INT64_MAX / 7, -INT64_MAX,
                            INT64_MAX / 8};
  for (size_t i = 0; i < sizeof(absurd) / sizeof(*absurd); ++i)
    for (int d = 0; d < 2; ++d) {
      f->strides[0] = 8, f->strides[1] = 1;
      f->strides[d] = absurd[i];
      f->tensor = strided;
      refuse_tensor(f, PIT_ERROR_LAYOUT, "farther apart than memory reaches");
    }
#undef REFUSE
}

/// Specs of sizes that overflow.
static void test_spec(void **state) {
  fixture *f = *state;
  const pit_index_spec sound = f->spec;
  const int64_t absurd[] = {INT64_MIN, -1, INT64_MAX, INT64_MAX / 2,
                            INT64_C(1) << 61};
  for (size_t i = 0; i < sizeof(absurd) / sizeof(*absurd); ++i)
    for (int d = 0; d < 2; ++d) {
      int64_t groups, group_shape[PIT_MAX_RANK];
      f->spec = sound;
      f->spec.shape[d] = absurd[i];
      refuse_build(f, absurd[i] < 0 ? PIT_ERROR_SHAPE : PIT_ERROR_UNSUPPORTED,
                   "index: dimension");
      assert_int_not_equal(
          pit_index_groups(f->context, &f->spec, group_shape, &groups), PIT_OK);
      // A large micro-tile or step is none too large; a negative one is.
      f->spec = sound;
      f->spec.micro_tile[0] = absurd[i];
      f->spec.step[0] = absurd[(i + 1) % 5];
      const pit_index *index;
      pit_status status = pit_index_build(
          f->builder, &f->spec, PIT_SOURCE_VALUES, &f->tensor, NULL, &index);
      if (f->spec.micro_tile[0] < 0 || f->spec.step[0] < 0)
        INVALID(status);
      else
        assert_ok(f->context, status);
    }
  f->spec = sound;
  f->spec.rank = INT32_MIN;
  refuse_build(f, PIT_ERROR_SHAPE, "index: rank -2147483648");
  f->spec.rank = INT32_MAX;
  refuse_build(f, PIT_ERROR_SHAPE, "index: rank 2147483647");
  f->spec = sound;
  f->spec.axis = INT32_MIN;
  refuse_build(f, PIT_ERROR_INVALID_ARGUMENT, "index: axis -2147483648");
  f->spec = sound;
  f->spec.chunk_size = INT64_MIN;
  refuse_build(f, PIT_ERROR_INVALID_ARGUMENT, "index: chunk_size is -922");
  f->spec = sound;
  f->spec.capacity = INT64_MIN;
  refuse_build(f, PIT_ERROR_INVALID_ARGUMENT, "index: capacity is -922");
  f->spec = sound;
  f->spec.flags = ~UINT32_C(0);
  refuse_build(f, PIT_ERROR_INVALID_ARGUMENT, "index: flags 0xffffffff");
}

static void test_program(void **state) {
  fixture *f = *state;
  pit_context *c = f->context;
  pit_program *program = NULL;
  const pit_entry *entry = NULL, *scale;
  INVALID(pit_program_open(NULL, NULL, NULL));
  INVALID(pit_program_open(c, NULL, &program));
  INVALID(pit_program_open(c, PIT_TEST_PROGRAM, NULL));
  check_error(c, pit_program_open(c, "", &program), PIT_ERROR_LOAD,
              "cannot load ''");
  check_error(c, pit_program_open(c, "/", &program), PIT_ERROR_LOAD,
              "cannot load '/'");
  check_error(c, pit_program_open(c, "%s%n", &program), PIT_ERROR_LOAD,
              "cannot load '%s%n'");
  static char longest[1 << 20];
  memset(longest, 'x', sizeof(longest) - 1);
  check_error(c, pit_program_open(c, longest, &program), PIT_ERROR_LOAD,
              "cannot load 'xxxx");
  // A library's name is a file of this folder, not one of the loader's.
  check_error(c, pit_program_open(c, "libm.so.6", &program), PIT_ERROR_LOAD,
              "cannot load 'libm.so.6': ./libm.so.6: ");
  INVALID(pit_program_from_lookup(c, NULL, NULL, NULL, &program));
  assert_null(program);
  pit_program_close(NULL);
  assert_int_equal(pit_program_num_entries(NULL), 0);
  assert_null(pit_program_entry_at(NULL, 0));
  assert_null(pit_program_entry_at(f->program, INT32_MIN));
  assert_null(pit_program_entry_at(f->program, INT32_MAX));
  INVALID(pit_program_entry(c, NULL, "f", &entry));
  INVALID(pit_program_entry(c, f->program, NULL, &entry));
  INVALID(pit_program_entry(c, f->program, "scale", NULL));
  check_error(c, pit_program_entry(c, f->program, longest, &entry),
              PIT_ERROR_NOT_FOUND, "the program has no entry 'xxx");
  assert_null(entry);
  assert_string_equal(pit_entry_name(NULL), "");
  assert_int_equal(pit_entry_num_args(NULL), 0);
  assert_int_equal(pit_entry_num_results(NULL), 0);
  assert_int_equal(pit_entry_workspace(NULL), 0);
  assert_int_equal(pit_entry_device(NULL), 0);
  pit_arg_info info;
  scale = pit_program_entry_at(f->program, 0);
  assert_false(pit_entry_arg(NULL, 0, &info));
  assert_false(pit_entry_arg(scale, 0, NULL));
  assert_false(pit_entry_arg(scale, INT32_MIN, &info));
  assert_false(pit_entry_arg(scale, INT32_MAX, &info));
  assert_false(pit_entry_result(NULL, 0, &info));
  assert_false(pit_entry_result(scale, 0, NULL));
  assert_false(pit_entry_result(scale, INT32_MIN, &info));
}

static void test_call(void **state) {
  fixture *f = *state;
  pit_context *c = f->context;
  const pit_entry *scale = pit_program_entry_at(f->program, 0);
  float factor = 2, y[64];
  DLTensor factor_tensor = tensor_of(&factor, PIT_DTYPE_FLOAT, 32, 0, NULL);
  DLTensor result = tensor_of(y, PIT_DTYPE_FLOAT, 32, 2, f->shape);
  const pit_value ins[] = {{.tensor = &f->tensor}, {.tensor = &factor_tensor}};
  DLTensor *outs[] = {&result};
  int64_t shape[PIT_MAX_RANK];
  INVALID(pit_entry_run(NULL, scale, ins, 2, outs, 1, NULL));
  INVALID(pit_entry_run(c, NULL, ins, 2, outs, 1, NULL));
  INVALID(pit_entry_run(c, scale, NULL, 2, outs, 1, NULL));
  INVALID(pit_entry_run(c, scale, ins, 2, NULL, 1, NULL));
  INVALID(pit_entry_run(c, scale, ins, INT32_MIN, outs, 1, NULL));
  INVALID(pit_entry_run(c, scale, ins, 2, outs, INT32_MAX, NULL));
  INVALID(pit_entry_result_shape(c, NULL, ins, 2, 0, shape));
  INVALID(pit_entry_result_shape(c, scale, NULL, 2, 0, shape));
  INVALID(pit_entry_result_shape(c, scale, ins, 2, 0, NULL));
  INVALID(pit_entry_result_shape(c, scale, ins, 3, 0, shape));
  INVALID(pit_entry_result_shape(c, scale, ins, 2, INT32_MIN, shape));
  f->tensor.shape = NULL;
  check_error(c, pit_entry_result_shape(c, scale, ins, 2, 0, shape),
              PIT_ERROR_INVALID_ARGUMENT, "argument 0 has rank 2 but no shape");
  f->tensor.shape = f->shape;
  f->shape[0] = INT64_MIN;
  assert_int_not_equal(pit_entry_result_shape(c, scale, ins, 2, 0, shape),
                       PIT_OK);
  assert_int_equal(pit_entry_run(c, scale, ins, 2, outs, 1, NULL),
                   PIT_ERROR_SHAPE);
  f->shape[0] = 8;
  f->tensor.byte_offset = UINT64_MAX - 255 - (uintptr_t)f->x;
  check_error(c, pit_entry_run(c, scale, ins, 2, outs, 1, NULL),
              PIT_ERROR_SHAPE,
              "argument 0: a tensor of 8x8 does not fit in memory");
  f->tensor.byte_offset = 0;
  assert_ok(c, pit_entry_run(c, scale, ins, 2, outs, 1, NULL));
}

/// f(n: i64) -> f32[n]
static const pit_manifest manifest = {
    .version = PIT_MANIFEST_WORD0,
    .num_args = 1,
    .num_results = 1,
    .device = kDLCPU,
    .values = (const pit_arg_info[]){{.kind = PIT_KIND_SCALAR,
                                      .dtype = {PIT_DTYPE_INT, 64, 1}},
                                     {.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                      .rank = 1,
                                      .dims = {-1}}},
    .sizes = (const pit_shape_program[]){
        PIT_SHAPE_PROGRAM({PIT_SHAPE_SCALAR, 0, 0})}};

static void *look_up(void *user, const char *symbol) {
  (void)user;
  if (strcmp(symbol, "pit_program_entries") == 0)
    return (void *)(uintptr_t)"f\0";
  if (strcmp(symbol, "pit_f_manifest") == 0)
    return (void *)(uintptr_t)&manifest;
  // Never called.
  return strcmp(symbol, "pit_f") == 0 ? (void *)(uintptr_t)&manifest : NULL;
}

/// A size that is read from a scalar, wherever that may be.
static void test_scalar_size(void **state) {
  fixture *f = *state;
  pit_context *c = f->context;
  pit_program *program;
  assert_ok(c, pit_program_from_lookup(c, look_up, NULL, NULL, &program));
  const pit_entry *entry = pit_program_entry_at(program, 0);
  int64_t n[2] = {5, 6}, shape[PIT_MAX_RANK];
  DLTensor tensor = tensor_of(n, PIT_DTYPE_INT, 64, 0, NULL);
  const pit_value ins[] = {{.tensor = &tensor}};
#define SHAPE() pit_entry_result_shape(c, entry, ins, 1, 0, shape)
  assert_ok(c, SHAPE());
  assert_int_equal(shape[0], 5);
  tensor.byte_offset = 8;
  assert_ok(c, SHAPE());
  assert_int_equal(shape[0], 6);
  n[1] = INT64_MIN;
  check_error(c, SHAPE(), PIT_ERROR_SHAPE,
              "result 0: dimension 0 would be -9223372036854775808");
  tensor.byte_offset = 4;
  check_error(c, SHAPE(), PIT_ERROR_ALIGNMENT, "aligned to its element");
  tensor.byte_offset = 0;
  tensor.device.device_type = kDLCUDA;
  check_error(c, SHAPE(), PIT_ERROR_DEVICE,
              "on a device of type 2; it must be");
  tensor.device.device_type = kDLCPU;
  tensor.data = NULL;
  check_error(c, SHAPE(), PIT_ERROR_INVALID_ARGUMENT, "its data is NULL");
  tensor.dtype.bits = 32;
  check_error(c, SHAPE(), PIT_ERROR_DTYPE, "it must be i64 with 1 lane");
#undef SHAPE
  pit_program_close(program);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_null_index), TEST(test_null_context), TEST(test_options),
      TEST(test_device),     TEST(test_tensor),       TEST(test_spec),
      TEST(test_program),    TEST(test_call),         TEST(test_scalar_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
