//===- mgpu-functions.c - The functions that gpu-to-llvm calls ------------===//
//
// The functions of MLIR's mlir_cuda_runtime that plain-functions.mlir needs, on
// device 0: LLVM's packages lack that library. An error ends the process.
//
//===----------------------------------------------------------------------===//

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEINITIALIZED = 4 };

static void *find(const char *name) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void *function = library ? dlsym(library, name) : NULL;
  if (!function) {
    fprintf(stderr, "pit: libcuda.so.1 has no %s\n", name);
    abort();
  }
  return function;
}

static void check(int result, const char *name) {
  if (result == 0)
    return;
  fprintf(stderr, "pit: %s failed (error %d)\n", name, result);
  abort();
}

/// Calls a function of the driver, with the types of its parameters.
#define TRY(name, types, ...)                                                  \
  ((int(*) types)(uintptr_t)find(#name))(__VA_ARGS__)
#define CU(name, types, ...) check(TRY(name, types, __VA_ARGS__), #name)

/// Makes the primary context current, which is kept. Error 4: the driver ended.
static int enter(void) {
  static _Thread_local void *context;
  if (!context) {
    int device;
    CU(cuInit, (unsigned), 0);
    CU(cuDeviceGet, (int *, int), &device, 0);
    CU(cuDevicePrimaryCtxRetain, (void **, int), &context, device);
  }
  int result = TRY(cuCtxPushCurrent_v2, (void *), context);
  if (result != DEINITIALIZED)
    check(result, "cuCtxPushCurrent_v2");
  return result;
}

static void leave(void) {
  void *popped;
  CU(cuCtxPopCurrent_v2, (void **), &popped);
}

void *mgpuMemAlloc(uint64_t bytes, void *stream, bool shared) {
  (void)stream, (void)shared;
  void *memory = NULL;
  enter();
  if (bytes)
    CU(cuMemAlloc_v2, (void **, size_t), &memory, bytes);
  leave();
  return memory;
}

void mgpuMemFree(void *memory, void *stream) {
  (void)stream;
  enter();
  if (memory)
    CU(cuMemFree_v2, (void *), memory);
  leave();
}

void *mgpuModuleLoadJIT(void *data, int32_t level) {
  (void)level;
  void *module;
  enter();
  CU(cuModuleLoadDataEx, (void **, void *, unsigned, int *, void **), &module,
     data, 0, NULL, NULL);
  leave();
  return module;
}

/// Programs unload when the process ends, when the driver may have ended.
void mgpuModuleUnload(void *module) {
  if (enter() == DEINITIALIZED)
    return;
  CU(cuModuleUnload, (void *), module);
  leave();
}

void *mgpuModuleGetFunction(void *module, const char *name) {
  void *function;
  enter();
  CU(cuModuleGetFunction, (void **, void *, const char *), &function, module,
     name);
  leave();
  return function;
}

void mgpuLaunchKernel(void *function, intptr_t grid_x, intptr_t grid_y,
                      intptr_t grid_z, intptr_t block_x, intptr_t block_y,
                      intptr_t block_z, int32_t shared, void *stream,
                      void **params, void **extra, size_t count) {
  (void)count;
  enter();
  CU(cuLaunchKernel,
     (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
      unsigned, void *, void **, void **),
     function, (unsigned)grid_x, (unsigned)grid_y, (unsigned)grid_z,
     (unsigned)block_x, (unsigned)block_y, (unsigned)block_z, (unsigned)shared,
     stream, params, extra);
  leave();
}
