//===- Lists.h - From bits to lists of ids --------------------------------===//
//
// Bits lie in words of 32: bit i of a group is micro-tile i.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_DEVICE_LISTS_H
#define PIT_LIB_RUNTIME_DEVICE_LISTS_H

#include "Index.h"
#include "Team.h"

/// A warp whose words have no more bits lets each lane write its own ids.
enum { FEW_BITS = 6 };

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// The bits of ids that exist, of the 32 from id `first` on.
PIT_DEVICE uint32_t valid_bits(uint32_t first, uint32_t ids) {
  int32_t rest = (int32_t)(ids - first);
  if (rest >= 32)
    return UINT32_MAX;
  return rest <= 0 ? 0 : (1u << rest) - 1;
}

/// The bits of a group of `extent` ids: any of its parts, `part_words` apart,
/// may have a micro-tile.
typedef struct group_bits {
  const uint32_t *words;
  uint32_t parts, part_words, extent;
} group_bits;

PIT_DEVICE uint32_t load_bits(const group_bits *group, uint32_t at) {
  uint32_t word = 0;
  for (uint32_t p = 0; p < group->parts; ++p)
    word |= group->words[p * group->part_words + at];
  return word & valid_bits(at * 32, group->extent);
}

/// A warp writes the ids of the 32 words that its lanes hold, as far as their
/// positions are below the limit. `position` is that of the lane's first id in
/// `ids`, and `first` the id of the first word's first bit.
PIT_DEVICE void place_words(uint32_t word, int32_t position, int32_t limit,
                            uint32_t first, int32_t *ids) {
  if (ballot(popcount(word) > FEW_BITS) == 0) {
    uint32_t id = first + lane() * 32;
    while (word != 0 && position < limit) {
      ids[(uint32_t)position++] = (int32_t)(id + (uint32_t)__builtin_ctz(word));
      word &= word - 1;
    }
    return;
  }
  // The lanes write a word's ids together.
  uint32_t bit = 1u << lane();
  for (uint32_t k = 0; k < WARP; ++k) {
    uint32_t w = shuffle_from(word, k);
    int32_t at = (int32_t)shuffle_from((uint32_t)position, k) +
                 (int32_t)popcount(w & (bit - 1));
    if ((w & bit) && at < limit)
      ids[(uint32_t)at] = (int32_t)(first + lane() + k * 32);
  }
}

//===----------------------------------------------------------------------===//
// A block lists a group
//===----------------------------------------------------------------------===//

/// A block counts the live micro-tiles in the words of a group before `end`.
PIT_DEVICE uint32_t count_before(const group_bits *group, uint32_t end) {
  if (end == 0)
    return 0;
  uint32_t mine = 0;
  for (uint32_t w = thread(); w < end; w += PIT_INDEX_THREADS)
    mine += popcount(load_bits(group, w));
  return block_scan(mine).all;
}

/// A block writes the ids of words `begin` to `end` of a group to `ids`, from
/// `position` on, as far as their positions are below the limit. The position
/// after the last.
PIT_DEVICE uint32_t list_words(const group_bits *group, uint32_t begin,
                               uint32_t end, int32_t *ids, uint32_t position,
                               int32_t limit) {
  for (uint32_t w = begin; (int32_t)w < (int32_t)end; w += PIT_INDEX_THREADS) {
    uint32_t at = w + thread();
    uint32_t word = at < end ? load_bits(group, at) : 0;
    sums_32 ones = block_scan(popcount(word));
    uint32_t first = w + warp() * WARP;
    if (first < end)
      place_words(word, (int32_t)(position + ones.before), limit, first * 32,
                  ids);
    position += ones.all;
  }
  return position;
}

/// A block finds the largest of the status words that blocks before left.
PIT_DEVICE int32_t worst_status(const pit_cuda_checks *checks) {
  int64_t worst = 0;
  for (int32_t i = (int32_t)thread(); i < checks->count; i += PIT_INDEX_THREADS)
    worst = max_64(worst, checks->words[i]);
  return (int32_t)block_max(worst);
}

//===----------------------------------------------------------------------===//
// Origins
//===----------------------------------------------------------------------===//

/// Experts, or tokens: [begin, end).
typedef struct window {
  int64_t begin, end;
} window;

PIT_DEVICE bool holds(window w, int64_t x) { return x >= w.begin && x < w.end; }

/// The first of `slots` integers from `row` on that lies in the window, or -1.
/// From the last slot to the first: no load waits for a comparison.
PIT_DEVICE int32_t first_slot(const pit_cuda_origin *o, int64_t row,
                              window experts) {
  int32_t found = -1;
  for (int32_t s = o->slots - 1; s >= 0; --s) {
    int64_t expert = load_int(o->data, o->wide, row + s * o->slot_stride);
    found = holds(experts, expert) ? s : found;
  }
  return found;
}

/// The same where the slots are vectors of 16 bytes, which hold integers of 8
/// bytes, or of 4.
PIT_DEVICE int32_t first_wide_slot(const pit_cuda_origin *o, int64_t row,
                                   window experts) {
  int32_t found = -1;
  for (int32_t k = o->vectors - 1; k >= 0; --k) {
    words4 v = load_words4(o->data, row * 8 + k * (int64_t)sizeof(words4));
    int64_t first = (int64_t)join_halves(v.x, v.y);
    int64_t second = (int64_t)join_halves(v.z, v.w);
    found = holds(experts, second) ? 2 * k + 1 : found;
    found = holds(experts, first) ? 2 * k : found;
  }
  return found;
}

PIT_DEVICE int32_t first_short_slot(const pit_cuda_origin *o, int64_t row,
                                    window experts) {
  int32_t found = -1;
  for (int32_t k = o->vectors - 1; k >= 0; --k) {
    words4 v = load_words4(o->data, row * 4 + k * (int64_t)sizeof(words4));
#pragma unroll
    for (int32_t e = 3; e >= 0; --e)
      found = holds(experts, (int32_t)v[e]) ? 4 * k + e : found;
  }
  return found;
}

/// Writes the origins of the ids of `group` from `begin` on, every `by`, below
/// `end`. The first slot of the token that holds an expert of the window; with
/// `by_expert` the ids are experts, and the token is the window's only one.
PIT_DEVICE void write_origins(const pit_cuda_origin *o, uint32_t group,
                              const int32_t *ids, int32_t *origin,
                              int32_t begin, int32_t end, int32_t by) {
  int64_t first = group * o->step;
  window of_group = {first, min_64(first + o->size, o->limit)};
  for (int32_t i = begin; i < end; i += by) {
    int64_t id = ids[(uint32_t)i];
    window experts = o->by_expert ? (window){id, id + 1} : of_group;
    int64_t token = o->by_expert ? of_group.begin : id;
    int64_t row = token * o->token_stride;
    origin[(uint32_t)i] = o->vectors == 0 ? first_slot(o, row, experts)
                          : o->wide       ? first_wide_slot(o, row, experts)
                                          : first_short_slot(o, row, experts);
  }
}

#endif // PIT_LIB_RUNTIME_DEVICE_LISTS_H
