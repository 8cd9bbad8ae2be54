//===- DeviceCheck.c - What checks of a device share ----------------------===//

#include "DeviceCheck.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

const pit_manifest device_no_args = {.version = PIT_MANIFEST_WORD0,
                                     .device = kDLCUDA};

static void give_up(const device_check *check, const char *text) {
  fprintf(stderr, "%s: %s\n", check->name, text);
  exit(1);
}

void device_check_must(const device_check *check, CUresult result,
                       const char *what) {
  if (result == CUDA_SUCCESS)
    return;
  fprintf(stderr, "%s: %s: %s\n", check->name, what,
          pit_cuda_error(&check->cuda, result));
  exit(1);
}

void device_check_open(device_check *check, const char *name, uint64_t seed) {
  *check = (device_check){.name = name, .state = seed};
  char text[512] = "";
  if (pit_cuda_driver_open(&check->cuda, NULL, text) != 0)
    give_up(check, text);
  *(void **)&check->to_host =
      dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "cuMemcpyDtoH_v2");
  pit_context_options options = {.device_type = kDLCUDA,
                                 .cache_folder = "",
                                 .message = text,
                                 .message_size = sizeof(text)};
  if (pit_context_create(&options, &check->context) != PIT_OK)
    give_up(check, text);
  CUdevice device;
  CUcontext primary;
  device_check_must(check, check->cuda.DeviceGet(&device, 0), "cuDeviceGet");
  device_check_must(check, check->cuda.DevicePrimaryCtxRetain(&primary, device),
                    "retain");
  device_check_must(check, check->cuda.CtxPushCurrent(primary),
                    "cuCtxPushCurrent");
}

void device_check_close(device_check *check) {
  pit_context_destroy(check->context);
}

CUdeviceptr device_check_alloc(const device_check *check, size_t bytes) {
  CUdeviceptr memory;
  device_check_must(check, check->cuda.MemAlloc(&memory, bytes), "cuMemAlloc");
  return memory;
}

void device_check_write(const device_check *check, CUdeviceptr to,
                        const void *from, size_t bytes) {
  device_check_must(check, check->cuda.MemcpyHtoD(to, from, bytes),
                    "cuMemcpyHtoD");
}

void device_check_read(const device_check *check, void *to, CUdeviceptr from,
                       size_t bytes) {
  device_check_must(check, check->to_host(to, from, bytes), "cuMemcpyDtoH");
}

int64_t device_check_below(device_check *check, int64_t n) {
  check->state = check->state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((check->state >> 33) % (uint64_t)n);
}
