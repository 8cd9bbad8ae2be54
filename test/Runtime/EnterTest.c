//===- EnterTest.c - Checks of arguments and results ----------------------===//

#include "EnterFixture.h"
#include "SampleManifest.h"

#include <stdio.h>
#include <string.h>

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
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
