//===- Tool.h - What the command line tools share -------------------------===//

#ifndef PIT_TOOLS_SUPPORT_TOOL_H
#define PIT_TOOLS_SUPPORT_TOOL_H

#include "pit-c/Compile.h"

#include <stdbool.h>
#include <stddef.h>

/// Sets the name that messages begin with.
void tool_init(const char *name);

/// Prints "NAME: error: ..." and a newline to stderr.
__attribute__((format(printf, 1, 2))) void tool_error(const char *format, ...);

/// The same; returns false.
__attribute__((format(printf, 1, 2))) bool tool_refuse(const char *format, ...);

/// Reads a file, "-" for stdin, into memory that `free` releases. Prints an
/// error and returns false if it cannot be read.
bool tool_read_file(const char *path, char **data, size_t *size);

/// Parses a whole decimal number in [low, high].
bool tool_parse_int(const char *text, long long low, long long high,
                    long long *value);

/// The options that every tool has, for getopt_long.
enum {
  TOOL_HELP = 0x1000,
  TOOL_TARGET,
  TOOL_CHIP,
  TOOL_DEVICE_CODE,
  TOOL_CPU,
  TOOL_FEATURES,
  TOOL_PIPELINE,
  TOOL_THREADS_OFF,
  TOOL_SAMPLE,
  TOOL_PROFILE,
  TOOL_OPT_LEVEL
};
#define TOOL_OPTIONS                                                           \
  {"help", no_argument, NULL, TOOL_HELP},                                      \
      {"target", required_argument, NULL, TOOL_TARGET},                        \
      {"chip", required_argument, NULL, TOOL_CHIP},                            \
      {"device-code", required_argument, NULL, TOOL_DEVICE_CODE},              \
      {"cpu", required_argument, NULL, TOOL_CPU},                              \
      {"features", required_argument, NULL, TOOL_FEATURES},                    \
      {"pipeline", required_argument, NULL, TOOL_PIPELINE},                    \
      {"no-openmp", no_argument, NULL, TOOL_THREADS_OFF},                      \
      {"sample", required_argument, NULL, TOOL_SAMPLE},                        \
      {"profile", required_argument, NULL, TOOL_PROFILE}, {                    \
    "opt-level", required_argument, NULL, TOOL_OPT_LEVEL                       \
  }
/// The target's name in the compiler's options; on the command line also cuda.
#define TOOL_GPU_TARGET "cuda"
#define TOOL_COMPILE_HELP                                                      \
  "How to compile:\n"                                                          \
  "  --target=TARGET       cpu, or cuda (nvptx) for NVIDIA GPUs\n"             \
  "  --chip=NAME           of cuda: sm_80 or newer\n"                          \
  "  --device-code=FORM    of cuda: ptx, cubin (by ptxas), or auto: a cubin\n" \
  "                        for a chip as sm_90a, else ptx (default)\n"         \
  "  --cpu=NAME            native (this machine), or a name LLVM knows\n"      \
  "  --features=LIST       as +avx2,-avx512f; after the cpu's own\n"           \
  "  --pipeline=OPTIONS    further options of pit-to-cpu, pit-to-cuda\n"       \
  "  --no-openmp           no parallel loops\n"                                \
  "  --sample=MARK=F.npy   choose rules by an array as the mark's value "      \
  "will\n"                                                                     \
  "                        be; MARK is its label, or FUNCTION:NUMBER; may "    \
  "be\n"                                                                       \
  "                        given several times\n"                              \
  "  --profile=F.json      choose rules by what pit-run --profile-out wrote\n" \
  "  --opt-level=N         of LLVM, 0 to 3 (default 3)\n"

/// A command line: options, and one file or several.
typedef struct tool_command_line {
  const char *help;             ///< what --help prints
  const char *short_options;    ///< as getopt_long takes them
  const struct option *options; ///< with TOOL_OPTIONS
  /// Sets an option of the tool's own; prints an error and returns false if its
  /// value is wrong.
  bool (*set)(void *settings, int val, char *value);
  void *settings;
  bool many_files;  ///< the tool takes more than one
  const char *file; ///< the only one, if it does not
  char **files;
  int num_files;
  pit_compile_options compile;
  const char **samples; ///< of these; as many as command line words fit
  int num_samples;
  bool target_given;   ///< --target was
  bool compiles_given; ///< others that say how to compile were
} tool_command_line;

/// Parses a command line. Returns an exit code, after an error was printed or
/// --help was asked for, or -1 to go on.
int tool_parse(tool_command_line *line, int argc, char **argv);

#endif // PIT_TOOLS_SUPPORT_TOOL_H
