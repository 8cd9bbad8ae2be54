//===- pit-compile.c - Compiles a program to an artifact ------------------===//

#include "Tool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: pit-compile FILE.mlir --emit=KIND [-o OUT] [options]\n"
    "\n"
    "Compiles FILE (MLIR text or bytecode; - is stdin).\n"
    "\n"
    "  --emit=KIND           what to make of it (default so):\n"
    "                          mlir       tile loops, level 3\n"
    "                          mlir-llvm  MLIR in the llvm dialect\n"
    "                          llvm       optimized LLVM IR\n"
    "                          obj        an object file\n"
    "                          so         a shared library for the runtime\n"
    "                          header     a C header of the entry points\n"
    "                          ptx        of cuda: the kernels as PTX\n"
    "                          cubin      of cuda: the kernels, assembled for "
    "the chip\n"
    "  -o OUT                where to; - is stdout (default: FILE's name with "
    "the\n"
    "                        kind's ending, in this folder; text goes to "
    "stdout)\n"
    "  --explain             print why which rule was chosen\n"
    "  --help\n"
    "\n" TOOL_COMPILE_HELP;

/// The values of --emit, and the ending of their files; NULL: text, to stdout.
static const struct {
  const char *name;
  pit_emit emit;
  const char *ending;
} kinds[] = {
    {"mlir", PIT_EMIT_MLIR, NULL}, {"mlir-llvm", PIT_EMIT_MLIR_LLVM, NULL},
    {"llvm", PIT_EMIT_LLVM, NULL}, {"obj", PIT_EMIT_OBJECT, "o"},
    {"so", PIT_EMIT_SHARED, "so"}, {"header", PIT_EMIT_HEADER, NULL},
    {"ptx", PIT_EMIT_PTX, NULL},   {"cubin", PIT_EMIT_CUBIN, "cubin"}};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

typedef struct settings {
  tool_command_line line;
  const char *out;
  int kind; ///< of kinds
} settings;

enum { EMIT = 1, EXPLAIN };

static const struct option options[] = {
    {"emit", required_argument, NULL, EMIT},
    {"output", required_argument, NULL, 'o'},
    {"explain", no_argument, NULL, EXPLAIN},
    TOOL_OPTIONS,
    {NULL, 0, NULL, 0}};

static bool set_option(void *user, int val, char *value) {
  settings *s = user;
  switch (val) {
  case EMIT:
    for (s->kind = 0; s->kind < KINDS; ++s->kind)
      if (strcmp(value, kinds[s->kind].name) == 0)
        return true;
    return tool_refuse("--emit=%s: it must be mlir, mlir-llvm, llvm, obj, so, "
                       "header, ptx or cubin",
                       value);
  case EXPLAIN:
    s->line.compile.explain = 1;
    return true;
  default:
    s->out = value;
    return true;
  }
}

/// "dir/f.mlir" -> "f.so". The caller frees it.
static char *name_output(const char *file, const char *ending) {
  const char *slash = strrchr(file, '/');
  const char *name = slash ? slash + 1 : file;
  if (strcmp(name, "-") == 0)
    name = "program";
  const char *dot = strrchr(name, '.');
  int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
  size_t room = (size_t)length + strlen(ending) + 2;
  char *out = malloc(room);
  if (out)
    snprintf(out, room, "%.*s.%s", length, name, ending);
  return out;
}

static pit_status compile_to_stdout(pit_compiler *compiler, const char *source,
                                    size_t size, const settings *s) {
  void *artifact;
  size_t length;
  pit_status status = pit_compile_to_memory(
      compiler, source, size, s->line.file, &s->line.compile,
      kinds[s->kind].emit, &artifact, &length);
  if (status == PIT_OK &&
      (fwrite(artifact, 1, length, stdout) != length || fflush(stdout) != 0)) {
    tool_error("cannot write to stdout");
    status = PIT_ERROR_INTERNAL;
  }
  pit_free(artifact);
  return status;
}

static bool compile(const settings *s) {
  char *source, *named = NULL;
  size_t size;
  if (!tool_read_file(s->line.file, &source, &size))
    return false;
  pit_compiler *compiler = NULL;
  const char *ending = kinds[s->kind].ending, *out = s->out;
  if (!out)
    out = ending ? named = name_output(s->line.file, ending) : "-";
  pit_status status =
      out ? pit_compiler_create(&compiler) : PIT_ERROR_OUT_OF_MEMORY;
  if (status == PIT_OK)
    status =
        strcmp(out, "-") == 0
            ? compile_to_stdout(compiler, source, size, s)
            : pit_compile_to_file(compiler, source, size, s->line.file,
                                  &s->line.compile, kinds[s->kind].emit, out);
  const char *diagnostics = pit_compiler_diagnostics(compiler);
  fputs(diagnostics, stderr);
  if (status != PIT_OK && !*diagnostics)
    tool_error("%s", pit_status_string(status));
  pit_compiler_destroy(compiler);
  free(named);
  free(source);
  return status == PIT_OK;
}

int main(int argc, char **argv) {
  tool_init("pit-compile");
  settings s = {.kind = KINDS,
                .line = {.help = help,
                         .short_options = "o:",
                         .options = options,
                         .set = set_option,
                         .settings = &s,
                         .compile = PIT_COMPILE_OPTIONS}};
  for (int i = 0; i < KINDS; ++i)
    if (kinds[i].emit == PIT_EMIT_SHARED)
      s.kind = i;
  int code = tool_parse(&s.line, argc, argv);
  return code >= 0 ? code : compile(&s) ? 0 : 1;
}
