//===- CudaIndexScan.h - Liveness of micro-tiles, on a device -------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_CUDAINDEXSCAN_H
#define PIT_LIB_RUNTIME_INDEX_CUDAINDEXSCAN_H

#include "Cuda/Cuda.h"

/// The kernels of lib/Runtime/Device, for GPUs from there on; no data if the
/// runtime was built without a compiler for them.
extern const pit_image pit_index_image_sm_80;
extern const pit_image pit_index_image_sm_90;

/// Threads of a block of those kernels, if they do not say otherwise.
enum { PIT_INDEX_THREADS = 256 };

/// When kernels do anything: if the word in device memory is `value` as they
/// start. Without a word, always.
typedef struct pit_cuda_condition {
  const int32_t *word;
  int32_t value;
} pit_cuda_condition;

/// A build under way. Numbers are checked to fit their types.
typedef struct pit_cuda_build {
  const pit_cuda_work *work;
  const pit_selection *selection;
  pit_index head;        ///< the copy in device memory as a scan begins it
  void *copy;            ///< that copy
  int32_t groups, words; ///< words of 32 bits that each group takes
  int64_t extent;        ///< of the axis
  uint32_t *bits;        ///< [groups][words]
  uint32_t *counter;     ///< cleared by the scan
  int32_t *checks;       ///< [num_checks] status words
  int32_t num_checks;
  int32_t *tally; ///< [groups][parts] live micro-tiles, or NULL
  int32_t parts, part_words;
  int64_t num_chunks;           ///< room in the work list
  pit_cuda_condition condition; ///< of the scan
} pit_cuda_build;

/// The last parameters of the kernels that scan values.
#define PIT_CONDITION_PARAMS(b) &(b)->condition.word, &(b)->condition.value

/// Begins the copy; writes `bits`, `checks` if numbers of the source have to be
/// checked, and a tally if it costs nothing.
pit_status pit_cuda_scan(pit_cuda_build *build);

/// Starts one of the kernels; with `overlap`, one that waits for the kernel
/// before it, which lets it start.
pit_status pit_cuda_index_launch(const pit_cuda_build *build,
                                 const char *kernel, int64_t blocks,
                                 int32_t threads, bool overlap, void **params);

/// Memory for `count` pieces of `size` bytes.
pit_status pit_cuda_index_alloc(const pit_cuda_build *build, int64_t count,
                                int64_t size, void **memory);

/// Blocks for so many items of one thread each, in a kernel that loops.
int64_t pit_cuda_index_blocks(const pit_cuda_build *build, int64_t items,
                              int64_t items_per_block);

#endif // PIT_LIB_RUNTIME_INDEX_CUDAINDEXSCAN_H
