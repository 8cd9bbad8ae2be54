//===- Gather.c - Compacted products by a dense library -------------------===//

#include "Gather.h"
#include "Tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Rows and columns of a row-major matrix: a range, or those that ids list.
typedef struct part {
  int64_t first, count;
  const int32_t *ids; ///< NULL: first, first + 1, ...
} part;

/// A product of one size, kept for the next block that has it.
typedef struct prepared {
  gemm_shape shape;
  void *gemm;
} prepared;

typedef struct gather {
  const problem *problem;
  const gemm_library *library;
  int32_t num_prepared, room;
  prepared *prepared;
  char *packed[3]; ///< the parts of A, B, C that a block needs
  uint8_t *flags;
  int32_t *ids;
  tensor result;
} gather;

static void destroy(void *user) {
  gather *g = user;
  for (int32_t i = 0; i < g->num_prepared; ++i)
    g->library->destroy(g->prepared[i].gemm);
  for (int i = 0; i < 3; ++i)
    free(g->packed[i]);
  free(g->prepared);
  free(g->flags);
  free(g->ids);
  tensor_free(&g->result);
  free(g);
}

/// The prepared product of a shape. Prints an error and returns NULL if the
/// library has none.
static void *prepare(gather *g, const gemm_shape *shape) {
  for (int32_t i = 0; i < g->num_prepared; ++i)
    if (memcmp(&g->prepared[i].shape, shape, sizeof(*shape)) == 0)
      return g->prepared[i].gemm;
  if (g->num_prepared == g->room) {
    int32_t room = g->room ? 2 * g->room : 16;
    prepared *more = realloc(g->prepared, (size_t)room * sizeof(*more));
    if (!more) {
      tool_error("out of memory");
      return NULL;
    }
    g->prepared = more;
    g->room = room;
  }
  void *gemm = g->library->create(shape);
  if (!gemm) {
    tool_error("the dense library has no product of %lldx%lldx%lld",
               (long long)shape->m, (long long)shape->n, (long long)shape->k);
    return NULL;
  }
  g->prepared[g->num_prepared++] = (prepared){*shape, gemm};
  return gemm;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

// One loop for each width of an element.
#define COPY_ROWS(bits)                                                        \
  static void copy_row_##bits(char *to, const char *from, const int32_t *ids,  \
                              int64_t count) {                                 \
    uint##bits##_t *t = (uint##bits##_t *)(void *)to;                          \
    const uint##bits##_t *f = (const uint##bits##_t *)(const void *)from;      \
    for (int64_t i = 0; i < count; ++i)                                        \
      t[i] = f[ids[i]];                                                        \
  }                                                                            \
  static void place_row_##bits(char *to, const char *from, const int32_t *ids, \
                               int64_t count) {                                \
    uint##bits##_t *t = (uint##bits##_t *)(void *)to;                          \
    const uint##bits##_t *f = (const uint##bits##_t *)(const void *)from;      \
    for (int64_t i = 0; i < count; ++i)                                        \
      t[ids[i]] = f[i];                                                        \
  }
COPY_ROWS(8)
COPY_ROWS(16)
COPY_ROWS(32)
COPY_ROWS(64)

static void copy_row(char *to, const char *from, part columns, int width) {
  size_t bytes = (size_t)width;
  if (!columns.ids)
    memcpy(to, from + columns.first * width, (size_t)columns.count * bytes);
  else if (width == 1)
    copy_row_8(to, from, columns.ids, columns.count);
  else if (width == 2)
    copy_row_16(to, from, columns.ids, columns.count);
  else if (width == 4)
    copy_row_32(to, from, columns.ids, columns.count);
  else
    copy_row_64(to, from, columns.ids, columns.count);
}

static int64_t row_at(part rows, int64_t i) {
  return rows.ids ? rows.ids[i] : rows.first + i;
}

/// Packs a part of a matrix into rows of `to_ld` elements; what is beyond the
/// part, up to `padded` rows, is 0.
static void pack(char *to, int64_t to_ld, int64_t padded, const char *from,
                 int64_t from_ld, part rows, part columns, int width) {
#pragma omp parallel for
  for (int64_t i = 0; i < padded; ++i) {
    char *row = to + i * to_ld * width;
    int64_t live = i < rows.count ? columns.count : 0;
    if (live)
      copy_row(row, from + row_at(rows, i) * from_ld * width, columns, width);
    memset(row + live * width, 0, (size_t)((to_ld - live) * width));
  }
}

static void add_f32(char *to, const char *from, int64_t at, int64_t count) {
  float *t = (float *)(void *)to + at;
  const float *f = (const float *)(const void *)from;
  for (int64_t i = 0; i < count; ++i)
    t[i] += f[i];
}

static void add_i32(char *to, const char *from, int64_t at, int64_t count) {
  int32_t *t = (int32_t *)(void *)to + at;
  const int32_t *f = (const int32_t *)(const void *)from;
  for (int64_t i = 0; i < count; ++i)
    t[i] += f[i];
}

static void add_f64(char *to, const char *from, int64_t at, int64_t count) {
  double *t = (double *)(void *)to + at;
  const double *f = (const double *)(const void *)from;
  for (int64_t i = 0; i < count; ++i)
    t[i] += f[i];
}

/// Adds a row where that is possible (see can_add).
static void add_row(char *to, const char *from, part columns, DLDataType type) {
  void (*add)(char *, const char *, int64_t, int64_t) =
      !dtype_is_float(type) ? add_i32
      : type.bits == 64     ? add_f64
                            : add_f32;
  int width = type.bits / 8;
  if (!columns.ids)
    add(to, from, columns.first, columns.count);
  for (int64_t i = 0; columns.ids && i < columns.count; ++i)
    add(to, from + i * width, columns.ids[i], 1);
}

static bool can_add(DLDataType type) {
  return (dtype_is_float(type) && type.bits >= 32) ||
         (type.code == PIT_DTYPE_INT && type.bits == 32);
}

static void place_row(char *to, const char *from, part columns, int width) {
  if (!columns.ids)
    memcpy(to + columns.first * width, from, (size_t)(columns.count * width));
  else if (width == 1)
    place_row_8(to, from, columns.ids, columns.count);
  else if (width == 2)
    place_row_16(to, from, columns.ids, columns.count);
  else if (width == 4)
    place_row_32(to, from, columns.ids, columns.count);
  else
    place_row_64(to, from, columns.ids, columns.count);
}

/// Writes or adds a packed part to where it belongs.
static void unpack(char *to, int64_t to_ld, const char *from, int64_t from_ld,
                   part rows, part columns, DLDataType type, bool add) {
  int width = type.bits / 8;
#pragma omp parallel for
  for (int64_t i = 0; i < rows.count; ++i) {
    char *row = to + row_at(rows, i) * to_ld * width;
    const char *packed = from + i * from_ld * width;
    if (add)
      add_row(row, packed, columns, type);
    else
      place_row(row, packed, columns, width);
  }
}

//===----------------------------------------------------------------------===//
// Which are live
//===----------------------------------------------------------------------===//

// The bits but the sign, which does not make a zero live.
#define MARK_ROW(bits)                                                         \
  static void mark_row_##bits(const char *row, int64_t count, uint64_t mask,   \
                              uint8_t *flags) {                                \
    const uint##bits##_t *at = (const uint##bits##_t *)(const void *)row;      \
    uint##bits##_t wanted = (uint##bits##_t)mask;                              \
    for (int64_t i = 0; i < count; ++i)                                        \
      flags[i] |= (at[i] & wanted) != 0;                                       \
  }
MARK_ROW(8)
MARK_ROW(16)
MARK_ROW(32)
MARK_ROW(64)

static void mark_row(const char *row, int64_t count, DLDataType type,
                     uint8_t *flags) {
  uint64_t all = ~(uint64_t)0 >> (64 - type.bits);
  uint64_t mask = dtype_is_float(type) ? all >> 1 : all;
  if (type.bits == 8)
    mark_row_8(row, count, mask, flags);
  else if (type.bits == 16)
    mark_row_16(row, count, mask, flags);
  else if (type.bits == 32)
    mark_row_32(row, count, mask, flags);
  else
    mark_row_64(row, count, mask, flags);
}

static int64_t list_ids(const uint8_t *flags, int64_t count, int32_t *ids) {
  int64_t live = 0;
  for (int64_t i = 0; i < count; ++i) {
    ids[live] = (int32_t)i;
    live += flags[i] != 0;
  }
  return live;
}

/// Lists what of the axis is live in the columns [first, first + count) of a
/// matrix whose rows are the axis.
static int64_t live_rows(gather *g, const char *data, int64_t rows, int64_t ld,
                         int64_t first, int64_t count, DLDataType type) {
  int width = type.bits / 8;
#pragma omp parallel for
  for (int64_t i = 0; i < rows; ++i) {
    // Part by part: most rows show early that they are live.
    enum { PART = 256 };
    uint8_t flags[PART];
    g->flags[i] = 0;
    for (int64_t at = 0; at < count && !g->flags[i]; at += PART) {
      int64_t length = count - at < PART ? count - at : PART;
      memset(flags, 0, (size_t)length);
      mark_row(data + (i * ld + first + at) * width, length, type, flags);
      g->flags[i] = memchr(flags, 1, (size_t)length) != NULL;
    }
  }
  return list_ids(g->flags, rows, g->ids);
}

/// The same in rows [first, first + count), whose columns are the axis.
static int64_t live_columns(gather *g, const char *data, int64_t columns,
                            int64_t ld, int64_t first, int64_t count,
                            DLDataType type) {
  int width = type.bits / 8;
  enum { PART = 1024 };
#pragma omp parallel for
  for (int64_t at = 0; at < columns; at += PART) {
    int64_t length = columns - at < PART ? columns - at : PART;
    memset(g->flags + at, 0, (size_t)length);
    for (int64_t i = first; i < first + count; ++i)
      mark_row(data + (i * ld + at) * width, length, type, g->flags + at);
  }
  return list_ids(g->flags, columns, g->ids);
}

//===----------------------------------------------------------------------===//
// A product with one sparse operand
//===----------------------------------------------------------------------===//

/// The dimensions of a product.
enum { DIM_M, DIM_N, DIM_K };

static int dim_of(char name) {
  return name == 'm' ? DIM_M : name == 'n' ? DIM_N : DIM_K;
}

/// Of A, B and C, which dimensions their rows and columns are.
static const int row_dim[3] = {DIM_M, DIM_K, DIM_M};
static const int column_dim[3] = {DIM_K, DIM_N, DIM_N};

static int64_t padded(int64_t count) { return (count + 31) / 32 * 32; }

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
  *used_ld = x == 0 ? s->k : s->n;
  pack(g->packed[x], *used_ld, x == 0 ? s->m : s->k, data, ld, rows, columns,
       width);
  return g->packed[x];
}

/// Computes a block: the parts of m, n and k, one of which ids list.
static bool run_block(gather *g, const char *a, const char *b, char *c,
                      const part *parts, bool add) {
  const problem *p = g->problem;
  const extents *e = &p->sizes;
  // Few sizes, so that products are prepared before they are timed.
  int64_t counts[3];
  for (int d = 0; d < 3; ++d)
    counts[d] = parts[d].ids ? padded(parts[d].count) : parts[d].count;
  gemm_shape s;
  memset(&s, 0, sizeof(s)); // shapes are compared by their bytes
  s.batch = 1;
  s.m = counts[DIM_M];
  s.n = counts[DIM_N];
  s.k = counts[DIM_K];
  s.type = p->type;
  s.result_type = p->result_type;
  const char *packed_a = operand(g, 0, a, e->k, parts, &s, &s.lda);
  const char *packed_b = operand(g, 1, b, e->n, parts, &s, &s.ldb);
  part rows = parts[DIM_M], columns = parts[DIM_N];
  bool in_place = !rows.ids && !columns.ids && !add;
  s.ldc = in_place ? e->n : s.n;
  int width = p->result_type.bits / 8;
  char *product =
      in_place ? c + (rows.first * e->n + columns.first) * width : g->packed[2];
  void *gemm = prepare(g, &s);
  if (!gemm || !g->library->run(gemm, packed_a, packed_b, product))
    return false;
  if (!in_place)
    unpack(c, e->n, product, s.ldc, rows, columns, p->result_type, add);
  return true;
}

/// Sets a block of the result to 0.
static void clear(gather *g, part rows, part columns) {
  int64_t width = g->problem->result_type.bits / 8, ld = g->problem->sizes.n;
  char *c = g->result.dl.data;
  for (int64_t i = 0; i < rows.count; ++i)
    memset(c + ((rows.first + i) * ld + columns.first) * width, 0,
           (size_t)(columns.count * width));
}

static bool run_product(void *user, int32_t pattern) {
  gather *g = user;
  const problem *p = g->problem;
  const case_sparse *sparse = &p->from->sparse;
  const int64_t sizes[3] = {p->sizes.m, p->sizes.n, p->sizes.k};
  const char *a = problem_data(p, pattern, 0), *b = problem_data(p, pattern, 1);
  int x = sparse->operand - 'A', axis = dim_of(sparse->axis);
  const DLTensor *marked = problem_args(p, pattern)[x];
  bool axis_is_row = row_dim[x] == axis;
  int group = axis_is_row ? column_dim[x] : row_dim[x];
  int64_t block = sparse->block ? sparse->block : sizes[group];
  bool add = group == DIM_K && block < sizes[group];
  char *c = g->result.dl.data;
  // Blocks of the other axes do not write all that is theirs.
  bool covers = axis == DIM_K;
  if (!covers)
    memset(c, 0, tensor_bytes(&g->result));
  for (int64_t at = 0; at < sizes[group]; at += block) {
    int64_t count = sizes[group] - at < block ? sizes[group] - at : block;
    part parts[3];
    for (int d = 0; d < 3; ++d)
      parts[d] = (part){.count = sizes[d]};
    parts[group] = (part){.first = at, .count = count};
    int64_t ld = sizes[column_dim[x]];
    int64_t live = axis_is_row ? live_rows(g, marked->data, sizes[axis], ld, at,
                                           count, marked->dtype)
                               : live_columns(g, marked->data, sizes[axis], ld,
                                              at, count, marked->dtype);
    parts[axis] = (part){.count = live, .ids = g->ids};
    if (!live && covers)
      clear(g, parts[DIM_M], parts[DIM_N]);
    if (live && !run_block(g, a, b, c, parts, add))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Making it
//===----------------------------------------------------------------------===//

/// Room for a packed operand and for flags, whatever is live.
static bool make_room(gather *g) {
  const extents *e = &g->problem->sizes;
  size_t m = (size_t)padded(e->m), n = (size_t)padded(e->n),
         k = (size_t)padded(e->k), most = m > n ? m : n;
  most = most > k ? most : k;
  size_t width = g->problem->type.bits / 8;
  size_t bytes[3] = {m * k * width, k * n * width,
                     m * n * (g->problem->result_type.bits / 8)};
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

/// True if the library has products of the problem's types.
static bool has_products(const problem *p, const gemm_library *library) {
  gemm_shape shape = {.batch = 1,
                      .m = 32,
                      .n = 32,
                      .k = 32,
                      .lda = 32,
                      .ldb = 32,
                      .ldc = 32,
                      .type = p->type,
                      .result_type = p->result_type};
  void *gemm = library->create(&shape);
  if (gemm)
    library->destroy(gemm);
  return gemm != NULL;
}

peer_answer gather_make(const problem *p, const gemm_library *library,
                        const char *name, contender *made) {
  if (p->from->kind != CASE_MATMUL || p->sizes.batch != 1 ||
      !p->from->sparse.operand || !has_products(p, library))
    return PEER_DECLINED;
  // Blocks of a product's summed dimension are added up.
  if (!can_add(p->result_type))
    return PEER_DECLINED;
  gather *g = calloc(1, sizeof(*g));
  if (!g) {
    tool_error("out of memory");
    return PEER_FAILED;
  }
  g->problem = p;
  g->library = library;
  if (!make_room(g) || !problem_init_result(p, &g->result)) {
    destroy(g);
    return PEER_FAILED;
  }
  *made = (contender){.name = name,
                      .run = run_product,
                      .destroy = destroy,
                      .state = g,
                      .result = &g->result};
  return PEER_MADE;
}
