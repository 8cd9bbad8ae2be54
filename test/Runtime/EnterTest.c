//===- EnterTest.c - Checks of arguments and results ----------------------===//

#include "pit-runtime/Abi.h"

#include "Reference.h"
#include "SampleManifest.h"

#include <stdio.h>
#include <string.h>

typedef struct fixture {
  pit_context *context;
  pit_frame *frame;
  _Alignas(64) float a[32], r0[32], r1[32];
  int64_t scalar;
  int64_t a_shape[2], r0_shape[2], r1_shape[1];
  int32_t counts[4], ids[32];
  int64_t offsets[4];
  pit_index index;
  DLTensor a_tensor, s_tensor, r0_tensor, r1_tensor;
  pit_value ins[3];
  DLTensor *outs[2];
  int64_t views[16];
} fixture;

static int set_up(void **state) {
  static fixture f;
  f = (fixture){.a_shape = {5, 4}, .r0_shape = {5, 4}, .r1_shape = {6}};
  assert_int_equal(pit_context_create(NULL, &f.context), PIT_OK);
  pit_index_spec spec = {
      .rank = 2, .axis = 1, .shape = {7, 8}, .micro_tile = {2, 1}};
  pit_index_arrays arrays = {.counts = f.counts,
                             .offsets = f.offsets,
                             .ids = f.ids,
                             .groups = 4,
                             .capacity = 32};
  assert_ok(f.context, pit_index_import(f.context, &spec, &arrays, &f.index));
  f.a_tensor = tensor_of(f.a, PIT_DTYPE_FLOAT, 32, 2, f.a_shape);
  f.s_tensor = tensor_of(&f.scalar, PIT_DTYPE_INT, 64, 0, NULL);
  f.r0_tensor = tensor_of(f.r0, PIT_DTYPE_FLOAT, 32, 2, f.r0_shape);
  f.r1_tensor = tensor_of(f.r1, PIT_DTYPE_FLOAT, 32, 1, f.r1_shape);
  f.ins[0] = pit_tensor_value(&f.a_tensor);
  f.ins[1] = pit_index_value(&f.index);
  f.ins[2] = pit_tensor_value(&f.s_tensor);
  f.outs[0] = &f.r0_tensor;
  f.outs[1] = &f.r1_tensor;
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  pit_context_destroy(((fixture *)*state)->context);
  return 0;
}

static int32_t enter(fixture *f) {
  f->frame = (pit_frame *)f;
  return pit_rt_enter(f->context, &sample_manifest, f->ins, f->outs, NULL,
                      f->views, &f->frame);
}

static void refuse(fixture *f, pit_status wanted, const char *part) {
  check_error(f->context, enter(f), wanted, part);
  assert_null(f->frame);
}

static void accept(fixture *f) {
  assert_ok(f->context, enter(f));
  assert_int_equal(pit_rt_leave(f->frame, 0), 0);
}

static void test_views(void **state) {
  fixture *f = *state;
  f->a_shape[0] = 4;
  f->r0_shape[0] = 4;
  f->a_tensor.byte_offset = 16;
  assert_ok(f->context, enter(f));
  const int64_t expected[] = {(intptr_t)(f->a + 4),
                              4,
                              4,
                              (intptr_t)&f->index,
                              (intptr_t)&f->scalar,
                              (intptr_t)f->r0,
                              4,
                              4,
                              (intptr_t)f->r1,
                              6,
                              0};
  assert_memory_equal(f->views, expected, sizeof(expected));
  assert_int_equal(pit_rt_leave(f->frame, 42), 42);
}

static void test_rank_and_shape(void **state) {
  fixture *f = *state;
  f->a_tensor.ndim = 1;
  refuse(f, PIT_ERROR_SHAPE, "argument 0 has rank 1; it must be 2");
  f->a_tensor.ndim = 2;
  f->a_shape[1] = 5;
  refuse(f, PIT_ERROR_SHAPE, "argument 0: dimension 1 is 5; it must be 4");
  f->a_shape[1] = 4;
  f->a_shape[0] = -1;
  refuse(f, PIT_ERROR_SHAPE,
         "argument 0: dimension 0 is -1; it cannot be negative");
  f->a_shape[0] = INT64_C(1) << 60;
  refuse(f, PIT_ERROR_SHAPE,
         "argument 0: a tensor of 1152921504606846976x4 does not fit");
  f->a_shape[0] = 5;
  f->a_tensor.shape = NULL;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT, "argument 0 has rank 2 but no shape");
  f->a_tensor.shape = f->a_shape;
  f->s_tensor.ndim = 1;
  refuse(f, PIT_ERROR_SHAPE, "argument 2 has rank 1; it must be 0");
  f->s_tensor.ndim = 0;
  f->r0_shape[0] = 6;
  refuse(f, PIT_ERROR_SHAPE, "result 0: dimension 0 is 6; it must be 5");
  f->r0_shape[0] = 5;
  f->r1_shape[0] = 4;
  refuse(f, PIT_ERROR_SHAPE, "result 1: dimension 0 is 4; it must be 6");
  f->r1_shape[0] = 6;
  accept(f);
}

static void test_dtype(void **state) {
  fixture *f = *state;
  f->a_tensor.dtype.code = PIT_DTYPE_BFLOAT;
  f->a_tensor.dtype.bits = 16;
  refuse(f, PIT_ERROR_DTYPE,
         "argument 0 has element type bf16 with 1 lanes; it must be f32");
  f->a_tensor.dtype = (DLDataType){PIT_DTYPE_FLOAT, 32, 2};
  refuse(f, PIT_ERROR_DTYPE,
         "argument 0 has element type f32 with 2 lanes; it must be f32 with 1");
  f->a_tensor.dtype.lanes = 1;
  f->s_tensor.dtype.bits = 32;
  refuse(f, PIT_ERROR_DTYPE, "argument 2 has element type i32 with 1 lanes");
  f->s_tensor.dtype.bits = 64;
  f->r1_tensor.dtype.code = PIT_DTYPE_INT;
  refuse(f, PIT_ERROR_DTYPE,
         "result 1 has element type i32 with 1 lanes; it must be f32");
}

static void test_layout(void **state) {
  fixture *f = *state;
  int64_t strides[2] = {8, 1};
  f->a_tensor.strides = strides;
  refuse(f, PIT_ERROR_LAYOUT,
         "argument 0: strides 8x1; they must be 4x1 (contiguous, row-major)");
  strides[0] = 4;
  accept(f);
  // A dimension of size 1 has any stride, and so has an empty tensor.
  strides[0] = -3;
  f->a_shape[0] = f->r0_shape[0] = 1;
  accept(f);
  f->a_shape[0] = f->r0_shape[0] = 0;
  f->a_tensor.data = NULL;
  accept(f);
  f->a_shape[0] = f->r0_shape[0] = 5;
  refuse(f, PIT_ERROR_LAYOUT, "argument 0: strides -3x1");
  f->a_tensor.strides = NULL;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "argument 0: its shape is 5x4 but its data is NULL");
}

static void test_alignment_and_device(void **state) {
  fixture *f = *state;
  f->a_tensor.byte_offset = 2;
  refuse(f, PIT_ERROR_ALIGNMENT,
         "argument 0: its data is 2 bytes past a multiple of 4");
  f->a_tensor.byte_offset = 0;
  f->r0_tensor.device.device_type = kDLCUDA;
  refuse(f, PIT_ERROR_DEVICE,
         "result 0 is on a device of type 2; it must be on the CPU (1)");
}

static void test_index(void **state) {
  fixture *f = *state;
  f->index.axis = 0;
  refuse(f, PIT_ERROR_SHAPE,
         "argument 1 is an index of axis 0 of rank 2; it must be of axis 1 of "
         "rank 2");
  f->index.axis = 1;
  f->index.micro_tile[0] = 4;
  refuse(f, PIT_ERROR_SHAPE,
         "argument 1 is an index with micro_tile[0] = 4; it must be 2");
  f->index.micro_tile[0] = 2;
  f->index.step[0] = 1;
  refuse(f, PIT_ERROR_SHAPE,
         "argument 1 is an index with step[0] = 1; it must be 2");
  f->ins[1] = pit_index_value(NULL);
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "argument 1 is NULL; it must be an index");
}

static void test_overlap(void **state) {
  fixture *f = *state;
  f->r0_tensor.data = f->a + 12;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "result 0 shares memory with argument 0");
  f->r0_tensor.data = f->a;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "result 0 shares memory with argument 0");
  f->r0_tensor.data = f->r0;
  f->r1_tensor.data = f->r0 + 19;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT, "result 1 shares memory with result 0");
  f->r1_tensor.data = f->r0 + 20; // just past it
  accept(f);
  f->a_shape[0] = f->r0_shape[0] = 3;
  f->r1_tensor.data = f->r1;
  f->a_tensor.data = f->r0 + 12; // the result ends where it begins
  accept(f);
  f->r1_tensor.data = f->ids + 26;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "result 1 shares memory with argument 1");
  f->r1_tensor.data = &f->index.shape;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "result 1 shares memory with argument 1");
  f->r1_tensor.data = &f->scalar;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "result 1 shares memory with argument 2");
}

static void test_null(void **state) {
  fixture *f = *state;
  f->ins[0] = pit_tensor_value(NULL);
  refuse(f, PIT_ERROR_INVALID_ARGUMENT,
         "argument 0 is NULL; it must be a tensor");
  f->ins[0] = pit_tensor_value(&f->a_tensor);
  f->outs[1] = NULL;
  refuse(f, PIT_ERROR_INVALID_ARGUMENT, "result 1 is NULL");
  check_error(f->context,
              pit_rt_enter(f->context, &sample_manifest, NULL, f->outs, NULL,
                           f->views, &f->frame),
              PIT_ERROR_INVALID_ARGUMENT, "the list of arguments is NULL");
  check_error(f->context,
              pit_rt_enter(f->context, &sample_manifest, f->ins, NULL, NULL,
                           f->views, &f->frame),
              PIT_ERROR_INVALID_ARGUMENT, "the list of results is NULL");
  check_error(f->context,
              pit_rt_enter(f->context, NULL, f->ins, f->outs, NULL, f->views,
                           &f->frame),
              PIT_ERROR_LOAD, "the manifest is NULL");
  assert_int_equal(pit_rt_enter(NULL, &sample_manifest, f->ins, f->outs, NULL,
                                f->views, &f->frame),
                   PIT_ERROR_INVALID_ARGUMENT);
}

/// Loads a program of a function with a manifest.
static const pit_manifest *offered;
static void *look_up(void *user, const char *symbol) {
  (void)user;
  if (strcmp(symbol, "pit_program_entries") == 0)
    return (void *)(uintptr_t)"f\0";
  return strncmp(symbol, "pit_f", 5) == 0 ? (void *)(uintptr_t)offered : NULL;
}
static pit_status load(fixture *f, const pit_manifest *manifest) {
  pit_program *program = NULL;
  offered = manifest;
  pit_status status =
      pit_program_from_lookup(f->context, look_up, NULL, NULL, &program);
  pit_program_close(program);
  return status;
}

#define F32_TYPE {PIT_DTYPE_FLOAT, 32, 1}

/// A result whose size is the value of a scalar argument, of each width.
static void test_scalar_size(void **state) {
  fixture *f = *state;
  int8_t i8 = 3;
  int16_t i16 = 3;
  int32_t i32 = 3;
  int64_t i64 = 3;
  void *values[] = {&i8, &i16, &i32, &i64};
  const pit_shape_program size = PIT_SHAPE_PROGRAM({PIT_SHAPE_SCALAR, 0, 0});
  for (int i = 0; i < 4; ++i) {
    const pit_arg_info infos[] = {
        {.kind = PIT_KIND_SCALAR,
         .dtype = {PIT_DTYPE_INT, (uint8_t)(8 << i), 1}},
        {.dtype = F32_TYPE, .rank = 1, .dims = {-1}}};
    const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                   .num_args = 1,
                                   .num_results = 1,
                                   .device = kDLCPU,
                                   .values = infos,
                                   .sizes = &size};
    DLTensor scalar = {.data = values[i],
                       .device = {kDLCPU, 0},
                       .dtype = {kDLInt, (uint8_t)(8 << i), 1}};
    const pit_value ins[] = {{.tensor = &scalar}};
    DLTensor *outs[] = {&f->r1_tensor};
    f->r1_shape[0] = 3;
    assert_ok(f->context, pit_rt_enter(f->context, &manifest, ins, outs, NULL,
                                       f->views, &f->frame));
    pit_rt_leave(f->frame, 0);
    memset(values[i], 0xFF, (size_t)1 << i); // -1
    check_error(f->context,
                pit_rt_enter(f->context, &manifest, ins, outs, NULL, f->views,
                             &f->frame),
                PIT_ERROR_SHAPE,
                "result 0: dimension 0 would be -1 (argument 0)");
  }
}

/// f(a: ?x4 f32) -> a vector of the size of a program, which is the case.
static void test_programs(void **state) {
  fixture *f = *state;
  struct {
    int64_t count;
    pit_shape_op ops[5];
    int64_t size; ///< of the result that is right, or a status if it is refused
    const char *part;
  } cases[] = {
      {1, {{PIT_SHAPE_UNKNOWN, 0, 0}}, 3, NULL},
      {3,
       {{PIT_SHAPE_CONST, 0, 7},
        {PIT_SHAPE_CONST, 0, 2},
        {PIT_SHAPE_FLOORDIV, 0, 0}},
       3,
       NULL},
      {3,
       {{PIT_SHAPE_CONST, 0, 7},
        {PIT_SHAPE_CONST, 0, 2},
        {PIT_SHAPE_CEILDIV, 0, 0}},
       4,
       NULL},
      {3,
       {{PIT_SHAPE_CONST, 0, 7},
        {PIT_SHAPE_CONST, 0, 4},
        {PIT_SHAPE_MOD, 0, 0}},
       3,
       NULL},
      {3,
       {{PIT_SHAPE_DIM, 0, 0}, {PIT_SHAPE_CONST, 0, 1}, {PIT_SHAPE_ADD, 0, 0}},
       6,
       NULL},
      {3,
       {{PIT_SHAPE_CONST, 0, -7},
        {PIT_SHAPE_CONST, 0, 4},
        {PIT_SHAPE_MOD, 0, 0}},
       1,
       NULL},
      {5,
       {{PIT_SHAPE_CONST, 0, -7},
        {PIT_SHAPE_CONST, 0, 2},
        {PIT_SHAPE_FLOORDIV, 0, 0},
        {PIT_SHAPE_CONST, 0, 9},
        {PIT_SHAPE_ADD, 0, 0}},
       5,
       NULL},
      {5,
       {{PIT_SHAPE_CONST, 0, -7},
        {PIT_SHAPE_CONST, 0, 2},
        {PIT_SHAPE_CEILDIV, 0, 0},
        {PIT_SHAPE_CONST, 0, 9},
        {PIT_SHAPE_ADD, 0, 0}},
       6,
       NULL},
      {3,
       {{PIT_SHAPE_CONST, 0, 7},
        {PIT_SHAPE_CONST, 0, 0},
        {PIT_SHAPE_MOD, 0, 0}},
       PIT_ERROR_LOAD,
       "divides by a number that is not positive"},
      {3,
       {{PIT_SHAPE_CONST, 0, INT64_MAX},
        {PIT_SHAPE_CONST, 0, 2},
        {PIT_SHAPE_MUL, 0, 0}},
       PIT_ERROR_SHAPE,
       "the arguments are too large: a size computed from their shapes "
       "(9223372036854775807 * 2) does not fit in 64 bits"},
      {3,
       {{PIT_SHAPE_DIM, 0, 0}, {PIT_SHAPE_CONST, 0, -9}, {PIT_SHAPE_ADD, 0, 0}},
       PIT_ERROR_SHAPE,
       "result 0: dimension 0 would be -4 (dimension 0 of argument 0 + -9); "
       "the arguments are too small"},
  };
  static const pit_arg_info infos[] = {
      {.dtype = F32_TYPE, .rank = 2, .dims = {-1, 4}},
      {.dtype = F32_TYPE, .rank = 1, .dims = {-1}}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    const pit_shape_program size = {cases[i].ops, cases[i].count};
    const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                   .num_args = 1,
                                   .num_results = 1,
                                   .device = kDLCPU,
                                   .values = infos,
                                   .sizes = &size};
    assert_ok(f->context, load(f, &manifest));
    DLTensor *outs[] = {&f->r1_tensor};
    f->r1_shape[0] = cases[i].part ? 3 : cases[i].size;
    int32_t status = pit_rt_enter(f->context, &manifest, f->ins, outs, NULL,
                                  f->views, &f->frame);
    if (cases[i].part) {
      check_error(f->context, status, (pit_status)cases[i].size, cases[i].part);
      continue;
    }
    assert_ok(f->context, status);
    pit_rt_leave(f->frame, 0);
    f->r1_shape[0] += 1;
    status = pit_rt_enter(f->context, &manifest, f->ins, outs, NULL, f->views,
                          &f->frame);
    if (cases[i].ops[0].op == PIT_SHAPE_UNKNOWN)
      pit_rt_leave(f->frame, status);
    else
      check_error(f->context, status, PIT_ERROR_SHAPE, "result 0: dimension 0");
  }
}

/// f(a: ?x4 f32, b: ? f32) with one requirement.
static void test_requirements(void **state) {
  fixture *f = *state;
  const struct {
    pit_requirement requirement;
    const char *part; ///< NULL: it is met
  } cases[] = {
      {{PIT_REQUIRE_EQUAL,
        {PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 0}),
         PIT_SHAPE_PROGRAM({PIT_SHAPE_CONST, 0, 5})}},
       NULL},
      {{PIT_REQUIRE_AT_LEAST,
        {PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 0}),
         PIT_SHAPE_PROGRAM({PIT_SHAPE_CONST, 0, 5})}},
       NULL},
      {{PIT_REQUIRE_AT_LEAST,
        {PIT_SHAPE_PROGRAM({PIT_SHAPE_UNKNOWN, 0, 0}),
         PIT_SHAPE_PROGRAM({PIT_SHAPE_CONST, 0, 5})}},
       NULL},
      {{PIT_REQUIRE_EQUAL,
        {PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 0}),
         PIT_SHAPE_PROGRAM({PIT_SHAPE_CONST, 0, 6})}},
       "dimension 0 of argument 0 is 5; it must be 6"},
      {{PIT_REQUIRE_AT_LEAST,
        {PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 0}),
         PIT_SHAPE_PROGRAM({PIT_SHAPE_CONST, 0, 6})}},
       "dimension 0 of argument 0 is 5; it must be at least 6"},
      {{PIT_REQUIRE_EQUAL,
        {PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 0}),
         PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 1, 0})}},
       "dimension 0 of argument 0 is 5 but dimension 0 of argument 1 is 6; the "
       "first must be equal to the second"},
      {{PIT_REQUIRE_AT_LEAST,
        {PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 0}),
         PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 1, 0}, {PIT_SHAPE_CONST, 0, 2},
                           {PIT_SHAPE_MUL, 0, 0})}},
       "dimension 0 of argument 0 is 5 but dimension 0 of argument 1 * 2 is "
       "12; the first must be at least the second"},
  };
  static const pit_arg_info infos[] = {
      {.dtype = F32_TYPE, .rank = 2, .dims = {-1, 4}},
      {.dtype = F32_TYPE, .rank = 1, .dims = {-1}}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                   .num_args = 2,
                                   .num_requirements = 1,
                                   .device = kDLCPU,
                                   .values = infos,
                                   .requirements = &cases[i].requirement};
    assert_ok(f->context, load(f, &manifest));
    const pit_value ins[] = {{.tensor = &f->a_tensor},
                             {.tensor = &f->r1_tensor}};
    int32_t status = pit_rt_enter(f->context, &manifest, ins, NULL, NULL,
                                  f->views, &f->frame);
    if (cases[i].part) {
      check_error(f->context, status, PIT_ERROR_SHAPE, cases[i].part);
      continue;
    }
    assert_ok(f->context, status);
    pit_rt_leave(f->frame, 0);
  }
}

/// A formula longer than a message has room for is cut.
static void test_long_formula(void **state) {
  fixture *f = *state;
  enum { TERMS = 30 };
  pit_shape_op ops[2 * TERMS - 1];
  for (int i = 0; i < 2 * TERMS - 1; ++i)
    ops[i] = (pit_shape_op){i < TERMS ? PIT_SHAPE_DIM : PIT_SHAPE_ADD, 0, 0};
  const pit_requirement requirement = {
      PIT_REQUIRE_AT_LEAST,
      {{ops, 2 * TERMS - 1}, PIT_SHAPE_PROGRAM({PIT_SHAPE_CONST, 0, 1000})}};
  const pit_arg_info info = {.dtype = F32_TYPE, .rank = 2, .dims = {-1, 4}};
  const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                 .num_args = 1,
                                 .num_requirements = 1,
                                 .device = kDLCPU,
                                 .values = &info,
                                 .requirements = &requirement};
  check_error(f->context,
              pit_rt_enter(f->context, &manifest, f->ins, NULL, NULL, f->views,
                           &f->frame),
              PIT_ERROR_SHAPE, "dimension 0 of argument 0");
}

/// A call of a function by its name checks the version alone.
static void test_version(void **state) {
  fixture *f = *state;
  const struct {
    int64_t version;
    const char *part;
  } cases[] = {
      {7, "not a manifest: it starts with 0x7"},
      {PIT_MANIFEST_MAGIC | INT64_C(3) << 32,
       "the program has a manifest of version 3; this runtime takes version "
       "6: compile the program anew"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    const pit_manifest manifest = {.version = cases[i].version};
    check_error(f->context,
                pit_rt_enter(f->context, &manifest, f->ins, f->outs, NULL,
                             f->views, &f->frame),
                PIT_ERROR_LOAD, cases[i].part);
    check_error(f->context, load(f, &manifest), PIT_ERROR_LOAD, cases[i].part);
  }
}

static void test_malformed(void **state) {
  fixture *f = *state;
  const struct {
    int32_t num_args, num_results, num_requirements, device, workspace;
    const char *part;
  } heads[] = {
      {-1, 0, 0, kDLCPU, 0, "malformed manifest: -1 arguments"},
      {0, 5000, 0, kDLCPU, 0, "malformed manifest: 0 arguments, 5000"},
      {0, 0, -1, kDLCPU, 0, "malformed manifest: -1 requirements"},
      {0, 0, 0, kDLCPU, -1, "-1 bytes of workspace"},
      {0, 0, 0, 7, 0,
       "malformed manifest: device 7; it must be 1 (the CPU) or 2 (CUDA)"},
      {1, 0, 0, kDLCPU, 0, "malformed manifest: the list of values is NULL"},
  };
  for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); ++i) {
    const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                   .num_args = heads[i].num_args,
                                   .num_results = heads[i].num_results,
                                   .num_requirements =
                                       heads[i].num_requirements,
                                   .device = heads[i].device,
                                   .workspace = heads[i].workspace};
    check_error(f->context, load(f, &manifest), PIT_ERROR_LOAD, heads[i].part);
  }
  const struct {
    pit_arg_info info;
    const char *part;
  } values[] = {
      {{.kind = (pit_arg_kind)3}, " has kind 3"},
      {{.dtype = {5, 0, 1}},
       " has an element type of code 5, 0 bits and 1 lanes"},
      {{.dtype = {PIT_DTYPE_FLOAT, 32, 2}}, "32 bits and 2 lanes"},
      {{.dtype = F32_TYPE, .rank = 9}, " has rank 9"},
      {{.dtype = F32_TYPE, .rank = -1}, " has rank -1"},
      {{.dtype = F32_TYPE, .rank = 1, .dims = {-2}}, " is -2"},
      {{.kind = PIT_KIND_SCALAR, .dtype = F32_TYPE, .rank = 1}, " has rank 1"},
      {{.kind = PIT_KIND_INDEX, .rank = 2, .axis = 2},
       ", an index of rank 2, has axis 2"},
      {{.dtype = F32_TYPE, .rank = 1, .dims = {-1}}, NULL},
  };
  for (size_t i = 0; i < sizeof(values) / sizeof(*values); ++i)
    for (int results = 0; results < 2; ++results) {
      const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                     .num_args = !results,
                                     .num_results = results,
                                     .device = kDLCPU,
                                     .values = &values[i].info};
      if (values[i].part)
        check_error(f->context, load(f, &manifest), PIT_ERROR_LOAD,
                    values[i].part);
      else if (results)
        check_error(f->context, load(f, &manifest), PIT_ERROR_LOAD,
                    "dimension 0 of result 0 has no length in [1, 256]");
      else
        assert_ok(f->context, load(f, &manifest));
    }
}

/// Programs that a loader refuses, as the size of a result and in a
/// requirement.
static void test_malformed_programs(void **state) {
  fixture *f = *state;
  pit_shape_op deep[PIT_SHAPE_MAX_DEPTH + 1];
  for (int i = 0; i <= PIT_SHAPE_MAX_DEPTH; ++i)
    deep[i] = (pit_shape_op){PIT_SHAPE_UNKNOWN, 0, 0};
  const struct {
    pit_shape_program program;
    const char *part;
  } cases[] = {
      {{NULL, 1}, "has no length in [1, 256]"},
      {{deep, 0}, "has no length in [1, 256]"},
      {{deep, 257}, "has no length in [1, 256]"},
      {{deep, PIT_SHAPE_MAX_DEPTH + 1}, "needs a deeper stack than there is"},
      {PIT_SHAPE_PROGRAM({PIT_SHAPE_ADD, 0, 0}), "takes more from its stack"},
      {PIT_SHAPE_PROGRAM({9, 0, 0}), "has an unknown operation"},
      {PIT_SHAPE_PROGRAM({-1, 0, 0}), "has an unknown operation"},
      {PIT_SHAPE_PROGRAM({PIT_SHAPE_SCALAR, 1, 0}), "reads an argument that"},
      {PIT_SHAPE_PROGRAM({PIT_SHAPE_SCALAR, 0, 0}), "what is no signed scalar"},
      {PIT_SHAPE_PROGRAM({PIT_SHAPE_SCALAR, -1, 0}), "reads an argument that"},
      {PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 1, 0}), "reads an argument that"},
      {PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 2}), "reads a dimension that"},
      {PIT_SHAPE_PROGRAM({PIT_SHAPE_UNKNOWN, 0, 0}, {PIT_SHAPE_UNKNOWN, 0, 0}),
       "does not leave one value"},
  };
  static const pit_arg_info infos[] = {
      {.dtype = F32_TYPE, .rank = 2, .dims = {-1, 4}},
      {.dtype = F32_TYPE, .rank = 1, .dims = {-1}}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    pit_requirement requirement = {
        PIT_REQUIRE_EQUAL,
        {PIT_SHAPE_PROGRAM({PIT_SHAPE_CONST, 0, 1}), cases[i].program}};
    const pit_manifest sizes = {.version = PIT_MANIFEST_WORD0,
                                .num_args = 1,
                                .num_results = 1,
                                .device = kDLCPU,
                                .values = infos,
                                .sizes = &cases[i].program};
    const pit_manifest requirements = {.version = PIT_MANIFEST_WORD0,
                                       .num_args = 1,
                                       .num_requirements = 1,
                                       .device = kDLCPU,
                                       .values = infos,
                                       .requirements = &requirement};
    check_error(f->context, load(f, &sizes), PIT_ERROR_LOAD, cases[i].part);
    check_error(f->context, load(f, &requirements), PIT_ERROR_LOAD,
                cases[i].part);
    requirement.relation = 2;
    check_error(f->context, load(f, &requirements), PIT_ERROR_LOAD,
                "requirement 0 is of kind 2");
  }
}

static void test_bools(void **state) {
  fixture *f = *state;
  enum { SIZE = 10000 };
  // f(m: ? bool, s: bool) -> ()
  const pit_manifest of_bools = {
      .version = PIT_MANIFEST_WORD0,
      .num_args = 2,
      .device = kDLCPU,
      .values = (const pit_arg_info[]){
          {.kind = PIT_KIND_TENSOR,
           .dtype = {PIT_DTYPE_BOOL, 8, 1},
           .rank = 1,
           .dims = {-1}},
          {.kind = PIT_KIND_SCALAR, .dtype = {PIT_DTYPE_BOOL, 8, 1}}}};
  static unsigned char mask[SIZE + 1], scalar;
  int64_t shape[] = {SIZE};
  DLTensor m = tensor_of(mask, PIT_DTYPE_BOOL, 8, 1, shape);
  DLTensor s = tensor_of(&scalar, PIT_DTYPE_BOOL, 8, 0, NULL);
  const pit_value ins[] = {{.tensor = &m}, {.tensor = &s}};
  memset(mask, 1, SIZE);
  mask[5] = 0;
  mask[SIZE] = 255; // behind it
  scalar = 1;
  for (int64_t wrong = -2; wrong < SIZE; wrong += wrong < 8 ? 1 : 1997) {
    unsigned char *at = wrong < 0 ? &scalar : &mask[wrong];
    unsigned char before = *at;
    if (wrong > -2)
      *at = 2;
    char part[64];
    snprintf(part, sizeof(part), "argument %d: byte %lld of its data is 2",
             wrong < 0, (long long)(wrong < 0 ? 0 : wrong));
    int32_t status = pit_rt_enter(f->context, &of_bools, ins, NULL, NULL,
                                  f->views, &f->frame);
    if (wrong > -2) {
      check_error(f->context, status, PIT_ERROR_INVALID_ARGUMENT, part);
    } else {
      assert_ok(f->context, status);
      pit_rt_leave(f->frame, 0);
    }
    *at = before;
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_views),
      TEST(test_rank_and_shape),
      TEST(test_dtype),
      TEST(test_layout),
      TEST(test_alignment_and_device),
      TEST(test_index),
      TEST(test_bools),
      TEST(test_overlap),
      TEST(test_null),
      TEST(test_scalar_size),
      TEST(test_programs),
      TEST(test_requirements),
      TEST(test_long_formula),
      TEST(test_version),
      TEST(test_malformed),
      TEST(test_malformed_programs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
