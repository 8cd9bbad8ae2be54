//===- CudaContextTest.c - Opening a device, and who may use it -----------===//

#include "CudaFixture.h"

#include <stdio.h>
#include <string.h>

/// The context cannot be made, and says why.
static void refuse(cuda_fixture *f, int32_t device, pit_status wanted,
                   const char *message) {
  f->context = NULL;
  f->message[0] = '\0';
  pit_status status = cuda_create(f, device, "");
  if (status != wanted || !strstr(f->message, message)) {
    print_error("status %d, message '%s'; wanted %d and '%s'\n", status,
                f->message, wanted, message);
    fail();
  }
  assert_null(f->context);
  assert_int_equal(f->fake->contexts, 0);
}

static void test_create(void **state) {
  cuda_fixture *f = *state;
  assert_int_equal(cuda_create(f, 1, ""), PIT_OK);
  assert_int_equal(f->fake->contexts, 1);
  assert_true(pit_context_threads(f->context) >= 1);
}

static void test_no_device(void **state) {
  cuda_fixture *f = *state;
  pit_context_options options = {.device_type = kDLCUDA,
                                 .cuda_library = "/no/such/libcuda.so",
                                 .message = f->message,
                                 .message_size = sizeof(f->message)};
  assert_int_equal(pit_context_create(&options, &f->context), PIT_ERROR_DEVICE);
  assert_non_null(strstr(f->message, "cuda: cannot open the driver's library: "
                                     "/no/such/libcuda.so"));
  // A library that is no driver.
  options.cuda_library = PIT_RUNTIME_FILE;
  assert_int_equal(pit_context_create(&options, &f->context), PIT_ERROR_DRIVER);
  assert_non_null(strstr(f->message, "it supports CUDA 0.0"));
  f->fake->devices = 0;
  refuse(f, 0, PIT_ERROR_DEVICE,
         "cuda: this machine has a driver, but no device that it can see");
  f->fake->devices = 2;
  refuse(f, 2, PIT_ERROR_DEVICE,
         "cuda: device_id is 2; this machine has 2 devices, numbered from 0");
  refuse(f, -1, PIT_ERROR_DEVICE, "cuda: device_id is -1; this machine has 2");
  f->fake->devices = 1;
  refuse(f, 1, PIT_ERROR_DEVICE, "this machine has 1 device, numbered from 0");
}

static void test_too_old(void **state) {
  cuda_fixture *f = *state;
  f->fake->version = 11080;
  refuse(f, 0, PIT_ERROR_DRIVER,
         "cuda: the driver is too old: it supports CUDA 11.8; it must support "
         "12.0 or later");
  f->fake->version = 12000;
  f->fake->capability_major = 7;
  refuse(f, 1, PIT_ERROR_DEVICE,
         "cuda: device 1 (Fake 1) has compute capability 7.0; it must be 8.0 "
         "or later");
}

/// Every function that opening a device calls may fail.
static void test_failures(void **state) {
  cuda_fixture *f = *state;
  const char *const functions[] = {
      "cuDeviceGetCount",     "cuDeviceGet",        "cuDeviceGetName",
      "cuDeviceGetAttribute", "cuDriverGetVersion", "cuDevicePrimaryCtxRetain",
      "cuDeviceGetAttribute",
  };
  for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); ++i) {
    // The driver's version is read twice, the last attribute after four others.
    cuda_fail(f, functions[i], 719, i == 4 ? 1 : i == 6 ? 4 : 0, 1);
    char wanted[128];
    snprintf(wanted, sizeof(wanted), "cuda: %s failed on device 0",
             functions[i]);
    refuse(f, 0, PIT_ERROR_DRIVER, wanted);
    assert_non_null(strstr(f->message, ": fake error (error 719)"));
  }
  cuda_fail(f, "cuInit", 999, 0, 1);
  refuse(f, 0, PIT_ERROR_DRIVER,
         "cuda: cuInit failed: an error that the driver does not know (error "
         "999)");
}

enum { F32 = PIT_DTYPE_FLOAT | 32 << 8 };

/// Takes a 4xf32 tensor and an f32, gives 4xf32.
static const pit_manifest scale = {
    .version = PIT_MANIFEST_WORD0,
    .num_args = 2,
    .num_results = 1,
    .device = kDLCUDA,
    .values = (const pit_arg_info[]){
        {.kind = PIT_KIND_TENSOR,
         .dtype = {PIT_DTYPE_FLOAT, 32, 1},
         .rank = 1,
         .dims = {4}},
        {.kind = PIT_KIND_SCALAR, .dtype = {PIT_DTYPE_FLOAT, 32, 1}},
        {.kind = PIT_KIND_TENSOR,
         .dtype = {PIT_DTYPE_FLOAT, 32, 1},
         .rank = 1,
         .dims = {4}}}};

static void test_tensors(void **state) {
  cuda_fixture *f = *state;
  float x[4] = {0}, y[4] = {0}, factor = 2;
  int64_t shape[1] = {4};
  DLTensor in = cuda_tensor(x, PIT_DTYPE_FLOAT, 32, 1, shape);
  DLTensor out = cuda_tensor(y, PIT_DTYPE_FLOAT, 32, 1, shape);
  DLTensor scalar = tensor_of(&factor, PIT_DTYPE_FLOAT, 32, 0, NULL);
  const pit_value ins[] = {{.tensor = &in}, {.tensor = &scalar}};
  DLTensor *outs[] = {&out};
  int64_t views[5];
  pit_frame *frame;
#define ENTER() pit_rt_enter(f->context, &scale, ins, outs, NULL, views, &frame)
  assert_ok(f->context, ENTER());
  assert_ptr_equal((void *)(intptr_t)views[0], x);
  assert_ptr_equal((void *)(intptr_t)views[2], &factor);
  assert_int_equal(pit_rt_leave(frame, 0), 0);
  in.device.device_type = kDLCUDAManaged;
  assert_ok(f->context, ENTER());
  pit_rt_leave(frame, 0);
  in.device = (DLDevice){kDLCPU, 0};
  check_error(f->context, ENTER(), PIT_ERROR_DEVICE,
              "argument 0 is on device 0 of type 1; it must be on device 0 of "
              "type 2 (CUDA)");
  in.device = (DLDevice){kDLCUDA, 1};
  check_error(f->context, ENTER(), PIT_ERROR_DEVICE,
              "argument 0 is on device 1 of type 2; it must be on device 0");
  in.device.device_id = 0;
  out.device.device_id = 1;
  check_error(f->context, ENTER(), PIT_ERROR_DEVICE, "result 0 is on device 1");
  out.device.device_id = 0;
  scalar.device = (DLDevice){kDLCUDA, 0};
  check_error(f->context, ENTER(), PIT_ERROR_DEVICE,
              "argument 1, a scalar, is on a device of type 2; it must be on "
              "the CPU (1)");
}

/// A CPU program on a context with a device, and the other way round.
static void test_other_device(void **state) {
  cuda_fixture *f = *state;
  const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                 .device = kDLCPU};
  pit_frame *frame;
  assert_ok(f->context, pit_rt_enter(f->context, &manifest, NULL, NULL, NULL,
                                     NULL, &frame));
  assert_int_equal(pit_rt_multiprocessors(frame), 1);
  void *memory;
  assert_ok(f->context, pit_rt_alloc(frame, 100, &memory));
  assert_int_equal(f->fake->allocations, 0);
  const pit_image image = {" k ", 4};
  check_error(
      f->context,
      pit_rt_launch(frame, &(pit_kernel){&image, "k", 32, 0, 0, 0}, 1, 1, NULL),
      PIT_ERROR_DEVICE, "a kernel in a call of a program that runs on the CPU");
  check_error(f->context, pit_rt_copy(frame, memory, memory, 4),
              PIT_ERROR_DEVICE, "a copy in device memory in a call");
  const pit_index *copy;
  check_error(f->context, pit_rt_device_index(frame, &(pit_index){0}, &copy),
              PIT_ERROR_DEVICE, "but the program runs on the CPU");
  pit_rt_leave(frame, 0);

  pit_context *plain;
  assert_int_equal(pit_context_create(NULL, &plain), PIT_OK);
  check_error(
      plain, pit_rt_enter(plain, &cuda_no_args, NULL, NULL, NULL, NULL, &frame),
      PIT_ERROR_DEVICE,
      "the program runs on a CUDA device, but the context was made "
      "without one (pit_context_options.device_type)");
  assert_null(frame);
  pit_context_destroy(plain);
}

int main(void) {
#define BARE(name)                                                             \
  cmocka_unit_test_setup_teardown(name, cuda_set_up_bare, cuda_tear_down)
  const struct CMUnitTest tests[] = {
      BARE(test_create),       BARE(test_no_device),
      BARE(test_too_old),      BARE(test_failures),
      CUDA_TEST(test_tensors), CUDA_TEST(test_other_device),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
