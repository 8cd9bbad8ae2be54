//===- Cuda.h - What the runtime does on a CUDA device --------------------===//
//
// Nothing here waits for the device or reads its memory. All of it wants the
// device's context to be current: pit_rt_enter and pit_index_build see to that.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_CUDA_CUDA_H
#define PIT_LIB_RUNTIME_CUDA_CUDA_H

#include "Core/Internal.h"

/// Device memory that is cut off the front of blocks and given back as a whole.
typedef struct pit_cuda_arena pit_cuda_arena;

/// The stream of work on the device, and the source of its memory: of a call of
/// a program, or of a builder.
typedef struct pit_cuda_work {
  pit_context *context;
  pit_stream stream;
  pit_cuda_arena *arena;
} pit_cuda_work;

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

typedef struct pit_cuda_properties {
  int32_t capability; ///< 10 * major + minor: 80, 90, ...
  int32_t multiprocessors;
  int32_t max_shared_bytes; ///< of one block that asks for it
  int64_t l2_bytes;
} pit_cuda_properties;

/// The properties of a context's device.
const pit_cuda_properties *pit_cuda_device(const pit_context *context);

//===----------------------------------------------------------------------===//
// Work on a stream
//===----------------------------------------------------------------------===//

/// Device memory, aligned to 256 bytes, not initialized (in no call: work of an
/// earlier call on the stream may still use it). It is that of the call until
/// pit_rt_leave, or of the builder until its next build. Never a NULL pointer.
pit_status pit_cuda_alloc(const pit_cuda_work *work, int64_t bytes,
                          void **memory);

/// Writes `count` 32-bit words.
pit_status pit_cuda_fill(const pit_cuda_work *work, void *memory, uint32_t word,
                         int64_t count);

typedef struct pit_cuda_grid {
  int64_t blocks; ///< along x; 0: nothing is started
  int64_t split;  ///< blocks along y; 0 or 1: there is no such direction
  int32_t threads;
  int32_t cluster; ///< blocks of a cluster (sm_90); 0 or 1: none
  int32_t shared_bytes;
  bool overlap; ///< may start before the launch before it is done, for which
                ///< the kernel itself waits (sm_90)
} pit_cuda_grid;

/// Starts a kernel of an image that is part of the runtime.
pit_status pit_cuda_launch(const pit_cuda_work *work, const pit_image *image,
                           const char *kernel, const pit_cuda_grid *grid,
                           void **params);

#endif // PIT_LIB_RUNTIME_CUDA_CUDA_H
