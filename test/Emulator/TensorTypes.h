//===- TensorTypes.h - Elements of tensor cores ---------------------------===//

#ifndef PIT_TEST_EMULATOR_TENSORTYPES_H
#define PIT_TEST_EMULATOR_TENSORTYPES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum tensor_type {
  TENSOR_F16,
  TENSOR_BF16,
  TENSOR_TF32, ///< 32 bits, the lower 13 of which tensor cores do not see
  TENSOR_E4M3,
  TENSOR_E5M2,
  TENSOR_S8,
  TENSOR_U8,
  TENSOR_F32, ///< sums only
  TENSOR_S32, ///< sums only
} tensor_type;

/// Of an element in memory and in registers: 8, 16 or 32.
uint32_t tensor_type_bits(tensor_type type);
bool tensor_type_is_integer(tensor_type type);

/// The value of an element's bits, which are the lowest of the word. Exact.
double tensor_value(tensor_type type, uint32_t bits);
/// The values of elements that follow one another in memory.
void tensor_values(tensor_type type, const void *elements, uint32_t count,
                   double *values);

/// The bits of the f32, f16 or bf16 that is nearest to `value`, ties to even.
/// NaNs become the one of the device, 0x7FFFFFFF or 0x7FFF.
uint32_t tensor_round(tensor_type type, double value);

#endif // PIT_TEST_EMULATOR_TENSORTYPES_H
