//===- IndexCompact.c - From bits to lists of ids -------------------------===//
//
// Bits lie in the order of (group, id), and so do the lists: an id's position
// is the number of live bits before it. So the words are cut into blocks of one
// size, whatever the groups; the blocks are counted, the counts summed up, and
// then each block knows where to write.
//
//===----------------------------------------------------------------------===//

#include "Core/Parallel.h"
#include "IndexScan.h"

enum { BLOCK_WORDS = 512 };

typedef struct compaction {
  const pit_scan_kernels *kernels;
  const uint64_t *bits;
  int64_t words, words_per_group;
  int64_t *before; ///< per block: its count, then the live bits before it
  int64_t *offsets;
  int32_t *counts;
  int32_t *ids;
  int32_t *origin;         ///< NULL: none
  const pit_data *routing; ///< of the origin
  pit_tiling tiling;
  int64_t groups, total;
} compaction;

static void count_blocks(void *argument, int64_t begin, int64_t end) {
  const compaction *c = argument;
  for (int64_t block = begin; block < end; ++block) {
    int64_t stop = pit_min(c->words, (block + 1) * BLOCK_WORDS);
    int64_t count = 0;
    for (int64_t w = block * BLOCK_WORDS; w < stop; ++w)
      count += __builtin_popcountll(c->bits[w]);
    c->before[block] = count;
  }
}

/// The slot that made (group, id) live.
static int32_t origin_of(const compaction *c, int64_t group, int64_t id) {
  const pit_dim *other = &c->tiling.dims[1 - c->tiling.axis];
  int64_t begin, end;
  pit_window(other, group, &begin, &end);
  return c->tiling.axis == 0 ? pit_routing_slot(c->routing, id, begin, end)
                             : pit_routing_slot(c->routing, begin, id, id + 1);
}

static void write_blocks(void *argument, int64_t begin, int64_t end) {
  const compaction *c = argument;
  for (int64_t block = begin; block < end; ++block) {
    int64_t first = block * BLOCK_WORDS;
    int64_t stop = pit_min(c->words, first + BLOCK_WORDS);
    int64_t position = c->before[block];
    int64_t group = first / c->words_per_group;
    int64_t next_group = group * c->words_per_group;
    if (next_group < first) {
      ++group;
      next_group += c->words_per_group;
    }
    // From here on `group` is the one that starts at or after the word.
    for (int64_t w = first; w < stop;) {
      if (w == next_group) {
        c->offsets[group++] = position;
        next_group += c->words_per_group;
      }
      int64_t end = pit_min(stop, next_group);
      int64_t base = (w - (group - 1) * c->words_per_group) * 64;
      int64_t last = c->kernels->list(c->bits + w, end - w, (int32_t)base,
                                      c->ids + position) -
                     c->ids;
      if (c->origin)
        for (int64_t p = position; p < last; ++p)
          c->origin[p] = origin_of(c, group - 1, c->ids[p]);
      position = last;
      w = end;
    }
  }
}

static void finish_groups(void *argument, int64_t begin, int64_t end) {
  const compaction *c = argument;
  for (int64_t g = begin; g < end; ++g) {
    int64_t stop = g + 1 < c->groups ? c->offsets[g + 1] : c->total;
    c->counts[g] = (int32_t)(stop - c->offsets[g]);
  }
}

static pit_status build_chunks(pit_index_builder *builder) {
  pit_index *index = &builder->index;
  int64_t size = index->chunk_size;
  // Each group has at most one chunk that is not full. Sized by the bound, not
  // by this build's count, so that a later build finds room.
  int64_t bound = pit_min(index->groups, index->capacity);
  if (!pit_add(bound, index->capacity / size, &bound))
    bound = INT64_MAX;
  pit_status status =
      pit_buffer_reserve(builder->context, &builder->chunks, bound,
                         sizeof(pit_chunk), "the work list of an index");
  if (status != PIT_OK)
    return status;
  pit_chunk *chunks = builder->chunks.data;
  int64_t count = 0;
  for (int64_t g = 0; g < index->groups; ++g)
    for (int64_t i = 0; i < index->counts[g]; i += size)
      chunks[count++] =
          (pit_chunk){.group = (int32_t)g,
                      .live = (int32_t)pit_min(size, index->counts[g] - i),
                      .first = index->offsets[g] + i};
  index->chunks = chunks;
  index->num_chunks = count;
  return PIT_OK;
}

pit_status pit_index_reserve(pit_index_builder *builder) {
  pit_context *context = builder->context;
  const pit_index *index = &builder->index;
  pit_status status =
      pit_buffer_reserve(context, &builder->counts, index->groups,
                         sizeof(int32_t), "the counts of an index");
  if (status == PIT_OK)
    status = pit_buffer_reserve(context, &builder->offsets, index->groups,
                                sizeof(int64_t), "the offsets of an index");
  if (status == PIT_OK)
    status = pit_buffer_reserve(context, &builder->ids, index->capacity,
                                sizeof(int32_t), "the ids of an index");
  return status;
}

static pit_status reserve(pit_index_builder *builder, int64_t blocks,
                          bool with_origin) {
  pit_context *context = builder->context;
  pit_status status = pit_index_reserve(builder);
  if (status == PIT_OK && with_origin)
    status =
        pit_buffer_reserve(context, &builder->origin, builder->index.capacity,
                           sizeof(int32_t), "the origins of an index");
  if (status == PIT_OK)
    status = pit_buffer_reserve(context, &builder->blocks, blocks,
                                sizeof(int64_t), "building an index");
  return status;
}

pit_status pit_index_compact(pit_index_builder *builder, const uint64_t *bits,
                             const pit_data *routing) {
  pit_index *index = &builder->index;
  int64_t words_per_group = pit_words_per_group(index);
  compaction c = {.kernels = builder->context->kernels,
                  .bits = bits,
                  .words = index->groups * words_per_group,
                  .words_per_group = words_per_group,
                  .routing = routing,
                  .tiling = pit_tiling_of(index),
                  .groups = index->groups};
  int64_t blocks = pit_ceil_div(c.words, BLOCK_WORDS);
  pit_status status = reserve(builder, blocks, routing != NULL);
  if (status != PIT_OK)
    return status;
  c.before = builder->blocks.data;
  c.counts = builder->counts.data;
  c.offsets = builder->offsets.data;
  c.ids = builder->ids.data;
  c.origin = routing ? builder->origin.data : NULL;
  int32_t threads = pit_threads_for(builder->context, c.words * 8);
  pit_parallel_for(threads, blocks, count_blocks, &c);
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t count = c.before[block];
    c.before[block] = c.total;
    c.total += count;
  }
  if (c.total > index->capacity)
    return pit_fail(builder->context, PIT_ERROR_CAPACITY,
                    "index: %lld micro-tiles are live, but the capacity is "
                    "%lld",
                    (long long)c.total, (long long)index->capacity);
  pit_parallel_for(threads, blocks, write_blocks, &c);
  // Without ids there are no words, and so no offsets yet.
  for (int64_t g = 0; c.words == 0 && g < c.groups; ++g)
    c.offsets[g] = 0;
  pit_parallel_for(threads, c.groups, finish_groups, &c);
  index->counts = c.counts;
  index->offsets = c.offsets;
  index->ids = c.ids;
  index->origin = c.origin;
  index->extent = index->total = c.total;
  for (int64_t g = 0; g < c.groups; ++g)
    index->max_count = pit_max(index->max_count, c.counts[g]);
  return index->chunk_size > 0 ? build_chunks(builder) : PIT_OK;
}
