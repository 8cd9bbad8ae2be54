//===- ArgSpec.c - Arguments from a description ---------------------------===//

#include "ArgSpec.h"
#include "Tool.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { ZEROS, FULL, RANDOM } kind;
static const char *const kind_names[] = {"zeros", "full", "random"};

typedef struct spec {
  const char *text; ///< all of it, for messages
  kind kind;
  DLDataType dtype;
  int32_t rank;
  int64_t shape[PIT_MAX_RANK];
  double value;                ///< of full
  double sparsity;             ///< part of the micro-tiles that are 0
  int32_t micro_rank;          ///< 0: single elements
  int64_t micro[PIT_MAX_RANK]; ///< -1: the whole dimension
  double low, high;
  uint64_t seed;
} spec;

/// A piece of the text between commas.
typedef struct piece {
  const char *at;
  size_t length;
} piece;

static bool wrong(const spec *s, const char *what) {
  tool_error("%s: %s", s->text, what);
  return false;
}

bool argspec_is(const char *text) {
  for (kind k = ZEROS; k <= RANDOM; ++k) {
    size_t length = strlen(kind_names[k]);
    if (strncmp(text, kind_names[k], length) == 0 && text[length] == '(')
      return true;
  }
  return false;
}

static bool parse_number(piece p, double *value) {
  char buffer[64], *end;
  if (p.length == 0 || p.length >= sizeof(buffer))
    return false;
  memcpy(buffer, p.at, p.length);
  buffer[p.length] = '\0';
  *value = strtod(buffer, &end);
  return end != buffer && *end == '\0';
}

/// Parses sizes with x between them; with `star`, a size may be *, which is -1.
static bool parse_shape(piece p, bool star, int32_t *rank, int64_t *shape) {
  *rank = 0;
  const char *end = p.at + p.length;
  if (p.length == 0) // rank 0
    return true;
  for (const char *at = p.at;; ++at) {
    if (*rank == PIT_MAX_RANK)
      return false;
    int64_t size = 0;
    const char *start = at;
    if (star && at < end && *at == '*') {
      size = -1;
      ++at;
    } else {
      while (at < end && *at >= '0' && *at <= '9')
        if (__builtin_mul_overflow(size, 10, &size) ||
            __builtin_add_overflow(size, *at++ - '0', &size))
          return false;
    }
    if (at == start)
      return false;
    shape[(*rank)++] = size;
    if (at == end)
      return true;
    if (*at != 'x')
      return false;
  }
}

static bool is_key(piece p, const char *key) {
  size_t length = strlen(key);
  return p.length > length && memcmp(p.at, key, length) == 0 &&
         p.at[length] == '=';
}

static bool parse_option(spec *s, piece p) {
  static const char *const keys[] = {"sparsity", "micro", "seed", "low",
                                     "high"};
  int key = 0;
  while (key < 5 && !is_key(p, keys[key]))
    ++key;
  if (key == 5)
    return wrong(s, "an option must be sparsity=, micro=, seed=, low= or "
                    "high=");
  piece value = {p.at + strlen(keys[key]) + 1,
                 p.length - strlen(keys[key]) - 1};
  double number = 0;
  switch (key) {
  case 0:
    if (!parse_number(value, &s->sparsity) ||
        !(s->sparsity >= 0 && s->sparsity <= 1))
      return wrong(s, "sparsity must be a number from 0 to 1");
    return true;
  case 1:
    if (!parse_shape(value, true, &s->micro_rank, s->micro) ||
        s->micro_rank != s->rank)
      return wrong(s, "micro must have a size, or *, for each dimension, as "
                      "32x1");
    for (int32_t d = 0; d < s->rank; ++d)
      if (s->micro[d] == 0)
        return wrong(s, "a size of micro must not be 0");
    return true;
  case 2:
    if (!parse_number(value, &number) || !(number >= 0 && number <= 9e15) ||
        number != floor(number))
      return wrong(s, "seed must be a whole number from 0 to 9e15");
    s->seed = (uint64_t)number;
    return true;
  default:
    if (!parse_number(value, key == 3 ? &s->low : &s->high) ||
        !isfinite(key == 3 ? s->low : s->high))
      return wrong(s, "low and high must be finite numbers");
    return true;
  }
}

/// Takes the text up to the next comma.
static piece next_piece(const char **at, const char *end) {
  const char *comma = memchr(*at, ',', (size_t)(end - *at));
  piece p = {*at, (size_t)((comma ? comma : end) - *at)};
  *at = comma ? comma + 1 : end + 1; // past the end: no further piece
  return p;
}

static bool parse(spec *s) {
  while (strncmp(s->text, kind_names[s->kind], strlen(kind_names[s->kind])))
    ++s->kind;
  const char *at = s->text + strlen(kind_names[s->kind]) + 1;
  const char *end = s->text + strlen(s->text) - 1;
  if (end < at || *end != ')')
    return wrong(s, "it must end in )");
  if (!parse_shape(next_piece(&at, end), false, &s->rank, s->shape))
    return wrong(s, "the shape must be at most 8 sizes, as 4x128");
  piece dtype = at <= end ? next_piece(&at, end) : (piece){"", 0};
  if (!dtype_parse(dtype.at, dtype.length, &s->dtype))
    return wrong(s, "after the shape comes the element type: " DTYPE_NAMES);
  if (s->kind == FULL &&
      (at > end || !parse_number(next_piece(&at, end), &s->value)))
    return wrong(s, "after the element type comes the value, a number");
  // Numbers of all signs; small integers; a mask that is all true where it is
  // not sparse.
  s->low = dtype_is_float(s->dtype) ? -1 : s->dtype.code == 0 ? -8 : 0;
  s->high = dtype_is_float(s->dtype) ? 1 : s->dtype.code == 0 ? 7 : 15;
  if (s->dtype.code == PIT_DTYPE_BOOL)
    s->low = s->high = 1;
  if (s->kind != RANDOM && at <= end)
    return wrong(s, "there is more than it takes");
  while (at <= end)
    if (!parse_option(s, next_piece(&at, end)))
      return false;
  if (!dtype_is_float(s->dtype)) {
    s->low = ceil(s->low);
    s->high = floor(s->high);
  }
  if (s->low > s->high)
    return wrong(s, "there is no number from low to high");
  return true;
}

/// A sequence of random words (SplitMix64: a Weyl sequence, then mixed).
static uint64_t next_word(uint64_t *state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

/// A number in [0, 1).
static double next_unit(uint64_t *state) {
  return ldexp((double)(next_word(state) >> 11), -53);
}

/// The micro-tile that an element lies in, counted row-major.
static int64_t tile_of(const spec *s, const int64_t *tiles, int64_t i) {
  int64_t coordinate[PIT_MAX_RANK], tile = 0;
  for (int32_t d = s->rank - 1; d >= 0; --d) {
    coordinate[d] = i % s->shape[d];
    i /= s->shape[d];
  }
  for (int32_t d = 0; d < s->rank; ++d)
    tile = tile * tiles[d] + coordinate[d] / s->micro[d];
  return tile;
}

/// Says of each micro-tile whether it is live: exactly the part that sparsity
/// asks for, any choice of them as likely as any other.
static bool *choose_live(const spec *s, int64_t tiles, uint64_t *state) {
  bool *live = malloc(tiles ? (size_t)tiles : 1);
  if (!live) {
    tool_error("%s: out of memory", s->text);
    return NULL;
  }
  int64_t wanted = tiles - (int64_t)floor(s->sparsity * (double)tiles);
  for (int64_t i = 0; i < tiles; ++i) {
    live[i] = next_unit(state) * (double)(tiles - i) < (double)wanted;
    wanted -= live[i];
  }
  return live;
}

static bool fill_random(spec *s, tensor *t) {
  int64_t tiles[PIT_MAX_RANK], all = 1, count = tensor_count(t);
  for (int32_t d = 0; d < s->rank; ++d) {
    if (s->micro_rank == 0)
      s->micro[d] = 1;
    else if (s->micro[d] < 0)
      s->micro[d] = s->shape[d] ? s->shape[d] : 1;
    tiles[d] = s->shape[d] / s->micro[d] + (s->shape[d] % s->micro[d] != 0);
    all *= tiles[d];
  }
  uint64_t state = s->seed;
  bool *live = NULL;
  if (s->sparsity > 0 && count > 0) {
    live = choose_live(s, all, &state);
    if (!live)
      return false;
  }
  bool is_float = dtype_is_float(s->dtype);
  double span = s->high - s->low + (is_float ? 0 : 1);
  for (int64_t i = 0; i < count; ++i) {
    double value = s->low + next_unit(&state) * span;
    if (!live || live[tile_of(s, tiles, i)])
      tensor_set(t, i, is_float ? value : fmin(floor(value), s->high));
  }
  free(live);
  return true;
}

bool argspec_make(const char *text, tensor *t) {
  spec s = {.text = text};
  if (!parse(&s) || !tensor_init(t, s.dtype, s.rank, s.shape))
    return false;
  if (s.kind == FULL) {
    int64_t count = tensor_count(t);
    for (int64_t i = 0; i < count; ++i)
      tensor_set(t, i, s.value);
  }
  if (s.kind == RANDOM && !fill_random(&s, t)) {
    tensor_free(t);
    return false;
  }
  return true;
}
