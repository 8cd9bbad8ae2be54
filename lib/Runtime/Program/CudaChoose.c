//===- CudaChoose.c - A device chooses the variant of a program -----------===//
//
// The host does not know what a device has computed, and does not wait for it.
// So it starts the kernels of all variants, and all but those of the chosen one
// leave at once: a word in device memory says which that is
// (Index/CudaChooseScan.c).
//
//===----------------------------------------------------------------------===//

#include "Choices.h"
#include "Cuda/CudaContext.h"
#include "Frame.h"
#include "Index/Bitmap.h"
#include "Index/CudaChooseScan.h"
#include "Index/IndexSpec.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1024 }; ///< choices that are told apart

/// The records of choices. Two of them may have the same slot: that costs a
/// scan too many or too few.
struct pit_cuda_memory {
  CUdeviceptr slots;
  pit_scan_report *report; ///< memory that the device writes; NULL: it cannot
  // Under the lock:
  int32_t seen[SLOTS];    ///< scans that the host has polled
  int32_t elapsed[SLOTS]; ///< calls that the device has not been told of
};

struct pit_cuda_choice {
  pit_device_choice shown;
  const pit_variants *variants;
  pit_index_spec specs[PIT_MAX_VARIANTS]; ///< of those that are not dense
  pit_selection selection;
  CUdeviceptr state; ///< 0: the device was not asked yet
  pit_cuda_variant decided[PIT_MAX_VARIANTS];
};

void pit_cuda_frame_choices_free(pit_context *context, pit_cuda_frame *frame) {
  for (int32_t i = 0; i < frame->choices_made; ++i) {
    if (frame->choices[i]->state)
      (void)context->cuda->driver.MemFree(frame->choices[i]->state);
    free(frame->choices[i]);
  }
  free(frame->choices);
}

void pit_cuda_choices_free(pit_context *context) {
  struct pit_cuda_memory *memory = context->cuda->choices;
  if (!memory)
    return;
  (void)context->cuda->driver.MemFree(memory->slots);
  if (memory->report)
    (void)context->cuda->driver.MemHostUnregister(memory->report);
  free(memory->report);
  free(memory);
  context->cuda->choices = NULL;
}

/// Memory of the host that the device can write; NULL if there is none, which
/// costs time and nothing else.
static pit_scan_report *make_report(pit_context *context) {
  enum { PAGE = 4096, PORTABLE_AND_MAPPED = 3 };
  size_t bytes = sizeof(pit_scan_report) * SLOTS;
  void *memory = aligned_alloc(PAGE, bytes);
  if (!memory)
    return NULL;
  memset(memory, 0, bytes);
  int mode = pit_cuda_relax(context);
  CUresult result =
      context->cuda->driver.MemHostRegister(memory, bytes, PORTABLE_AND_MAPPED);
  pit_cuda_restore(context, mode);
  if (result == CUDA_SUCCESS)
    return memory;
  free(memory);
  return NULL;
}

static pit_status make_memory(pit_context *context) {
  struct pit_cuda_memory *memory = calloc(1, sizeof(*memory));
  if (!memory)
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for the choices of programs");
  pit_status status = pit_cuda_make_zeros(
      context, SLOTS * sizeof(pit_choice_slot) / sizeof(uint32_t),
      &memory->slots);
  if (status != PIT_OK) {
    free(memory);
    return status;
  }
  memory->report = make_report(context);
  context->cuda->choices = memory;
  return PIT_OK;
}

/// The next choice of a call, or the one that a place made before.
static pit_status get_choice(pit_frame *frame, pit_place *place,
                             struct pit_cuda_choice **choice) {
  pit_cuda_frame *cuda = frame->cuda;
  if (place && place->index > 0) {
    *choice = cuda->choices[place->index - 1];
    return PIT_OK;
  }
  int32_t i = cuda->choices_used;
  if (i == cuda->choices_room) {
    int32_t room = i ? 2 * i : 4;
    struct pit_cuda_choice **moved =
        realloc(cuda->choices, (size_t)room * sizeof(*moved));
    if (moved) {
      cuda->choices = moved;
      cuda->choices_room = room;
    }
  }
  if (i < cuda->choices_room && i == cuda->choices_made) {
    cuda->choices[i] = calloc(1, sizeof(**cuda->choices));
    cuda->choices_made += cuda->choices[i] != NULL;
  }
  if (i >= cuda->choices_made)
    return pit_fail(frame->context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for %d choices of one call", i + 1);
  *choice = cuda->choices[cuda->choices_used++];
  if (place)
    place->index = i + 1;
  return PIT_OK;
}

/// The choice of this call at that address; NULL: there is none.
static struct pit_cuda_choice *find_choice(const pit_frame *frame,
                                           const pit_device_choice *shown) {
  for (int32_t i = frame->cuda ? frame->cuda->choices_used : 0; i-- > 0;)
    if (&frame->cuda->choices[i]->shown == shown)
      return frame->cuda->choices[i];
  return NULL;
}

/// Is the dense variant the cheapest, however few micro-tiles are live?
static bool dense_always_wins(const pit_variants *variants,
                              const pit_cost *costs) {
  for (int32_t v = 1; v < variants->count; ++v)
    if (!(costs[v].fixed >= costs[0].fixed &&
          (pit_is_dense(variants, v) || costs[v].live >= 0)))
      return false;
  return true;
}

static pit_status check_costs(pit_context *context,
                              const pit_variants *variants,
                              const pit_cost *costs) {
  if (!pit_is_dense(variants, 0))
    return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                    "choice: variant 0 has an index; on a device it must be "
                    "the dense one");
  for (int32_t v = 0; v < variants->count; ++v)
    if (costs[v].fullest != 0)
      return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                      "choice: variant %d costs %g for each micro-tile of the "
                      "fullest group; on a device that must be 0",
                      v, costs[v].fullest);
  return PIT_OK;
}

/// The record of variant v; `live` is -1 if nobody has counted.
static pit_choice describe(pit_context *context,
                           const struct pit_cuda_choice *made,
                           const pit_cost *costs, int32_t v, int64_t live) {
  const pit_variants *variants = made->variants;
  pit_choice choice = {.variants = variants->count,
                       .variant = v,
                       .axis = PIT_VARIANT_DENSE,
                       .cost = costs[v].fixed,
                       .live_fraction = -1};
  pit_index resolved;
  if (pit_is_dense(variants, v) || live < 0 ||
      pit_spec_resolve(context, &made->specs[v], &resolved) != PIT_OK)
    return choice;
  double tiles =
      (double)resolved.groups * (double)resolved.shape[resolved.axis];
  choice.axis = resolved.axis;
  memcpy(choice.micro_tile, made->specs[v].micro_tile,
         sizeof(choice.micro_tile));
  choice.cost += costs[v].live * (double)live;
  choice.live_fraction = tiles > 0 ? (double)live / tiles : 0;
  return choice;
}

/// Records what the host reads in the report of the latest scan, if that is
/// new.
static void poll(pit_context *context, const pit_choice_key *key,
                 const struct pit_cuda_choice *choice, const pit_cost *costs,
                 int64_t slot) {
  struct pit_cuda_memory *memory = context->cuda->choices;
  if (!memory->report)
    return;
  const pit_scan_report *told = &memory->report[slot];
  int32_t scans = __atomic_load_n(&told->scans, __ATOMIC_SEQ_CST);
  pthread_mutex_lock(&context->lock);
  int32_t new_scans = scans - memory->seen[slot];
  memory->seen[slot] = scans;
  pthread_mutex_unlock(&context->lock);
  int32_t v = __atomic_load_n(&told->variant, __ATOMIC_SEQ_CST);
  if (new_scans == 0 || v < 0 || v >= choice->variants->count)
    return;
  pit_choice chosen = describe(context, choice, costs, v,
                               __atomic_load_n(&told->live, __ATOMIC_SEQ_CST));
  chosen.scans = new_scans;
  pit_choices_end(context, key, &chosen, /*back_off=*/true);
}

/// Is an index of `spec` one of `variant`?
static bool is_of(const pit_index_spec *spec, const pit_index_spec *variant) {
  size_t bytes = (size_t)spec->rank * sizeof(int64_t);
  return spec->rank == variant->rank && spec->axis == variant->axis &&
         memcmp(spec->shape, variant->shape, bytes) == 0 &&
         memcmp(spec->micro_tile, variant->micro_tile, bytes) == 0 &&
         memcmp(spec->step, variant->step, bytes) == 0;
}

/// The number of the variant with such an index; the number of all variants if
/// there is none.
static int32_t find_variant(const struct pit_cuda_choice *choice,
                            const pit_index_spec *spec) {
  int32_t v = 0;
  while (v < choice->variants->count &&
         (pit_is_dense(choice->variants, v) || !is_of(spec, &choice->specs[v])))
    ++v;
  return v;
}

/// Does the scan of `seen` find what all variants of `choice` need?
static bool serves(const struct pit_cuda_choice *seen,
                   const struct pit_cuda_choice *choice) {
  for (int32_t v = 0; v < choice->variants->count; ++v)
    if (!pit_is_dense(choice->variants, v) &&
        find_variant(seen, &choice->specs[v]) == seen->variants->count)
      return false;
  const pit_data *a = &seen->selection.data, *b = &choice->selection.data;
  return a->data == b->data && a->rank == b->rank &&
         memcmp(a->strides, b->strides,
                (size_t)a->rank * sizeof(*a->strides)) == 0 &&
         seen->selection.source == choice->selection.source;
}

/// Takes the indices of all variants, and what is found for them, from a choice
/// that serves this one.
static void take_variants(struct pit_cuda_choice *choice,
                          const struct pit_cuda_choice *seen,
                          const pit_cost *costs) {
  for (int32_t v = 0; v < choice->variants->count; ++v) {
    pit_cuda_variant *variant = &choice->decided[v];
    *variant = (pit_cuda_variant){.dense = true};
    if (!pit_is_dense(choice->variants, v)) {
      int32_t same = find_variant(seen, &choice->specs[v]);
      *variant = seen->decided[same];
      variant->same = same;
    }
    variant->fixed = costs[v].fixed;
    variant->live = costs[v].live;
  }
}

/// Begins the indices of all variants.
static pit_status begin_variants(pit_frame *frame,
                                 struct pit_cuda_choice *choice,
                                 const pit_cost *costs) {
  for (int32_t v = 0; v < choice->variants->count; ++v) {
    pit_cuda_variant *variant = &choice->decided[v];
    variant->dense = pit_is_dense(choice->variants, v);
    variant->fixed = costs[v].fixed;
    variant->live = costs[v].live;
    if (variant->dense)
      continue;
    pit_index resolved;
    pit_status status =
        pit_spec_resolve(frame->context, &choice->specs[v], &resolved);
    resolved.source = (int32_t)choice->selection.source;
    if (status == PIT_OK)
      status = pit_cuda_begin_build(&frame->cuda->work, &choice->selection,
                                    &resolved, &variant->build);
    if (status != PIT_OK)
      return status;
  }
  return PIT_OK;
}

/// The choices of a call that bear on another one; NULL: there is none.
typedef struct others {
  const pit_device_choice *after;
  const struct pit_cuda_choice *seen; ///< by the same data
} others;

/// Lets the device choose, after `elapsed` calls that it has not been told of.
static pit_status ask_device(pit_frame *frame, struct pit_cuda_choice *choice,
                             others others, const pit_cost *costs, int64_t slot,
                             int32_t elapsed) {
  const struct pit_cuda_memory *memory = frame->context->cuda->choices;
  pit_status status = pit_cuda_check_code(frame->context);
  if (status == PIT_OK && !choice->state)
    status = pit_cuda_make_zeros(frame->context,
                                 sizeof(pit_choice_state) / sizeof(uint32_t),
                                 &choice->state);
  if (status == PIT_OK && others.seen)
    take_variants(choice, others.seen, costs);
  else if (status == PIT_OK)
    status = begin_variants(frame, choice, costs);
  if (status != PIT_OK)
    return status;
  uintptr_t address =
      memory->slots + (CUdeviceptr)slot * sizeof(pit_choice_slot);
  pit_cuda_decision decision = {.report = memory->report ? memory->report + slot
                                                         : NULL,
                                .elapsed = elapsed};
  memcpy(&decision.slot, &address, sizeof(address));
  address = choice->state;
  memcpy(&decision.state, &address, sizeof(address));
  if (others.after)
    memcpy(&decision.after, &others.after->variant, sizeof(decision.after));
  if (others.seen) {
    address = others.seen->state;
    memcpy(&decision.seen, &address, sizeof(address));
  }
  choice->shown = (pit_device_choice){&decision.state->variant, -1};
  return pit_cuda_choose_scan(&frame->cuda->work, choice->decided,
                              choice->variants->count, &decision);
}

/// Counts a call that the device does not hear of; else how many there were,
/// which it then has heard of.
static int32_t count_elapsed(pit_context *context, int64_t slot, bool skips) {
  int32_t *elapsed = &context->cuda->choices->elapsed[slot];
  pthread_mutex_lock(&context->lock);
  int32_t before = *elapsed;
  *elapsed = skips ? before + (before < INT32_MAX) : 0;
  pthread_mutex_unlock(&context->lock);
  return before;
}

static pit_status choose(pit_frame *frame, const pit_choice_key *key,
                         struct pit_cuda_choice *choice, others others,
                         const pit_cost *costs, bool deterministic) {
  pit_context *context = frame->context;
  choice->shown = (pit_device_choice){NULL, 0};
  // Not the context's lock, which an error's message takes.
  pthread_mutex_lock(&context->cuda->lock);
  pit_status status = context->cuda->choices ? PIT_OK : make_memory(context);
  pthread_mutex_unlock(&context->cuda->lock);
  int64_t slot = (int64_t)(pit_choice_key_hash(key) % SLOTS);
  bool may_skip = false;
  if (status == PIT_OK) {
    poll(context, key, choice, costs, slot);
    status = pit_choices_begin(context, key, &may_skip);
  }
  if (status != PIT_OK)
    return status;
  // A graph could not use later what the host knows now.
  bool captured = frame->cuda->capture != NULL;
  // Nor whether it is this choice's turn, if the device chooses before.
  if (others.after && others.after->known == 0)
    others.after = NULL;
  // The other choice may scan less often than this one is due: if the host did
  // not ask for it, this one scans itself, and in a graph it always does.
  if (others.seen &&
      (captured || others.after || others.seen->shown.known >= 0 ||
       !serves(others.seen, choice)))
    others.seen = NULL;
  if (!others.after && (dense_always_wins(choice->variants, costs) ||
                        (may_skip && !deterministic && !captured))) {
    pit_choice dense = describe(context, choice, costs, 0, -1);
    pit_choices_end(context, key, &dense, /*back_off=*/false);
    (void)count_elapsed(context, slot, /*skips=*/true);
    return PIT_OK;
  }
  // A graph runs more than once, and other calls between.
  int32_t elapsed = deterministic ? INT32_MAX
                    : captured    ? 0
                                  : count_elapsed(context, slot, false);
  return ask_device(frame, choice, others, costs, slot, elapsed);
}

/// Has a choice read a bitmap in place of the data.
static pit_status take_bitmap(pit_context *context, const pit_bitmap *bitmap,
                              pit_selection *selection) {
  const pit_data *data = &selection->data;
  int32_t source = (int32_t)selection->source;
  if (!bitmap->on_device || bitmap->source != source ||
      bitmap->rank != data->rank ||
      memcmp(bitmap->shape, data->shape,
             (size_t)data->rank * sizeof(*data->shape)) != 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "choice: the bitmap is not one on a device, of source %d "
                    "and of the data's shape",
                    source);
  *selection = pit_selection_of_bitmap(bitmap);
  return PIT_OK;
}

int32_t pit_rt_choose_on_device(pit_frame *frame, const pit_variants *variants,
                                const pit_view *data, const pit_cost *costs,
                                const pit_choice_facts *facts, pit_place *place,
                                const pit_device_choice **result) {
  if (!frame || !result)
    return PIT_ERROR_INVALID_ARGUMENT;
  *result = NULL;
  pit_context *context = frame->context;
  if (!frame->cuda)
    return pit_fail(context, PIT_ERROR_DEVICE,
                    "choice: a variant was to be chosen on a device, but the "
                    "program runs on the CPU");
  struct pit_cuda_choice *choice = NULL;
  pit_status status = get_choice(frame, place, &choice);
  if (status != PIT_OK)
    return status;
  choice->variants = variants;
  pit_variants_specs(variants, data->shape, choice->specs);
  choice->selection = pit_selection_of(variants->variants, data);
  pit_source source = choice->selection.source;
  if (source != PIT_SOURCE_VALUES && source != PIT_SOURCE_MASK)
    status = pit_fail(context, PIT_ERROR_UNSUPPORTED,
                      "choice: source %d; a device chooses by values (%d) or "
                      "by a mask (%d)",
                      (int)source, PIT_SOURCE_VALUES, PIT_SOURCE_MASK);
  const pit_choice_facts none = {0};
  facts = facts ? facts : &none;
  if (status == PIT_OK && facts->bitmap)
    status = take_bitmap(context, facts->bitmap, &choice->selection);
  if (status == PIT_OK)
    status = check_costs(context, variants, costs);
  if (status != PIT_OK)
    return status;
  pit_choice_key key = pit_choice_key_of(frame, variants, data);
  status = pit_frame_place_begin(frame, place);
  if (status != PIT_OK)
    return status;
  const others others = {facts->after,
                         facts->seen ? find_choice(frame, facts->seen) : NULL};
  bool deterministic = context->deterministic ||
                       (variants->flags & PIT_CHOOSE_DETERMINISTIC) != 0;
  status = choose(frame, &key, choice, others, costs, deterministic);
  pit_frame_place_end(frame, place);
  if (status == PIT_OK)
    *result = &choice->shown;
  return status;
}

/// The index of variant v. It is empty if the host knows the variant, which
/// then is the dense one.
static pit_status get_index(pit_frame *frame, pit_index_builder *builder,
                            const struct pit_cuda_choice *choice, int32_t v,
                            pit_place *place, const pit_index **index) {
  int32_t slot = pit_frame_next_build(frame, place);
  if (choice->shown.known < 0) {
    *index = pit_builder_adopt(builder, &choice->decided[v].build, slot);
    return PIT_OK;
  }
  pit_status status =
      pit_spec_resolve(frame->context, &choice->specs[v], &builder->index);
  builder->index.flags |= PIT_INDEX_DEVICE;
  *index = &builder->index;
  return status;
}

int32_t pit_rt_build_if_chosen(pit_frame *frame, const pit_build *build,
                               const pit_view *data, const int64_t *shape,
                               const pit_device_choice *shown, pit_place *place,
                               const pit_index **index) {
  if (!frame || !index)
    return PIT_ERROR_INVALID_ARGUMENT;
  *index = NULL;
  pit_context *context = frame->context;
  struct pit_cuda_choice *choice = find_choice(frame, shown);
  if (!choice)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: this call has made no such choice on a device");
  pit_index_spec spec = pit_spec_of(build, shape);
  int32_t v = find_variant(choice, &spec);
  if (v == choice->variants->count)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: none of the %d variants of the choice has an index "
                    "of these micro-tiles along axis %d",
                    v, spec.axis);
  pit_index_builder *builder = NULL;
  pit_status status = pit_frame_builder(frame, place, &builder);
  if (status == PIT_OK)
    status = get_index(frame, builder, choice, v, place, index);
  if (status == PIT_OK && shown->known < 0 && context->observer) {
    pit_selection selection = pit_selection_of(build, data);
    pit_frame_observe(context, *index, &selection);
  }
  return status;
}
