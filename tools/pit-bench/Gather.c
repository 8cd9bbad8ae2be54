//===- Gather.c - Compacted products by a dense library -------------------===//

#include "Gather.h"
#include "Experts.h"
#include "Pack.h"
#include "Tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct gather {
  const problem *problem;
  gemm_cache products;
  char *packed[3]; ///< the parts of A, B, C that a block needs
  uint8_t *flags;
  int32_t *ids;
  tensor result;
} gather;

static void destroy(void *user) {
  gather *g = user;
  gemm_cache_free(&g->products);
  for (int i = 0; i < 3; ++i)
    free(g->packed[i]);
  free(g->flags);
  free(g->ids);
  tensor_free(&g->result);
  free(g);
}

//===----------------------------------------------------------------------===//
// A product with one sparse operand
//===----------------------------------------------------------------------===//

/// The dimensions of a product.
enum { DIM_M, DIM_N, DIM_K };

static int dim_of(char name) {
  return name == 'm' ? DIM_M : name == 'n' ? DIM_N : DIM_K;
}

/// The dimensions of A, B and C that are their rows and columns.
static const int row_dim[3] = {DIM_M, DIM_K, DIM_M};
static const int column_dim[3] = {DIM_K, DIM_N, DIM_N};

/// A block's operand: in place where nothing is gathered, else packed.
static const char *operand(gather *g, int x, const char *data, int64_t ld,
                           const part *parts, const gemm_shape *s,
                           int64_t *used_ld) {
  int width = g->problem->type.bits / 8;
  part rows = parts[row_dim[x]], columns = parts[column_dim[x]];
  if (!rows.ids && !columns.ids) {
    *used_ld = ld;
    return data + (rows.first * ld + columns.first) * width;
  }
  *used_ld = gemm_packed_ld(x == 0 ? s->k : s->n);
  pack_part(g->packed[x], *used_ld, x == 0 ? s->m : s->k, data, ld, rows,
            columns, width);
  return g->packed[x];
}

/// Computes a block: the parts of m, n and k, one of which ids list.
static bool run_block(gather *g, const char *a, const char *b, char *c,
                      const part *parts, bool add) {
  const problem *p = g->problem;
  const extents *e = &p->sizes;
  int64_t counts[3];
  for (int d = 0; d < 3; ++d)
    counts[d] = parts[d].ids ? gemm_padded(parts[d].count) : parts[d].count;
  gemm_shape s = {.batch = 1,
                  .m = counts[DIM_M],
                  .n = counts[DIM_N],
                  .k = counts[DIM_K],
                  .type = p->type,
                  .result_type = p->result_type};
  const char *packed_a = operand(g, 0, a, e->k, parts, &s, &s.lda);
  const char *packed_b = operand(g, 1, b, e->n, parts, &s, &s.ldb);
  part rows = parts[DIM_M], columns = parts[DIM_N];
  bool in_place = !rows.ids && !columns.ids && !add;
  s.ldc = in_place ? e->n : gemm_packed_ld(s.n);
  int width = p->result_type.bits / 8;
  char *product =
      in_place ? c + (rows.first * e->n + columns.first) * width : g->packed[2];
  if (!gemm_cache_run(&g->products, &s, packed_a, packed_b, product))
    return false;
  if (!in_place)
    unpack_part(c, e->n, product, s.ldc, rows, columns, p->result_type, add);
  return true;
}

/// Sets a block of the result to 0.
static void clear(gather *g, char *c, part rows, part columns) {
  int64_t width = g->problem->result_type.bits / 8, ld = g->problem->sizes.n;
  for (int64_t i = 0; i < rows.count; ++i)
    memset(c + ((rows.first + i) * ld + columns.first) * width, 0,
           (size_t)(columns.count * width));
}

/// Computes one product of a batch.
static bool run_one(gather *g, const char *a, const char *b, const char *marked,
                    DLDataType marked_type, char *c) {
  const problem *p = g->problem;
  const case_sparse *sparse = &p->from->sparse;
  const int64_t sizes[3] = {p->sizes.m, p->sizes.n, p->sizes.k};
  int x = sparse->operand - 'A', axis = dim_of(sparse->axis);
  bool axis_is_row = row_dim[x] == axis;
  int group = axis_is_row ? column_dim[x] : row_dim[x];
  int64_t ld = sizes[column_dim[x]];
  int64_t block = sparse->block ? sparse->block : sizes[group];
  bool add = group == DIM_K && block < sizes[group];
  // Blocks of the other axes do not write all that is theirs.
  bool covers = axis == DIM_K;
  if (!covers)
    memset(c, 0,
           (size_t)(sizes[DIM_M] * sizes[DIM_N]) * (p->result_type.bits / 8));
  for (int64_t at = 0; at < sizes[group]; at += block) {
    int64_t count = sizes[group] - at < block ? sizes[group] - at : block;
    part parts[3];
    for (int d = 0; d < 3; ++d)
      parts[d] = (part){.count = sizes[d]};
    parts[group] = (part){.first = at, .count = count};
    int64_t live = (axis_is_row ? pack_live_rows : pack_live_columns)(
        marked, marked_type, sizes[axis], ld, at, count, g->flags, g->ids);
    parts[axis] = (part){.count = live, .ids = g->ids};
    if (!live && covers)
      clear(g, c, parts[DIM_M], parts[DIM_N]);
    if (live && !run_block(g, a, b, c, parts, add))
      return false;
  }
  return true;
}

static bool run(void *user, int32_t pattern) {
  gather *g = user;
  const problem *p = g->problem;
  const extents *e = &p->sizes;
  int x = p->from->sparse.operand - 'A';
  const DLTensor *marked = problem_args(p, pattern)[x];
  const int64_t elements[3] = {e->m * e->k, e->k * e->n, e->m * e->n};
  int64_t width = p->type.bits / 8;
  const char *a = problem_data(p, pattern, 0), *b = problem_data(p, pattern, 1);
  const char *m = marked->data;
  char *c = g->result.dl.data;
  for (int64_t i = 0; i < e->batch; ++i)
    if (!run_one(g, a + i * elements[0] * width, b + i * elements[1] * width,
                 m + i * elements[x] * (marked->dtype.bits / 8), marked->dtype,
                 c + i * elements[2] * (p->result_type.bits / 8)))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Making it
//===----------------------------------------------------------------------===//

/// Room for a packed operand and for flags, whatever is live.
static bool make_room(gather *g) {
  const extents *e = &g->problem->sizes;
  size_t m = (size_t)gemm_padded(e->m), n = (size_t)gemm_padded(e->n),
         k = (size_t)gemm_padded(e->k), most = m > n ? m : n;
  most = most > k ? most : k;
  size_t width = g->problem->type.bits / 8;
  size_t wide_k = (size_t)gemm_packed_ld(gemm_padded(e->k)),
         wide_n = (size_t)gemm_packed_ld(gemm_padded(e->n));
  size_t bytes[3] = {m * wide_k * width, k * wide_n * width,
                     m * wide_n * (g->problem->result_type.bits / 8)};
  bool ok = true;
  for (int i = 0; i < 3; ++i) {
    g->packed[i] = aligned_alloc(64, (bytes[i] + 63) / 64 * 64);
    ok &= g->packed[i] != NULL;
  }
  g->flags = malloc(most);
  g->ids = malloc((most + 1) * sizeof(*g->ids));
  if (!ok || !g->flags || !g->ids)
    return tool_refuse("out of memory");
  return true;
}

peer_answer gather_make(const problem *p, const gemm_library *library,
                        const char *name, contender *made) {
  if (p->from->kind == CASE_EXPERTS)
    return experts_make(p, library, name, made);
  if (p->from->kind != CASE_MATMUL || !p->from->sparse.operand ||
      !gemm_has_products(library, p->type, p->result_type))
    return PEER_DECLINED;
  // Blocks of a product's summed dimension are added up.
  if (!pack_can_add(p->result_type))
    return PEER_DECLINED;
  gather *g = calloc(1, sizeof(*g));
  if (!g) {
    tool_error("out of memory");
    return PEER_FAILED;
  }
  g->problem = p;
  g->products.library = library;
  if (!make_room(g) || !problem_init_result(p, &g->result)) {
    destroy(g);
    return PEER_FAILED;
  }
  *made = (contender){.name = name,
                      .run = run,
                      .destroy = destroy,
                      .state = g,
                      .result = &g->result};
  return PEER_MADE;
}
