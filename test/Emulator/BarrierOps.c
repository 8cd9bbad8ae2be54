//===- BarrierOps.c - Barriers, mbarriers and fences ----------------------===//

#include "Lanes.h"
#include "TensorBarrier.h"
#include "TensorProxy.h"

/// Fences order nothing that is not in order here, and registers and launches
/// are not given away.
EMU_HEAD(nothing) {
  (void)w, (void)i;
  return EMU_NEXT;
}

EMU_HEAD(fence_proxy) {
  (void)i;
  tensor_proxy_fence(w->block->proxy, w->number);
  return EMU_NEXT;
}

static bool decode_nothing(emu_parser *p, emu_instruction *i,
                           const emu_words *words) {
  i->run = emu_has(words, "proxy") ? fence_proxy : nothing;
  for (int n = 0; n < i->operand_count; ++n)
    if (i->operands[n].kind == EMU_VALUE &&
        !emu_take_wide(p, &i->operands[n], 4))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Barriers of a block
//===----------------------------------------------------------------------===//

/// Threads that the barrier waits for; those that have returned count as there.
static uint32_t needed(const emu_warp *w, const emu_instruction *i) {
  if (i->operand_count > 1)
    return (uint32_t)emu_read(w, &i->operands[1],
                              (uint32_t)__builtin_ctz(w->active));
  return w->block->live_warps * EMU_LANES;
}

static emu_action barrier(emu_warp *w, const emu_instruction *i, bool waits) {
  uint32_t first = (uint32_t)__builtin_ctz(w->active);
  uint32_t number = (uint32_t)emu_read(w, &i->operands[0], first);
  if (number >= EMU_BARRIERS)
    return emu_fault(w, i, first, "barrier %u; there are %d", number,
                     EMU_BARRIERS);
  if (!emu_together(w, UINT32_MAX))
    return EMU_WAIT;
  emu_barrier *b = &w->block->barriers[number];
  if (!w->is_at_barrier) {
    b->arrived += EMU_LANES;
    w->barrier_round = b->round;
    w->is_at_barrier = true;
    ++w->block->launch->effects;
    if (!emu_release(w, i, EMU_RACE_BARRIER, w->block, number))
      return EMU_FAULT;
  }
  if (w->barrier_round == b->round && b->arrived >= needed(w, i)) {
    b->arrived = 0;
    ++b->round;
  }
  if (waits && w->barrier_round == b->round)
    return EMU_WAIT;
  w->is_at_barrier = false;
  if (waits)
    emu_acquire(w, EMU_RACE_BARRIER, w->block, number);
  return EMU_NEXT;
}

EMU_HEAD(barrier_sync) { return barrier(w, i, true); }
EMU_HEAD(barrier_arrive) { return barrier(w, i, false); }

EMU_HEAD(warp_sync) {
  uint32_t mask = (uint32_t)emu_read(w, &i->operands[0],
                                     (uint32_t)__builtin_ctz(w->active));
  return emu_together(w, mask) ? EMU_NEXT : EMU_WAIT;
}

//===----------------------------------------------------------------------===//
// The barrier of a cluster
//===----------------------------------------------------------------------===//

EMU_HEAD(cluster_arrive) {
  if (!emu_together(w, UINT32_MAX))
    return EMU_WAIT;
  emu_cluster *c = w->block->cluster;
  if (w->is_at_cluster_barrier)
    return emu_fault(w, i, 0, "it has arrived already and did not wait");
  w->is_at_cluster_barrier = true;
  w->cluster_round = c->round;
  ++w->block->launch->effects;
  ++c->arrived;
  if (!emu_release(w, i, EMU_RACE_CLUSTER, &c->blocks[0], 0))
    return EMU_FAULT;
  return EMU_NEXT;
}

EMU_HEAD(cluster_wait) {
  if (!emu_together(w, UINT32_MAX))
    return EMU_WAIT;
  emu_cluster *c = w->block->cluster;
  if (!w->is_at_cluster_barrier)
    return emu_fault(w, i, 0, "it has not arrived");
  if (w->cluster_round == c->round && c->arrived >= c->live_warps) {
    c->arrived = 0;
    ++c->round;
  }
  if (w->cluster_round == c->round)
    return EMU_WAIT;
  w->is_at_cluster_barrier = false;
  emu_acquire(w, EMU_RACE_CLUSTER, &c->blocks[0], 0);
  return EMU_NEXT;
}

static bool decode_bar(emu_parser *p, emu_instruction *i,
                       const emu_words *words) {
  static const char *const hints[] = {"cta",     "aligned", "sync", "arrive",
                                      "warp",    "cluster", "wait", "release",
                                      "relaxed", "acquire"};
  for (int n = 1; n < words->count; ++n) {
    size_t h = 0;
    while (h < sizeof(hints) / sizeof(*hints) &&
           strcmp(hints[h], words->word[n]) != 0)
      ++h;
    if (h == sizeof(hints) / sizeof(*hints))
      return false;
  }
  bool arrives = emu_has(words, "arrive");
  if (emu_has(words, "cluster")) {
    i->run = arrives ? cluster_arrive : cluster_wait;
    return arrives != emu_has(words, "wait") && i->operand_count == 0;
  }
  if (emu_has(words, "warp")) {
    i->run = warp_sync;
    return emu_has(words, "sync") && emu_take_form(p, i, "4");
  }
  i->run = arrives ? barrier_arrive : barrier_sync;
  if (arrives == emu_has(words, "sync") || (arrives && i->operand_count != 2))
    return false;
  return emu_take_form(p, i, i->operand_count == 2 ? "44" : "4");
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

/// The word of an mbarrier; NULL: a fault.
static uint64_t *word_of(emu_warp *w, const emu_instruction *i, uint32_t lane,
                         const emu_operand *at, emu_block **block,
                         uint32_t *place) {
  uint64_t address = emu_address(w, at, lane);
  if (address & 7) {
    emu_fault(w, i, lane, "the mbarrier's address 0x%llx is no multiple of 8",
              (unsigned long long)address);
    return NULL;
  }
  *block = emu_shared_block(w, i, lane, address, 8, place);
  return *block ? (uint64_t *)(void *)((*block)->shared + *place) : NULL;
}

enum { INIT, INVALIDATE, ARRIVE, ARRIVE_EXPECT, EXPECT, COMPLETE, COPIES };

static emu_action said(emu_warp *w, const emu_instruction *i, uint32_t lane,
                       const char *why) {
  return why ? emu_fault(w, i, lane, "%s", why) : EMU_NEXT;
}

/// Operands: {destination, address, count} as `flags` and the code say.
EMU_HEAD(mbarrier) {
  const int at = i->flags ? 1 : 0;
  bool counts = i->operand_count > at + 1;
  EMU_EACH(l) {
    emu_block *block;
    uint32_t place;
    uint64_t *word = word_of(w, i, l, &i->operands[at], &block, &place);
    if (!word)
      return EMU_FAULT;
    uint32_t count =
        counts ? (uint32_t)emu_read(w, &i->operands[at + 1], l) : 1;
    uint64_t state = 0;
    const char *why = NULL;
    switch (i->code) {
    case INIT:
      why = tensor_barrier_init(word, count);
      break;
    case INVALIDATE:
      why = tensor_barrier_invalidate(word);
      break;
    case ARRIVE:
      why = tensor_barrier_arrive(word, count, &state);
      break;
    case ARRIVE_EXPECT:
      why = tensor_barrier_expect(word, count);
      if (!why)
        why = tensor_barrier_arrive(word, 1, &state);
      break;
    case EXPECT:
      why = tensor_barrier_expect(word, count);
      break;
    case COMPLETE:
      why = tensor_barrier_complete(word, count);
      break;
    }
    if (why)
      return said(w, i, l, why);
    if ((i->code == ARRIVE || i->code == ARRIVE_EXPECT) &&
        !emu_release(w, i, EMU_RACE_MBARRIER, block, place))
      return EMU_FAULT;
    if (at && i->operands[0].kind != EMU_SINK)
      emu_write(w, &i->operands[0], l, state);
  }
  ++w->block->launch->effects;
  return EMU_NEXT;
}

/// try_wait and test_wait. What has been waiting for someone to look at the
/// barrier is done now: the latest moment that a program must be ready for.
/// try_wait does not give up, which it may: its lanes run on when it is done.
EMU_HEAD(mbarrier_wait) {
  uint32_t bits = 0;
  EMU_EACH(l) {
    emu_block *block;
    uint32_t place;
    uint64_t *word = word_of(w, i, l, &i->operands[1], &block, &place);
    if (!word)
      return EMU_FAULT;
    const uint64_t state = emu_read(w, &i->operands[2], l);
    for (int round = 0; round < 2; ++round) {
      bool done = false;
      const char *why =
          i->flags ? tensor_barrier_test_parity(word, (uint32_t)state, &done)
                   : tensor_barrier_test(word, state, &done);
      if (why)
        return said(w, i, l, why);
      if (done) {
        emu_acquire(w, EMU_RACE_MBARRIER, block, place);
        bits |= UINT32_C(1) << l;
        break;
      }
      if (round == 0 && !emu_finish_arrivals(w, i, block, place))
        return EMU_FAULT;
    }
  }
  if (i->code && bits == 0)
    return EMU_WAIT;
  emu_set_predicate(w, &i->operands[0], bits);
  return EMU_NEXT;
}

static bool decode_mbarrier(emu_parser *p, emu_instruction *i,
                            const emu_words *words) {
  static const char *const known[] = {
      "init",        "inval",       "arrive",          "expect_tx",
      "complete_tx", "try_wait",    "test_wait",       "parity",
      "shared",      "shared::cta", "shared::cluster", "b64",
      "release",     "relaxed",     "acquire",         "cta",
      "cluster",     "tx::bytes",   "noComplete"};
  for (int n = 1; n < words->count; ++n) {
    size_t k = 0;
    while (k < sizeof(known) / sizeof(*known) &&
           strcmp(known[k], words->word[n]) != 0)
      ++k;
    if (k == sizeof(known) / sizeof(*known))
      return false;
  }
  const char *what = words->word[1];
  if (strcmp(what, "try_wait") == 0 || strcmp(what, "test_wait") == 0) {
    i->run = mbarrier_wait;
    i->code = strcmp(what, "try_wait") == 0;
    i->flags = emu_has(words, "parity");
    const char *form = i->operand_count == 4 ? "1a44" : "1a4";
    if (!i->flags)
      form = i->operand_count == 4 ? "1a84" : "1a8";
    return emu_take_form(p, i, form);
  }
  i->run = mbarrier;
  if (strcmp(what, "arrive") == 0) {
    i->flags = 1;
    i->code = emu_has(words, "expect_tx") ? ARRIVE_EXPECT : ARRIVE;
    return emu_take_form(p, i, i->operand_count == 3 ? "8a4" : "8a");
  }
  i->code = strcmp(what, "init") == 0          ? INIT
            : strcmp(what, "inval") == 0       ? INVALIDATE
            : strcmp(what, "expect_tx") == 0   ? EXPECT
            : strcmp(what, "complete_tx") == 0 ? COMPLETE
                                               : COPIES;
  return i->code != COPIES &&
         emu_take_form(p, i, i->code == INVALIDATE ? "a" : "a4");
}

const emu_family emu_barrier_families[] = {{"bar", decode_bar},
                                           {"barrier", decode_bar},
                                           {"mbarrier", decode_mbarrier},
                                           {"fence", decode_nothing},
                                           {"prefetch", decode_nothing},
                                           {"membar", decode_nothing},
                                           {"griddepcontrol", decode_nothing},
                                           {"setmaxnreg", decode_nothing},
                                           {"nanosleep", decode_nothing},
                                           {"prefetch", decode_nothing},
                                           {NULL, NULL}};
