//===- CudaMatrix.h - Values in contiguous rows, on a device --------------===//
//
// The kernels of Device/IndexValues.mlir and Device/ChooseScan.mlir read this;
// the latter read its bitmap, too.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_CUDAMATRIX_H
#define PIT_LIB_RUNTIME_INDEX_CUDAMATRIX_H

#include "CudaIndexScan.h"
#include "RowsValues.h"

enum {
  PIT_VECTOR_BYTES = 16,
  PIT_PIECE_BYTES = 512, ///< that a warp reads of a row
  PIT_SIZE_OF_BITS = -3  ///< log2 of the bytes of an element that is a bit
};

/// The number that an element is compared with, as the kernels want it: the
/// bits of 8 bytes of elements.
typedef struct pit_cuda_pattern {
  uint32_t background_low, background_high, care_low, care_high, always;
} pit_cuda_pattern;

/// Parameters of kernels that compare.
#define PIT_PATTERN_PARAMS(p)                                                  \
  &(p).background_low, &(p).background_high, &(p).care_low, &(p).care_high,    \
      &(p).always

/// A matrix of rows of 16 bytes: dimension 0, and the contiguous one.
typedef struct pit_cuda_matrix {
  const void *data;
  pit_dim rows, columns;
  bool axis_last;
  int64_t row_stride; ///< in bytes
  int32_t row_bytes;
  int32_t size_log2;
  pit_cuda_pattern pattern;
} pit_cuda_matrix;

/// The values, or the bytes of the mask, that a build reads.
pit_rows pit_cuda_rows_of(const pit_cuda_build *build);

/// True iff the bitmap that a build reads is such a matrix, of bits.
bool pit_cuda_get_bit_matrix(const pit_cuda_build *build,
                             pit_cuda_matrix *matrix);

/// True iff that is such a matrix.
bool pit_cuda_get_matrix(const pit_rows *rows, pit_cuda_matrix *matrix);

#endif // PIT_LIB_RUNTIME_INDEX_CUDAMATRIX_H
