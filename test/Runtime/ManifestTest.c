//===- ManifestTest.c - Manifests of programs, and the sizes in them ------===//

#include "EnterFixture.h"

#include <string.h>

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

/// Steps of a program; DIM is dimension 0 of argument 0.
#define OP(name) {PIT_SHAPE_##name, 0, 0}
#define CONST(number) {PIT_SHAPE_CONST, 0, number}

/// f(a: ?x4 f32) -> a vector of the size of a program, which is the case.
static void test_programs(void **state) {
  fixture *f = *state;
  struct {
    int64_t count;
    pit_shape_op ops[5];
    int64_t size; ///< of the result that is right, or a status if it is refused
    const char *part;
  } cases[] = {
      {1, {OP(UNKNOWN)}, 3, NULL},
      {3, {CONST(7), CONST(2), OP(FLOORDIV)}, 3, NULL},
      {3, {CONST(7), CONST(2), OP(CEILDIV)}, 4, NULL},
      {3, {CONST(7), CONST(4), OP(MOD)}, 3, NULL},
      {3, {OP(DIM), CONST(1), OP(ADD)}, 6, NULL},
      {3, {CONST(-7), CONST(4), OP(MOD)}, 1, NULL},
      {5, {CONST(-7), CONST(2), OP(FLOORDIV), CONST(9), OP(ADD)}, 5, NULL},
      {5, {CONST(-7), CONST(2), OP(CEILDIV), CONST(9), OP(ADD)}, 6, NULL},
      {3,
       {CONST(7), CONST(0), OP(MOD)},
       PIT_ERROR_LOAD,
       "divides by a number that is not positive"},
      {3,
       {CONST(INT64_MAX), CONST(2), OP(MUL)},
       PIT_ERROR_SHAPE,
       "the arguments are too large: a size computed from their shapes "
       "(9223372036854775807 * 2) does not fit in 64 bits"},
      {3,
       {OP(DIM), CONST(-9), OP(ADD)},
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

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
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
