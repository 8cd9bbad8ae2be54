//===- MoveOps.c - Moves, choices, predicates and jumps -------------------===//

#include "Lanes.h"

#define WIDTH(bits)                                                            \
  EMU_UNARY(mov##bits, u##bits, u##bits, a[l])                                 \
  EMU_HEAD(selp##bits) {                                                       \
    const emu_u##bits *a = EMU_S(u##bits, 1), *b = EMU_S(u##bits, 2);          \
    const uint32_t chosen = emu_predicate(w, &i->operands[3]);                 \
    EMU_LOOP(u##bits, chosen >> l & 1 ? a[l] : b[l])                           \
  }
WIDTH(16)
WIDTH(32)
WIDTH(64)

#define PREDICATE(name, ...)                                                   \
  EMU_HEAD(name) {                                                             \
    uint32_t a = emu_predicate(w, &i->operands[1]);                            \
    uint32_t b = i->operand_count > 2 ? emu_predicate(w, &i->operands[2]) : 0; \
    emu_set_predicate(w, &i->operands[0], __VA_ARGS__);                        \
    return EMU_NEXT;                                                           \
  }
PREDICATE(mov_pred, a | b)
PREDICATE(not_pred, ~(a | b))
PREDICATE(and_pred, a &b)
PREDICATE(or_pred, a | b)
PREDICATE(xor_pred, a ^ b)

// Between the generic address space and its parts.
EMU_UNARY(from_shared, u64, u64, a[l] + EMU_SHARED_BASE)
EMU_UNARY(to_shared, u64, u64, a[l] - EMU_SHARED_BASE)

/// An address of shared memory, as that of another block of the cluster.
EMU_HEAD(map_address) {
  const emu_u32 *rank = EMU_S(u32, 2);
  EMU_EACH(l) {
    if (rank[l] >= w->block->cluster->count)
      return emu_fault(w, i, l, "block %u of a cluster of %u", rank[l],
                       w->block->cluster->count);
    uint64_t place = emu_read(w, &i->operands[1], l) & 0xFFFFFF;
    emu_write(w, &i->operands[0], l, ((uint64_t)rank[l] + 1) << 24 | place);
  }
  return EMU_NEXT;
}

const emu_opcode emu_move_opcodes[] = {
    {"mapa.shared::cluster.u64", "884", map_address},
    {"mapa.shared::cluster.u32", "444", map_address},
    {"selp.b16", "2221", selp16},
    {"selp.b32", "4441", selp32},
    {"selp.u32", "4441", selp32},
    {"selp.s32", "4441", selp32},
    {"selp.f32", "4441", selp32},
    {"selp.b64", "8881", selp64},
    {"selp.u64", "8881", selp64},
    {"selp.s64", "8881", selp64},
    {"selp.f64", "8881", selp64},
    {"mov.pred", "11", mov_pred},
    {"not.pred", "11", not_pred},
    {"and.pred", "111", and_pred},
    {"or.pred", "111", or_pred},
    {"xor.pred", "111", xor_pred},
    {"cvta.global.u64", "88", mov64},
    {"cvta.const.u64", "88", mov64},
    {"cvta.param.u64", "88", mov64},
    {"cvta.local.u64", "88", mov64},
    {"cvta.to.global.u64", "88", mov64},
    {"cvta.to.const.u64", "88", mov64},
    {"cvta.to.param.u64", "88", mov64},
    {"cvta.to.local.u64", "88", mov64},
    {"cvta.shared.u64", "88", from_shared},
    {"cvta.shared::cta.u64", "88", from_shared},
    {"cvta.shared::cluster.u64", "88", from_shared},
    {"cvta.to.shared.u64", "88", to_shared},
    {"cvta.to.shared::cta.u64", "88", to_shared},
    {"cvta.to.shared::cluster.u64", "88", to_shared},
    {NULL, NULL, NULL}};

//===----------------------------------------------------------------------===//
// mov, which also packs and unpacks
//===----------------------------------------------------------------------===//

EMU_HEAD(unpack) {
  const emu_operand *to = &i->operands[0];
  EMU_EACH(l) {
    uint64_t value = emu_read(w, &i->operands[1], l);
    for (uint32_t n = 0; n < to->count; ++n)
      emu_write(w, &to->elements[n], l, value >> (8 * i->bytes * n));
  }
  return EMU_NEXT;
}

EMU_HEAD(pack) {
  const emu_operand *from = &i->operands[1];
  EMU_EACH(l) {
    uint64_t value = 0;
    for (uint32_t n = 0; n < from->count; ++n)
      value |= emu_read(w, &from->elements[n], l) << (8 * i->bytes * n);
    emu_write(w, &i->operands[0], l, value);
  }
  return EMU_NEXT;
}

static bool decode_mov(emu_parser *p, emu_instruction *i,
                       const emu_words *words) {
  char kind;
  unsigned bytes = words->count == 2 ? emu_type(words->word[1], &kind) : 0;
  if (bytes < 2 || bytes > 8 || i->operand_count != 2)
    return false;
  for (int n = 0; n < 2; ++n) {
    emu_operand *list = &i->operands[n];
    if (list->kind != EMU_LIST)
      continue;
    if (list->count == 0 || bytes % list->count != 0)
      return emu_refuse(p, "%u parts of %u bytes", list->count, bytes);
    i->bytes = (uint8_t)(bytes / list->count);
    i->run = n == 0 ? unpack : pack;
    return emu_take_list(p, list, list->count, i->bytes) &&
           emu_take(p, &i->operands[1 - n], bytes);
  }
  i->run = bytes == 2 ? mov16 : bytes == 4 ? mov32 : mov64;
  return emu_take(p, &i->operands[0], bytes) &&
         emu_take(p, &i->operands[1], bytes);
}

//===----------------------------------------------------------------------===//
// Jumps
//===----------------------------------------------------------------------===//

EMU_HEAD(run_bra) {
  emu_group *group = &w->groups[w->current];
  uint32_t target = i->operands[0].place;
  if (w->groups_count > 1 && target <= w->pc)
    ++w->spins;
  if (w->active == group->mask) {
    group->pc = target;
    return EMU_JUMP;
  }
  group->mask &= ~w->active;
  group->pc = w->pc + 1;
  w->groups[w->groups_count++] =
      (emu_group){.pc = target, .mask = w->active, .ran = group->ran};
  return EMU_JUMP;
}

static bool decode_bra(emu_parser *p, emu_instruction *i,
                       const emu_words *words) {
  i->run = run_bra;
  if (i->operand_count != 1 || i->operands[0].kind != EMU_LABEL)
    return emu_refuse(p, "a jump without a label");
  return words->count == 1 || emu_has(words, "uni");
}

emu_action emu_return(emu_warp *w, const emu_instruction *i) {
  (void)i;
  emu_group *group = &w->groups[w->current];
  group->mask &= ~w->active;
  group->pc = w->pc + 1;
  w->live &= ~w->active;
  return EMU_JUMP;
}

static bool decode_return(emu_parser *p, emu_instruction *i,
                          const emu_words *words) {
  (void)p;
  i->run = emu_return;
  return words->count == 1 && i->operand_count == 0;
}

EMU_HEAD(trap) {
  return emu_fault(w, i, (uint32_t)__builtin_ctz(w->active), "a trap");
}

static bool decode_trap(emu_parser *p, emu_instruction *i,
                        const emu_words *words) {
  (void)p;
  i->run = trap;
  return words->count == 1 && i->operand_count == 0;
}

const emu_family emu_move_families[] = {
    {"mov", decode_mov},     {"bra", decode_bra},   {"ret", decode_return},
    {"exit", decode_return}, {"trap", decode_trap}, {NULL, NULL}};
