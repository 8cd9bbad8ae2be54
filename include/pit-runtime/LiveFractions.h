//===- LiveFractions.h - How much each kind of micro-tile would leave -----===//
//
// Which micro-tile is the right one depends on where the zeros are. One read of
// a tensor makes its bitmap, one bit an element. From that follow, without
// reading the tensor again, the live fraction of any number of candidates and
// the index of the one that is taken.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_RUNTIME_LIVEFRACTIONS_H
#define PIT_RUNTIME_LIVEFRACTIONS_H

#include "pit-runtime/Index.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Which elements of a tensor X are selected. Plain data, as an index is: who
/// computes X may write the words, too. Element j of a row of the last
/// dimension is bit j % 64, from the least significant, of the row's word
/// j / 64. The bits past a row's end are 0.
typedef struct pit_bitmap {
  const uint64_t *words;       ///< [rows * row_words], row-major
  int64_t rows;                ///< product of all dimensions of X but the last
  int64_t row_words;           ///< ceil(last dimension / 64)
  int32_t rank;                ///< 1 .. PIT_MAX_RANK
  int32_t source;              ///< pit_source that it was made of
  int64_t shape[PIT_MAX_RANK]; ///< of X
  int32_t on_device;           ///< 1: the words are in device memory; 0: not
} pit_bitmap;

#ifndef __cplusplus
_Static_assert(sizeof(pit_bitmap) == 104, "generated code has room for it");
#endif

/// Makes the bitmap of a tensor X of the given shape by one read of `data`, as
/// pit_index_build reads it: on the CPU, or where the data is on the context's
/// device, there, by work on the builder's stream
/// (pit_index_builder_set_stream). A list of blocks has no bitmap: it names
/// micro-tiles, not elements. The bitmap lives until the builder's next one or
/// its end; the builder's indices do not touch it. After an error there is
/// none.
PIT_RT_EXPORT pit_status pit_bitmap_build(pit_index_builder *builder,
                                          int32_t rank, const int64_t *shape,
                                          pit_source source,
                                          const DLTensor *data,
                                          const void *background,
                                          const pit_bitmap **bitmap);

/// The micro-tiles of a candidate that an index would have.
typedef struct pit_live_fraction {
  int64_t groups;
  int64_t micro_tiles;  ///< all micro-tiles, live or not
  int64_t live;         ///< micro-tiles that the index would list
  int64_t max_count;    ///< live micro-tiles of the fullest group
  double live_fraction; ///< live / micro_tiles; 0 if there are none
} pit_live_fraction;

/// The exact live fraction of `count` candidates. Their shapes are the
/// bitmap's; flags, chunk_size and capacity do not matter. Candidates whose
/// sizes divide each other, as powers of two do, are computed from one another;
/// those whose step is not their size take a pass over the bitmap each. On a
/// device all of a matrix that pit_live_fraction_candidates proposes come from
/// one pass, any other takes one of its own. This waits for the device, because
/// the numbers are the host's: it is not for a stream that is being captured.
PIT_RT_EXPORT pit_status
pit_bitmap_live_fractions(pit_index_builder *builder, const pit_bitmap *bitmap,
                          const pit_index_spec *candidates, int32_t count,
                          pit_live_fraction *live_fractions);

/// Builds the index that pit_index_build would build of the bitmap's tensor,
/// but for the origin, which a bitmap does not tell; where the bitmap is. As
/// there, it lives until the builder's next index or its end.
PIT_RT_EXPORT pit_status pit_index_from_bitmap(pit_index_builder *builder,
                                               const pit_index_spec *spec,
                                               const pit_bitmap *bitmap,
                                               const pit_index **index);

/// Writes the candidates that are worth a look for a tensor of this shape, at
/// most `room` of them, and returns how many there are: for each axis, last
/// first, single elements, then along each other dimension micro-tiles of 2, 4,
/// ..., 128 elements and the whole dimension, then along each pair of other
/// dimensions squares of these sizes. 0 if the rank is none of 1 to
/// PIT_MAX_RANK.
PIT_RT_EXPORT int32_t pit_live_fraction_candidates(int32_t rank,
                                                   const int64_t *shape,
                                                   pit_index_spec *candidates,
                                                   int32_t room);

#ifdef __cplusplus
}
#endif

#endif // PIT_RUNTIME_LIVEFRACTIONS_H
