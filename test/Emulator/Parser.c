//===- Parser.c - Modules, functions and declarations of PTX --------------===//

#include "Parser.h"
#include "Machine.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct emu_chunk {
  struct emu_chunk *next;
  uint64_t variable; ///< the device's memory of a variable; 0: none
  _Alignas(64) char bytes[];
} emu_chunk;

static emu_chunk *new_chunk(emu_module *module, size_t bytes) {
  emu_chunk *made = aligned_alloc(64, (sizeof(*made) + bytes + 63) / 64 * 64);
  if (!made)
    return NULL;
  memset(made, 0, sizeof(*made) + bytes);
  made->next = module->chunks;
  module->chunks = made;
  return made;
}

void *emu_new(emu_module *module, size_t bytes) {
  emu_chunk *made = new_chunk(module, bytes);
  return made ? made->bytes : NULL;
}

unsigned emu_type(const char *name, char *kind) {
  static const struct {
    const char *name;
    unsigned bytes;
    char kind;
  } types[] = {{"f16", 2, 'h'},  {"bf16", 2, 'g'},   {"f16x2", 4, 'H'},
               {"tf32", 4, 't'}, {"bf16x2", 4, 'G'}, {"b128", 16, 'b'}};
  *kind = '\0';
  for (size_t t = 0; t < sizeof(types) / sizeof(*types); ++t)
    if (strcmp(name, types[t].name) == 0) {
      *kind = types[t].kind;
      return types[t].bytes;
    }
  if (strcmp(name, "pred") == 0)
    *kind = 'p';
  if (!name[0] || !strchr("usbf", name[0]))
    return 0;
  static const char *const bits[] = {"8", "16", "32", "64"};
  for (unsigned n = 0; n < 4; ++n)
    if (strcmp(name + 1, bits[n]) == 0 && !(name[0] == 'f' && n < 2)) {
      *kind = name[0];
      return 1u << n;
    }
  return 0;
}

bool emu_add_symbol(emu_parser *p, const char *name, uint64_t address) {
  emu_symbol *made = EMU_PUSH(p, symbols);
  if (!made)
    return emu_refuse(p, "out of memory");
  snprintf(made->name, sizeof(made->name), "%s", name);
  made->address = address;
  return true;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// What is between a state space and a name, and the size after it.
typedef struct variable {
  char name[EMU_NAME_SIZE];
  unsigned element, align;
  uint64_t bytes;
  bool is_open; ///< name[]
} variable;

static bool parse_variable(emu_parser *p, variable *v) {
  *v = (variable){.align = 0};
  char word[EMU_NAME_SIZE], kind;
  int64_t number;
  while (emu_accept(p, ".")) {
    if (!emu_name(p, word, sizeof(word)))
      return emu_refuse(p, "a declaration without a type");
    if (strcmp(word, "align") == 0) {
      if (!emu_number(p, &number) || number < 1 || number > 4096)
        return emu_refuse(p, "an alignment that is not understood");
      v->align = (unsigned)number;
    } else if (emu_type(word, &kind)) {
      v->element = emu_type(word, &kind);
    } else if (strcmp(word, "ptr") != 0 && strcmp(word, "global") != 0 &&
               strcmp(word, "shared") != 0 && strcmp(word, "const") != 0) {
      return emu_refuse(p, "a declaration with '.%s'", word);
    } else if (v->element == 0) {
      return emu_refuse(p, "a declaration without a type");
    } else {
      // .ptr .global .align N is of what a parameter points to.
      unsigned align = v->align;
      while (emu_accept(p, ".global") || emu_accept(p, ".shared") ||
             emu_accept(p, ".const"))
        ;
      if (emu_accept(p, ".align") && !emu_number(p, &number))
        return emu_refuse(p, "an alignment that is not understood");
      v->align = align;
    }
  }
  if (v->element == 0 || !emu_name(p, v->name, sizeof(v->name)))
    return emu_refuse(p, "a declaration without a type or a name");
  v->bytes = v->element;
  while (emu_accept(p, "[")) {
    if (emu_accept(p, "]")) {
      v->is_open = true;
      v->bytes = 0;
      continue;
    }
    if (!emu_number(p, &number) || number < 0 || !emu_expect(p, "]"))
      return emu_refuse(p, "the extent of '%s' is not understood", v->name);
    v->bytes *= (uint64_t)number;
  }
  v->align = v->align ? v->align : v->element;
  return true;
}

static uint32_t align_to(uint64_t value, unsigned align) {
  return (uint32_t)((value + align - 1) / align * align);
}

/// The bytes of shared memory that a text's own variables need. What a launch
/// adds comes after them, wherever they are declared.
static uint32_t measure_shared(emu_parser *from) {
  emu_parser p = {.at = from->at, .module = from->module};
  char message[EMU_MESSAGE_SIZE];
  p.message = message;
  uint32_t total = 0;
  const char *found;
  for (; (found = strstr(p.at, ".shared")) != NULL;) {
    p.at = found + 7;
    if (!isspace((unsigned char)found[-1]) || !isspace((unsigned char)*p.at) ||
        (found - from->at >= 8 && strncmp(found - 8, ".extern", 7) == 0))
      continue;
    variable v;
    if (!parse_variable(&p, &v))
      break; // where it is parsed, this is said
    total = align_to(total, v.align) + (uint32_t)v.bytes;
  }
  return total;
}

static bool shared_variable(emu_parser *p, bool is_extern) {
  variable v;
  if (!parse_variable(p, &v) || !emu_expect(p, ";"))
    return false;
  emu_module *m = p->module;
  if (v.align > m->shared_align)
    m->shared_align = v.align;
  if (is_extern)
    return emu_add_symbol(
        p, v.name, align_to(EMU_SHARED_START + m->static_shared, v.align));
  // EMU_SHARED_START is a multiple of any alignment up to itself.
  uint32_t at = align_to(p->shared_used, v.align);
  p->shared_used = at + (uint32_t)v.bytes;
  return emu_add_symbol(p, v.name, EMU_SHARED_START + at);
}

static bool initialize(emu_parser *p, const variable *v, char *memory) {
  bool is_list = emu_accept(p, "{");
  uint64_t at = 0;
  do {
    int64_t number;
    if (!emu_number(p, &number))
      return emu_refuse(p, "the value of '%s' is not a number", v->name);
    if (at + v->element > v->bytes)
      return emu_refuse(p, "'%s' has more values than room", v->name);
    memcpy(memory + at, &number, v->element < 8 ? v->element : 8);
    at += v->element;
  } while (is_list && emu_accept(p, ","));
  return !is_list || emu_expect(p, "}");
}

static bool global_variable(emu_parser *p) {
  variable v;
  if (!parse_variable(p, &v))
    return false;
  uint64_t bytes = v.bytes ? v.bytes : 1;
  emu_chunk *owner = new_chunk(p->module, 0);
  uint64_t address = owner ? emu_memory_new(bytes, SIZE_MAX) : 0;
  if (!address)
    return emu_refuse(p, "out of memory");
  owner->variable = address;
  char *memory = emu_memory_host(address, bytes);
  memset(memory, 0, bytes);
  if (emu_accept(p, "=") && !initialize(p, &v, memory))
    return false;
  return emu_add_symbol(p, v.name, address) && emu_expect(p, ";");
}

static bool register_declaration(emu_parser *p) {
  char type[EMU_NAME_SIZE], name[EMU_NAME_SIZE], kind;
  if (!emu_expect(p, ".") || !emu_name(p, type, sizeof(type)))
    return emu_refuse(p, "registers without a type");
  unsigned bytes = emu_type(type, &kind);
  if ((bytes == 0 && kind != 'p') || bytes > 8 || bytes == 1)
    return emu_refuse(p, "registers of type '%s'", type);
  do {
    int64_t count = 0;
    if (!emu_name(p, name, sizeof(name)))
      return emu_refuse(p, "registers without a name");
    if (emu_accept(p, "<") &&
        (!emu_number(p, &count) || count < 1 || !emu_expect(p, ">")))
      return emu_refuse(p, "how many registers '%s' is not understood", name);
    emu_register *made = EMU_PUSH(p, registers);
    if (!made || strlen(name) >= sizeof(made->name))
      return emu_refuse(p, "a register named '%s'", name);
    strcpy(made->name, name);
    made->count = (uint32_t)count;
    made->bytes = (uint8_t)bytes;
    made->place = emu_add_registers(p, count ? (uint32_t)count : 1, bytes);
  } while (emu_accept(p, ","));
  return emu_expect(p, ";");
}

static bool local_variable(emu_parser *p) {
  variable v;
  if (!parse_variable(p, &v) || !emu_expect(p, ";"))
    return false;
  uint32_t at = align_to(p->function->local_bytes, v.align);
  p->function->local_bytes = at + (uint32_t)v.bytes;
  return emu_add_symbol(p, v.name, EMU_LOCAL_BASE + at);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static bool parameter(emu_parser *p) {
  variable v;
  if (!emu_expect(p, ".param") || !parse_variable(p, &v))
    return false;
  emu_function *f = p->function;
  emu_parameter *made = EMU_PUSH(p, parameters);
  if (!made)
    return emu_refuse(p, "out of memory");
  f->parameter_bytes = align_to(f->parameter_bytes, v.align);
  *made =
      (emu_parameter){.offset = f->parameter_bytes, .size = (uint32_t)v.bytes};
  f->parameter_bytes += (uint32_t)v.bytes;
  return emu_add_symbol(p, v.name, EMU_PARAM_BASE + made->offset);
}

/// .maxntid 384, 1, 1 and its like; returns the product of the numbers.
static bool numbers(emu_parser *p, uint32_t *product) {
  *product = 1;
  do {
    int64_t number;
    if (!emu_number(p, &number) || number < 0)
      return emu_refuse(p, "a directive without its numbers");
    *product *= (uint32_t)number;
  } while (emu_accept(p, ","));
  return true;
}

static bool directives(emu_parser *p) {
  uint32_t ignored;
  emu_function *f = p->function;
  for (;;) {
    if (emu_accept(p, ".maxntid") || emu_accept(p, ".reqntid")) {
      if (!numbers(p, &f->max_threads))
        return false;
    } else if (emu_accept(p, ".reqnctapercluster")) {
      if (!numbers(p, &f->cluster))
        return false;
    } else if (emu_accept(p, ".minnctapersm") || emu_accept(p, ".maxnreg") ||
               emu_accept(p, ".maxclusterrank")) {
      if (!numbers(p, &ignored))
        return false;
    } else if (emu_accept(p, ".explicitcluster") ||
               emu_accept(p, ".blocksareclusters")) {
      continue;
    } else {
      return true;
    }
  }
}

static bool label(emu_parser *p, const char *name) {
  emu_label *made = EMU_PUSH(p, labels);
  if (!made || strlen(name) >= sizeof(made->name))
    return emu_refuse(p, "a label named '%s'", name);
  strcpy(made->name, name);
  made->scope = p->scope;
  made->instruction = p->code_count;
  return true;
}

/// A declaration, a label or an instruction; what is no such thing is refused.
static bool item(emu_parser *p) {
  emu_skip(p);
  if (emu_accept(p, ".reg"))
    return register_declaration(p);
  if (emu_accept(p, ".shared"))
    return shared_variable(p, false);
  if (emu_accept(p, ".local"))
    return local_variable(p);
  if (emu_accept(p, ".pragma") || emu_accept(p, ".loc")) {
    p->at += strcspn(p->at, ";\n");
    emu_accept(p, ";");
    return true;
  }
  if (*p->at == '.')
    return emu_refuse(p, "a directive that is not understood: '%.20s'", p->at);
  const char *before = p->at;
  char name[EMU_NAME_SIZE];
  if (*p->at != '@' && emu_name(p, name, sizeof(name))) {
    emu_skip(p);
    if (p->at[0] == ':' && p->at[1] != ':') {
      ++p->at;
      return label(p, name);
    }
  }
  p->at = before;
  return !p->failed && emu_statement(p);
}

static bool body(emu_parser *p) {
  uint32_t depth = 0;
  enum { DEEPEST = 32 };
  uint32_t outer[DEEPEST], registers[DEEPEST];
  do {
    if (emu_accept(p, "{")) {
      if (depth == DEEPEST)
        return emu_refuse(p, "blocks nested more than %d deep", DEEPEST);
      outer[depth] = p->scope;
      registers[depth++] = p->registers_count;
      uint32_t *parent = EMU_PUSH(p, parents);
      if (!parent)
        return emu_refuse(p, "out of memory");
      *parent = p->scope;
      p->scope = p->parents_count - 1;
    } else if (emu_accept(p, "}")) {
      p->scope = outer[--depth];
      p->registers_count = registers[depth];
    } else if (!*p->at) {
      return emu_refuse(p, "the text ends within a function");
    } else if (!item(p)) {
      return false;
    }
  } while (depth > 0);
  return true;
}

static bool resolve_jumps(emu_parser *p) {
  for (uint32_t j = 0; j < p->jumps_count; ++j) {
    const emu_jump *jump = &p->jumps[j];
    bool found = false;
    for (uint32_t scope = jump->scope; !found; scope = p->parents[scope]) {
      for (uint32_t l = 0; l < p->labels_count && !found; ++l)
        if (p->labels[l].scope == scope &&
            strcmp(p->labels[l].name, jump->name) == 0) {
          p->code[jump->instruction].operands[jump->operand].place =
              p->labels[l].instruction;
          found = true;
        }
      if (scope == 0)
        break;
    }
    if (!found) {
      p->line = jump->line;
      return emu_refuse(p, "unknown name %s", jump->name);
    }
  }
  return true;
}

/// Moves what was collected to the function.
static bool keep(emu_parser *p) {
  emu_function *f = p->function;
  size_t code = p->code_count * sizeof(*p->code);
  size_t specials = p->specials_count * sizeof(*p->specials);
  size_t parameters = p->parameters_count * sizeof(*p->parameters);
  f->code = emu_new(p->module, code);
  f->specials = emu_new(p->module, specials);
  f->parameters = emu_new(p->module, parameters);
  f->constants = emu_new(p->module, p->constant_bytes);
  if (!f->code || !f->specials || !f->parameters || !f->constants)
    return emu_refuse(p, "out of memory");
  if (code)
    memcpy(f->code, p->code, code);
  if (specials)
    memcpy(f->specials, p->specials, specials);
  if (parameters)
    memcpy(f->parameters, p->parameters, parameters);
  if (p->constant_bytes)
    memcpy(f->constants, p->constants, p->constant_bytes);
  f->count = p->code_count;
  f->special_count = p->specials_count;
  f->parameter_count = p->parameters_count;
  f->constant_bytes = p->constant_bytes;
  f->register_bytes = p->register_bytes;
  f->next = p->module->functions;
  p->module->functions = f;
  return true;
}

static bool function(emu_parser *p) {
  emu_function *f = emu_parser_new(p, sizeof(*f));
  if (!f || !emu_name(p, f->name, sizeof(f->name)))
    return emu_refuse(p, "a kernel without a name");
  f->module = p->module;
  p->function = f;
  uint32_t symbols = p->symbols_count;
  p->registers_count = p->labels_count = p->jumps_count = p->code_count = 0;
  p->specials_count = p->parameters_count = p->parents_count = 0;
  p->constant_bytes = p->register_bytes = p->scope = 0;
  uint32_t *outermost = EMU_PUSH(p, parents);
  if (!outermost)
    return emu_refuse(p, "out of memory");
  if (emu_accept(p, "(") && !emu_accept(p, ")")) {
    do {
      if (!parameter(p))
        return false;
    } while (emu_accept(p, ","));
    if (!emu_expect(p, ")"))
      return false;
  }
  if (!directives(p) || !body(p))
    return false;
  // A kernel returns at its end.
  emu_instruction *end = EMU_PUSH(p, code);
  if (!end)
    return emu_refuse(p, "out of memory");
  *end = (emu_instruction){
      .run = emu_return, .line = p->line, .text = "}", .length = 1};
  if (!resolve_jumps(p) || !keep(p))
    return false;
  p->symbols_count = symbols;
  return true;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static bool target(emu_parser *p) {
  emu_skip(p);
  if (strncmp(p->at, "sm_", 3) != 0)
    return emu_refuse(p, "a target that is not understood");
  p->module->target = (uint32_t)strtoul(p->at + 3, NULL, 10);
  p->at += strcspn(p->at, "\n");
  return true;
}

static bool top(emu_parser *p) {
  if (emu_accept(p, ".version") || emu_accept(p, ".address_size") ||
      emu_accept(p, ".file") || emu_accept(p, ".loc")) {
    p->at += strcspn(p->at, "\n");
    return true;
  }
  if (emu_accept(p, ".target"))
    return target(p);
  bool is_extern = emu_accept(p, ".extern");
  if (!emu_accept(p, ".visible") && !emu_accept(p, ".weak"))
    emu_accept(p, ".common");
  if (emu_accept(p, ".entry"))
    return function(p);
  if (emu_accept(p, ".shared"))
    return shared_variable(p, is_extern);
  if (!is_extern && (emu_accept(p, ".global") || emu_accept(p, ".const")))
    return global_variable(p);
  return emu_refuse(p, "not understood: '%.20s'", p->at);
}

static void free_parser(emu_parser *p) {
  free(p->registers);
  free(p->symbols);
  free(p->labels);
  free(p->jumps);
  free(p->code);
  free(p->specials);
  free(p->parameters);
  free(p->parents);
  free(p->constants);
}

emu_module *emu_module_load(const char *ptx, char message[EMU_MESSAGE_SIZE]) {
  emu_module *module = calloc(1, sizeof(*module));
  char *text = strdup(ptx);
  if (!module || !text) {
    snprintf(message, EMU_MESSAGE_SIZE, "out of memory");
    free(text);
    free(module);
    return NULL;
  }
  module->text = text;
  emu_parser p = {.at = text, .line = 1, .module = module, .message = message};
  module->static_shared = measure_shared(&p);
  emu_skip(&p);
  bool good = true;
  while (good && *p.at) {
    good = top(&p);
    emu_skip(&p);
  }
  free_parser(&p);
  if (good)
    return module;
  emu_module_free(module);
  return NULL;
}

void emu_module_free(emu_module *module) {
  while (module->chunks) {
    emu_chunk *next = module->chunks->next;
    if (module->chunks->variable)
      emu_memory_free(module->chunks->variable);
    free(module->chunks);
    module->chunks = next;
  }
  free(module->text);
  free(module);
}
