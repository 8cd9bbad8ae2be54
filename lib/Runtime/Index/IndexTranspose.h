//===- IndexTranspose.h - Where the ids of an index lie -------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_INDEXTRANSPOSE_H
#define PIT_LIB_RUNTIME_INDEX_INDEXTRANSPOSE_H

#include "CudaIndexScan.h"

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

#endif // PIT_LIB_RUNTIME_INDEX_INDEXTRANSPOSE_H
