//===- Gemm.c - Dense products by other libraries -------------------------===//

#include "Gemm.h"
#include "Tool.h"

#include <stdlib.h>

struct gemm_entry {
  gemm_shape shape;
  void *gemm;
};

bool gemm_has_products(const gemm_library *library, DLDataType type,
                       DLDataType result_type) {
  gemm_shape shape = {.batch = 1,
                      .m = 32,
                      .n = 32,
                      .k = 32,
                      .lda = 32,
                      .ldb = 32,
                      .ldc = 32,
                      .type = type,
                      .result_type = result_type};
  void *gemm = library->create(&shape);
  if (gemm)
    library->destroy(gemm);
  return gemm != NULL;
}

static bool equal(const gemm_shape *x, const gemm_shape *y) {
  return x->batch == y->batch && x->m == y->m && x->n == y->n && x->k == y->k &&
         x->lda == y->lda && x->ldb == y->ldb && x->ldc == y->ldc &&
         dtype_equal(x->type, y->type) &&
         dtype_equal(x->result_type, y->result_type);
}

/// The product of a shape; NULL after an error.
static void *find(gemm_cache *cache, const gemm_shape *shape) {
  for (int32_t i = 0; i < cache->count; ++i)
    if (equal(&cache->entries[i].shape, shape))
      return cache->entries[i].gemm;
  if (cache->count == cache->room) {
    int32_t room = cache->room ? 2 * cache->room : 16;
    struct gemm_entry *more =
        realloc(cache->entries, (size_t)room * sizeof(*more));
    if (!more) {
      tool_error("out of memory");
      return NULL;
    }
    cache->entries = more;
    cache->room = room;
  }
  void *gemm = cache->library->create(shape);
  if (!gemm) {
    tool_error("a dense library has no product of %lldx%lldx%lld",
               (long long)shape->m, (long long)shape->n, (long long)shape->k);
    return NULL;
  }
  cache->entries[cache->count++] = (struct gemm_entry){*shape, gemm};
  return gemm;
}

bool gemm_cache_run(gemm_cache *cache, const gemm_shape *shape, const void *a,
                    const void *b, void *c) {
  void *gemm = find(cache, shape);
  return gemm && cache->library->run(gemm, a, b, c);
}

void gemm_cache_free(gemm_cache *cache) {
  for (int32_t i = 0; i < cache->count; ++i)
    cache->library->destroy(cache->entries[i].gemm);
  free(cache->entries);
}
