//===- CudaFixture.c - A context on the fake device -----------------------===//

#include "CudaFixture.h"

#include <dlfcn.h>
#include <string.h>

const pit_manifest cuda_no_args = {.version = PIT_MANIFEST_WORD0,
                                   .device = kDLCUDA};

static cuda_fixture fixture;

/// A symbol of the fake, whatever its type.
static void find(void *library, const char *symbol, void *pointer) {
  void *address = dlsym(library, symbol);
  assert_non_null(address);
  memcpy(pointer, &address, sizeof(address));
}

int cuda_set_up_bare(void **state) {
  fixture = (cuda_fixture){0};
  void *library = dlopen(PIT_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(library);
  fake_state get;
  fake_reset reset;
  find(library, "fake_cuda_state", &get);
  find(library, "fake_cuda_depth", &fixture.depth);
  find(library, "fake_cuda_reset", &reset);
  find(library, "fake_cuda_stream", &fixture.stream);
  find(library, "fake_cuda_renew_stream", &fixture.renew_stream);
  find(library, "fake_cuda_capture", &fixture.capture);
  find(library, "fake_cuda_join_capture", &fixture.join_capture);
  find(library, "fake_cuda_end_capture", &fixture.end_capture);
  find(library, "fake_cuda_spoil_capture", &fixture.spoil_capture);
  find(library, "fake_cuda_destroy_graph", &fixture.destroy_graph);
  reset();
  fixture.fake = get();
  *state = &fixture;
  return 0;
}

pit_status cuda_create(cuda_fixture *f, int32_t device_id, const char *folder) {
  pit_context_options options = {.device_type = kDLCUDA,
                                 .device_id = device_id,
                                 .cuda_library = PIT_FAKE_CUDA,
                                 .cache_folder = folder,
                                 .message = f->message,
                                 .message_size = sizeof(f->message)};
  return pit_context_create(&options, &f->context);
}

int cuda_set_up(void **state) {
  cuda_set_up_bare(state);
  assert_int_equal(cuda_create(&fixture, 0, ""), PIT_OK);
  return 0;
}

int cuda_tear_down(void **state) {
  cuda_fixture *f = *state;
  f->fake->fail_count = 0;
  pit_context_destroy(f->context);
  assert_int_equal(f->fake->allocated, 0);
  assert_int_equal(f->fake->allocations, f->fake->frees);
  assert_int_equal(f->fake->contexts, 0);
  assert_int_equal(f->fake->streams, 0);
  assert_int_equal(f->depth(), 0);
  assert_int_equal(f->fake->violations, 0);
  return 0;
}

pit_frame *cuda_enter(cuda_fixture *f, void *stream) {
  pit_frame *frame = NULL;
  assert_ok(f->context, pit_rt_enter(f->context, &cuda_no_args, NULL, NULL,
                                     stream, NULL, &frame));
  return frame;
}

void *cuda_alloc(cuda_fixture *f, pit_frame *frame, int64_t bytes) {
  void *memory = NULL;
  assert_ok(f->context, pit_rt_alloc(frame, bytes, &memory));
  assert_int_equal((uintptr_t)memory % 256, 0);
  memset(memory, 1, (size_t)bytes);
  return memory;
}

void *cuda_call(cuda_fixture *f, void *stream) {
  int depth = f->depth();
  pit_frame *frame = cuda_enter(f, stream);
  assert_int_equal(f->depth(), depth + 1);
  void *memory = cuda_alloc(f, frame, 5000);
  assert_int_equal(pit_rt_leave(frame, 0), 0);
  assert_int_equal(f->depth(), depth);
  return memory;
}

void cuda_fail(cuda_fixture *f, const char *function, int error, int after,
               int count) {
  f->fake->fail_function = function;
  f->fake->fail_error = error;
  f->fake->fail_after = after;
  f->fake->fail_count = count;
}

DLTensor cuda_tensor(void *data, uint8_t code, uint8_t bits, int32_t rank,
                     int64_t *shape) {
  DLTensor tensor = tensor_of(data, code, bits, rank, shape);
  tensor.device = (DLDevice){kDLCUDA, 0};
  return tensor;
}
