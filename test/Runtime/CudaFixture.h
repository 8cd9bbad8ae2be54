//===- CudaFixture.h - A context on the fake device -----------------------===//

#ifndef PIT_TEST_RUNTIME_CUDAFIXTURE_H
#define PIT_TEST_RUNTIME_CUDAFIXTURE_H

#include "FakeCuda.h"
#include "Reference.h"

#include "pit-runtime/Abi.h"

typedef struct cuda_fixture {
  fake_cuda *fake;
  fake_depth depth;
  fake_stream stream;
  fake_renew_stream renew_stream;
  fake_capture capture;
  fake_join_capture join_capture;
  fake_end_capture end_capture;
  fake_spoil_capture spoil_capture;
  fake_destroy_graph destroy_graph;
  pit_context *context;
  char message[512]; ///< of a context that could not be made
} cuda_fixture;

/// A program without arguments that runs on the device.
extern const pit_manifest cuda_no_args;

/// Opens the fake driver and resets it. There is no context yet.
int cuda_set_up_bare(void **state);
/// With a context on device 0 that keeps nothing on disk.
int cuda_set_up(void **state);
/// Ends the context; nothing may be left on the device, and the runtime must
/// have done nothing that a driver would refuse.
int cuda_tear_down(void **state);

/// A test with that context.
#define CUDA_TEST(name)                                                        \
  cmocka_unit_test_setup_teardown(name, cuda_set_up, cuda_tear_down)

/// Was the runtime that is tested built with device code?
#ifdef PIT_WITHOUT_DEVICE_CODE
#define CUDA_DEVICE_CODE 0
#else
#define CUDA_DEVICE_CODE 1
#endif

/// Makes the context, with what is kept on disk in `folder`.
pit_status cuda_create(cuda_fixture *f, int32_t device_id, const char *folder);

/// Begins a call on a stream.
pit_frame *cuda_enter(cuda_fixture *f, void *stream);
/// Memory of a call, filled with ones.
void *cuda_alloc(cuda_fixture *f, pit_frame *frame, int64_t bytes);
/// A whole call that allocates; returns what it got.
void *cuda_call(cuda_fixture *f, void *stream);
/// Has `count` calls of a function fail, after `after` that do not.
void cuda_fail(cuda_fixture *f, const char *function, int error, int after,
               int count);

/// A tensor in device memory.
DLTensor cuda_tensor(void *data, uint8_t code, uint8_t bits, int32_t rank,
                     int64_t *shape);

#endif // PIT_TEST_RUNTIME_CUDAFIXTURE_H
