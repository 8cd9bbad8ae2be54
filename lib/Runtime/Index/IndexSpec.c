//===- IndexSpec.c - Specs checked and completed --------------------------===//

#include "IndexSpec.h"

/// max(0, ceil((extent - size) / step) + 1), the number of windows.
static int64_t count_windows(int64_t extent, int64_t size, int64_t step) {
  if (extent >= size)
    return pit_ceil_div(extent - size, step) + 1;
  // ceil of a negative quotient is its truncation.
  return pit_max(0, 1 - (size - extent) / step);
}

static pit_status resolve_dim(pit_context *context, const pit_index_spec *spec,
                              int32_t dim, pit_index *index) {
  int64_t extent = spec->shape[dim];
  int64_t size = spec->micro_tile[dim];
  int64_t step = spec->step[dim];
  if (extent < 0)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: dimension %d is %lld; it cannot be negative", dim,
                    (long long)extent);
  if (extent > PIT_MAX_EXTENT)
    return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                    "index: dimension %d is %lld; it can be at most 2^60", dim,
                    (long long)extent);
  if (size < 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: micro_tile[%d] is %lld; it must be at least 1, or "
                    "0 for the whole dimension",
                    dim, (long long)size);
  if (step < 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: step[%d] is %lld; it must be at least 1, or 0 for "
                    "the micro-tile's size",
                    dim, (long long)step);
  if (dim == spec->axis) {
    if (size > 1 || step > 1)
      return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                      "index: micro_tile[%d] is %lld with step %lld; on the "
                      "axis both must be 1",
                      dim, (long long)size, (long long)step);
    if (extent > INT32_MAX)
      return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                      "index: dimension %d, the axis, is %lld; ids are 32-bit, "
                      "so it can be at most %lld",
                      dim, (long long)extent, (long long)INT32_MAX);
    size = 1;
    step = 1;
    index->group_shape[dim] = 1;
  } else if (size == 0) {
    step = 0;
    index->group_shape[dim] = 1;
  } else {
    if (step == 0)
      step = size;
    index->group_shape[dim] = count_windows(extent, size, step);
  }
  index->shape[dim] = extent;
  index->micro_tile[dim] = size;
  index->step[dim] = step;
  return PIT_OK;
}

pit_status pit_spec_resolve(pit_context *context, const pit_index_spec *spec,
                            pit_index *index) {
  *index = (pit_index){0};
  if (!spec)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: the spec is NULL");
  if (spec->rank < 1 || spec->rank > PIT_MAX_RANK)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "index: rank %d; ranks 1 to %d are supported", spec->rank,
                    PIT_MAX_RANK);
  if (spec->axis < 0 || spec->axis >= spec->rank)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: axis %d of a tensor of rank %d; it must be in "
                    "[0, %d)",
                    spec->axis, spec->rank, spec->rank);
  const uint32_t known = PIT_INDEX_UNORDERED | PIT_INDEX_DENSE;
  if (spec->flags & ~known)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: flags 0x%x; known are 0x%x", spec->flags, known);
  if (spec->chunk_size < 0 || spec->chunk_size > INT32_MAX)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: chunk_size is %lld; it must be in [0, %lld]",
                    (long long)spec->chunk_size, (long long)INT32_MAX);
  if (spec->capacity < 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "index: capacity is %lld; it must be at least 1, or 0 for "
                    "the bound that the shape gives",
                    (long long)spec->capacity);
  index->rank = spec->rank;
  index->axis = spec->axis;
  index->flags = spec->flags;
  index->chunk_size = spec->chunk_size;
  for (int32_t dim = 0; dim < spec->rank; ++dim) {
    pit_status status = resolve_dim(context, spec, dim, index);
    if (status != PIT_OK)
      return status;
  }
  char dims[PIT_DIMS_NAME_SIZE];
  int64_t bound;
  if (!pit_tensor_bytes(index->rank, index->group_shape, 1, &index->groups) ||
      !pit_mul(index->groups, index->shape[index->axis], &bound))
    return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                    "index: %s groups of %lld ids are more than 63 bits count",
                    pit_dims_name(index->group_shape, index->rank, dims),
                    (long long)index->shape[index->axis]);
  if (index->chunk_size > 0 && index->groups > INT32_MAX)
    return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                    "index: %lld groups; a work list (chunk_size %lld) takes "
                    "at most %lld",
                    (long long)index->groups, (long long)index->chunk_size,
                    (long long)INT32_MAX);
  index->capacity = spec->capacity ? pit_min(spec->capacity, bound) : bound;
  return PIT_OK;
}

pit_status pit_index_groups(pit_context *context, const pit_index_spec *spec,
                            int64_t *group_shape, int64_t *groups) {
  pit_index index;
  pit_status status = pit_spec_resolve(context, spec, &index);
  if (status != PIT_OK)
    return status;
  for (int32_t dim = 0; group_shape && dim < PIT_MAX_RANK; ++dim)
    group_shape[dim] = index.group_shape[dim];
  if (groups)
    *groups = index.groups;
  return PIT_OK;
}

// A step past the extent gives the same windows as one of the extent, and so no
// coordinate overflows.
pit_tiling pit_tiling_of(const pit_index *index) {
  pit_tiling tiling = {.rank = index->rank, .axis = index->axis};
  for (int32_t dim = 0; dim < index->rank; ++dim) {
    pit_dim *to = &tiling.dims[dim];
    to->extent = index->shape[dim];
    if (dim == index->axis)
      *to = (pit_dim){to->extent, 1, 1, to->extent};
    else if (index->micro_tile[dim] == 0)
      *to = (pit_dim){to->extent, to->extent, pit_max(to->extent, 1), 1};
    else
      *to = (pit_dim){to->extent, index->micro_tile[dim],
                      pit_min(index->step[dim], pit_max(to->extent, 1)),
                      index->group_shape[dim]};
  }
  return tiling;
}
