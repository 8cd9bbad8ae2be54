//===- DriverCode.c - Modules, launches and other work --------------------===//

#include "Device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Linked PTX stays PTX, behind this.
static const char linked_mark[] = "\177ELFemulated PTX\n";

struct CUlinkState_st {
  char *image;
  size_t size;
  char *log;
  size_t log_size;
};

static void read_log(unsigned count, const int *options, void *const *values,
                     char **log, size_t *size) {
  *log = NULL;
  *size = 0;
  for (unsigned n = 0; n < count; ++n)
    if (options[n] == CU_JIT_ERROR_LOG_BUFFER)
      *log = values[n];
    else if (options[n] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      memcpy(size, &values[n], sizeof(unsigned)); // the driver reads no more
}

/// Decodes PTX, or says in the log why not.
static emu_module *decode(const char *image, char *log, size_t log_size) {
  char message[EMU_MESSAGE_SIZE] = "";
  emu_module *module = NULL;
  const size_t mark = sizeof(linked_mark) - 1;
  if (strncmp(image, linked_mark, mark) == 0)
    image += mark;
  if (strncmp(image, "\177ELF", 4) == 0)
    snprintf(message, sizeof(message),
             "a cubin cannot be emulated; compile with --device-code=ptx");
  else
    module = emu_module_load(image, message);
  if (module && module->target > (unsigned)emu_capability()) {
    snprintf(message, sizeof(message),
             "the code is for sm_%u, the device emulated is an sm_%d",
             module->target, emu_capability());
    emu_module_free(module);
    module = NULL;
  }
  if (!module && log && log_size > 0)
    snprintf(log, log_size, "%s", message);
  if (!module)
    fprintf(stderr, "emulator: %s\n", message);
  return module;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            int *options, void **values) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  EMU_CHECK(emu_check_capture());
  char *log;
  size_t size;
  read_log(count, options, values, &log, &size);
  emu_loaded *made = malloc(sizeof(*made));
  if (!made)
    return CUDA_ERROR_OUT_OF_MEMORY;
  made->module = decode(image, log, size);
  if (!made->module) {
    free(made);
    return EMU_INVALID_PTX;
  }
  *module = made;
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

/// Also in a context that a launch has failed in.
CUresult cuModuleUnload(CUmodule module) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_capture());
  emu_module_free(module->module);
  free(module);
  return emu_check_context();
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  for (emu_function *f = module->module->functions; f; f = f->next)
    if (strcmp(f->name, name) == 0) {
      *function = (CUfunction)f;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  EMU_LOCKED;
  const emu_function *f = (const emu_function *)function;
  if (attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
    *value = (int)f->module->static_shared;
  else if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    *value = f->max_dynamic;
  else
    return EMU_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  emu_function *f = (emu_function *)function;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
      value < 0 || value + (int)f->module->static_shared > EMU_MAX_SHARED)
    return EMU_INVALID_VALUE;
  f->max_dynamic = value;
  return CUDA_SUCCESS;
}

CUresult cuLinkCreate_v2(unsigned count, int *options, void **values,
                         CUlinkState *link) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  EMU_CHECK(emu_check_capture());
  *link = calloc(1, sizeof(**link));
  if (!*link)
    return CUDA_ERROR_OUT_OF_MEMORY;
  read_log(count, options, values, &(*link)->log, &(*link)->log_size);
  return CUDA_SUCCESS;
}

/// One piece of PTX, which is decoded to see what is wrong with it.
CUresult cuLinkAddData_v2(CUlinkState link, int type, const void *data,
                          size_t size, const char *name, unsigned count,
                          int *options, void **values) {
  (void)name, (void)count, (void)options, (void)values;
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  const size_t mark = sizeof(linked_mark) - 1;
  if (type != CU_JIT_INPUT_PTX || link->image || size == 0)
    return EMU_NOT_SUPPORTED;
  link->image = malloc(mark + size + 1);
  if (!link->image)
    return CUDA_ERROR_OUT_OF_MEMORY;
  memcpy(link->image, linked_mark, mark);
  memcpy(link->image + mark, data, size);
  link->image[mark + size] = '\0';
  link->size = mark + strlen(link->image + mark) + 1;
  emu_module *module = decode(link->image, link->log, link->log_size);
  if (!module)
    return EMU_INVALID_PTX;
  emu_module_free(module);
  return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState link, void **cubin, size_t *size) {
  EMU_LOCKED;
  if (!link->image)
    return EMU_INVALID_VALUE;
  *cubin = link->image;
  *size = link->size;
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState link) {
  EMU_LOCKED;
  free(link->image);
  free(link);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static CUresult run(const emu_work *work) {
  emu_launch launch = work->launch; // a graph may be launched again
  char message[EMU_MESSAGE_SIZE];
  if (getenv("PIT_EMULATOR_TRACE"))
    fprintf(stderr,
            "emulator: %s with %u x %u x %u blocks of %u threads in clusters "
            "of %u, %u bytes of shared memory\n",
            launch.function->name, launch.grid[0], launch.grid[1],
            launch.grid[2], launch.block[0] * launch.block[1] * launch.block[2],
            launch.cluster, launch.dynamic_shared);
  if (emu_launch_run(&launch, message))
    return CUDA_SUCCESS;
  fprintf(stderr, "emulator: %s\n", message);
  emu_fail_context(EMU_LAUNCH_FAILED);
  return EMU_LAUNCH_FAILED;
}

CUresult emu_do(emu_work *work) {
  if (work->kind == EMU_LAUNCH)
    return run(work);
  if (work->bytes == 0)
    return CUDA_SUCCESS;
  char *to = emu_memory_host(work->to, work->bytes);
  if (!to)
    return EMU_INVALID_VALUE;
  if (work->kind == EMU_MEMCPY) {
    const char *from = emu_memory_host(work->from, work->bytes);
    if (!from)
      return EMU_INVALID_VALUE;
    memmove(to, from, work->bytes);
    return CUDA_SUCCESS;
  }
  if (work->to % work->width != 0)
    return EMU_INVALID_VALUE;
  for (uint64_t n = 0; n < work->bytes; n += work->width)
    memcpy(to + n, &work->value, work->width);
  return CUDA_SUCCESS;
}

void emu_free_work(emu_work *work) {
  if (work->kind == EMU_LAUNCH)
    free(work->launch.parameters);
  free(work);
}

/// What a driver would refuse.
static CUresult check_launch(const emu_launch *l) {
  const emu_function *f = l->function;
  uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
  for (int d = 0; d < 3; ++d)
    if (l->grid[d] == 0 || l->block[d] == 0 || (d > 0 && l->grid[d] > 65535))
      return EMU_INVALID_VALUE;
  if (l->grid[0] > INT32_MAX)
    return EMU_INVALID_VALUE;
  if (threads > 1024 || (f->max_threads && threads > f->max_threads))
    return EMU_OUT_OF_RESOURCES;
  int usual = 49152 - (int)f->module->static_shared;
  int most = f->max_dynamic > usual ? f->max_dynamic : usual;
  if ((int64_t)l->dynamic_shared > most)
    return EMU_INVALID_VALUE;
  if (l->cluster == 0 || l->cluster > EMU_MAX_CLUSTER / 2 ||
      l->grid[0] % l->cluster != 0 || (f->cluster && f->cluster != l->cluster))
    return EMU_INVALID_CLUSTER;
  return CUDA_SUCCESS;
}

static CUresult launch(CUstream stream, emu_launch l, void *const *params) {
  EMU_CHECK(emu_check_context());
  EMU_CHECK(check_launch(&l));
  const emu_function *f = l.function;
  emu_work *work = calloc(1, sizeof(*work));
  l.parameters = aligned_alloc(128, (f->parameter_bytes + 128u) / 128 * 128);
  if (!work || !l.parameters) {
    free(work);
    free(l.parameters);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  memset(l.parameters, 0, f->parameter_bytes);
  for (uint32_t n = 0; n < f->parameter_count; ++n)
    memcpy(l.parameters + f->parameters[n].offset, params[n],
           f->parameters[n].size);
  work->kind = EMU_LAUNCH;
  work->launch = l;
  return emu_put(stream, work);
}

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned shared, CUstream stream,
                        void **params, void **extra) {
  EMU_LOCKED;
  const emu_function *f = (const emu_function *)function;
  if (extra)
    return EMU_NOT_SUPPORTED;
  emu_launch l = {.function = f,
                  .grid = {gridX, gridY, gridZ},
                  .block = {blockX, blockY, blockZ},
                  .cluster = f->cluster ? f->cluster : 1,
                  .dynamic_shared = shared};
  return launch(stream, l, params);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function,
                          void **params, void **extra) {
  EMU_LOCKED;
  const emu_function *f = (const emu_function *)function;
  if (extra)
    return EMU_NOT_SUPPORTED;
  emu_launch l = {.function = f,
                  .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                  .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                  .cluster = f->cluster ? f->cluster : 1,
                  .dynamic_shared = c->sharedMemBytes};
  for (unsigned n = 0; n < c->numAttrs; ++n) {
    const CUlaunchAttribute *a = &c->attrs[n];
    if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      if (a->value.clusterDim.y != 1 || a->value.clusterDim.z != 1)
        return EMU_NOT_SUPPORTED;
      l.cluster = a->value.clusterDim.x;
    } else if (a->id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
      return EMU_NOT_SUPPORTED;
    }
  }
  return launch(c->hStream, l, params);
}
