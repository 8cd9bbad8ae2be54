//===- TensorWgmma.c - wgmma.mma_async ------------------------------------===//

#include "TensorWgmma.h"

#include "TensorFactor.h"
#include "TensorMultiply.h"

#include <string.h>

enum { M = 64, MAX_N = 256, MAX_K = 32 };

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

static const char *read_descriptor(uint64_t descriptor, tensor_type type,
                                   bool major, tensor_factor *read) {
  static const uint32_t spans[] = {TENSOR_CHUNK, 128, 64, 32};
  const uint64_t unused = UINT64_C(3) << 14 | UINT64_C(3) << 30 |
                          UINT64_C(7) << 46 | UINT64_C(0x3FF) << 52;
  if (descriptor & unused)
    return "bits of a matrix descriptor are set that have no meaning";
  if (descriptor >> 49 & 7)
    return "base offsets of matrix descriptors are not emulated";
  if (major && tensor_type_bits(type) != 16)
    return "only elements of 16 bits may be transposed";
  *read = (tensor_factor){tensor_descriptor_bytes(descriptor, 0),
                          tensor_descriptor_bytes(descriptor, 16),
                          tensor_descriptor_bytes(descriptor, 32),
                          spans[descriptor >> 62]};
  return NULL;
}

const char *tensor_descriptor_address(uint64_t descriptor, tensor_type type,
                                      bool major, uint32_t outer, uint32_t k,
                                      uint32_t *address) {
  tensor_factor from;
  const char *error = read_descriptor(descriptor, type, major, &from);
  if (!error)
    *address = tensor_factor_address(&from, type, major, outer, k);
  return error;
}

static const char *load_factor(const tensor_shared *shared, uint64_t descriptor,
                               tensor_type type, bool major, uint32_t count,
                               uint32_t depth, uint32_t outer_stride,
                               uint32_t k_stride, double *values) {
  tensor_factor from;
  const char *error = read_descriptor(descriptor, type, major, &from);
  return error ? error
               : tensor_factor_load(shared, &from, type, major, count, depth,
                                    outer_stride, k_stride, values);
}

//===----------------------------------------------------------------------===//
// The instruction
//===----------------------------------------------------------------------===//

static const char *check(const tensor_wgmma *op) {
  const char *error = tensor_check_types(op->a, op->b, op->sum, op->saturate);
  if (error)
    return error;
  bool integer = op->sum == TENSOR_S32;
  if (op->n < 8 || op->n > MAX_N || op->n % 8 != 0 ||
      (integer && op->n > 24 && op->n % 16 != 0))
    return "wgmma has no such n for its type";
  if ((op->scale_a != 1 && op->scale_a != -1) ||
      (op->scale_b != 1 && op->scale_b != -1))
    return "imm-scale-a and imm-scale-b must be 1 or -1";
  return integer && (op->scale_a < 0 || op->scale_b < 0)
             ? "integers have no imm-scale"
             : NULL;
}

/// Multiplies a, which is [M][k], and what the descriptor `b` says.
static const char *multiply(const tensor_wgmma *op, const tensor_shared *shared,
                            const double *av, uint64_t b, uint32_t depth,
                            uint32_t (*d)[TENSOR_WARPGROUP]) {
  double bv[MAX_K * MAX_N], sums[MAX_N];
  const char *error = load_factor(shared, b, op->b, op->transpose_b, op->n,
                                  depth, 1, op->n, bv);
  if (error)
    return error;
  double scale = op->scale_a * op->scale_b;
  for (uint32_t row = 0; row < M; ++row) {
    tensor_multiply_row(av + (size_t)row * depth, bv, depth, op->n, sums);
    for (uint32_t col = 0; col < op->n; ++col) {
      uint32_t thread = row / 16 * 32 + row % 8 * 4 + col % 8 / 2;
      uint32_t r = col / 8 * 4 + row % 16 / 8 * 2 + col % 2;
      d[r][thread] = tensor_add(op->sum, op->saturate, scale * sums[col],
                                op->scale_d ? d[r][thread] : 0);
    }
  }
  return NULL;
}

const char *tensor_wgmma_run(const tensor_wgmma *op,
                             const tensor_shared *shared, uint64_t a,
                             uint64_t b, uint32_t (*d)[TENSOR_WARPGROUP]) {
  const char *error = check(op);
  if (error)
    return error;
  double av[M * MAX_K];
  uint32_t depth = 256 / tensor_type_bits(op->a);
  error =
      load_factor(shared, a, op->a, op->transpose_a, M, depth, depth, 1, av);
  return error ? error : multiply(op, shared, av, b, depth, d);
}

const char *tensor_wgmma_run_registers(const tensor_wgmma *op,
                                       const tensor_shared *shared,
                                       const uint32_t (*a)[TENSOR_WARPGROUP],
                                       uint64_t b,
                                       uint32_t (*d)[TENSOR_WARPGROUP]) {
  const char *error = check(op);
  if (error)
    return error;
  if (op->transpose_a)
    return "imm-trans-a is for a in shared memory";
  double av[M * MAX_K];
  uint32_t depth = 256 / tensor_type_bits(op->a);
  uint32_t elements = 32 / tensor_type_bits(op->a);
  for (uint32_t r = 0; r < 4; ++r)
    for (uint32_t thread = 0; thread < TENSOR_WARPGROUP; ++thread) {
      uint32_t row = thread / 32 * 16 + r % 2 * 8 + thread % 32 / 4;
      uint32_t k = (r / 2 * 4 + thread % 4) * elements;
      tensor_values(op->a, &a[r][thread], elements, av + row * depth + k);
    }
  return multiply(op, shared, av, b, depth, d);
}
