//===- Sources.h - What each source of an index does ----------------------===//
//
// A source is a row of the table in Sources.c, and a file of this folder with
// the functions of the row.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_SOURCES_SOURCES_H
#define PIT_LIB_RUNTIME_INDEX_SOURCES_SOURCES_H

#include "Device/Kernels.h"
#include "Index/Rows.h"

#include <string.h>

/// How the general scan of a device (Device/IndexGeneral.c) finds whether an
/// element of X is selected.
typedef struct pit_general {
  pit_tiling tiling;
  int64_t place[PIT_MAX_RANK];  ///< what a coordinate adds to the place
  int64_t number[PIT_MAX_RANK]; ///< and to the number to compare
  int32_t kind;                 ///< PIT_SCAN_*
  int32_t size_log2, wide, always;
  uint64_t background, care;
  int64_t slot_stride, slots;
} pit_general;

typedef struct pit_source_row {
  const char *name; ///< in MLIR, in Python
  /// Checks element type and shape of data against a resolved index; reads none
  /// of it. NULL: no index is built of the source.
  pit_status (*check)(pit_context *context, const pit_data *data,
                      const pit_index *index);
  /// Checks the numbers in data that was checked, and completes the rows, of
  /// which tiling, kernels and data are set. NULL: it names micro-tiles.
  pit_status (*read)(pit_context *context, const pit_selection *selection,
                     const pit_index *index, pit_rows *rows);
  /// The numbers that integers may be. NULL: there are none to check.
  void (*range)(const pit_data *data, const pit_index *index, int64_t *least,
                int64_t *most);
  /// The most micro-tiles that the data can make live; NULL: all.
  int64_t (*bound)(const pit_data *data, const pit_index *index);
  /// For the general scan of a device, of which the tiling is set, and whether
  /// integers have 64 bits. NULL: the source has a scan of its own.
  void (*describe)(const pit_data *data, const pit_index *index,
                   pit_general *general);
  const char *no_bitmap; ///< why it has none; NULL: it has
} pit_source_row;

/// The row of a source; NULL if there is no such source.
const pit_source_row *pit_source_find(int32_t source);

/// Checks element type and shape of a selection's data against a resolved
/// index; reads none of it.
pit_status pit_selection_check(pit_context *context,
                               const pit_selection *selection,
                               const pit_index *index);

/// The most micro-tiles that a checked selection can make live: the capacity,
/// or what the source's shape says.
int64_t pit_selection_bound(const pit_selection *selection,
                            const pit_index *index);

// The sources, each in its file.
extern const pit_source_row pit_source_values, pit_source_mask,
    pit_source_mask_bits, pit_source_lengths, pit_source_row_lengths,
    pit_source_routing, pit_source_blocks;

//===----------------------------------------------------------------------===//
// Shared by the files of sources
//===----------------------------------------------------------------------===//

/// Checks that data are integers of 32 or 64 bits.
pit_status pit_source_check_integers(pit_context *context, const char *what,
                                     const pit_data *data);

/// Checks the shape of data.
pit_status pit_source_check_shape(pit_context *context, const char *what,
                                  const pit_data *data, const int64_t *shape,
                                  int32_t rank);

/// Adds the columns of a row that are selected to `bits`.
typedef void (*pit_source_columns)(const pit_rows *rows, const int64_t *coords,
                                   int64_t first, int64_t n, uint64_t *bits);

/// Calls `row` for each row of the box; here, so that it becomes part of the
/// loop.
static inline void pit_source_each_row(const pit_rows *rows, const pit_box *box,
                                       int64_t first, int64_t n, uint64_t *bits,
                                       pit_source_columns row) {
  int32_t dims = rows->tiling.rank - 1;
  memset(bits, 0, (size_t)pit_ceil_div(n, 64) * sizeof(*bits));
  if (pit_box_empty(box, dims))
    return;
  int64_t coords[PIT_MAX_RANK];
  memcpy(coords, box->begin, sizeof(coords));
  do
    row(rows, coords, first, n, bits);
  while (pit_box_next(box, dims, coords));
}

/// Defines `columns` of pit_rows by what each row selects.
#define PIT_SOURCE_COLUMNS(columns, row)                                       \
  static void columns(const pit_rows *rows, const pit_box *box, int64_t first, \
                      int64_t n, uint64_t *bits) {                             \
    pit_source_each_row(rows, box, first, n, bits, row);                       \
  }

/// The place of an element of data, by its first coordinates.
static inline int64_t pit_source_offset(const pit_data *data,
                                        const int64_t *coords, int32_t dims) {
  int64_t offset = 0;
  for (int32_t d = 0; d < dims; ++d)
    offset += coords[d] * data->strides[d];
  return offset;
}

#endif // PIT_LIB_RUNTIME_INDEX_SOURCES_SOURCES_H
