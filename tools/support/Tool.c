//===- Tool.c - What the command line tools share -------------------------===//

#include "Tool.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *tool = "pit";

void tool_init(const char *name) { tool = name; }

static void print_error(const char *format, va_list arguments) {
  fprintf(stderr, "%s: error: ", tool);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

void tool_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_error(format, arguments);
  va_end(arguments);
}

bool tool_refuse(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_error(format, arguments);
  va_end(arguments);
  return false;
}

/// The hint after an error on the command line, and the exit code.
static int usage_error(void) {
  fprintf(stderr, "Try '%s --help'.\n", tool);
  return 2;
}

bool tool_read_file(const char *path, char **data, size_t *size) {
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (!file) {
    tool_error("cannot read '%s': %s", path, strerror(errno));
    return false;
  }
  size_t used = 0, room = 0;
  char *buffer = NULL;
  bool ok = true;
  for (;;) {
    if (used == room) {
      room = room ? 2 * room : 65536;
      char *larger = realloc(buffer, room);
      if (!larger) {
        tool_error("out of memory for '%s'", path);
        ok = false;
        break;
      }
      buffer = larger;
    }
    size_t got = fread(buffer + used, 1, room - used, file);
    used += got;
    if (got == 0)
      break;
  }
  if (ok && ferror(file)) {
    tool_error("cannot read '%s': %s", path, strerror(errno));
    ok = false;
  }
  if (file != stdin)
    fclose(file);
  if (!ok) {
    free(buffer);
    return false;
  }
  *data = buffer;
  *size = used;
  return true;
}

bool tool_parse_int(const char *text, long long low, long long high,
                    long long *value) {
  char *end;
  errno = 0;
  *value = strtoll(text, &end, 10);
  return end != text && *end == '\0' && errno == 0 && *value >= low &&
         *value <= high;
}

/// Sets an option that says how to compile.
static bool set_compile_option(tool_command_line *line, int val,
                               const char *value) {
  pit_compile_options *options = &line->compile;
  long long number;
  line->target_given |= val == TOOL_TARGET;
  line->compiles_given |= val != TOOL_TARGET;
  switch (val) {
  case TOOL_TARGET:
    options->target = strcmp(value, "nvptx") == 0 ? TOOL_GPU_TARGET : value;
    return true;
  case TOOL_CHIP:
    options->chip = value;
    return true;
  case TOOL_DEVICE_CODE:
    options->device_code = value;
    return true;
  case TOOL_CPU:
    options->cpu = value;
    return true;
  case TOOL_FEATURES:
    options->features = value;
    return true;
  case TOOL_PIPELINE:
    options->pipeline = value;
    return true;
  case TOOL_THREADS_OFF:
    options->openmp = 0;
    return true;
  case TOOL_SAMPLE:
    line->samples[line->num_samples++] = value;
    return true;
  case TOOL_PROFILE:
    options->profile = value;
    return true;
  default:
    if (!tool_parse_int(value, 0, 3, &number))
      return tool_refuse("--opt-level=%s: it must be 0, 1, 2 or 3", value);
    options->opt_level = (int32_t)number;
    return true;
  }
}

int tool_parse(tool_command_line *line, int argc, char **argv) {
  int val;
  // They live as long as the process.
  line->samples = calloc((size_t)argc + 1, sizeof(*line->samples));
  if (!line->samples) {
    tool_error("out of memory");
    return 1;
  }
  line->compile.samples = line->samples;
  while ((val = getopt_long(argc, argv, line->short_options, line->options,
                            NULL)) != -1) {
    if (val == TOOL_HELP) {
      fputs(line->help, stdout);
      return 0;
    }
    bool ok = val != '?'; // getopt_long has said why
    if (ok && val >= TOOL_TARGET)
      ok = set_compile_option(line, val, optarg);
    else if (ok)
      ok = line->set(line->settings, val, optarg);
    if (!ok)
      return usage_error();
  }
  line->files = argv + optind;
  line->num_files = argc - optind;
  if (optind == argc)
    tool_error("no input file");
  else if (line->many_files)
    return -1;
  else if (optind + 1 < argc)
    tool_error("more than one input file ('%s' and '%s')", argv[optind],
               argv[optind + 1]);
  if (optind + 1 != argc)
    return usage_error();
  line->file = argv[optind];
  return -1;
}
