//===- Mgpu.c - What MLIR's gpu-to-llvm calls -----------------------------===//
//
// A library of its own, libpit_mgpu, for programs that MLIR's own GPU pipeline
// made (gpu-to-llvm, nvgpu-to-nvvm of MLIR 22); programs of pit do not need it.
// That interface has no context and no status. So this keeps state of the
// process (the driver, the devices' primary contexts, one default device per
// thread), and where something fails it says so on stderr and aborts: to go on
// would be to compute with what is not there.
//
//===----------------------------------------------------------------------===//

#include "Mgpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 64, MAX_TMA_RANK = 5, LOG_SIZE = 4096, TMA_BYTES = 128 };

static pit_cuda_driver cuda;
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext contexts[MAX_DEVICES]; ///< retained for the process's life
static _Thread_local int32_t default_device;

static void check(CUresult result, const char *function) {
  if (result == CUDA_SUCCESS)
    return;
  fprintf(stderr, "pit: %s failed: %s (error %d)\n", function,
          pit_cuda_error(&cuda, result), result);
  abort();
}

#define CU(name, ...) check(cuda.name(__VA_ARGS__), "cu" #name)

/// The library's name may come from the environment, so that tests can load a
/// driver without a device.
static void open_driver(void) {
  char message[PIT_CUDA_MESSAGE_SIZE];
  if (pit_cuda_driver_open(&cuda, getenv("PIT_MGPU_CUDA_LIBRARY"), message) !=
      0) {
    fprintf(stderr, "pit: %s\n", message);
    abort();
  }
}

static CUdevice device(void) {
  CUdevice found = 0;
  CU(DeviceGet, &found, default_device);
  return found;
}

/// The primary context of the thread's default device.
static CUcontext find_context(void) {
  pthread_once(&opened, open_driver);
  if (default_device < 0 || default_device >= MAX_DEVICES) {
    fprintf(stderr, "pit: device %d; devices 0 to %d are supported\n",
            default_device, MAX_DEVICES - 1);
    abort();
  }
  pthread_mutex_lock(&lock);
  if (!contexts[default_device])
    CU(DevicePrimaryCtxRetain, &contexts[default_device], device());
  CUcontext context = contexts[default_device];
  pthread_mutex_unlock(&lock);
  return context;
}

/// Makes that context current.
static void enter(void) {
  CUcontext context = find_context();
  CU(CtxPushCurrent, context);
}

static void leave(void) {
  CUcontext popped;
  CU(CtxPopCurrent, &popped);
}

/// The driver takes addresses of device memory as integers.
static CUdeviceptr address_of(const void *pointer) {
  return (CUdeviceptr)(uintptr_t)pointer;
}

void mgpuSetDefaultDevice(int32_t ordinal) { default_device = ordinal; }

//===----------------------------------------------------------------------===//
// Modules and launches
//===----------------------------------------------------------------------===//

static CUmodule load(const void *data, int32_t level, bool compile) {
  char log[LOG_SIZE] = "";
  int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                   CU_JIT_OPTIMIZATION_LEVEL};
  // The driver takes numbers in the place of pointers.
  uintptr_t numbers[] = {(uintptr_t)log, LOG_SIZE, (uintptr_t)level};
  void *values[3];
  memcpy(values, numbers, sizeof(values));
  enter();
  CUmodule module = NULL;
  CUresult result =
      cuda.ModuleLoadDataEx(&module, data, compile ? 3 : 2, options, values);
  if (result != CUDA_SUCCESS && log[0])
    fprintf(stderr, "pit: %s\n", log);
  check(result, "cuModuleLoadDataEx");
  leave();
  return module;
}

CUmodule mgpuModuleLoad(void *data, size_t size) {
  (void)size;
  return load(data, 0, false);
}

CUmodule mgpuModuleLoadJIT(void *data, int32_t level) {
  return load(data, level, true);
}

void mgpuModuleUnload(CUmodule module) {
  // Programs unload when the process ends. The driver may have ended then, and
  // its modules with it.
  CUcontext context = find_context();
  CUresult result = cuda.CtxPushCurrent(context);
  if (result == CUDA_ERROR_DEINITIALIZED)
    return;
  check(result, "cuCtxPushCurrent");
  CU(ModuleUnload, module);
  leave();
}

CUfunction mgpuModuleGetFunction(CUmodule module, const char *name) {
  enter();
  CUfunction function = NULL;
  CU(ModuleGetFunction, &function, module, name);
  leave();
  return function;
}

/// Lets a kernel have the dynamic shared memory that it is to be started with.
static void allow_shared(CUfunction function, int32_t bytes) {
  if (bytes > 0)
    CU(FuncSetAttribute, function,
       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
}

void mgpuLaunchKernel(CUfunction function, intptr_t grid_x, intptr_t grid_y,
                      intptr_t grid_z, intptr_t block_x, intptr_t block_y,
                      intptr_t block_z, int32_t shared, CUstream stream,
                      void **params, void **extra, size_t count) {
  (void)count;
  enter();
  allow_shared(function, shared);
  CU(LaunchKernel, function, (unsigned)grid_x, (unsigned)grid_y,
     (unsigned)grid_z, (unsigned)block_x, (unsigned)block_y, (unsigned)block_z,
     (unsigned)shared, stream, params, extra);
  leave();
}

void mgpuLaunchClusterKernel(CUfunction function, intptr_t cluster_x,
                             intptr_t cluster_y, intptr_t cluster_z,
                             intptr_t grid_x, intptr_t grid_y, intptr_t grid_z,
                             intptr_t block_x, intptr_t block_y,
                             intptr_t block_z, int32_t shared, CUstream stream,
                             void **params, void **extra) {
  CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = {(unsigned)cluster_x,
                                                      (unsigned)cluster_y,
                                                      (unsigned)cluster_z}};
  CUlaunchConfig config = {.gridDimX = (unsigned)grid_x,
                           .gridDimY = (unsigned)grid_y,
                           .gridDimZ = (unsigned)grid_z,
                           .blockDimX = (unsigned)block_x,
                           .blockDimY = (unsigned)block_y,
                           .blockDimZ = (unsigned)block_z,
                           .sharedMemBytes = (unsigned)shared,
                           .hStream = stream,
                           .attrs = &attribute,
                           .numAttrs = 1};
  enter();
  allow_shared(function, shared);
  CU(LaunchKernelEx, &config, function, params, extra);
  leave();
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

CUstream mgpuStreamCreate(void) {
  enter();
  CUstream stream = NULL;
  CU(StreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  leave();
  return stream;
}

void mgpuStreamDestroy(CUstream stream) {
  enter();
  CU(StreamDestroy, stream);
  leave();
}

void mgpuStreamSynchronize(CUstream stream) {
  enter();
  CU(StreamSynchronize, stream);
  leave();
}

void mgpuStreamWaitEvent(CUstream stream, CUevent event) {
  enter();
  CU(StreamWaitEvent, stream, event, 0);
  leave();
}

CUevent mgpuEventCreate(void) {
  enter();
  CUevent event = NULL;
  CU(EventCreate, &event, CU_EVENT_DISABLE_TIMING);
  leave();
  return event;
}

void mgpuEventDestroy(CUevent event) {
  enter();
  CU(EventDestroy, event);
  leave();
}

void mgpuEventSynchronize(CUevent event) {
  enter();
  CU(EventSynchronize, event);
  leave();
}

void mgpuEventRecord(CUevent event, CUstream stream) {
  enter();
  CU(EventRecord, event, stream);
  leave();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void *mgpuMemAlloc(uint64_t bytes, CUstream stream, bool shared) {
  (void)stream;
  if (bytes == 0)
    return NULL;
  enter();
  CUdeviceptr address = 0;
  if (shared)
    CU(MemAllocManaged, &address, bytes, CU_MEM_ATTACH_GLOBAL);
  else
    CU(MemAlloc, &address, bytes);
  leave();
  void *memory;
  memcpy(&memory, &address, sizeof(memory));
  return memory;
}

void mgpuMemFree(void *memory, CUstream stream) {
  (void)stream;
  if (!memory)
    return;
  enter();
  CU(MemFree, address_of(memory));
  leave();
}

void mgpuMemcpy(void *to, const void *from, size_t bytes, CUstream stream) {
  enter();
  CU(MemcpyAsync, address_of(to), address_of(from), bytes, stream);
  leave();
}

void mgpuMemset32(void *to, uint32_t value, size_t count, CUstream stream) {
  enter();
  CU(MemsetD32Async, address_of(to), value, count, stream);
  leave();
}

void mgpuMemset16(void *to, uint16_t value, size_t count, CUstream stream) {
  enter();
  CU(MemsetD16Async, address_of(to), value, count, stream);
  leave();
}

void mgpuMemHostRegister(void *memory, uint64_t bytes) {
  enter();
  CU(MemHostRegister, memory, bytes, 0);
  leave();
}

void mgpuMemHostUnregister(void *memory) {
  enter();
  CU(MemHostUnregister, memory);
  leave();
}

void mgpuMemHostRegisterMemRef(int64_t rank, const mgpu_memref *host,
                               int64_t element) {
  int64_t dense = 1;
  for (int64_t d = rank - 1; d >= 0; --d) {
    if (host->sizes[rank + d] != dense && host->sizes[d] != 1) {
      fprintf(stderr,
              "pit: host memory to register has stride %lld in dimension "
              "%lld; it must be %lld (contiguous, row-major)\n",
              (long long)host->sizes[rank + d], (long long)d, (long long)dense);
      abort();
    }
    dense *= host->sizes[d];
  }
  mgpuMemHostRegister(host->aligned + host->offset * element,
                      (uint64_t)(dense * element));
}

void mgpuMemHostUnregisterMemRef(int64_t rank, const mgpu_memref *host,
                                 int64_t element) {
  (void)rank;
  mgpuMemHostUnregister(host->aligned + host->offset * element);
}

//===----------------------------------------------------------------------===//
// TMA descriptors
//===----------------------------------------------------------------------===//

void mgpuTensorMapEncodeTiled(void *map, int32_t type, uint32_t rank,
                              void *memory, const uint64_t *dims,
                              const uint64_t *strides, const uint32_t *box,
                              const uint32_t *step, int32_t interleave,
                              int32_t swizzle, int32_t l2_promotion,
                              int32_t fill) {
  enter();
  CU(TensorMapEncodeTiled, map, type, rank, memory, dims, strides, box, step,
     interleave, swizzle, l2_promotion, fill);
  leave();
}

/// Bytes of an element of each CUtensorMapDataType.
static const uint8_t element_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

void *mgpuTensorMapEncodeTiledMemref(int64_t rank, const mgpu_memref *tensor,
                                     int64_t type, int64_t interleave,
                                     int64_t swizzle, int64_t l2_promotion,
                                     int64_t fill, const int64_t *box) {
  if (rank < 1 || rank > MAX_TMA_RANK || type < 0 ||
      type >= (int64_t)sizeof(element_bytes)) {
    fprintf(stderr,
            "pit: a TMA descriptor of rank %lld and type %lld; ranks 1 to %d "
            "and types 0 to %zu are supported\n",
            (long long)rank, (long long)type, MAX_TMA_RANK,
            sizeof(element_bytes) - 1);
    abort();
  }
  _Alignas(64) char map[TMA_BYTES];
  uint64_t dims[MAX_TMA_RANK], strides[MAX_TMA_RANK];
  uint32_t boxes[MAX_TMA_RANK], steps[MAX_TMA_RANK];
  // The driver counts dimensions from the innermost one.
  for (int64_t d = 0; d < rank; ++d) {
    int64_t from = rank - 1 - d;
    dims[d] = (uint64_t)tensor->sizes[from];
    boxes[d] = (uint32_t)box[from];
    steps[d] = 1;
    if (d > 0)
      strides[d - 1] =
          (uint64_t)tensor->sizes[rank + from] * element_bytes[type];
  }
  char *data = tensor->aligned + tensor->offset * element_bytes[type];
  mgpuTensorMapEncodeTiled(map, (int32_t)type, (uint32_t)rank, data, dims,
                           strides, boxes, steps, (int32_t)interleave,
                           (int32_t)swizzle, (int32_t)l2_promotion,
                           (int32_t)fill);
  void *copy = mgpuMemAlloc(sizeof(map), NULL, false);
  enter();
  CU(MemcpyHtoD, address_of(copy), map, sizeof(map));
  leave();
  return copy;
}
