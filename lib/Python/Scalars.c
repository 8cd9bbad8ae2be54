//===- Scalars.c - Numbers of Python as elements --------------------------===//

#include "Call.h"

#include <math.h>
#include <string.h>

/// MLIR's name of an element type.
static const char *name_of(DLDataType dtype) {
  static const char *const names[3][4] = {
      {"i8", "i16", "i32", "i64"},
      {"u8", "u16", "u32", "u64"},
      {"f8", "f16", "f32", "f64"},
  };
  int size = dtype.bits == 8    ? 0
             : dtype.bits == 16 ? 1
             : dtype.bits == 32 ? 2
                                : 3;
  if (dtype.code == PIT_DTYPE_BOOL)
    return "i1";
  if (dtype.code == PIT_DTYPE_FLOAT8_E4M3FN)
    return "f8E4M3FN";
  if (dtype.code == PIT_DTYPE_FLOAT8_E5M2)
    return "f8E5M2";
  return dtype.code == PIT_DTYPE_BFLOAT ? "bf16" : names[dtype.code][size];
}

/// A float of at most 16 bits that is not bf16.
typedef struct small_float {
  int bits, fraction;
  int least;     ///< exponent of the smallest normal number
  int special;   ///< the smallest magnitude that is not finite
  bool infinite; ///< it is infinity; otherwise NaN
} small_float;

static const small_float *small_float_of(DLDataType dtype) {
  static const small_float half = {16, 10, -14, 0x7C00, true},
                           e4m3 = {8, 3, -6, 0x7F, false},
                           e5m2 = {8, 2, -14, 0x7C, true};
  return dtype.code == PIT_DTYPE_FLOAT8_E4M3FN               ? &e4m3
         : dtype.code == PIT_DTYPE_FLOAT8_E5M2               ? &e5m2
         : dtype.code == PIT_DTYPE_FLOAT && dtype.bits == 16 ? &half
                                                             : NULL;
}

/// The bits of the number that is nearest to another, of two the even one;
/// false if that is too large.
static bool round_to_small(const small_float *f, double value,
                           uint16_t *result) {
  int sign = signbit(value) ? 1 << (f->bits - 1) : 0;
  double size = fabs(value);
  if (isnan(value) || (isinf(value) && f->infinite)) {
    int quiet = isnan(value) && f->infinite ? 1 << (f->fraction - 1) : 0;
    *result = (uint16_t)(sign | f->special | quiet);
    return true;
  }
  if (isinf(value))
    return false;
  // In units of the last bit; subnormal numbers have that of the smallest
  // normal one.
  int exponent;
  (void)frexp(size, &exponent);
  if (exponent <= f->least || size == 0)
    exponent = f->least + 1;
  double units = nearbyint(ldexp(size, f->fraction + 1 - exponent));
  // The carry of rounding up goes to the exponent, as it has to.
  double bits = units + ldexp(exponent - 1 - f->least, f->fraction);
  if (bits >= f->special)
    return false;
  *result = (uint16_t)(sign | (int)bits);
  return true;
}

/// Writes a float of a type; false if the type has no such value.
static bool pack_float(DLDataType dtype, double value, void *bytes) {
  if (dtype.code == PIT_DTYPE_FLOAT && dtype.bits == 64) {
    memcpy(bytes, &value, sizeof(value));
    return true;
  }
  const small_float *small = small_float_of(dtype);
  if (small) { // little-endian, as all machines that programs are made for
    uint16_t rounded;
    bool fits = round_to_small(small, value, &rounded);
    if (fits)
      memcpy(bytes, &rounded, dtype.bits / 8);
    return fits;
  }
  float single = (float)value;
  if (isinf(single) && !isinf(value))
    return false;
  uint32_t bits;
  memcpy(&bits, &single, sizeof(bits));
  if (dtype.code == PIT_DTYPE_FLOAT) {
    memcpy(bytes, &bits, sizeof(bits));
    return true;
  }
  if (!isnan(value)) // to nearest even
    bits += 0x7FFF + (bits >> 16 & 1);
  uint16_t upper = (uint16_t)(bits >> 16);
  memcpy(bytes, &upper, sizeof(upper));
  return true;
}

/// Writes an integer of a type; false if the type has no such value, or with an
/// exception.
static bool pack_integer(DLDataType dtype, PyObject *value, void *bytes) {
  PyObject *number = PyNumber_Index(value);
  if (!number)
    return false;
  uint64_t bits;
  bool fits;
  if (dtype.code == PIT_DTYPE_UINT) {
    bits = PyLong_AsUnsignedLongLong(number);
    fits = !PyErr_Occurred() &&
           (dtype.bits == 64 || bits >> (dtype.bits % 64) == 0);
  } else {
    int64_t is = PyLong_AsLongLong(number);
    int64_t limit = INT64_MAX >> (64 - dtype.bits);
    fits = !PyErr_Occurred() && is <= limit && is >= -limit - 1;
    bits = (uint64_t)is;
  }
  Py_DECREF(number);
  if (fits) // little-endian, as all machines that programs are made for
    memcpy(bytes, &bits, dtype.bits / 8);
  return fits;
}

/// Writes 0 or 1; false if the value is neither, or with an exception.
static bool pack_bool(PyObject *value, void *bytes) {
  for (unsigned char bit = 0; bit <= 1; ++bit) {
    PyObject *number = PyLong_FromLong(bit);
    int equal = number ? PyObject_RichCompareBool(value, number, Py_EQ) : -1;
    Py_XDECREF(number);
    if (equal < 0)
      return false;
    if (equal) {
      memcpy(bytes, &bit, 1);
      return true;
    }
  }
  return false;
}

/// Whether programs have the type.
static bool is_known(DLDataType dtype) {
  bool power = dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
  switch (dtype.code) {
  case PIT_DTYPE_INT:
  case PIT_DTYPE_UINT:
    return power || dtype.bits == 8;
  case PIT_DTYPE_FLOAT:
    return power;
  case PIT_DTYPE_BFLOAT:
    return dtype.bits == 16;
  case PIT_DTYPE_BOOL:
  case PIT_DTYPE_FLOAT8_E4M3FN:
  case PIT_DTYPE_FLOAT8_E5M2:
    return dtype.bits == 8;
  default:
    return false;
  }
}

static bool is_float(DLDataType dtype) {
  return dtype.code == PIT_DTYPE_FLOAT || dtype.code == PIT_DTYPE_BFLOAT ||
         dtype.code == PIT_DTYPE_FLOAT8_E4M3FN ||
         dtype.code == PIT_DTYPE_FLOAT8_E5M2;
}

int pit_pack_scalar(const pit_module *module, DLDataType dtype, PyObject *value,
                    void *bytes) {
  if (!is_known(dtype))
    return pit_raise(module, "no element type of code %d and %d bits",
                     (int)dtype.code, (int)dtype.bits);
  bool fits;
  if (dtype.code == PIT_DTYPE_BOOL) {
    fits = pack_bool(value, bytes);
  } else if (is_float(dtype)) {
    double number = PyFloat_AsDouble(value);
    fits = !PyErr_Occurred() && pack_float(dtype, number, bytes);
  } else {
    fits = pack_integer(dtype, value, bytes);
  }
  if (fits)
    return 0;
  if (PyErr_Occurred()) { // of the wrong kind, or larger than what C has
    if (!PyErr_ExceptionMatches(PyExc_TypeError) &&
        !PyErr_ExceptionMatches(PyExc_OverflowError) &&
        !PyErr_ExceptionMatches(PyExc_ValueError))
      return -1;
    PyErr_Clear();
  }
  return pit_raise(module, "%R is no value of %s", value, name_of(dtype));
}
