//===- Xsmm.c - libxsmm as a peer -----------------------------------------===//
//
// The library has small products only; around them stands what its users write:
// B is packed into panels once, and A block by block, so that neither conflicts
// in the caches.
//
//===----------------------------------------------------------------------===//

#include "Xsmm.h"

#include <libxsmm.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
  PANEL = 64,  ///< columns of B and C in a small product
  ROWS = 32,   ///< rows of A and C in one
  DEPTH = 256, ///< of k in one
  BLOCK = 256, ///< rows of A that are packed together
  CHUNK = 1024 ///< columns that a block of A meets before the next is packed
};

/// A small product, or none; of the library's columns, which are our rows.
typedef union kernel {
  libxsmm_smmfunction f32;
  libxsmm_dmmfunction f64;
} kernel;

typedef struct xsmm {
  gemm_shape shape;
  int width;
  int64_t ldb;  ///< of the panels, or of B where it is read in place
  char *panels; ///< [ceil(n / PANEL)][k][PANEL]; NULL: B is read in place
  char *blocks; ///< [threads][BLOCK][DEPTH]
  int threads;
  /// For full and last sizes of columns, rows and depth; adding to C or not.
  kernel kernels[2][2][2][2];
} xsmm;

static void xsmm_free(void *user) {
  xsmm *x = user;
  free(x->panels);
  free(x->blocks);
  free(x);
}

/// The size of the part that begins at `at`.
static int64_t part_of(int64_t size, int64_t at, int64_t step) {
  return size - at < step ? size - at : step;
}

/// A full or the last size; 0: there is none.
static int64_t size_of(int64_t size, int64_t step, int last) {
  return last ? size % step : size < step ? 0 : step;
}

static bool make_kernel(const xsmm *x, int64_t columns, int64_t rows,
                        int64_t depth, bool adds, kernel *made) {
  libxsmm_blasint lda = (libxsmm_blasint)x->ldb, ldb = DEPTH;
  libxsmm_blasint ldc = (libxsmm_blasint)x->shape.ldc;
  libxsmm_blasint m = (libxsmm_blasint)columns, n = (libxsmm_blasint)rows;
  libxsmm_blasint k = (libxsmm_blasint)depth;
  int flags = LIBXSMM_GEMM_FLAG_NONE, prefetch = LIBXSMM_GEMM_PREFETCH_NONE;
  if (x->width == 8) {
    double alpha = 1, beta = adds;
    made->f64 = libxsmm_dmmdispatch(m, n, k, &lda, &ldb, &ldc, &alpha, &beta,
                                    &flags, &prefetch);
    return made->f64 != NULL;
  }
  float alpha = 1, beta = adds;
  made->f32 = libxsmm_smmdispatch(m, n, k, &lda, &ldb, &ldc, &alpha, &beta,
                                  &flags, &prefetch);
  return made->f32 != NULL;
}

static bool make_kernels(xsmm *x) {
  const gemm_shape *s = &x->shape;
  for (int i = 0; i < 16; ++i) {
    int c = i & 1, r = i >> 1 & 1, d = i >> 2 & 1, adds = i >> 3;
    int64_t columns = size_of(s->n, PANEL, c), rows = size_of(s->m, ROWS, r),
            depth = size_of(s->k, DEPTH, d);
    if (columns && rows && depth &&
        !make_kernel(x, columns, rows, depth, adds, &x->kernels[c][r][d][adds]))
      return false;
  }
  return true;
}

static void *xsmm_create(const gemm_shape *s) {
  bool floats = s->type.code == PIT_DTYPE_FLOAT && s->type.bits >= 32 &&
                dtype_equal(s->type, s->result_type);
  xsmm *x = floats ? calloc(1, sizeof(*x)) : NULL;
  if (!x)
    return NULL;
  x->shape = *s;
  x->width = s->type.bits / 8;
  x->threads = omp_get_max_threads();
  x->ldb = s->ldb;
  bool ok = true;
  // B is packed if it is read more than twice.
  if (s->m > 2 * ROWS) {
    size_t panels = (size_t)((s->n + PANEL - 1) / PANEL);
    x->ldb = PANEL;
    x->panels =
        aligned_alloc(64, panels * (size_t)s->k * PANEL * (size_t)x->width);
    ok = x->panels != NULL;
  }
  x->blocks =
      aligned_alloc(64, (size_t)x->threads * BLOCK * DEPTH * (size_t)x->width);
  ok = ok && x->blocks && make_kernels(x);
  if (!ok)
    xsmm_free(x);
  return ok ? x : NULL;
}

static void pack_panels(const xsmm *x, const char *b) {
  const gemm_shape *s = &x->shape;
#pragma omp parallel for
  for (int64_t j = 0; j < s->n; j += PANEL) {
    size_t bytes = (size_t)(part_of(s->n, j, PANEL) * x->width);
    char *to = x->panels + j * s->k * x->width;
    const char *from = b + j * x->width;
    for (int64_t k = 0; k < s->k; ++k)
      memcpy(to + k * PANEL * x->width, from + k * s->ldb * x->width, bytes);
  }
}

/// The part of B that a small product reads.
static const char *panel_at(const xsmm *x, const char *b, int64_t k,
                            int64_t j) {
  const gemm_shape *s = &x->shape;
  return x->panels ? x->panels + (j * s->k + k * PANEL) * x->width
                   : b + (k * s->ldb + j) * x->width;
}

/// Packs a block of A and multiplies it with a chunk of B's columns.
static void run_block(const xsmm *x, const char *a, const char *b, char *c,
                      int64_t i, int64_t j, int64_t k, char *block) {
  const gemm_shape *s = &x->shape;
  int64_t rows = part_of(s->m, i, BLOCK), depth = part_of(s->k, k, DEPTH);
  int64_t end = j + part_of(s->n, j, CHUNK), width = x->width;
  for (int64_t r = 0; r < rows; ++r)
    memcpy(block + r * DEPTH * width, a + ((i + r) * s->lda + k) * width,
           (size_t)(depth * width));
  for (; j < end; j += PANEL) {
    const char *panel = panel_at(x, b, k, j);
    bool last_panel = s->n - j < PANEL;
    for (int64_t r = 0; r < rows; r += ROWS) {
      const kernel *f =
          &x->kernels[last_panel][s->m - i - r < ROWS][depth < DEPTH][k > 0];
      const void *left = block + r * DEPTH * width;
      void *to = c + ((i + r) * s->ldc + j) * width;
      if (width == 8)
        f->f64((const double *)(const void *)panel, left, to);
      else
        f->f32((const float *)(const void *)panel, left, to);
    }
  }
}

static void run_one(const xsmm *x, const char *a, const char *b, char *c) {
  const gemm_shape *s = &x->shape;
  if (x->panels)
    pack_panels(x, b);
#pragma omp parallel for collapse(2) schedule(dynamic)
  for (int64_t j = 0; j < s->n; j += CHUNK)
    for (int64_t i = 0; i < s->m; i += BLOCK)
      for (int64_t k = 0; k < s->k; k += DEPTH)
        run_block(x, a, b, c, i, j, k,
                  x->blocks +
                      (int64_t)omp_get_thread_num() * BLOCK * DEPTH * x->width);
}

static bool xsmm_run(void *gemm, const void *a, const void *b, void *c) {
  const xsmm *x = gemm;
  const gemm_shape *s = &x->shape;
  for (int64_t i = 0; i < s->batch; ++i)
    run_one(x, (const char *)a + i * s->m * s->lda * x->width,
            (const char *)b + i * s->k * s->ldb * x->width,
            (char *)c + i * s->m * s->ldc * x->width);
  return true;
}

const gemm_library *xsmm_gemm(void) {
  static const gemm_library library = {xsmm_create, xsmm_run, xsmm_free};
  return &library;
}
