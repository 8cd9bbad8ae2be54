//===- IndexArgument.c - Indices that callers pass ------------------------===//
//
// A program trusts what an index says, so nothing but a sound one gets to it.
// There are two ways to be one. An index that a builder made is sound as long
// as it is the builder's: its tag has a checksum of its fields and of where it
// lies, which a copy, an altered index or one whose builder is building does
// not fulfil. All others, those of the caller's arrays among them, are checked
// in each call, because the arrays may differ each time.
//
//===----------------------------------------------------------------------===//

#include "IndexSpec.h"

#include <string.h>

pit_status pit_index_expect(pit_context *context, const char *what,
                            const pit_index *index) {
  if (!index)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "%s is NULL; it must be an index", what);
  if ((uintptr_t)index % _Alignof(pit_index) == 0 &&
      (index->tag & PIT_INDEX_TAG_MASK) == PIT_INDEX_TAG)
    return PIT_OK;
  return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                  "%s is not an index; it must be one that pit_index_build or "
                  "pit_index_import made",
                  what);
}

//===----------------------------------------------------------------------===//
// Seals
//===----------------------------------------------------------------------===//

enum { WORDS = sizeof(pit_index) / sizeof(uint64_t) };
_Static_assert(sizeof(pit_index) % sizeof(uint64_t) == 0 &&
                   offsetof(pit_index, tag) == 0,
               "the tag is the first of whole words");

static uint64_t checksum(const pit_index *index) {
  uint64_t words[WORDS];
  memcpy(words, index, sizeof(words));
  words[0] = (uint64_t)(uintptr_t)index;
  uint64_t sum = 0;
  for (int i = 0; i < WORDS; ++i)
    sum = (sum ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
  return sum >> 16;
}

void pit_index_seal(pit_index *index) {
  index->tag = PIT_INDEX_TAG | checksum(index);
}

bool pit_index_is_sealed(const pit_index *index) {
  return index->tag == (PIT_INDEX_TAG | checksum(index));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Checks one number per dimension against what follows from the others.
static pit_status check_dims(pit_context *context, const char *what,
                             const char *field, const int64_t *is,
                             const int64_t *wanted, int32_t rank) {
  for (int32_t d = 0; d < rank; ++d)
    if (is[d] != wanted[d])
      return pit_fail(context, PIT_ERROR_SHAPE,
                      "%s: %s[%d] of the index is %lld; its other fields give "
                      "%lld",
                      what, field, d, (long long)is[d], (long long)wanted[d]);
  return PIT_OK;
}

pit_status pit_index_check_fields(pit_context *context, const char *what,
                                  const pit_index *index) {
  const uint32_t known = PIT_INDEX_UNORDERED | PIT_INDEX_DENSE;
  pit_index_spec spec = {.rank = index->rank,
                         .axis = index->axis,
                         .flags = index->flags & known,
                         .chunk_size = index->chunk_size};
  memcpy(spec.shape, index->shape, sizeof(spec.shape));
  memcpy(spec.micro_tile, index->micro_tile, sizeof(spec.micro_tile));
  memcpy(spec.step, index->step, sizeof(spec.step));
  pit_index wanted;
  pit_status status = pit_spec_resolve(context, &spec, &wanted);
  if (status == PIT_OK)
    status = check_dims(context, what, "micro_tile", index->micro_tile,
                        wanted.micro_tile, wanted.rank);
  if (status == PIT_OK)
    status = check_dims(context, what, "step", index->step, wanted.step,
                        wanted.rank);
  if (status == PIT_OK)
    status = check_dims(context, what, "group_shape", index->group_shape,
                        wanted.group_shape, wanted.rank);
  if (status == PIT_OK && index->groups != wanted.groups)
    status = pit_fail(context, PIT_ERROR_SHAPE,
                      "%s: the index has %lld groups; its group_shape gives "
                      "%lld",
                      what, (long long)index->groups, (long long)wanted.groups);
  if (status == PIT_OK && index->status != PIT_OK)
    status = pit_fail(context, PIT_ERROR_CAPACITY,
                      "%s: the index is not complete (status %d, %s)", what,
                      index->status, pit_status_string(index->status));
  return status == PIT_OK ? pit_index_check_pointers(context, what, index)
                          : status;
}

pit_status pit_index_check_contents(pit_context *context, const char *what,
                                    const pit_index *index,
                                    pit_buffer *scratch) {
  if (pit_index_is_sealed(index))
    return PIT_OK;
  pit_index_sums sums;
  pit_status status =
      pit_index_check_arrays(context, what, index, scratch, &sums);
  if (status == PIT_OK &&
      (index->extent != sums.extent || index->total != sums.total ||
       index->max_count != sums.max_count))
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "%s: the index has extent %lld, total %lld, max_count "
                    "%lld; its groups give %lld, %lld and %lld; indices of "
                    "other counts have to be imported anew",
                    what, (long long)index->extent, (long long)index->total,
                    (long long)index->max_count, (long long)sums.extent,
                    (long long)sums.total, (long long)sums.max_count);
  return status;
}
