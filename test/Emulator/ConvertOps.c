//===- ConvertOps.c - cvt -------------------------------------------------===//

#include "Half.h"
#include "Lanes.h"

/// Types and roundings of a conversion.
typedef struct conversion {
  char to, from; ///< kinds, as emu_type says
  uint8_t to_bytes, from_bytes;
  char rounding; ///< n, z, m, p, a (away), or 0
  bool to_integer, saturates, is_relu, is_e5m2;
} conversion;

static bool is_float(char kind) { return strchr("fhgt", kind) != NULL; }

static double value_of(char kind, unsigned bytes, uint64_t bits) {
  if (kind == 'h')
    return (double)emu_from_f16((uint16_t)bits);
  if (kind == 'g')
    return (double)emu_from_bf16((uint16_t)bits);
  if (bytes == 4)
    return (double)emu_float32((uint32_t)bits);
  double x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

/// Halves away from 0, to the 10 bits of a tf32.
static uint32_t to_tf32(float x, char rounding) {
  uint32_t bits = emu_bits32(x);
  if ((bits & 0x7F800000) == 0x7F800000)
    return bits & 0xFFFFE000;
  if (rounding == 'a')
    bits += 0x1000;
  else if (rounding == 'n')
    bits += 0xFFF + (bits >> 13 & 1);
  return bits & 0xFFFFE000;
}

static double to_whole(double x, char rounding) {
  switch (rounding) {
  case 'z':
    return trunc(x);
  case 'm':
    return floor(x);
  case 'p':
    return ceil(x);
  default:
    return nearbyint(x);
  }
}

static uint64_t float_bits(const conversion *c, double x) {
  if (c->saturates)
    x = x > 0 ? x < 1 ? x : 1 : 0;
  if (c->is_relu)
    x = x > 0 || x != x ? x : 0;
  if (c->to == 'h')
    return emu_to_f16(emu_to_odd(x));
  if (c->to == 'g')
    return emu_to_bf16(emu_to_odd(x));
  if (c->to == 't')
    return to_tf32((float)x, c->rounding);
  if (c->to_bytes == 4)
    return emu_bits32((float)x);
  uint64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

/// Values that do not fit become the nearest that do, NaN becomes 0.
static uint64_t whole_bits(const conversion *c, double x) {
  unsigned bits = 8u * c->to_bytes;
  x = to_whole(x, c->rounding);
  if (x != x)
    return 0;
  if (c->to == 's') {
    double top = ldexp(1, (int)bits - 1);
    if (x >= top)
      return (UINT64_C(1) << (bits - 1)) - 1;
    return x < -top ? (uint64_t)(-(INT64_C(1) << (bits - 2)) * 2)
                    : (uint64_t)(int64_t)x;
  }
  if (x <= 0)
    return 0;
  if (x >= ldexp(1, (int)bits))
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  return (uint64_t)x;
}

static uint64_t clamp(const conversion *c, uint64_t x) {
  unsigned bits = 8u * c->to_bytes;
  if (bits == 64)
    return x;
  int64_t low = c->to == 's' ? -(INT64_C(1) << (bits - 1)) : 0;
  int64_t high = (INT64_C(1) << (bits - (c->to == 's'))) - 1;
  if (c->from != 's')
    return x > (uint64_t)high ? (uint64_t)high : x;
  return (int64_t)x < low    ? (uint64_t)low
         : (int64_t)x > high ? (uint64_t)high
                             : x;
}

static uint64_t convert(const conversion *c, uint64_t bits) {
  unsigned rest = 64 - 8u * c->from_bytes;
  if (is_float(c->from)) {
    double x = value_of(c->from, c->from_bytes, bits);
    if (!is_float(c->to))
      return whole_bits(c, x);
    return float_bits(c, c->to_integer ? to_whole(x, c->rounding) : x);
  }
  // The register may be wider than the type.
  bits = c->from == 's' ? (uint64_t)((int64_t)(bits << rest) >> rest)
                        : bits << rest >> rest;
  if (!is_float(c->to))
    return c->saturates ? clamp(c, bits) : bits;
  if (c->to == 'f' && c->to_bytes == 4)
    return emu_bits32(c->from == 's' ? (float)(int64_t)bits : (float)bits);
  double x = c->from == 's' ? (double)(int64_t)bits : (double)bits;
  return float_bits(c, x);
}

/// Integers become wider than their type, as their sign says.
static uint64_t extend(const conversion *c, uint64_t bits) {
  unsigned rest = 64 - 8u * c->to_bytes;
  return c->to == 's' ? (uint64_t)((int64_t)(bits << rest) >> rest)
                      : bits << rest >> rest;
}

EMU_HEAD(run_cvt) {
  const conversion *c = i->info;
  EMU_EACH(l)
  emu_write(w, &i->operands[0], l,
            extend(c, convert(c, emu_read(w, &i->operands[1], l))));
  return EMU_NEXT;
}

/// e4m3 or e5m2, to nearest even; what is beyond the largest number becomes
/// that.
static uint8_t to_f8(float x, bool e5m2) {
  int mantissa = e5m2 ? 2 : 3, least = e5m2 ? -14 : -6;
  double most = e5m2 ? 57344 : 448, size = fabs((double)x);
  uint8_t sign = signbit(x) ? 0x80 : 0;
  if (x != x)
    return 0x7F;
  int exponent = size > 0 ? ilogb(size) : least;
  if (exponent < least)
    exponent = least;
  double ulp = ldexp(1, exponent - mantissa);
  size = fmin(nearbyint(size / ulp) * ulp, most);
  if (size < ldexp(1, least)) // a fraction without the 1 before it
    return sign | (uint8_t)ldexp(size, mantissa - least);
  exponent = ilogb(size);
  int fraction = (int)ldexp(size, mantissa - exponent) - (1 << mantissa);
  return sign | (uint8_t)((exponent - least + 1) << mantissa | fraction);
}

/// The first operand becomes the upper byte.
EMU_HEAD(run_f8_pair) {
  const conversion *c = i->info;
  EMU_EACH(l) {
    unsigned bytes[2];
    for (int n = 0; n < 2; ++n)
      bytes[n] =
          to_f8(emu_float32((uint32_t)emu_read(w, &i->operands[n + 1], l)),
                c->is_e5m2);
    emu_write(w, &i->operands[0], l, bytes[0] << 8 | bytes[1]);
  }
  return EMU_NEXT;
}

/// cvt.rn.satfinite.e4m3x2.f32, or e5m2x2
static bool decode_f8(emu_parser *p, emu_instruction *i, const emu_words *words,
                      conversion *c) {
  if (words->count != 5 || strcmp(words->word[1], "rn") != 0 ||
      strcmp(words->word[2], "satfinite") != 0 ||
      strcmp(words->word[4], "f32") != 0 || i->operand_count != 3)
    return false;
  c->is_e5m2 = strcmp(words->word[3], "e5m2x2") == 0;
  if (!c->is_e5m2 && strcmp(words->word[3], "e4m3x2") != 0)
    return false;
  i->run = run_f8_pair;
  return emu_take_wide(p, &i->operands[0], 2) &&
         emu_take_wide(p, &i->operands[1], 4) &&
         emu_take_wide(p, &i->operands[2], 4);
}

/// The first operand becomes the upper half.
EMU_HEAD(run_pair) {
  const conversion *c = i->info;
  EMU_EACH(l)
  emu_write(w, &i->operands[0], l,
            convert(c, emu_read(w, &i->operands[1], l)) << 16 |
                convert(c, emu_read(w, &i->operands[2], l)));
  return EMU_NEXT;
}

// What kernels do most.
EMU_UNARY(u64_of_u32, u64, u32, a[l])
EMU_UNARY(u64_of_s32, u64, s32, (emu_s64)a[l])
EMU_UNARY(u32_of_u64, u32, u64, a[l])
EMU_UNARY(f32_of_f16, f32, u16, emu_from_f16(a[l]))
EMU_UNARY(f32_of_bf16, f32, u16, emu_from_bf16(a[l]))
EMU_UNARY(f16_of_f32, u16, f32, emu_to_f16(a[l]))
EMU_UNARY(bf16_of_f32, u16, f32, emu_to_bf16(a[l]))

static const emu_opcode usual[] = {
    {"cvt.u64.u32", "84", u64_of_u32},     {"cvt.s64.s32", "84", u64_of_s32},
    {"cvt.u32.u64", "48", u32_of_u64},     {"cvt.f32.f16", "42", f32_of_f16},
    {"cvt.f32.bf16", "42", f32_of_bf16},   {"cvt.rn.f16.f32", "24", f16_of_f32},
    {"cvt.rn.bf16.f32", "24", bf16_of_f32}};

static bool is_usual(emu_instruction *i, const emu_words *words) {
  char name[80] = "cvt";
  for (int n = 1; n < words->count; ++n) {
    size_t used = strlen(name);
    if (used + EMU_WORD_SIZE + 1 > sizeof(name))
      return false;
    name[used] = '.';
    strcpy(name + used + 1, words->word[n]);
  }
  for (size_t n = 0; n < sizeof(usual) / sizeof(*usual); ++n)
    if (strcmp(name, usual[n].name) == 0 && i->operand_count == 2 &&
        i->operands[0].bytes == (unsigned)usual[n].form[0] - '0' &&
        i->operands[1].bytes == (unsigned)usual[n].form[1] - '0') {
      i->run = usual[n].run;
      return true;
    }
  return false;
}

static bool decode_cvt(emu_parser *p, emu_instruction *i,
                       const emu_words *words) {
  if (is_usual(i, words))
    return true;
  conversion *c = emu_parser_new(p, sizeof(*c));
  if (!c || words->count < 3)
    return false;
  i->info = c;
  if (decode_f8(p, i, words, c))
    return true;
  for (int n = 1; n + 2 < words->count; ++n) {
    const char *word = words->word[n];
    if (strcmp(word, "rna") == 0) {
      c->rounding = 'a';
    } else if (word[0] == 'r' && strlen(word) >= 2 && strchr("nzmp", word[1]) &&
               (!word[2] || (word[2] == 'i' && !word[3]))) {
      c->rounding = word[1];
      c->to_integer = word[2] == 'i';
    } else if (strcmp(word, "sat") == 0) {
      c->saturates = true;
    } else if (strcmp(word, "relu") == 0) {
      c->is_relu = true;
    } else {
      return false;
    }
  }
  c->to_bytes = (uint8_t)emu_type(words->word[words->count - 2], &c->to);
  c->from_bytes = (uint8_t)emu_type(words->word[words->count - 1], &c->from);
  bool is_pair = c->to == 'H' || c->to == 'G';
  if (is_pair) {
    c->to = c->to == 'H' ? 'h' : 'g';
    c->to_bytes = 2;
  }
  // Of roundings to fewer bits those to the nearest are here.
  bool narrows = is_float(c->to) && (is_float(c->from) || c->to_bytes < 8);
  if (c->to_bytes == 0 || c->from_bytes == 0 || strchr("HGp", c->from) ||
      (narrows && !c->to_integer && c->rounding && c->to != 't' &&
       c->rounding != 'n') ||
      i->operand_count != (is_pair ? 3 : 2))
    return false;
  i->run = is_pair ? run_pair : run_cvt;
  unsigned least = is_pair ? 4 : c->to_bytes < 2 ? 2 : c->to_bytes;
  if (!emu_take_wide(p, &i->operands[0], least))
    return false;
  for (int n = 1; n < i->operand_count; ++n)
    if (!emu_take_wide(p, &i->operands[n],
                       c->from_bytes < 2 ? 2 : c->from_bytes))
      return false;
  return true;
}

const emu_family emu_convert_families[] = {{"cvt", decode_cvt}, {NULL, NULL}};
