//===- RandomCase.c - Random tensors and what is selected of them ---------===//

#include "RandomCase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const type value_types[] = {
    {"f64", PIT_DTYPE_FLOAT, 64},
    {"f32", PIT_DTYPE_FLOAT, 32},
    {"f16", PIT_DTYPE_FLOAT, 16},
    {"bf16", PIT_DTYPE_BFLOAT, 16},
    {"i8", PIT_DTYPE_INT, 8},
    {"i16", PIT_DTYPE_INT, 16},
    {"i32", PIT_DTYPE_INT, 32},
    {"i64", PIT_DTYPE_INT, 64},
    {"u8", PIT_DTYPE_UINT, 8},
    {"u16", PIT_DTYPE_UINT, 16},
    {"u32", PIT_DTYPE_UINT, 32},
    {"u64", PIT_DTYPE_UINT, 64},
    {"bool", PIT_DTYPE_BOOL, 8},
    {"f8E4M3FN", PIT_DTYPE_FLOAT8_E4M3FN, 8},
    {"f8E5M2", PIT_DTYPE_FLOAT8_E5M2, 8},
};
enum { NUM_TYPES = sizeof(value_types) / sizeof(*value_types) };

static bool is_float_type(type t) {
  return t.code == PIT_DTYPE_FLOAT || t.code == PIT_DTYPE_BFLOAT ||
         t.code == PIT_DTYPE_FLOAT8_E4M3FN || t.code == PIT_DTYPE_FLOAT8_E5M2;
}

/// The bits of a float's fraction.
static int fraction_bits(type t) {
  return t.code == PIT_DTYPE_BFLOAT          ? 7
         : t.code == PIT_DTYPE_FLOAT8_E4M3FN ? 3
         : t.code == PIT_DTYPE_FLOAT8_E5M2   ? 2
         : t.bits == 16                      ? 10
         : t.bits == 32                      ? 23
                                             : 52;
}

/// Whether two elements differ, by the arithmetic of their type.
static bool differ(type t, const void *a, const void *b) {
  if (t.code == PIT_DTYPE_FLOAT && t.bits == 64)
    return *(const double *)a != *(const double *)b;
  if (t.code == PIT_DTYPE_FLOAT && t.bits == 32)
    return *(const float *)a != *(const float *)b;
  if (is_float_type(t)) {
    uint16_t bits[2] = {0, 0};
    memcpy(&bits[0], a, t.bits / 8);
    memcpy(&bits[1], b, t.bits / 8);
    double values[2];
    int fraction = fraction_bits(t);
    for (int i = 0; i < 2; ++i) {
      int exponents = t.bits - 1 - fraction;
      int exponent = bits[i] >> fraction & ((1 << exponents) - 1);
      int mantissa = bits[i] & ((1 << fraction) - 1);
      int bias = (1 << (exponents - 1)) - 1;
      if (t.code == PIT_DTYPE_FLOAT8_E4M3FN && (bits[i] & 0x7F) == 0x7F)
        values[i] = NAN;
      else if (t.code != PIT_DTYPE_FLOAT8_E4M3FN &&
               exponent == (1 << exponents) - 1)
        values[i] = mantissa ? NAN : INFINITY;
      else
        values[i] = ldexp(mantissa + (exponent ? 1 << fraction : 0),
                          (exponent ? exponent : 1) - bias - fraction);
      if (bits[i] >> (t.bits - 1))
        values[i] = -values[i];
    }
    return values[0] != values[1];
  }
  return memcmp(a, b, t.bits / 8) != 0;
}

/// The bits of a float of type t, without its sign. In place of an infinity
/// that it lacks: a number.
static uint64_t float_bits(type t, const char *what) {
  uint64_t inf = ((UINT64_C(1) << (t.bits - 1)) - 1) &
                 ~((UINT64_C(1) << fraction_bits(t)) - 1);
  if (t.code == PIT_DTYPE_FLOAT8_E4M3FN && *what == 'n')
    return 0x7F;
  return *what == 'i' ? inf : *what == 'n' ? inf | 1 : 0;
}

/// An element other than the background, most of the time; what is hard to tell
/// from it is likely.
static uint64_t other_value(rng *r, type t, uint64_t background) {
  uint64_t sign = UINT64_C(1) << (t.bits - 1);
  bool is_float = is_float_type(t);
  switch (rng_range(r, 0, 5)) {
  case 0:
    return background ^ sign;
  case 1:
    return 1; // the smallest denormal
  case 2:
    return is_float ? float_bits(t, "nan") : background + 1;
  case 3:
    return is_float ? float_bits(t, "inf") | sign : sign;
  case 4:
    return background ^ UINT64_C(1) << rng_range(r, 0, t.bits - 1);
  default:
    return rng_next(r);
  }
}

double random_micro_tile(rng *r, pit_index_spec *spec) {
  double work = 1;
  spec->axis = (int32_t)rng_range(r, 0, spec->rank - 1);
  for (int32_t d = 0; d < spec->rank; ++d) {
    int64_t n = spec->shape[d];
    static const int64_t tiles[] = {0, 1, 1, 2, 3, 4, 8, 16, 32, 64};
    int64_t size =
        rng_range(r, 0, 3) ? tiles[rng_range(r, 0, 9)] : rng_range(r, 1, n + 3);
    spec->step[d] = 0;
    if (d == spec->axis) {
      size = rng_range(r, 0, 1);
      spec->step[d] = rng_range(r, 0, 1);
    } else if (size && rng_range(r, 0, 3) == 0) {
      spec->step[d] = rng_range(r, 1, size + 3);
    }
    spec->micro_tile[d] = size;
    int64_t step = spec->step[d] ? spec->step[d] : size;
    if (d != spec->axis && size && step)
      work *= ((double)n / (double)step + 1) * (double)(size < n ? size
                                                        : n      ? n
                                                                 : 1);
    else
      work *= (double)(n ? n : 1);
  }
  return work;
}

static void random_spec(test_case *c) {
  rng *r = &c->r;
  pit_index_spec *spec = &c->spec;
  double elements, work;
  do {
    *spec = (pit_index_spec){0};
    spec->rank = c->source == PIT_SOURCE_ROUTING ? 2
                 : rng_range(r, 0, 9) == 0       ? (int32_t)rng_range(r, 6, 8)
                                                 : (int32_t)rng_range(r, 1, 5);
    int32_t longest = (int32_t)rng_range(r, 0, 2 * spec->rank);
    elements = 1;
    for (int32_t d = 0; d < spec->rank; ++d) {
      static const int64_t limits[] = {3, 9, 20, 140};
      int64_t n = rng_range(r, 1, limits[rng_range(r, 0, 3)]);
      if (d == longest)
        n = rng_range(r, 1, 9000);
      if (rng_range(r, 0, 60) == 0)
        n = 0;
      spec->shape[d] = n;
      elements *= (double)(n ? n : 1);
    }
    work = random_micro_tile(r, spec);
  } while (elements >= 60000 || work >= 400000);
  spec->flags = (uint32_t)rng_range(r, 0, 1) * PIT_INDEX_UNORDERED;
  spec->chunk_size = rng_range(r, 0, 1) ? rng_range(r, 1, 70) : 0;
  c->x.rank = spec->rank;
  c->x.elements = 1;
  for (int32_t d = 0; d < spec->rank; ++d) {
    c->x.shape[d] = spec->shape[d];
    c->x.elements *= spec->shape[d];
  }
  c->x.bytes = calloc((size_t)c->x.elements + 1, 1);
}

static void random_data(test_case *c, const int64_t *shape, int32_t rank,
                        int32_t element);

/// Offset in elements of element `i` (row-major) of the data.
static int64_t data_offset(const test_case *c, int64_t i) {
  int64_t offset = 0;
  for (int32_t d = c->data.ndim - 1; d >= 0; --d) {
    offset += i % c->shape[d] * c->strides[d];
    i /= c->shape[d];
  }
  return offset;
}

static int64_t data_count(const test_case *c) {
  int64_t count = 1;
  for (int32_t d = 0; d < c->data.ndim; ++d)
    count *= c->shape[d];
  return count;
}

static char *data_at(const test_case *c, int64_t i) {
  return (char *)c->data.data + c->data.byte_offset +
         data_offset(c, i) * (c->data.dtype.bits / 8);
}

/// Gives the case data of some layout: row-major, or with dimensions in any
/// order, padding, backwards, repeated.
static void random_data(test_case *c, const int64_t *shape, int32_t rank,
                        int32_t element) {
  rng *r = &c->r;
  c->data = (DLTensor){.device = {kDLCPU, 0},
                       .ndim = rank,
                       .dtype = {c->type.code, c->type.bits, 1},
                       .shape = c->shape};
  for (int32_t d = 0; d < rank; ++d)
    c->shape[d] = shape[d];
  bool plain = rng_range(r, 0, 2) != 0;
  int32_t order[PIT_MAX_RANK];
  for (int32_t i = 0; i < rank; ++i) {
    order[i] = i;
    int32_t j = (int32_t)rng_range(r, 0, i);
    if (!plain) {
      order[i] = order[j];
      order[j] = i;
    }
  }
  int64_t stride = 1, lowest = 0;
  for (int32_t i = rank - 1; i >= 0; --i) {
    int32_t d = order[i];
    c->strides[d] = stride;
    if (shape[d] == 0)
      continue;
    if (!plain && rng_range(r, 0, 9) == 0) {
      c->strides[d] = 0;
      continue;
    }
    stride *= shape[d] + (plain ? 0 : rng_range(r, 0, 1));
    if (!plain && rng_range(r, 0, 5) == 0) {
      c->strides[d] = -c->strides[d];
      lowest += c->strides[d] * (shape[d] - 1);
    }
  }
  int64_t before = rng_range(r, 0, 2);
  c->memory = calloc((size_t)(stride + before) + 1, (size_t)element);
  for (int64_t i = 0; i < (stride + before) * element; ++i)
    c->memory[i] = (char)rng_next(r);
  c->data.data = c->memory;
  c->data.byte_offset = (uint64_t)((before - lowest) * element);
  if (!plain || rng_range(r, 0, 1))
    c->data.strides = c->strides;
}

/// How the elements that are not background lie.
typedef struct pattern {
  enum { ANYWHERE, CLUSTERED, SKEWED, BANDED, NUM_PATTERNS } kind;
  double live_fraction;
  int64_t width; ///< of a cluster or the band
  uint64_t seed;
} pattern;

static pattern random_pattern(rng *r) {
  pattern p = {.kind = rng_range(r, 0, 1)
                           ? ANYWHERE
                           : (int)rng_range(r, 0, NUM_PATTERNS - 1),
               .live_fraction = rng_unit(r) * rng_unit(r) * rng_unit(r),
               .width = rng_range(r, 1, 100),
               .seed = rng_next(r)};
  if (rng_range(r, 0, 9) == 0)
    p.live_fraction = 1;
  return p;
}

static bool is_picked(test_case *c, const pattern *p, int64_t i) {
  int64_t columns = c->spec.shape[c->spec.rank - 1];
  int64_t row = i / columns, column = i % columns;
  double live_fraction = p->live_fraction;
  switch (p->kind) {
  case CLUSTERED: { // rectangles that are live or not as a whole
    rng cluster = {p->seed ^
                   (uint64_t)(row / p->width * 7919 + column / p->width)};
    return rng_unit(&cluster) < live_fraction;
  }
  case SKEWED: // some columns have almost all of it
    live_fraction = sqrt(live_fraction) / (double)(1 + column % 64);
    break;
  case BANDED:
    return column - row % (columns + p->width) <= 0 &&
           row % (columns + p->width) - column < p->width;
  default:
    break;
  }
  return rng_unit(&c->r) < live_fraction;
}

static void values_case(test_case *c) {
  rng *r = &c->r;
  bool mask = c->source == PIT_SOURCE_MASK;
  c->type = value_types[rng_range(r, 0, NUM_TYPES - 1)];
  bool is_float = is_float_type(c->type);
  c->has_background = !mask && rng_range(r, 0, 1);
  if (c->has_background) {
    uint64_t sign = UINT64_C(1) << (c->type.bits - 1);
    switch (rng_range(r, 0, is_float ? 4 : 1)) {
    case 0:
      c->background = 0;
      break;
    case 1:
      c->background = rng_next(r);
      break;
    case 2:
      c->background = sign;
      break;
    case 3:
      c->background = float_bits(c->type, "inf") | sign;
      break;
    default:
      c->background = float_bits(c->type, "nan");
    }
  }
  int32_t element = c->type.bits / 8;
  random_data(c, c->spec.shape, c->spec.rank, element);
  pattern p = random_pattern(r);
  for (int64_t i = 0; i < c->x.elements; ++i) {
    uint64_t bits = c->background;
    if (is_picked(c, &p, i))
      bits = other_value(r, c->type, c->background);
    memcpy(data_at(c, i), &bits, (size_t)element);
  }
  for (int64_t i = 0; i < c->x.elements; ++i)
    c->x.bytes[i] = differ(c->type, data_at(c, i), &c->background);
}

static void mask_bits_case(test_case *c) {
  c->type = (type){"u8", PIT_DTYPE_UINT, 8};
  int64_t shape[PIT_MAX_RANK];
  memcpy(shape, c->spec.shape, sizeof(shape));
  int32_t last = c->spec.rank - 1;
  int64_t n = shape[last];
  shape[last] = (n + 7) / 8;
  random_data(c, shape, c->spec.rank, 1);
  double live_fraction = rng_unit(&c->r) * rng_unit(&c->r);
  for (int64_t i = 0; i < data_count(c); ++i)
    if (rng_unit(&c->r) > live_fraction)
      *data_at(c, i) = 0;
  for (int64_t i = 0; i < c->x.elements; ++i) {
    int64_t row = i / n, j = i % n;
    uint8_t byte = *(uint8_t *)data_at(c, row * shape[last] + j / 8);
    c->x.bytes[i] = byte >> (j % 8) & 1;
  }
}

static void integer_type(test_case *c) {
  c->type = rng_range(&c->r, 0, 1) ? (type){"i32", PIT_DTYPE_INT, 32}
                                   : (type){"i64", PIT_DTYPE_INT, 64};
}

static void write_int(test_case *c, int64_t i, int64_t value) {
  memcpy(data_at(c, i), &value, c->type.bits / 8);
}

static int64_t read_int(const test_case *c, int64_t i) {
  return c->type.bits == 32 ? *(int32_t *)data_at(c, i)
                            : *(int64_t *)data_at(c, i);
}

static void lengths_case(test_case *c) {
  integer_type(c);
  int32_t rank = (int32_t)rng_range(&c->r, 0, c->spec.rank - 1);
  random_data(c, c->spec.shape, rank, c->type.bits / 8);
  for (int64_t i = 0; i < data_count(c); ++i)
    write_int(c, i, rng_range(&c->r, 0, c->spec.shape[rank]));
  int64_t inner = 1;
  for (int32_t d = rank + 1; d < c->spec.rank; ++d)
    inner *= c->spec.shape[d];
  for (int64_t i = 0; i < c->x.elements; ++i) {
    int64_t s = i / inner % c->spec.shape[rank];
    c->x.bytes[i] = s < read_int(c, i / inner / c->spec.shape[rank]);
  }
}

/// Lengths of matrices whose rows are dimension 0, one matrix after the other.
static void row_lengths_case(test_case *c) {
  integer_type(c);
  int64_t rows = c->spec.shape[0];
  int64_t matrices = rng_range(&c->r, 1, rows + 1);
  while (rows % matrices)
    --matrices;
  random_data(c, &matrices, 1, c->type.bits / 8);
  int64_t each = rows / matrices, row = 1;
  for (int64_t i = 0; i < matrices; ++i)
    write_int(c, i, rng_range(&c->r, 0, each));
  for (int32_t d = 1; d < c->spec.rank; ++d)
    row *= c->spec.shape[d];
  for (int64_t i = 0; i < c->x.elements; ++i)
    c->x.bytes[i] = i / row % each < read_int(c, i / row / each);
}

static void routing_case(test_case *c) {
  integer_type(c);
  int64_t shape[2] = {c->spec.shape[0], rng_range(&c->r, 0, 4)};
  int64_t experts = c->spec.shape[1];
  random_data(c, shape, 2, c->type.bits / 8);
  for (int64_t i = 0; i < data_count(c); ++i)
    write_int(c, i, rng_range(&c->r, -1, experts - 1));
  c->x.origin = calloc((size_t)c->x.elements + 1, sizeof(int32_t));
  for (int64_t token = 0; token < shape[0]; ++token)
    for (int64_t slot = shape[1] - 1; slot >= 0; --slot) {
      int64_t expert = read_int(c, token * shape[1] + slot);
      if (expert < 0)
        continue;
      c->x.bytes[token * experts + expert] = 1;
      c->x.origin[token * experts + expert] = (int32_t)slot;
    }
}

/// A list of micro-tiles; X is what they cover. Windows that overlap make other
/// micro-tiles live in X, so the steps are the sizes here, and every window
/// holds an element.
static void blocks_case(test_case *c, pit_context *context) {
  integer_type(c);
  for (int32_t d = 0; d < c->spec.rank; ++d)
    c->spec.step[d] = 0;
  int64_t groups, group_shape[PIT_MAX_RANK];
  assert_ok(context, pit_index_groups(context, &c->spec, group_shape, &groups));
  int64_t extent = c->spec.shape[c->spec.axis];
  int64_t all = c->x.elements ? groups * extent : 0;
  int64_t shape[2] = {all ? rng_range(&c->r, 0, 2 * all) : 0, 2};
  if (shape[0] > 500)
    shape[0] = 500;
  random_data(c, shape, 2, c->type.bits / 8);
  if (c->strides[1] == 0 || c->strides[0] == 0) {
    free(c->memory);
    c->memory = calloc((size_t)shape[0] * 2 + 1, c->type.bits / 8);
    c->data.data = c->memory;
    c->data.byte_offset = 0;
    c->data.strides = NULL;
    c->strides[0] = 2;
    c->strides[1] = 1;
  }
  for (int64_t i = 0; i < shape[0]; ++i) {
    int64_t group = rng_range(&c->r, 0, groups - 1);
    int64_t id = rng_range(&c->r, 0, extent - 1);
    write_int(c, 2 * i, group);
    write_int(c, 2 * i + 1, id);
    for (int64_t e = 0; e < c->x.elements; ++e) {
      int64_t at = e, in_group = 0, scale = 1;
      bool inside = true;
      for (int32_t d = c->spec.rank - 1; d >= 0; --d) {
        int64_t coordinate = at % c->spec.shape[d];
        at /= c->spec.shape[d];
        if (d == c->spec.axis)
          inside &= coordinate == id;
        else if (c->spec.micro_tile[d])
          in_group += coordinate / c->spec.micro_tile[d] * scale;
        scale *= group_shape[d];
      }
      if (inside && in_group == group)
        c->x.bytes[e] = 1;
    }
  }
}

void free_case(test_case *c) {
  free(c->x.bytes);
  free(c->x.origin);
  free(c->memory);
}

void random_case(pit_context *context, test_case *c, uint64_t seed,
                 bool with_blocks) {
  *c = (test_case){.r = {seed}};
  c->source = (pit_source)rng_range(&c->r, PIT_SOURCE_VALUES,
                                    with_blocks ? PIT_SOURCE_BLOCKS
                                                : PIT_SOURCE_ROUTING);
  if (rng_range(&c->r, 0, 1))
    c->source = PIT_SOURCE_VALUES;
  random_spec(c);
  switch (c->source) {
  case PIT_SOURCE_VALUES:
  case PIT_SOURCE_MASK:
    values_case(c);
    break;
  case PIT_SOURCE_MASK_BITS:
    mask_bits_case(c);
    break;
  case PIT_SOURCE_LENGTHS:
    // Bitmaps have neither.
    if (with_blocks && c->spec.axis == 0 && rng_range(&c->r, 0, 1)) {
      c->source = PIT_SOURCE_ROW_LENGTHS;
      row_lengths_case(c);
      break;
    }
    lengths_case(c);
    break;
  case PIT_SOURCE_ROUTING:
    routing_case(c);
    break;
  default:
    blocks_case(c, context);
    break;
  }
}
