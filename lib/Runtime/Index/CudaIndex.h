//===- CudaIndex.h - Indices built on the device --------------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_CUDAINDEX_H
#define PIT_LIB_RUNTIME_INDEX_CUDAINDEX_H

#include "CudaIndexScan.h"

/// Builds an index. `mirror` comes resolved from its spec (pit_spec_resolve)
/// and with its source; this checks the selection as far as the host can see
/// it, sets the array pointers, the bounds (Index.h, PIT_INDEX_DEVICE),
/// num_chunks, flags and device_copy, and puts the launches on the stream.
/// Mistakes that only the device can see end up in the status of the copy in
/// device memory. Everything is in memory of `work`, nothing of it survives
/// from one build to the next, and the same calls follow for the same shapes: a
/// stream that is being captured is fine. `packing`: NULL: nothing is packed.
pit_status pit_cuda_build_index(const pit_cuda_work *work,
                                const pit_selection *selection,
                                pit_packing *packing, pit_index *mirror);

/// A scan and lists in one kernel that packs, too; `done` tells whether there
/// is one for this build.
pit_status pit_cuda_list_packed(pit_cuda_build *build, pit_packing *packing);

/// Does the runtime have the kernels that build indices and choose variants?
pit_status pit_cuda_check_code(pit_context *context);

/// The first step of that: checks, sizes and memory. `selection` lives as long
/// as `build`.
pit_status pit_cuda_begin_build(const pit_cuda_work *work,
                                const pit_selection *selection,
                                const pit_index *resolved,
                                pit_cuda_build *build);

/// The host's numbers of an index whose launches are on the stream.
void pit_cuda_mirror(const pit_cuda_build *build, pit_index *mirror);

/// Makes that the builder's index; `slot` is for the recorded statistics.
const pit_index *pit_builder_adopt(pit_index_builder *builder,
                                   const pit_cuda_build *build, int64_t slot);

/// Makes the copy in device memory of an index of a caller's device arrays
/// (pit_index_import), with the true extent, total and max_count; `mirror` has
/// the bounds.
pit_status pit_cuda_import_index(const pit_cuda_work *work,
                                 const pit_index *mirror,
                                 const pit_index **device);

/// Makes the transpose of an index in device memory (pit_index_transpose), if
/// the condition holds when the kernels start. `mirror` comes resolved; what
/// this does to it is what a build does.
pit_status pit_cuda_transpose_index(const pit_cuda_work *work,
                                    const pit_index *index,
                                    pit_cuda_condition condition,
                                    pit_index *mirror);

/// Makes builder->index the transpose (pit_index_transpose) of an index that is
/// known to be sound. If the index lies in device memory, `work` does so on its
/// stream, provided that the condition holds there.
pit_status pit_builder_transpose(pit_index_builder *builder,
                                 const pit_index *index,
                                 const pit_cuda_work *work,
                                 pit_cuda_condition condition);

/// Makes builder->index an empty one in device memory, in the place of the
/// transpose of an index that is not there either.
pit_status pit_builder_transpose_nothing(pit_index_builder *builder,
                                         const pit_index *index);

#endif // PIT_LIB_RUNTIME_INDEX_CUDAINDEX_H
