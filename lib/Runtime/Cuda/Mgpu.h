//===- Mgpu.h - What MLIR's gpu-to-llvm calls -----------------------------===//
//
// The functions of libpit_mgpu, as MLIR 22 calls them.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_CUDA_MGPU_H
#define PIT_LIB_RUNTIME_CUDA_MGPU_H

#include "CudaDriver.h"

#include <stdbool.h>

#define MGPU_EXPORT __attribute__((visibility("default")))

/// A ranked memref descriptor; sizes[rank], then strides[rank].
typedef struct mgpu_memref {
  char *allocated, *aligned;
  int64_t offset;
  int64_t sizes[];
} mgpu_memref;

/// The stream of the calling thread, from its next call on.
MGPU_EXPORT void mgpuSetDefaultDevice(int32_t ordinal);

MGPU_EXPORT CUmodule mgpuModuleLoad(void *data, size_t size);
MGPU_EXPORT CUmodule mgpuModuleLoadJIT(void *data, int32_t level);
MGPU_EXPORT void mgpuModuleUnload(CUmodule module);
MGPU_EXPORT CUfunction mgpuModuleGetFunction(CUmodule module, const char *name);
MGPU_EXPORT void mgpuLaunchKernel(CUfunction function, intptr_t grid_x,
                                  intptr_t grid_y, intptr_t grid_z,
                                  intptr_t block_x, intptr_t block_y,
                                  intptr_t block_z, int32_t shared,
                                  CUstream stream, void **params, void **extra,
                                  size_t count);
MGPU_EXPORT void
mgpuLaunchClusterKernel(CUfunction function, intptr_t cluster_x,
                        intptr_t cluster_y, intptr_t cluster_z, intptr_t grid_x,
                        intptr_t grid_y, intptr_t grid_z, intptr_t block_x,
                        intptr_t block_y, intptr_t block_z, int32_t shared,
                        CUstream stream, void **params, void **extra);

MGPU_EXPORT CUstream mgpuStreamCreate(void);
MGPU_EXPORT void mgpuStreamDestroy(CUstream stream);
MGPU_EXPORT void mgpuStreamSynchronize(CUstream stream);
MGPU_EXPORT void mgpuStreamWaitEvent(CUstream stream, CUevent event);
MGPU_EXPORT CUevent mgpuEventCreate(void);
MGPU_EXPORT void mgpuEventDestroy(CUevent event);
MGPU_EXPORT void mgpuEventSynchronize(CUevent event);
MGPU_EXPORT void mgpuEventRecord(CUevent event, CUstream stream);

MGPU_EXPORT void *mgpuMemAlloc(uint64_t bytes, CUstream stream, bool shared);
MGPU_EXPORT void mgpuMemFree(void *memory, CUstream stream);
MGPU_EXPORT void mgpuMemcpy(void *to, const void *from, size_t bytes,
                            CUstream stream);
MGPU_EXPORT void mgpuMemset32(void *to, uint32_t value, size_t count,
                              CUstream stream);
MGPU_EXPORT void mgpuMemset16(void *to, uint16_t value, size_t count,
                              CUstream stream);
MGPU_EXPORT void mgpuMemHostRegister(void *memory, uint64_t bytes);
MGPU_EXPORT void mgpuMemHostUnregister(void *memory);
MGPU_EXPORT void mgpuMemHostRegisterMemRef(int64_t rank,
                                           const mgpu_memref *host,
                                           int64_t element);
MGPU_EXPORT void mgpuMemHostUnregisterMemRef(int64_t rank,
                                             const mgpu_memref *host,
                                             int64_t element);

MGPU_EXPORT void mgpuTensorMapEncodeTiled(
    void *map, int32_t type, uint32_t rank, void *memory, const uint64_t *dims,
    const uint64_t *strides, const uint32_t *box, const uint32_t *step,
    int32_t interleave, int32_t swizzle, int32_t l2_promotion, int32_t fill);
/// A descriptor in device memory, which lives as long as the process: nothing
/// in the interface gives it back.
MGPU_EXPORT void *mgpuTensorMapEncodeTiledMemref(
    int64_t rank, const mgpu_memref *tensor, int64_t type, int64_t interleave,
    int64_t swizzle, int64_t l2_promotion, int64_t fill, const int64_t *box);

#endif // PIT_LIB_RUNTIME_CUDA_MGPU_H
