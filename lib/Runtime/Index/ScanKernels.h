//===- ScanKernels.h - Inner loops over values ----------------------------===//
//
// Values are compared as unsigned integers: an element is selected iff
// (bits ^ background) & care is not zero, where `care` leaves out the sign of a
// floating-point zero. One table of kernels per instruction set, made of the
// same source (ScanKernels.inc); kernels are indexed by log2 of the element's
// bytes.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_SCANKERNELS_H
#define PIT_LIB_RUNTIME_INDEX_SCANKERNELS_H

#include "IndexSpec.h"

/// Squares of 64x64 bits that are transposed at once.
enum { PIT_TRANSPOSED_WORDS = 8 };

typedef struct pit_scan_kernels {
  /// sums[j] |= base[r * stride + j] ^ background, for r < rows and j < n.
  void (*columns[4])(const void *base, int64_t stride, int64_t rows, int64_t n,
                     uint64_t background, void *sums);
  /// Sets bit j of `bits` to whether element j is selected; writes whole words,
  /// zero past n.
  void (*bits[4])(const void *row, int64_t n, uint64_t background,
                  uint64_t care, uint64_t *bits);
  /// Sets bit c - first of `bits` if an element of window c of the row is
  /// selected, for c in [first, first + n); leaves it otherwise.
  void (*windows[4])(const void *row, const pit_dim *dim, int64_t first,
                     int64_t n, uint64_t background, uint64_t care,
                     uint64_t *bits);

  // For words of bits, of which a row has n:

  /// to[j] = the OR of from[r * stride + j] over r < rows, which is at least 1.
  void (*or_rows)(const uint64_t *from, int64_t stride, int64_t rows, int64_t n,
                  uint64_t *to);
  /// Makes one bit of each two; writes ceil(n / 2) words.
  void (*halve)(const uint64_t *from, int64_t n, uint64_t *to);
  /// The ones of all rows; raises `max` to those of the fullest row.
  int64_t (*count_rows)(const uint64_t *words, int64_t rows, int64_t n,
                        int64_t *max);
  /// The ones of all columns of bits; raises `max` to those of the fullest one.
  int64_t (*count_columns)(const uint64_t *words, int64_t stride, int64_t rows,
                           int64_t n, int64_t *max);
  /// Writes `base` + the number of each bit that is set; returns the end.
  int32_t *(*list)(const uint64_t *words, int64_t n, int32_t base, int32_t *to);
  /// Bit j of word w of row i becomes bit i of to[64 * w + j], for 64 rows of
  /// PIT_TRANSPOSED_WORDS words.
  void (*transpose)(const uint64_t *from, int64_t stride, uint64_t *to);
} pit_scan_kernels;

/// The best kernels that this CPU runs.
const pit_scan_kernels *pit_scan_kernels_select(void);

extern const pit_scan_kernels pit_scan_kernels_baseline;
#ifdef __x86_64__
extern const pit_scan_kernels pit_scan_kernels_avx2;
extern const pit_scan_kernels pit_scan_kernels_avx512;
#endif

#endif // PIT_LIB_RUNTIME_INDEX_SCANKERNELS_H
