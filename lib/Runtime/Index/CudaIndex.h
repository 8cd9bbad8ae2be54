//===- CudaIndex.h - Indices built on the device --------------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_CUDAINDEX_H
#define PIT_LIB_RUNTIME_INDEX_CUDAINDEX_H

#include "Cuda/Cuda.h"

/// Builds an index. `mirror` comes resolved from its spec (pit_spec_resolve)
/// and with its source; this checks the selection as far as the host can see
/// it, sets the array pointers, the bounds (Index.h, PIT_INDEX_DEVICE),
/// num_chunks, flags and device_copy, and puts the launches on the stream. What
/// only the device can see ends up in the status of the copy in device memory.
/// Everything is in memory of `work`, nothing of it survives from one build to
/// the next, and the same calls follow for the same shapes: a stream that is
/// being captured is fine.
pit_status pit_cuda_build_index(const pit_cuda_work *work,
                                const pit_selection *selection,
                                pit_index *mirror);

/// Makes the copy in device memory of an index of a caller's device arrays
/// (pit_index_import), with the true extent, total and max_count; `mirror` has
/// the bounds.
pit_status pit_cuda_import_index(const pit_cuda_work *work,
                                 const pit_index *mirror,
                                 const pit_index **device);

#endif // PIT_LIB_RUNTIME_INDEX_CUDAINDEX_H
