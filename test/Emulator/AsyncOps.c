//===- AsyncOps.c - Copies that run on ------------------------------------===//
//
// They are done as late as the program allows: cp.async at the wait for its
// group, what arrives at an mbarrier when someone looks at the barrier. A
// program that reads earlier finds what was there before, every time. With
// PIT_EMULATOR_EARLY, copies to shared memory are done when they start: one
// that writes over what others still read is found so.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "Tensor.h"
#include "TensorBarrier.h"
#include "TensorMaps.h"

#include <stdlib.h>

static void *grow(void *array, int count, int *room, size_t size) {
  if (count < *room)
    return array;
  *room = *room ? 2 * *room : 8;
  return realloc(array, (size_t)*room * size);
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

/// Does the copies of lanes for which `is_due` holds, in their order.
static void finish_copies(emu_warp *w, uint32_t mask,
                          bool (*is_due)(const emu_warp *w, const emu_copy *c,
                                         uint32_t lane, uint64_t limit),
                          uint64_t limit) {
  int kept = 0;
  for (int n = 0; n < w->copy_count; ++n) {
    emu_copy *c = &w->copies[n];
    for (uint32_t left = c->mask & mask; left; left &= left - 1) {
      uint32_t l = (uint32_t)__builtin_ctz(left);
      if (!is_due(w, c, l, limit))
        continue;
      if (c->size[l])
        memcpy(c->to[l], c->from[l], c->size[l]);
      memset(c->to[l] + c->size[l], 0, c->bytes - c->size[l]);
      emu_note_write(w, c->to[l], c->bytes);
      c->mask &= ~(UINT32_C(1) << l);
    }
    if (!c->mask)
      continue;
    if (kept != n)
      w->copies[kept] = *c;
    ++kept;
  }
  w->copy_count = kept;
}

static bool is_of_old_group(const emu_warp *w, const emu_copy *c, uint32_t lane,
                            uint64_t pending) {
  return (uint64_t)c->group[lane] + pending < w->committed[lane];
}

static bool is_before(const emu_warp *w, const emu_copy *c, uint32_t lane,
                      uint64_t number) {
  (void)w, (void)lane;
  return c->number < number;
}

EMU_HEAD(copy) {
  w->copies = grow(w->copies, w->copy_count, &w->copy_room, sizeof(emu_copy));
  if (!w->copies)
    return emu_fault(w, i, 0, "the host is out of memory");
  emu_copy *c = &w->copies[w->copy_count];
  c->mask = w->active;
  c->number = w->copies_started++;
  c->bytes = i->bytes;
  EMU_EACH(l) {
    c->to[l] =
        emu_resolve(w, i, l, EMU_SHARED, emu_address(w, &i->operands[0], l),
                    c->bytes, c->bytes);
    uint32_t size = i->operand_count > 3
                        ? (uint32_t)emu_read(w, &i->operands[3], l)
                        : c->bytes;
    if (!c->to[l] || !emu_check_race(w, i, l, c->to[l], c->bytes, RACE_WRITE))
      return EMU_FAULT;
    if (size > c->bytes)
      return emu_fault(w, i, l, "it copies %u bytes of %u", size, c->bytes);
    c->size[l] = size;
    c->from[l] = NULL; // what is not read may lie anywhere
    if (size > 0)
      c->from[l] =
          emu_resolve(w, i, l, EMU_GLOBAL, emu_address(w, &i->operands[1], l),
                      size, size == c->bytes ? size : 1);
    if (size > 0 && !c->from[l])
      return EMU_FAULT;
    c->group[l] = w->committed[l];
  }
  ++w->copy_count;
  if (w->block->launch->copies_early)
    finish_copies(w, w->active, is_before, UINT64_MAX);
  return EMU_NEXT;
}

EMU_HEAD(commit) {
  (void)i;
  EMU_EACH(l)
  ++w->committed[l];
  return EMU_NEXT;
}

EMU_HEAD(wait_group) {
  uint64_t pending =
      emu_read(w, &i->operands[0], (uint32_t)__builtin_ctz(w->active));
  finish_copies(w, w->active, is_of_old_group, pending);
  return EMU_NEXT;
}

EMU_HEAD(wait_all) {
  (void)i;
  finish_copies(w, w->active, is_before, UINT64_MAX);
  return EMU_NEXT;
}

//===----------------------------------------------------------------------===//
// What arrives at an mbarrier
//===----------------------------------------------------------------------===//

static uint64_t *word_at(emu_block *block, uint32_t place) {
  return (uint64_t *)(void *)(block->shared + place);
}

emu_arrival *emu_add_arrival(emu_warp *w, const emu_instruction *i,
                             uint32_t lane, emu_block *block, uint32_t place) {
  if (place & 7) {
    emu_fault(w, i, lane, "the mbarrier's address is no multiple of 8");
    return NULL;
  }
  block->arrivals = grow(block->arrivals, block->arrival_count,
                         &block->arrival_room, sizeof(emu_arrival));
  if (!block->arrivals) {
    emu_fault(w, i, lane, "the host is out of memory");
    return NULL;
  }
  ++w->block->launch->effects;
  emu_arrival *made = &block->arrivals[block->arrival_count++];
  *made = (emu_arrival){.barrier = place,
                        .warp = w,
                        .mask = UINT32_C(1) << lane,
                        .instruction = i};
  return made;
}

EMU_HEAD(copies_arrive) {
  EMU_EACH(l) {
    uint32_t place;
    emu_block *block = emu_shared_block(
        w, i, l, emu_address(w, &i->operands[0], l), 8, &place);
    if (!block)
      return EMU_FAULT;
    if (!i->flags) {
      const char *why = tensor_barrier_add_pending(word_at(block, place));
      if (why)
        return emu_fault(w, i, l, "%s", why);
    }
    emu_arrival *made = emu_add_arrival(w, i, l, block, place);
    if (!made || !emu_release(w, i, EMU_RACE_MBARRIER, block, place))
      return EMU_FAULT;
    made->copies = w->copies_started;
  }
  return EMU_NEXT;
}

static void *find_global(void *context, uint64_t address, uint64_t size) {
  (void)context;
  return emu_memory_find(address) ? emu_memory_host(address, size) : NULL;
}

static const tensor_global global = {find_global, NULL};

/// cp.async.bulk.tensor of one lane, into one block or several.
static emu_action load_tensor(emu_warp *w, const emu_instruction *i,
                              uint32_t lane) {
  uint32_t to, barrier;
  const emu_operand *source = &i->operands[1];
  emu_block *block = emu_shared_block(
      w, i, lane, emu_address(w, &i->operands[0], lane), 1, &to);
  if (!block)
    return EMU_FAULT;
  emu_block *other = emu_shared_block(
      w, i, lane, emu_address(w, &i->operands[2], lane), 8, &barrier);
  if (!other)
    return EMU_FAULT;
  if (other != block)
    return emu_fault(w, i, lane, "the mbarrier is in another block");
  const char *map =
      emu_resolve(w, i, lane, EMU_GENERIC, emu_read(w, source, lane), 128, 64);
  if (!map)
    return EMU_FAULT;
  uint64_t blocks = UINT64_C(1) << block->rank;
  if (i->flags)
    blocks = emu_read(w, &i->operands[3], lane);
  emu_cluster *cluster = w->block->cluster;
  if (blocks == 0 || blocks >> cluster->count)
    return emu_fault(w, i, lane, "a mask 0x%llx of %u blocks",
                     (unsigned long long)blocks, cluster->count);
  for (; blocks; blocks &= blocks - 1) {
    emu_block *each = &cluster->blocks[__builtin_ctzll(blocks)];
    emu_arrival *made = emu_add_arrival(w, i, lane, each, barrier);
    if (!made ||
        !emu_check_block_race(w, i, lane, each, to, tensor_map_bytes(map),
                              RACE_WRITE) ||
        !emu_release(w, i, EMU_RACE_MBARRIER, each, barrier))
      return EMU_FAULT;
    made->is_tensor = true;
    made->to = to;
    made->rank = source->count;
    memcpy(made->map, map, sizeof(made->map));
    for (uint32_t d = 0; d < source->count; ++d)
      made->at[d] = (int32_t)emu_read(w, &source->elements[d], lane);
    if (w->block->launch->copies_early &&
        !emu_finish_arrivals(w, i, each, barrier))
      return EMU_FAULT;
  }
  return EMU_NEXT;
}

EMU_HEAD(load_tensors) {
  EMU_EACH(l)
  if (load_tensor(w, i, l) != EMU_NEXT)
    return EMU_FAULT;
  return EMU_NEXT;
}

static const char *finish_arrival(emu_block *block, const emu_arrival *a) {
  uint64_t *word = word_at(block, a->barrier);
  if (a->is_late) {
    const char *why = emu_finish_late(a->warp, a->mask, a->copies);
    return why ? why : tensor_barrier_arrive(word, 1, NULL);
  }
  if (!a->is_tensor) {
    finish_copies(a->warp, a->mask, is_before, a->copies);
    return tensor_barrier_arrive(word, 1, NULL);
  }
  uint32_t bytes = 0;
  const tensor_shared shared = {.bytes = (uint8_t *)block->shared,
                                .size = block->shared_bytes,
                                .proxy = block->proxy};
  const char *why =
      tensor_map_load(a->map, a->rank, a->at, &global, &shared, a->to, &bytes);
  return why ? why : tensor_barrier_complete(word, bytes);
}

bool emu_finish_arrivals(emu_warp *w, const emu_instruction *i,
                         emu_block *block, uint32_t barrier) {
  (void)w, (void)i;
  int kept = 0, count = block->arrival_count;
  for (int n = 0; n < count; ++n) {
    emu_arrival *a = &block->arrivals[n];
    if (a->barrier == barrier) {
      const char *why = finish_arrival(block, a);
      if (why) {
        emu_fault(a->warp, a->instruction, (uint32_t)__builtin_ctz(a->mask),
                  "%s", why);
        return false;
      }
      continue;
    }
    if (kept != n)
      block->arrivals[kept] = *a;
    ++kept;
  }
  if (kept != count)
    ++block->launch->effects;
  block->arrival_count = kept;
  return true;
}

//===----------------------------------------------------------------------===//
// From shared to global memory
//===----------------------------------------------------------------------===//

/// A store of a lane, from the shared memory that operand 1 names; NULL is a
/// fault.
static emu_store *add_store(emu_warp *w, const emu_instruction *i, uint32_t l) {
  w->stores =
      grow(w->stores, w->store_count, &w->store_room, sizeof(emu_store));
  if (!w->stores) {
    emu_fault(w, i, l, "the host is out of memory");
    return NULL;
  }
  uint64_t from = emu_address(w, &i->operands[1], l);
  if (from > UINT32_MAX) {
    emu_fault(w, i, l, "0x%llx is no address of shared memory",
              (unsigned long long)from);
    return NULL;
  }
  emu_store *made = &w->stores[w->store_count++];
  *made = (emu_store){.instruction = i,
                      .from = (uint32_t)from,
                      .lane = l,
                      .group = w->committed_stores[l]};
  return made;
}

EMU_HEAD(store_bulk) {
  EMU_EACH(l) {
    emu_store *made = add_store(w, i, l);
    if (!made)
      return EMU_FAULT;
    made->to = emu_address(w, &i->operands[0], l);
    made->bytes = (uint32_t)emu_read(w, &i->operands[2], l);
  }
  return EMU_NEXT;
}

EMU_HEAD(add_tensors) {
  const emu_operand *to = &i->operands[0];
  EMU_EACH(l) {
    const char *map =
        emu_resolve(w, i, l, EMU_GENERIC, emu_read(w, to, l), 128, 64);
    emu_store *made = map ? add_store(w, i, l) : NULL;
    if (!made)
      return EMU_FAULT;
    made->rank = to->count;
    memcpy(made->map, map, sizeof(made->map));
    for (uint32_t d = 0; d < to->count; ++d)
      made->at[d] = (int32_t)emu_read(w, &to->elements[d], l);
  }
  return EMU_NEXT;
}

EMU_HEAD(commit_stores) {
  (void)i;
  EMU_EACH(l)
  ++w->committed_stores[l];
  return EMU_NEXT;
}

EMU_HEAD(wait_stores) {
  uint64_t pending =
      emu_read(w, &i->operands[0], (uint32_t)__builtin_ctz(w->active));
  const tensor_shared shared = emu_tensor_shared(w);
  int kept = 0;
  for (int n = 0; n < w->store_count; ++n) {
    const emu_store *s = &w->stores[n];
    if (!(w->active >> s->lane & 1) ||
        s->group + pending >= w->committed_stores[s->lane]) {
      w->stores[kept++] = *s;
      continue;
    }
    const char *why =
        s->rank
            ? tensor_map_add(s->map, s->rank, s->at, &global, &shared, s->from)
            : tensor_bulk_store(&shared, s->from, &global, s->to, s->bytes);
    if (why)
      return emu_fault(w, s->instruction, s->lane, "%s", why);
    ++w->block->launch->effects;
  }
  w->store_count = kept;
  return EMU_NEXT;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// What follows cp.async.bulk.
static bool decode_bulk(emu_parser *p, emu_instruction *i,
                        const emu_words *words) {
  if (strcmp(words->word[3], "commit_group") == 0) {
    i->run = commit_stores;
    return words->count == 4 && i->operand_count == 0;
  }
  if (strcmp(words->word[3], "wait_group") == 0) {
    i->run = wait_stores;
    return words->count == 4 + emu_has(words, "read") &&
           emu_take_form(p, i, "4");
  }
  i->run = store_bulk;
  return words->count == 6 && strcmp(words->word[3], "global") == 0 &&
         strcmp(words->word[4], "shared::cta") == 0 &&
         strcmp(words->word[5], "bulk_group") == 0 &&
         emu_take_form(p, i, "aa4");
}

static bool decode_tensor_copy(emu_parser *p, emu_instruction *i,
                               const emu_words *words) {
  static const char *const known[] = {"async",
                                      "bulk",
                                      "tensor",
                                      "shared::cluster",
                                      "global",
                                      "tile",
                                      "mbarrier::complete_tx::bytes",
                                      "multicast::cluster"};
  // cp.async.bulk.tensor.2d.shared::cluster.global...
  if (words->count < 8 || strcmp(words->word[3], "tensor") != 0 ||
      strcmp(words->word[5], "shared::cluster") != 0 ||
      strcmp(words->word[6], "global") != 0 ||
      !emu_has(words, "mbarrier::complete_tx::bytes"))
    return false;
  unsigned rank = (unsigned)(words->word[4][0] - '0');
  for (int n = 1; n < words->count; ++n) {
    size_t k = 0;
    while (k < sizeof(known) / sizeof(*known) &&
           strcmp(known[k], words->word[n]) != 0)
      ++k;
    if (k == sizeof(known) / sizeof(*known) && n != 4)
      return false;
  }
  i->run = load_tensors;
  i->flags = emu_has(words, "multicast::cluster");
  if (rank < 1 || rank > 5 || strcmp(words->word[4] + 1, "d") != 0 ||
      i->operand_count != 3 + i->flags || i->operands[1].count != rank)
    return emu_refuse(p, "a tensor copy of %u coordinates",
                      i->operands[1].count);
  return emu_take_form(p, i, i->flags ? "aaa2" : "aaa");
}

static bool decode_reduction(emu_parser *p, emu_instruction *i,
                             const emu_words *words) {
  static const char *const known[] = {
      "cp",     "reduce",      "async", "bulk", "tensor",    "",
      "global", "shared::cta", "add",   "tile", "bulk_group"};
  int count = sizeof(known) / sizeof(*known);
  if (words->count != count)
    return false;
  for (int n = 1; n < count; ++n)
    if (n != 5 && strcmp(words->word[n], known[n]) != 0)
      return false;
  unsigned rank = (unsigned)(words->word[5][0] - '0');
  i->run = add_tensors;
  if (rank < 1 || rank > 5 || strcmp(words->word[5] + 1, "d") != 0 ||
      i->operand_count != 2 || i->operands[0].count != rank)
    return emu_refuse(p, "a reduction of %u coordinates", i->operands[0].count);
  return emu_take_form(p, i, "aa");
}

static bool decode_cp(emu_parser *p, emu_instruction *i,
                      const emu_words *words) {
  if (words->count < 3)
    return false;
  if (strcmp(words->word[1], "reduce") == 0)
    return decode_reduction(p, i, words);
  if (strcmp(words->word[1], "async") != 0)
    return false;
  const char *what = words->word[2];
  if (strcmp(what, "bulk") == 0 && words->count > 3)
    return strcmp(words->word[3], "tensor") == 0
               ? decode_tensor_copy(p, i, words)
               : decode_bulk(p, i, words);
  if (strcmp(what, "commit_group") == 0) {
    i->run = commit;
    return words->count == 3 && i->operand_count == 0;
  }
  if (strcmp(what, "wait_group") == 0) {
    i->run = wait_group;
    return words->count == 3 && emu_take_form(p, i, "4");
  }
  if (strcmp(what, "wait_all") == 0) {
    i->run = wait_all;
    return words->count == 3 && i->operand_count == 0;
  }
  if (strcmp(what, "mbarrier") == 0) {
    // cp.async.mbarrier.arrive.noinc.shared.b64
    i->run = copies_arrive;
    i->flags = emu_has(words, "noinc");
    return emu_has(words, "arrive") && emu_has(words, "b64") &&
           words->count == 6 + i->flags && emu_take_form(p, i, "a");
  }
  // cp.async.cg.shared.global.L2::128B
  if ((strcmp(what, "ca") != 0 && strcmp(what, "cg") != 0) ||
      words->count < 5 || words->count > 6 ||
      strncmp(words->word[3], "shared", 6) != 0 ||
      strcmp(words->word[4], "global") != 0 ||
      (words->count == 6 && strncmp(words->word[5], "L2::", 4) != 0) ||
      i->operand_count < 3 || i->operand_count > 4 || !i->operands[2].is_number)
    return false;
  i->run = copy;
  int64_t bytes = i->operands[2].value;
  if ((bytes != 4 && bytes != 8 && bytes != 16) ||
      (strcmp(what, "cg") == 0 && bytes != 16))
    return emu_refuse(p, "a copy of %lld bytes", (long long)bytes);
  i->bytes = (uint8_t)bytes;
  return emu_take_form(p, i, i->operand_count == 4 ? "aa44" : "aa4");
}

const emu_family emu_async_families[] = {{"cp", decode_cp}, {NULL, NULL}};
