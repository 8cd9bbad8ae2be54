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

/// True if the library has products of these types.
bool gemm_has_products(const gemm_library *library, DLDataType type,
                       DLDataType result_type);

/// Products of a library that were prepared, for the next time.
typedef struct gemm_cache {
  const gemm_library *library;
  int32_t count, room;
  struct gemm_entry *entries;
} gemm_cache;

/// Runs the product of a shape, which is prepared if it is new. Prints an error
/// and returns false if the library has no such product.
bool gemm_cache_run(gemm_cache *cache, const gemm_shape *shape, const void *a,
                    const void *b, void *c);
void gemm_cache_free(gemm_cache *cache);

/// The size that a gathered dimension gets, with zeros at its end, so that
/// there are few sizes and they are prepared before anything is timed.
static inline int64_t gemm_padded(int64_t count) {
  return (count + 31) / 32 * 32;
}

/// How far rows of a packed part lie apart: not by a large power of two, at
/// which they would conflict in the caches.
static inline int64_t gemm_packed_ld(int64_t columns) {
  return columns % 256 ? columns : columns + 16;
}

#endif // PIT_TOOLS_BENCH_GEMM_H
