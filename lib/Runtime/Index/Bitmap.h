//===- Bitmap.h - One bit an element --------------------------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_BITMAP_H
#define PIT_LIB_RUNTIME_INDEX_BITMAP_H

#include "Cuda/Cuda.h"
#include "Rows.h"

/// Sets all fields of a bitmap of this shape but the words and the source.
pit_status pit_bitmap_describe(pit_context *context, int32_t rank,
                               const int64_t *shape, pit_bitmap *bitmap);

/// pit_bitmap_build on data taken apart.
pit_status pit_bitmap_fill(pit_index_builder *builder, int32_t rank,
                           const int64_t *shape,
                           const pit_selection *selection);

/// Checks that the fields of a caller's bitmap agree, and that no bit is set
/// past a row's end; the host does not read those on a device.
pit_status pit_bitmap_check(pit_context *context, const pit_bitmap *bitmap);

/// Checks the shape of a bitmap against that of an index; describes its rows.
pit_status pit_rows_init_bitmap(pit_context *context, const pit_bitmap *bitmap,
                                const pit_index *index, pit_rows *rows);

/// All that a bitmap selects: the words as bytes of packed bits, with a gap
/// behind each row that is 0.
pit_selection pit_selection_of_bitmap(const pit_bitmap *bitmap);

/// True if the bitmap of a tensor that is not empty is also what pit_scan would
/// write for this index: each micro-tile is an element, listed along the last
/// dimension.
bool pit_bitmap_is_of_micro_tiles(const pit_index *index);

/// pit_bitmap_live_fractions of a bitmap that is sound.
pit_status pit_count_live_fractions(pit_index_builder *builder,
                                    const pit_bitmap *bitmap,
                                    const pit_index_spec *candidates,
                                    int32_t count,
                                    pit_live_fraction *live_fractions);

static inline bool pit_bitmap_is_empty(const pit_bitmap *bitmap) {
  return bitmap->rows == 0 || bitmap->row_words == 0;
}

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

#endif // PIT_LIB_RUNTIME_INDEX_BITMAP_H
