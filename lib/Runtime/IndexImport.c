//===- IndexImport.c - Indices of the caller's arrays ---------------------===//

#include "IndexSpec.h"

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

/// Checks one group's ids: in range, and each once. Ids that ascend need no
/// memory to see that.
static pit_status check_ids(pit_context *context, const pit_index *index,
                            int64_t group, bool ordered, pit_buffer *scratch) {
  const int32_t *ids = index->ids + index->offsets[group];
  int64_t extent = index->shape[index->axis];
  bool ascending = true;
  for (int32_t i = 0; i < index->counts[group]; ++i) {
    if (ids[i] < 0 || ids[i] >= extent)
      return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "index: id %d of group %lld is %d; it must be in "
                      "[0, %lld)",
                      i, (long long)group, ids[i], (long long)extent);
    if (i > 0 && ids[i] <= ids[i - 1]) {
      ascending = false;
      if (ordered)
        return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                        "index: ids %d and %d of group %lld are %d and %d; "
                        "they must ascend",
                        i - 1, i, (long long)group, ids[i - 1], ids[i]);
    }
  }
  if (ascending)
    return PIT_OK;
  pit_status status = clear_bits(context, scratch, extent);
  for (int32_t i = 0; status == PIT_OK && i < index->counts[group]; ++i)
    if (test_and_set(scratch->data, ids[i]))
      status = pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                        "index: id %d is in group %lld twice; it may be there "
                        "once",
                        ids[i], (long long)group);
  return status;
}

/// Checks that the groups' positions are disjoint.
static pit_status check_positions(pit_context *context, const pit_index *index,
                                  pit_buffer *scratch) {
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
                        "index: position %lld of group %lld belongs to another "
                        "group as well; groups may not overlap",
                        (long long)(index->offsets[g] + i), (long long)g);
  return status;
}

static pit_status check_chunks(pit_context *context, const pit_index *index) {
  int64_t size = index->chunk_size;
  int64_t at = 0;
  for (int64_t g = 0; g < index->groups; ++g)
    for (int64_t i = 0; i < index->counts[g]; i += size, ++at) {
      pit_chunk right = {.group = (int32_t)g,
                         .live = (int32_t)pit_min(size, index->counts[g] - i),
                         .first = index->offsets[g] + i};
      if (at >= index->num_chunks)
        return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                        "index: the work list ends after %lld chunks; group "
                        "%lld, id %lld is not in it",
                        (long long)at, (long long)g, (long long)i);
      const pit_chunk *is = &index->chunks[at];
      if (is->group != right.group || is->live != right.live ||
          is->first != right.first)
        return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                        "index: chunk %lld is {group %d, live %d, first %lld}; "
                        "with chunk_size %lld it must be {%d, %d, %lld}",
                        (long long)at, is->group, is->live,
                        (long long)is->first, (long long)size, right.group,
                        right.live, (long long)right.first);
    }
  if (at != index->num_chunks)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: the work list has %lld chunks; with chunk_size "
                    "%lld it must have %lld",
                    (long long)index->num_chunks, (long long)size,
                    (long long)at);
  return PIT_OK;
}

void pit_index_set_bounds(pit_index *index) {
  index->extent = index->capacity;
  index->total = index->capacity;
  index->max_count = index->shape[index->axis];
}

pit_status pit_index_check_pointers(pit_context *context,
                                    const pit_index *index) {
  if (index->groups > 0 && (!index->counts || !index->offsets))
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: %s is NULL; there are %lld groups",
                    index->counts ? "offsets" : "counts",
                    (long long)index->groups);
  if (index->capacity < 0 || (index->capacity > 0 && !index->ids))
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    index->ids ? "index: capacity is %lld; it must not be "
                                 "negative"
                               : "index: ids is NULL; the capacity is %lld",
                    (long long)index->capacity);
  if (index->num_chunks < 0 || (index->num_chunks > 0 && !index->chunks))
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    index->chunks ? "index: num_chunks is %lld; it must not be "
                                    "negative"
                                  : "index: chunks is NULL; num_chunks is %lld",
                    (long long)index->num_chunks);
  return PIT_OK;
}

pit_status pit_index_check_arrays(pit_context *context, const pit_index *index,
                                  bool ordered, pit_buffer *scratch,
                                  pit_index_sums *sums) {
  *sums = (pit_index_sums){0};
  int64_t extent = index->shape[index->axis];
  pit_status sound = pit_index_check_pointers(context, index);
  if (sound != PIT_OK)
    return sound;
  for (int64_t g = 0; g < index->groups; ++g) {
    int64_t count = index->counts[g];
    int64_t offset = index->offsets[g];
    if (count < 0 || count > extent)
      return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "index: group %lld has %lld ids; there can be 0 to %lld",
                      (long long)g, (long long)count, (long long)extent);
    if (offset < 0 || offset > index->capacity - count)
      return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "index: group %lld has %lld ids from position %lld on; "
                      "they must lie within the capacity of %lld",
                      (long long)g, (long long)count, (long long)offset,
                      (long long)index->capacity);
    pit_status status = check_ids(context, index, g, ordered, scratch);
    if (status != PIT_OK)
      return status;
    for (int64_t i = 0; index->origin && i < count; ++i)
      if (index->origin[offset + i] < 0)
        return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                        "index: origin %lld of group %lld is %d; it must not "
                        "be negative",
                        (long long)i, (long long)g, index->origin[offset + i]);
    sums->extent = pit_max(sums->extent, offset + count);
    sums->total += count;
    sums->max_count = pit_max(sums->max_count, count);
  }
  pit_status status = check_positions(context, index, scratch);
  return status == PIT_OK && index->chunk_size > 0
             ? check_chunks(context, index)
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
  if ((made.chunk_size > 0) != (arrays->chunks != NULL) && made.groups > 0)
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
  if (on_device) {
    made.flags |= PIT_INDEX_DEVICE;
    status = pit_index_check_pointers(context, &made);
    if (status != PIT_OK)
      return status;
    pit_index_set_bounds(&made);
    *index = made;
    return PIT_OK;
  }
  pit_buffer scratch = {0};
  pit_index_sums sums;
  bool ordered = !(made.flags & PIT_INDEX_UNORDERED);
  status = pit_index_check_arrays(context, &made, ordered, &scratch, &sums);
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
  if (!index || !arrays)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index export: an argument is NULL");
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
