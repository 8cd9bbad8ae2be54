//===- CudaLaunch.c - Kernels started by programs and builders ------------===//

#include "Cuda/CudaContext.h"
#include "Frame.h"

enum { MAX_THREADS = 1024, MAX_SPLIT = 65535 };

static pit_status launch(const pit_cuda_work *work, const pit_image *image,
                         const char *name, const pit_cuda_trust *trust,
                         const pit_cuda_grid *grid, void **params,
                         const struct pit_cuda_module **module) {
  pit_context *context = work->context;
  const pit_cuda *cuda = context->cuda;
  if (grid->blocks <= 0)
    return PIT_OK;
  const pit_cuda_kernel *kernel;
  pit_status status =
      pit_cuda_find_kernel(context, image, name, trust, &kernel);
  if (status != PIT_OK)
    return status;
  if (module)
    *module = kernel->module;
  if (grid->threads < 1 || grid->threads > MAX_THREADS)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "cuda: kernel '%s' is to run with %d threads a block; "
                    "there can be 1 to %d",
                    name, grid->threads, MAX_THREADS);
  if (grid->shared_bytes < 0 || grid->shared_bytes > kernel->max_dynamic_bytes)
    return pit_fail(context, PIT_ERROR_DEVICE,
                    "cuda: kernel '%s' needs %d bytes of shared memory beside "
                    "its own %d; device %d (%s) has %d for both",
                    name, grid->shared_bytes, kernel->static_bytes,
                    cuda->ordinal, cuda->name,
                    cuda->properties.max_shared_bytes);
  unsigned blocks = (unsigned)pit_min(grid->blocks, INT32_MAX);
  unsigned split = (unsigned)pit_min(pit_max(grid->split, 1), MAX_SPLIT);
  unsigned cluster = grid->cluster > 1 ? (unsigned)grid->cluster : 1;
  if (blocks % cluster != 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "cuda: kernel '%s' is to run with %u blocks in clusters of "
                    "%u; it must be a multiple",
                    name, blocks, cluster);
  CUresult result;
  CUlaunchAttribute attributes[2];
  unsigned count = 0;
  if (cluster > 1)
    attributes[count++] =
        (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                            .value.clusterDim = {cluster, 1, 1}};
  if (grid->overlap)
    attributes[count++] = (CUlaunchAttribute){
        .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        .value.programmaticStreamSerializationAllowed = 1};
  if (count == 0) {
    result = cuda->driver.LaunchKernel(
        kernel->function, blocks, split, 1, (unsigned)grid->threads, 1, 1,
        (unsigned)grid->shared_bytes, work->stream, params, NULL);
  } else {
    CUlaunchConfig config = {.gridDimX = blocks,
                             .gridDimY = split,
                             .gridDimZ = 1,
                             .blockDimX = (unsigned)grid->threads,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = (unsigned)grid->shared_bytes,
                             .hStream = work->stream,
                             .attrs = attributes,
                             .numAttrs = count};
    result =
        cuda->driver.LaunchKernelEx(&config, kernel->function, params, NULL);
  }
  if (result == CUDA_SUCCESS)
    return PIT_OK;
  return pit_fail(
      context, PIT_ERROR_DRIVER,
      "cuda: starting kernel '%s' with %u x %u blocks of %d threads and %d "
      "bytes of shared memory failed on device %d (%s): %s (error %d)",
      name, blocks, split, grid->threads, grid->shared_bytes, cuda->ordinal,
      cuda->name, pit_cuda_error(&cuda->driver, result), result);
}

pit_status pit_cuda_launch(const pit_cuda_work *work, const pit_image *image,
                           const char *kernel, const pit_cuda_grid *grid,
                           void **params) {
  const pit_cuda_trust trust = {.always = true};
  return launch(work, image, kernel, &trust, grid, params, NULL);
}

static pit_status need_device(pit_frame *frame, const char *what) {
  return frame->cuda ? PIT_OK
                     : pit_fail(frame->context, PIT_ERROR_DEVICE,
                                "%s in a call of a program that runs on the "
                                "CPU",
                                what);
}

int32_t pit_rt_launch(pit_frame *frame, const pit_kernel *kernel,
                      int64_t blocks, int64_t split, void **params) {
  if (!frame || !kernel)
    return PIT_ERROR_INVALID_ARGUMENT;
  pit_status status = need_device(frame, "a kernel");
  if (status != PIT_OK)
    return status;
  if (blocks > 0 && split < 1)
    return pit_fail(frame->context, PIT_ERROR_INVALID_ARGUMENT,
                    "cuda: kernel '%s' is to run with %lld blocks along y; "
                    "there must be at least 1",
                    kernel->name ? kernel->name : "", (long long)split);
  bool is_pdl = (kernel->flags & PIT_KERNEL_PDL) &&
                pit_cuda_device(frame->context)->capability >= 90;
  const pit_cuda_grid grid = {.blocks = blocks,
                              .split = split,
                              .threads = kernel->threads,
                              .shared_bytes = kernel->shared_bytes,
                              .overlap = is_pdl};
  pit_cuda_frame *cuda = frame->cuda;
  const pit_image *image = kernel->image;
  // Within one call a program cannot be unloaded.
  bool verified = image && image->data && image->data == cuda->verified;
  const pit_cuda_trust trust = {.module = verified ? cuda->module : NULL};
  const struct pit_cuda_module *module = NULL;
  status =
      launch(&cuda->work, image, kernel->name, &trust, &grid, params, &module);
  if (status == PIT_OK && module) {
    cuda->verified = image->data;
    cuda->module = module;
  }
  return status;
}

int32_t pit_rt_copy(pit_frame *frame, void *to, const void *from,
                    int64_t bytes) {
  if (!frame)
    return PIT_ERROR_INVALID_ARGUMENT;
  pit_status status = need_device(frame, "a copy in device memory");
  if (status != PIT_OK || bytes <= 0)
    return status;
  return PIT_CUDA(frame->context, MemcpyAsync, (CUdeviceptr)(uintptr_t)to,
                  (CUdeviceptr)(uintptr_t)from, (size_t)bytes,
                  (CUstream)frame->cuda->work.stream);
}

int32_t pit_rt_counters(pit_frame *frame, void **counters) {
  if (!frame || !counters)
    return PIT_ERROR_INVALID_ARGUMENT;
  *counters = NULL;
  pit_status status = need_device(frame, "a counter in device memory");
  if (status == PIT_OK && !frame->cuda->counters)
    status = pit_cuda_make_zeros(frame->context, PIT_COUNTERS,
                                 &frame->cuda->counters);
  if (status == PIT_OK)
    *counters = (void *)(uintptr_t)frame->cuda->counters;
  return status;
}

int32_t pit_rt_multiprocessors(pit_frame *frame) {
  return frame && frame->cuda ? frame->context->cuda->properties.multiprocessors
                              : 1;
}
