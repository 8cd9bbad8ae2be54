//===- CudaBitmap.h - Bitmaps on a device, and their live fraction --------===//

#ifndef PIT_LIB_RUNTIME_INDEX_CUDABITMAP_H
#define PIT_LIB_RUNTIME_INDEX_CUDABITMAP_H

#include "Cuda/Cuda.h"

/// Puts the launch on the stream that writes the words of a bitmap, which is
/// described and gets them in memory of `work`. `elements` is the index of
/// single elements along the last dimension. Integers of the source that are
/// out of range are ignored.
pit_status pit_cuda_bitmap_fill(const pit_cuda_work *work,
                                const pit_selection *selection,
                                const pit_index *elements, pit_bitmap *bitmap);

/// Counts the live micro-tiles of candidates, which are resolved, in a bitmap
/// on the device that is not empty. Waits for the device.
pit_status pit_cuda_live_fractions(pit_index_builder *builder,
                                   const pit_bitmap *bitmap,
                                   const pit_index *indices, int32_t count,
                                   pit_live_fraction *live_fractions);

#endif // PIT_LIB_RUNTIME_INDEX_CUDABITMAP_H
