//===- IndexTranspose.c - The positions of the ids of an index ------------===//
//
// The positions of each id, in the order of groups. First a row of bits tells
// which groups the id is in; then the place of a position in its list is the
// number of bits below that of its group. So lists come out the same whatever
// the order in which blocks run.
//
//===----------------------------------------------------------------------===//

#include "Index.h"
#include "Team.h"

/// The positions of a group that a thread takes: every `by` from `first` on.
typedef struct positions {
  uint32_t group, first, by;
  int32_t end;
  int64_t start;
} positions;

/// The positions of an item of the grid: a slice of a group.
PIT_DEVICE positions get_positions(const pit_cuda_listed *from, uint32_t item) {
  uint32_t slices = (uint32_t)from->slices;
  uint32_t group = item / slices, slice = item - group * slices;
  return (positions){group, slice * PIT_INDEX_THREADS + thread(),
                     slices * PIT_INDEX_THREADS, from->counts[group],
                     from->offsets[group]};
}

PIT_KERNEL(pit_index_mark_ids) {
  begin_index(&p.begin);
  if (leaves(&p.when))
    return;
  int32_t items = p.from.groups * p.from.slices;
  for (uint32_t item = block(); (int32_t)item < items; item += num_blocks()) {
    positions own = get_positions(&p.from, item);
    for (uint32_t i = own.first; (int32_t)i < own.end; i += own.by) {
      uint32_t id = (uint32_t)p.from.ids[own.start + i];
      if (id < (uint32_t)p.from.num_ids)
        atomic_or(&p.bits[(uint64_t)id * (uint32_t)p.words + own.group / 32],
                  1u << own.group % 32);
    }
  }
}

/// How many of the bits of `count` words there are.
PIT_DEVICE uint32_t count_bits(const uint32_t *words, uint32_t count) {
  uint32_t sum = 0;
  for (uint32_t w = 0; (int32_t)w < (int32_t)count; ++w)
    sum += popcount(words[w]);
  return sum;
}

/// The counts and offsets of lists, and the numbers of the index.
PIT_DEVICE void place_lists(const pit_index_place_positions_params *p) {
  const pit_cuda_arrays *arrays = &p->arrays;
  uint32_t ids = (uint32_t)p->from.num_ids, words = (uint32_t)p->words;
  for (uint32_t b = block() * PIT_INDEX_THREADS; (int32_t)b < (int32_t)ids;
       b += num_blocks() * PIT_INDEX_THREADS) {
    uint32_t i = b + thread(), count = 0;
    if (i < ids) {
      count = count_bits(p->bits + (uint64_t)i * words, words);
      arrays->counts[i] = (int32_t)count;
      arrays->offsets[i] = i * p->room;
      // No list ends behind the last.
      if (i == ids - 1)
        arrays->copy->extent = i * p->room + count;
    }
    uint64_t all = block_scan_64(count).all;
    int64_t most = block_max(count);
    if (thread() == 0) {
      atomic_add_64(&arrays->copy->total, (int64_t)all);
      atomic_max_64(&arrays->copy->max_count, most);
    }
  }
}

PIT_KERNEL(pit_index_place_positions) {
  pdl_launch_dependents();
  pdl_wait();
  if (leaves(&p.when))
    return;
  place_lists(&p);
  uint32_t words = (uint32_t)p.words;
  int32_t items = p.from.groups * p.from.slices;
  for (uint32_t item = block(); (int32_t)item < items; item += num_blocks()) {
    positions own = get_positions(&p.from, item);
    uint32_t word = own.group / 32, below = (1u << own.group % 32) - 1;
    for (uint32_t i = own.first; (int32_t)i < own.end; i += own.by) {
      int64_t position = own.start + i;
      uint32_t id = (uint32_t)p.from.ids[position];
      if (id >= (uint32_t)p.from.num_ids)
        continue;
      const uint32_t *row = p.bits + (uint64_t)id * words;
      uint32_t place = count_bits(row, word) + popcount(row[word] & below);
      p.arrays.ids[id * p.room + place] = (int32_t)position;
    }
  }
}
