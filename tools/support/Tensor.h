//===- Tensor.h - Tensors of the command line -----------------------------===//

#ifndef PIT_TOOLS_SUPPORT_TENSOR_H
#define PIT_TOOLS_SUPPORT_TENSOR_H

#include "pit-runtime/Runtime.h"

#include <stdbool.h>

/// A tensor and its memory, contiguous and row-major. Not to be moved: `dl`
/// points into it.
typedef struct tensor {
  DLTensor dl;
  int64_t shape[PIT_MAX_RANK];
} tensor;

/// Makes a tensor of zeros. Prints an error and returns false if its size is
/// too large.
bool tensor_init(tensor *t, DLDataType dtype, int32_t rank,
                 const int64_t *shape);
void tensor_free(tensor *t);

/// Elements, and bytes, of a tensor.
int64_t tensor_count(const tensor *t);
size_t tensor_bytes(const tensor *t);

/// Element i in row-major order, as a double; integers beyond 2^53 are rounded.
double tensor_get(const tensor *t, int64_t i);
/// Stores a double, rounded to nearest; an integer type gets the nearest it can
/// hold.
void tensor_set(tensor *t, int64_t i, double value);

static inline bool dtype_equal(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits;
}
static inline bool dtype_is_float(DLDataType dtype) {
  return dtype.code == PIT_DTYPE_FLOAT || dtype.code == PIT_DTYPE_BFLOAT ||
         dtype.code == PIT_DTYPE_FLOAT8_E4M3FN ||
         dtype.code == PIT_DTYPE_FLOAT8_E5M2;
}

enum { TENSOR_NAME_SIZE = 256 };

/// "f32"; for one that pit does not know "code.bits".
const char *dtype_name(DLDataType dtype, char buffer[TENSOR_NAME_SIZE]);
/// Parses the `length` characters of a dtype's name.
bool dtype_parse(const char *text, size_t length, DLDataType *dtype);
/// All names, for messages.
#define DTYPE_NAMES                                                            \
  "f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i16, i8, u8 or bool"

/// "f32 4x?", with ? for -1; "f32" for rank 0.
const char *tensor_name(DLDataType dtype, int32_t rank, const int64_t *shape,
                        char buffer[TENSOR_NAME_SIZE]);

#endif // PIT_TOOLS_SUPPORT_TENSOR_H
