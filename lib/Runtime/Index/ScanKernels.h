//===- ScanKernels.h - Inner loops over values ----------------------------===//
//
// Values are compared as unsigned integers: an element is selected iff
// (bits ^ background) & care is not zero, where `care` leaves out the sign of a
// floating-point zero. One table of kernels per instruction set, made of the
// same source (ScanKernels.inc); kernels are indexed by log2 of the element's
// bytes.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_SCANKERNELS_H
#define PIT_LIB_RUNTIME_SCANKERNELS_H

#include "IndexSpec.h"

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
} pit_scan_kernels;

/// The best kernels that this CPU runs.
const pit_scan_kernels *pit_scan_kernels_select(void);

extern const pit_scan_kernels pit_scan_kernels_baseline;
#ifdef __x86_64__
extern const pit_scan_kernels pit_scan_kernels_avx2;
extern const pit_scan_kernels pit_scan_kernels_avx512;
#endif

#endif // PIT_LIB_RUNTIME_SCANKERNELS_H
