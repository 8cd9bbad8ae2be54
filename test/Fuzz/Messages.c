//===- Messages.c - What the parsers of the tools say ---------------------===//

#include "Messages.h"
#include "Fuzz.h"
#include "Tool.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

static int messages;

void messages_clear(void) { messages = 0; }

void messages_check(bool ok) { FUZZ_CHECK(messages == (ok ? 0 : 1)); }

/// A message is one line of text, whatever was in the file.
static void check(const char *format, va_list arguments) {
  static char text[1 << 16];
  int length = vsnprintf(text, sizeof(text), format, arguments);
  FUZZ_CHECK(length > 0);
  for (int i = 0; i < length && i < (int)sizeof(text) - 1; ++i)
    FUZZ_CHECK(!iscntrl((unsigned char)text[i]));
  ++messages;
}

void tool_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  check(format, arguments);
  va_end(arguments);
}

bool tool_refuse(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  check(format, arguments);
  va_end(arguments);
  return false;
}

bool tool_read_file(const char *path, char **data, size_t *size) {
  (void)path, (void)data, (void)size;
  return tool_refuse("there are no files");
}
