//===- Operands.c - The operands of an instruction ------------------------===//

#include "Machine.h"
#include "Parser.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void *emu_parser_new(emu_parser *p, size_t bytes) {
  void *made = emu_new(p->module, bytes);
  if (!made)
    emu_refuse(p, "out of memory");
  return made;
}

uint32_t emu_add_registers(emu_parser *p, uint32_t count, unsigned bytes) {
  // Lanes of a register are aligned for the host's vectors.
  uint32_t each = bytes ? EMU_LANES * bytes : 8;
  uint32_t place = (p->register_bytes + 63) / 64 * 64;
  p->register_bytes = place + count * each;
  return place;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static const emu_register *find_register(const emu_parser *p, const char *name,
                                         uint32_t *number) {
  size_t length = strlen(name), stem = length;
  while (stem > 0 && isdigit((unsigned char)name[stem - 1]))
    --stem;
  for (uint32_t r = p->registers_count; r-- > 0;) {
    const emu_register *at = &p->registers[r];
    *number = 0;
    if (at->count == 0 && strcmp(at->name, name) == 0)
      return at;
    if (at->count == 0 || stem == length || strlen(at->name) != stem ||
        strncmp(at->name, name, stem) != 0)
      continue;
    unsigned long n = strtoul(name + stem, NULL, 10);
    *number = (uint32_t)n;
    if (n < at->count)
      return at;
  }
  return NULL;
}

static bool is_wide_special(const char *name) {
  static const char *const wide[] = {"%clock64", "%globaltimer", "%gridid"};
  for (size_t n = 0; n < sizeof(wide) / sizeof(*wide); ++n)
    if (strcmp(name, wide[n]) == 0)
      return true;
  return false;
}

/// Special registers get a place when they are first met.
static bool special(emu_parser *p, const char *name, emu_operand *o) {
  o->bytes = is_wide_special(name) ? 8 : 4;
  for (uint32_t s = 0; s < p->specials_count; ++s)
    if (strcmp(p->specials[s].name, name) == 0) {
      o->place = p->specials[s].place;
      return true;
    }
  emu_special *made = EMU_PUSH(p, specials);
  if (!made || strlen(name) >= sizeof(made->name))
    return emu_refuse(p, "unknown special register %s", name);
  strcpy(made->name, name);
  made->place = emu_add_registers(p, 1, o->bytes);
  o->place = made->place;
  return true;
}

bool emu_find_value(emu_parser *p, const char *name, emu_operand *o) {
  uint32_t number;
  const emu_register *found = find_register(p, name, &number);
  if (!found)
    return false;
  o->kind = EMU_VALUE;
  o->base = EMU_IN_REGISTERS;
  o->bytes = found->bytes;
  o->place =
      found->place + number * (found->bytes ? EMU_LANES * found->bytes : 8u);
  return true;
}

/// A register, a special register, a variable's address, or a label.
static bool name_operand(emu_parser *p, const char *name, emu_operand *o) {
  if (emu_find_value(p, name, o))
    return true;
  if (name[0] == '%') {
    o->kind = EMU_VALUE;
    return special(p, name, o);
  }
  for (uint32_t s = p->symbols_count; s-- > 0;)
    if (strcmp(p->symbols[s].name, name) == 0) {
      o->kind = EMU_VALUE;
      o->is_number = true;
      o->value = (int64_t)p->symbols[s].address;
      return true;
    }
  // A label, which may come later.
  o->kind = EMU_LABEL;
  emu_jump *made = EMU_PUSH(p, jumps);
  if (!made || strlen(name) >= sizeof(made->name))
    return emu_refuse(p, "unknown name %s", name);
  strcpy(made->name, name);
  made->scope = p->scope;
  made->line = p->line;
  made->instruction = p->code_count; // the operand is set by its caller
  return true;
}

static bool operand(emu_parser *p, emu_operand *o);

/// The elements up to a closing brace.
static bool list(emu_parser *p, emu_operand *o) {
  enum { MOST = 256 };
  emu_operand elements[MOST];
  uint32_t count = 0;
  do {
    if (count == MOST)
      return emu_refuse(p, "a list of more than %d operands", MOST);
    if (!operand(p, &elements[count++]))
      return false;
  } while (emu_accept(p, ","));
  if (!emu_expect(p, "}"))
    return false;
  o->kind = EMU_LIST;
  o->count = count;
  o->elements = emu_parser_new(p, count * sizeof(*o->elements));
  if (!o->elements)
    return false;
  memcpy(o->elements, elements, count * sizeof(*o->elements));
  return true;
}

/// [register + number], [name + number], [register, {coordinates}].
static bool address(emu_parser *p, emu_operand *o) {
  if (!operand(p, o))
    return false;
  int64_t offset = 0;
  if (emu_accept(p, "+") && !emu_number(p, &offset))
    return emu_refuse(p, "an address without its offset");
  if (o->kind != EMU_VALUE)
    return emu_refuse(p, "an address that is neither a register nor a name");
  o->kind = EMU_ADDRESS;
  if (o->is_number)
    o->value += offset;
  else
    o->value = offset;
  if (emu_accept(p, ",")) {
    emu_operand coordinates = {0};
    if (!emu_expect(p, "{") || !list(p, &coordinates))
      return false;
    o->elements = coordinates.elements;
    o->count = coordinates.count;
  }
  return emu_expect(p, "]");
}

static bool operand(emu_parser *p, emu_operand *o) {
  *o = (emu_operand){0};
  if (emu_accept(p, "{"))
    return list(p, o);
  if (emu_accept(p, "["))
    return address(p, o);
  if (emu_accept(p, "_")) {
    o->kind = EMU_SINK;
    return true;
  }
  if (emu_number(p, &o->value)) {
    o->kind = EMU_VALUE;
    o->is_number = true;
    return true;
  }
  bool negated = emu_accept(p, "!");
  char name[EMU_NAME_SIZE];
  if (!emu_name(p, name, sizeof(name)))
    return emu_refuse(p, "an operand that is not understood: '%.20s'", p->at);
  if (!name_operand(p, name, o))
    return false;
  o->is_negated = negated;
  if (emu_accept(p, "|")) {
    o->elements = emu_parser_new(p, sizeof(*o->elements));
    o->count = 1;
    return o->elements && operand(p, o->elements);
  }
  if (o->is_number && emu_accept(p, "+")) {
    int64_t offset;
    if (!emu_number(p, &offset))
      return emu_refuse(p, "a name without its offset");
    o->value += offset;
  }
  return true;
}

bool emu_operands(emu_parser *p, emu_instruction *i) {
  while (!emu_accept(p, ";")) {
    if (i->operand_count > 0 && !emu_expect(p, ","))
      return false;
    if (i->operand_count == EMU_OPERANDS)
      return emu_refuse(p, "more than %d operands", EMU_OPERANDS);
    emu_operand *o = &i->operands[i->operand_count];
    if (!operand(p, o))
      return false;
    if (o->kind == EMU_LABEL)
      p->jumps[p->jumps_count - 1].operand = i->operand_count;
    ++i->operand_count;
  }
  return !p->failed;
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

/// Puts a number among the constants, in every lane.
static bool make_constant(emu_parser *p, emu_operand *o, unsigned bytes) {
  uint32_t size = bytes ? EMU_LANES * bytes : 8;
  uint32_t place = (p->constant_bytes + 63) / 64 * 64;
  if (place + size > p->constant_room) {
    uint32_t room = 2 * (place + size);
    char *moved = realloc(p->constants, room);
    if (!moved)
      return emu_refuse(p, "out of memory");
    p->constants = moved;
    p->constant_room = room;
  }
  memset(p->constants + p->constant_bytes, 0, place - p->constant_bytes);
  p->constant_bytes = place + size;
  char *at = p->constants + place;
  if (bytes == 0)
    memset(at, o->value ? 0xFF : 0, size);
  for (uint32_t lane = 0; bytes && lane < EMU_LANES; ++lane)
    memcpy(at + lane * bytes, &o->value, bytes); // the low bytes
  o->is_number = false;
  o->base = EMU_IN_CONSTANTS;
  o->place = place;
  o->bytes = (uint8_t)bytes;
  return true;
}

static bool take(emu_parser *p, emu_operand *o, unsigned bytes, bool is_wide) {
  if (o->kind == EMU_SINK)
    return true;
  if (o->kind != EMU_VALUE)
    return emu_refuse(p, "an operand that is neither a register nor a number");
  if (o->is_number)
    return make_constant(p, o, bytes);
  if (o->bytes == bytes || (is_wide && o->bytes > bytes))
    return true;
  return emu_refuse(p, "a register of %u bits where one of %u is wanted",
                    8u * o->bytes, 8 * bytes);
}

bool emu_take(emu_parser *p, emu_operand *o, unsigned bytes) {
  return take(p, o, bytes, false);
}

bool emu_take_wide(emu_parser *p, emu_operand *o, unsigned bytes) {
  return take(p, o, bytes, true);
}

bool emu_take_list(emu_parser *p, emu_operand *o, unsigned count,
                   unsigned bytes) {
  if (o->kind != EMU_LIST && count == 1) {
    emu_operand *only = emu_parser_new(p, sizeof(*only));
    if (!only)
      return false;
    *only = *o;
    *o = (emu_operand){.kind = EMU_LIST, .elements = only, .count = 1};
  }
  if (o->kind != EMU_LIST || o->count != count)
    return emu_refuse(p, "%u operands in braces are wanted", count);
  for (uint32_t n = 0; n < count; ++n)
    if (!emu_take_wide(p, &o->elements[n], bytes))
      return false;
  return true;
}

bool emu_take_address(emu_parser *p, emu_operand *o) {
  if (o->kind != EMU_ADDRESS)
    return emu_refuse(p, "an operand that is no address");
  for (uint32_t n = 0; n < o->count; ++n)
    if (!emu_take(p, &o->elements[n], 4))
      return false;
  if (o->is_number) {
    if (!make_constant(p, o, 8))
      return false;
    o->value = 0;
    return true;
  }
  if (o->bytes == 4 || o->bytes == 8)
    return true;
  return emu_refuse(p, "an address in a register of %u bits", 8u * o->bytes);
}

bool emu_take_form(emu_parser *p, emu_instruction *i, const char *form) {
  if (strlen(form) != i->operand_count)
    return emu_refuse(p, "%u operands; %zu are wanted", i->operand_count,
                      strlen(form));
  for (int n = 0; form[n]; ++n) {
    emu_operand *o = &i->operands[n];
    if (form[n] == 'q') {
      if (o->count != 1 || !emu_take(p, o, 0) || !emu_take(p, o->elements, 0))
        return false;
      continue;
    }
    if (form[n] == 'a'
            ? !emu_take_address(p, o)
            : !emu_take(p, o, form[n] == '1' ? 0u : (unsigned)form[n] - '0'))
      return false;
  }
  return true;
}
