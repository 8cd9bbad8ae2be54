//===- FakeCuda.c - A CUDA driver for tests without a device --------------===//

#include "FakeCudaInternal.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUmod_st {
  char *text;
};

struct CUfunc_st {
  char name[64];
};

struct CUlinkState_st {
  char *cubin;
  char *log;
  size_t log_size;
};

enum { FIRST_DEVICE = 100, MAX_DEVICES = 8, MAX_DEPTH = 64 };

struct CUctx_st {
  CUdevice device;
};

#define INITIAL                                                                \
  {.devices = 2,                                                               \
   .version = 12040,                                                           \
   .capability_major = 9,                                                      \
   .memory = (size_t)1 << 30}

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
fake_cuda fake_shared = INITIAL;
int fake_captures;
_Thread_local int fake_capture_mode;
static struct CUctx_st primaries[MAX_DEVICES];
static _Thread_local CUcontext stack[MAX_DEPTH];
static _Thread_local int depth;

fake_cuda *fake_cuda_state(void) { return &fake_shared; }

int fake_cuda_depth(void) { return depth; }

void fake_cuda_reset(void) {
  size_t allocated = fake_shared.allocated;
  fake_shared = (fake_cuda)INITIAL;
  fake_shared.allocated = allocated;
  fake_captures = 0;
}

/// True if this call is to fail; under the lock.
static bool fails(const char *function) {
  if (!fake_shared.fail_function ||
      strcmp(fake_shared.fail_function, function) != 0)
    return false;
  if (fake_shared.fail_after > 0) {
    --fake_shared.fail_after;
    return false;
  }
  if (fake_shared.fail_count <= 0)
    return false;
  --fake_shared.fail_count;
  return true;
}

CUresult fake_begin(const char *function, bool needs_context, bool unsafe) {
  pthread_mutex_lock(&fake_lock);
  CUresult result = CUDA_SUCCESS;
  if (fails(function)) {
    result = fake_shared.fail_error;
  } else if (needs_context && depth == 0) {
    ++fake_shared.violations;
    result = INVALID_CONTEXT;
  } else if (unsafe && fake_captures > 0 &&
             fake_capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
    ++fake_shared.violations;
    fake_spoil_captures();
    result = REFUSED;
  }
  pthread_mutex_unlock(&fake_lock);
  return result;
}

void fake_trace(const char *format, ...) {
  if (!getenv("PIT_FAKE_CUDA_TRACE"))
    return;
  va_list arguments;
  va_start(arguments, format);
  fputs("fake: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

void fake_count(int *counter) {
  pthread_mutex_lock(&fake_lock);
  ++*counter;
  pthread_mutex_unlock(&fake_lock);
}

CUresult cuInit(unsigned flags) {
  (void)flags;
  BEGIN(false, false);
  return fake_shared.devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cuDriverGetVersion(int *version) {
  BEGIN(false, false);
  *version = fake_shared.version;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult result, const char **text) {
  if (result == 999)
    return INVALID_VALUE;
  *text = "fake error";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *devices) {
  BEGIN(false, false);
  *devices = fake_shared.devices;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  BEGIN(false, false);
  *device = FIRST_DEVICE + ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
  BEGIN(false, false);
  snprintf(name, (size_t)size, "Fake %d", device - FIRST_DEVICE);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  (void)device;
  BEGIN(false, false);
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = fake_shared.capability_major;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = 0;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = 132;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = 232448;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    *value = 50 << 20;
    return CUDA_SUCCESS;
  default:
    return INVALID_VALUE;
  }
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  BEGIN(false, false);
  fake_count(&fake_shared.contexts);
  *context = &primaries[device - FIRST_DEVICE];
  (*context)->device = device;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  (void)device;
  BEGIN(false, false);
  pthread_mutex_lock(&fake_lock);
  --fake_shared.contexts;
  pthread_mutex_unlock(&fake_lock);
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  BEGIN(false, false);
  if (depth == MAX_DEPTH)
    return INVALID_VALUE;
  stack[depth++] = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  BEGIN(true, false);
  *context = stack[--depth];
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
  BEGIN(false, false);
  if (depth == 0)
    return INVALID_CONTEXT;
  *device = stack[depth - 1]->device;
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
  BEGIN(true, false);
  *available = fake_shared.memory - fake_shared.allocated;
  *total = fake_shared.memory;
  return CUDA_SUCCESS;
}

/// Allocations know their size.
typedef union allocation {
  size_t bytes;
  char pad[256];
} allocation;

CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes) {
  BEGIN(true, true);
  pthread_mutex_lock(&fake_lock);
  bool fits = bytes <= fake_shared.memory - fake_shared.allocated;
  allocation *made =
      fits ? aligned_alloc(256, (sizeof(*made) + bytes + 255) / 256 * 256)
           : NULL;
  if (made) {
    const char *fill = getenv("PIT_FAKE_CUDA_FILL");
    memset(made + 1, fill ? atoi(fill) : 0, bytes);
    made->bytes = bytes;
    fake_shared.allocated += bytes;
    ++fake_shared.allocations;
    *memory = (CUdeviceptr)(uintptr_t)(made + 1);
  }
  pthread_mutex_unlock(&fake_lock);
  fake_trace("allocate %zu bytes", bytes);
  return made ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree_v2(CUdeviceptr memory) {
  BEGIN(true, true);
  pthread_mutex_lock(&fake_lock);
  allocation *freed = (allocation *)(uintptr_t)memory - 1;
  fake_shared.allocated -= freed->bytes;
  ++fake_shared.frees;
  fake_trace("free %zu bytes", freed->bytes);
  free(freed);
  pthread_mutex_unlock(&fake_lock);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                       CUstream stream) {
  (void)stream;
  BEGIN(true, false);
  memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
  fake_count(&fake_shared.copies);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  BEGIN(true, true);
  memcpy((void *)(uintptr_t)to, from, bytes);
  fake_count(&fake_shared.copies);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                              CUstream stream) {
  BEGIN(true, false);
  memcpy((void *)(uintptr_t)to, from, bytes);
  fake_count(&fake_shared.writes);
  fake_trace("write %zu bytes on stream %llu", bytes, fake_stream_id(stream));
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                              CUstream stream) {
  BEGIN(true, false);
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  fake_count(&fake_shared.reads);
  fake_trace("read %zu bytes on stream %llu", bytes, fake_stream_id(stream));
  return CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t words,
                          CUstream stream) {
  (void)stream;
  BEGIN(true, false);
  for (size_t i = 0; i < words; ++i)
    memcpy((char *)(uintptr_t)to + 4 * i, &value, 4);
  return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
  (void)flags;
  BEGIN(true, true);
  fake_shared.registered = memory;
  fake_shared.registered_bytes = bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *memory) {
  (void)memory;
  BEGIN(true, false);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Code: a cubin is "\177ELF" and the names of its kernels, each after a blank,
// or a real one; PTX is such a list, or has "broken" in it.
//===----------------------------------------------------------------------===//

/// Finds the log that options give room for, and writes into it.
static void write_log(unsigned options, const int *keys, void **values,
                      const char *text) {
  char *buffer = NULL;
  size_t size = 0;
  for (unsigned i = 0; i < options; ++i)
    if (keys[i] == CU_JIT_ERROR_LOG_BUFFER)
      buffer = values[i];
    else if (keys[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      memcpy(&size, &values[i], sizeof(size));
  if (buffer)
    snprintf(buffer, size, "%s", text);
}

/// Such a list of a real cubin's kernels, each of which has a section. As the
/// driver does, it goes by what is in the file: nobody says where that ends.
static char *list_kernels(const char *cubin) {
  static const char before[] = ".text.";
  Elf64_Ehdr header;
  memcpy(&header, cubin, sizeof(header));
  const char *sections = cubin + header.e_shoff;
  Elf64_Shdr names, section;
  memcpy(&names, sections + header.e_shstrndx * sizeof(names), sizeof(names));
  char *list = calloc(1, names.sh_size + 3);
  strcpy(list, " ");
  for (int i = 0; i < header.e_shnum; ++i) {
    memcpy(&section, sections + i * sizeof(section), sizeof(section));
    const char *name = cubin + names.sh_offset + section.sh_name;
    if (strncmp(name, before, sizeof(before) - 1) == 0)
      strcat(strcat(list, name + sizeof(before) - 1), " ");
  }
  return list;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
                            unsigned options, int *keys, void **values) {
  BEGIN(true, true);
  const char *text = image;
  bool is_cubin = memcmp(text, "\177ELF", 4) == 0;
  // Real PTX, which the driver takes here as well.
  bool is_ptx = !is_cubin && strstr(text, ".entry ");
  if ((!is_cubin && !is_ptx) || strstr(text, "broken")) {
    write_log(options, keys, values, "not a cubin\n");
    return CODE_ERROR;
  }
  *module = malloc(sizeof(**module));
  (*module)->text = is_cubin && text[EI_CLASS] == ELFCLASS64
                        ? list_kernels(text)
                        : strdup(text);
  fake_count(&fake_shared.loads);
  fake_trace("load %s", is_cubin ? "a cubin" : "PTX");
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  BEGIN(true, true);
  free(module->text);
  free(module);
  return CUDA_SUCCESS;
}

/// Functions live as long as the process: as many as there are names in tests.
static struct CUfunc_st functions[64];

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name) {
  BEGIN(true, false);
  // A word of a test's text, or the entry of real PTX.
  char word[80], entry[80];
  snprintf(word, sizeof(word), " %s ", name);
  snprintf(entry, sizeof(entry), ".entry %s(", name);
  if (!strstr(module->text, word) && !strstr(module->text, entry))
    return CUDA_ERROR_NOT_FOUND;
  pthread_mutex_lock(&fake_lock);
  size_t i = 0;
  while (functions[i].name[0] && strcmp(functions[i].name, name) != 0)
    ++i;
  snprintf(functions[i].name, sizeof(functions[i].name), "%s", name);
  *function = &functions[i];
  pthread_mutex_unlock(&fake_lock);
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  (void)function;
  BEGIN(true, false);
  *value = attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? 1024 : 0;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  (void)function;
  BEGIN(true, false);
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
      value != 232448 - 1024)
    return INVALID_VALUE;
  fake_count(&fake_shared.attributes_set);
  return CUDA_SUCCESS;
}

CUresult cuLinkCreate_v2(unsigned options, int *keys, void **values,
                         CUlinkState *link) {
  BEGIN(true, true);
  *link = calloc(1, sizeof(**link));
  for (unsigned i = 0; i < options; ++i)
    if (keys[i] == CU_JIT_ERROR_LOG_BUFFER)
      (*link)->log = values[i];
    else if (keys[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      memcpy(&(*link)->log_size, &values[i], sizeof(size_t));
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState link, int type, const void *data,
                          size_t size, const char *name, unsigned options,
                          int *keys, void **values) {
  (void)name, (void)options, (void)keys, (void)values;
  BEGIN(true, true);
  if (type != CU_JIT_INPUT_PTX || strstr(data, "broken")) {
    snprintf(link->log, link->log_size, "ptxas: line 1\nbroken\n");
    return CODE_ERROR;
  }
  link->cubin = malloc(size + 4);
  snprintf(link->cubin, size + 4, "\177ELF%s", (const char *)data);
  return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState link, void **cubin, size_t *size) {
  BEGIN(true, true);
  *cubin = link->cubin;
  *size = strlen(link->cubin) + 1;
  fake_count(&fake_shared.links);
  fake_trace("link PTX");
  return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState link) {
  free(link->cubin);
  free(link);
  return CUDA_SUCCESS;
}

static CUresult launch(CUfunction function, unsigned blocks, unsigned split,
                       unsigned threads, unsigned shared, unsigned cluster,
                       int is_pdl, CUstream stream, void **params) {
  pthread_mutex_lock(&fake_lock);
  ++fake_shared.launches;
  fake_shared.last = (fake_launch){.blocks = blocks,
                                   .split = split,
                                   .threads = threads,
                                   .shared = shared,
                                   .cluster = cluster,
                                   .is_pdl = is_pdl,
                                   .stream = stream};
  memcpy(fake_shared.last.kernel, function->name,
         sizeof(fake_shared.last.kernel));
  if (params)
    memcpy(&fake_shared.last.first, params[0], sizeof(void *));
  pthread_mutex_unlock(&fake_lock);
  fake_trace("launch %s with %u x %u blocks of %u threads on stream %llu",
             function->name, blocks, split, threads, fake_stream_id(stream));
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned shared, CUstream stream,
                        void **params, void **extra) {
  BEGIN(true, false);
  if (gridZ * blockY * blockZ != 1 || gridY > 65535 || extra)
    return INVALID_VALUE;
  return launch(function, gridX, gridY, blockX, shared, 1, 0, stream, params);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **params, void **extra) {
  (void)extra;
  BEGIN(true, false);
  unsigned cluster = 1;
  int is_pdl = 0;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      cluster = config->attrs[i].value.clusterDim.x;
    else if (config->attrs[i].id ==
             CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      is_pdl = config->attrs[i].value.programmaticStreamSerializationAllowed;
  return launch(function, config->gridDimX, config->gridDimY, config->blockDimX,
                config->sharedMemBytes, cluster, is_pdl, config->hStream,
                params);
}

CUresult cuTensorMapEncodeTiled(void *map, int type, uint32_t rank,
                                const void *address, const uint64_t *dims,
                                const uint64_t *strides, const uint32_t *box,
                                const uint32_t *step, int interleave,
                                int swizzle, int l2_promotion, int fill) {
  (void)interleave, (void)fill, (void)step;
  BEGIN(false, false);
  // What the tests look at: all that was said, in words.
  uint64_t *words = map;
  *words++ = (uint64_t)type | (uint64_t)rank << 8 | (uint64_t)swizzle << 16 |
             (uint64_t)l2_promotion << 24;
  *words++ = (uint64_t)(uintptr_t)address;
  for (uint32_t d = 0; d < rank; ++d)
    *words++ = dims[d];
  for (uint32_t d = 0; d + 1 < rank; ++d)
    *words++ = strides[d];
  for (uint32_t d = 0; d < rank; ++d)
    *words++ = box[d];
  return CUDA_SUCCESS;
}
