//===- CudaDriver.c - Opening the CUDA driver -----------------------------===//

#include "CudaDriver.h"
#include "pit-runtime/Status.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/// Looks all functions up; returns the name of one that is missing.
static const char *find_functions(pit_cuda_driver *driver) {
  void *address;
  // ISO C has no conversion from an object pointer to a function pointer; POSIX
  // promises that the bits are the same.
#define FIND(name, symbol, parameters)                                         \
  address = dlsym(driver->library, #symbol);                                   \
  if (!address)                                                                \
    return #symbol;                                                            \
  memcpy(&driver->name, &address, sizeof(address));
  PIT_CUDA_FUNCTIONS(FIND)
#undef FIND
  return NULL;
}

/// The version of a driver that lacks functions; 0 if it does not tell.
static int version_of(void *library) {
  CUresult (*get)(int *version);
  void *address = dlsym(library, "cuDriverGetVersion");
  int version = 0;
  if (!address)
    return 0;
  memcpy(&get, &address, sizeof(address));
  return get(&version) == CUDA_SUCCESS ? version : 0;
}

static int32_t initialize(pit_cuda_driver *driver,
                          char message[PIT_CUDA_MESSAGE_SIZE]) {
  const char *missing = find_functions(driver);
  int version = missing ? version_of(driver->library) : 0;
  if (!missing && driver->DriverGetVersion(&version) != CUDA_SUCCESS)
    version = 0;
  if (missing && version >= PIT_CUDA_MIN_DRIVER) {
    snprintf(message, PIT_CUDA_MESSAGE_SIZE,
             "cuda: the driver has no function %s", missing);
    return PIT_ERROR_DRIVER;
  }
  if (version < PIT_CUDA_MIN_DRIVER) {
    snprintf(message, PIT_CUDA_MESSAGE_SIZE,
             "cuda: the driver is too old: it supports CUDA %d.%d; it must "
             "support %d.%d or later",
             version / 1000, version % 1000 / 10, PIT_CUDA_MIN_DRIVER / 1000,
             PIT_CUDA_MIN_DRIVER % 1000 / 10);
    return PIT_ERROR_DRIVER;
  }
  CUresult result = driver->Init(0);
  if (result == CUDA_SUCCESS)
    return PIT_OK;
  if (result == CUDA_ERROR_NO_DEVICE) {
    snprintf(message, PIT_CUDA_MESSAGE_SIZE,
             "cuda: this machine has a driver, but no device that it can see");
    return PIT_ERROR_DEVICE;
  }
  snprintf(message, PIT_CUDA_MESSAGE_SIZE, "cuda: cuInit failed: %s (error %d)",
           pit_cuda_error(driver, result), result);
  return PIT_ERROR_DRIVER;
}

int32_t pit_cuda_driver_open(pit_cuda_driver *driver, const char *library,
                             char message[PIT_CUDA_MESSAGE_SIZE]) {
  *driver = (pit_cuda_driver){0};
  // Never unloaded: the driver has threads of its own, and calls back from
  // them.
  driver->library = dlopen(library ? library : "libcuda.so.1",
                           RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!driver->library) {
    const char *why = dlerror();
    snprintf(message, PIT_CUDA_MESSAGE_SIZE,
             "cuda: cannot open the driver's library: %s",
             why ? why : "no reason given");
    return PIT_ERROR_DEVICE;
  }
  int32_t status = initialize(driver, message);
  if (status != PIT_OK)
    pit_cuda_driver_close(driver);
  return status;
}

void pit_cuda_driver_close(pit_cuda_driver *driver) {
  if (driver->library)
    dlclose(driver->library);
  driver->library = NULL;
}

const char *pit_cuda_error(const pit_cuda_driver *driver, CUresult result) {
  const char *text = NULL;
  if (driver->GetErrorString(result, &text) != CUDA_SUCCESS || !text)
    return "an error that the driver does not know";
  return text;
}
