//===- Choose.c - Which variant of a program runs -------------------------===//

#include "Choices.h"
#include "Constant.h"
#include "Index/Bitmap.h"

#include <math.h>
#include <string.h>

enum { COSTS = 3 }; ///< numbers of a variant

/// A choice that is being made.
typedef struct choosing {
  pit_frame *frame;
  pit_variants variants;
  const double *costs;
  const pit_bitmap *seen; ///< of the data, by who wrote it, or NULL
  pit_coverage coverages[PIT_MAX_VARIANTS];
} choosing;

static double cost_of(const choosing *c, int32_t v) {
  const double *cost = c->costs + (ptrdiff_t)COSTS * v;
  return c->variants.dense[v]
             ? cost[0]
             : cost[0] + cost[1] * (double)c->coverages[v].live +
                   cost[2] * (double)c->coverages[v].max_count;
}

/// The variant of least cost, among the dense ones alone or all; -1: none.
static int32_t cheapest(const choosing *c, bool dense_alone) {
  int32_t best = -1;
  for (int32_t v = 0; v < c->variants.count; ++v)
    if ((c->variants.dense[v] || !dense_alone) && !isnan(cost_of(c, v)) &&
        (best < 0 || cost_of(c, v) < cost_of(c, best)))
      best = v;
  return best;
}

/// The variant that wins whatever the data is; -1: that depends on it.
static int32_t foregone(const choosing *c) {
  if (c->variants.count == 1)
    return isnan(c->costs[0]) ? -1 : 0;
  // The coverages are 0 now: this is the least that each can cost, if more
  // micro-tiles do not make it cheaper.
  for (int32_t v = 0; v < c->variants.count; ++v) {
    const double *cost = c->costs + (ptrdiff_t)COSTS * v;
    if (!c->variants.dense[v] && (cost[1] < 0 || cost[2] < 0))
      return -1;
  }
  int32_t best = cheapest(c, /*dense_alone=*/false);
  return best >= 0 && c->variants.dense[best] ? best : -1;
}

/// The coverages of variants, which are those that are not dense.
static pit_status count_variants(choosing *c, pit_index_builder *builder,
                                 const pit_bitmap *bitmap) {
  pit_index_spec specs[PIT_MAX_VARIANTS];
  pit_coverage coverages[PIT_MAX_VARIANTS];
  int32_t count = 0;
  for (int32_t v = 0; v < c->variants.count; ++v)
    if (!c->variants.dense[v])
      specs[count++] = c->variants.specs[v];
  pit_status status =
      pit_coverage_count(builder, bitmap, specs, count, coverages);
  count = 0;
  for (int32_t v = 0; status == PIT_OK && v < c->variants.count; ++v)
    if (!c->variants.dense[v])
      c->coverages[v] = coverages[count++];
  return status;
}

/// Reads the data, unless its bitmap is there.
static pit_status look(choosing *c, const pit_index_spec *shape,
                       const pit_selection *selection, pit_place *place,
                       const pit_bitmap **bitmap) {
  pit_index_builder *builder;
  pit_status status = pit_frame_builder(c->frame, place, &builder);
  if (status == PIT_OK && !c->seen)
    status = pit_bitmap_fill(builder, shape->rank, shape->shape, selection);
  if (status != PIT_OK)
    return status;
  const pit_bitmap *found = c->seen ? c->seen : &builder->bitmap;
  status = count_variants(c, builder, found);
  if (status == PIT_OK)
    *bitmap = found;
  return status;
}

/// How a call came to know the coverages.
typedef struct looking {
  bool read; ///< the data
  bool kept; ///< what was found; later calls need not read
} looking;

enum {
  /// The first word of a layout; none of a packed operand's.
  COVERAGES = -0x636F766572,
  /// This, words of a description up to the data's strides, of the shape, the
  /// source and a table.
  MAX_KEY_WORDS = 1 + 5 + 3 * PIT_MAX_RANK + 2 + 1 +
                  PIT_MAX_VARIANTS * (1 + 2 * PIT_MAX_RANK)
};

/// As `look`, where constant memory is looked at once and its coverages kept.
/// Indices of it are kept by themselves, so later calls need no bitmap.
static pit_status look_or_find(choosing *c, const pit_index_spec *shape,
                               const pit_selection *selection,
                               const int64_t *desc, const int64_t *variants,
                               pit_place *place, const pit_bitmap **bitmap,
                               looking *how) {
  int64_t words[MAX_KEY_WORDS] = {COVERAGES};
  int64_t count = 1, data_words = 5 + 2 * (int64_t)selection->data.rank;
  memcpy(words + count, desc, (size_t)data_words * sizeof(*words));
  count += data_words;
  words[count++] = shape->rank;
  for (int32_t d = 0; d < shape->rank; ++d)
    words[count++] = shape->shape[d];
  words[count++] = selection->source;
  memcpy(words + count, variants, (size_t)c->variants.words * sizeof(*words));
  const pit_kept_key key = {.data = selection->data.data,
                            .bytes = pit_data_span(&selection->data),
                            .num_words = count + c->variants.words,
                            .words = words};
  pit_kept *kept;
  int32_t state =
      pit_kept_find(c->frame, &key, (int64_t)sizeof(c->coverages), &kept);
  how->kept = state != PIT_KEEP_NONE;
  if (state == PIT_KEEP_READY) {
    memcpy(c->coverages, kept->memory.data, sizeof(c->coverages));
    return PIT_OK;
  }
  how->read = true;
  pit_status status = look(c, shape, selection, place, bitmap);
  if (status == PIT_OK && state == PIT_KEEP_FILL) {
    memcpy(kept->memory.data, c->coverages, sizeof(c->coverages));
    pit_kept_publish(c->frame->context, kept);
  }
  return status;
}

/// The record of a choice.
static pit_choice describe(const choosing *c, int32_t v, bool known) {
  pit_choice choice = {.variants = c->variants.count,
                       .variant = v,
                       .axis = c->variants.dense[v] ? PIT_VARIANT_DENSE
                                                    : c->variants.specs[v].axis,
                       .cost = cost_of(c, v),
                       .coverage = -1};
  if (c->variants.dense[v])
    return choice;
  memcpy(choice.micro_tile, c->variants.specs[v].micro_tile,
         sizeof(choice.micro_tile));
  if (known)
    choice.coverage = c->coverages[v].coverage;
  return choice;
}

static pit_status choose(choosing *c, const pit_choice_key *key,
                         const pit_index_spec *shape,
                         const pit_selection *selection, const int64_t *desc,
                         const int64_t *variants, bool deterministic,
                         pit_place *place, const pit_bitmap **bitmap,
                         int32_t *variant) {
  pit_context *context = c->frame->context;
  bool may_skip;
  looking how = {false, false};
  pit_status status = pit_choices_begin(context, key, &may_skip);
  if (status != PIT_OK)
    return status;
  *variant = foregone(c);
  if (*variant < 0 && may_skip && !deterministic)
    *variant = cheapest(c, /*dense_alone=*/true);
  if (*variant < 0) {
    status =
        look_or_find(c, shape, selection, desc, variants, place, bitmap, &how);
    if (status != PIT_OK)
      return status;
    *variant = cheapest(c, /*dense_alone=*/false);
  }
  if (*variant < 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "choice: the costs of all %d variants are NaN",
                    c->variants.count);
  pit_choice chosen = describe(c, *variant, how.read || how.kept);
  chosen.looks = how.read;
  pit_choices_end(context, key, &chosen, how.read && !how.kept);
  return PIT_OK;
}

int32_t pit_rt_choose(pit_frame *frame, int32_t mark, int32_t flags,
                      int32_t source, const void *data, const int64_t *desc,
                      const int64_t *variants, const double *costs,
                      pit_place *place, const pit_bitmap **bitmap,
                      int32_t *variant) {
  if (!frame || !variants || !costs || !bitmap || !variant)
    return PIT_ERROR_INVALID_ARGUMENT;
  const pit_bitmap *seen = flags & PIT_CHOOSE_SEEN ? *bitmap : NULL;
  *bitmap = seen;
  *variant = -1;
  pit_context *context = frame->context;
  if (frame->cuda)
    return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                    "choice: the program runs on a device; what is there is "
                    "not known to the host: pit_rt_choose_on_device");
  pit_index_spec shape;
  pit_selection selection;
  pit_status status =
      pit_frame_read_build(frame, source, data, desc, &shape, &selection);
  choosing c = {.frame = frame, .costs = costs, .seen = seen};
  if (status == PIT_OK)
    status = pit_variants_read(context, &shape, variants, &c.variants);
  if (status != PIT_OK)
    return status;
  pit_choice_key key =
      pit_choice_key_of(frame, mark, data, &shape, variants, &c.variants);
  bool deterministic =
      context->deterministic || (flags & PIT_CHOOSE_DETERMINISTIC) != 0;
  return choose(&c, &key, &shape, &selection, desc, variants, deterministic,
                place, bitmap, variant);
}
