//===- CudaIndex.c - The index on a device --------------------------------===//
//
// A scan turns the source into one bit per micro-tile, then lists are made of
// bits. Mostly a block lists a group: at a fixed place, or behind the groups
// before it, whose ids have been counted (Device/IndexLists.c). Two
// launches, or three. The rest goes by segments of groups
// (Device/IndexSegments.c).
//
//===----------------------------------------------------------------------===//

#include "CudaIndex.h"
#include "CudaIndexScan.h"
#include "Rows.h"
#include "Sources/Sources.h"

enum {
  SEGMENT_WORDS = 32, ///< that a warp takes
  /// Groups of fewer words are not cut into slices.
  MIN_SLICE_WORDS = 256,
  /// Blocks of slices of groups of so many words count what is before these.
  MAX_COUNTED_WORDS = 4096,
  /// The most numbers of a tally that all blocks together add up.
  MAX_ADDENDS = 1 << 25,
  /// Between the copy of an index and its counts.
  COPY_BYTES = 384
};

_Static_assert(sizeof(pit_index) <= COPY_BYTES, "counts follow the copy");

pit_status pit_cuda_start_named(const pit_cuda_work *work, const char *kernel,
                                pit_cuda_grid grid, void *params) {
  bool can_overlap = pit_cuda_device(work->context)->capability >= 90;
  grid.overlap &= can_overlap;
  void *list[] = {params};
  return pit_cuda_launch(
      work, can_overlap ? &pit_index_image_sm_90 : &pit_index_image_sm_80,
      kernel, &grid, list);
}

int64_t pit_cuda_index_blocks(const pit_cuda_build *build, int64_t items,
                              int64_t items_per_block) {
  int64_t wanted = pit_ceil_div(items, items_per_block);
  int64_t room = 8 * pit_cuda_device(build->work->context)->multiprocessors;
  return pit_max(1, pit_min(wanted, room));
}

pit_status pit_cuda_index_alloc(const pit_cuda_build *build, int64_t count,
                                int64_t size, void **memory) {
  int64_t bytes;
  if (!pit_mul(count, size, &bytes))
    bytes = INT64_MAX;
  return pit_cuda_alloc(build->work, bytes, memory);
}

//===----------------------------------------------------------------------===//
// Sizes and memory
//===----------------------------------------------------------------------===//

static pit_status check_limits(const pit_cuda_build *build) {
  pit_context *context = build->work->context;
  const pit_index *index = &build->head;
  int64_t extent = index->shape[index->axis];
  int64_t words = pit_ceil_div(extent, 32);
  // Numbers of words and segments are 32-bit in the kernels, with room for a
  // grid's stride.
  const int64_t limit = INT32_MAX - (1 << 20);
  int64_t all;
  if (extent > limit || !pit_mul(index->groups, pit_max(words, 1), &all) ||
      all > limit)
    return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                    "index: %lld groups of %lld ids; a device takes at most "
                    "%lld words of 32 micro-tiles",
                    (long long)index->groups, (long long)extent,
                    (long long)limit);
  return PIT_OK;
}

/// The arrays that the index points to, and the scratch of the build.
static pit_status allocate(pit_cuda_build *build, bool with_origin,
                           int64_t num_chunks) {
  const pit_index *head = &build->head;
  const struct {
    int64_t count, size;
  } pieces[] = {{COPY_BYTES + head->groups * (int64_t)sizeof(int32_t), 1},
                {head->groups, sizeof(int64_t)},
                {head->capacity, sizeof(int32_t)},
                {with_origin ? head->capacity : 0, sizeof(int32_t)},
                {num_chunks, sizeof(pit_chunk)},
                {(int64_t)build->groups * build->words, sizeof(uint32_t)},
                {1, sizeof(uint32_t)}};
  enum { COPY, OFFSETS, IDS, ORIGIN, CHUNKS, BITS, COUNTER, PIECES };
  _Static_assert(sizeof(pieces) / sizeof(pieces[0]) == PIECES, "one each");
  void *memory[PIECES];
  for (int32_t i = 0; i < PIECES; ++i) {
    pit_status status = pit_cuda_index_alloc(build, pieces[i].count,
                                             pieces[i].size, &memory[i]);
    if (status != PIT_OK)
      return status;
  }
  pit_cuda_arrays *arrays = &build->arrays;
  *arrays =
      (pit_cuda_arrays){.copy = memory[COPY],
                        .counts = (int32_t *)memory[COPY] + COPY_BYTES / 4,
                        .offsets = memory[OFFSETS],
                        .ids = memory[IDS],
                        .origin = with_origin ? memory[ORIGIN] : NULL};
  build->chunks = head->chunk_size > 0 ? memory[CHUNKS] : NULL;
  build->head.counts = arrays->counts;
  build->head.offsets = arrays->offsets;
  build->head.ids = arrays->ids;
  build->head.origin = arrays->origin;
  build->head.chunks = build->chunks;
  build->bits = memory[BITS];
  build->counter = memory[COUNTER];
  return PIT_OK;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// The routing that origins are found in; of other sources none.
static pit_cuda_origin get_origin(const pit_cuda_build *build) {
  const pit_index *index = &build->head;
  const pit_data *data = &build->selection->data;
  if (!index->origin)
    return (pit_cuda_origin){0};
  const pit_dim other = pit_tiling_of(index).dims[1 - index->axis];
  int64_t element = data->dtype.bits / 8;
  int64_t row = data->shape[1] * element;
  bool vectors = data->strides[1] == 1 && row % 16 == 0 &&
                 data->strides[0] * element % 16 == 0 &&
                 (uintptr_t)data->data % 16 == 0;
  return (pit_cuda_origin){.data = data->data,
                           .wide = element == 8,
                           .slots = (int32_t)data->shape[1],
                           .vectors = vectors ? (int32_t)(row / 16) : 0,
                           .by_expert = index->axis == 1,
                           .token_stride = data->strides[0],
                           .slot_stride = data->strides[1],
                           .size = other.size,
                           .step = other.step,
                           .limit = other.extent};
}

/// Each group in `slices` of `span` parts.
static pit_status list_slices(pit_cuda_build *b, int32_t slices, int32_t span) {
  const pit_index *head = &b->head;
  pit_index_lists_params params = {.arrays = b->arrays,
                                   .bits = pit_cuda_bits_of(b),
                                   .checks = {b->checks, b->num_checks},
                                   .tally = b->tally,
                                   .parts = b->parts,
                                   .part_words = b->part_words,
                                   .slices = slices,
                                   .span = span,
                                   .dense = (head->flags & PIT_INDEX_DENSE) &&
                                            b->groups > 1,
                                   .capacity_status = PIT_ERROR_CAPACITY,
                                   .capacity = head->capacity,
                                   .origin = get_origin(b)};
  int64_t items = (int64_t)b->groups * slices;
  return pit_cuda_index_launch(b, pit_index_lists,
                               pit_cuda_index_blocks(b, items, 1),
                               PIT_INDEX_THREADS, /*overlap=*/true, &params);
}

static int32_t segments_per_group(const pit_cuda_build *build) {
  return (int32_t)pit_max(1, pit_ceil_div(build->words, SEGMENT_WORDS));
}

/// Blocks of warps that take a segment each.
static int64_t segment_blocks(const pit_cuda_build *build) {
  int64_t segments = (int64_t)build->groups * segments_per_group(build);
  return pit_cuda_index_blocks(build, segments, PIT_INDEX_THREADS / 32);
}

/// Counts segments into the tally; with `start`, also places them.
static pit_status count_segments(pit_cuda_build *b, int64_t *start) {
  const pit_index *head = &b->head;
  b->parts = segments_per_group(b);
  b->part_words = SEGMENT_WORDS;
  void *tally;
  pit_status status = pit_cuda_index_alloc(b, (int64_t)b->groups * b->parts,
                                           sizeof(*b->tally), &tally);
  if (status != PIT_OK)
    return status;
  b->tally = tally;
  pit_index_count_params params = {.arrays = b->arrays,
                                   .chunks = b->chunks,
                                   .bits = pit_cuda_bits_of(b),
                                   .checks = {b->checks, b->num_checks},
                                   .counter = b->counter,
                                   .tally = b->tally,
                                   .start = start,
                                   .per_group = b->parts,
                                   .dense =
                                       (head->flags & PIT_INDEX_DENSE) != 0,
                                   .capacity_status = PIT_ERROR_CAPACITY,
                                   .capacity = head->capacity,
                                   .chunk_size = head->chunk_size};
  return pit_cuda_index_launch(b, pit_index_count, segment_blocks(b),
                               PIT_INDEX_THREADS, /*overlap=*/true, &params);
}

static pit_status list_segments(pit_cuda_build *b) {
  void *memory;
  pit_status status = pit_cuda_index_alloc(
      b, (int64_t)b->groups * segments_per_group(b), sizeof(int64_t), &memory);
  int64_t *start = memory;
  if (status == PIT_OK)
    status = count_segments(b, start);
  if (status != PIT_OK)
    return status;
  pit_index_place_params params = {.arrays = b->arrays,
                                   .bits = pit_cuda_bits_of(b),
                                   .start = start,
                                   .per_group = b->parts,
                                   .origin = get_origin(b)};
  return pit_cuda_index_launch(b, pit_index_place, segment_blocks(b),
                               PIT_INDEX_THREADS, /*overlap=*/false, &params);
}

static pit_status list(pit_cuda_build *b) {
  if (b->head.chunk_size > 0)
    return list_segments(b);
  // Few long groups are cut, so that all multiprocessors have something to do.
  int64_t wave = pit_cuda_device(b->work->context)->multiprocessors;
  bool cut = b->words > MIN_SLICE_WORDS && b->groups > 0 && b->groups < wave;
  bool dense = (b->head.flags & PIT_INDEX_DENSE) && b->groups > 1;
  if (!cut && !dense) {
    b->part_words = b->words;
    return list_slices(b, 1, 1);
  }
  int64_t parts = b->tally ? b->parts : segments_per_group(b);
  int64_t wanted = cut ? pit_ceil_div(2 * wave, b->groups) : 1;
  int64_t span = pit_ceil_div(parts, wanted);
  int64_t slices = pit_ceil_div(parts, span);
  // A block adds up what is before its slice.
  int64_t before = (dense ? b->groups : 1) * parts;
  int64_t addends;
  if (!pit_mul(b->groups * slices, before, &addends) || addends > MAX_ADDENDS)
    return list_segments(b);
  pit_status status = PIT_OK;
  if (!b->tally && !dense && b->words <= MAX_COUNTED_WORDS)
    b->part_words = SEGMENT_WORDS;
  else if (!b->tally)
    status = count_segments(b, NULL);
  return status == PIT_OK ? list_slices(b, (int32_t)slices, (int32_t)span)
                          : status;
}

//===----------------------------------------------------------------------===//
// Builds
//===----------------------------------------------------------------------===//

/// The places of groups, and the room that they take.
static void choose_places(pit_cuda_build *build) {
  pit_index *head = &build->head;
  // Fixed places need all the room there is.
  if (head->capacity < build->groups * build->extent || build->groups == 1)
    head->flags |= PIT_INDEX_DENSE;
  if (head->flags & PIT_INDEX_DENSE)
    head->capacity = pit_selection_bound(build->selection, head);
  head->flags |= PIT_INDEX_DEVICE;
  head->device_copy = COPY_BYTES;
}

pit_status pit_cuda_check_code(pit_context *context) {
  if (pit_index_image_sm_80.data)
    return PIT_OK;
  return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                  "index: this runtime was built without the compiler, and so "
                  "without device code; it builds indices on the CPU only");
}

pit_status pit_cuda_begin_build(const pit_cuda_work *work,
                                const pit_selection *selection,
                                const pit_index *resolved,
                                pit_cuda_build *build) {
  pit_status has_code = pit_cuda_check_code(work->context);
  if (has_code != PIT_OK)
    return has_code;
  *build =
      (pit_cuda_build){.work = work, .selection = selection, .head = *resolved};
  pit_status status =
      pit_selection_check(work->context, selection, &build->head);
  if (status == PIT_OK)
    status = check_limits(build);
  if (status != PIT_OK)
    return status;
  pit_index *head = &build->head;
  head->tag = PIT_INDEX_TAG;
  build->groups = (int32_t)head->groups;
  build->extent = head->shape[head->axis];
  build->words = (int32_t)pit_ceil_div(build->extent, 32);
  choose_places(build);
  // Each group has at most one chunk that is not full.
  if (head->chunk_size > 0)
    build->num_chunks = pit_min(head->groups, head->capacity) +
                        head->capacity / head->chunk_size;
  return allocate(build,
                  selection->source == PIT_SOURCE_ROUTING &&
                      pit_routing_has_origin(resolved),
                  build->num_chunks);
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

/// Makes the lists of positions from the bits of ids by groups.
static pit_status place_positions(pit_cuda_build *b,
                                  const pit_cuda_listed *from, int64_t room) {
  pit_index_place_positions_params params = {.arrays = b->arrays,
                                             .bits = b->bits,
                                             .words = b->words,
                                             .from = *from,
                                             .room = room,
                                             .when = b->condition};
  int64_t wanted = pit_max((int64_t)from->slices * from->groups,
                           pit_ceil_div(b->groups, PIT_INDEX_THREADS));
  return pit_cuda_index_launch(b, pit_index_place_positions,
                               pit_cuda_index_blocks(b, wanted, 1),
                               PIT_INDEX_THREADS, /*overlap=*/true, &params);
}

pit_status pit_cuda_transpose_index(const pit_cuda_work *work,
                                    const pit_index *index,
                                    pit_cuda_condition condition,
                                    pit_index *mirror) {
  pit_status status = pit_cuda_check_code(work->context);
  if (status != PIT_OK)
    return status;
  pit_cuda_build build = {
      .work = work, .head = *mirror, .condition = condition};
  pit_cuda_build *b = &build;
  pit_index from = *index;
  pit_index *head = &b->head;
  // As check_limits, of the bits that tell which groups an id is in.
  const int64_t limit = INT32_MAX - (1 << 20);
  int64_t words = pit_max(1, pit_ceil_div(from.groups, 32)), all;
  if (from.groups > limit || !pit_mul(head->groups, words, &all) ||
      all > limit || !pit_mul(head->groups, from.groups, &head->capacity))
    return pit_fail(work->context, PIT_ERROR_UNSUPPORTED,
                    "index transpose: %lld ids in %lld groups; a device takes "
                    "at most %lld words of 32 groups",
                    (long long)head->groups, (long long)from.groups,
                    (long long)limit);
  head->tag = PIT_INDEX_TAG;
  head->flags |= PIT_INDEX_DEVICE;
  head->device_copy = COPY_BYTES;
  b->groups = (int32_t)head->groups;
  b->words = (int32_t)words;
  status = allocate(b, /*with_origin=*/false, /*num_chunks=*/0);
  if (status == PIT_OK)
    status = pit_cuda_fill(work, b->bits, 0, all);
  if (status != PIT_OK)
    return status;
  // All blocks have something to do where groups are few.
  int64_t most = pit_ceil_div(head->groups, PIT_INDEX_THREADS);
  int64_t wanted =
      pit_ceil_div(8 * pit_cuda_device(work->context)->multiprocessors,
                   pit_max(1, from.groups));
  int64_t slices = pit_max(1, pit_min(most, wanted));
  const pit_cuda_listed listed = {.counts = from.counts,
                                  .offsets = from.offsets,
                                  .ids = from.ids,
                                  .groups = (int32_t)from.groups,
                                  .slices = (int32_t)slices,
                                  .num_ids = b->groups};
  pit_index_mark_ids_params params = {.begin = pit_cuda_begin_of(b),
                                      .bits = b->bits,
                                      .words = b->words,
                                      .from = listed,
                                      .when = b->condition};
  status = pit_cuda_index_launch(
      b, pit_index_mark_ids, pit_cuda_index_blocks(b, slices * from.groups, 1),
      PIT_INDEX_THREADS, /*overlap=*/true, &params);
  if (status == PIT_OK)
    status = place_positions(b, &listed, from.groups);
  if (status != PIT_OK)
    return status;
  *mirror = *head;
  mirror->extent = mirror->total = mirror->capacity;
  mirror->max_count = from.groups;
  return PIT_OK;
}

void pit_cuda_mirror(const pit_cuda_build *build, pit_index *mirror) {
  *mirror = build->head;
  mirror->extent = mirror->total = mirror->capacity;
  mirror->max_count = build->extent;
  mirror->num_chunks = build->num_chunks;
}

pit_status pit_cuda_build_index(const pit_cuda_work *work,
                                const pit_selection *selection,
                                pit_packing *packing, pit_index *mirror) {
  pit_cuda_build build;
  pit_status status = pit_cuda_begin_build(work, selection, mirror, &build);
  if (status == PIT_OK && packing)
    status = pit_cuda_list_packed(&build, packing);
  bool is_listed = packing && packing->done;
  if (status == PIT_OK && !is_listed)
    status = pit_cuda_scan(&build);
  if (status == PIT_OK && !is_listed)
    status = list(&build);
  if (status == PIT_OK)
    pit_cuda_mirror(&build, mirror);
  return status;
}

pit_status pit_cuda_import_index(const pit_cuda_work *work,
                                 const pit_index *mirror,
                                 const pit_index **device) {
  if (!pit_index_image_sm_80.data)
    return pit_fail(work->context, PIT_ERROR_UNSUPPORTED,
                    "index: this runtime was built without the compiler, and "
                    "so without device code; it takes indices on the CPU only");
  const pit_cuda_build build = {.work = work};
  void *copy;
  pit_status status = pit_cuda_alloc(work, sizeof(pit_index), &copy);
  if (status != PIT_OK)
    return status;
  pit_index_copy_head_params params = {*mirror, copy};
  status = pit_cuda_index_launch(&build, pit_index_copy_head, 1,
                                 PIT_INDEX_THREADS, /*overlap=*/false, &params);
  if (status == PIT_OK)
    *device = copy;
  return status;
}
