//===- TensorFactor.c - Matrices in shared memory -------------------------===//

#include "TensorFactor.h"

enum { PATTERN = 8 };

uint32_t tensor_descriptor_bytes(uint64_t descriptor, uint32_t first) {
  return (uint32_t)(descriptor >> first & 0x3FFF) * TENSOR_CHUNK;
}

// "Canonical Layouts": ((8,m),(T,2k)) and ((T,span/16,m),(8,k)).
uint32_t tensor_factor_address(const tensor_factor *from, tensor_type type,
                               bool major, uint32_t outer, uint32_t k) {
  uint32_t bytes = tensor_type_bits(type) / 8;
  uint32_t along = (major ? outer : k) * bytes; // the contiguous dimension
  uint32_t across = major ? k : outer;
  uint32_t line = across % PATTERN * from->span;
  uint32_t pattern = across / PATTERN, block = along / from->span;
  uint32_t linear = from->start + along % from->span + line;
  // Without swizzle, blocks of m or n go by the stride, and so do patterns of
  // them where k is contiguous.
  if (from->span == TENSOR_CHUNK && major)
    linear += block * from->stride + pattern * from->leading;
  else
    linear += pattern * from->stride + block * from->leading;
  return tensor_swizzle(linear, from->span);
}

const char *tensor_factor_load(const tensor_shared *shared,
                               const tensor_factor *from, tensor_type type,
                               bool major, uint32_t count, uint32_t depth,
                               uint32_t outer_stride, uint32_t k_stride,
                               double *values) {
  // Elements of a chunk.
  uint32_t unit = TENSOR_CHUNK * 8 / tensor_type_bits(type);
  uint32_t i_step = major ? unit : 1, k_step = major ? 1 : unit;
  uint32_t stride = major ? outer_stride : k_stride;
  for (uint32_t i = 0; i < count; i += i_step)
    for (uint32_t k = 0; k < depth; k += k_step) {
      uint32_t address = tensor_factor_address(from, type, major, i, k);
      const char *error =
          tensor_check_async_read(shared, address, TENSOR_CHUNK, TENSOR_CHUNK);
      if (error)
        return error;
      double chunk[TENSOR_CHUNK];
      double *to = values + i * outer_stride + k * k_stride;
      tensor_values(type, shared->bytes + address, unit, chunk);
      for (uint32_t e = 0; e < unit; ++e)
        to[e * stride] = chunk[e];
    }
  return NULL;
}
