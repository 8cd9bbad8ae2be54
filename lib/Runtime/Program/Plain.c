//===- Plain.c - Calls of functions that have no context ------------------===//
//
// A function that another compiler calls as any other, with memrefs and no
// context, takes the memory of its calls from a context that belongs to its
// module. It has no way to return a status either.
//
//===----------------------------------------------------------------------===//

#include "Cuda/CudaContext.h"
#include "Frame.h"

#include "pit-runtime/Abi.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Noreturn void die(const char *message) {
  fprintf(stderr, "pit: error: %s\n", message);
  abort();
}

/// The last message of a context, if there is one and the status is no success.
static void expect(pit_context *context, int32_t status) {
  if (status == PIT_OK)
    return;
  char message[512];
  if (pit_context_message(context, message, sizeof(message)) == 0)
    snprintf(message, sizeof(message), "%s", pit_status_string(status));
  die(message);
}

/// The module's context, which the first call makes. Threads that come at the
/// same time all make one, and take that of the first.
static pit_context *get_context(void **module) {
  _Atomic(void *) *slot = (_Atomic(void *) *)module;
  void *context = atomic_load_explicit(slot, memory_order_acquire);
  if (context)
    return context;
  pit_context *made;
  if (pit_context_create(NULL, &made) != PIT_OK)
    die("out of memory for a context");
  if (atomic_compare_exchange_strong(slot, &context, made))
    return made;
  pit_context_destroy(made);
  return context;
}

pit_frame *pit_rt_open(void **module, const void *function) {
  pit_context *context = get_context(module);
  pit_frame *frame;
  pit_rt_expect(NULL, pit_frame_acquire(context, &frame));
  frame->manifest = function; // an address of its own, as a manifest has
  pit_context_retain(context);
  return frame;
}

void pit_rt_expect(pit_frame *frame, int32_t status) {
  expect(frame ? frame->context : NULL, status);
}

//===----------------------------------------------------------------------===//
// On a device
//===----------------------------------------------------------------------===//

/// The number of the device that the calling thread's current context is of; 0
/// if it has none.
static int32_t find_ordinal(void) {
  pit_cuda_driver driver;
  char message[PIT_CUDA_MESSAGE_SIZE];
  if (pit_cuda_driver_open(&driver, NULL, message) != PIT_OK)
    die(message);
  CUdevice current, device;
  int count = 0;
  int32_t found = 0;
  if (driver.CtxGetDevice(&current) == CUDA_SUCCESS &&
      driver.DeviceGetCount(&count) == CUDA_SUCCESS)
    for (int32_t i = 0; i < count; ++i)
      if (driver.DeviceGet(&device, i) == CUDA_SUCCESS && device == current)
        found = i;
  pit_cuda_driver_close(&driver);
  return found;
}

static pit_context *make_cuda_context(void) {
  char message[512] = "";
  const pit_context_options options = {.device_type = kDLCUDA,
                                       .device_id = find_ordinal(),
                                       .message = message,
                                       .message_size = sizeof(message)};
  pit_context *made;
  pit_status status = pit_context_create(&options, &made);
  if (status != PIT_OK)
    die(message[0] ? message : pit_status_string(status));
  return made;
}

/// Is this the device of the calling thread's current context, or, if it has
/// none, device 0?
static bool is_of_thread(const pit_cuda *cuda) {
  CUdevice current;
  return cuda->driver.CtxGetDevice(&current) == CUDA_SUCCESS
             ? cuda->device == current
             : cuda->ordinal == 0;
}

/// The module's context on the thread's device. Each of them holds the next.
static pit_context *get_cuda_context(void **module) {
  _Atomic(void *) *slot = (_Atomic(void *) *)module;
  for (;;) {
    void *there = atomic_load_explicit(slot, memory_order_acquire);
    if (!there) {
      pit_context *made = make_cuda_context();
      if (atomic_compare_exchange_strong(slot, &there, made))
        return made;
      pit_context_destroy(made);
    }
    pit_context *context = there;
    if (is_of_thread(context->cuda))
      return context;
    slot = &context->cuda->next;
  }
}

pit_frame *pit_rt_open_cuda(void **module, const void *function,
                            pit_stream stream) {
  pit_context *context = get_cuda_context(module);
  pit_frame *frame = NULL;
  expect(context, pit_cuda_frame_enter(context, stream, &frame));
  frame->manifest = function;
  pit_context_retain(context);
  return frame;
}

void pit_rt_close_cuda(pit_frame *frame, int32_t wait) {
  pit_context *context = frame->context; // is not destroyed by the call
  if (wait)
    pit_rt_expect(frame, pit_rt_wait(frame));
  expect(context, pit_rt_leave(frame, PIT_OK));
}
