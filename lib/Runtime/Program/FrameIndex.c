//===- FrameIndex.c - Indices that a call builds --------------------------===//

#include "Constant.h"
#include "Cuda/CudaContext.h"
#include "Index/Bitmap.h"
#include "Index/CudaIndex.h"
#include "Index/IndexSpec.h"

#include <stdlib.h>
#include <string.h>

pit_index_spec pit_spec_of(const pit_build *build, const int64_t *shape) {
  pit_index_spec spec = {
      .rank = build->rank, .axis = build->axis, .flags = build->flags};
  size_t bytes = (size_t)build->rank * sizeof(*shape);
  memcpy(spec.shape, shape, bytes);
  memcpy(spec.micro_tile, build->micro_tile, bytes);
  memcpy(spec.step, build->step, bytes);
  return spec;
}

pit_selection pit_selection_of(const pit_build *build, const pit_view *data) {
  pit_selection selection = {
      .source = (pit_source)build->source,
      .data = {.data = data->data,
               .dtype = {build->dtype.code, build->dtype.bits},
               .rank = build->data_rank},
      .background = build->background};
  size_t bytes = (size_t)build->data_rank * sizeof(*data->shape);
  memcpy(selection.data.shape, data->shape, bytes);
  memcpy(selection.data.strides, data->strides, bytes);
  return selection;
}

pit_status pit_frame_builder(pit_frame *frame, pit_place *place,
                             pit_index_builder **builder) {
  if (place && place->index > 0) {
    *builder = frame->builders[place->index - 1];
    return PIT_OK;
  }
  int32_t i = frame->builders_used;
  if (i == frame->builders_room) {
    int32_t room = i < 4 ? 4 : i <= INT32_MAX / 2 ? 2 * i : i;
    pit_index_builder **moved = NULL;
    if (room > i)
      moved = realloc(frame->builders, (size_t)room * sizeof(*moved));
    if (!moved)
      return pit_fail(frame->context, PIT_ERROR_OUT_OF_MEMORY,
                      "out of memory for %d indices of one call", i + 1);
    frame->builders = moved;
    frame->builders_room = room;
  }
  if (i == frame->builders_made) {
    pit_status status =
        pit_index_builder_create(frame->context, &frame->builders[i]);
    if (status != PIT_OK)
      return status;
    ++frame->builders_made;
  }
  ++frame->builders_used;
  *builder = frame->builders[i];
  if (place)
    place->index = i + 1;
  return PIT_OK;
}

void pit_frame_observe(pit_context *context, const pit_index *index,
                       const pit_selection *selection) {
  pit_data data = selection->data;
  DLDevice device = {kDLCPU, 0};
  if (index->flags & PIT_INDEX_DEVICE)
    device = (DLDevice){kDLCUDA, context->cuda->ordinal};
  DLTensor tensor = {.device = device,
                     .ndim = data.rank,
                     .dtype = {data.dtype.code, data.dtype.bits, 1},
                     .shape = data.shape,
                     .strides = data.strides};
  // DLPack has no const.
  memcpy(&tensor.data, &data.data, sizeof(tensor.data));
  union {
    uint8_t b8;
    uint16_t b16;
    uint32_t b32;
    uint64_t b64;
  } background = {.b64 = selection->background};
  if (data.dtype.bits == 8)
    background.b8 = (uint8_t)selection->background;
  else if (data.dtype.bits == 16)
    background.b16 = (uint16_t)selection->background;
  else if (data.dtype.bits == 32)
    background.b32 = (uint32_t)selection->background;
  context->observer(context->observer_user, index, selection->source, &tensor,
                    &background);
}

int64_t pit_data_span(const pit_data *data) {
  int64_t elements = 1;
  for (int32_t d = 0; d < data->rank; ++d) {
    int64_t reach;
    if (data->shape[d] == 0 || data->strides[d] < 0 ||
        !pit_mul(data->shape[d] - 1, data->strides[d], &reach) ||
        !pit_add(elements, reach, &elements))
      return 0;
  }
  int64_t bytes;
  return pit_mul(elements, data->dtype.bits / 8, &bytes) ? bytes : 0;
}

/// Words of a key: the build, the data's layout, the shape, and the source that
/// is read.
enum {
  BUILD_WORDS = sizeof(pit_build) / sizeof(int64_t),
  MAX_KEY_WORDS = BUILD_WORDS + 3 * PIT_MAX_RANK + 1
};

/// Finds or builds an index in memory that is kept; NULL: there is none for it.
static pit_status keep_index(pit_frame *frame, const pit_index_spec *spec,
                             const pit_selection *selection,
                             const pit_build *build, int64_t slot,
                             const pit_index **index) {
  int64_t words[MAX_KEY_WORDS];
  memcpy(words, build, sizeof(*build));
  int64_t count = BUILD_WORDS;
  const pit_data *data = &selection->data;
  count = pit_append(words, count, data->shape, data->rank);
  count = pit_append(words, count, data->strides, data->rank);
  count = pit_append(words, count, spec->shape, spec->rank);
  words[count++] = selection->source;
  const pit_kept_key key = {.data = selection->data.data,
                            .bytes = pit_data_span(&selection->data),
                            .index = true,
                            .num_words = count,
                            .words = words};
  pit_kept *kept;
  int32_t state = pit_kept_find(frame, &key, 0, &kept);
  pit_status status = PIT_OK;
  if (state == PIT_KEEP_FILL) {
    status = pit_builder_run(kept->builder, spec, selection, slot, NULL, NULL,
                             &kept->index);
    if (status == PIT_OK)
      pit_kept_publish(frame->context, kept);
  }
  *index = status == PIT_OK && kept ? kept->index : NULL;
  return status;
}

pit_status pit_frame_place_begin(pit_frame *frame, pit_place *place) {
  if (!place)
    return PIT_OK;
  void *memory = NULL;
  pit_status status = PIT_OK;
  if (place->bytes[1] > 0)
    status = pit_rt_realloc(frame, place->bytes[1], 0, place, &memory);
  if (status == PIT_OK)
    pit_cuda_arena_again(frame->cuda->work.arena, memory,
                         memory ? place->bytes[0] : 0);
  return status;
}

void pit_frame_place_end(pit_frame *frame, pit_place *place) {
  if (!place)
    return;
  // A call that comes by without taking anything may take as much again later.
  place->bytes[1] = pit_max(place->bytes[1], frame->cuda->work.arena->taken);
  pit_cuda_arena_again(frame->cuda->work.arena, NULL, 0);
}

/// Runs a build on the device.
static pit_status run_on_device(pit_frame *frame, pit_index_builder *builder,
                                const pit_index_spec *spec,
                                const pit_selection *selection, int64_t slot,
                                pit_place *place, pit_packing *packing,
                                const pit_index **index) {
  pit_status status = pit_frame_place_begin(frame, place);
  if (status != PIT_OK)
    return status;
  status = pit_builder_run(builder, spec, selection, slot, &frame->cuda->work,
                           packing, index);
  pit_frame_place_end(frame, place);
  return status;
}

int32_t pit_frame_next_build(pit_frame *frame, pit_place *place) {
  if (place && place->build)
    return (int32_t)(place->build - 1);
  int32_t slot = frame->builds++;
  if (place)
    place->build = slot + 1;
  return slot;
}

/// Builds an index anew, or in a place of the program that may have built one
/// before; of a bitmap, if there is one. If it does, it packs.
static int32_t build_index(pit_frame *frame, const pit_build *build,
                           const pit_view *data, const int64_t *shape,
                           const pit_bitmap *bitmap, pit_place *place,
                           pit_packing *packing, const pit_index **index) {
  *index = NULL;
  pit_context *context = frame->context;
  pit_index_spec spec = pit_spec_of(build, shape);
  pit_selection selection = pit_selection_of(build, data);
  int32_t source = build->source;
  bool on_device = frame->cuda != NULL;
  if (bitmap &&
      ((bitmap->on_device != 0) != on_device || bitmap->source != source))
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: the bitmap was made of source %d on %s, the index "
                    "is to be of source %d on %s",
                    bitmap->source, bitmap->on_device ? "a device" : "the CPU",
                    source, on_device ? "a device" : "the CPU");
  // A device reads bits by the kernels of masks.
  if (bitmap && on_device)
    selection = pit_selection_of_bitmap(bitmap);
  selection.bitmap = bitmap;
  int32_t slot = pit_frame_next_build(frame, place);
  pit_status status = keep_index(frame, &spec, &selection, build, slot, index);
  if (status == PIT_OK && !*index) {
    pit_index_builder *builder;
    status = pit_frame_builder(frame, place, &builder);
    if (status == PIT_OK)
      status = frame->cuda ? run_on_device(frame, builder, &spec, &selection,
                                           slot, place, packing, index)
                           : pit_builder_run(builder, &spec, &selection, slot,
                                             NULL, NULL, index);
  }
  if (status == PIT_OK && context->observer)
    pit_frame_observe(context, *index, &selection);
  return status;
}

int32_t pit_rt_bitmap(pit_frame *frame, int32_t rank, const int64_t *shape,
                      const void *words, pit_bitmap *bitmap) {
  if (!frame || !bitmap)
    return PIT_ERROR_INVALID_ARGUMENT;
  pit_status status = pit_bitmap_describe(frame->context, rank, shape, bitmap);
  bitmap->words = words;
  bitmap->source = PIT_SOURCE_VALUES;
  bitmap->on_device = frame->cuda != NULL;
  return status;
}

int32_t pit_rt_build(pit_frame *frame, const pit_build *build,
                     const pit_view *data, const int64_t *shape,
                     const pit_bitmap *bitmap, pit_place *place,
                     const pit_index **index) {
  if (!frame || !index)
    return PIT_ERROR_INVALID_ARGUMENT;
  return build_index(frame, build, data, shape, bitmap, place, NULL, index);
}

int32_t pit_rt_build_packed(pit_frame *frame, const pit_build *build,
                            const pit_view *data, pit_packed *packed,
                            pit_place *place, const pit_index **index) {
  if (!frame || !packed || !index)
    return PIT_ERROR_INVALID_ARGUMENT;
  pit_packing packing = {.memory = packed->memory,
                         .rows = packed->rows,
                         .width = build->micro_tile[0]};
  int32_t status = build_index(frame, build, data, data->shape, NULL, place,
                               &packing, index);
  packed->done = packing.done;
  return status;
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

/// Runs the kernels of a transpose.
static pit_status transpose_on_device(pit_frame *frame,
                                      pit_index_builder *builder,
                                      const pit_index *index,
                                      pit_cuda_condition condition,
                                      pit_place *place) {
  pit_status status = pit_frame_place_begin(frame, place);
  if (status != PIT_OK)
    return status;
  status = pit_builder_transpose(builder, index, &frame->cuda->work, condition);
  pit_frame_place_end(frame, place);
  return status;
}

int32_t pit_rt_transpose_index(pit_frame *frame, const pit_index *index,
                               const pit_device_choice *choice, int32_t variant,
                               pit_place *place, const pit_index **transpose) {
  if (!frame || !index || !transpose)
    return PIT_ERROR_INVALID_ARGUMENT;
  *transpose = NULL;
  pit_cuda_condition condition = {0};
  if (choice)
    condition = (pit_cuda_condition){choice->variant, variant};
  pit_index_builder *builder;
  pit_status status = pit_frame_builder(frame, place, &builder);
  if (status != PIT_OK)
    return status;
  if (choice && choice->known >= 0 && choice->known != variant)
    status = pit_builder_transpose_nothing(builder, index);
  else if (frame->cuda)
    status = transpose_on_device(frame, builder, index, condition, place);
  else
    status = pit_builder_transpose(builder, index, NULL, condition);
  if (status == PIT_OK)
    *transpose = &builder->index;
  return status;
}
