//===- IndexIntegers.c - Liveness from routings and block lists -----------===//
//
// Kernels that find a number out of range leave a status word for each of their
// blocks, 0 if all is well.
//
//===----------------------------------------------------------------------===//

#include "Index.h"

PIT_SHARED uint32_t routed[PIT_ASSIGN_WORDS];
PIT_SHARED int32_t block_status;

/// A block leaves `status` for it if a thread has seen a bad number, else 0.
PIT_DEVICE void leave_status(int32_t *checks, bool is_bad, int32_t status) {
  if (thread() == 0)
    block_status = PIT_OK;
  barrier();
  if (is_bad)
    block_status = status;
  barrier();
  if (thread() == 0)
    checks[block()] = block_status;
}

/// The bits of a block's tokens, for all experts, in the index and counted.
PIT_DEVICE void store_routed(const pit_index_assign_params *p) {
  uint32_t words_log2 = (uint32_t)p->words_log2, words = (uint32_t)p->words;
  uint32_t experts = (uint32_t)p->experts;
  uint32_t mask = (1u << words_log2) - 1;
  for (uint32_t i = thread(); (int32_t)i < (int32_t)(experts << words_log2);
       i += PIT_ASSIGN_THREADS) {
    uint32_t expert = i >> words_log2;
    uint32_t at = (block() << words_log2) + (i & mask);
    if (at < words)
      p->bits[(uint64_t)expert * words + at] = routed[i];
  }
  for (uint32_t e = thread(); (int32_t)e < (int32_t)experts;
       e += PIT_ASSIGN_THREADS) {
    uint32_t count = 0;
    // Threads start at different words, for the banks.
    for (uint32_t w = 0; w <= mask; ++w)
      count += popcount(routed[(e << words_log2) + ((w + thread()) & mask)]);
    p->tally[e * num_blocks() + block()] = count;
  }
}

PIT_KERNEL(pit_index_assign) {
  begin_index(&p.begin);
  uint32_t words_log2 = (uint32_t)p.words_log2;
  int32_t all_words = p.experts << words_log2;
  for (uint32_t i = thread(); (int32_t)i < all_words; i += PIT_ASSIGN_THREADS)
    routed[i] = 0;
  barrier();
  uint32_t tokens_log2 = words_log2 + 5, slots = (uint32_t)p.slots;
  uint32_t first = block() << tokens_log2;
  int32_t tokens = min_32(p.tokens - (int32_t)first, 1 << tokens_log2);
  int32_t entries = tokens * p.slots;
  bool is_bad = false;
  for (uint32_t i = thread(); (int32_t)i < entries; i += PIT_ASSIGN_THREADS) {
    uint32_t t = i / slots, s = i - t * slots;
    int64_t expert = load_int(p.data, p.wide,
                              (first + t) * p.token_stride + s * p.slot_stride);
    if ((uint64_t)expert < (uint32_t)p.experts)
      atomic_or_shared(&routed[((uint32_t)expert << words_log2) + t / 32],
                       1u << t % 32);
    // -1 is no expert.
    is_bad |= expert < -1 || expert >= (uint32_t)p.experts;
  }
  barrier();
  store_routed(&p);
  leave_status(p.checks, is_bad, p.status);
}

PIT_KERNEL(pit_index_scatter) {
  begin_index(&p.begin);
  bool is_bad = false;
  for (int64_t i = block() * (int64_t)PIT_INDEX_THREADS + thread();
       i < p.blocks; i += num_blocks() * (int64_t)PIT_INDEX_THREADS) {
    int64_t at = i * p.block_stride;
    uint64_t group = (uint64_t)load_int(p.data, p.wide, at);
    uint64_t id = (uint64_t)load_int(p.data, p.wide, at + p.pair_stride);
    // Unsigned: a negative number is a large one.
    bool outside = group >= (uint64_t)p.groups || id >= (uint64_t)p.extent;
    if (!outside)
      atomic_or(&p.bits[group * (uint32_t)p.words + id / 32],
                1u << (uint32_t)(id % 32));
    is_bad |= outside;
  }
  if (p.blocks > 0)
    leave_status(p.checks, is_bad, p.status);
}

PIT_KERNEL(pit_index_check) {
  bool is_bad = false;
  for (int64_t i = block() * (int64_t)PIT_INDEX_THREADS + thread(); i < p.count;
       i += num_blocks() * (int64_t)PIT_INDEX_THREADS) {
    uint64_t rest = (uint64_t)i;
    int64_t offset = 0;
    for (int32_t d = PIT_MAX_RANK - 1; d >= 0; --d) {
      uint64_t size = (uint64_t)p.size[d];
      offset += (int64_t)(rest % size) * p.stride[d];
      rest /= size;
    }
    int64_t number = load_int(p.data, p.wide, offset);
    is_bad |= number < p.low || number > p.high;
  }
  leave_status(p.checks, is_bad, p.status);
}
