//===- Choices.c - What calls chose before --------------------------------===//

#include "Choices.h"
#include "Frame.h"

#include <stdlib.h>
#include <string.h>

enum {
  SETS = 64,
  WAYS = 8,     ///< places for the choices of one hash
  MAX_SKIP = 64 ///< calls without a scan
};

typedef struct remembered {
  pit_choice_key key;
  int64_t used; ///< when; 0: this place is free
  int32_t skip; ///< calls that need no scan
  int32_t next; ///< how many it will be after the next scan that ends dense
  pit_choice choice;
} remembered;

struct pit_choices {
  int64_t clock;
  remembered sets[SETS][WAYS];
};

static uint64_t hash_words(uint64_t hash, const int64_t *words, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    hash = (hash ^ (uint64_t)words[i]) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 32;
  }
  return hash;
}

void pit_variants_specs(const pit_variants *variants, const int64_t *shape,
                        pit_index_spec *specs) {
  for (int32_t v = 0; v < variants->count; ++v)
    if (!pit_is_dense(variants, v))
      specs[v] = pit_spec_of(&variants->variants[v], shape);
}

pit_choice_key pit_choice_key_of(const pit_frame *frame,
                                 const pit_variants *variants,
                                 const pit_view *value) {
  int32_t rank = variants->variants[0].rank;
  pit_choice_key key = {.manifest = frame->manifest,
                        .site = pit_frame_site(frame, value->data),
                        .variants = variants->identity,
                        .mark = variants->mark,
                        .rank = rank};
  memcpy(key.shape, value->shape, (size_t)rank * sizeof(*key.shape));
  return key;
}

uint64_t pit_choice_key_hash(const pit_choice_key *key) {
  uint64_t hash = hash_words(key->variants, key->shape, key->rank);
  const int64_t rest[] = {(int64_t)(intptr_t)key->manifest,
                          (int64_t)(intptr_t)key->site, key->mark};
  return hash_words(hash, rest, 3);
}

static bool is_same(const pit_choice_key *a, const pit_choice_key *b) {
  return a->manifest == b->manifest && a->site == b->site &&
         a->variants == b->variants && a->mark == b->mark &&
         a->rank == b->rank &&
         memcmp(a->shape, b->shape, sizeof(a->shape)) == 0;
}

/// The slot of a choice that is remembered, or will be: then `used` is 0. Under
/// the lock.
static remembered *find(struct pit_choices *choices,
                        const pit_choice_key *key) {
  remembered *set = choices->sets[pit_choice_key_hash(key) % SETS];
  remembered *oldest = set;
  for (int i = 0; i < WAYS; ++i) {
    if (set[i].used && is_same(&set[i].key, key))
      return &set[i];
    if (set[i].used < oldest->used)
      oldest = &set[i];
  }
  *oldest = (remembered){.key = *key, .next = 1};
  oldest->choice.mark = key->mark;
  oldest->choice.rank = key->rank;
  memcpy(oldest->choice.shape, key->shape, sizeof(key->shape));
  oldest->choice.variant = -1;
  return oldest;
}

pit_status pit_choices_begin(pit_context *context, const pit_choice_key *key,
                             bool *may_skip) {
  *may_skip = false;
  pthread_mutex_lock(&context->lock);
  if (!context->choices)
    context->choices = calloc(1, sizeof(*context->choices));
  struct pit_choices *choices = context->choices;
  if (choices) {
    remembered *at = find(choices, key);
    at->used = ++choices->clock;
    ++at->choice.calls;
    *may_skip = at->skip > 0;
    if (at->skip > 0)
      --at->skip;
  }
  pthread_mutex_unlock(&context->lock);
  return choices ? PIT_OK
                 : pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                            "out of memory for the choices of programs");
}

void pit_choices_end(pit_context *context, const pit_choice_key *key,
                     const pit_choice *chosen, bool back_off) {
  pthread_mutex_lock(&context->lock);
  // Other calls may have taken the place meanwhile: then it begins anew.
  remembered *at = find(context->choices, key);
  at->used = ++context->choices->clock;
  pit_choice *choice = &at->choice;
  choice->variants = chosen->variants;
  choice->variant = chosen->variant;
  choice->axis = chosen->axis;
  memcpy(choice->micro_tile, chosen->micro_tile, sizeof(choice->micro_tile));
  choice->cost = chosen->cost;
  choice->live_fraction = chosen->live_fraction;
  choice->scans += chosen->scans;
  if (back_off) {
    bool dense = chosen->axis < 0;
    at->skip = dense ? at->next : 0;
    at->next = dense ? (int32_t)pit_min(2 * at->next, MAX_SKIP) : 1;
  }
  pthread_mutex_unlock(&context->lock);
}

static int later(const void *a, const void *b) {
  const remembered *x = *(const remembered *const *)a;
  const remembered *y = *(const remembered *const *)b;
  return (x->used < y->used) - (x->used > y->used);
}

int32_t pit_choices_list(pit_context *context, const void *manifest,
                         pit_choice *choices, int32_t max) {
  const remembered *found[SETS * WAYS];
  int32_t count = 0;
  pthread_mutex_lock(&context->lock);
  for (int i = 0; context->choices && i < SETS * WAYS; ++i) {
    const remembered *at = &context->choices->sets[i / WAYS][i % WAYS];
    if (at->used && at->key.manifest == manifest && at->choice.variant >= 0)
      found[count++] = at;
  }
  qsort(found, (size_t)count, sizeof(*found), later);
  for (int32_t i = 0; i < count && i < max; ++i)
    choices[i] = found[i]->choice;
  pthread_mutex_unlock(&context->lock);
  return count;
}
