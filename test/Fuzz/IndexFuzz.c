//===- IndexFuzz.c - Broken indices ---------------------------------------===//
//
// Imports arrays that say anything, and gives structs to programs that were
// changed since. Arrays are as long as the caller says: nobody could check
// that.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_LENGTH = 128 };

void fuzz_write_seeds(void) {
  // Rank 2 of axis 1; shape, micro-tile and step; what is odd; groups and
  // capacity; counts, offsets and ids.
  uint8_t plain[] = {2, 1, 4, 2, 1, 5, 1, 0, 0, 2, 6, 0, 1, 0, 0, 0,
                     2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
                     0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0};
  uint8_t chunks[] = {1, 0, 9, 1, 1, 3, 1, 2, 3, 4, 0, 2, 0, 0, 0};
  fuzz_seed(plain, sizeof(plain));
  fuzz_seed(chunks, sizeof(chunks));
}

typedef struct arrays {
  int32_t *counts, *ids, *origin;
  int64_t *offsets;
  pit_chunk *chunks;
} arrays;

/// Small numbers as often as any, so that some of what is drawn is sound.
static void *draw_i32(fuzz_input *input, int64_t length) {
  int32_t *array = malloc(length ? 4 * (size_t)length : 1);
  FUZZ_CHECK(array);
  for (int64_t i = 0; i < length; ++i)
    array[i] = (int32_t)fuzz_number(input);
  return array;
}

static void *draw_i64(fuzz_input *input, int64_t length) {
  int64_t *array = malloc(length ? 8 * (size_t)length : 1);
  FUZZ_CHECK(array);
  for (int64_t i = 0; i < length; ++i)
    array[i] = fuzz_number(input);
  return array;
}

static void draw_arrays(fuzz_input *input, pit_context *context,
                        const pit_index_spec *spec, arrays *a,
                        pit_index_arrays *view) {
  uint8_t odd = fuzz_byte(input);
  int64_t groups = 0, right;
  pit_index_spec bare = *spec;
  bare.flags &= ~(uint32_t)PIT_INDEX_DEVICE;
  if (pit_index_groups(context, &bare, NULL, &right) == PIT_OK &&
      right <= MAX_LENGTH && !(odd & 1))
    groups = right;
  else
    groups = fuzz_byte(input) % MAX_LENGTH;
  int64_t capacity = fuzz_byte(input) % MAX_LENGTH;
  int64_t chunks = fuzz_byte(input) % MAX_LENGTH;
  *a = (arrays){.counts = draw_i32(input, groups),
                .offsets = draw_i64(input, groups),
                .ids = draw_i32(input, capacity)};
  if (odd & 2)
    a->origin = draw_i32(input, capacity);
  if (spec->chunk_size > 0 || (odd & 4)) {
    a->chunks = malloc(chunks ? sizeof(pit_chunk) * (size_t)chunks : 1);
    FUZZ_CHECK(a->chunks);
    for (int64_t i = 0; i < chunks; ++i)
      a->chunks[i] =
          (pit_chunk){(int32_t)fuzz_number(input), (int32_t)fuzz_number(input),
                      fuzz_number(input)};
  }
  *view = (pit_index_arrays){.counts = a->counts,
                             .offsets = a->offsets,
                             .ids = a->ids,
                             .origin = a->origin,
                             .chunks = a->chunks,
                             .groups = groups,
                             .capacity = capacity,
                             .num_chunks = a->chunks ? chunks : 0};
  if ((odd & 0x18) == 0x18) {
    uint8_t missing = fuzz_byte(input);
    view->counts = missing & 1 ? NULL : view->counts;
    view->offsets = missing & 2 ? NULL : view->offsets;
    view->ids = missing & 4 ? NULL : view->ids;
    view->capacity = missing & 8 ? -view->capacity : view->capacity;
    view->num_chunks = missing & 16 ? -view->num_chunks : view->num_chunks;
    view->groups = missing & 32 ? -view->groups : view->groups;
  }
}

/// Changes what a struct says, but not that its arrays are longer.
static void change(fuzz_input *input, pit_index *index) {
  int64_t value = fuzz_number(input);
  int32_t dim = fuzz_byte(input) % PIT_MAX_RANK;
  switch (fuzz_byte(input) % 16) {
  case 0:
    index->groups = value;
    break;
  case 1:
    index->extent = value;
    break;
  case 2:
    index->total = value;
    break;
  case 3:
    index->max_count = value;
    break;
  case 4:
    index->capacity = value < index->capacity ? value : index->capacity;
    break;
  case 5:
    index->num_chunks = value < index->num_chunks ? value : index->num_chunks;
    break;
  case 6:
    index->chunk_size = value;
    break;
  case 7:
    index->rank = (int32_t)value;
    break;
  case 8:
    index->axis = (int32_t)value;
    break;
  case 9:
    index->shape[dim] = value;
    break;
  case 10:
    index->micro_tile[dim] = value;
    break;
  case 11:
    index->group_shape[dim] = value;
    break;
  case 12:
    index->status = (int32_t)value;
    break;
  case 13:
    index->flags = (uint32_t)value;
    break;
  case 14:
    index->counts = NULL;
    break;
  default:
    index->ids = NULL;
  }
}

/// Gives an index to a program that takes one such as `wanted` was.
static void check_argument(pit_context *context, const pit_index *wanted,
                           const pit_index *index) {
  pit_arg_info info = {
      .kind = PIT_KIND_INDEX, .rank = wanted->rank, .axis = wanted->axis};
  memcpy(info.micro_tile, wanted->micro_tile, sizeof(info.micro_tile));
  memcpy(info.step, wanted->step, sizeof(info.step));
  const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                 .num_args = 1,
                                 .device = kDLCPU,
                                 .values = &info};
  const pit_value ins[] = {{.kind = PIT_KIND_INDEX, .index = index}};
  int64_t views[1];
  pit_frame *frame;
  pit_status status = (pit_status)pit_rt_enter(context, &manifest, ins, NULL,
                                               NULL, views, &frame);
  fuzz_check_status(context, status);
  if (status != PIT_OK)
    return;
  FUZZ_CHECK(views[0] == (int64_t)(intptr_t)index);
  FUZZ_CHECK(pit_rt_leave(frame, PIT_OK) == PIT_OK);
  fuzz_check_index(index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input input = {data, size};
  pit_context *context = fuzz_context();
  pit_index_spec spec;
  fuzz_draw_spec(&input, &spec);
  arrays a;
  pit_index_arrays view;
  draw_arrays(&input, context, &spec, &a, &view);
  pit_index index;
  pit_status status = pit_index_import(context, &spec, &view, &index);
  fuzz_check_status(context, status);
  if (status == PIT_OK && !(index.flags & PIT_INDEX_DEVICE)) {
    fuzz_check_index(&index);
    pit_index_arrays exported;
    pit_index_stats stats;
    FUZZ_CHECK(pit_index_export(context, &index, &exported) == PIT_OK);
    FUZZ_CHECK(exported.ids == view.ids && exported.groups == view.groups);
    FUZZ_CHECK(pit_index_statistics(context, &index, &stats) == PIT_OK);
    FUZZ_CHECK(stats.live_fraction >= 0 && stats.live_fraction <= 1);
    const pit_index sound = index;
    check_argument(context, &sound, &index);
    for (int i = 0; i < 2; ++i) {
      change(&input, &index);
      check_argument(context, &sound, &index);
    }
  }
  free(a.counts);
  free(a.offsets);
  free(a.ids);
  free(a.origin);
  free(a.chunks);
  return 0;
}
