//===- IndexSpec.h - Specs checked and completed --------------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_INDEXSPEC_H
#define PIT_LIB_RUNTIME_INDEX_INDEXSPEC_H

#include "Core/Internal.h"

/// Keeps coordinates of windows within 63 bits.
#define PIT_MAX_EXTENT (INT64_C(1) << 60)

/// Checks `spec` and sets every field of `index` that it determines: groups,
/// capacity, chunk_size, rank, axis, shape, micro_tile, step, group_shape,
/// flags. The others become 0.
pit_status pit_spec_resolve(pit_context *context, const pit_index_spec *spec,
                            pit_index *index);

/// A dimension as its windows see it: window c is [c * step, c * step + size),
/// clipped to the extent. A whole dimension is one window.
typedef struct pit_dim {
  int64_t extent;
  int64_t size; ///< of a window
  int64_t step; ///< 1 or more
  int64_t groups;
} pit_dim;

/// The dimensions of X; the axis has size and step 1, and `groups` counts its
/// ids here.
typedef struct pit_tiling {
  int32_t rank, axis;
  pit_dim dims[PIT_MAX_RANK];
} pit_tiling;

/// The tiling that a resolved index describes.
pit_tiling pit_tiling_of(const pit_index *index);

/// The window of coordinate c, clipped.
static inline void pit_window(const pit_dim *dim, int64_t c, int64_t *begin,
                              int64_t *end) {
  int64_t start = c * dim->step;
  *begin = pit_min(start, dim->extent);
  *end = start + pit_min(dim->size, dim->extent - *begin);
  if (*end > dim->extent)
    *end = *begin;
}

#endif // PIT_LIB_RUNTIME_INDEX_INDEXSPEC_H
