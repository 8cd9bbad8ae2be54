//===- Scalars.c - Numbers of Python as elements
//----------------------------===//

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
  return dtype.code == PIT_DTYPE_BFLOAT ? "bf16" : names[dtype.code][size];
}

/// The bits of the f16 that is nearest to a number, of two the even one; false
/// if it is too large.
static bool round_to_half(double value, uint16_t *half) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double size = fabs(value);
  if (isnan(value) || isinf(value)) {
    *half = sign | (isnan(value) ? 0x7E00 : 0x7C00);
    return true;
  }
  // In units of the last of 11 bits; subnormal numbers have that of 2^-14.
  int exponent;
  (void)frexp(size, &exponent);
  if (exponent < -13 || size == 0)
    exponent = -13;
  double units = nearbyint(ldexp(size, 11 - exponent));
  // The carry of rounding up goes to the exponent, as it has to.
  double bits = units + 1024.0 * (exponent + 13);
  if (bits >= 0x7C00)
    return false;
  *half = sign | (uint16_t)bits;
  return true;
}

/// Writes a float of a type; false if the type has no such value.
static bool pack_float(DLDataType dtype, double value, void *bytes) {
  if (dtype.code == PIT_DTYPE_FLOAT && dtype.bits == 64) {
    memcpy(bytes, &value, sizeof(value));
    return true;
  }
  if (dtype.code == PIT_DTYPE_FLOAT && dtype.bits == 16) {
    uint16_t half;
    bool fits = round_to_half(value, &half);
    if (fits)
      memcpy(bytes, &half, sizeof(half));
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
    return dtype.bits == 8;
  default:
    return false;
  }
}

int pit_pack_scalar(const pit_module *module, DLDataType dtype, PyObject *value,
                    void *bytes) {
  if (!is_known(dtype))
    return pit_raise(module, "no element type of code %d and %d bits",
                     (int)dtype.code, (int)dtype.bits);
  bool fits;
  if (dtype.code == PIT_DTYPE_BOOL) {
    fits = pack_bool(value, bytes);
  } else if (dtype.code == PIT_DTYPE_FLOAT || dtype.code == PIT_DTYPE_BFLOAT) {
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
