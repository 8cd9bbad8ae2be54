//===- DeviceCheck.h - What checks of a device share --------------*- C -*-===//
//
// A driver, a context of the runtime, and random numbers, for checks that run
// on a device or on the emulator that LD_LIBRARY_PATH finds.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_RUNTIME_DEVICECHECK_H
#define PIT_TEST_RUNTIME_DEVICECHECK_H

#include "Cuda/CudaDriver.h"

#include "pit-runtime/Abi.h"
#include "pit-runtime/Runtime.h"

typedef struct device_check {
  const char *name;
  pit_cuda_driver cuda;
  CUresult (*to_host)(void *, CUdeviceptr, size_t);
  pit_context *context;
  uint64_t state; ///< of the random numbers
} device_check;

/// A program without arguments that runs on the device.
extern const pit_manifest device_no_args;

/// Opens the driver and makes the context, whose device is the thread's. Like
/// the functions below, prints why it cannot and ends the process with 1.
void device_check_open(device_check *check, const char *name, uint64_t seed);
void device_check_close(device_check *check);

void device_check_must(const device_check *check, CUresult result,
                       const char *what);
/// Memory on the device, which is not freed.
CUdeviceptr device_check_alloc(const device_check *check, size_t bytes);
/// Between host and device.
void device_check_write(const device_check *check, CUdeviceptr to,
                        const void *from, size_t bytes);
void device_check_read(const device_check *check, void *to, CUdeviceptr from,
                       size_t bytes);

/// A random number in [0, n).
int64_t device_check_below(device_check *check, int64_t n);

#endif // PIT_TEST_RUNTIME_DEVICECHECK_H
