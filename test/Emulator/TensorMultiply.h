//===- TensorMultiply.h - What mma and wgmma share ------------------------===//

#ifndef PIT_TEST_EMULATOR_TENSORMULTIPLY_H
#define PIT_TEST_EMULATOR_TENSORMULTIPLY_H

#include "TensorTypes.h"

/// NULL if the factors and the sums of an instruction may have these types.
const char *tensor_check_types(tensor_type a, tensor_type b, tensor_type sum,
                               bool saturate);

/// sums[j] = the sum of a[i] * b[i][j], in the order of i.
void tensor_multiply_row(const double *a, const double *b, uint32_t k,
                         uint32_t n, double *sums);

/// The bits of c + value, as `sum` says; c is given as bits.
uint32_t tensor_add(tensor_type sum, bool saturate, double value, uint32_t c);

#endif // PIT_TEST_EMULATOR_TENSORMULTIPLY_H
