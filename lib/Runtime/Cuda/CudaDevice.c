//===- CudaDevice.c - Memory and streams for a caller ---------------------===//

#include "CudaContext.h"

#include "pit-runtime/Device.h"

#include <string.h>

_Static_assert(sizeof(((pit_device_info *)0)->name) == PIT_CUDA_NAME_SIZE,
               "the whole name fits");

static pit_status need_device(pit_context *context, const char *what) {
  if (!context)
    return PIT_ERROR_INVALID_ARGUMENT;
  return context->cuda ? PIT_OK
                       : pit_fail(context, PIT_ERROR_DEVICE,
                                  "%s: the context was made without a device "
                                  "(pit_context_options.device_type)",
                                  what);
}

/// Makes the context's device current and waiting legal, while other threads
/// capture, too; leave undoes it. Returns the mode before in `mode`.
static pit_status enter(pit_context *context, const char *what, int *mode) {
  pit_status status = need_device(context, what);
  if (status == PIT_OK)
    status = pit_cuda_push(context);
  if (status == PIT_OK)
    *mode = pit_cuda_relax(context);
  return status;
}

static void leave(pit_context *context, int mode) {
  pit_cuda_restore(context, mode);
  pit_cuda_pop(context);
}

pit_status pit_device_query(pit_context *context, pit_device_info *info) {
  pit_status status = need_device(context, "device query");
  if (status != PIT_OK)
    return status;
  if (!info)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "device query: the place for the result is NULL");
  const pit_cuda *cuda = context->cuda;
  *info =
      (pit_device_info){.device_id = cuda->ordinal,
                        .capability = cuda->properties.capability,
                        .multiprocessors = cuda->properties.multiprocessors};
  memcpy(info->name, cuda->name, sizeof(info->name));
  return PIT_OK;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

pit_status pit_device_alloc(pit_context *context, int64_t bytes,
                            void **memory) {
  if (!context)
    return PIT_ERROR_INVALID_ARGUMENT;
  if (!memory)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "device memory: the place for the result is NULL");
  *memory = NULL;
  if (bytes < 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "device memory: %lld bytes; it must not be negative",
                    (long long)bytes);
  int mode;
  pit_status status = enter(context, "device memory", &mode);
  if (status != PIT_OK)
    return status;
  const pit_cuda_driver *driver = &context->cuda->driver;
  // The driver has no memory of 0 bytes.
  size_t size = bytes > 0 ? (size_t)bytes : 1;
  CUdeviceptr made = 0;
  CUresult result = driver->MemAlloc(&made, size);
  if (result == CUDA_ERROR_OUT_OF_MEMORY && pit_cuda_frames_trim(context) > 0)
    result = driver->MemAlloc(&made, size);
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    status = pit_cuda_out_of_memory(context, bytes);
  else
    status = pit_cuda_checked(context, "cuMemAlloc", result);
  leave(context, mode);
  if (status != PIT_OK)
    return status;
  uintptr_t address = made;
  memcpy(memory, &address, sizeof(address));
  return PIT_OK;
}

pit_status pit_device_free(pit_context *context, void *memory) {
  int mode;
  pit_status status = enter(context, "device memory", &mode);
  if (status != PIT_OK)
    return status;
  if (memory)
    status = PIT_CUDA(context, MemFree, (CUdeviceptr)(uintptr_t)memory);
  leave(context, mode);
  return status;
}

static pit_status copy(pit_context *context, void *to, const void *from,
                       int64_t bytes, pit_stream stream, bool to_device) {
  pit_status status = need_device(context, "copy");
  if (status != PIT_OK)
    return status;
  if (bytes < 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "copy: %lld bytes; it must not be negative",
                    (long long)bytes);
  if (bytes == 0)
    return PIT_OK;
  if (!to || !from)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "copy: %lld bytes, but the memory to copy %s is NULL",
                    (long long)bytes, to ? "from" : "to");
  int mode;
  status = enter(context, "copy", &mode);
  if (status != PIT_OK)
    return status;
  status = to_device
               ? PIT_CUDA(context, MemcpyHtoDAsync, (CUdeviceptr)(uintptr_t)to,
                          from, (size_t)bytes, stream)
               : PIT_CUDA(context, MemcpyDtoHAsync, to,
                          (CUdeviceptr)(uintptr_t)from, (size_t)bytes, stream);
  // Whether the driver waits depends on the kind of the host's memory.
  if (status == PIT_OK)
    status = PIT_CUDA(context, StreamSynchronize, stream);
  leave(context, mode);
  return status;
}

pit_status pit_device_write(pit_context *context, void *to, const void *from,
                            int64_t bytes, pit_stream stream) {
  return copy(context, to, from, bytes, stream, /*to_device=*/true);
}

pit_status pit_device_read(pit_context *context, void *to, const void *from,
                           int64_t bytes, pit_stream stream) {
  return copy(context, to, from, bytes, stream, /*to_device=*/false);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

pit_status pit_stream_create(pit_context *context, pit_stream *stream) {
  if (!context)
    return PIT_ERROR_INVALID_ARGUMENT;
  if (!stream)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "stream: the place for the result is NULL");
  *stream = NULL;
  int mode;
  pit_status status = enter(context, "stream", &mode);
  if (status != PIT_OK)
    return status;
  CUstream made = NULL;
  status = PIT_CUDA(context, StreamCreate, &made, CU_STREAM_NON_BLOCKING);
  leave(context, mode);
  if (status == PIT_OK)
    *stream = made;
  return status;
}

pit_status pit_stream_destroy(pit_context *context, pit_stream stream) {
  int mode;
  pit_status status = enter(context, "stream", &mode);
  if (status != PIT_OK)
    return status;
  if (stream)
    status = PIT_CUDA(context, StreamDestroy, stream);
  leave(context, mode);
  return status;
}

pit_status pit_stream_wait(pit_context *context, pit_stream stream) {
  int mode;
  pit_status status = enter(context, "stream", &mode);
  if (status != PIT_OK)
    return status;
  status = PIT_CUDA(context, StreamSynchronize, stream);
  leave(context, mode);
  return status;
}
