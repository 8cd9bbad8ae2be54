//===- IndexSegments.c - Lists whose places depend on counts --------------===//
//
// Group after group, the words of bits are cut into segments of 32 words, at
// least one for each group. Segments are counted, the last block turns counts
// into places, and then a warp lists each segment.
//
//===----------------------------------------------------------------------===//

#include "Lists.h"

/// A block makes the work list, and returns its length. The thread that wrote a
/// group's count and offset reads them.
PIT_DEVICE int64_t write_chunks(const pit_index_count_params *p) {
  uint32_t groups = (uint32_t)p->bits.groups;
  int64_t size = p->chunk_size, done = 0;
  for (uint32_t g0 = 0; g0 < groups; g0 += PIT_INDEX_THREADS) {
    uint32_t g = g0 + thread();
    bool inside = g < groups;
    int64_t count = inside ? p->arrays.counts[g] : 0;
    int64_t offset = inside ? p->arrays.offsets[g] : 0;
    int64_t mine = (int64_t)ceil_div_64((uint64_t)count, (uint64_t)size);
    sums_64 chunks = block_scan_64((uint64_t)mine);
    pit_chunk *to = p->chunks + done + (int64_t)chunks.before;
#pragma nounroll
    for (int64_t i = 0; i < mine; ++i)
      to[i] = (pit_chunk){(int32_t)g, (int32_t)min_64(count - i * size, size),
                          offset + i * size};
    done += (int64_t)chunks.all;
  }
  return done;
}

/// A block turns the counts of segments into places, and returns the sum. Each
/// thread takes a run of segments.
PIT_DEVICE int64_t place_segments(const pit_index_count_params *p,
                                  uint32_t segments) {
  uint32_t run = ceil_div(segments, PIT_INDEX_THREADS);
  uint32_t begin = min_u32(run * thread(), segments);
  uint32_t end = min_u32(begin + run, segments);
  uint64_t mine = 0;
  for (uint32_t s = begin; s < end; ++s)
    mine += p->tally[s];
  sums_64 sums = block_scan_64(mine);
  int64_t place = (int64_t)sums.before;
  for (uint32_t s = begin; s < end; ++s) {
    p->start[s] = place;
    place += p->tally[s];
  }
  barrier();
  return (int64_t)sums.all;
}

/// A block makes the counts and offsets of groups from those of segments.
/// Groups lie densely or at multiples of the extent; ids past the capacity are
/// dropped, which the status tells.
PIT_DEVICE void place_groups(const pit_index_count_params *p) {
  uint32_t groups = (uint32_t)p->bits.groups;
  uint32_t per_group = (uint32_t)p->per_group;
  int64_t all = place_segments(p, groups * per_group);
  int64_t total = 0, most = 0, end = 0, dropped = 0;
  for (uint32_t g = thread(); g < groups; g += PIT_INDEX_THREADS) {
    const int64_t *start = &p->start[g * per_group];
    int64_t before = *start;
    int64_t upto = g == groups - 1 ? all : start[per_group];
    int64_t count = upto - before;
    int64_t wanted = p->dense ? before : g * p->bits.extent;
    int64_t offset = min_64(wanted, p->capacity);
    int64_t kept = min_64(count, p->capacity - offset);
    p->arrays.counts[g] = (int32_t)kept;
    p->arrays.offsets[g] = offset;
    total += kept;
    most = max_64(most, kept);
    end = max_64(end, offset + kept);
    dropped = max_64(dropped, count - kept);
  }
  index_result result = {.total = (int64_t)block_scan_64((uint64_t)total).all,
                         .max_count = block_max(most),
                         .extent = block_max(end)};
  dropped = block_max(dropped);
  if (p->chunk_size > 0)
    result.num_chunks = write_chunks(p);
  result.status = worst_status(&p->checks);
  if (dropped > 0)
    result.status = p->capacity_status;
  if (thread() == 0)
    write_result(p->arrays.copy, result);
}

/// A lane's word of a segment, the segment's group, and its first word there.
typedef struct segment {
  uint32_t word, group, first;
} segment;

PIT_DEVICE segment get_segment(const pit_cuda_bits *bits, uint32_t number,
                               uint32_t per_group) {
  uint32_t group = number / per_group;
  uint32_t first = (number - group * per_group) * WARP;
  uint32_t at = first + lane(), words = (uint32_t)bits->words;
  uint32_t word = at < words ? bits->bits[(uint64_t)group * words + at] : 0;
  return (segment){word, group, first};
}

PIT_KERNEL(pit_index_count) {
  pdl_launch_dependents();
  pdl_wait();
  uint32_t per_group = (uint32_t)p.per_group;
  uint32_t segments = (uint32_t)p.bits.groups * per_group;
  for (uint32_t s = grid_warp(); (int32_t)s < (int32_t)segments;
       s += grid_warps()) {
    segment seg = get_segment(&p.bits, s, per_group);
    uint32_t ones = warp_scan(popcount(seg.word));
    if (lane() == LAST_LANE)
      p.tally[s] = ones;
  }
  if (p.start && is_last_block(p.counter, num_blocks()))
    place_groups(&p);
}

PIT_KERNEL(pit_index_place) {
  uint32_t per_group = (uint32_t)p.per_group;
  uint32_t segments = (uint32_t)p.bits.groups * per_group;
  for (uint32_t s = grid_warp(); (int32_t)s < (int32_t)segments;
       s += grid_warps()) {
    segment seg = get_segment(&p.bits, s, per_group);
    int32_t count = p.arrays.counts[seg.group];
    int64_t offset = p.arrays.offsets[seg.group];
    int32_t before = (int32_t)(p.start[s] - p.start[seg.group * per_group]);
    int32_t *ids = p.arrays.ids + offset;
    uint32_t ones = popcount(seg.word), upto = warp_scan(ones);
    place_words(seg.word, before + (int32_t)(upto - ones), count,
                seg.first * 32, ids);
    if (p.arrays.origin) {
      int32_t end = before + (int32_t)shuffle_from(upto, LAST_LANE);
      warp_barrier();
      write_origins(&p.origin, seg.group, ids, p.arrays.origin + offset,
                    before + (int32_t)lane(), min_32(end, count), WARP);
    }
  }
}

PIT_KERNEL(pit_index_copy_head) {
  begin_copy(&p.head, p.copy);
  int64_t total = 0, most = 0, end = 0;
  for (int64_t g = thread(); g < p.head.groups; g += PIT_INDEX_THREADS) {
    int64_t count = p.head.counts[g];
    total += count;
    most = max_64(most, count);
    end = max_64(end, p.head.offsets[g] + count);
  }
  // The work list is as long as the caller says.
  index_result result = {.total = (int64_t)block_scan_64((uint64_t)total).all,
                         .max_count = block_max(most),
                         .extent = block_max(end),
                         .num_chunks = p.head.num_chunks,
                         .status = PIT_OK};
  if (thread() == 0)
    write_result(p.copy, result);
}
