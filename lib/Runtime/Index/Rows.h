//===- Rows.h - Selections, read row by row -------------------------------===//
//
// The scan needs this of a source: which columns (coordinates of X's last
// dimension) hold a selected element in a box of rows (coordinates of the other
// dimensions). Each source answers in its own way, in bits.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_ROWS_H
#define PIT_LIB_RUNTIME_INDEX_ROWS_H

#include "IndexSpec.h"
#include "ScanKernels.h"

enum {
  /// Columns that are looked at together; a multiple of 64. At 8 bytes each the
  /// sums of a column block fill a third of a first-level cache.
  PIT_COLUMN_BLOCK = 2048,
  PIT_COLUMN_BLOCK_WORDS = PIT_COLUMN_BLOCK / 64
};

/// A box of rows: [begin, end) of each dimension but the last.
typedef struct pit_box {
  int64_t begin[PIT_MAX_RANK], end[PIT_MAX_RANK];
} pit_box;

typedef struct pit_rows pit_rows;
struct pit_rows {
  pit_tiling tiling; ///< dimensions may be merged or left out
  /// Sets bit j of `bits` to whether column first + j is selected in a row of
  /// the box, for j < n <= PIT_COLUMN_BLOCK; `first` is a multiple of 64.
  /// Writes whole words, zero past n.
  void (*columns)(const pit_rows *rows, const pit_box *box, int64_t first,
                  int64_t n, uint64_t *bits);
  /// The same for windows of the last dimension; NULL: use `columns`.
  void (*windows)(const pit_rows *rows, const pit_box *box, int64_t first,
                  int64_t n, uint64_t *bits);
  const pit_scan_kernels *kernels;
  int32_t size_log2;   ///< of an element of values
  uint64_t background; ///< bits of one element of values
  uint64_t care;       ///< bits of an element that count
  bool always;         ///< every value differs: the background is a NaN
  bool of_bits;        ///< data are the words of a bitmap
  pit_data data;
};

/// Checks the data of a selection against the shape of X, and every number in
/// it that could be out of range; describes the rows of X. Not for
/// PIT_SOURCE_BLOCKS.
pit_status pit_rows_init(pit_context *context, const pit_selection *selection,
                         const pit_index *index, pit_rows *rows);

/// Windows [first, first + n) of the last dimension, n <= PIT_COLUMN_BLOCK:
/// sets bit j of `bits` to whether window first + j is selected in a row of the
/// box.
void pit_rows_windows(const pit_rows *rows, const pit_box *box, int64_t first,
                      int64_t n, uint64_t *bits);

/// Element i of integer data (int32 or int64) at an offset in elements.
static inline int64_t pit_data_int(const pit_data *data, int64_t offset) {
  return data->dtype.bits == 32 ? ((const int32_t *)data->data)[offset]
                                : ((const int64_t *)data->data)[offset];
}

/// The first slot of a token that selects an expert in [begin, end), or -1.
int32_t pit_routing_slot(const pit_data *data, int64_t token, int64_t begin,
                         int64_t end);

/// Whether a routing's index has an origin: each micro-tile in one token.
bool pit_routing_has_origin(const pit_index *index);

//===----------------------------------------------------------------------===//
// Strings of bits
//===----------------------------------------------------------------------===//

/// Sets bits [begin, end).
static inline void pit_bits_fill(uint64_t *bits, int64_t begin, int64_t end) {
  for (int64_t at = begin; at < end;) {
    int64_t stop = pit_min(end, (at / 64 + 1) * 64);
    uint64_t ones =
        stop - at == 64 ? ~UINT64_C(0) : ((UINT64_C(1) << (stop - at)) - 1);
    bits[at / 64] |= ones << (at % 64);
    at = stop;
  }
}

/// Bits of word i that are in [begin, end).
static inline uint64_t pit_bits_in(const uint64_t *bits, int64_t i,
                                   int64_t begin, int64_t end) {
  uint64_t word = bits[i];
  if (i == begin / 64)
    word &= ~UINT64_C(0) << (begin % 64);
  if (i == (end - 1) / 64 && end % 64 != 0)
    word &= (UINT64_C(1) << (end % 64)) - 1;
  return word;
}

static inline bool pit_bits_any(const uint64_t *bits, int64_t begin,
                                int64_t end) {
  for (int64_t i = begin / 64; i * 64 < end; ++i)
    if (pit_bits_in(bits, i, begin, end))
      return true;
  return false;
}

static inline int64_t pit_bits_count(const uint64_t *bits, int64_t begin,
                                     int64_t end) {
  int64_t count = 0;
  for (int64_t i = begin / 64; i * 64 < end; ++i)
    count += __builtin_popcountll(pit_bits_in(bits, i, begin, end));
  return count;
}

/// Bit i of the low half is bit 2i or 2i + 1 of the word.
static inline uint64_t pit_bits_merge_pairs(uint64_t word) {
  word = (word | word >> 1) & UINT64_C(0x5555555555555555);
  word = (word | word >> 1) & UINT64_C(0x3333333333333333);
  word = (word | word >> 2) & UINT64_C(0x0F0F0F0F0F0F0F0F);
  word = (word | word >> 4) & UINT64_C(0x00FF00FF00FF00FF);
  word = (word | word >> 8) & UINT64_C(0x0000FFFF0000FFFF);
  return (word | word >> 16) & UINT64_C(0x00000000FFFFFFFF);
}

/// Steps `coords` to the next row of a box; false after the last. The box has
/// at least one row.
static inline bool pit_box_next(const pit_box *box, int32_t dims,
                                int64_t *coords) {
  for (int32_t d = dims - 1; d >= 0; --d) {
    if (++coords[d] < box->end[d])
      return true;
    coords[d] = box->begin[d];
  }
  return false;
}

static inline bool pit_box_empty(const pit_box *box, int32_t dims) {
  for (int32_t d = 0; d < dims; ++d)
    if (box->begin[d] >= box->end[d])
      return true;
  return false;
}

/// Completes the rows of a tensor of values of X's shape: an element is
/// selected iff it differs from the background. Merges dimensions where the
/// micro-tiles stay the same, so that the inner loops are long.
void pit_rows_init_values(pit_rows *rows, uint64_t background);

#endif // PIT_LIB_RUNTIME_INDEX_ROWS_H
