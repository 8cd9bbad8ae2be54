//===- FakeCudaInternal.h - What the files of the fake driver share -------===//

#ifndef PIT_TEST_RUNTIME_FAKECUDAINTERNAL_H
#define PIT_TEST_RUNTIME_FAKECUDAINTERNAL_H

#include "Cuda/CudaDriver.h"
#include "FakeCuda.h"

#include <pthread.h>
#include <stdbool.h>

#define EXPORT __attribute__((visibility("default")))

// The driver's functions, as the runtime declares them.
#define DECLARE(name, symbol, parameters) EXPORT CUresult symbol parameters;
PIT_CUDA_FUNCTIONS(DECLARE)
#undef DECLARE

EXPORT fake_cuda *fake_cuda_state(void);
EXPORT int fake_cuda_depth(void);
EXPORT void fake_cuda_reset(void);
EXPORT void *fake_cuda_stream(void);
EXPORT void fake_cuda_renew_stream(void *stream);
EXPORT void *fake_cuda_capture(void *stream);
EXPORT void fake_cuda_join_capture(void *stream, void *other);
EXPORT void fake_cuda_end_capture(void *stream);
EXPORT void fake_cuda_spoil_capture(void *stream);
EXPORT void fake_cuda_destroy_graph(void *graph);

/// Values of CUresult beside those that the runtime knows.
enum {
  INVALID_VALUE = 1,
  INVALID_CONTEXT = 201,
  CODE_ERROR = 218,
  NOT_READY = 600,
  REFUSED = 900
};

extern pthread_mutex_t fake_lock; ///< of all that is shared
extern fake_cuda fake_shared;
extern int fake_captures;                   ///< under way
extern _Thread_local int fake_capture_mode; ///< 0: global

/// What every function begins with: fails if the test wants that, if there has
/// to be a current context and is none, or if it might disturb a capture.
CUresult fake_begin(const char *function, bool needs_context, bool unsafe);

#define BEGIN(needs_context, unsafe)                                           \
  do {                                                                         \
    CUresult begun = fake_begin(__func__, needs_context, unsafe);              \
    if (begun != CUDA_SUCCESS)                                                 \
      return begun;                                                            \
  } while (0)

void fake_count(int *counter);

/// Prints a line, if the environment asks for it.
__attribute__((format(printf, 1, 2))) void fake_trace(const char *format, ...);

/// The number of the stream that a handle means in this thread.
unsigned long long fake_stream_id(CUstream stream);

/// Makes every capture invalid; under the lock.
void fake_spoil_captures(void);

#endif // PIT_TEST_RUNTIME_FAKECUDAINTERNAL_H
