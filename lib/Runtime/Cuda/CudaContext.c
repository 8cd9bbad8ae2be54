//===- CudaContext.c - Opening a device -----------------------------------===//

#include "CudaContext.h"

#include <stdlib.h>

pit_status pit_cuda_checked(pit_context *context, const char *function,
                            CUresult result) {
  if (result == CUDA_SUCCESS)
    return PIT_OK;
  const pit_cuda *cuda = context->cuda;
  return pit_fail(context,
                  result == CUDA_ERROR_OUT_OF_MEMORY ? PIT_ERROR_OUT_OF_MEMORY
                                                     : PIT_ERROR_DRIVER,
                  "cuda: %s failed on device %d (%s): %s (error %d)", function,
                  cuda->ordinal, cuda->name,
                  pit_cuda_error(&cuda->driver, result), result);
}

pit_status pit_cuda_push(pit_context *context) {
  return PIT_CUDA(context, CtxPushCurrent, context->cuda->primary);
}

void pit_cuda_pop(pit_context *context) {
  CUcontext popped;
  (void)context->cuda->driver.CtxPopCurrent(&popped);
}

int pit_cuda_relax(const pit_context *context) {
  int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  (void)context->cuda->driver.ThreadExchangeStreamCaptureMode(&mode);
  return mode;
}

void pit_cuda_restore(const pit_context *context, int mode) {
  (void)context->cuda->driver.ThreadExchangeStreamCaptureMode(&mode);
}

const pit_cuda_properties *pit_cuda_device(const pit_context *context) {
  return &context->cuda->properties;
}

static pit_status read_properties(pit_context *context) {
  pit_cuda *cuda = context->cuda;
  int major = 0, minor = 0, l2 = 0;
  struct {
    int attribute;
    int *value;
  } wanted[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
       &cuda->properties.multiprocessors},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
       &cuda->properties.max_shared_bytes},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2},
  };
  pit_status status = PIT_OK;
  for (size_t i = 0; status == PIT_OK && i < sizeof(wanted) / sizeof(*wanted);
       ++i)
    status = PIT_CUDA(context, DeviceGetAttribute, wanted[i].value,
                      wanted[i].attribute, cuda->device);
  cuda->properties.capability = 10 * major + minor;
  cuda->properties.l2_bytes = l2;
  return status;
}

static pit_status find_device(pit_context *context, int32_t ordinal) {
  pit_cuda *cuda = context->cuda;
  int count = 0;
  pit_status status = PIT_CUDA(context, DeviceGetCount, &count);
  if (status != PIT_OK)
    return status;
  if (ordinal < 0 || ordinal >= count)
    return pit_fail(context, PIT_ERROR_DEVICE,
                    "cuda: device_id is %d; this machine has %d device%s, "
                    "numbered from 0",
                    ordinal, count, count == 1 ? "" : "s");
  status = PIT_CUDA(context, DeviceGet, &cuda->device, ordinal);
  if (status == PIT_OK)
    status = PIT_CUDA(context, DeviceGetName, cuda->name, PIT_CUDA_NAME_SIZE,
                      cuda->device);
  if (status == PIT_OK)
    status = PIT_CUDA(context, DriverGetVersion, &cuda->version);
  if (status == PIT_OK)
    status = read_properties(context);
  if (status == PIT_OK && cuda->properties.capability < 80)
    return pit_fail(context, PIT_ERROR_DEVICE,
                    "cuda: device %d (%s) has compute capability %d.%d; it "
                    "must be 8.0 or later",
                    ordinal, cuda->name, cuda->properties.capability / 10,
                    cuda->properties.capability % 10);
  return status;
}

pit_status pit_cuda_open(pit_context *context,
                         const pit_context_options *options) {
  pit_cuda *cuda = calloc(1, sizeof(*cuda));
  if (!cuda)
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for a device");
  char message[PIT_CUDA_MESSAGE_SIZE];
  pit_status status = (pit_status)pit_cuda_driver_open(
      &cuda->driver, options->cuda_library, message);
  if (status != PIT_OK) {
    free(cuda);
    return pit_fail(context, status, "%s", message);
  }
  if (pthread_mutex_init(&cuda->lock, NULL) != 0) {
    pit_cuda_driver_close(&cuda->driver);
    free(cuda);
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for a device");
  }
  cuda->ordinal = options->device_id;
  context->cuda = cuda;
  status = find_device(context, options->device_id);
  if (status == PIT_OK)
    status =
        PIT_CUDA(context, DevicePrimaryCtxRetain, &cuda->primary, cuda->device);
  if (status != PIT_OK) {
    pit_cuda_close(context);
    return status;
  }
  cuda->cache_folder = pit_cuda_cache_folder(options->cache_folder);
  return PIT_OK;
}

void pit_cuda_close(pit_context *context) {
  pit_cuda *cuda = context->cuda;
  // At the end of a process the driver may be gone already; then it has given
  // everything back itself, and refuses all this.
  if (cuda->primary && pit_cuda_push(context) == PIT_OK) {
    pit_frames_free(cuda->free_frames);
    pit_frames_free(cuda->captured_frames);
    pit_cuda_choices_free(context);
    int mode = pit_cuda_relax(context);
    pit_cuda_unload(context);
    pit_cuda_restore(context, mode);
    pit_cuda_pop(context);
    (void)cuda->driver.DevicePrimaryCtxRelease(cuda->device);
  }
  pthread_mutex_destroy(&cuda->lock);
  pit_cuda_driver_close(&cuda->driver);
  free(cuda->cache_folder);
  free(cuda);
  context->cuda = NULL;
}
