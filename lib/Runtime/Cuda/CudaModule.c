//===- CudaModule.c - Device code: loaded, linked, found ------------------===//

#include "Core/Sha256.h"
#include "CudaContext.h"

#include <stdlib.h>
#include <string.h>

/// A loaded image. It stays until the context ends.
typedef struct pit_cuda_module {
  struct pit_cuda_module *next;
  CUmodule module;
  uint8_t digest[PIT_SHA256_SIZE];
  int64_t size;
  char content[]; ///< of the image
} pit_cuda_module;

enum { LOG_SIZE = 4096 };

/// Options that have the driver write what is wrong into a log.
typedef struct jit_log {
  int options[2];
  void *values[2];
  char text[LOG_SIZE];
  const char *otherwise; ///< what to say if the driver says nothing
} jit_log;

static void log_init(jit_log *log) {
  log->options[0] = CU_JIT_ERROR_LOG_BUFFER;
  log->options[1] = CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
  log->values[0] = log->text;
  // The driver takes numbers in the place of pointers.
  uintptr_t size = LOG_SIZE;
  memcpy(&log->values[1], &size, sizeof(size));
  log->text[0] = '\0';
  log->otherwise = "the driver gives no reason";
}

/// The log as one line.
static const char *log_line(jit_log *log) {
  log->text[LOG_SIZE - 1] = '\0';
  size_t length = strlen(log->text);
  while (length > 0 && log->text[length - 1] == '\n')
    log->text[--length] = '\0';
  for (size_t i = 0; i < length; ++i)
    if (log->text[i] == '\n')
      log->text[i] = ' ';
  return length ? log->text : log->otherwise;
}

static pit_status refuse(pit_context *context, const char *what,
                         CUresult result, jit_log *log) {
  const pit_cuda *cuda = context->cuda;
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return pit_cuda_checked(context, what, result);
  return pit_fail(context, PIT_ERROR_LOAD,
                  "cuda: the program's device code does not load on device %d "
                  "(%s, sm_%d): %s: %s (error %d): %s",
                  cuda->ordinal, cuda->name, cuda->properties.capability, what,
                  pit_cuda_error(&cuda->driver, result), result, log_line(log));
}

pit_status pit_cuda_link(pit_context *context, const pit_image *ptx,
                         void **cubin, size_t *size) {
  const pit_cuda_driver *driver = &context->cuda->driver;
  *cubin = NULL;
  jit_log log;
  log_init(&log);
  CUlinkState state;
  CUresult result = driver->LinkCreate(2, log.options, log.values, &state);
  if (result != CUDA_SUCCESS)
    return refuse(context, "cuLinkCreate", result, &log);
  const char *what = "cuLinkAddData";
  void *linked = NULL;
  result = driver->LinkAddData(state, CU_JIT_INPUT_PTX, ptx->data,
                               (size_t)ptx->size, "pit", 0, NULL, NULL);
  if (result == CUDA_SUCCESS) {
    what = "cuLinkComplete";
    result = driver->LinkComplete(state, &linked, size);
  }
  pit_status status = PIT_OK;
  if (result != CUDA_SUCCESS)
    status = refuse(context, what, result, &log);
  else
    *cubin = malloc(*size);
  if (*cubin)
    memcpy(*cubin, linked, *size); // the linker's own goes with it
  else if (status == PIT_OK)
    status = pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                      "out of memory for a cubin of %zu bytes", *size);
  (void)driver->LinkDestroy(state);
  return status;
}

static CUresult load_data(const pit_context *context, const void *data,
                          jit_log *log, CUmodule *module) {
  log_init(log);
  return context->cuda->driver.ModuleLoadDataEx(module, data, 2, log->options,
                                                log->values);
}

static pit_status load_cubin(pit_context *context, const void *data,
                             const char *otherwise, CUmodule *module) {
  jit_log log;
  CUresult result = load_data(context, data, &log, module);
  if (result == CUDA_SUCCESS)
    return PIT_OK;
  if (otherwise)
    log.otherwise = otherwise;
  return refuse(context, "cuModuleLoadDataEx", result, &log);
}

/// Loads PTX by way of a cubin, from the cache if it is there.
static pit_status load_ptx(pit_context *context, const pit_image *image,
                           const uint8_t digest[PIT_SHA256_SIZE],
                           CUmodule *module) {
  const pit_cuda *cuda = context->cuda;
  if (((const char *)image->data)[image->size - 1] != '\0')
    return pit_fail(context, PIT_ERROR_LOAD,
                    "cuda: the program's device code is neither a cubin nor "
                    "PTX that ends in a NUL");
  uint8_t key[PIT_CUDA_KEY_SIZE];
  const int32_t target[2] = {cuda->version, cuda->properties.capability};
  pit_sha256 sha;
  pit_sha256_begin(&sha);
  pit_sha256_add(&sha, target, sizeof(target));
  pit_sha256_add(&sha, digest, PIT_SHA256_SIZE);
  pit_sha256_end(&sha, key);
  jit_log log;
  size_t size = 0;
  void *cubin = pit_cuda_cache_read(cuda->cache_folder, key, &size);
  if (cubin) {
    CUresult result = load_data(context, cubin, &log, module);
    free(cubin);
    if (result == CUDA_SUCCESS)
      return PIT_OK;
  }
  pit_status status = pit_cuda_link(context, image, &cubin, &size);
  if (!cubin)
    return status;
  status = load_cubin(context, cubin, NULL, module);
  if (status == PIT_OK)
    pit_cuda_cache_write(cuda->cache_folder, key, cubin, size);
  free(cubin);
  return status;
}

static bool is_cubin(const pit_image *image) {
  return image->size >= 4 && memcmp(image->data, "\177ELF", 4) == 0;
}

/// Finds the module of an image, or loads it. Under the lock.
static pit_status get_module(pit_context *context, const pit_image *image,
                             pit_cuda_module **result) {
  pit_cuda *cuda = context->cuda;
  uint8_t digest[PIT_SHA256_SIZE];
  pit_sha256 sha;
  pit_sha256_begin(&sha);
  pit_sha256_add(&sha, image->data, (size_t)image->size);
  pit_sha256_end(&sha, digest);
  for (*result = cuda->modules; *result; *result = (*result)->next)
    if (memcmp((*result)->digest, digest, sizeof(digest)) == 0)
      return PIT_OK;
  pit_cuda_module *made = malloc(sizeof(*made) + (size_t)image->size);
  if (!made)
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for device code of %lld bytes",
                    (long long)image->size);
  made->module = NULL;
  memcpy(made->digest, digest, sizeof(digest));
  memcpy(made->content, image->data, (size_t)image->size);
  made->size = image->size;
  int mode = pit_cuda_relax(context);
  pit_status status =
      is_cubin(image)
          ? load_cubin(context, image->data,
                       "it is a cubin: the GPU must be of its architecture, "
                       "and the driver as new as its assembler (for older "
                       "ones: pit-compile --device-code=ptx)",
                       &made->module)
          : load_ptx(context, image, digest, &made->module);
  pit_cuda_restore(context, mode);
  if (status != PIT_OK) {
    free(made);
    return status;
  }
  made->next = cuda->modules;
  cuda->modules = made;
  *result = made;
  return PIT_OK;
}

/// Gets a kernel out of a module and lets it have all of the shared memory.
static pit_status get_kernel(pit_context *context,
                             const pit_cuda_module *module, const void *data,
                             const char *name, pit_cuda_kernel **result) {
  const pit_cuda *cuda = context->cuda;
  size_t length = strlen(name) + 1;
  pit_cuda_kernel *made = malloc(sizeof(*made) + length);
  if (!made)
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for a kernel");
  *made = (pit_cuda_kernel){.module = module, .data = data};
  memcpy(made->name, name, length);
  CUresult got =
      cuda->driver.ModuleGetFunction(&made->function, module->module, name);
  pit_status status = PIT_OK;
  if (got == CUDA_ERROR_NOT_FOUND)
    status =
        pit_fail(context, PIT_ERROR_LOAD,
                 "cuda: the program's device code has no kernel '%s'", name);
  else
    status = pit_cuda_checked(context, "cuModuleGetFunction", got);
  if (status == PIT_OK)
    status = PIT_CUDA(context, FuncGetAttribute, &made->static_bytes,
                      CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, made->function);
  if (status == PIT_OK) {
    made->max_dynamic_bytes = (int32_t)pit_max(
        0, cuda->properties.max_shared_bytes - made->static_bytes);
    status = PIT_CUDA(context, FuncSetAttribute, made->function,
                      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                      made->max_dynamic_bytes);
  }
  if (status != PIT_OK) {
    free(made);
    return status;
  }
  *result = made;
  return PIT_OK;
}

/// The identity of a kernel: its image's address and its name.
static size_t bucket_of(const void *data, const char *name) {
  uint64_t hash = (uint64_t)(uintptr_t)data >> 3;
  for (; *name; ++name)
    hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
  return (size_t)(hash >> 32) % PIT_CUDA_KERNEL_BUCKETS;
}

/// True if an image has the content of a module of its size.
static bool is_same(const pit_cuda_module *module, const void *image) {
  static const char line[] = "\n" PIT_IMAGE_ID;
  const int64_t tail = (int64_t)sizeof(line) + 16; // with the NUL
  const char *content = image;
  int64_t from = module->size - tail;
  if (from < 0 || memcmp(content + from, line, sizeof(line) - 1) != 0)
    from = 0;
  return memcmp(module->content + from, content + from,
                (size_t)(module->size - from)) == 0;
}

/// Is a kernel that was found at the image's address of this image?
static bool is_of_image(const pit_cuda_kernel *kernel, const pit_image *image,
                        const pit_cuda_trust *trust) {
  if (kernel->data != image->data || kernel->module->size != image->size)
    return false;
  if (trust && trust->always)
    return true;
  return trust && trust->module ? kernel->module == trust->module
                                : is_same(kernel->module, image->data);
}

static const pit_cuda_kernel *look_up(pit_cuda *cuda, size_t bucket,
                                      const pit_image *image, const char *name,
                                      const pit_cuda_trust *trust) {
  const pit_cuda_kernel *kernel =
      atomic_load_explicit(&cuda->kernels[bucket], memory_order_acquire);
  // An address may be that of another program meanwhile.
  for (; kernel; kernel = kernel->next)
    if (strcmp(kernel->name, name) == 0 && is_of_image(kernel, image, trust))
      return kernel;
  return NULL;
}

pit_status pit_cuda_find_kernel(pit_context *context, const pit_image *image,
                                const char *name, const pit_cuda_trust *trust,
                                const pit_cuda_kernel **kernel) {
  pit_cuda *cuda = context->cuda;
  *kernel = NULL;
  if (!image || !image->data || image->size <= 0 || !name)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "cuda: a kernel's image or name is missing");
  size_t bucket = bucket_of(image->data, name);
  *kernel = look_up(cuda, bucket, image, name, trust);
  if (*kernel)
    return PIT_OK;
  pthread_mutex_lock(&cuda->lock);
  // Another thread may have loaded it meanwhile.
  *kernel = look_up(cuda, bucket, image, name, NULL);
  pit_status status = PIT_OK;
  if (!*kernel) {
    pit_cuda_module *module;
    pit_cuda_kernel *made = NULL;
    status = get_module(context, image, &module);
    if (status == PIT_OK)
      status = get_kernel(context, module, image->data, name, &made);
    if (status == PIT_OK) {
      made->next =
          atomic_load_explicit(&cuda->kernels[bucket], memory_order_relaxed);
      atomic_store_explicit(&cuda->kernels[bucket], made, memory_order_release);
      *kernel = made;
    }
  }
  pthread_mutex_unlock(&cuda->lock);
  return status;
}

void pit_cuda_unload(pit_context *context) {
  pit_cuda *cuda = context->cuda;
  for (size_t i = 0; i < PIT_CUDA_KERNEL_BUCKETS; ++i) {
    pit_cuda_kernel *kernel = atomic_load(&cuda->kernels[i]);
    while (kernel) {
      pit_cuda_kernel *next = kernel->next;
      free(kernel);
      kernel = next;
    }
  }
  while (cuda->modules) {
    pit_cuda_module *next = cuda->modules->next;
    (void)cuda->driver.ModuleUnload(cuda->modules->module);
    free(cuda->modules);
    cuda->modules = next;
  }
}
