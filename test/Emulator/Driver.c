//===- Driver.c - The device, its contexts and its memory -----------------===//

#include "Device.h"
#include "TensorMaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32 };
static const size_t device_memory = (size_t)8 << 30;

struct CUctx_st {
  int retained;
  CUresult error; ///< that a launch has left; all calls return it from then on
};

pthread_mutex_t emu_lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUctx_st primary;
static _Thread_local CUcontext contexts[DEEPEST];
static _Thread_local int depth;

int emu_environment(const char *name, int otherwise) {
  const char *value = getenv(name);
  return value && *value ? atoi(value) : otherwise;
}

int emu_capability(void) {
  return emu_environment("PIT_EMULATOR_CAPABILITY", 90);
}

int emu_multiprocessors(void) {
  int number = emu_environment("PIT_EMULATOR_MULTIPROCESSORS", 4);
  return number > 0 ? number : 4;
}

CUresult emu_check_context(void) {
  if (depth == 0 || !contexts[depth - 1])
    return EMU_INVALID_CONTEXT;
  return contexts[depth - 1]->error;
}

void emu_fail_context(CUresult error) { primary.error = error; }

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

CUresult cuInit(unsigned flags) {
  return flags ? EMU_INVALID_VALUE : CUDA_SUCCESS;
}

/// No driver's: cubins that are kept on disk are not mixed up.
CUresult cuDriverGetVersion(int *version) {
  *version = 12999;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult result, const char **text) {
  static const struct {
    CUresult result;
    const char *text;
  } texts[] = {
      {CUDA_SUCCESS, "no error"},
      {EMU_INVALID_VALUE, "invalid argument"},
      {CUDA_ERROR_OUT_OF_MEMORY, "out of memory"},
      {CUDA_ERROR_NO_DEVICE, "no device"},
      {EMU_INVALID_CONTEXT, "invalid device context"},
      {EMU_INVALID_PTX, "PTX that the emulator does not take"},
      {CUDA_ERROR_NOT_FOUND, "named symbol not found"},
      {EMU_NOT_READY, "device not ready"},
      {EMU_OUT_OF_RESOURCES, "too many resources requested for launch"},
      {EMU_LAUNCH_FAILED, "a kernel failed; stderr says where"},
      {EMU_NOT_SUPPORTED, "not supported by the emulator"},
      {EMU_CAPTURE_REFUSED, "not permitted when a stream is capturing"},
      {EMU_CAPTURE_INVALID, "a capture was invalidated"},
      {EMU_INVALID_CLUSTER, "misconfigured cluster"}};
  for (size_t n = 0; n < sizeof(texts) / sizeof(*texts); ++n)
    if (texts[n].result == result) {
      *text = texts[n].text;
      return CUDA_SUCCESS;
    }
  *text = NULL;
  return EMU_INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *count) {
  *count = 1;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = 0;
  return ordinal == 0 ? CUDA_SUCCESS : 101;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
  (void)device;
  snprintf(name, (size_t)size, "Emulated sm_%d", emu_capability());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  (void)device;
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = emu_capability() / 10;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = emu_capability() % 10;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = emu_multiprocessors();
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = emu_capability() >= 90 ? EMU_MAX_SHARED : 166912;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    *value = 50 << 20;
    return CUDA_SUCCESS;
  default:
    return EMU_INVALID_VALUE;
  }
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  (void)device;
  EMU_LOCKED;
  ++primary.retained;
  *context = &primary;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  (void)device;
  EMU_LOCKED;
  if (primary.retained == 0)
    return EMU_INVALID_CONTEXT;
  --primary.retained;
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (depth == DEEPEST)
    return EMU_INVALID_VALUE;
  contexts[depth++] = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  if (depth == 0)
    return EMU_INVALID_CONTEXT;
  *context = contexts[--depth];
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  if (depth > 0)
    --depth;
  if (context)
    contexts[depth++] = context;
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = depth > 0 ? contexts[depth - 1] : NULL;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
  if (depth == 0)
    return EMU_INVALID_CONTEXT;
  return cuDeviceGet(device, 0);
}

EMU_EXPORT CUresult cuCtxSynchronize(void) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  return emu_check_capture();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  *total = device_memory;
  *available = device_memory - emu_memory_used();
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  EMU_CHECK(emu_check_capture());
  if (bytes == 0)
    return EMU_INVALID_VALUE;
  *memory = emu_memory_new(bytes, device_memory);
  return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/// Both sides see managed memory, at an address of the host.
CUresult cuMemAllocManaged(CUdeviceptr *memory, size_t bytes, unsigned flags) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  EMU_CHECK(emu_check_capture());
  if (bytes == 0 || flags != 1) // CU_MEM_ATTACH_GLOBAL
    return EMU_INVALID_VALUE;
  *memory = emu_memory_new_shared(bytes, device_memory);
  return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree_v2(CUdeviceptr memory) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_capture());
  if (memory && !emu_memory_free(memory))
    return EMU_INVALID_VALUE;
  return emu_check_context();
}

CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
  (void)flags;
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  EMU_CHECK(emu_check_capture());
  if (bytes == 0 || !emu_memory_register(memory, bytes))
    return EMU_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *memory) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  return emu_memory_free((uintptr_t)memory) ? CUDA_SUCCESS : EMU_INVALID_VALUE;
}

static CUresult put(CUstream stream, emu_work work) {
  EMU_CHECK(emu_check_context());
  emu_work *made = malloc(sizeof(*made));
  if (!made)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *made = work;
  return emu_put(stream, made);
}

static CUresult copy(CUstream stream, uint64_t to, uint64_t from,
                     size_t bytes) {
  return put(
      stream,
      (emu_work){.kind = EMU_MEMCPY, .to = to, .from = from, .bytes = bytes});
}

static CUresult copy_now(uint64_t to, uint64_t from, size_t bytes) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  EMU_CHECK(emu_check_capture());
  emu_work work = {.kind = EMU_MEMCPY, .to = to, .from = from, .bytes = bytes};
  return emu_do(&work);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                       CUstream stream) {
  EMU_LOCKED;
  return copy(stream, to, from, bytes);
}

EMU_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from,
                                         size_t bytes, CUstream stream) {
  EMU_LOCKED;
  return copy(stream, to, from, bytes);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                              CUstream stream) {
  EMU_LOCKED;
  return copy(stream, to, (uintptr_t)from, bytes);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
  EMU_LOCKED;
  return copy(stream, (uintptr_t)to, from, bytes);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  return copy_now(to, (uintptr_t)from, bytes);
}

EMU_EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  return copy_now((uintptr_t)to, from, bytes);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                          CUstream stream) {
  EMU_LOCKED;
  return put(stream, (emu_work){.kind = EMU_MEMSET,
                                .to = to,
                                .bytes = count * 4,
                                .value = value,
                                .width = 4});
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
                          CUstream stream) {
  EMU_LOCKED;
  return put(stream, (emu_work){.kind = EMU_MEMSET,
                                .to = to,
                                .bytes = count * 2,
                                .value = value,
                                .width = 2});
}

CUresult cuTensorMapEncodeTiled(void *map, int type, uint32_t rank,
                                const void *address, const uint64_t *dims,
                                const uint64_t *strides, const uint32_t *box,
                                const uint32_t *step, int interleave,
                                int swizzle, int l2_promotion, int fill) {
  EMU_LOCKED;
  const char *why =
      tensor_map_encode(map, type, rank, (uintptr_t)address, dims, strides, box,
                        step, interleave, swizzle, l2_promotion, fill);
  if (why)
    fprintf(stderr, "emulator: cuTensorMapEncodeTiled: %s\n", why);
  return why ? EMU_INVALID_VALUE : CUDA_SUCCESS;
}
