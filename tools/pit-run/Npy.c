//===- Npy.c - Arrays in .npy files ---------------------------------------===//
//
// The format: "\x93NUMPY", a version (major, minor), the length of the header
// (2 bytes little-endian in version 1, 4 in 2 and 3), the header, the data. The
// header is a Python dict with exactly the keys 'descr', 'fortran_order' and
// 'shape'.
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "Tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Where in the header the parser is.
typedef struct cursor {
  const char *path, *at, *end;
} cursor;

static void skip_spaces(cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
    ++c->at;
}

/// Takes one character, after spaces.
static bool take(cursor *c, char wanted) {
  skip_spaces(c);
  if (c->at == c->end || *c->at != wanted)
    return false;
  ++c->at;
  return true;
}

static bool take_word(cursor *c, const char *word) {
  size_t length = strlen(word);
  skip_spaces(c);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
    return false;
  c->at += length;
  return true;
}

/// Takes a string of printable characters in quotes, so that messages can have
/// it; `room` includes the NUL.
static bool take_string(cursor *c, char *text, size_t room) {
  skip_spaces(c);
  if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
    return false;
  char quote = *c->at++;
  const char *close = memchr(c->at, quote, (size_t)(c->end - c->at));
  if (!close || (size_t)(close - c->at) >= room)
    return false;
  for (const char *at = c->at; at < close; ++at)
    if (*at < ' ' || *at > '~')
      return false;
  memcpy(text, c->at, (size_t)(close - c->at));
  text[close - c->at] = '\0';
  c->at = close + 1;
  return true;
}

static bool take_size(cursor *c, int64_t *size) {
  skip_spaces(c);
  const char *start = c->at;
  *size = 0;
  while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
    if (__builtin_mul_overflow(*size, 10, size) ||
        __builtin_add_overflow(*size, *c->at++ - '0', size))
      return false;
  return c->at > start;
}

typedef struct header {
  char descr[32];
  bool fortran_order;
  int32_t rank;
  int64_t shape[PIT_MAX_RANK];
} header;

static bool malformed(const cursor *c, const char *what) {
  tool_error("'%s' is not a sound .npy file: %s", c->path, what);
  return false;
}

static bool take_shape(cursor *c, header *h) {
  if (!take(c, '('))
    return malformed(c, "its shape is no tuple");
  while (!take(c, ')')) {
    if (h->rank == PIT_MAX_RANK) {
      tool_error("'%s' has more than %d dimensions", c->path, PIT_MAX_RANK);
      return false;
    }
    if (!take_size(c, &h->shape[h->rank++]) ||
        (!take(c, ',') && (c->at == c->end || *c->at != ')')))
      return malformed(c, "its shape is no tuple of sizes");
  }
  return true;
}

static bool parse_header(cursor *c, header *h) {
  bool descr = false, order = false, shape = false;
  if (!take(c, '{'))
    return malformed(c, "its header is no dict");
  while (!take(c, '}')) {
    char key[32];
    if (!take_string(c, key, sizeof(key)) || !take(c, ':'))
      return malformed(c, "its header is no dict of strings");
    if (strcmp(key, "descr") == 0 && !descr) {
      descr = true;
      if (!take_string(c, h->descr, sizeof(h->descr)))
        return malformed(c, "its element type is not a simple one");
    } else if (strcmp(key, "fortran_order") == 0 && !order) {
      order = true;
      h->fortran_order = take_word(c, "True");
      if (!h->fortran_order && !take_word(c, "False"))
        return malformed(c, "fortran_order is neither True nor False");
    } else if (strcmp(key, "shape") == 0 && !shape) {
      shape = true;
      if (!take_shape(c, h))
        return false;
    } else {
      return malformed(c, "its header has other keys than descr, "
                          "fortran_order and shape, once each");
    }
    skip_spaces(c);
    if (!take(c, ',') && (c->at == c->end || *c->at != '}'))
      return malformed(c, "its header does not end");
  }
  if (!descr || !order || !shape)
    return malformed(c, "its header lacks descr, fortran_order or shape");
  skip_spaces(c);
  return c->at == c->end || malformed(c, "its header does not end");
}

/// Numpy's names of element types, after the byte order.
static const struct {
  const char *descr, *name;
} descrs[] = {{"f8", "f64"}, {"f4", "f32"}, {"f2", "f16"}, {"i8", "i64"},
              {"i4", "i32"}, {"i2", "i16"}, {"i1", "i8"},  {"u8", "u64"},
              {"u4", "u32"}, {"u2", "u16"}, {"u1", "u8"},  {"b1", "bool"},
              {"V2", "bf16"}};
enum { DESCRS = sizeof(descrs) / sizeof(*descrs) };

static bool find_dtype(const char *path, const char *descr, DLDataType wanted,
                       DLDataType *dtype) {
  bool bfloat = wanted.code == PIT_DTYPE_BFLOAT;
  for (size_t i = 0; i < DESCRS; ++i) {
    if (descr[0] == '\0' || strcmp(descr + 1, descrs[i].descr) != 0)
      continue;
    const char *name = descrs[i].name;
    bool one_byte = descrs[i].descr[1] == '1';
    if (descr[0] == '>' && !one_byte) {
      tool_error("'%s' is big-endian (%s); save it as %c%s", path, descr, '<',
                 descrs[i].descr);
      return false;
    }
    if (bfloat && strcmp(name, "u16") == 0)
      name = "bf16";
    return dtype_parse(name, strlen(name), dtype);
  }
  tool_error("'%s' has elements of type %s; it must be " DTYPE_NAMES
             " (bf16 as V2 or uint16)",
             path, descr);
  return false;
}

bool npy_parse(const char *path, const char *data, size_t size,
               DLDataType wanted, tensor *t) {
  static const char magic[] = "\x93NUMPY";
  cursor c = {path, data, data + size};
  if (size < 10 || memcmp(data, magic, 6) != 0) {
    tool_error("'%s' is not a .npy file", path);
    return false;
  }
  const uint8_t *bytes = (const uint8_t *)data;
  int major = bytes[6];
  size_t begin = major == 1 ? 10 : 12;
  if (major < 1 || major > 3 || size < begin)
    return malformed(&c, major < 1 || major > 3
                             ? "its version is none of 1, 2 and 3"
                             : "it ends in its header");
  size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
  if (major > 1)
    length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
  if (length > size - begin)
    return malformed(&c, "it ends in its header");
  c.at = data + begin;
  c.end = c.at + length;
  header h = {0};
  DLDataType dtype;
  if (!parse_header(&c, &h) || !find_dtype(path, h.descr, wanted, &dtype))
    return false;
  if (h.fortran_order && h.rank > 1) {
    tool_error("'%s' is in Fortran order; save numpy.ascontiguousarray(it)",
               path);
    return false;
  }
  // Before memory is asked for: a shape may be anything.
  uint64_t needed = dtype.bits / 8;
  bool fits = true;
  for (int32_t d = 0; d < h.rank; ++d)
    fits &= !__builtin_mul_overflow(needed, (uint64_t)h.shape[d], &needed);
  size_t has = size - begin - length;
  if (!fits || needed != has) {
    char name[TENSOR_NAME_SIZE];
    tool_error("'%s' has %zu bytes of data; its shape (%s) takes %s", path, has,
               tensor_name(dtype, h.rank, h.shape, name),
               !fits          ? "more than there can be"
               : needed > has ? "more"
                              : "less");
    return false;
  }
  if (!tensor_init(t, dtype, h.rank, h.shape))
    return false;
  memcpy(t->dl.data, c.end, has);
  return true;
}

bool npy_read(const char *path, DLDataType wanted, tensor *t) {
  char *data;
  size_t size;
  if (!tool_read_file(path, &data, &size))
    return false;
  bool ok = npy_parse(path, data, size, wanted, t);
  free(data);
  return ok;
}

bool npy_write(const char *path, const tensor *t) {
  char scratch[TENSOR_NAME_SIZE];
  const char *name = dtype_name(t->dl.dtype, scratch), *descr = "V2";
  for (size_t i = 0; i < DESCRS; ++i)
    if (strcmp(descrs[i].name, name) == 0)
      descr = descrs[i].descr;
  // A header of version 1, padded with spaces so that the data begins at a
  // multiple of 64.
  char head[512];
  char order = descr[0] == 'V' || descr[1] == '1' ? '|' : '<';
  int length = snprintf(head + 10, sizeof(head) - 10,
                        "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                        order, descr);
  for (int32_t d = 0; d < t->dl.ndim; ++d)
    length += snprintf(head + 10 + length, sizeof(head) - 10 - (size_t)length,
                       "%lld,%s", (long long)t->shape[d],
                       d + 1 < t->dl.ndim ? " " : "");
  length +=
      snprintf(head + 10 + length, sizeof(head) - 10 - (size_t)length, "), }");
  size_t total = ((size_t)length + 10 + 1 + 63) / 64 * 64;
  memset(head + 10 + length, ' ', total - 10 - (size_t)length);
  head[total - 1] = '\n';
  memcpy(head, "\x93NUMPY\x01\x00", 8);
  head[8] = (char)((total - 10) & 0xFF);
  head[9] = (char)((total - 10) >> 8);

  FILE *file = fopen(path, "wb");
  size_t bytes = tensor_bytes(t);
  bool ok = file && fwrite(head, 1, total, file) == total &&
            fwrite(t->dl.data, 1, bytes, file) == bytes;
  if (file && fclose(file) != 0)
    ok = false;
  if (!ok) {
    tool_error("cannot write '%s': %s", path, strerror(errno));
    if (file)
      remove(path);
  }
  return ok;
}
