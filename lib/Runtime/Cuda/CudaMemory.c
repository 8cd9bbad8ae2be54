//===- CudaMemory.c - Device memory ---------------------------------------===//

#include "CudaContext.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256, MIN_BLOCK = 1 << 21, MAX_SPARE = 1 << 26 };

pit_status pit_cuda_out_of_memory(pit_context *context, int64_t bytes) {
  const pit_cuda *cuda = context->cuda;
  size_t available = 0, total = 0;
  if (cuda->driver.MemGetInfo(&available, &total) != CUDA_SUCCESS)
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "cuda: out of memory on device %d (%s): %lld bytes were "
                    "asked for",
                    cuda->ordinal, cuda->name, (long long)bytes);
  return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                  "cuda: out of memory on device %d (%s): %lld bytes were "
                  "asked for; %zu of %zu are free",
                  cuda->ordinal, cuda->name, (long long)bytes, available,
                  total);
}

/// Frees what nothing uses: this waits, but without it a call would fail. The
/// rest of the arena is what the present call has not asked for; the work that
/// is waited for is that of the call before. Returns the bytes.
static int64_t free_unused(pit_context *context, pit_cuda_arena *arena) {
  int64_t freed = pit_cuda_frames_trim(context);
  if (arena->of_graph)
    return freed;
  int32_t kept = 0;
  for (int32_t i = 0; i < arena->count; ++i) {
    pit_cuda_block *block = &arena->blocks[i];
    if (block->used > 0) {
      arena->blocks[kept++] = *block;
      continue;
    }
    (void)context->cuda->driver.MemFree(block->memory);
    freed += block->bytes;
    arena->bytes -= block->bytes;
  }
  arena->count = kept;
  return freed;
}

/// Appends a block that has room for `bytes`.
static pit_status add_block(pit_context *context, pit_cuda_arena *arena,
                            int64_t bytes) {
  if (arena->count == arena->room) {
    int32_t room = arena->room ? 2 * arena->room : 4;
    pit_cuda_block *moved =
        realloc(arena->blocks, (size_t)room * sizeof(*moved));
    if (!moved)
      return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                      "out of memory for a list of %d blocks", room);
    arena->blocks = moved;
    arena->room = room;
  }
  // Some room to spare, so that a call that asks for many small pieces soon
  // finds them in few blocks.
  int64_t spare = pit_min(pit_max(arena->bytes, MIN_BLOCK), MAX_SPARE);
  int64_t size = pit_max(bytes, spare);
  const pit_cuda_driver *driver = &context->cuda->driver;
  CUdeviceptr memory = 0;
  int mode = pit_cuda_relax(context);
  CUresult result = driver->MemAlloc(&memory, (size_t)size);
  if (result == CUDA_ERROR_OUT_OF_MEMORY && size > bytes) {
    size = bytes;
    result = driver->MemAlloc(&memory, (size_t)size);
  }
  if (result == CUDA_ERROR_OUT_OF_MEMORY && free_unused(context, arena) > 0)
    result = driver->MemAlloc(&memory, (size_t)size);
  pit_cuda_restore(context, mode);
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return pit_cuda_out_of_memory(context, bytes);
  if (result != CUDA_SUCCESS)
    return pit_cuda_checked(context, "cuMemAlloc", result);
  arena->blocks[arena->count++] = (pit_cuda_block){memory, size, 0};
  arena->bytes += size;
  return PIT_OK;
}

pit_status pit_cuda_arena_alloc(pit_context *context, pit_cuda_arena *arena,
                                int64_t bytes, void **memory) {
  *memory = NULL;
  if (bytes < 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "scratch of %lld bytes; it must not be negative",
                    (long long)bytes);
  if (bytes > INT64_MAX - ALIGNMENT)
    return pit_cuda_out_of_memory(context, bytes);
  int64_t size = pit_max(pit_ceil_div(bytes, ALIGNMENT), 1) * ALIGNMENT;
  pit_cuda_block *block = &arena->again;
  if (size > block->bytes - block->used) {
    int32_t i = 0;
    while (i < arena->count &&
           size > arena->blocks[i].bytes - arena->blocks[i].used)
      ++i;
    if (i == arena->count) {
      pit_status status = add_block(context, arena, size);
      if (status != PIT_OK)
        return status;
    }
    block = &arena->blocks[i];
  }
  arena->taken += size;
  // The driver has addresses as integers, the runtime's callers as pointers.
  uintptr_t address = block->memory + (CUdeviceptr)block->used;
  memcpy(memory, &address, sizeof(address));
  block->used += size;
  return PIT_OK;
}

void pit_cuda_arena_reset(pit_cuda_arena *arena) {
  for (int32_t i = 0; i < arena->count; ++i)
    arena->blocks[i].used = 0;
}

void pit_cuda_arena_again(pit_cuda_arena *arena, void *memory, int64_t bytes) {
  arena->again = (pit_cuda_block){(CUdeviceptr)(uintptr_t)memory, bytes, 0};
  arena->taken = 0;
}

void pit_cuda_arena_free(pit_context *context, pit_cuda_arena *arena) {
  int mode = pit_cuda_relax(context);
  for (int32_t i = 0; i < arena->count; ++i)
    (void)context->cuda->driver.MemFree(arena->blocks[i].memory);
  pit_cuda_restore(context, mode);
  free(arena->blocks);
  *arena = (pit_cuda_arena){0};
}

pit_status pit_cuda_alloc(const pit_cuda_work *work, int64_t bytes,
                          void **memory) {
  return pit_cuda_arena_alloc(work->context, work->arena, bytes, memory);
}

pit_status pit_cuda_fill(const pit_cuda_work *work, void *memory, uint32_t word,
                         int64_t count) {
  return count <= 0 ? PIT_OK
                    : PIT_CUDA(work->context, MemsetD32Async,
                               (CUdeviceptr)(uintptr_t)memory, word,
                               (size_t)count, (CUstream)work->stream);
}

pit_status pit_cuda_make_zeros(pit_context *context, int64_t count,
                               CUdeviceptr *result) {
  const pit_cuda_driver *driver = &context->cuda->driver;
  CUdeviceptr memory = 0;
  CUstream stream = NULL;
  int mode = pit_cuda_relax(context);
  pit_status status =
      PIT_CUDA(context, MemAlloc, &memory, (size_t)count * sizeof(uint32_t));
  if (status == PIT_OK)
    status = PIT_CUDA(context, StreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  if (status == PIT_OK) {
    status =
        PIT_CUDA(context, MemsetD32Async, memory, 0, (size_t)count, stream);
    if (status == PIT_OK)
      status = PIT_CUDA(context, StreamSynchronize, stream);
    (void)driver->StreamDestroy(stream);
  }
  if (status != PIT_OK && memory)
    (void)driver->MemFree(memory);
  pit_cuda_restore(context, mode);
  if (status == PIT_OK)
    *result = memory;
  return status;
}
