//===- Gemm.h - Dense products by other libraries -------------------------===//

#ifndef PIT_TOOLS_BENCH_GEMM_H
#define PIT_TOOLS_BENCH_GEMM_H

#include "Problem.h"

/// C[batch,m,n] = A[batch,m,k] B[batch,k,n]; row-major, rows `ld` elements
/// apart, batches following each other.
typedef struct gemm_shape {
  int64_t batch, m, n, k;
  int64_t lda, ldb, ldc;
  DLDataType type, result_type;
} gemm_shape;

/// A library that multiplies dense matrices.
typedef struct gemm_library {
  /// Prepares products of a shape: NULL if the library has none of the kind.
  void *(*create)(const gemm_shape *shape);
  bool (*run)(void *gemm, const void *a, const void *b, void *c);
  void (*destroy)(void *gemm);
} gemm_library;

#endif // PIT_TOOLS_BENCH_GEMM_H
