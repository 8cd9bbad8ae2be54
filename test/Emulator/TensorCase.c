//===- TensorCase.c - Random data for tests of tensor instructions --------===//

#include "TensorCase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t random_word(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

uint32_t random_below(uint64_t *state, uint32_t bound) {
  return (uint32_t)((random_word(state) >> 16) % bound);
}

typedef struct format {
  int bits, exponent, mantissa;
} format;

static format format_of(tensor_type type) {
  switch (type) {
  case TENSOR_F16:
    return (format){16, 5, 10};
  case TENSOR_BF16:
    return (format){16, 8, 7};
  case TENSOR_TF32:
    return (format){19, 8, 10}; // and 13 bits below that do not count
  case TENSOR_E4M3:
    return (format){8, 4, 3};
  case TENSOR_E5M2:
    return (format){8, 5, 2};
  default:
    return (format){32, 8, 23};
  }
}

double value_of(tensor_type type, uint32_t bits) {
  if (type == TENSOR_S32)
    return (int32_t)bits;
  if (type == TENSOR_U8)
    return bits & 0xFF;
  if (type == TENSOR_S8)
    return (int)(bits & 0x7F) - (int)(bits & 0x80);
  format f = format_of(type);
  if (type == TENSOR_TF32)
    bits >>= 13;
  double sign = bits >> (f.bits - 1) & 1 ? -1 : 1;
  int exponent = (int)(bits >> f.mantissa & ((1U << f.exponent) - 1));
  int fraction = (int)(bits & ((1U << f.mantissa) - 1));
  int highest = (1 << f.exponent) - 1, bias = highest / 2;
  if (type == TENSOR_E4M3 && exponent == highest && fraction == 7)
    return NAN;
  if (type != TENSOR_E4M3 && exponent == highest)
    return fraction ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * ldexp(fraction, 1 - bias - f.mantissa);
  return sign *
         ldexp(fraction + (1 << f.mantissa), exponent - bias - f.mantissa);
}

uint32_t random_bits(uint64_t *state, tensor_type type) {
  uint32_t bits = (uint32_t)(random_word(state) >> 20);
  if (type == TENSOR_S8 || type == TENSOR_U8)
    return bits & 0xFF;
  if (type == TENSOR_S32)
    return bits;
  if (random_below(state, 8) == 0)
    return 0;
  format f = format_of(type);
  uint32_t exponent =
      (uint32_t)((1 << (f.exponent - 1)) - 1) - 2 + random_below(state, 5);
  uint32_t made = (bits & ((1U << f.mantissa) - 1)) | exponent << f.mantissa |
                  (bits >> 31) << (f.bits - 1);
  // The bits below are there, and do not count.
  return type == TENSOR_TF32 ? made << 13 | (bits & 0x1FFF) : made;
}

uint32_t bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

tensor_shared make_shared(uint64_t *state) {
  uint8_t *bytes = malloc(CASE_SHARED);
  assert_non_null(bytes);
  for (size_t i = 0; i < CASE_SHARED; ++i)
    bytes[i] = (uint8_t)(random_word(state) >> 24);
  return (tensor_shared){.bytes = bytes, .size = CASE_SHARED};
}

void *find_in_allocation(void *context, uint64_t address, uint64_t size) {
  const one_allocation *memory = context;
  if (address < memory->address || size > memory->size ||
      address - memory->address > memory->size - size)
    return NULL;
  return memory->bytes + (address - memory->address);
}
