//===- MemoryOps.c - Loads, stores and atomics ----------------------------===//

#include "Half.h"
#include "Lanes.h"

/// Whether a word says how memory is ordered or cached, which makes no
/// difference here.
static bool is_hint(const char *word) {
  static const char *const hints[] = {
      "weak",    "volatile", "relaxed", "acquire", "release", "acq_rel", "cta",
      "cluster", "gpu",      "sys",     "nc",      "ca",      "cg",      "cs",
      "lu",      "cv",       "wb",      "wt",      "noftz"};
  for (size_t n = 0; n < sizeof(hints) / sizeof(*hints); ++n)
    if (strcmp(word, hints[n]) == 0)
      return true;
  return strncmp(word, "L1::", 4) == 0 || strncmp(word, "L2::", 4) == 0;
}

static bool space_of(const char *word, uint8_t *space) {
  static const struct {
    const char *name;
    emu_space space;
  } spaces[] = {{"global", EMU_GLOBAL},      {"shared", EMU_SHARED},
                {"shared::cta", EMU_SHARED}, {"shared::cluster", EMU_SHARED},
                {"local", EMU_LOCAL},        {"param", EMU_PARAM},
                {"param::entry", EMU_PARAM}, {"const", EMU_CONST}};
  for (size_t n = 0; n < sizeof(spaces) / sizeof(*spaces); ++n)
    if (strcmp(word, spaces[n].name) == 0) {
      *space = (uint8_t)spaces[n].space;
      return true;
    }
  return false;
}

/// Reads the space, the vector and the type; `operation`, if there may be one,
/// gets the number of the word that is none of these.
static bool access_words(emu_instruction *i, const emu_words *words, char *kind,
                         int *operation) {
  i->space = EMU_GENERIC;
  i->vector = 1;
  for (int n = 1; n + 1 < words->count; ++n) {
    const char *word = words->word[n];
    if (space_of(word, &i->space) || is_hint(word))
      continue;
    if (word[0] == 'v' && strchr("248", word[1]) && word[1] && !word[2]) {
      i->vector = (uint8_t)(word[1] - '0');
      continue;
    }
    if (!operation || *operation)
      return false;
    *operation = n;
  }
  i->bytes = (uint8_t)emu_type(words->word[words->count - 1], kind);
  i->is_signed = *kind == 's';
  return i->bytes > 0 && i->bytes <= 8 && i->bytes * i->vector <= 32;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// A value of few bytes. A memcpy into a part of 64 bits would make the reader
/// of the whole wait for the cache.
static uint64_t unsigned_element(const char *from, unsigned bytes) {
  uint8_t byte;
  uint16_t half;
  uint32_t word;
  uint64_t both;
  switch (bytes) {
  case 1:
    memcpy(&byte, from, sizeof(byte));
    return byte;
  case 2:
    memcpy(&half, from, sizeof(half));
    return half;
  case 4:
    memcpy(&word, from, sizeof(word));
    return word;
  default:
    memcpy(&both, from, sizeof(both));
    return both;
  }
}

static uint64_t element(const char *from, unsigned bytes, bool is_signed) {
  uint64_t value = unsigned_element(from, bytes);
  unsigned rest = 64 - 8 * bytes;
  return is_signed ? (uint64_t)((int64_t)(value << rest) >> rest) : value;
}

EMU_HEAD(load) {
  const emu_operand *to = &i->operands[0];
  const unsigned bytes = i->bytes, total = bytes * i->vector;
  EMU_EACH(l) {
    const char *from =
        emu_resolve(w, i, l, (emu_space)i->space,
                    emu_address(w, &i->operands[1], l), total, total);
    if (!from || !emu_check_race(w, i, l, from, total, RACE_READ))
      return EMU_FAULT;
    for (unsigned v = 0; v < i->vector; ++v, from += bytes)
      emu_write(w, &to->elements[v], l, element(from, bytes, i->is_signed));
  }
  return EMU_NEXT;
}

EMU_HEAD(store) {
  const emu_operand *from = &i->operands[1];
  const unsigned bytes = i->bytes, total = bytes * i->vector;
  EMU_EACH(l) {
    char *to = emu_resolve(w, i, l, (emu_space)i->space,
                           emu_address(w, &i->operands[0], l), total, total);
    if (!to || !emu_check_race(w, i, l, to, total, RACE_WRITE))
      return EMU_FAULT;
    emu_note_write(w, to, total);
    for (unsigned v = 0; v < i->vector; ++v, to += bytes) {
      uint64_t value = emu_read(w, &from->elements[v], l);
      memcpy(to, &value, bytes);
    }
  }
  ++w->block->launch->effects;
  return EMU_NEXT;
}

/// A register may be wider than what is loaded or stored; bytes are in
/// registers of 16 bits.
static bool take_elements(emu_parser *p, emu_operand *o,
                          const emu_instruction *i) {
  return emu_take_list(p, o, i->vector, i->bytes < 2 ? 2 : i->bytes);
}

static bool decode_load(emu_parser *p, emu_instruction *i,
                        const emu_words *words) {
  char kind;
  i->run = load;
  return access_words(i, words, &kind, NULL) && i->operand_count == 2 &&
         take_elements(p, &i->operands[0], i) &&
         emu_take_address(p, &i->operands[1]);
}

static bool decode_store(emu_parser *p, emu_instruction *i,
                         const emu_words *words) {
  char kind;
  i->run = store;
  return access_words(i, words, &kind, NULL) && i->operand_count == 2 &&
         emu_take_address(p, &i->operands[0]) &&
         take_elements(p, &i->operands[1], i);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

typedef enum atomic {
  ADD,
  MIN,
  MAX,
  AND,
  OR,
  XOR,
  EXCHANGE,
  COMPARE,
  INCREMENT,
  DECREMENT
} atomic;

static uint64_t add_floats(char kind, unsigned bytes, uint64_t a, uint64_t b) {
  if (kind == 'f' && bytes == 8) {
    double x, y;
    memcpy(&x, &a, sizeof(x));
    memcpy(&y, &b, sizeof(y));
    x += y;
    memcpy(&a, &x, sizeof(a));
    return a;
  }
  if (kind == 'f')
    return emu_bits32(emu_float32((uint32_t)a) + emu_float32((uint32_t)b));
  if (kind == 'h' || kind == 'H') {
    uint64_t sum = 0;
    for (unsigned n = 0; n < 8 * bytes; n += 16)
      sum |= (uint64_t)emu_to_f16(emu_from_f16((uint16_t)(a >> n)) +
                                  emu_from_f16((uint16_t)(b >> n)))
             << n;
    return sum;
  }
  uint64_t sum = 0;
  for (unsigned n = 0; n < 8 * bytes; n += 16)
    sum |= (uint64_t)emu_to_bf16(emu_from_bf16((uint16_t)(a >> n)) +
                                 emu_from_bf16((uint16_t)(b >> n)))
           << n;
  return sum;
}

/// What is in memory after an atomic; the values are extended as their kind
/// says.
static uint64_t combine(atomic what, char kind, unsigned bytes, uint64_t old,
                        uint64_t b, uint64_t c) {
  bool less = kind == 's' ? (int64_t)b < (int64_t)old : b < old;
  switch (what) {
  case ADD:
    return strchr("fhHgG", kind) ? add_floats(kind, bytes, old, b) : old + b;
  case MIN:
    return less ? b : old;
  case MAX:
    return less ? old : b;
  case AND:
    return old & b;
  case OR:
    return old | b;
  case XOR:
    return old ^ b;
  case EXCHANGE:
    return b;
  case COMPARE:
    return old == b ? c : old;
  case INCREMENT:
    return old >= b ? 0 : old + 1;
  case DECREMENT:
    return old == 0 || old > b ? b : old - 1;
  }
  return old;
}

/// The destination is operand 0; red has none, and its operands follow as if
/// there were one.
static emu_action run_atomic(emu_warp *w, const emu_instruction *i,
                             const emu_operand *d, const emu_operand *at,
                             const emu_operand *b, const emu_operand *c) {
  const unsigned bytes = i->bytes, total = bytes * i->vector;
  const char kind = (char)i->flags;
  EMU_EACH(l) {
    char *to = emu_resolve(w, i, l, (emu_space)i->space, emu_address(w, at, l),
                           total, total);
    if (!to || !emu_check_race(w, i, l, to, total, RACE_ATOMIC))
      return EMU_FAULT;
    emu_note_write(w, to, total);
    for (unsigned v = 0; v < i->vector; ++v, to += bytes) {
      uint64_t old = element(to, bytes, kind == 's'), second, third = 0;
      second = emu_read(w, &b->elements[v], l);
      second = element((const char *)&second, bytes, kind == 's');
      if (c)
        third = emu_read(w, c, l);
      uint64_t after =
          combine((atomic)i->code, kind, bytes, old, second, third);
      memcpy(to, &after, bytes);
      if (d)
        emu_write(w, &d->elements[v], l, old);
    }
  }
  ++w->block->launch->effects;
  return EMU_NEXT;
}

EMU_HEAD(atom) {
  return run_atomic(w, i, &i->operands[0], &i->operands[1], &i->operands[2],
                    i->operand_count > 3 ? &i->operands[3] : NULL);
}

EMU_HEAD(reduction) {
  return run_atomic(w, i, NULL, &i->operands[0], &i->operands[1], NULL);
}

static bool decode_atomic(emu_parser *p, emu_instruction *i,
                          const emu_words *words) {
  static const char *const names[] = {"add", "min",  "max", "and", "or",
                                      "xor", "exch", "cas", "inc", "dec"};
  char kind;
  int operation = 0;
  if (!access_words(i, words, &kind, &operation) || !operation)
    return false;
  size_t n = 0;
  while (n < sizeof(names) / sizeof(*names) &&
         strcmp(words->word[operation], names[n]) != 0)
    ++n;
  bool is_float = strchr("fhHgG", kind) != NULL;
  if (n == sizeof(names) / sizeof(*names) ||
      (is_float && n != ADD && n != EXCHANGE))
    return false;
  i->code = (uint8_t)n;
  i->flags = (uint16_t)kind;
  bool has_result = strcmp(words->word[0], "atom") == 0;
  int at = has_result ? 1 : 0;
  if (i->operand_count != at + 2 + (n == COMPARE))
    return false;
  i->run = has_result ? atom : reduction;
  return (!has_result ||
          emu_take_list(p, &i->operands[0], i->vector, i->bytes)) &&
         emu_take_address(p, &i->operands[at]) &&
         emu_take_list(p, &i->operands[at + 1], i->vector, i->bytes) &&
         (n != COMPARE || emu_take(p, &i->operands[at + 2], i->bytes));
}

const emu_family emu_memory_families[] = {{"ld", decode_load},
                                          {"st", decode_store},
                                          {"atom", decode_atomic},
                                          {"red", decode_atomic},
                                          {NULL, NULL}};
