//===- Decode.c - From an opcode's name to what executes it ---------------===//

#include "Machine.h"
#include "Parser.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const emu_opcode *const opcode_tables[] = {
    emu_integer_opcodes, emu_float_opcodes, emu_half_opcodes, emu_move_opcodes};
static const emu_family *const family_tables[] = {
    emu_memory_families,  emu_convert_families, emu_warp_families,
    emu_barrier_families, emu_async_families,   emu_tensor_families,
    emu_tcgen05_families, emu_move_families};

enum { TABLES = sizeof(opcode_tables) / sizeof(*opcode_tables) };
enum { FAMILIES = sizeof(family_tables) / sizeof(*family_tables) };

static const emu_opcode *sorted[4096];
static size_t sorted_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int compare(const void *a, const void *b) {
  const emu_opcode *const *x = a, *const *y = b;
  return strcmp((*x)->name, (*y)->name);
}

static void sort_opcodes(void) {
  for (size_t t = 0; t < TABLES; ++t)
    for (const emu_opcode *at = opcode_tables[t]; at->name; ++at) {
      if (sorted_count == sizeof(sorted) / sizeof(*sorted))
        abort();
      sorted[sorted_count++] = at;
    }
  qsort(sorted, sorted_count, sizeof(*sorted), compare);
}

const emu_opcode *emu_find_opcode(const char *name) {
  pthread_once(&once, sort_opcodes);
  const emu_opcode key = {.name = name}, *at = &key;
  const emu_opcode **found =
      bsearch(&at, sorted, sorted_count, sizeof(*sorted), compare);
  return found ? *found : NULL;
}

emu_decode emu_find_family(const char *name) {
  for (size_t t = 0; t < FAMILIES; ++t)
    for (const emu_family *at = family_tables[t]; at->name; ++at)
      if (strcmp(at->name, name) == 0)
        return at->decode;
  return NULL;
}

int emu_find(const emu_words *words, const char *word) {
  for (int n = 1; n < words->count; ++n)
    if (strcmp(words->word[n], word) == 0)
      return n;
  return 0;
}

bool emu_has(const emu_words *words, const char *word) {
  return emu_find(words, word) != 0;
}

static bool split(emu_parser *p, const char *name, emu_words *words) {
  words->count = 0;
  while (*name) {
    size_t length = strcspn(name, ".");
    if (words->count == EMU_WORDS || length >= EMU_WORD_SIZE)
      return emu_refuse(p, "unknown instruction");
    memcpy(words->word[words->count], name, length);
    words->word[words->count++][length] = '\0';
    name += length + (name[length] == '.');
  }
  return words->count > 0;
}

static bool guard(emu_parser *p, emu_instruction *i) {
  if (!emu_accept(p, "@"))
    return true;
  i->is_guarded = true;
  i->guard_is_negated = emu_accept(p, "!");
  char name[EMU_NAME_SIZE];
  emu_operand found = {0};
  if (!emu_name(p, name, sizeof(name)) || !emu_find_value(p, name, &found))
    return emu_refuse(p, "a guard that is no register");
  if (!emu_take(p, &found, 0))
    return false;
  i->guard = found.place;
  return true;
}

bool emu_statement(emu_parser *p) {
  emu_instruction i = {.line = p->line, .text = p->at};
  if (!guard(p, &i))
    return false;
  emu_skip(p);
  char name[EMU_NAME_SIZE];
  size_t length = 0;
  while (islower((unsigned char)p->at[length]) ||
         isdigit((unsigned char)p->at[length]) ||
         (p->at[length] && strchr("._:LN", p->at[length])))
    ++length;
  if (length == 0 || length >= sizeof(name))
    return emu_refuse(p, "not understood: '%.20s'", p->at);
  memcpy(name, p->at, length);
  name[length] = '\0';
  p->at += length;
  uint32_t line = p->line;
  if (!emu_operands(p, &i))
    return false;
  i.length = (uint32_t)(p->at - i.text);
  p->line = line;
  emu_words words;
  const emu_opcode *simple = emu_find_opcode(name);
  if (simple) {
    i.run = simple->run;
    if (!emu_take_form(p, &i, simple->form))
      return false;
  } else {
    emu_decode decode =
        split(p, name, &words) ? emu_find_family(words.word[0]) : NULL;
    if (!decode || !decode(p, &i, &words))
      return emu_refuse(p, "unknown instruction '%s'", name);
  }
  // The operands may have taken more than a line.
  p->line = i.line;
  for (const char *at = i.text; at < p->at; ++at)
    p->line += *at == '\n';
  emu_instruction *made = EMU_PUSH(p, code);
  if (!made)
    return emu_refuse(p, "out of memory");
  *made = i;
  return true;
}
