//===- CudaIndexPacked.c - Micro-tiles that are listed and packed at once -===//
//
// One kernel reads the values once: a cluster of blocks has a group in its
// registers (Device/IndexPacked.c).
//
//===----------------------------------------------------------------------===//

#include "CudaIndex.h"
#include "CudaIndexScan.h"

enum {
  MAX_CLUSTER = 8,
  MIN_THREADS = 128, ///< of a block: several blocks share a multiprocessor
  MAX_THREADS = 256,
  MAX_ROWS = 32 ///< that a thread has in registers
};

/// How a group is spread over a cluster.
typedef struct layout {
  int32_t rows;       ///< of a warp
  int32_t parts_log2; ///< warps that share the columns of a piece
  int32_t threads, cluster;
} layout;

/// That of micro-tiles of so many rows; false if there is none.
static bool find_layout(int64_t rows, const pit_cuda_matrix *m, layout *found) {
  if (rows < 8 || (rows & (rows - 1)) != 0)
    return false;
  layout l = {.rows = (int32_t)pit_min(rows, MAX_ROWS)};
  l.parts_log2 = __builtin_ctzll((uint64_t)rows / (uint64_t)l.rows);
  int64_t pieces = pit_ceil_div(m->values.row_bytes, PIT_PIECE_BYTES);
  for (l.threads = MIN_THREADS; l.threads <= MAX_THREADS; l.threads *= 2) {
    int32_t in_block = l.threads / 32 >> l.parts_log2;
    if (in_block == 0 || pieces > (int64_t)in_block * MAX_CLUSTER)
      continue;
    l.cluster = (int32_t)pit_ceil_div(pieces, in_block);
    *found = l;
    return true;
  }
  return false;
}

static bool can_pack(const pit_cuda_build *b, const pit_packing *packing,
                     pit_cuda_matrix *m, layout *l) {
  const pit_index *head = &b->head;
  if (pit_cuda_device(b->work->context)->capability < 90 ||
      b->selection->source != PIT_SOURCE_VALUES || b->selection->bitmap ||
      head->chunk_size > 0 || b->groups == 0 || b->extent == 0)
    return false;
  // Groups lie at fixed places, as a single one does anyhow.
  if (b->groups > 1 && (head->flags & PIT_INDEX_DENSE))
    return false;
  if (head->rank != 2 || head->micro_tile[0] != packing->width ||
      head->step[0] != packing->width)
    return false;
  const pit_rows rows = pit_cuda_rows_of(b);
  return pit_cuda_get_matrix(&rows, m) && m->axis_last &&
         m->values.size_log2 == 1 && m->rows.extent > 0 &&
         find_layout(packing->width, m, l) &&
         head->capacity >= b->groups * b->extent &&
         packing->rows >= head->capacity &&
         (uintptr_t)packing->memory % PIT_VECTOR_BYTES == 0 &&
         (int64_t)b->groups * l->cluster <= INT32_MAX;
}

pit_status pit_cuda_list_packed(pit_cuda_build *b, pit_packing *packing) {
  pit_cuda_matrix m;
  layout l;
  packing->done = can_pack(b, packing, &m, &l);
  if (!packing->done)
    return PIT_OK;
  pit_index_begin_params begin = {b->head, b->arrays.copy};
  pit_status status =
      pit_cuda_index_launch(b, pit_index_begin, 1, PIT_WARP_THREADS,
                            /*overlap=*/true, &begin);
  if (status != PIT_OK)
    return status;
  pit_index_packed_params params = {.arrays = b->arrays,
                                    .packed = packing->memory,
                                    .values = m.values,
                                    .extent = b->extent,
                                    .rows = m.rows.extent,
                                    .groups = b->groups,
                                    .parts_log2 = l.parts_log2,
                                    .cluster = l.cluster};
  const pit_cuda_grid grid = {.blocks = (int64_t)b->groups * l.cluster,
                              .threads = l.threads,
                              .cluster = l.cluster,
                              .overlap = true};
  if (l.rows == 8)
    return pit_cuda_start(b->work, pit_index_packed_8, grid, &params);
  if (l.rows == 16)
    return pit_cuda_start(b->work, pit_index_packed_16, grid, &params);
  return pit_cuda_start(b->work, pit_index_packed_32, grid, &params);
}
