//===- IndexBuild.c - Building an index from any source -------------------===//

#include "Bitmap.h"
#include "Cuda/CudaContext.h"
#include "CudaIndex.h"
#include "IndexScan.h"
#include "Sources/Sources.h"

#include <stdlib.h>
#include <string.h>

void pit_builder_init(pit_index_builder *builder, pit_context *context) {
  *builder = (pit_index_builder){.context = context};
}

void pit_builder_release(pit_index_builder *builder) {
  pit_buffer_free(&builder->counts);
  pit_buffer_free(&builder->offsets);
  pit_buffer_free(&builder->ids);
  pit_buffer_free(&builder->origin);
  pit_buffer_free(&builder->chunks);
  pit_buffer_free(&builder->bits);
  pit_buffer_free(&builder->blocks);
  pit_buffer_free(&builder->words);
  pit_buffer_free(&builder->plan);
  pit_buffer_free(&builder->pyramid);
  pit_cuda_arena *const arenas[] = {builder->arena, builder->bitmap_arena,
                                    builder->live_fraction_arena};
  for (size_t i = 0; i < sizeof(arenas) / sizeof(arenas[0]); ++i) {
    if (arenas[i] && pit_cuda_push(builder->context) == PIT_OK) {
      pit_cuda_arena_free(builder->context, arenas[i]);
      pit_cuda_pop(builder->context);
    }
    free(arenas[i]);
  }
}

int64_t pit_builder_shrink(pit_index_builder *builder) {
  pit_buffer_free(&builder->bits);
  pit_buffer_free(&builder->blocks);
  return builder->counts.bytes + builder->offsets.bytes + builder->ids.bytes +
         builder->origin.bytes + builder->chunks.bytes;
}

pit_status pit_index_builder_create(pit_context *context,
                                    pit_index_builder **builder) {
  if (!context || !builder)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index builder: an argument is NULL");
  pit_index_builder *made = malloc(sizeof(*made));
  if (!made)
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for an index builder");
  pit_builder_init(made, context);
  *builder = made;
  return PIT_OK;
}

void pit_index_builder_destroy(pit_index_builder *builder) {
  if (!builder)
    return;
  pit_builder_release(builder);
  free(builder);
}

pit_status pit_index_builder_set_stream(pit_index_builder *builder,
                                        pit_stream stream) {
  if (!builder)
    return PIT_ERROR_INVALID_ARGUMENT;
  builder->stream = stream;
  return PIT_OK;
}

/// Marks the caller's (group, id) pairs.
static pit_status mark_blocks(pit_context *context, const pit_data *data,
                              const pit_index *index, uint64_t *bits) {
  int64_t words = pit_words_per_group(index);
  int64_t extent = index->shape[index->axis];
  for (int64_t i = 0; i < data->shape[0]; ++i) {
    int64_t at = i * data->strides[0];
    int64_t group = pit_data_int(data, at);
    int64_t id = pit_data_int(data, at + data->strides[1]);
    if (group < 0 || group >= index->groups)
      return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "index: block %lld is in group %lld; it must be in "
                      "[0, %lld)",
                      (long long)i, (long long)group, (long long)index->groups);
    if (id < 0 || id >= extent)
      return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "index: block %lld has id %lld; it must be in [0, %lld)",
                      (long long)i, (long long)id, (long long)extent);
    bits[group * words + id / 64] |= UINT64_C(1) << (id % 64);
  }
  return PIT_OK;
}

static bool is_empty(const pit_index *index) {
  for (int32_t d = 0; d < index->rank; ++d)
    if (index->shape[d] == 0)
      return true;
  return false;
}

int32_t pit_scan_threads(const pit_context *context, const pit_rows *rows) {
  int64_t bytes = INT64_C(1) << rows->size_log2;
  for (int32_t d = 0; d < rows->tiling.rank; ++d)
    if (!pit_mul(bytes, rows->tiling.dims[d].extent, &bytes))
      bytes = INT64_MAX;
  if (rows->of_bits)
    bytes /= 8;
  return pit_threads_for(context, bytes);
}

/// Finds the bits of all micro-tiles: writes builder->bits, unless a bitmap has
/// just these. `rows` describes the source unless it is a block list.
static pit_status find_bits(pit_index_builder *builder,
                            const pit_selection *selection,
                            const pit_rows *rows, int32_t threads,
                            const uint64_t **found) {
  pit_context *context = builder->context;
  const pit_index *index = &builder->index;
  if (selection->bitmap && pit_bitmap_is_of_micro_tiles(index)) {
    *found = selection->bitmap->words;
    return PIT_OK;
  }
  int64_t words;
  if (!pit_mul(index->groups, pit_words_per_group(index), &words))
    words = INT64_MAX;
  pit_status status = pit_buffer_reserve(context, &builder->bits, words,
                                         sizeof(uint64_t), "building an index");
  if (status != PIT_OK)
    return status;
  uint64_t *bits = builder->bits.data;
  *found = bits;
  bool blocks = selection->source == PIT_SOURCE_BLOCKS;
  if (words > 0 && (blocks || is_empty(index)))
    memset(bits, 0, (size_t)words * sizeof(*bits));
  else if (words > 0)
    pit_scan(rows, threads, bits);
  return blocks ? mark_blocks(context, &selection->data, index, bits) : PIT_OK;
}

static pit_status record(pit_index_builder *builder, int64_t slot, int64_t ns,
                         const pit_selection *selection, pit_rows *rows) {
  pit_context *context = builder->context;
  const pit_index *index = &builder->index;
  pit_index_stats stats;
  pit_status status = pit_index_statistics(context, index, &stats);
  if (status != PIT_OK)
    return status;
  pit_build_stats built = {.slot = slot,
                           .source = index->source,
                           .axis = index->axis,
                           .groups = index->groups,
                           .micro_tiles = stats.micro_tiles,
                           .live = stats.live,
                           .max_count = index->max_count,
                           .build_ns = ns,
                           .live_fraction = stats.live_fraction,
                           .waste = -1};
  if (atomic_load(&context->stats_mode) == PIT_STATS_WASTE) {
    status = pit_index_measure_waste(
        context, index, selection->source == PIT_SOURCE_BLOCKS ? NULL : rows,
        &built.waste);
    if (status != PIT_OK)
      return status;
  }
  pit_context_record(context, &built);
  return PIT_OK;
}

/// The host's numbers of a build on the device.
static void record_device(pit_context *context, const pit_index *index,
                          int64_t slot) {
  if (atomic_load(&context->stats_mode) == PIT_STATS_OFF)
    return;
  const pit_build_stats built = {.slot = slot,
                                 .source = index->source,
                                 .axis = index->axis,
                                 .groups = index->groups,
                                 .micro_tiles =
                                     index->groups * index->shape[index->axis],
                                 .live = -1,
                                 .max_count = -1,
                                 .build_ns = -1,
                                 .live_fraction = -1,
                                 .waste = -1};
  pit_context_record(context, &built);
}

const pit_index *pit_builder_adopt(pit_index_builder *builder,
                                   const pit_cuda_build *build, int64_t slot) {
  pit_cuda_mirror(build, &builder->index);
  record_device(builder->context, &builder->index, slot);
  return &builder->index;
}

pit_status pit_builder_run(pit_index_builder *builder,
                           const pit_index_spec *spec,
                           const pit_selection *selection, int64_t slot,
                           const pit_cuda_work *work, pit_packing *packing,
                           const pit_index **result) {
  pit_context *context = builder->context;
  pit_index *index = &builder->index;
  bool timed = atomic_load(&context->stats_mode) != PIT_STATS_OFF;
  int64_t start = timed ? pit_now_ns() : 0;
  pit_status status = pit_spec_resolve(context, spec, index);
  if (status != PIT_OK)
    return status;
  index->source = selection->bitmap ? selection->bitmap->source
                                    : (int32_t)selection->source;
  if (work) {
    status = pit_cuda_build_index(work, selection, packing, index);
    if (status != PIT_OK)
      return status;
    record_device(context, index, slot);
    *result = index;
    return PIT_OK;
  }
  pit_rows rows = {0};
  int32_t threads = 1;
  const uint64_t *bits = NULL;
  if (selection->source != PIT_SOURCE_BLOCKS) {
    status = pit_rows_init(context, selection, index, &rows);
    threads = pit_scan_threads(context, &rows);
  } else {
    status = pit_selection_check(context, selection, index);
  }
  // The lists have no gaps, so this is room enough.
  if (status == PIT_OK)
    index->capacity = pit_selection_bound(selection, index);
  if (status == PIT_OK)
    status = find_bits(builder, selection, &rows, threads, &bits);
  bool origin =
      selection->source == PIT_SOURCE_ROUTING && pit_routing_has_origin(index);
  if (status == PIT_OK)
    status = pit_index_compact(builder, bits, origin ? &selection->data : NULL);
  if (status != PIT_OK)
    return status;
  pit_index_seal(index);
  if (timed)
    status = record(builder, slot, pit_now_ns() - start, selection, &rows);
  if (status == PIT_OK)
    *result = index;
  return status;
}

pit_status pit_selection_from_tensor(pit_context *context, pit_source source,
                                     const DLTensor *data,
                                     const void *background,
                                     pit_selection *selection,
                                     bool *on_device) {
  const pit_source_row *row = pit_source_find((int32_t)source);
  if (!row || !row->check)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: source %d (%s); no index is built of it",
                    (int)source, row ? row->name : "there is no such");
  *selection = (pit_selection){.source = source};
  pit_status status = pit_data_from_tensor(context, "index: data", data,
                                           &selection->data, on_device);
  // The element's bits are the low bits, whatever the order of bytes.
  if (status == PIT_OK && background)
    switch (selection->data.dtype.bits) {
    case 8:
      selection->background = *(const uint8_t *)background;
      break;
    case 16: {
      uint16_t bits;
      memcpy(&bits, background, sizeof(bits));
      selection->background = bits;
      break;
    }
    case 32: {
      uint32_t bits;
      memcpy(&bits, background, sizeof(bits));
      selection->background = bits;
      break;
    }
    default:
      memcpy(&selection->background, background, sizeof(uint64_t));
      break;
    }
  return status;
}

pit_status pit_builder_begin_work(pit_index_builder *builder,
                                  pit_cuda_arena **arena, pit_cuda_work *work) {
  pit_context *context = builder->context;
  if (!*arena)
    *arena = calloc(1, sizeof(**arena));
  if (!*arena)
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for an index builder");
  pit_status status = pit_cuda_push(context);
  if (status != PIT_OK)
    return status;
  pit_cuda_arena_reset(*arena);
  *work = (pit_cuda_work){context, builder->stream, *arena};
  return PIT_OK;
}

pit_status pit_builder_run_on_device(pit_index_builder *builder,
                                     const pit_index_spec *spec,
                                     const pit_selection *selection,
                                     const pit_index **index) {
  pit_cuda_work work;
  pit_status status = pit_builder_begin_work(builder, &builder->arena, &work);
  if (status != PIT_OK)
    return status;
  status = pit_builder_run(builder, spec, selection, -1, &work, NULL, index);
  pit_cuda_pop(builder->context);
  return status;
}

pit_status pit_index_build(pit_index_builder *builder,
                           const pit_index_spec *spec, pit_source source,
                           const DLTensor *data, const void *background,
                           const pit_index **index) {
  if (!builder)
    return PIT_ERROR_INVALID_ARGUMENT;
  if (!index)
    return pit_fail(builder->context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: the place for the result is NULL");
  *index = NULL;
  pit_selection selection;
  bool on_device = false;
  pit_status status = pit_selection_from_tensor(
      builder->context, source, data, background, &selection, &on_device);
  if (status != PIT_OK)
    return status;
  return on_device ? pit_builder_run_on_device(builder, spec, &selection, index)
                   : pit_builder_run(builder, spec, &selection, -1, NULL, NULL,
                                     index);
}
