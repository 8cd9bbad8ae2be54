//===- Source.h - What says which elements of a tensor are selected -------===//
//
// The runtime, MLIR (#pit<source ..>), its C API and Python have these sources
// by the same names and numbers.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_RUNTIME_SOURCE_H
#define PIT_RUNTIME_SOURCE_H

#include "pit-runtime/Status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The source of the selection.
typedef enum pit_source {
  /// data: a tensor of X's shape, of f64 f32 f16 bf16 f8E4M3FN f8E5M2 i8
  /// i16 i32 i64 u8 or bool.
  /// An element is selected iff it differs from the background: -0.0 equals
  /// 0.0, NaN differs from everything.
  PIT_SOURCE_VALUES = 0,
  /// data: a tensor of X's shape, of a type of values; selected iff not 0: -0.0
  /// is 0, NaN is not.
  PIT_SOURCE_MASK = 1,
  /// data: u8, of X's shape except that the last dimension counts bytes,
  /// ceil(n / 8) of them. Element j of a row is bit j % 8 (from the least
  /// significant) of byte j / 8; each row starts in a new byte, the bits past a
  /// row's end are ignored. X has a rank of at least 1.
  PIT_SOURCE_MASK_BITS = 2,
  /// data: i32 or i64, of X's first r dimensions (r = its rank, less than X's).
  /// x[d0.., s, ...] is selected iff s < data[d0..]. Each length lies in
  /// [0, size of X's dimension r].
  PIT_SOURCE_LENGTHS = 3,
  /// data: i32 or i64 of shape [T, K]; X is [T, E]. x[t, e] is selected iff
  /// data[t, j] == e for some slot j. -1 is an empty slot, duplicates count
  /// once. The index gets an origin if each micro-tile lies in one token (the
  /// axis is 0 or micro_tile[0] is 1): the first slot that selects it.
  PIT_SOURCE_ROUTING = 4,
  /// data: i32 or i64 of shape [n, 2]: the live (group, id) pairs themselves,
  /// in any order; duplicates count once.
  PIT_SOURCE_BLOCKS = 5,
  /// Not built by the runtime: pit_index_import.
  PIT_SOURCE_IMPORT = 6,
  /// Not built from data: pit_index_transpose.
  PIT_SOURCE_INDEX = 7,
  /// data: i32 or i64, of one dimension, n. X's first dimension is that of the
  /// rows of n matrices, one after the other, s each; the axis is 0.
  /// x[m * s + i, ...] is selected iff i < data[m]. Each length lies in [0, s].
  PIT_SOURCE_ROW_LENGTHS = 8
} pit_source;

/// The name of a source in MLIR and Python; NULL if there is no such source.
PIT_RT_EXPORT const char *pit_source_name(pit_source source);

#ifdef __cplusplus
}
#endif

#endif // PIT_RUNTIME_SOURCE_H
