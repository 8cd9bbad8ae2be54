//===- Lexer.c - Names, numbers and arrays of the parser ------------------===//

#include "Parser.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *emu_grow(void **array, uint32_t *count, uint32_t *room, size_t size) {
  if (*count == *room) {
    uint32_t wanted = *room ? 2 * *room : 16;
    void *moved = realloc(*array, wanted * size);
    if (!moved)
      return NULL;
    *array = moved;
    *room = wanted;
  }
  void *made = (char *)*array + *count * size;
  memset(made, 0, size);
  ++*count;
  return made;
}

bool emu_refuse(emu_parser *p, const char *format, ...) {
  if (p->failed)
    return false;
  p->failed = true;
  int used = snprintf(p->message, EMU_MESSAGE_SIZE, "line %u: ", p->line);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(p->message + used, EMU_MESSAGE_SIZE - (size_t)used, format,
            arguments);
  va_end(arguments);
  return false;
}

void emu_skip(emu_parser *p) {
  for (;;) {
    if (*p->at == '\n') {
      ++p->line;
      ++p->at;
    } else if (isspace((unsigned char)*p->at)) {
      ++p->at;
    } else if (p->at[0] == '/' && p->at[1] == '/') {
      p->at += strcspn(p->at, "\n");
    } else if (p->at[0] == '/' && p->at[1] == '*') {
      while (*p->at && !(p->at[0] == '*' && p->at[1] == '/')) {
        p->line += *p->at == '\n';
        ++p->at;
      }
      p->at += *p->at ? 2 : 0;
    } else {
      return;
    }
  }
}

static bool is_of_name(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$';
}

bool emu_accept(emu_parser *p, const char *text) {
  emu_skip(p);
  size_t length = strlen(text);
  if (strncmp(p->at, text, length) != 0 ||
      (is_of_name(text[length - 1]) && is_of_name(p->at[length])))
    return false;
  p->at += length;
  return true;
}

bool emu_expect(emu_parser *p, const char *text) {
  if (emu_accept(p, text))
    return true;
  return emu_refuse(p, "expected '%s' before '%.20s'", text, p->at);
}

bool emu_name(emu_parser *p, char *name, size_t size) {
  emu_skip(p);
  const char *end = p->at;
  while (*end == '%' || *end == '.')
    ++end;
  if (!is_of_name(*end) || (end == p->at && isdigit((unsigned char)*end)))
    return false;
  // Special registers have parts: %tid.x.
  while (is_of_name(*end) ||
         (*p->at == '%' && *end == '.' && is_of_name(end[1])))
    ++end;
  size_t length = (size_t)(end - p->at);
  if (length >= size)
    return emu_refuse(p, "a name of %zu characters", length);
  memcpy(name, p->at, length);
  name[length] = '\0';
  p->at = end;
  return true;
}

bool emu_number(emu_parser *p, int64_t *value) {
  emu_skip(p);
  const char *at = p->at;
  bool negative = *at == '-';
  at += negative;
  if (!isdigit((unsigned char)*at))
    return false;
  char *end;
  uint64_t number;
  if (at[0] == '0' && strchr("fFdD", at[1]) && at[1])
    number = strtoull(at + 2, &end, 16); // the bits of a float
  else if (at[0] == '0' && (at[1] == 'b' || at[1] == 'B'))
    number = strtoull(at + 2, &end, 2);
  else
    number = strtoull(at, &end, 0);
  end += *end == 'U';
  if (is_of_name(*end) || *end == '.')
    return emu_refuse(p, "a number that is not understood: '%.20s'", p->at);
  *value = (int64_t)(negative ? 0 - number : number);
  p->at = end;
  return true;
}
