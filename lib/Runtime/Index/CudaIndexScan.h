//===- CudaIndexScan.h - Liveness of micro-tiles, on a device -------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_CUDAINDEXSCAN_H
#define PIT_LIB_RUNTIME_INDEX_CUDAINDEXSCAN_H

#include "Cuda/Cuda.h"
#include "Device/Kernels.h"
#include "Rows.h"

/// The kernels of lib/Runtime/Device, for GPUs from there on; no data if the
/// runtime was built without a compiler for them.
extern const pit_image pit_index_image_sm_80;
extern const pit_image pit_index_image_sm_90;

/// A build under way. Numbers are checked to fit their types.
typedef struct pit_cuda_build {
  const pit_cuda_work *work;
  const pit_selection *selection;
  pit_index head;         ///< the copy in device memory as a scan begins it
  pit_cuda_arrays arrays; ///< that copy, and what it points to
  pit_chunk *chunks;      ///< or NULL
  int32_t groups, words;  ///< words of 32 bits that each group takes
  int64_t extent;         ///< of the axis
  uint32_t *bits;         ///< [groups][words]
  uint32_t *counter;      ///< cleared by the scan
  int32_t *checks;        ///< [num_checks] status words
  int32_t num_checks;
  uint32_t *tally; ///< [groups][parts] live micro-tiles, or NULL
  int32_t parts, part_words;
  int64_t num_chunks;           ///< room in the work list
  pit_cuda_condition condition; ///< of the scan
} pit_cuda_build;

/// Parts of the parameters of kernels.
static inline pit_cuda_begin pit_cuda_begin_of(const pit_cuda_build *b) {
  return (pit_cuda_begin){b->head, b->arrays.copy, b->counter};
}

static inline pit_cuda_bits pit_cuda_bits_of(const pit_cuda_build *b) {
  return (pit_cuda_bits){b->bits, b->groups, b->words, b->extent};
}

/// Begins the copy; writes `bits`, `checks` if numbers of the source have to be
/// checked, and a tally if it costs nothing.
pit_status pit_cuda_scan(pit_cuda_build *build);

/// The parameters of a kernel by its name: no others pass the compiler.
#define PIT_KERNEL_PARAMS(kernel, params)                                      \
  (1 ? (params) : (kernel##_params *)NULL)

/// Starts one of the kernels. One that overlaps, if the device can, waits for
/// the kernel before it, which lets it start.
#define pit_cuda_start(work, kernel, grid, params)                             \
  pit_cuda_start_named(work, #kernel, grid, PIT_KERNEL_PARAMS(kernel, params))
pit_status pit_cuda_start_named(const pit_cuda_work *work, const char *kernel,
                                pit_cuda_grid grid, void *params);

/// The same for a build.
#define pit_cuda_index_launch(build, kernel, blocks, threads, overlap, params) \
  pit_cuda_start((build)->work, kernel,                                        \
                 ((pit_cuda_grid){(blocks), 0, (threads), 0, 0, (overlap)}),   \
                 params)

/// Memory for `count` pieces of `size` bytes.
pit_status pit_cuda_index_alloc(const pit_cuda_build *build, int64_t count,
                                int64_t size, void **memory);

/// Blocks for so many items of one thread each, in a kernel that loops.
int64_t pit_cuda_index_blocks(const pit_cuda_build *build, int64_t items,
                              int64_t items_per_block);

enum {
  PIT_VECTOR_BYTES = 16,
  PIT_PIECE_BYTES = 512, ///< that a warp reads of a row
  PIT_SIZE_OF_BITS = -3  ///< log2 of the bytes of an element that is a bit
};

/// A matrix of rows of 16 bytes: dimension 0, and the contiguous one.
typedef struct pit_cuda_matrix {
  pit_cuda_values values;
  pit_dim rows, columns;
  bool axis_last;
} pit_cuda_matrix;

/// The values, or the bytes of the mask, that a build reads.
pit_rows pit_cuda_rows_of(const pit_cuda_build *build);

/// True iff the bitmap that a build reads is such a matrix, of bits.
bool pit_cuda_get_bit_matrix(const pit_cuda_build *build,
                             pit_cuda_matrix *matrix);

/// True iff that is such a matrix.
bool pit_cuda_get_matrix(const pit_rows *rows, pit_cuda_matrix *matrix);

#endif // PIT_LIB_RUNTIME_INDEX_CUDAINDEXSCAN_H
