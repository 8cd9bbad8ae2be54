//===- IndexImport.c - Indices of the caller's arrays ---------------------===//

#include "IndexSpec.h"

#include <stdlib.h>
#include <string.h>

/// Sets a bit; true if it was set before.
static bool test_and_set(uint64_t *bits, int64_t i) {
  uint64_t bit = UINT64_C(1) << (i % 64);
  bool before = (bits[i / 64] & bit) != 0;
  bits[i / 64] |= bit;
  return before;
}

static pit_status clear_bits(pit_context *context, pit_buffer *scratch,
                             int64_t count) {
  int64_t words = pit_ceil_div(count, 64);
  pit_status status =
      pit_buffer_reserve(context, scratch, words, 8, "checking an index");
  if (status == PIT_OK && words > 0)
    memset(scratch->data, 0, (size_t)words * 8);
  return status;
}

/// True iff all ids ascend and are in [0, extent): what nearly every group is.
/// Without a branch in the loop, so that it takes vectors.
static bool ascend(const int32_t *ids, int64_t count, int64_t extent) {
  int32_t falls = 0;
  for (int64_t i = 1; i < count; ++i)
    falls |= ids[i] <= ids[i - 1];
  return count == 0 || (!falls && ids[0] >= 0 && ids[count - 1] < extent);
}

static int compare_ids(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/// Checks that each id of a group, all of them in range, is there once: by a
/// bit for each id that can be, or where these take more memory than the ids,
/// by sorting.
static pit_status check_unique(pit_context *context, const char *what,
                               const pit_index *index, int64_t group,
                               pit_buffer *scratch) {
  const int32_t *ids = index->ids + index->offsets[group];
  int32_t count = index->counts[group];
  int64_t extent = index->shape[index->axis];
  bool sort = extent / 32 > count;
  pit_status status =
      sort ? pit_buffer_reserve(context, scratch, count, sizeof(*ids),
                                "checking an index")
           : clear_bits(context, scratch, extent);
  if (status != PIT_OK)
    return status;
  int32_t *sorted = scratch->data;
  if (sort) {
    memcpy(sorted, ids, (size_t)count * sizeof(*ids));
    qsort(sorted, (size_t)count, sizeof(*ids), compare_ids);
  }
  for (int32_t i = 0; i < count; ++i) {
    bool met = sort ? i > 0 && sorted[i] == sorted[i - 1]
                    : test_and_set(scratch->data, ids[i]);
    if (met)
      return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "%s: id %d is in group %lld twice; it may be there "
                      "once",
                      what, sort ? sorted[i] : ids[i], (long long)group);
  }
  return PIT_OK;
}

/// Checks one group's ids: in range, and each once. Ids that ascend need no
/// memory to see that.
static pit_status check_ids(pit_context *context, const char *what,
                            const pit_index *index, int64_t group,
                            pit_buffer *scratch) {
  const int32_t *ids = index->ids + index->offsets[group];
  int64_t extent = index->shape[index->axis];
  int32_t count = index->counts[group];
  if (ascend(ids, count, extent))
    return PIT_OK;
  bool ordered = !(index->flags & PIT_INDEX_UNORDERED);
  for (int32_t i = 0; i < count; ++i) {
    if (ids[i] < 0 || ids[i] >= extent)
      return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "%s: id %d of group %lld is %d; it must be in [0, %lld)",
                      what, i, (long long)group, ids[i], (long long)extent);
    if (ordered && i > 0 && ids[i] <= ids[i - 1])
      return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "%s: ids %d and %d of group %lld are %d and %d; they "
                      "must ascend",
                      what, i - 1, i, (long long)group, ids[i - 1], ids[i]);
  }
  // Only ids that need not be in order get here.
  return check_unique(context, what, index, group, scratch);
}

/// Checks that the groups' positions are disjoint.
static pit_status check_positions(pit_context *context, const char *what,
                                  const pit_index *index, pit_buffer *scratch) {
  int64_t end = 0;
  bool in_order = true;
  for (int64_t g = 0; in_order && g < index->groups; ++g)
    if (index->counts[g] > 0) {
      in_order = index->offsets[g] >= end;
      end = index->offsets[g] + index->counts[g];
    }
  if (in_order)
    return PIT_OK;
  pit_status status = clear_bits(context, scratch, index->capacity);
  for (int64_t g = 0; status == PIT_OK && g < index->groups; ++g)
    for (int64_t i = 0; i < index->counts[g]; ++i)
      if (test_and_set(scratch->data, index->offsets[g] + i))
        return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                        "%s: position %lld of group %lld belongs to another "
                        "group as well; groups may not overlap",
                        what, (long long)(index->offsets[g] + i), (long long)g);
  return status;
}

static pit_status check_chunks(pit_context *context, const char *what,
                               const pit_index *index) {
  int64_t size = index->chunk_size;
  int64_t at = 0;
  for (int64_t g = 0; g < index->groups; ++g)
    for (int64_t i = 0; i < index->counts[g]; i += size, ++at) {
      pit_chunk right = {.group = (int32_t)g,
                         .live = (int32_t)pit_min(size, index->counts[g] - i),
                         .first = index->offsets[g] + i};
      if (at >= index->num_chunks)
        return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                        "%s: the work list ends after %lld chunks; group %lld, "
                        "id %lld is not in it",
                        what, (long long)at, (long long)g, (long long)i);
      const pit_chunk *is = &index->chunks[at];
      if (is->group != right.group || is->live != right.live ||
          is->first != right.first)
        return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                        "%s: chunk %lld is {group %d, live %d, first %lld}; "
                        "with chunk_size %lld it must be {%d, %d, %lld}",
                        what, (long long)at, is->group, is->live,
                        (long long)is->first, (long long)size, right.group,
                        right.live, (long long)right.first);
    }
  if (at != index->num_chunks)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "%s: the work list has %lld chunks; with chunk_size %lld "
                    "it must have %lld",
                    what, (long long)index->num_chunks, (long long)size,
                    (long long)at);
  return PIT_OK;
}

void pit_index_set_bounds(pit_index *index) {
  index->extent = index->capacity;
  index->total = index->capacity;
  index->max_count = index->shape[index->axis];
}

/// Checks that an array of `count` elements is there, and aligned.
static pit_status check_array(pit_context *context, const char *what,
                              const char *name, const void *array,
                              int64_t count, size_t alignment) {
  if (count < 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "%s: %s has %lld elements; it cannot have fewer than 0",
                    what, name, (long long)count);
  if (count > 0 && !array)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "%s: %s is NULL; it must have %lld elements", what, name,
                    (long long)count);
  if (array && (uintptr_t)array % alignment != 0)
    return pit_fail(context, PIT_ERROR_ALIGNMENT,
                    "%s: %s is %lld bytes past a multiple of %lld; it must be "
                    "aligned to its element",
                    what, name, (long long)((uintptr_t)array % alignment),
                    (long long)alignment);
  return PIT_OK;
}

pit_status pit_index_check_pointers(pit_context *context, const char *what,
                                    const pit_index *index) {
  const struct {
    const char *name;
    const void *array;
    int64_t count;
    size_t alignment;
  } arrays[] = {
      {"counts", index->counts, index->groups, _Alignof(int32_t)},
      {"offsets", index->offsets, index->groups, _Alignof(int64_t)},
      {"ids", index->ids, index->capacity, _Alignof(int32_t)},
      {"origin", index->origin, 0, _Alignof(int32_t)},
      {"chunks", index->chunks, index->num_chunks, _Alignof(pit_chunk)},
  };
  pit_status status = PIT_OK;
  for (size_t i = 0; status == PIT_OK && i < sizeof(arrays) / sizeof(*arrays);
       ++i)
    status = check_array(context, what, arrays[i].name, arrays[i].array,
                         arrays[i].count, arrays[i].alignment);
  return status;
}

pit_status pit_index_check_arrays(pit_context *context, const char *what,
                                  const pit_index *index, pit_buffer *scratch,
                                  pit_index_sums *sums) {
  *sums = (pit_index_sums){0};
  int64_t extent = index->shape[index->axis];
  for (int64_t g = 0; g < index->groups; ++g) {
    int64_t count = index->counts[g];
    int64_t offset = index->offsets[g];
    if (count < 0 || count > extent)
      return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "%s: group %lld has %lld ids; there can be 0 to %lld",
                      what, (long long)g, (long long)count, (long long)extent);
    if (offset < 0 || offset > index->capacity - count)
      return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "%s: group %lld has %lld ids from position %lld on; they "
                      "must lie within the capacity of %lld",
                      what, (long long)g, (long long)count, (long long)offset,
                      (long long)index->capacity);
    pit_status status = check_ids(context, what, index, g, scratch);
    if (status != PIT_OK)
      return status;
    for (int64_t i = 0; index->origin && i < count; ++i)
      if (index->origin[offset + i] < 0)
        return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                        "%s: origin %lld of group %lld is %d; it must not be "
                        "negative",
                        what, (long long)i, (long long)g,
                        index->origin[offset + i]);
    sums->extent = pit_max(sums->extent, offset + count);
    sums->total += count;
    sums->max_count = pit_max(sums->max_count, count);
  }
  pit_status status = check_positions(context, what, index, scratch);
  return status == PIT_OK && index->chunk_size > 0
             ? check_chunks(context, what, index)
             : status;
}

pit_status pit_index_import(pit_context *context, const pit_index_spec *spec,
                            const pit_index_arrays *arrays, pit_index *index) {
  if (!context || !arrays || !index)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index import: an argument is NULL");
  pit_index made;
  bool on_device = spec && (spec->flags & PIT_INDEX_DEVICE) != 0;
  if (on_device && !context->cuda)
    return pit_fail(context, PIT_ERROR_DEVICE,
                    "index: the arrays are in device memory, but the context "
                    "was made without a device");
  pit_index_spec bare = spec ? *spec : (pit_index_spec){0};
  bare.flags &= ~(uint32_t)PIT_INDEX_DEVICE;
  pit_status status = pit_spec_resolve(context, spec ? &bare : NULL, &made);
  if (status != PIT_OK)
    return status;
  if (arrays->groups != made.groups)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: the arrays have %lld groups; the shape gives %lld",
                    (long long)arrays->groups, (long long)made.groups);
  // A list of no chunks may lie nowhere, as that of a build does.
  bool has_chunks = arrays->chunks || (!on_device && arrays->num_chunks == 0);
  if (made.groups > 0 && (made.chunk_size > 0 ? !has_chunks : !!arrays->chunks))
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    made.chunk_size > 0
                        ? "index: chunk_size is %lld, but chunks is NULL"
                        : "index: chunk_size is %lld, but there are chunks; "
                          "it must be their size",
                    (long long)made.chunk_size);
  made.counts = arrays->counts;
  made.offsets = arrays->offsets;
  made.ids = arrays->ids;
  made.origin = arrays->origin;
  made.chunks = arrays->chunks;
  made.capacity = arrays->capacity;
  made.num_chunks = arrays->num_chunks;
  made.source = PIT_SOURCE_IMPORT;
  made.tag = PIT_INDEX_TAG;
  status = pit_index_check_pointers(context, "index", &made);
  if (status != PIT_OK)
    return status;
  if (on_device) {
    made.flags |= PIT_INDEX_DEVICE;
    pit_index_set_bounds(&made);
    *index = made;
    return PIT_OK;
  }
  pit_buffer scratch = {0};
  pit_index_sums sums;
  status = pit_index_check_arrays(context, "index", &made, &scratch, &sums);
  pit_buffer_free(&scratch);
  if (status != PIT_OK)
    return status;
  made.extent = sums.extent;
  made.total = sums.total;
  made.max_count = sums.max_count;
  *index = made;
  return PIT_OK;
}

pit_status pit_index_export(pit_context *context, const pit_index *index,
                            pit_index_arrays *arrays) {
  if (!arrays)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index export: arrays is NULL");
  pit_status status =
      pit_index_expect(context, "index export: the index", index);
  if (status != PIT_OK)
    return status;
  *arrays = (pit_index_arrays){.counts = index->counts,
                               .offsets = index->offsets,
                               .ids = index->ids,
                               .origin = index->origin,
                               .chunks = index->chunks,
                               .groups = index->groups,
                               .capacity = index->capacity,
                               .num_chunks = index->num_chunks};
  return PIT_OK;
}
