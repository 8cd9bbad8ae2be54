//===- Tcgen05Ops.c - tcgen05 of threads and warps ------------------------===//
//
// Products are done as late as the program allows: when someone looks at the
// barrier at which a tcgen05.commit behind them arrives. Loads are done at the
// wait for them; until then their registers are NaN.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "Tensor.h"
#include "TensorTcgen05.h"

#include <stdlib.h>

enum { FEWEST_COLUMNS = 32, MOST_REGISTERS = 128, WARPS = 4 };

static tensor_tcgen05_memory memory_of(const emu_block *block) {
  return (tensor_tcgen05_memory){(uint32_t (*)[TENSOR_COLUMNS])block->tensor,
                                 block->tensor_columns};
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

EMU_HEAD(allocate) {
  if (!emu_together(w, UINT32_MAX))
    return EMU_WAIT;
  emu_block *block = w->block;
  uint64_t columns = emu_read(w, &i->operands[1], 0);
  if (block->tensor)
    return emu_fault(w, i, 0, "a second allocation is not emulated");
  if (columns < FEWEST_COLUMNS || columns > TENSOR_COLUMNS ||
      columns & (columns - 1))
    return emu_fault(w, i, 0, "%llu columns; a power of two from %d to %d",
                     (unsigned long long)columns, FEWEST_COLUMNS,
                     TENSOR_COLUMNS);
  char *to = emu_resolve(w, i, 0, EMU_SHARED,
                         emu_address(w, &i->operands[0], 0), 4, 4);
  if (!to)
    return EMU_FAULT;
  size_t bytes = sizeof(uint32_t) * TENSOR_LANES * TENSOR_COLUMNS;
  block->tensor = malloc(bytes);
  if (!block->tensor)
    return emu_fault(w, i, 0, "the host is out of memory");
  memset(block->tensor, 0xFF, bytes); // floats are NaN
  block->tensor_columns = (uint32_t)columns;
  memset(to, 0, 4);
  emu_note_write(w, to, 4);
  if (!emu_check_race(w, i, 0, to, 4, RACE_WRITE))
    return EMU_FAULT;
  ++block->launch->effects;
  return EMU_NEXT;
}

EMU_HEAD(deallocate) {
  if (!emu_together(w, UINT32_MAX))
    return EMU_WAIT;
  emu_block *block = w->block;
  if (!block->tensor || emu_read(w, &i->operands[0], 0) ||
      emu_read(w, &i->operands[1], 0) != block->tensor_columns)
    return emu_fault(w, i, 0, "no such columns have been allocated");
  for (uint32_t n = 0; n < block->warp_count; ++n)
    if (block->warps[n].late_count > 0)
      return emu_fault(w, block->warps[n].late[0].instruction, 0,
                       "its sums are freed before it is done");
  free(block->tensor);
  block->tensor = NULL;
  return EMU_NEXT;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

EMU_HEAD(start_late) {
  const tensor_shared shared = emu_tensor_shared(w);
  EMU_EACH(l) {
    const uint64_t a = emu_read(w, &i->operands[1], l);
    const uint64_t b = emu_read(w, &i->operands[2], l);
    const uint32_t shape = (uint32_t)emu_read(w, &i->operands[3], l);
    const char *why = tensor_tcgen05_mma_reads(i->code, &shared, a, b, shape);
    if (why)
      return emu_fault(w, i, l, "%s", why);
    if (w->late_count == w->late_room) {
      int room = w->late_room ? 2 * w->late_room : 8;
      emu_late *moved = realloc(w->late, (size_t)room * sizeof(*moved));
      if (!moved)
        return emu_fault(w, i, l, "the host is out of memory");
      w->late = moved;
      w->late_room = room;
    }
    w->late[w->late_count++] =
        (emu_late){.instruction = i,
                   .lane = l,
                   .number = w->late_started++,
                   .d = (uint32_t)emu_address(w, &i->operands[0], l),
                   .a = a,
                   .b = b,
                   .shape = shape,
                   .adds = emu_predicate(w, &i->operands[4]) >> l & 1};
  }
  ++w->block->launch->effects;
  return EMU_NEXT;
}

const char *emu_finish_late(emu_warp *w, uint32_t mask, uint64_t before) {
  // Races were looked for when the products started: what others write after
  // the barrier does not race with them.
  tensor_shared shared = emu_tensor_shared(w);
  shared.races = NULL;
  const tensor_tcgen05_memory memory = memory_of(w->block);
  int kept = 0;
  for (int n = 0; n < w->late_count; ++n) {
    const emu_late p = w->late[n];
    if (p.number >= before || !(mask >> p.lane & 1)) {
      w->late[kept++] = p;
      continue;
    }
    const char *why =
        !memory.words
            ? "the block has no tensor memory"
            : tensor_tcgen05_mma(p.instruction->code, &shared, &memory, p.d,
                                 p.a, p.b, p.shape, p.adds);
    if (why)
      return why;
  }
  w->late_count = kept;
  return NULL;
}

/// Of the thread's own products alone.
EMU_HEAD(commit_late) {
  EMU_EACH(l) {
    uint32_t place;
    emu_block *block = emu_shared_block(
        w, i, l, emu_address(w, &i->operands[0], l), 8, &place);
    emu_arrival *made = block ? emu_add_arrival(w, i, l, block, place) : NULL;
    if (!made || !emu_release(w, i, EMU_RACE_MBARRIER, block, place))
      return EMU_FAULT;
    made->is_late = true;
    made->copies = w->late_started;
  }
  return EMU_NEXT;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

static void scatter(const emu_warp *w, const emu_operand *list,
                    const uint32_t (*from)[EMU_LANES]) {
  for (uint32_t n = 0; n < list->count; ++n)
    if (list->elements[n].kind != EMU_SINK)
      memcpy(emu_lanes(w, &list->elements[n]), from[n], sizeof(*from));
}

EMU_HEAD(start_load) {
  if (!emu_together(w, UINT32_MAX))
    return EMU_WAIT;
  if (w->tensor_load_count == EMU_TENSOR_LOADS)
    return emu_fault(w, i, 0,
                     "more than %d loads without a wait are not emulated",
                     EMU_TENSOR_LOADS);
  uint32_t nothing[MOST_REGISTERS][EMU_LANES];
  memset(nothing, 0xFF, sizeof(nothing));
  w->tensor_loads[w->tensor_load_count++] =
      (emu_tensor_load){i, (uint32_t)emu_address(w, &i->operands[1], 0)};
  scatter(w, &i->operands[0], (const uint32_t (*)[EMU_LANES])nothing);
  return EMU_NEXT;
}

EMU_HEAD(wait_loads) {
  (void)i;
  if (!emu_together(w, UINT32_MAX))
    return EMU_WAIT;
  const tensor_tcgen05_memory memory = memory_of(w->block);
  for (int n = 0; n < w->tensor_load_count; ++n) {
    const emu_tensor_load *load = &w->tensor_loads[n];
    const emu_operand *list = &load->instruction->operands[0];
    uint32_t to[MOST_REGISTERS][EMU_LANES];
    const char *why = !memory.words
                          ? "the block has no tensor memory"
                          : tensor_tcgen05_load(&memory, w->number % WARPS,
                                                load->address, list->count, to);
    if (why)
      return emu_fault(w, load->instruction, 0, "%s", why);
    scatter(w, list, (const uint32_t (*)[EMU_LANES])to);
  }
  w->tensor_load_count = 0;
  return EMU_NEXT;
}

EMU_HEAD(nothing) {
  (void)w, (void)i;
  return EMU_NEXT;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static bool decode_load(emu_parser *p, emu_instruction *i,
                        const emu_words *words) {
  // tcgen05.ld.sync.aligned.16x256b.x8.b32
  unsigned count = 0;
  if (words->count != 7 || strcmp(words->word[4], "16x256b") != 0 ||
      words->word[5][0] != 'x' || i->operand_count != 2)
    return false;
  count = (unsigned)strtoul(words->word[5] + 1, NULL, 10);
  if (count == 0 || 4 * count > MOST_REGISTERS || count & (count - 1))
    return false;
  i->run = start_load;
  return emu_take_list(p, &i->operands[0], 4 * count, 4) &&
         emu_take_address(p, &i->operands[1]);
}

static bool decode_mma(emu_parser *p, emu_instruction *i,
                       const emu_words *words) {
  static const char *const kinds[] = {[TENSOR_KIND_F16] = "kind::f16",
                                      [TENSOR_KIND_TF32] = "kind::tf32",
                                      [TENSOR_KIND_F8F6F4] = "kind::f8f6f4"};
  // tcgen05.mma.cta_group::1.kind::f16.collector::a::discard
  uint8_t kind = 0;
  while (kind < sizeof(kinds) / sizeof(*kinds) && !emu_has(words, kinds[kind]))
    ++kind;
  if (kind == sizeof(kinds) / sizeof(*kinds) || words->count > 5 ||
      (words->count == 5 && !emu_has(words, "collector::a::discard")))
    return false;
  i->code = kind;
  i->run = start_late;
  return emu_take_form(p, i, "a8841");
}

static bool decode_tcgen05(emu_parser *p, emu_instruction *i,
                           const emu_words *words) {
  if (words->count < 2)
    return false;
  const char *what = words->word[1];
  if (strncmp(what, "fence::", 7) == 0) {
    i->run = nothing;
    return emu_take_form(p, i, "");
  }
  if (strcmp(what, "wait::ld") == 0) {
    i->run = wait_loads;
    return emu_take_form(p, i, "");
  }
  if (strcmp(what, "ld") == 0)
    return decode_load(p, i, words);
  if (!emu_has(words, "cta_group::1"))
    return false;
  if (strcmp(what, "mma") == 0)
    return decode_mma(p, i, words);
  if (strcmp(what, "commit") == 0) {
    i->run = commit_late;
    return emu_has(words, "mbarrier::arrive::one") && emu_take_form(p, i, "a");
  }
  i->run = strcmp(what, "alloc") == 0                     ? allocate
           : strcmp(what, "dealloc") == 0                 ? deallocate
           : strcmp(what, "relinquish_alloc_permit") == 0 ? nothing
                                                          : NULL;
  return i->run && emu_take_form(p, i,
                                 i->run == allocate     ? "a4"
                                 : i->run == deallocate ? "44"
                                                        : "");
}

const emu_family emu_tcgen05_families[] = {{"tcgen05", decode_tcgen05},
                                           {NULL, NULL}};
