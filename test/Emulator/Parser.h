//===- Parser.h - What the files that decode PTX share --------------------===//

#ifndef PIT_TEST_EMULATOR_PARSER_H
#define PIT_TEST_EMULATOR_PARSER_H

#include "Program.h"

enum { EMU_NAME_SIZE = 160 };

/// A declared register, or as many as `count` says with numbers after the name.
typedef struct emu_register {
  char name[64];
  uint32_t count; ///< 0: one without a number
  uint32_t place; ///< of the first
  uint8_t bytes;
} emu_register;

/// A variable or a parameter: an address that is known.
typedef struct emu_symbol {
  char name[EMU_NAME_SIZE];
  uint64_t address;
} emu_symbol;

typedef struct emu_label {
  char name[64];
  uint32_t scope, instruction;
} emu_label;

/// A place that a label is to be put into.
typedef struct emu_jump {
  char name[64];
  uint32_t scope, instruction, operand, line;
} emu_jump;

/// Arrays that grow; freed at the end.
#define EMU_ARRAY(type, name)                                                  \
  type *name;                                                                  \
  uint32_t name##_count, name##_room

struct emu_parser {
  const char *at;
  uint32_t line;
  emu_module *module;
  emu_function *function;
  char *message;
  bool failed;
  EMU_ARRAY(emu_register, registers);
  EMU_ARRAY(emu_symbol, symbols);
  EMU_ARRAY(emu_label, labels);
  EMU_ARRAY(emu_jump, jumps);
  EMU_ARRAY(emu_instruction, code);
  EMU_ARRAY(emu_special, specials);
  EMU_ARRAY(emu_parameter, parameters);
  EMU_ARRAY(uint32_t, parents); ///< of scopes
  char *constants;
  uint32_t constant_bytes, constant_room;
  uint32_t register_bytes;
  uint32_t scope;
  uint32_t shared_used;
};

/// Room for one more element of an array; NULL: out of memory.
void *emu_grow(void **array, uint32_t *count, uint32_t *room, size_t size);
#define EMU_PUSH(p, array)                                                     \
  emu_grow((void **)&(p)->array, &(p)->array##_count, &(p)->array##_room,      \
           sizeof(*(p)->array))

void emu_skip(emu_parser *p);
/// True if the text goes on with a character or word, which is skipped.
bool emu_accept(emu_parser *p, const char *text);
bool emu_expect(emu_parser *p, const char *text);
/// A name, with leading dots and percent signs; false: there is none.
bool emu_name(emu_parser *p, char *name, size_t size);
/// A number, negative or not; of a float its bits. False: there is none.
bool emu_number(emu_parser *p, int64_t *value);

uint32_t emu_add_registers(emu_parser *p, uint32_t count, unsigned bytes);
bool emu_add_symbol(emu_parser *p, const char *name, uint64_t address);

/// The register of a name; false: there is none.
bool emu_find_value(emu_parser *p, const char *name, emu_operand *o);
/// Parses the operands up to the semicolon.
bool emu_operands(emu_parser *p, emu_instruction *i);
/// Parses and decodes an instruction, with its guard.
bool emu_statement(emu_parser *p);

#endif // PIT_TEST_EMULATOR_PARSER_H
