//===- Experts.c - Routed tokens by a dense library -----------------------===//

#include "Experts.h"
#include "Pack.h"
#include "Tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct experts {
  const problem *problem;
  gemm_cache products;
  char *rows, *products_of_rows; ///< of an expert's tokens
  int32_t *ids;
  int64_t *counts; ///< [experts] tokens of each; ids has room for all in each
  tensor result;
} experts;

static void destroy(void *user) {
  experts *x = user;
  gemm_cache_free(&x->products);
  free(x->rows);
  free(x->products_of_rows);
  free(x->ids);
  free(x->counts);
  tensor_free(&x->result);
  free(x);
}

/// Lists each expert's tokens. An expert that a token names twice has it once.
static bool list_tokens(experts *x, const DLTensor *routing) {
  const extents *e = &x->problem->sizes;
  const int32_t *to = routing->data;
  int64_t slots = routing->shape[1];
  memset(x->counts, 0, (size_t)e->experts * sizeof(*x->counts));
  for (int64_t t = 0; t < e->m; ++t)
    for (int64_t s = 0; s < slots; ++s) {
      int64_t expert = to[t * slots + s];
      if (expert < 0)
        continue;
      if (expert >= e->experts)
        return tool_refuse("a token is assigned to expert %lld of %lld",
                           (long long)expert, (long long)e->experts);
      int32_t *ids = x->ids + expert * e->m;
      int64_t count = x->counts[expert];
      if (count == 0 || ids[count - 1] != t)
        ids[x->counts[expert]++] = (int32_t)t;
    }
  return true;
}

/// Multiplies the products of an expert's rows by their weights and adds them.
static void add_rows(experts *x, const float *weights, int64_t expert,
                     const int32_t *ids, int64_t ld) {
  const extents *e = &x->problem->sizes;
  const float *products = (const float *)(const void *)x->products_of_rows;
  float *result = x->result.dl.data;
#pragma omp parallel for
  for (int64_t i = 0; i < x->counts[expert]; ++i) {
    float weight = weights[ids[i] * e->experts + expert];
    float *to = result + ids[i] * e->n;
    for (int64_t n = 0; n < e->n; ++n)
      to[n] += weight * products[i * ld + n];
  }
}

static bool run(void *user, int32_t pattern) {
  experts *x = user;
  const problem *p = x->problem;
  const extents *e = &p->sizes;
  const float *b = problem_data(p, pattern, 2);
  if (!list_tokens(x, problem_args(p, pattern)[3]))
    return false;
  memset(x->result.dl.data, 0, tensor_bytes(&x->result));
  for (int64_t expert = 0; expert < e->experts; ++expert) {
    const int32_t *ids = x->ids + expert * e->m;
    part rows = {.count = x->counts[expert], .ids = ids};
    part columns = {.count = e->k};
    if (rows.count == 0)
      continue;
    gemm_shape s = {.batch = 1,
                    .m = gemm_padded(rows.count),
                    .n = e->n,
                    .k = e->k,
                    .lda = gemm_packed_ld(e->k),
                    .ldb = e->n,
                    .ldc = gemm_packed_ld(e->n),
                    .type = p->type,
                    .result_type = p->result_type};
    pack_part(x->rows, s.lda, s.m, problem_data(p, pattern, 1), e->k, rows,
              columns, sizeof(float));
    if (!gemm_cache_run(&x->products, &s, x->rows, b + expert * e->k * e->n,
                        x->products_of_rows))
      return false;
    add_rows(x, problem_data(p, pattern, 0), expert, ids, s.ldc);
  }
  return true;
}

/// Room for one expert that has all tokens.
static bool make_room(experts *x) {
  const extents *e = &x->problem->sizes;
  size_t m = (size_t)gemm_padded(e->m), count = (size_t)e->experts;
  x->rows = aligned_alloc(64, m * (size_t)gemm_packed_ld(e->k) * sizeof(float));
  x->products_of_rows =
      aligned_alloc(64, m * (size_t)gemm_packed_ld(e->n) * sizeof(float));
  x->ids = calloc(count * (size_t)e->m, sizeof(*x->ids));
  x->counts = calloc(count, sizeof(*x->counts));
  if (!x->rows || !x->products_of_rows || !x->ids || !x->counts)
    return tool_refuse("out of memory");
  return true;
}

/// True if the fourth argument assigns experts to each token.
static bool has_routing(const problem *p) {
  const DLTensor *t = p->num_args > 3 ? p->ins[3] : NULL;
  return t && t->ndim == 2 && t->shape[0] == p->sizes.m &&
         t->dtype.code == PIT_DTYPE_INT && t->dtype.bits == 32;
}

peer_answer experts_make(const problem *p, const gemm_library *library,
                         const char *name, contender *made) {
  DLDataType f32 = {PIT_DTYPE_FLOAT, 32, 1};
  if (!dtype_equal(p->type, f32) || !dtype_equal(p->result_type, f32) ||
      !has_routing(p))
    return PEER_DECLINED;
  experts *x = calloc(1, sizeof(*x));
  if (!x) {
    tool_error("out of memory");
    return PEER_FAILED;
  }
  x->problem = p;
  x->products.library = library;
  if (!make_room(x) || !problem_init_result(p, &x->result)) {
    destroy(x);
    return PEER_FAILED;
  }
  *made = (contender){.name = name,
                      .run = run,
                      .destroy = destroy,
                      .state = x,
                      .result = &x->result};
  return PEER_MADE;
}
