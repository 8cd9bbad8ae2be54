//===- Npy.c - What a .npy file holds -------------------------------------===//
//
// The format: "\x93NUMPY", a version (major, minor), the length of the header
// (2 bytes little-endian in version 1, 4 in 2 and 3), the header, the data. The
// header is a Python dict with exactly the keys 'descr', 'fortran_order' and
// 'shape'.
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// The place of the parser in the header.
typedef struct cursor {
  const char *at, *end;
  char *message;
} cursor;

__attribute__((format(printf, 2, 3))) static bool
refuse(const cursor *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->message, PIT_NPY_MESSAGE_SIZE, format, arguments);
  va_end(arguments);
  return false;
}

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
  pit_npy *npy; ///< its shape
} header;

static bool malformed(const cursor *c, const char *what) {
  return refuse(c, "is not a sound .npy file: %s", what);
}

static bool take_shape(cursor *c, header *h) {
  if (!take(c, '('))
    return malformed(c, "its shape is no tuple");
  while (!take(c, ')')) {
    if (h->npy->rank == PIT_MAX_RANK)
      return refuse(c, "has more than %d dimensions", PIT_MAX_RANK);
    if (!take_size(c, &h->npy->shape[h->npy->rank++]) ||
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
  uint8_t code, bits;
} types[] = {{"f8", "f64", PIT_DTYPE_FLOAT, 64},
             {"f4", "f32", PIT_DTYPE_FLOAT, 32},
             {"f2", "f16", PIT_DTYPE_FLOAT, 16},
             {"i8", "i64", PIT_DTYPE_INT, 64},
             {"i4", "i32", PIT_DTYPE_INT, 32},
             {"i2", "i16", PIT_DTYPE_INT, 16},
             {"i1", "i8", PIT_DTYPE_INT, 8},
             {"u8", "u64", PIT_DTYPE_UINT, 64},
             {"u4", "u32", PIT_DTYPE_UINT, 32},
             {"u2", "u16", PIT_DTYPE_UINT, 16},
             {"u1", "u8", PIT_DTYPE_UINT, 8},
             {"b1", "bool", PIT_DTYPE_BOOL, 8},
             {"V2", "bf16", PIT_DTYPE_BFLOAT, 16},
             {"V1", "f8E4M3FN", PIT_DTYPE_FLOAT8_E4M3FN, 8},
             {"V1", "f8E5M2", PIT_DTYPE_FLOAT8_E5M2, 8},
             {"f1", "f8E5M2", PIT_DTYPE_FLOAT8_E5M2, 8}};
enum { TYPES = sizeof(types) / sizeof(*types) };

const char *pit_npy_descr(DLDataType dtype) {
  for (size_t i = 0; i < TYPES; ++i)
    if (types[i].code == dtype.code && types[i].bits == dtype.bits)
      return types[i].descr;
  return NULL;
}

static bool lacks_numpy(DLDataType dtype) {
  return dtype.code == PIT_DTYPE_BFLOAT ||
         dtype.code == PIT_DTYPE_FLOAT8_E4M3FN ||
         dtype.code == PIT_DTYPE_FLOAT8_E5M2;
}

/// Which of `types` a descr names.
static bool find_type(const cursor *c, const char *descr, DLDataType wanted,
                      size_t *type) {
  for (size_t i = 0; i < TYPES; ++i) {
    if (descr[0] == '\0' || strcmp(descr + 1, types[i].descr) != 0)
      continue;
    if (descr[0] == '>' && types[i].bits != 8)
      return refuse(c, "is big-endian (%s); save it as <%s", descr,
                    types[i].descr);
    *type = i;
    // Bytes without a meaning mean what is wanted.
    if ((descr[1] == 'u' || descr[1] == 'V') && lacks_numpy(wanted) &&
        wanted.bits == types[i].bits)
      while (types[*type].code != wanted.code)
        *type = (*type + 1) % TYPES;
    return true;
  }
  return refuse(c,
                "has elements of type %s; it must be f64, f32, f16, bf16, "
                "f8E4M3FN, f8E5M2, i64, i32, i16, i8, u8 or bool (bf16 as V2 "
                "or uint16, f8 as V1 or uint8)",
                descr);
}

/// Checks that the data has the bytes that its shape takes: before memory is
/// asked for, as a shape may be anything.
static bool check_bytes(const cursor *c, const char *name, const pit_npy *npy) {
  uint64_t needed = npy->dtype.bits / 8;
  bool fits = true;
  char shape[192] = "";
  for (int32_t d = 0, length = 0; d < npy->rank; ++d) {
    fits &= !__builtin_mul_overflow(needed, (uint64_t)npy->shape[d], &needed);
    length += snprintf(shape + length, sizeof(shape) - (size_t)length, "%s%lld",
                       d ? "x" : " ", (long long)npy->shape[d]);
  }
  return (fits && needed == npy->bytes) ||
         refuse(c, "has %zu bytes of data; its shape (%s%s) takes %s",
                npy->bytes, name, shape,
                !fits                 ? "more than there can be"
                : needed > npy->bytes ? "more"
                                      : "less");
}

bool pit_npy_parse(const char *file, size_t size, DLDataType wanted,
                   pit_npy *npy, char message[PIT_NPY_MESSAGE_SIZE]) {
  static const char magic[] = "\x93NUMPY";
  cursor c = {file, file + size, message};
  *npy = (pit_npy){.rank = 0};
  if (size < 10 || memcmp(file, magic, 6) != 0)
    return refuse(&c, "is not a .npy file");
  const uint8_t *bytes = (const uint8_t *)file;
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
  c.at = file + begin;
  c.end = c.at + length;
  header h = {.npy = npy};
  size_t type;
  if (!parse_header(&c, &h) || !find_type(&c, h.descr, wanted, &type))
    return false;
  if (h.fortran_order && npy->rank > 1)
    return refuse(&c, "is in Fortran order; save numpy.ascontiguousarray(it)");
  npy->dtype = (DLDataType){types[type].code, types[type].bits, 1};
  npy->data = c.end;
  npy->bytes = size - begin - length;
  return check_bytes(&c, types[type].name, npy);
}
