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
    {"f64", PIT_DTYPE_FLOAT, 64},
    {"f32", PIT_DTYPE_FLOAT, 32},
    {"f16", PIT_DTYPE_FLOAT, 16},
    {"bf16", PIT_DTYPE_BFLOAT, 16},
    {"i64", PIT_DTYPE_INT, 64},
    {"i32", PIT_DTYPE_INT, 32},
    {"i16", PIT_DTYPE_INT, 16},
    {"i8", PIT_DTYPE_INT, 8},
    {"u64", PIT_DTYPE_UINT, 64},
    {"u32", PIT_DTYPE_UINT, 32},
    {"u16", PIT_DTYPE_UINT, 16},
    {"u8", PIT_DTYPE_UINT, 8},
    {"bool", PIT_DTYPE_BOOL, 8},
    {"f8E4M3FN", PIT_DTYPE_FLOAT8_E4M3FN, 8},
    {"f8E5M2", PIT_DTYPE_FLOAT8_E5M2, 8},
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

/// A float of at most 16 bits.
typedef struct small_float {
  int fraction;  ///< bits
  int least;     ///< exponent of the smallest normal number
  int special;   ///< the smallest magnitude that is not finite
  bool infinite; ///< it is infinity; otherwise NaN
} small_float;

static small_float small_float_of(DLDataType dtype) {
  switch (dtype.code) {
  case PIT_DTYPE_FLOAT8_E4M3FN:
    return (small_float){3, -6, 0x7F, false};
  case PIT_DTYPE_FLOAT8_E5M2:
    return (small_float){2, -14, 0x7C, true};
  case PIT_DTYPE_BFLOAT:
    return (small_float){7, -126, 0x7F80, true};
  default:
    return (small_float){10, -14, 0x7C00, true};
  }
}

static double small_to_double(DLDataType dtype, int bits) {
  small_float f = small_float_of(dtype);
  int sign = 1 << (dtype.bits - 1), size = bits & (sign - 1);
  int exponent = size >> f.fraction, one = 1 << f.fraction;
  double value;
  if (size >= f.special)
    value = f.infinite && size == f.special ? INFINITY : NAN;
  else if (exponent == 0)
    value = ldexp(size, f.least - f.fraction);
  else
    value = ldexp(size % one + one, exponent - 1 + f.least - f.fraction);
  return bits & sign ? -value : value;
}

/// Rounds to nearest, ties to even, in the default rounding mode.
static int double_to_small(DLDataType dtype, double value) {
  small_float f = small_float_of(dtype);
  int sign = signbit(value) ? 1 << (dtype.bits - 1) : 0;
  double size = fabs(value);
  if (isnan(value))
    return sign | f.special | (f.infinite ? 1 << (f.fraction - 1) : 0);
  if (isinf(value))
    return sign | f.special;
  int exponent;
  frexp(size, &exponent);
  if (size == 0 || exponent <= f.least)
    exponent = f.least + 1;
  // The distance of two numbers around `size` is 2^scale.
  int scale = exponent - 1 - f.fraction;
  int units = (int)rint(ldexp(size, -scale));
  // A carry out of the fraction goes into the exponent.
  int bits = ((exponent - 1 - f.least) << f.fraction) + units;
  return sign | (bits < f.special ? bits : f.special);
}

double tensor_get(const tensor *t, int64_t i) {
  const void *data = t->dl.data;
  switch (t->dl.dtype.code << 8 | t->dl.dtype.bits) {
  case PIT_DTYPE_FLOAT << 8 | 64:
    return ((const double *)data)[i];
  case PIT_DTYPE_FLOAT << 8 | 32:
    return (double)((const float *)data)[i];
  case PIT_DTYPE_FLOAT << 8 | 16:
  case PIT_DTYPE_BFLOAT << 8 | 16:
    return small_to_double(t->dl.dtype, ((const uint16_t *)data)[i]);
  case PIT_DTYPE_FLOAT8_E4M3FN << 8 | 8:
  case PIT_DTYPE_FLOAT8_E5M2 << 8 | 8:
    return small_to_double(t->dl.dtype, ((const uint8_t *)data)[i]);
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
      ((uint16_t *)data)[i] = (uint16_t)double_to_small(t->dl.dtype, value);
    return;
  case PIT_DTYPE_BFLOAT:
    ((uint16_t *)data)[i] = (uint16_t)double_to_small(t->dl.dtype, value);
    return;
  case PIT_DTYPE_FLOAT8_E4M3FN:
  case PIT_DTYPE_FLOAT8_E5M2:
    ((uint8_t *)data)[i] = (uint8_t)double_to_small(t->dl.dtype, value);
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
