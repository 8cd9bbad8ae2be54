//===- TensorFactor.h - Matrices in shared memory -----------------*- C -*-===//
//
// Factors of wgmma and of tcgen05.mma. Their descriptors differ, and the
// layouts
// ("Canonical Layouts") do not.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_EMULATOR_TENSORFACTOR_H
#define PIT_TEST_EMULATOR_TENSORFACTOR_H

#include "TensorMemory.h"
#include "TensorTypes.h"

enum { TENSOR_CHUNK = 16 };

/// What a descriptor says, in bytes; a span of TENSOR_CHUNK: no swizzle.
typedef struct tensor_factor {
  uint32_t start, leading, stride, span;
} tensor_factor;

/// 14 bits of a descriptor from bit `first` on, a number of chunks, in bytes.
uint32_t tensor_descriptor_bytes(uint64_t descriptor, uint32_t first);

/// Where the element at `outer` along m or n and `k` along k lies. `major`: m
/// or n is contiguous.
uint32_t tensor_factor_address(const tensor_factor *from, tensor_type type,
                               bool major, uint32_t outer, uint32_t k);

/// Reads a factor with `count` rows along m or n: element (i, k) becomes
/// values[i * outer_stride + k * k_stride].
const char *tensor_factor_load(const tensor_shared *shared,
                               const tensor_factor *from, tensor_type type,
                               bool major, uint32_t count, uint32_t depth,
                               uint32_t outer_stride, uint32_t k_stride,
                               double *values);

#endif // PIT_TEST_EMULATOR_TENSORFACTOR_H
