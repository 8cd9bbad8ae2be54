//===- Index.h - An index in device memory --------------------------------===//

#ifndef PIT_LIB_RUNTIME_DEVICE_INDEX_H
#define PIT_LIB_RUNTIME_DEVICE_INDEX_H

#include "Gpu.h"

/// A block begins an index: its copy in device memory, with 0 for all that only
/// the device knows.
PIT_DEVICE void begin_copy(const pit_index *head, pit_index *copy) {
  const uint64_t *from = (const uint64_t *)head;
  uint64_t *to = (uint64_t *)copy;
  for (uint32_t i = thread(); i < sizeof(*head) / sizeof(*from);
       i += num_threads())
    to[i] = from[i];
}

/// The first block of a scan begins the index, and clears the counter of
/// blocks.
PIT_DEVICE void begin_index(const pit_cuda_begin *begin) {
  pdl_launch_dependents();
  pdl_wait();
  if (block() == 0) {
    begin_copy(&begin->head, begin->copy);
    if (thread() == 0)
      *begin->counter = 0;
  }
}

/// Has a kernel nothing to do?
PIT_DEVICE bool leaves(const pit_cuda_condition *when) {
  return when->word && *when->word != when->value;
}

/// A thread adds ids to the total.
PIT_DEVICE void add_ids(pit_index *copy, uint32_t ids) {
  atomic_add_64(&copy->total, ids);
}

/// A thread writes the part of a group that there is: so many ids from `place`
/// on.
PIT_DEVICE void tell_group(const pit_cuda_arrays *arrays, uint32_t group,
                           uint32_t groups, int64_t place, uint32_t count) {
  arrays->counts[group] = (int32_t)count;
  arrays->offsets[group] = place;
  atomic_max_64(&arrays->copy->max_count, count);
  // No group ends behind the last.
  if (group == groups - 1)
    arrays->copy->extent = place + count;
}

/// The numbers that only the device knows, where one thread knows them all.
typedef struct index_result {
  int64_t extent, total, max_count, num_chunks;
  int32_t status;
} index_result;

PIT_DEVICE void write_result(pit_index *copy, index_result result) {
  copy->extent = result.extent;
  copy->total = result.total;
  copy->max_count = result.max_count;
  copy->num_chunks = result.num_chunks;
  copy->status = result.status;
}

#endif // PIT_LIB_RUNTIME_DEVICE_INDEX_H
