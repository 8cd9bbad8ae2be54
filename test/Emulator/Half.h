//===- Half.h - f16 and bf16, rounded once --------------------------------===//

#ifndef PIT_TEST_EMULATOR_HALF_H
#define PIT_TEST_EMULATOR_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t emu_bits32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

static inline float emu_float32(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

static inline float emu_from_f16(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, low = h & 0x7FFF;
  if (low >= 0x7C00)
    return emu_float32(sign | 0x7F800000 | (low & 0x3FF) << 13);
  if (low < 0x400) // 0 and subnormals: units of 2^-24
    return emu_float32(sign | emu_bits32((float)low * 0x1p-24F));
  return emu_float32(sign | ((low << 13) + 0x38000000));
}

static inline uint16_t emu_to_f16(float x) {
  uint32_t bits = emu_bits32(x), sign = bits >> 16 & 0x8000;
  bits &= 0x7FFFFFFF;
  if (bits > 0x7F800000)
    return 0x7FFF;
  if (bits >= 0x477FF000) // 65520 rounds to infinity
    return (uint16_t)(sign | 0x7C00);
  if (bits < 0x38800000) // the ulp of 0.5 is that of f16's subnormals
    return (uint16_t)(sign |
                      (emu_bits32(emu_float32(bits) + 0.5F) - 0x3F000000));
  bits += 0xFFF + (bits >> 13 & 1);
  return (uint16_t)(sign | (bits - 0x38000000) >> 13);
}

static inline float emu_from_bf16(uint16_t h) {
  return emu_float32((uint32_t)h << 16);
}

static inline uint16_t emu_to_bf16(float x) {
  uint32_t bits = emu_bits32(x);
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return 0x7FFF;
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// The float that a rounding to fewer bits takes for the same as `x`: the last
/// bit says whether something was cut off.
static inline float emu_to_odd(double x) {
  float y = (float)x;
  uint32_t bits = emu_bits32(y);
  if ((double)y == x || y != y || (bits & 1))
    return y;
  if (isinf(y))
    return isinf(x) ? y : emu_float32(bits - 1);
  if (y == 0)
    return emu_float32(bits | 1);
  return emu_float32(fabs((double)y) > fabs(x) ? bits - 1 : bits + 1);
}

/// a * b + c likewise, for products that are exact.
static inline double emu_fma_to_odd(double a, double b, double c) {
  double product = a * b, sum = product + c;
  double back = sum - product;
  double lost = (product - (sum - back)) + (c - back);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof(bits));
  if (!isfinite(sum) || lost == 0 || (bits & 1))
    return sum;
  bits = (lost > 0) == (sum > 0) ? bits + 1 : bits - 1;
  memcpy(&sum, &bits, sizeof(sum));
  return sum;
}

/// PTX's: a number wins over a NaN, and -0 is less than 0.
static inline double emu_min(double x, double y) {
  if (x != x || y != y)
    return x != x ? y : x;
  return x < y || (x == y && signbit(x)) ? x : y;
}

static inline double emu_max(double x, double y) {
  if (x != x || y != y)
    return x != x ? y : x;
  return x > y || (x == y && signbit(y)) ? x : y;
}

static inline double emu_min_nan(double x, double y) {
  return x != x || y != y ? NAN : emu_min(x, y);
}

static inline double emu_max_nan(double x, double y) {
  return x != x || y != y ? NAN : emu_max(x, y);
}

#endif // PIT_TEST_EMULATOR_HALF_H
