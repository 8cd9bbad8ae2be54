//===- Tensor.c - Tensors of the command line -----------------------------===//

#include "Tensor.h"
#include "Tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
  const char *name;
  uint8_t code, bits;
} dtypes[] = {
    {"f64", PIT_DTYPE_FLOAT, 64}, {"f32", PIT_DTYPE_FLOAT, 32},
    {"f16", PIT_DTYPE_FLOAT, 16}, {"bf16", PIT_DTYPE_BFLOAT, 16},
    {"i64", PIT_DTYPE_INT, 64},   {"i32", PIT_DTYPE_INT, 32},
    {"i16", PIT_DTYPE_INT, 16},   {"i8", PIT_DTYPE_INT, 8},
    {"u64", PIT_DTYPE_UINT, 64},  {"u32", PIT_DTYPE_UINT, 32},
    {"u16", PIT_DTYPE_UINT, 16},  {"u8", PIT_DTYPE_UINT, 8},
    {"bool", PIT_DTYPE_BOOL, 8},
};
enum { DTYPES = sizeof(dtypes) / sizeof(*dtypes) };

const char *dtype_name(DLDataType dtype, char buffer[TENSOR_NAME_SIZE]) {
  for (size_t i = 0; i < DTYPES; ++i)
    if (dtypes[i].code == dtype.code && dtypes[i].bits == dtype.bits)
      return dtypes[i].name;
  snprintf(buffer, TENSOR_NAME_SIZE, "%d.%d", dtype.code, dtype.bits);
  return buffer;
}

bool dtype_parse(const char *text, size_t length, DLDataType *dtype) {
  for (size_t i = 0; i < DTYPES; ++i)
    if (strlen(dtypes[i].name) == length &&
        memcmp(dtypes[i].name, text, length) == 0) {
      *dtype = (DLDataType){dtypes[i].code, dtypes[i].bits, 1};
      return true;
    }
  return false;
}

const char *tensor_name(DLDataType dtype, int32_t rank, const int64_t *shape,
                        char buffer[TENSOR_NAME_SIZE]) {
  char name[TENSOR_NAME_SIZE];
  int length =
      snprintf(buffer, TENSOR_NAME_SIZE, "%.16s", dtype_name(dtype, name));
  // At most 8 sizes of at most 20 digits: it fits.
  for (int32_t d = 0; d < rank; ++d) {
    size_t left = (size_t)(TENSOR_NAME_SIZE - length);
    const char *mark = d == 0 ? " " : "x";
    length += shape[d] < 0 ? snprintf(buffer + length, left, "%s?", mark)
                           : snprintf(buffer + length, left, "%s%lld", mark,
                                      (long long)shape[d]);
  }
  return buffer;
}

bool tensor_init(tensor *t, DLDataType dtype, int32_t rank,
                 const int64_t *shape) {
  int64_t bytes = dtype.bits / 8;
  bool fits = true, empty = false;
  for (int32_t d = 0; d < rank; ++d) {
    t->shape[d] = shape[d];
    empty |= shape[d] == 0;
    // Sizes of 0 do not excuse the others: shapes are multiplied anywhere.
    fits &= !__builtin_mul_overflow(bytes, shape[d] ? shape[d] : 1, &bytes);
  }
  // More than the machine has would be granted, and the process then killed.
  long long memory_bytes =
      (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
  fits &= empty || bytes <= memory_bytes;
  // Not more than the tensor has, so that sanitizers see where it ends.
  size_t room = fits && !empty ? (size_t)bytes : 1;
  void *memory = NULL;
  if (!fits || posix_memalign(&memory, 64, room) != 0) {
    char name[TENSOR_NAME_SIZE];
    tool_error("a tensor of %s does not fit in memory",
               tensor_name(dtype, rank, shape, name));
    return false;
  }
  memset(memory, 0, room);
  t->dl = (DLTensor){.data = memory,
                     .device = {kDLCPU, 0},
                     .ndim = rank,
                     .dtype = dtype,
                     .shape = t->shape};
  return true;
}

void tensor_free(tensor *t) {
  free(t->dl.data);
  t->dl.data = NULL;
}

int64_t tensor_count(const tensor *t) {
  int64_t count = 1;
  for (int32_t d = 0; d < t->dl.ndim; ++d)
    count *= t->shape[d];
  return count;
}

size_t tensor_bytes(const tensor *t) {
  return (size_t)tensor_count(t) * (t->dl.dtype.bits / 8);
}

static double half_to_double(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  double fraction = bits & 1023, value;
  if (exponent == 31)
    value = fraction != 0 ? NAN : INFINITY;
  else if (exponent == 0)
    value = ldexp(fraction, -24);
  else
    value = ldexp(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

/// Rounds to nearest, ties to even, in the default rounding mode.
static uint16_t double_to_half(double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double size = fabs(value);
  if (isnan(value))
    return sign | 0x7E00;
  if (size >= 65520) // rounds to 2^16
    return sign | 0x7C00;
  int exponent;
  frexp(size, &exponent);
  // The distance of two halves around `size` is 2^scale.
  int scale = size == 0 || exponent < -13 ? -24 : exponent - 11;
  int units = (int)rint(ldexp(size, -scale));
  // A carry out of the fraction goes into the exponent.
  return sign | (uint16_t)((scale + 24) * 1024 + units);
}

static uint16_t double_to_bfloat(double value) {
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof(bits));
  if (isnan(value))
    return (uint16_t)(bits >> 16 | 0x40);
  // From double to f32 to bf16 rounds twice, which matters only for values
  // that text and random numbers practically never have.
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static double bfloat_to_double(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof(value));
  return (double)value;
}

double tensor_get(const tensor *t, int64_t i) {
  const void *data = t->dl.data;
  switch (t->dl.dtype.code << 8 | t->dl.dtype.bits) {
  case PIT_DTYPE_FLOAT << 8 | 64:
    return ((const double *)data)[i];
  case PIT_DTYPE_FLOAT << 8 | 32:
    return (double)((const float *)data)[i];
  case PIT_DTYPE_FLOAT << 8 | 16:
    return half_to_double(((const uint16_t *)data)[i]);
  case PIT_DTYPE_BFLOAT << 8 | 16:
    return bfloat_to_double(((const uint16_t *)data)[i]);
  case PIT_DTYPE_INT << 8 | 64:
    return (double)((const int64_t *)data)[i];
  case PIT_DTYPE_INT << 8 | 32:
    return ((const int32_t *)data)[i];
  case PIT_DTYPE_INT << 8 | 16:
    return ((const int16_t *)data)[i];
  case PIT_DTYPE_INT << 8 | 8:
    return ((const int8_t *)data)[i];
  case PIT_DTYPE_UINT << 8 | 64:
    return (double)((const uint64_t *)data)[i];
  case PIT_DTYPE_UINT << 8 | 32:
    return ((const uint32_t *)data)[i];
  case PIT_DTYPE_UINT << 8 | 16:
    return ((const uint16_t *)data)[i];
  default:
    return ((const uint8_t *)data)[i];
  }
}

static double clamp(double value, double low, double high) {
  return value < low ? low : value > high ? high : rint(value);
}

void tensor_set(tensor *t, int64_t i, double value) {
  void *data = t->dl.data;
  uint8_t bits = t->dl.dtype.bits;
  switch (t->dl.dtype.code) {
  case PIT_DTYPE_FLOAT:
    if (bits == 64)
      ((double *)data)[i] = value;
    else if (bits == 32)
      ((float *)data)[i] = (float)value;
    else
      ((uint16_t *)data)[i] = double_to_half(value);
    return;
  case PIT_DTYPE_BFLOAT:
    ((uint16_t *)data)[i] = double_to_bfloat(value);
    return;
  case PIT_DTYPE_BOOL:
    ((uint8_t *)data)[i] = value != 0;
    return;
  default:
    break;
  }
  bool is_signed = t->dl.dtype.code == PIT_DTYPE_INT;
  if (isnan(value))
    value = 0;
  // The largest 64-bit numbers are no doubles: the next smaller ones are.
  double high = bits == 64 ? ldexp(1 - ldexp(1, -53), is_signed ? 63 : 64)
                           : ldexp(1, is_signed ? bits - 1 : bits) - 1;
  value = clamp(value, is_signed ? -ldexp(1, bits - 1) : 0, high);
  uint64_t word = is_signed ? (uint64_t)(int64_t)value : (uint64_t)value;
  if (bits == 64)
    ((uint64_t *)data)[i] = word;
  else if (bits == 32)
    ((uint32_t *)data)[i] = (uint32_t)word;
  else if (bits == 16)
    ((uint16_t *)data)[i] = (uint16_t)word;
  else
    ((uint8_t *)data)[i] = (uint8_t)word;
}
