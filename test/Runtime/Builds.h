//===- Builds.h - Builds and choices as programs describe them --*- C -*---===//

#ifndef PIT_TEST_RUNTIME_BUILDS_H
#define PIT_TEST_RUNTIME_BUILDS_H

#include "pit-runtime/Abi.h"

/// The index of a matrix of floats of so many bits, in micro-tiles of h x w.
static inline pit_build build_of(int bits, int axis, int64_t h, int64_t w) {
  return (pit_build){.source = PIT_SOURCE_VALUES,
                     .dtype = {PIT_DTYPE_FLOAT, (uint8_t)bits, 1},
                     .data_rank = 2,
                     .rank = 2,
                     .axis = axis,
                     .micro_tile = {h, w},
                     .step = {h, w}};
}

/// A row-major matrix.
static inline pit_view view_of(const void *data, int64_t rows,
                               int64_t columns) {
  return (pit_view){data, {rows, columns}, {columns, 1}};
}

/// A dense variant, and those with these indices; of none, `second` has axis
/// PIT_VARIANT_DENSE.
static inline pit_variants variants_of(pit_build first, pit_build second) {
  pit_variants variants = {.count = 2, .variants = {first, first, second}};
  variants.variants[0].axis = PIT_VARIANT_DENSE;
  variants.count += second.axis != PIT_VARIANT_DENSE;
  // Neighbours of an identity differ, which is what it is for.
  for (int v = 1; v < variants.count; ++v)
    for (int d = 0; d < 2; ++d)
      variants.identity = 31 * variants.identity +
                          (uint64_t)variants.variants[v].micro_tile[d] +
                          7 * (uint64_t)variants.variants[v].axis;
  return variants;
}

#endif // PIT_TEST_RUNTIME_BUILDS_H
