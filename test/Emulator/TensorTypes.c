//===- TensorTypes.c - Elements of tensor cores ---------------------------===//

#include "TensorTypes.h"

#include <math.h>
#include <string.h>

uint32_t tensor_type_bits(tensor_type type) {
  switch (type) {
  case TENSOR_F16:
  case TENSOR_BF16:
    return 16;
  case TENSOR_E4M3:
  case TENSOR_E5M2:
  case TENSOR_S8:
  case TENSOR_U8:
    return 8;
  default:
    return 32;
  }
}

bool tensor_type_is_integer(tensor_type type) {
  return type == TENSOR_S8 || type == TENSOR_U8 || type == TENSOR_S32;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

/// A value of few bits: moved to the exponent and mantissa of a float, it only
/// has the wrong bias; that also normalizes what is subnormal. `infinity` is
/// the first magnitude that is not finite.
static double small_value(uint32_t bits, uint32_t width, uint32_t mantissa,
                          float scale, uint32_t infinity) {
  uint32_t sign = bits >> (width - 1) & 1;
  uint32_t magnitude = bits & ((1U << (width - 1)) - 1);
  double value =
      magnitude > infinity ? (double)NAN
      : magnitude == infinity
          ? (double)INFINITY
          : (double)float_of(magnitude << (23 - mantissa)) * (double)scale;
  return sign ? -value : value;
}

double tensor_value(tensor_type type, uint32_t bits) {
  switch (type) {
  case TENSOR_F16:
    return small_value(bits, 16, 10, 0x1p112F, 0x7C00);
  case TENSOR_BF16:
    return (double)float_of(bits << 16);
  case TENSOR_TF32:
    return (double)float_of(bits & ~0x1FFFU);
  case TENSOR_E4M3: // has no infinity, and one magnitude of NaN
    return (bits & 0x7F) == 0x7F ? (double)NAN
                                 : small_value(bits, 8, 3, 0x1p120F, 0x80);
  case TENSOR_E5M2:
    return small_value(bits, 8, 2, 0x1p112F, 0x7C);
  case TENSOR_S8:
    return (double)(int8_t)(uint8_t)bits;
  case TENSOR_U8:
    return (double)(uint8_t)bits;
  case TENSOR_S32:
    return (double)(int32_t)bits;
  default:
    return (double)float_of(bits);
  }
}

// Loops of their own, so that the type is looked at once.
#define VALUES(TYPE, ELEMENT)                                                  \
  case TYPE:                                                                   \
    for (uint32_t i = 0; i < count; ++i) {                                     \
      ELEMENT element;                                                         \
      memcpy(&element, from + i * sizeof(element), sizeof(element));           \
      values[i] = tensor_value(TYPE, element);                                 \
    }                                                                          \
    return;

void tensor_values(tensor_type type, const void *elements, uint32_t count,
                   double *values) {
  const uint8_t *from = elements;
  switch (type) {
    VALUES(TENSOR_F16, uint16_t)
    VALUES(TENSOR_BF16, uint16_t)
    VALUES(TENSOR_TF32, uint32_t)
    VALUES(TENSOR_E4M3, uint8_t)
    VALUES(TENSOR_E5M2, uint8_t)
    VALUES(TENSOR_S8, uint8_t)
    VALUES(TENSOR_U8, uint8_t)
    VALUES(TENSOR_F32, uint32_t)
    VALUES(TENSOR_S32, uint32_t)
  }
}
#undef VALUES

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

uint32_t tensor_round(tensor_type type, double value) {
  if (isnan(value))
    return type == TENSOR_F32 ? 0x7FFFFFFF : 0x7FFF;
  if (type == TENSOR_F32)
    return bits_of((float)value);
  // Round to a multiple of the last bit; what is subnormal has that of the
  // smallest normal number.
  bool half = type == TENSOR_F16;
  int mantissa = half ? 10 : 7, smallest = half ? -14 : -126, exponent;
  if (isfinite(value)) {
    frexp(value, &exponent); // one more than what formats count
    int last = (exponent - 1 > smallest ? exponent - 1 : smallest) - mantissa;
    value = ldexp(nearbyint(ldexp(value, -last)), last);
  }
  if (!half)
    return bits_of((float)value) >> 16;
  uint32_t sign = signbit(value) ? 0x8000 : 0;
  return fabs(value) >= 0x1p16
             ? sign | 0x7C00
             : sign | bits_of((float)(fabs(value) * 0x1p-112)) >> 13;
}
