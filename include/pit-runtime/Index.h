//===- Index.h - The index: which micro-tiles are live --------------------===//
//
// X is a tensor whose zeros are known only at run time. Its micro-tiles are
// boxes with extent 1 on one dimension, the axis; the box of group g and id i
// is [i, i+1) on the axis and [c_e * step_e, c_e * step_e + micro_tile_e),
// clipped to the shape, on every other dimension e, where c are g's coordinates
// in group_shape (row-major). micro_tile_e = 0 means the whole dimension. A
// micro-tile is live iff one of its elements is selected; the index lists, for
// each group, the ids of its live micro-tiles.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_RUNTIME_INDEX_H
#define PIT_RUNTIME_INDEX_H

#include "pit-runtime/Context.h"
#include "pit-runtime/Source.h"

#include <dlpack/dlpack.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PIT_MAX_RANK 8

/// DLPack's type codes that the runtime takes; version 0.6 lacks a bool and
/// floats of 8 bits.
enum {
  PIT_DTYPE_INT = 0,
  PIT_DTYPE_UINT = 1,
  PIT_DTYPE_FLOAT = 2,
  PIT_DTYPE_BFLOAT = 4,
  PIT_DTYPE_BOOL = 6, ///< one byte per element
  PIT_DTYPE_FLOAT8_E4M3FN = 10,
  PIT_DTYPE_FLOAT8_E5M2 = 12
};

enum {
  /// The ids of a group may come in any order. (A permission: the CPU's
  /// builders give ascending ids either way.)
  PIT_INDEX_UNORDERED = 1,
  /// Set by the runtime: the arrays are in device memory. extent, total and
  /// max_count are upper bounds (capacity, capacity, extent of the axis); the
  /// copy of the index in device memory has the true ones, and the status.
  PIT_INDEX_DEVICE = 2,
  /// Groups follow each other without gaps. (The CPU's builders do so either
  /// way; a device's give each group a fixed place unless asked.)
  PIT_INDEX_DENSE = 4
};

/// One entry of the work list: `live` ids of `group`, from position `first`.
typedef struct pit_chunk {
  int32_t group;
  int32_t live;
  int64_t first;
} pit_chunk;

/// The upper 16 bits of every index's first word: memory that no builder and no
/// import has written is not taken for an index.
#define PIT_INDEX_TAG (UINT64_C(0x7069) << 48)
#define PIT_INDEX_TAG_MASK (UINT64_C(0xFFFF) << 48)

/// An index. Plain data, the same on host and device. Generated code reads the
/// fields in this order; everything an index points to is read-only. Only
/// pit_index_build and pit_index_import make one.
typedef struct pit_index {
  uint64_t tag; ///< of the runtime: PIT_INDEX_TAG; below it, where a builder
                ///< made the index, a checksum of it and of its address
  const int32_t *counts;   ///< [groups] live ids of each group
  const int64_t *offsets;  ///< [groups] where a group's ids start in `ids`: the
                           ///< position of its i-th id is offsets[g] + i
  const int32_t *ids;      ///< [capacity] coordinates along the axis
  const int32_t *origin;   ///< [capacity] source slot of each id, or NULL
  const pit_chunk *chunks; ///< [num_chunks] work list, or NULL: groups
                           ///< ascending, and a group's chunks in the order of
                           ///< positions, all full (chunk_size) but its last
  int64_t groups;
  int64_t extent;    ///< max of offsets + counts: length of a packed tensor
  int64_t total;     ///< sum of counts
  int64_t max_count; ///< max of counts
  int64_t capacity;  ///< room in `ids`
  int64_t num_chunks;
  int64_t chunk_size; ///< 0: no work list
  int32_t rank;
  int32_t axis;
  int64_t shape[PIT_MAX_RANK];       ///< of X
  int64_t micro_tile[PIT_MAX_RANK];  ///< 0: the whole dimension; 1 on the axis
  int64_t step[PIT_MAX_RANK];        ///< distance of two groups; micro_tile
                                     ///< unless the groups are windows
  int64_t group_shape[PIT_MAX_RANK]; ///< groups along each dimension: 1 on the
                                     ///< axis and on whole dimensions, else
                                     ///< max(0, ceil((shape-mt)/step) + 1)
  int32_t status; ///< sticky: not PIT_OK if ids had to be dropped (devices)
  int32_t source; ///< pit_source
  uint32_t flags; ///< PIT_INDEX_*
  /// The runtime's number: how many bytes before `counts` the copy in device
  /// memory starts, if PIT_INDEX_DEVICE is set; 0: there is none.
  uint32_t device_copy;
} pit_index;

#ifndef __cplusplus
_Static_assert(offsetof(pit_index, groups) == 48 &&
                   offsetof(pit_index, rank) == 104 &&
                   offsetof(pit_index, shape) == 112 &&
                   offsetof(pit_index, status) == 368 &&
                   sizeof(pit_index) == 384 && sizeof(pit_chunk) == 16,
               "generated code and devices rely on this layout");
#endif

/// Which micro-tiles an index is about. Start from
/// `pit_index_spec spec = {0};`.
typedef struct pit_index_spec {
  int32_t rank; ///< 1 .. PIT_MAX_RANK
  int32_t axis;
  int64_t shape[PIT_MAX_RANK];
  int64_t micro_tile[PIT_MAX_RANK]; ///< 0: whole; ignored on the axis if 0
  int64_t step[PIT_MAX_RANK];       ///< 0: the same as micro_tile
  uint32_t flags;     ///< PIT_INDEX_UNORDERED, _DENSE; to import also _DEVICE
  int64_t chunk_size; ///< > 0: build the work list
  /// Room for ids. 0: the bound that the shape gives, or that the number of
  /// slots or blocks does where groups follow each other. If a build needs more
  /// than a smaller capacity, it fails with PIT_ERROR_CAPACITY.
  int64_t capacity;
} pit_index_spec;

/// Checks a spec; fills in the number of groups along each dimension
/// (PIT_MAX_RANK entries) and altogether. Both outputs may be NULL.
PIT_RT_EXPORT pit_status pit_index_groups(pit_context *context,
                                          const pit_index_spec *spec,
                                          int64_t *group_shape,
                                          int64_t *groups);

/// Memory that builds of one kind share; used by one thread at a time.
typedef struct pit_index_builder pit_index_builder;

PIT_RT_EXPORT pit_status pit_index_builder_create(pit_context *context,
                                                  pit_index_builder **builder);
/// Frees the builder and the index it built last. NULL is fine.
PIT_RT_EXPORT void pit_index_builder_destroy(pit_index_builder *builder);

/// On which stream (a CUstream) a builder builds from tensors on the context's
/// device; NULL, the default stream, until this is called. Work on the stream
/// before has to be done, or to be ordered before what follows on the new one.
PIT_RT_EXPORT pit_status
pit_index_builder_set_stream(pit_index_builder *builder, pit_stream stream);

/// Builds an index from `data`, a tensor with any strides on the CPU or on the
/// context's device. On the device it is built there, by work on the builder's
/// stream: this returns before it is done, the arrays are in device memory
/// (PIT_INDEX_DEVICE), and what uses them has to come later on that stream, as
/// the builder's next build does. If the stream is being captured, the builder
/// must not be used for anything else as long as the graph is. `background`
/// points to one element of data's type, or is NULL for zero; only
/// PIT_SOURCE_VALUES reads it. The index lives until the builder's next build
/// or its end. After an error there is no index.
PIT_RT_EXPORT pit_status pit_index_build(
    pit_index_builder *builder, const pit_index_spec *spec, pit_source source,
    const DLTensor *data, const void *background, const pit_index **index);

/// Builds the transpose of an index: which positions have an id? It indexes a
/// matrix of shape [shape[axis], extent] of `index`, whose element (i, p) is
/// selected iff position p of `index` holds the id i: rank 2, axis 1,
/// micro_tile {1, 1}, so group i lists the positions of id i, in the order of
/// the groups of `index`. There is no origin and no work list. The transpose of
/// an index in device memory is built there, on the builder's stream, as
/// pit_index_build does; the room in `ids` is shape[axis] times the groups of
/// `index`, and extent is a bound. At most INT32_MAX positions
/// (PIT_ERROR_UNSUPPORTED). `builder` must not be the one that made `index`;
/// the transpose lives until its next build or its end.
PIT_RT_EXPORT pit_status pit_index_transpose(pit_index_builder *builder,
                                             const pit_index *index,
                                             const pit_index **transpose);

/// The arrays of an index, for import and export without a copy.
typedef struct pit_index_arrays {
  const int32_t *counts;   ///< [groups]
  const int64_t *offsets;  ///< [groups]
  const int32_t *ids;      ///< [capacity]
  const int32_t *origin;   ///< [capacity] or NULL
  const pit_chunk *chunks; ///< [num_chunks] or NULL
  int64_t groups;
  int64_t capacity;
  int64_t num_chunks;
} pit_index_arrays;

/// Makes an index of the caller's arrays without copying them; they must
/// outlive it. Checks all of it: each id in range and at most once in its
/// group, positions of no two groups overlap, the work list exactly as
/// described above. If the spec has PIT_INDEX_DEVICE, the arrays are in memory
/// of the context's device and are not read: that they are sound is the
/// caller's promise. On the CPU the caller may write the arrays between calls:
/// each call that the index is an argument of checks them anew, and that the
/// sums of its counts are still those that are in the index.
PIT_RT_EXPORT pit_status pit_index_import(pit_context *context,
                                          const pit_index_spec *spec,
                                          const pit_index_arrays *arrays,
                                          pit_index *index);

/// The arrays of an index; they live as long as it does.
PIT_RT_EXPORT pit_status pit_index_export(pit_context *context,
                                          const pit_index *index,
                                          pit_index_arrays *arrays);

typedef struct pit_index_stats {
  int64_t micro_tiles;  ///< all micro-tiles, live or not
  int64_t live;         ///< micro-tiles in the index
  double live_fraction; ///< live / micro_tiles; 0 if there are none
} pit_index_stats;

/// Not of an index in device memory, whose counts the host does not know.
PIT_RT_EXPORT pit_status pit_index_statistics(pit_context *context,
                                              const pit_index *index,
                                              pit_index_stats *stats);

/// The part of the covered elements that is not selected: 1 - selected /
/// covered (0 if nothing is covered). Scans the source; `index` must have been
/// made from the same source, data and background. If windows overlap, an
/// element counts once per live micro-tile that holds it.
PIT_RT_EXPORT pit_status pit_index_waste(pit_context *context,
                                         const pit_index *index,
                                         pit_source source,
                                         const DLTensor *data,
                                         const void *background, double *waste);

/// Sees an index that a call has just built, or found kept (Constant.h), the
/// source and data it was built from, and the background (one element of data's
/// type). All of it is valid only until the observer returns.
typedef void (*pit_index_observer)(void *user, const pit_index *index,
                                   pit_source source, const DLTensor *data,
                                   const void *background);

/// Has `observer(user, ...)` called for each index that calls on this context
/// build or find kept, by the thread that calls; NULL ends it. Not to be
/// changed while a call runs on the context.
PIT_RT_EXPORT pit_status pit_context_observe(pit_context *context,
                                             pit_index_observer observer,
                                             void *user);

#ifdef __cplusplus
}
#endif

#endif // PIT_RUNTIME_INDEX_H
