//===- Gpu.h - C for the threads of a GPU ---------------------------------===//
//
// Kernels are C11, compiled by clang for NVPTX (Image.c). Pointers in the
// parameters of kernels are to global memory. Blocks have one dimension, and
// all lanes of a warp call the functions that exchange something.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_DEVICE_GPU_H
#define PIT_LIB_RUNTIME_DEVICE_GPU_H

#include "Kernels.h"

#include <stdbool.h>

/// A function of device code: part of each kernel that calls it.
#define PIT_DEVICE static inline __attribute__((always_inline))
/// Memory of a block, aligned so that a thread loads four words at once.
#define PIT_SHARED static __attribute__((address_space(3), aligned(16)))
#define PIT_SHARED_POINTER __attribute__((address_space(3)))
/// A kernel: `p` are its parameters. LaunchBounds.csv.in has its threads.
#define PIT_KERNEL(name)                                                       \
  __attribute__((device_kernel)) void name(const name##_params p)

/// 16 bytes, which a thread loads and stores at once.
typedef uint32_t words4 __attribute__((ext_vector_type(4)));

enum { WARP = 32, LAST_LANE = WARP - 1 };
#define ALL_LANES UINT32_MAX

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

PIT_DEVICE uint32_t thread(void) {
  return (uint32_t)__nvvm_read_ptx_sreg_tid_x();
}

PIT_DEVICE uint32_t num_threads(void) {
  return (uint32_t)__nvvm_read_ptx_sreg_ntid_x();
}

PIT_DEVICE uint32_t block(void) {
  return (uint32_t)__nvvm_read_ptx_sreg_ctaid_x();
}

PIT_DEVICE uint32_t block_y(void) {
  return (uint32_t)__nvvm_read_ptx_sreg_ctaid_y();
}

PIT_DEVICE uint32_t num_blocks(void) {
  return (uint32_t)__nvvm_read_ptx_sreg_nctaid_x();
}

PIT_DEVICE uint32_t lane(void) { return thread() % WARP; }
PIT_DEVICE uint32_t warp(void) { return thread() / WARP; }

/// The first thread of the grid.
PIT_DEVICE bool is_grid_first(void) { return (thread() | block()) == 0; }

/// The number of a warp of the grid, and how many there are, if blocks have
/// PIT_INDEX_THREADS.
PIT_DEVICE uint32_t grid_warp(void) {
  return block() * (PIT_INDEX_THREADS / WARP) + warp();
}
PIT_DEVICE uint32_t grid_warps(void) {
  return num_blocks() * (PIT_INDEX_THREADS / WARP);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

PIT_DEVICE void barrier(void) { __syncthreads(); }
PIT_DEVICE void warp_barrier(void) { __nvvm_bar_warp_sync(ALL_LANES); }

/// Orders memory for all threads of the device. (The builtin's fence is the
/// whole system's.)
PIT_DEVICE void device_fence(void) {
  __asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
}

// From sm_90 on, a kernel may be launched while the one before it runs, if that
// lets it, and waits for its end itself. Elsewhere these do nothing.
PIT_DEVICE void pdl_launch_dependents(void) {
#if __CUDA_ARCH__ >= 900
  __asm__ volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

PIT_DEVICE void pdl_wait(void) {
#if __CUDA_ARCH__ >= 900
  __asm__ volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

//===----------------------------------------------------------------------===//
// Exchange in a warp
//===----------------------------------------------------------------------===//

/// Bit i: whether lane i has `x`.
PIT_DEVICE uint32_t ballot(bool x) {
  return __nvvm_vote_ballot_sync(ALL_LANES, x);
}

/// The x of the lane that is so many below this one; 0 if there is none. (The
/// builtin does not tell, and comparing lanes takes up predicates.)
PIT_DEVICE uint32_t shuffle_up(uint32_t x, uint32_t distance) {
  uint32_t below;
  __asm__ volatile("{ .reg .pred inside;\n\t"
                   "shfl.sync.up.b32 %0|inside, %1, %2, 0, -1;\n\t"
                   "@!inside mov.b32 %0, 0; }"
                   : "=r"(below)
                   : "r"(x), "r"(distance));
  return below;
}

PIT_DEVICE uint32_t shuffle_xor(uint32_t x, uint32_t distance) {
  return (uint32_t)__nvvm_shfl_sync_bfly_i32(ALL_LANES, (int32_t)x,
                                             (int32_t)distance, WARP - 1);
}

PIT_DEVICE uint32_t shuffle_from(uint32_t x, uint32_t from) {
  return (uint32_t)__nvvm_shfl_sync_idx_i32(ALL_LANES, (int32_t)x,
                                            (int32_t)from, WARP - 1);
}

PIT_DEVICE uint64_t join_halves(uint32_t low, uint32_t high) {
  return (uint64_t)high << 32 | low;
}

PIT_DEVICE uint64_t shuffle_up_64(uint64_t x, uint32_t distance) {
  return join_halves(shuffle_up((uint32_t)x, distance),
                     shuffle_up((uint32_t)(x >> 32), distance));
}

PIT_DEVICE uint64_t shuffle_xor_64(uint64_t x, uint32_t distance) {
  return join_halves(shuffle_xor((uint32_t)x, distance),
                     shuffle_xor((uint32_t)(x >> 32), distance));
}

PIT_DEVICE uint64_t shuffle_from_64(uint64_t x, uint32_t from) {
  return join_halves(shuffle_from((uint32_t)x, from),
                     shuffle_from((uint32_t)(x >> 32), from));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Loads of what no thread writes while the kernel runs.
PIT_DEVICE uint8_t load_8(const void *from) {
  return __nvvm_ldg_uc((const unsigned char *)from);
}
PIT_DEVICE uint16_t load_16(const void *from) {
  return __nvvm_ldg_us((const unsigned short *)from);
}
PIT_DEVICE uint32_t load_32(const void *from) {
  return __nvvm_ldg_ui((const unsigned *)from);
}
PIT_DEVICE uint64_t load_64(const void *from) {
  return __nvvm_ldg_ul((const unsigned long *)from);
}

/// 16 bytes at an offset in bytes, aligned.
PIT_DEVICE words4 load_words4(const void *data, int64_t offset) {
  typedef unsigned unsigned4 __attribute__((ext_vector_type(4)));
  return __nvvm_ldg_ui4((const unsigned4 *)((const char *)data + offset));
}

/// Element `offset` of integers of 4 or 8 bytes.
PIT_DEVICE int64_t load_int(const void *data, bool wide, int64_t offset) {
  return wide ? (int64_t)load_64((const int64_t *)data + offset)
              : (int32_t)load_32((const int32_t *)data + offset);
}

// Atomics are relaxed, and those of the device.
PIT_DEVICE uint32_t atomic_add(uint32_t *to, uint32_t x) {
  return __scoped_atomic_fetch_add(to, x, __ATOMIC_RELAXED,
                                   __MEMORY_SCOPE_DEVICE);
}
PIT_DEVICE void atomic_add_64(int64_t *to, int64_t x) {
  (void)__scoped_atomic_fetch_add(to, x, __ATOMIC_RELAXED,
                                  __MEMORY_SCOPE_DEVICE);
}
PIT_DEVICE void atomic_max(int32_t *to, int32_t x) {
  (void)__scoped_atomic_fetch_max(to, x, __ATOMIC_RELAXED,
                                  __MEMORY_SCOPE_DEVICE);
}
PIT_DEVICE void atomic_max_64(int64_t *to, int64_t x) {
  (void)__scoped_atomic_fetch_max(to, x, __ATOMIC_RELAXED,
                                  __MEMORY_SCOPE_DEVICE);
}
PIT_DEVICE void atomic_or(uint32_t *to, uint32_t x) {
  (void)__scoped_atomic_fetch_or(to, x, __ATOMIC_RELAXED,
                                 __MEMORY_SCOPE_DEVICE);
}
PIT_DEVICE void atomic_or_shared(PIT_SHARED_POINTER uint32_t *to, uint32_t x) {
  (void)__scoped_atomic_fetch_or(to, x, __ATOMIC_RELAXED,
                                 __MEMORY_SCOPE_WRKGRP);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

PIT_DEVICE uint32_t popcount(uint32_t x) {
  return (uint32_t)__builtin_popcount(x);
}
PIT_DEVICE int64_t min_64(int64_t a, int64_t b) { return a < b ? a : b; }
PIT_DEVICE int64_t max_64(int64_t a, int64_t b) { return a > b ? a : b; }
PIT_DEVICE int32_t min_32(int32_t a, int32_t b) { return a < b ? a : b; }
PIT_DEVICE int32_t max_32(int32_t a, int32_t b) { return a > b ? a : b; }
PIT_DEVICE uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
PIT_DEVICE uint32_t ceil_div(uint32_t a, uint32_t b) {
  return a == 0 ? 0 : (a - 1) / b + 1;
}
PIT_DEVICE uint64_t ceil_div_64(uint64_t a, uint64_t b) {
  return a == 0 ? 0 : (a - 1) / b + 1;
}

#endif // PIT_LIB_RUNTIME_DEVICE_GPU_H
