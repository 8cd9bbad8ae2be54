//===- Input.c - Programs from source or ahead of time --------------------===//

#include "Input.h"
#include "Call.h"
#include "Tool.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The functions of the compiler's library.
static struct {
  __typeof__(&pit_compiler_create) create;
  __typeof__(&pit_compiler_destroy) destroy;
  __typeof__(&pit_compiler_diagnostics) diagnostics;
  __typeof__(&pit_compile_program) compile;
} compiler;

static bool find(void *library, const char *symbol, void *function) {
  void *address = dlsym(library, symbol);
  if (!address)
    tool_error("%s has no function %s", PIT_COMPILER_LIBRARY, symbol);
  // ISO C has no conversion from an object pointer to a function pointer; POSIX
  // promises that the bits are the same.
  memcpy(function, &address, sizeof(address));
  return address != NULL;
}

/// Opens the library, which stays open: LLVM does not like to be unloaded.
static bool load_compiler(void) {
  if (compiler.compile)
    return true;
  void *library = dlopen(PIT_COMPILER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    tool_error("a source needs the compiler, which cannot be loaded: %s",
               why ? why : "no reason given");
    return false;
  }
  return find(library, "pit_compiler_create", &compiler.create) &&
         find(library, "pit_compiler_destroy", &compiler.destroy) &&
         find(library, "pit_compiler_diagnostics", &compiler.diagnostics) &&
         find(library, "pit_compile_program", &compiler.compile);
}

/// True if a shared library has its end, where its sections are listed: the
/// system's loader trusts that it has.
static bool is_whole(const input *in) {
  Elf64_Ehdr head;
  if (in->size < sizeof(head))
    return false;
  memcpy(&head, in->text, sizeof(head));
  size_t sections = (size_t)head.e_shnum * head.e_shentsize;
  return head.e_shoff <= in->size && sections <= in->size - head.e_shoff;
}

bool input_read(input *in, const char *file) {
  *in = (input){.file = file};
  if (!tool_read_file(file, &in->text, &in->size))
    return false;
  // A shared library is loaded by its path.
  in->is_library = strcmp(file, "-") != 0 && in->size >= SELFMAG &&
                   memcmp(in->text, ELFMAG, SELFMAG) == 0;
  bool ok = !in->is_library || is_whole(in);
  if (!ok)
    tool_error("'%s' is cut short: it has %zu bytes", file, in->size);
  if (in->is_library) {
    free(in->text);
    in->text = NULL;
  }
  return ok;
}

bool input_compile(input *in, const pit_compile_options *options, bool show,
                   pit_program **program) {
  if (!load_compiler())
    return false;
  pit_status status = in->compiler ? PIT_OK : compiler.create(&in->compiler);
  if (status == PIT_OK)
    status = compiler.compile(in->compiler, in->text, in->size, in->file,
                              options, program);
  const char *diagnostics = input_diagnostics(in);
  if (status != PIT_OK || show)
    fputs(diagnostics, stderr);
  if (status != PIT_OK && !*diagnostics)
    tool_error("%s", pit_status_string(status));
  return status == PIT_OK;
}

const char *input_diagnostics(const input *in) {
  return in->compiler ? compiler.diagnostics(in->compiler) : "";
}

bool input_open(const input *in, pit_program **program) {
  pit_context *context = NULL;
  size_t size = strlen(in->file) + 3;
  char *path = malloc(size);
  // A name without a slash would be searched for elsewhere.
  if (path)
    snprintf(path, size, "%s%s", strchr(in->file, '/') ? "" : "./", in->file);
  pit_status status =
      path ? pit_context_create(NULL, &context) : PIT_ERROR_OUT_OF_MEMORY;
  if (status == PIT_OK)
    status = pit_program_open(context, path, program);
  if (status != PIT_OK)
    call_print_error(context, status);
  pit_context_destroy(context);
  free(path);
  return status == PIT_OK;
}

bool input_find_entry(const input *in, const pit_program *program,
                      const char *name, const pit_entry **entry) {
  if (name) {
    pit_context *context = NULL;
    pit_status status = pit_context_create(NULL, &context);
    if (status == PIT_OK)
      status = pit_program_entry(context, program, name, entry);
    if (status != PIT_OK)
      call_print_error(context, status);
    pit_context_destroy(context);
    return status == PIT_OK;
  }
  int32_t count = pit_program_num_entries(program);
  *entry = pit_program_entry_at(program, 0);
  if (count == 0)
    tool_error("'%s' has no public function", in->file);
  else if (count > 1)
    tool_error("'%s' has %d public functions; --entry=%s or another says which",
               in->file, count, pit_entry_name(*entry));
  return count == 1;
}

void input_free(input *in) {
  if (in->compiler)
    compiler.destroy(in->compiler);
  free(in->text);
  *in = (input){0};
}
