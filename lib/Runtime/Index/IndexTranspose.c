//===- IndexTranspose.c - Where the ids of an index lie -------------------===//
//
// An index lists ids by groups, as the rows of a CSR matrix list columns. Its
// transpose lists, for each id, the positions that it has: by counting, as CSC
// is made of CSR (Gustavson, Two Fast Algorithms for Sparse Matrices, 1978).
//
//===----------------------------------------------------------------------===//

#include "Cuda/CudaContext.h"
#include "CudaIndex.h"
#include "IndexScan.h"
#include "IndexSpec.h"

/// The head of the transpose. Positions are its ids, which are 32-bit.
static pit_status resolve(pit_context *context, const pit_index *index,
                          pit_index *transpose) {
  int64_t ids = index->shape[index->axis];
  if (index->extent > INT32_MAX || ids > INT32_MAX)
    return pit_fail(context, PIT_ERROR_UNSUPPORTED,
                    "index transpose: the index has %lld positions and %lld "
                    "coordinates along its axis; at most %d are supported",
                    (long long)index->extent, (long long)ids, INT32_MAX);
  pit_index_spec spec = {.rank = 2,
                         .axis = 1,
                         .shape = {ids, index->extent},
                         .micro_tile = {1, 1}};
  pit_status status = pit_spec_resolve(context, &spec, transpose);
  transpose->source = PIT_SOURCE_INDEX;
  return status;
}

static pit_status transpose_on_host(pit_index_builder *builder,
                                    const pit_index *index) {
  pit_index *made = &builder->index;
  made->capacity = index->total;
  pit_status status = pit_index_reserve(builder);
  if (status != PIT_OK)
    return status;
  int32_t *counts = builder->counts.data;
  int64_t *offsets = builder->offsets.data;
  int32_t *ids = builder->ids.data;
  for (int64_t i = 0; i < made->groups; ++i)
    counts[i] = 0;
  for (int64_t g = 0; g < index->groups; ++g)
    for (int64_t i = 0; i < index->counts[g]; ++i)
      ++counts[index->ids[index->offsets[g] + i]];
  int64_t before = 0;
  for (int64_t i = 0; i < made->groups; ++i) {
    offsets[i] = before;
    before += counts[i];
    made->max_count = pit_max(made->max_count, counts[i]);
    counts[i] = 0;
  }
  for (int64_t g = 0; g < index->groups; ++g)
    for (int64_t i = 0; i < index->counts[g]; ++i) {
      int64_t position = index->offsets[g] + i;
      int32_t id = index->ids[position];
      ids[offsets[id] + counts[id]++] = (int32_t)position;
    }
  made->counts = counts;
  made->offsets = offsets;
  made->ids = ids;
  made->extent = made->total = before;
  pit_index_seal(made);
  return PIT_OK;
}

pit_status pit_builder_transpose(pit_index_builder *builder,
                                 const pit_index *index,
                                 const pit_cuda_work *work,
                                 pit_cuda_condition condition) {
  pit_context *context = builder->context;
  pit_status status = resolve(context, index, &builder->index);
  if (status != PIT_OK)
    return status;
  if (!(index->flags & PIT_INDEX_DEVICE))
    return transpose_on_host(builder, index);
  return pit_cuda_transpose_index(work, index, condition, &builder->index);
}

pit_status pit_builder_transpose_nothing(pit_index_builder *builder,
                                         const pit_index *index) {
  pit_status status = resolve(builder->context, index, &builder->index);
  builder->index.flags |= PIT_INDEX_DEVICE;
  return status;
}

pit_status pit_index_transpose(pit_index_builder *builder,
                               const pit_index *index,
                               const pit_index **transpose) {
  if (!builder)
    return PIT_ERROR_INVALID_ARGUMENT;
  pit_context *context = builder->context;
  if (!transpose || index == &builder->index)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    transpose ? "index transpose: the index is the builder's "
                                "own; another builder has to make the transpose"
                              : "index transpose: the place for the result is "
                                "NULL");
  *transpose = NULL;
  pit_status status =
      pit_index_expect(context, "index transpose: the index", index);
  if (status != PIT_OK)
    return status;
  const pit_cuda_condition always = {0};
  if (!(index->flags & PIT_INDEX_DEVICE)) {
    status = pit_index_check_contents(context, "index transpose: the index",
                                      index, &builder->blocks);
    if (status == PIT_OK)
      status = pit_builder_transpose(builder, index, NULL, always);
  } else {
    pit_cuda_work work;
    status = pit_builder_begin_work(builder, &builder->arena, &work);
    if (status != PIT_OK)
      return status;
    status = pit_builder_transpose(builder, index, &work, always);
    pit_cuda_pop(context);
  }
  if (status == PIT_OK)
    *transpose = &builder->index;
  return status;
}
