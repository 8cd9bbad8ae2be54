//===- WarpOps.c - What the lanes of a warp do together -------------------===//

#include "Lanes.h"

/// The lanes that an instruction's mask names; each active lane has to be one.
static bool mask_of(emu_warp *w, const emu_instruction *i, int operand,
                    uint32_t *mask) {
  uint32_t first = (uint32_t)__builtin_ctz(w->active);
  *mask = (uint32_t)emu_read(w, &i->operands[operand], first);
  EMU_EACH(l) {
    if (!(*mask >> l & 1) ||
        (uint32_t)emu_read(w, &i->operands[operand], l) != *mask) {
      emu_fault(w, i, l, "its lane is not in the mask 0x%x",
                (uint32_t)emu_read(w, &i->operands[operand], l));
      return false;
    }
  }
  return true;
}

#define MASK(operand)                                                          \
  uint32_t mask;                                                               \
  if (!mask_of(w, i, operand, &mask))                                          \
    return EMU_FAULT;                                                          \
  if (!emu_together(w, mask))                                                  \
    return EMU_WAIT;

enum { UP, DOWN, BUTTERFLY, INDEX };

EMU_HEAD(shuffle) {
  MASK(4)
  uint32_t result[EMU_LANES] = {0}, inside = 0;
  EMU_EACH(l) {
    uint32_t b = (uint32_t)emu_read(w, &i->operands[2], l) & 31;
    uint32_t c = (uint32_t)emu_read(w, &i->operands[3], l);
    uint32_t segments = c >> 8 & 31;
    uint32_t least = l & segments, most = least | (c & 31 & ~segments);
    // For up, the clamp is the least lane.
    int32_t from = 0;
    bool good = false;
    switch (i->code) {
    case UP:
      from = (int32_t)l - (int32_t)b;
      good = from >= (int32_t)most;
      break;
    case DOWN:
      from = (int32_t)(l + b);
      good = from <= (int32_t)most;
      break;
    case BUTTERFLY:
      from = (int32_t)(l ^ b);
      good = from <= (int32_t)most;
      break;
    default:
      from = (int32_t)(least | (b & ~segments));
      good = from <= (int32_t)most;
    }
    if (!good)
      from = (int32_t)l;
    if (!(w->active >> from & 1))
      return emu_fault(w, i, l, "it reads lane %d, which does not take part",
                       from);
    result[l] = (uint32_t)emu_read(w, &i->operands[1], (uint32_t)from);
    inside |= (uint32_t)good << l;
  }
  EMU_EACH(l)
  emu_write(w, &i->operands[0], l, result[l]);
  if (i->operands[0].count)
    emu_set_predicate(w, i->operands[0].elements, inside);
  return EMU_NEXT;
}

/// The second destination of a|p.
static bool take_second(emu_parser *p, emu_operand *o) {
  return o->count == 0 || emu_take(p, o->elements, 0);
}

static bool decode_shuffle(emu_parser *p, emu_instruction *i,
                           const emu_words *words) {
  static const char *const modes[] = {"up", "down", "bfly", "idx"};
  i->run = shuffle;
  if (words->count != 4 || strcmp(words->word[1], "sync") != 0 ||
      strcmp(words->word[3], "b32") != 0)
    return false;
  while (i->code < 4 && strcmp(words->word[2], modes[i->code]) != 0)
    ++i->code;
  return i->code < 4 && take_second(p, &i->operands[0]) &&
         emu_take_form(p, i, "44444");
}

enum { ALL, ANY, UNIFORM, BALLOT };

EMU_HEAD(vote) {
  MASK(2)
  uint32_t members = w->active;
  uint32_t bits = emu_predicate(w, &i->operands[1]) & members;
  if (i->code == BALLOT) {
    EMU_EACH(l)
    emu_write(w, &i->operands[0], l, bits);
    return EMU_NEXT;
  }
  bool said = i->code == ALL   ? bits == members
              : i->code == ANY ? bits != 0
                               : bits == 0 || bits == members;
  emu_set_predicate(w, &i->operands[0], said ? UINT32_MAX : 0);
  return EMU_NEXT;
}

static bool decode_vote(emu_parser *p, emu_instruction *i,
                        const emu_words *words) {
  static const char *const modes[] = {"all", "any", "uni", "ballot"};
  i->run = vote;
  if (words->count != 4 || strcmp(words->word[1], "sync") != 0)
    return false;
  while (i->code < 4 && strcmp(words->word[2], modes[i->code]) != 0)
    ++i->code;
  return i->code < 4 && emu_take_form(p, i, i->code == BALLOT ? "414" : "114");
}

EMU_HEAD(match_any) {
  const emu_operand *a = &i->operands[1];
  MASK(2)
  uint32_t result[EMU_LANES] = {0};
  EMU_EACH(l)
  for (uint32_t k = 0; k < EMU_LANES; ++k)
    if (w->active >> k & 1 && emu_read(w, a, l) == emu_read(w, a, k))
      result[l] |= UINT32_C(1) << k;
  EMU_EACH(l)
  emu_write(w, &i->operands[0], l, result[l]);
  return EMU_NEXT;
}

static bool decode_match(emu_parser *p, emu_instruction *i,
                         const emu_words *words) {
  i->run = match_any;
  if (words->count != 4 || strcmp(words->word[1], "sync") != 0 ||
      strcmp(words->word[2], "any") != 0)
    return false;
  return emu_take_form(p, i,
                       strcmp(words->word[3], "b64") == 0 ? "484" : "444");
}

enum { SUM, LEAST, MOST, AND, OR, XOR };

EMU_HEAD(redux) {
  MASK(2)
  uint32_t total = 0;
  bool first = true;
  EMU_EACH(l) {
    uint32_t x = (uint32_t)emu_read(w, &i->operands[1], l);
    bool less = i->is_signed ? (int32_t)x < (int32_t)total : x < total;
    if (first)
      total = x;
    else if (i->code == SUM)
      total += x;
    else if (i->code == LEAST)
      total = less ? x : total;
    else if (i->code == MOST)
      total = less ? total : x;
    else
      total = i->code == AND  ? total & x
              : i->code == OR ? total | x
                              : total ^ x;
    first = false;
  }
  EMU_EACH(l)
  emu_write(w, &i->operands[0], l, total);
  return EMU_NEXT;
}

static bool decode_redux(emu_parser *p, emu_instruction *i,
                         const emu_words *words) {
  static const char *const names[] = {"add", "min", "max", "and", "or", "xor"};
  i->run = redux;
  if (words->count != 4 || strcmp(words->word[1], "sync") != 0)
    return false;
  while (i->code < 6 && strcmp(words->word[2], names[i->code]) != 0)
    ++i->code;
  i->is_signed = strcmp(words->word[3], "s32") == 0;
  return i->code < 6 && strstr(words->word[3], "32") &&
         emu_take_form(p, i, "444");
}

EMU_HEAD(elect) {
  MASK(1)
  uint32_t leader = (uint32_t)__builtin_ctz(w->active);
  if (i->operands[0].kind != EMU_SINK) {
    EMU_EACH(l)
    emu_write(w, &i->operands[0], l, leader);
  }
  emu_set_predicate(w, i->operands[0].elements, UINT32_C(1) << leader);
  return EMU_NEXT;
}

static bool decode_elect(emu_parser *p, emu_instruction *i,
                         const emu_words *words) {
  i->run = elect;
  return words->count == 2 && strcmp(words->word[1], "sync") == 0 &&
         i->operands[0].count == 1 && take_second(p, &i->operands[0]) &&
         emu_take_form(p, i, "44");
}

EMU_HEAD(active_mask) {
  EMU_EACH(l)
  emu_write(w, &i->operands[0], l, w->active);
  return EMU_NEXT;
}

static bool decode_active_mask(emu_parser *p, emu_instruction *i,
                               const emu_words *words) {
  i->run = active_mask;
  return words->count == 2 && emu_take_form(p, i, "4");
}

const emu_family emu_warp_families[] = {{"shfl", decode_shuffle},
                                        {"vote", decode_vote},
                                        {"match", decode_match},
                                        {"redux", decode_redux},
                                        {"elect", decode_elect},
                                        {"activemask", decode_active_mask},
                                        {NULL, NULL}};
