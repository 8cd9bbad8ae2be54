//===- CudaMatrix.h - Values in contiguous rows, on a device --------------===//
//
// The kernels of Device/IndexValues.c and Device/ChooseScan.c read this;
// the latter read its bitmap, too.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_CUDAMATRIX_H
#define PIT_LIB_RUNTIME_INDEX_CUDAMATRIX_H

#include "CudaIndexScan.h"
#include "Rows.h"

enum {
  PIT_VECTOR_BYTES = 16,
  PIT_PIECE_BYTES = 512, ///< that a warp reads of a row
  PIT_SIZE_OF_BITS = -3  ///< log2 of the bytes of an element that is a bit
};

/// A matrix of rows of 16 bytes: dimension 0, and the contiguous one.
typedef struct pit_cuda_matrix {
  pit_cuda_values values;
  pit_dim rows, columns;
  bool axis_last;
} pit_cuda_matrix;

/// The values, or the bytes of the mask, that a build reads.
pit_rows pit_cuda_rows_of(const pit_cuda_build *build);

/// True iff the bitmap that a build reads is such a matrix, of bits.
bool pit_cuda_get_bit_matrix(const pit_cuda_build *build,
                             pit_cuda_matrix *matrix);

/// True iff that is such a matrix.
bool pit_cuda_get_matrix(const pit_rows *rows, pit_cuda_matrix *matrix);

#endif // PIT_LIB_RUNTIME_INDEX_CUDAMATRIX_H
