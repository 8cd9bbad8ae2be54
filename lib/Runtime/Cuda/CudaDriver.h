//===- CudaDriver.h - The functions of the CUDA driver --------------------===//
//
// Declarations of our own instead of cuda.h: so the runtime is built the same
// on machines without CUDA's toolkit, whose header also maps names to versions
// of the ABI that differ from one toolkit to the next. The symbols below are
// those of CUDA 12.0, and drivers keep them.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_CUDA_CUDADRIVER_H
#define PIT_LIB_RUNTIME_CUDA_CUDADRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUuserObject_st *CUuserObject;

enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_NOT_FOUND = 500,

  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,

  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,

  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
  CU_JIT_INPUT_PTX = 1,

  CU_EVENT_DISABLE_TIMING = 2,
  CU_STREAM_NON_BLOCKING = 1,
  CU_STREAM_PER_THREAD = 2, ///< a handle
  CU_STREAM_CAPTURE_STATUS_NONE = 0,
  CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
  CU_STREAM_CAPTURE_MODE_RELAXED = 2,
  CU_USER_OBJECT_NO_DESTRUCTOR_SYNC = 1,
  CU_GRAPH_USER_OBJECT_MOVE = 1,
  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6
};

typedef struct CUlaunchAttribute {
  int32_t id;
  char pad[4];
  union {
    char pad[64];
    struct {
      unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
  } value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
} CUlaunchConfig;

_Static_assert(sizeof(CUlaunchAttribute) == 72 && sizeof(CUlaunchConfig) == 56,
               "the driver's ABI");

/// F(name, symbol, parameters)
#define PIT_CUDA_FUNCTIONS(F)                                                  \
  F(Init, cuInit, (unsigned flags))                                            \
  F(DriverGetVersion, cuDriverGetVersion, (int *version))                      \
  F(GetErrorString, cuGetErrorString, (CUresult, const char **text))           \
  F(DeviceGetCount, cuDeviceGetCount, (int *count))                            \
  F(DeviceGet, cuDeviceGet, (CUdevice *, int ordinal))                         \
  F(DeviceGetName, cuDeviceGetName, (char *name, int size, CUdevice))          \
  F(DeviceGetAttribute, cuDeviceGetAttribute,                                  \
    (int *value, int attribute, CUdevice))                                     \
  F(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice)) \
  F(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice))         \
  F(CtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext))                          \
  F(CtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext *))                          \
  F(CtxGetDevice, cuCtxGetDevice, (CUdevice *))                                \
  F(MemGetInfo, cuMemGetInfo_v2, (size_t *available, size_t *total))           \
  F(MemAlloc, cuMemAlloc_v2, (CUdeviceptr *, size_t bytes))                    \
  F(MemFree, cuMemFree_v2, (CUdeviceptr))                                      \
  F(MemcpyAsync, cuMemcpyAsync,                                                \
    (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream))                \
  F(MemcpyHtoD, cuMemcpyHtoD_v2,                                               \
    (CUdeviceptr to, const void *from, size_t bytes))                          \
  F(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                     \
    (CUdeviceptr to, const void *from, size_t bytes, CUstream))                \
  F(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                     \
    (void *to, CUdeviceptr from, size_t bytes, CUstream))                      \
  F(MemsetD32Async, cuMemsetD32Async,                                          \
    (CUdeviceptr to, unsigned value, size_t count, CUstream))                  \
  F(MemHostRegister, cuMemHostRegister_v2,                                     \
    (void *memory, size_t bytes, unsigned flags))                              \
  F(MemHostUnregister, cuMemHostUnregister, (void *memory))                    \
  F(ModuleLoadDataEx, cuModuleLoadDataEx,                                      \
    (CUmodule *, const void *image, unsigned count, int *options,              \
     void **values))                                                           \
  F(ModuleUnload, cuModuleUnload, (CUmodule))                                  \
  F(ModuleGetFunction, cuModuleGetFunction,                                    \
    (CUfunction *, CUmodule, const char *name))                                \
  F(FuncGetAttribute, cuFuncGetAttribute,                                      \
    (int *value, int attribute, CUfunction))                                   \
  F(FuncSetAttribute, cuFuncSetAttribute,                                      \
    (CUfunction, int attribute, int value))                                    \
  F(LinkCreate, cuLinkCreate_v2,                                               \
    (unsigned count, int *options, void **values, CUlinkState *))              \
  F(LinkAddData, cuLinkAddData_v2,                                             \
    (CUlinkState, int type, const void *data, size_t size, const char *name,   \
     unsigned count, int *options, void **values))                             \
  F(LinkComplete, cuLinkComplete, (CUlinkState, void **cubin, size_t *size))   \
  F(LinkDestroy, cuLinkDestroy, (CUlinkState))                                 \
  F(LaunchKernel, cuLaunchKernel,                                              \
    (CUfunction, unsigned gridX, unsigned gridY, unsigned gridZ,               \
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,       \
     CUstream, void **params, void **extra))                                   \
  F(LaunchKernelEx, cuLaunchKernelEx,                                          \
    (const CUlaunchConfig *, CUfunction, void **params, void **extra))         \
  F(StreamCreate, cuStreamCreate, (CUstream *, unsigned flags))                \
  F(StreamDestroy, cuStreamDestroy_v2, (CUstream))                             \
  F(StreamSynchronize, cuStreamSynchronize, (CUstream))                        \
  F(StreamGetId, cuStreamGetId, (CUstream, unsigned long long *id))            \
  F(StreamGetCaptureInfo, cuStreamGetCaptureInfo_v2,                           \
    (CUstream, int *status, uint64_t *id, CUgraph *,                           \
     const CUgraphNode **dependencies, size_t *count))                         \
  F(ThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode,        \
    (int *mode))                                                               \
  F(UserObjectCreate, cuUserObjectCreate,                                      \
    (CUuserObject *, void *user, void (*destroy)(void *user), unsigned count,  \
     unsigned flags))                                                          \
  F(UserObjectRelease, cuUserObjectRelease, (CUuserObject, unsigned count))    \
  F(GraphRetainUserObject, cuGraphRetainUserObject,                            \
    (CUgraph, CUuserObject, unsigned count, unsigned flags))                   \
  F(EventCreate, cuEventCreate, (CUevent *, unsigned flags))                   \
  F(EventDestroy, cuEventDestroy_v2, (CUevent))                                \
  F(EventRecord, cuEventRecord, (CUevent, CUstream))                           \
  F(EventQuery, cuEventQuery, (CUevent))                                       \
  F(TensorMapEncodeTiled, cuTensorMapEncodeTiled,                              \
    (void *map, int type, uint32_t rank, const void *address,                  \
     const uint64_t *dims, const uint64_t *strides, const uint32_t *box,       \
     const uint32_t *step, int interleave, int swizzle, int l2_promotion,      \
     int fill))

/// An opened library and its functions.
typedef struct pit_cuda_driver {
  void *library;
// NOLINTBEGIN(bugprone-macro-parentheses): these are declarators
#define PIT_CUDA_MEMBER(name, symbol, parameters) CUresult(*name) parameters;
  PIT_CUDA_FUNCTIONS(PIT_CUDA_MEMBER)
#undef PIT_CUDA_MEMBER
  // NOLINTEND(bugprone-macro-parentheses)
} pit_cuda_driver;

enum {
  /// The version that the PTX of the compiler asks for: CUDA 12.0.
  PIT_CUDA_MIN_DRIVER = 12000,
  PIT_CUDA_MESSAGE_SIZE = 400
};

/// Opens the driver's library (NULL: libcuda.so.1) and initializes it. Returns
/// 0, or leaves one line in `message` and returns a pit_status.
int32_t pit_cuda_driver_open(pit_cuda_driver *driver, const char *library,
                             char message[PIT_CUDA_MESSAGE_SIZE]);
void pit_cuda_driver_close(pit_cuda_driver *driver);

/// The driver's text of an error; never NULL.
const char *pit_cuda_error(const pit_cuda_driver *driver, CUresult result);

#endif // PIT_LIB_RUNTIME_CUDA_CUDADRIVER_H
