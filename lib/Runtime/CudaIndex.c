//===- CudaIndex.c - The index on a device --------------------------------===//

#include "Cuda.h"

pit_status pit_cuda_build_index(const pit_cuda_work *work,
                                const pit_selection *selection,
                                pit_index *mirror) {
  (void)selection, (void)mirror;
  return pit_fail(work->context, PIT_ERROR_UNSUPPORTED,
                  "index: this runtime builds indices on the CPU only");
}

pit_status pit_cuda_import_index(const pit_cuda_work *work,
                                 const pit_index *mirror,
                                 const pit_index **device) {
  (void)mirror, (void)device;
  return pit_fail(work->context, PIT_ERROR_UNSUPPORTED,
                  "index: this runtime takes indices on the CPU only");
}
