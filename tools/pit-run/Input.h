//===- Input.h - Programs from source or ahead of time --------------------===//

#ifndef PIT_TOOLS_RUN_INPUT_H
#define PIT_TOOLS_RUN_INPUT_H

#include "pit-c/Compile.h"

#include <stdbool.h>

/// A file: a source to compile, or a shared library that pit-compile made.
typedef struct input {
  const char *file;
  bool is_library;
  char *text; ///< of a source
  size_t size;
  pit_compiler *compiler; ///< of a source, once it was compiled
} input;

/// Reads the file and sees which of both it is. Prints an error and returns
/// false if it cannot.
bool input_read(input *in, const char *file);

/// Compiles a source; prints errors and, with `show`, remarks, too. Only this
/// loads the compiler, and with it LLVM.
bool input_compile(input *in, const pit_compile_options *options, bool show,
                   pit_program **program);

/// The compiler's last messages; "" of a library.
const char *input_diagnostics(const input *in);

/// Opens a shared library.
bool input_open(const input *in, pit_program **program);

/// Finds the entry `name`; NULL: the only one.
bool input_find_entry(const input *in, const pit_program *program,
                      const char *name, const pit_entry **entry);

void input_free(input *in);

#endif // PIT_TOOLS_RUN_INPUT_H
