//===- Dense.c - Whole products by a dense library ------------------------===//

#include "Dense.h"
#include "Tool.h"

#include <stdlib.h>

typedef struct dense {
  const problem *problem;
  const gemm_library *library;
  void *gemm;
  tensor result;
} dense;

gemm_shape dense_shape(const problem *p) {
  const extents *s = &p->sizes;
  return (gemm_shape){.batch = s->batch,
                      .m = s->m,
                      .n = s->n,
                      .k = s->k,
                      .lda = s->k,
                      .ldb = s->n,
                      .ldc = s->n,
                      .type = p->type,
                      .result_type = p->result_type};
}

static void destroy(void *user) {
  dense *d = user;
  d->library->destroy(d->gemm);
  tensor_free(&d->result);
  free(d);
}

static bool run(void *user, int32_t pattern) {
  dense *d = user;
  return d->library->run(d->gemm, problem_data(d->problem, pattern, 0),
                         problem_data(d->problem, pattern, 1),
                         d->result.dl.data);
}

peer_answer dense_make(const problem *p, const gemm_library *library,
                       const char *name, contender *made) {
  if (p->from->kind != CASE_MATMUL)
    return PEER_DECLINED;
  gemm_shape shape = dense_shape(p);
  void *gemm = library->create(&shape);
  if (!gemm)
    return PEER_DECLINED;
  dense *d = calloc(1, sizeof(*d));
  if (!d) {
    library->destroy(gemm);
    tool_error("out of memory");
    return PEER_FAILED;
  }
  *d = (dense){.problem = p, .library = library, .gemm = gemm};
  if (!problem_init_result(p, &d->result)) {
    destroy(d);
    return PEER_FAILED;
  }
  *made = (contender){.name = name,
                      .run = run,
                      .destroy = destroy,
                      .state = d,
                      .result = &d->result,
                      .unwanted = p->from->sparse.operand == 'C'};
  return PEER_MADE;
}
