//===- TensorMultiply.c - What mma and wgmma share ------------------------===//

#include "TensorMultiply.h"

#include <stddef.h>

static bool is_fp8(tensor_type type) {
  return type == TENSOR_E4M3 || type == TENSOR_E5M2;
}

static bool is_byte(tensor_type type) {
  return type == TENSOR_S8 || type == TENSOR_U8;
}

const char *tensor_check_types(tensor_type a, tensor_type b, tensor_type sum,
                               bool saturate) {
  if (a == TENSOR_F32 || a == TENSOR_S32)
    return "the type is one of sums, not of factors";
  if (a != b && !(is_fp8(a) && is_fp8(b)) && !(is_byte(a) && is_byte(b)))
    return "the factors' types do not go together";
  if (sum != (is_byte(a) ? TENSOR_S32 : TENSOR_F32))
    return "the type of the sums is not that of such factors";
  return saturate && !is_byte(a) ? ".satfinite is for integers" : NULL;
}

void tensor_multiply_row(const double *a, const double *b, uint32_t k,
                         uint32_t n, double *sums) {
  for (uint32_t j = 0; j < n; ++j)
    sums[j] = 0;
  // k is a multiple of 4: the sums are loaded and stored less often.
  for (uint32_t i = 0; i < k; i += 4) {
    const double *b0 = b + (size_t)i * n, *b1 = b0 + n, *b2 = b1 + n,
                 *b3 = b2 + n;
    for (uint32_t j = 0; j < n; ++j)
      sums[j] = sums[j] + a[i] * b0[j] + a[i + 1] * b1[j] + a[i + 2] * b2[j] +
                a[i + 3] * b3[j];
  }
}

uint32_t tensor_add(tensor_type sum, bool saturate, double value, uint32_t c) {
  if (sum == TENSOR_F32)
    return tensor_round(TENSOR_F32, value + tensor_value(TENSOR_F32, c));
  // Sums of bytes are whole and small.
  int64_t exact = (int64_t)value + (int32_t)c;
  if (saturate)
    exact = exact > INT32_MAX   ? INT32_MAX
            : exact < INT32_MIN ? INT32_MIN
                                : exact;
  return (uint32_t)exact;
}
