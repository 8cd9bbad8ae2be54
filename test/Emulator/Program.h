//===- Program.h - PTX, decoded -------------------------------------------===//
//
// A module is decoded once, when it is loaded: each instruction knows the
// function that executes it, and its operands as places in the registers of a
// warp or among the constants of its kernel.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_EMULATOR_PROGRAM_H
#define PIT_TEST_EMULATOR_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  EMU_LANES = 32,
  EMU_OPERANDS = 8,
  EMU_WORDS = 20,     ///< of an opcode: what dots separate
  EMU_WORD_SIZE = 40, ///< of one of them, with the NUL
  EMU_MESSAGE_SIZE = 1024
};

struct emu_warp;
struct emu_instruction;

/// What executing an instruction came to.
typedef enum emu_action {
  EMU_NEXT,  ///< go on with the next instruction
  EMU_JUMP,  ///< the warp's groups of lanes say where to go on
  EMU_WAIT,  ///< execute it again, when something else has happened
  EMU_FAULT, ///< the launch has failed; it was reported
} emu_action;

typedef emu_action (*emu_run)(struct emu_warp *warp,
                              const struct emu_instruction *instruction);

typedef enum emu_kind {
  EMU_NONE,
  EMU_VALUE,   ///< a register or a constant
  EMU_ADDRESS, ///< [place + offset], in tensor copies with coordinates
  EMU_LIST,    ///< {a, b, ...}
  EMU_LABEL,
  EMU_SINK ///< _
} emu_kind;

enum { EMU_IN_REGISTERS, EMU_IN_CONSTANTS };

typedef struct emu_operand {
  uint8_t kind;
  uint8_t base;    ///< EMU_IN_REGISTERS or EMU_IN_CONSTANTS
  uint8_t bytes;   ///< of a lane; 0: a predicate, one bit of each lane
  bool is_number;  ///< before it gets its place among the constants
  bool is_negated; ///< !p
  uint32_t place;  ///< in bytes; of a label: the number of the instruction
  int64_t value;   ///< of a number; the offset of an address
  /// The elements of a list, the coordinates of an address, the second
  /// destination of a|b.
  struct emu_operand *elements;
  uint32_t count;
} emu_operand;

typedef enum emu_space {
  EMU_GENERIC,
  EMU_GLOBAL,
  EMU_SHARED,
  EMU_LOCAL,
  EMU_PARAM,
  EMU_CONST
} emu_space;

typedef struct emu_instruction {
  emu_run run;
  uint32_t guard; ///< the predicate's place
  bool is_guarded, guard_is_negated;
  uint8_t operand_count;
  // Of memory: where, and how many elements of how many bytes.
  uint8_t space, bytes, vector;
  bool is_signed;
  uint8_t code;   ///< what the family of opcodes tells apart
  uint16_t flags; ///< likewise
  uint32_t line;
  uint32_t length; ///< of the text
  const char *text;
  const void *info; ///< further facts of a family
  emu_operand operands[EMU_OPERANDS];
} emu_instruction;

/// A special register, such as %tid.x, is an own register that is set when a
/// warp starts.
typedef struct emu_special {
  uint32_t place;
  char name[28];
} emu_special;

typedef struct emu_parameter {
  uint32_t offset, size;
} emu_parameter;

typedef struct emu_function {
  struct emu_function *next;
  struct emu_module *module;
  char name[160];
  emu_instruction *code;
  uint32_t count;
  char *constants;
  uint32_t constant_bytes, register_bytes;
  uint32_t local_bytes; ///< of a lane
  emu_special *specials;
  uint32_t special_count;
  emu_parameter *parameters;
  uint32_t parameter_count, parameter_bytes;
  uint32_t max_threads; ///< .maxntid, .reqntid; 0: not said
  uint32_t cluster;     ///< .reqnctapercluster; 0: not said
  int max_dynamic;      ///< of shared memory, in bytes
} emu_function;

typedef struct emu_module {
  struct emu_module *next;
  char *text;
  uint32_t target; ///< 80, 90, 100
  emu_function *functions;
  uint32_t static_shared, shared_align;
  struct emu_chunk *chunks; ///< what emu_new gave
} emu_module;

/// Zeroed memory that lives as long as the module.
void *emu_new(emu_module *module, size_t bytes);

/// Decodes PTX. NULL: `message` says which line is wrong and why.
emu_module *emu_module_load(const char *ptx, char message[EMU_MESSAGE_SIZE]);
void emu_module_free(emu_module *module);

//===----------------------------------------------------------------------===//
// What decoding an opcode needs
//===----------------------------------------------------------------------===//

/// An opcode whose words say nothing but its name. The form has a letter for
/// each operand: 1 a predicate, q two of them (a|b), 2, 4, 8 a value of so many
/// bytes.
typedef struct emu_opcode {
  const char *name, *form;
  emu_run run;
} emu_opcode;

typedef struct emu_parser emu_parser;

/// The words of an opcode: add.rn.f32 has three.
typedef struct emu_words {
  int count;
  char word[EMU_WORDS][EMU_WORD_SIZE];
} emu_words;

/// Fills in an instruction of a family: its operands are parsed, its run,
/// space, bytes and so on are not set.
typedef bool (*emu_decode)(emu_parser *parser, emu_instruction *instruction,
                           const emu_words *words);

typedef struct emu_family {
  const char *name; ///< the first word
  emu_decode decode;
} emu_family;

/// Ends decoding with an error at the present line; returns false.
__attribute__((format(printf, 2, 3))) bool emu_refuse(emu_parser *parser,
                                                      const char *format, ...);

/// True if a word from the second one on is that one.
bool emu_has(const emu_words *words, const char *word);
/// Its number; 0: there is none.
int emu_find(const emu_words *words, const char *word);

/// Makes an operand a value of so many bytes (0: a predicate): numbers become
/// constants; other registers are refused.
bool emu_take(emu_parser *parser, emu_operand *operand, unsigned bytes);
/// Likewise, of a register with any width from `bytes` on.
bool emu_take_wide(emu_parser *parser, emu_operand *operand, unsigned bytes);
/// The elements of a list, or the value that is the only one.
bool emu_take_list(emu_parser *parser, emu_operand *operand, unsigned count,
                   unsigned bytes);
bool emu_take_address(emu_parser *parser, emu_operand *operand);
/// All operands, by a form as that of emu_opcode; checks their number.
bool emu_take_form(emu_parser *parser, emu_instruction *instruction,
                   const char *form);
void *emu_parser_new(emu_parser *parser, size_t bytes);

/// The bytes and kind of a type's name, such as u32; kind is u, s, f, b or
/// h (f16), g (bf16), p (pred), t (tf32). 0: it is none.
unsigned emu_type(const char *name, char *kind);

/// Ends with a NULL name.
extern const emu_opcode emu_integer_opcodes[], emu_float_opcodes[],
    emu_half_opcodes[], emu_move_opcodes[];
extern const emu_family emu_memory_families[], emu_convert_families[],
    emu_warp_families[], emu_barrier_families[], emu_async_families[],
    emu_tensor_families[], emu_tcgen05_families[], emu_move_families[];

/// What an opcode is decoded by; one of the two is NULL.
const emu_opcode *emu_find_opcode(const char *name);
emu_decode emu_find_family(const char *name);

#endif // PIT_TEST_EMULATOR_PROGRAM_H
