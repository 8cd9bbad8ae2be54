//===- Choose.c - Which variant of a program runs -------------------------===//

#include "Choices.h"
#include "Constant.h"
#include "Index/Bitmap.h"

#include <math.h>
#include <string.h>

/// A choice that is being made.
typedef struct choosing {
  pit_frame *frame;
  const pit_variants *variants;
  const pit_cost *costs;
  pit_index_spec specs[PIT_MAX_VARIANTS];
  const pit_bitmap *seen; ///< of the data, by who wrote it, or NULL
  pit_live_fraction live_fractions[PIT_MAX_VARIANTS];
} choosing;

static double cost_of(const choosing *c, int32_t v) {
  const pit_cost *cost = &c->costs[v];
  return pit_is_dense(c->variants, v)
             ? cost->fixed
             : cost->fixed + cost->live * (double)c->live_fractions[v].live +
                   cost->fullest * (double)c->live_fractions[v].max_count;
}

/// The variant of least cost, among the dense ones alone or all; -1: none.
static int32_t cheapest(const choosing *c, bool dense_alone) {
  int32_t best = -1;
  for (int32_t v = 0; v < c->variants->count; ++v)
    if ((pit_is_dense(c->variants, v) || !dense_alone) &&
        !isnan(cost_of(c, v)) && (best < 0 || cost_of(c, v) < cost_of(c, best)))
      best = v;
  return best;
}

/// The variant that wins whatever the data is; -1: that depends on it.
static int32_t decided_before_scan(const choosing *c) {
  if (c->variants->count == 1)
    return isnan(c->costs->fixed) ? -1 : 0;
  // The live fractions are 0 now: this is the least that each can cost, if more
  // micro-tiles do not make it cheaper.
  for (int32_t v = 0; v < c->variants->count; ++v)
    if (!pit_is_dense(c->variants, v) &&
        (c->costs[v].live < 0 || c->costs[v].fullest < 0))
      return -1;
  int32_t best = cheapest(c, /*dense_alone=*/false);
  return best >= 0 && pit_is_dense(c->variants, best) ? best : -1;
}

/// The live fractions of variants, which are those that are not dense.
static pit_status count_variants(choosing *c, pit_index_builder *builder,
                                 const pit_bitmap *bitmap) {
  pit_index_spec specs[PIT_MAX_VARIANTS];
  pit_live_fraction live_fractions[PIT_MAX_VARIANTS];
  int32_t count = 0;
  for (int32_t v = 0; v < c->variants->count; ++v)
    if (!pit_is_dense(c->variants, v))
      specs[count++] = c->specs[v];
  pit_status status =
      pit_count_live_fractions(builder, bitmap, specs, count, live_fractions);
  count = 0;
  for (int32_t v = 0; status == PIT_OK && v < c->variants->count; ++v)
    if (!pit_is_dense(c->variants, v))
      c->live_fractions[v] = live_fractions[count++];
  return status;
}

/// Reads the data, unless its bitmap is there.
static pit_status scan(choosing *c, const pit_selection *selection,
                       pit_place *place, const pit_bitmap **bitmap) {
  pit_index_builder *builder;
  pit_status status = pit_frame_builder(c->frame, place, &builder);
  if (status == PIT_OK && !c->seen)
    status = pit_bitmap_fill(builder, selection->data.rank,
                             selection->data.shape, selection);
  if (status != PIT_OK)
    return status;
  const pit_bitmap *found = c->seen ? c->seen : &builder->bitmap;
  status = count_variants(c, builder, found);
  if (status == PIT_OK)
    *bitmap = found;
  return status;
}

/// How a call came to know the live fractions.
typedef struct scanning {
  bool read; ///< the data
  bool kept; ///< what was found; later calls need not read
} scanning;

enum {
  /// The first word of a layout; none of a packed operand's.
  LIVE_FRACTIONS = -0x636F766572,
  /// This, the data's layout, and the variants' indices.
  MAX_KEY_WORDS = 1 + 2 * PIT_MAX_RANK +
                  PIT_MAX_VARIANTS * (int)(sizeof(pit_build) / sizeof(int64_t))
};

/// As `scan`, where constant memory is scanned once and its live fractions
/// kept. Indices of it are kept by themselves, so later calls need no bitmap.
static pit_status scan_or_find(choosing *c, const pit_selection *selection,
                               pit_place *place, const pit_bitmap **bitmap,
                               scanning *how) {
  int64_t words[MAX_KEY_WORDS];
  const pit_data *data = &selection->data;
  words[0] = LIVE_FRACTIONS;
  int64_t count = pit_append(words, 1, data->shape, data->rank);
  count = pit_append(words, count, data->strides, data->rank);
  size_t bytes = (size_t)c->variants->count * sizeof(pit_build);
  memcpy(words + count, c->variants->variants, bytes);
  count += (int64_t)(bytes / sizeof(*words));
  const pit_kept_key key = {.data = data->data,
                            .bytes = pit_data_span(data),
                            .num_words = count,
                            .words = words};
  pit_kept *kept;
  int32_t state =
      pit_kept_find(c->frame, &key, (int64_t)sizeof(c->live_fractions), &kept);
  how->kept = state != PIT_KEEP_NONE;
  if (state == PIT_KEEP_READY) {
    memcpy(c->live_fractions, kept->memory.data, sizeof(c->live_fractions));
    return PIT_OK;
  }
  how->read = true;
  pit_status status = scan(c, selection, place, bitmap);
  if (status == PIT_OK && state == PIT_KEEP_FILL) {
    memcpy(kept->memory.data, c->live_fractions, sizeof(c->live_fractions));
    pit_kept_publish(c->frame->context, kept);
  }
  return status;
}

/// The record of a choice.
static pit_choice describe(const choosing *c, int32_t v, bool known) {
  const pit_build *variant = &c->variants->variants[v];
  pit_choice choice = {.variants = c->variants->count,
                       .variant = v,
                       .axis = variant->axis,
                       .cost = cost_of(c, v),
                       .live_fraction = -1};
  if (pit_is_dense(c->variants, v))
    return choice;
  memcpy(choice.micro_tile, variant->micro_tile, sizeof(choice.micro_tile));
  if (known)
    choice.live_fraction = c->live_fractions[v].live_fraction;
  return choice;
}

int32_t pit_rt_choose(pit_frame *frame, const pit_variants *variants,
                      const pit_view *data, const pit_cost *costs,
                      pit_place *place, const pit_bitmap **bitmap,
                      int32_t *variant) {
  if (!frame || !bitmap || !variant)
    return PIT_ERROR_INVALID_ARGUMENT;
  const pit_bitmap *seen = variants->flags & PIT_CHOOSE_SEEN ? *bitmap : NULL;
  *bitmap = seen;
  *variant = -1;
  pit_context *context = frame->context;
  if (frame->cuda)
    return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                    "choice: the program runs on a device; what is there is "
                    "not known to the host: pit_rt_choose_on_device");
  choosing c = {
      .frame = frame, .variants = variants, .costs = costs, .seen = seen};
  pit_variants_specs(variants, data->shape, c.specs);
  pit_choice_key key = pit_choice_key_of(frame, variants, data);
  bool deterministic = context->deterministic ||
                       (variants->flags & PIT_CHOOSE_DETERMINISTIC) != 0;
  bool may_skip;
  scanning how = {false, false};
  pit_status status = pit_choices_begin(context, &key, &may_skip);
  if (status != PIT_OK)
    return status;
  *variant = decided_before_scan(&c);
  if (*variant < 0 && may_skip && !deterministic)
    *variant = cheapest(&c, /*dense_alone=*/true);
  if (*variant < 0) {
    pit_selection selection = pit_selection_of(variants->variants, data);
    status = scan_or_find(&c, &selection, place, bitmap, &how);
    if (status != PIT_OK)
      return status;
    *variant = cheapest(&c, /*dense_alone=*/false);
  }
  if (*variant < 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "choice: the costs of all %d variants are NaN",
                    variants->count);
  pit_choice chosen = describe(&c, *variant, how.read || how.kept);
  chosen.scans = how.read;
  pit_choices_end(context, &key, &chosen, how.read && !how.kept);
  return PIT_OK;
}
