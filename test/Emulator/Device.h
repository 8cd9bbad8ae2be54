//===- Device.h - What the files of the emulated driver share -------------===//
//
// libcuda.so.1 without a GPU: kernels are PTX, which is interpreted. Calls do
// their work before they return, also those that a driver would put on a
// stream; what a stream captures is kept and done when its graph is launched.
// Of the environment:
//
//   PIT_EMULATOR_CAPABILITY       80, 90 (default) or 100
//   PIT_EMULATOR_MULTIPROCESSORS  how many the device has (default 4)
//   PIT_EMULATOR_SEED             if not 0, warps take turns of random lengths
//   PIT_EMULATOR_EARLY            1: copies are done at once, not at the wait
//   PIT_EMULATOR_RACES            1: unordered accesses of shared memory fail
//   PIT_EMULATOR_TRACE            if set, launches are printed to stderr
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_EMULATOR_DEVICE_H
#define PIT_TEST_EMULATOR_DEVICE_H

#include "Cuda/CudaDriver.h"
#include "Machine.h"

#include <pthread.h>

#define EMU_EXPORT __attribute__((visibility("default")))

// The driver's functions, as the runtime declares them.
#define DECLARE(name, symbol, parameters) EMU_EXPORT CUresult symbol parameters;
PIT_CUDA_FUNCTIONS(DECLARE)
#undef DECLARE

/// Values of CUresult beside those that the runtime knows.
enum {
  EMU_INVALID_VALUE = 1,
  EMU_INVALID_CONTEXT = 201,
  EMU_INVALID_PTX = 218,
  EMU_NOT_READY = 600,
  EMU_LAUNCH_FAILED = 719,
  EMU_OUT_OF_RESOURCES = 701,
  EMU_NOT_SUPPORTED = 801,
  EMU_CAPTURE_REFUSED = 900,
  EMU_CAPTURE_INVALID = 901,
  EMU_INVALID_CLUSTER = 912,
};

typedef struct CUmod_st {
  emu_module *module;
} emu_loaded;

typedef enum emu_work_kind { EMU_LAUNCH, EMU_MEMCPY, EMU_MEMSET } emu_work_kind;

/// What can be put on a stream.
typedef struct emu_work {
  struct emu_work *next;
  emu_work_kind kind;
  emu_launch launch; ///< its parameters are freed with it
  uint64_t to, from, bytes;
  uint32_t value, width; ///< of a memset: 2 or 4 bytes
} emu_work;

int emu_environment(const char *name, int otherwise);
int emu_capability(void);
int emu_multiprocessors(void);

/// All that the driver keeps is under this.
extern pthread_mutex_t emu_lock;

static inline pthread_mutex_t *emu_enter(void) {
  pthread_mutex_lock(&emu_lock);
  return &emu_lock;
}

static inline void emu_leave(pthread_mutex_t **lock) {
  pthread_mutex_unlock(*lock);
}

/// Takes the lock until the end of the function.
#define EMU_LOCKED                                                             \
  __attribute__((cleanup(emu_leave), unused)) pthread_mutex_t *locked_ =       \
      emu_enter()

/// The error that a launch has left, or that there is no current context.
CUresult emu_check_context(void);
/// From now on the context returns this error.
void emu_fail_context(CUresult error);
/// Refuses calls that might disturb a capture of which this thread does not
/// know, and makes the captures invalid.
CUresult emu_check_capture(void);
#define EMU_CHECK(call)                                                        \
  do {                                                                         \
    CUresult result_ = (call);                                                 \
    if (result_ != CUDA_SUCCESS)                                               \
      return result_;                                                          \
  } while (0)

/// Does work now.
CUresult emu_do(emu_work *work);
/// Does work now, or keeps it in the graph that the stream captures; frees it.
CUresult emu_put(CUstream stream, emu_work *work);
void emu_free_work(emu_work *work);

#endif // PIT_TEST_EMULATOR_DEVICE_H
