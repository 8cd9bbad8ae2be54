//===- IndexLists.c - A block lists a group -------------------------------===//
//
// A block lists a group, or a slice of one, at a fixed place, or behind the
// groups before it, as many as the tally says. If there are too many groups for
// that, or a work list is wanted, see IndexSegments.c.
//
//===----------------------------------------------------------------------===//

#include "Lists.h"

/// Numbers of a tally that a thread has under way.
enum { TALLY_BATCH = 16 };

/// The sum over a block of tally[begin .. end). Parts have few words, so a
/// batch adds up to few bits.
PIT_DEVICE uint64_t sum_tally(const uint32_t *tally, uint32_t begin,
                              uint32_t end) {
  uint64_t mine = 0;
  for (uint32_t i = begin + thread(); (int32_t)i < (int32_t)end;
       i += TALLY_BATCH * PIT_INDEX_THREADS) {
    uint32_t batch = 0;
#pragma unroll
    for (uint32_t k = 0; k < TALLY_BATCH; ++k) {
      uint32_t at = i + k * PIT_INDEX_THREADS;
      batch += at < end ? tally[at] : 0;
    }
    mine += batch;
  }
  return block_scan_64(mine).all;
}

/// A slice of a group.
typedef struct slice {
  uint32_t group, number;
  bool is_last;
} slice;

/// How many ids of its group precede a slice, which begins at word `begin`.
PIT_DEVICE uint32_t ids_before(const pit_index_lists_params *p,
                               const group_bits *group, slice s,
                               uint32_t begin) {
  if (s.number == 0)
    return 0;
  uint32_t part = s.group * (uint32_t)p->parts;
  uint32_t skipped = s.number * (uint32_t)p->span;
  return p->tally ? (uint32_t)sum_tally(p->tally, part, part + skipped)
                  : count_before(group, begin);
}

/// A block lists a slice.
PIT_DEVICE void list_slice(const pit_index_lists_params *p, slice s) {
  const pit_cuda_arrays *arrays = &p->arrays;
  uint32_t words = (uint32_t)p->bits.words;
  int64_t wanted =
      p->dense ? (int64_t)sum_tally(p->tally, 0, s.group * (uint32_t)p->parts)
               : s.group * p->bits.extent;
  int64_t place = min_64(wanted, p->capacity);
  int32_t most = (int32_t)min_64(p->capacity - place, INT32_MAX);
  group_bits group = {p->bits.bits + (uint64_t)s.group * words, 1, 0,
                      (uint32_t)p->bits.extent};
  int32_t *ids = arrays->ids + place;
  uint32_t slice_words = (uint32_t)p->span * (uint32_t)p->part_words;
  uint32_t begin = s.number * slice_words;
  uint32_t position = ids_before(p, &group, s, begin);
  uint32_t end = min_u32(begin + slice_words, words);
  uint32_t live = list_words(&group, begin, end, ids, position, most);
  // The counts of the group, up to the end of this slice, and before it.
  uint32_t count = min_u32(live, (uint32_t)most);
  uint32_t before = min_u32(position, (uint32_t)most);
  if (thread() == 0) {
    add_ids(arrays->copy, count - before);
    if (s.is_last) {
      tell_group(arrays, s.group, (uint32_t)p->bits.groups, place, count);
      if (count < live)
        atomic_max(&arrays->copy->status, p->capacity_status);
    }
  }
  if (arrays->origin) {
    barrier();
    write_origins(&p->origin, s.group, ids, arrays->origin + place,
                  (int32_t)(before + thread()), (int32_t)count,
                  PIT_INDEX_THREADS);
  }
}

PIT_KERNEL(pit_index_lists) {
  pdl_launch_dependents();
  pdl_wait();
  uint32_t slices = (uint32_t)p.slices;
  int32_t items = p.bits.groups * p.slices;
  for (uint32_t item = block(); (int32_t)item < items; item += num_blocks()) {
    uint32_t group = item / slices, number = item - group * slices;
    list_slice(&p, (slice){group, number, number == slices - 1});
  }
  if (block() == num_blocks() - 1 && p.checks.count != 0) {
    int32_t status = worst_status(&p.checks);
    if (thread() == 0)
      atomic_max(&p.arrays.copy->status, status);
  }
}
