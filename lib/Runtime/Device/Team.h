//===- Team.h - What the threads of a block do together -------------------===//
//
// Blocks have PIT_INDEX_THREADS. A function of a block is called by all of its
// threads, one of a warp by all of the warp's.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_DEVICE_TEAM_H
#define PIT_LIB_RUNTIME_DEVICE_TEAM_H

#include "Gpu.h"

enum { TEAM_WARPS = PIT_INDEX_THREADS / WARP };

PIT_SHARED uint64_t warp_sums[TEAM_WARPS];
PIT_SHARED uint32_t warp_counts[TEAM_WARPS];
PIT_SHARED uint32_t warp_words[TEAM_WARPS];
PIT_SHARED uint32_t last_block_flag;

/// A number of each thread, added up.
typedef struct sums_64 {
  uint64_t before; ///< over the threads before this one
  uint64_t all;
} sums_64;
typedef struct sums_32 {
  uint32_t before, all;
} sums_32;

/// The sum of x over the lanes of a warp up to this one.
PIT_DEVICE uint32_t warp_scan(uint32_t x) {
  for (uint32_t distance = 1; distance < WARP; distance *= 2)
    x += shuffle_up(x, distance);
  return x;
}

PIT_DEVICE uint64_t warp_scan_64(uint64_t x) {
  for (uint32_t distance = 1; distance < WARP; distance *= 2)
    x += shuffle_up_64(x, distance);
  return x;
}

/// The sum of x over the threads of a block before this one, and over all.
PIT_DEVICE sums_32 block_scan(uint32_t x) {
  uint32_t upto = warp_scan(x);
  if (lane() == LAST_LANE)
    warp_counts[warp()] = upto;
  barrier();
  sums_32 sums = {upto - x, 0};
  for (uint32_t w = 0; w < TEAM_WARPS; ++w) {
    uint32_t sum = warp_counts[w];
    sums.before += w < warp() ? sum : 0;
    sums.all += sum;
  }
  // The shared sums are free for the next scan.
  barrier();
  return sums;
}

PIT_DEVICE sums_64 block_scan_64(uint64_t x) {
  uint64_t upto = warp_scan_64(x);
  if (lane() == LAST_LANE)
    warp_sums[warp()] = upto;
  barrier();
  sums_64 sums = {upto - x, 0};
  for (uint32_t w = 0; w < TEAM_WARPS; ++w) {
    uint64_t sum = warp_sums[w];
    sums.before += w < warp() ? sum : 0;
    sums.all += sum;
  }
  barrier();
  return sums;
}

/// The largest x of a block, which is not negative.
PIT_DEVICE int64_t block_max(int64_t x) {
  for (uint32_t distance = 1; distance < WARP; distance *= 2)
    x = max_64(x, (int64_t)shuffle_xor_64((uint64_t)x, distance));
  if (lane() == 0)
    warp_sums[warp()] = (uint64_t)x;
  barrier();
  int64_t most = 0;
  for (uint32_t w = 0; w < TEAM_WARPS; ++w)
    most = max_64(most, (int64_t)warp_sums[w]);
  barrier();
  return most;
}

/// True for the last of `expected` blocks that come here. The writes of the
/// others before are visible to it. The counter is 0 before.
PIT_DEVICE bool is_last_block(uint32_t *counter, uint32_t expected) {
  barrier();
  if (thread() == 0) {
    // The fences make the order: the atomic is relaxed.
    device_fence();
    bool last = atomic_add(counter, 1) + 1 == expected;
    if (last)
      device_fence();
    last_block_flag = last;
  }
  barrier();
  return last_block_flag != 0;
}

/// The bits of all warps of a block together, each at its place, for the first
/// thread.
PIT_DEVICE uint32_t join_warps(uint32_t bits) {
  // The first thread has read the bits of the call before.
  barrier();
  if (lane() == 0)
    warp_words[warp()] = bits;
  barrier();
  uint32_t word = 0;
  for (uint32_t w = 0; w < TEAM_WARPS; ++w)
    word |= warp_words[w];
  return word;
}

#endif // PIT_LIB_RUNTIME_DEVICE_TEAM_H
