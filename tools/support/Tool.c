//===- Tool.c - What the command line tools share -------------------------===//

#include "Tool.h"

#include <errno.h>
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

int tool_usage_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_error(format, arguments);
  va_end(arguments);
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

bool tool_compile_option(pit_compile_options *options, int val,
                         const char *value) {
  long long number;
  switch (val) {
  case TOOL_TARGET:
    options->target = strcmp(value, "cuda") == 0 ? TOOL_GPU_TARGET : value;
    return true;
  case TOOL_CHIP:
    options->chip = value;
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
  default:
    if (!tool_parse_int(value, 0, 3, &number)) {
      tool_error("--opt-level=%s: it must be 0, 1, 2 or 3", value);
      return false;
    }
    options->opt_level = (int32_t)number;
    return true;
  }
}
