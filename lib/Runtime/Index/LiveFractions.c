//===- LiveFractions.c - How many micro-tiles of each kind are live -------===//
//
// A pyramid of bitmaps: one for each size of micro-tiles, with one bit a
// micro-tile, made of the bitmap with the next smaller ones (the root is that
// of the elements). Rows are ORed, bits of a row merged. A bitmap serves
// candidates of every axis along which its micro-tiles have one element: the
// groups are rows or columns of bits, whose ones are counted.
//
//===----------------------------------------------------------------------===//

#include "Bitmap.h"
#include "Core/Parallel.h"
#include "IndexScan.h"

#include <string.h>

/// A bitmap of the pyramid. Nodes are a tree; memory is that of the path to the
/// root.
typedef struct node {
  int64_t size[PIT_MAX_RANK];  ///< of a micro-tile, at most the extent
  int64_t shape[PIT_MAX_RANK]; ///< micro-tiles along each dimension
  int64_t rows, row_words;
  int64_t offset; ///< of the words in the pyramid's memory
  const uint64_t *words;
  int32_t parent, first_child, next_sibling;
} node;

enum {
  NO_NODE = -1,
  /// Words of a row that are merged by a factor at once.
  COLUMN_BLOCK_WORDS = 64
};

typedef struct live_pyramid {
  pit_context *context;
  const pit_bitmap *bitmap;
  node *nodes;
  int32_t num_nodes;
  pit_index *indices;        ///< of each candidate; resolved
  int32_t *node_of;          ///< each candidate; NO_NODE: it is scanned
  pit_live_fraction *result; ///< of each candidate
} live_pyramid;

//===----------------------------------------------------------------------===//
// The tree
//===----------------------------------------------------------------------===//

static void set_size(const live_pyramid *c, node *n, int32_t dim,
                     int64_t size) {
  n->size[dim] = size;
  n->shape[dim] = pit_ceil_div(c->bitmap->shape[dim], size);
  int32_t last = c->bitmap->rank - 1;
  n->row_words = pit_ceil_div(n->shape[last], 64);
  n->rows = 1;
  for (int32_t d = 0; d < last; ++d)
    n->rows *= n->shape[d];
}

/// The node with these sizes; made if there is none.
static int32_t find_or_add(live_pyramid *c, const node *wanted) {
  size_t bytes = (size_t)c->bitmap->rank * sizeof(*wanted->size);
  for (int32_t i = 0; i < c->num_nodes; ++i)
    if (memcmp(c->nodes[i].size, wanted->size, bytes) == 0)
      return i;
  c->nodes[c->num_nodes] = *wanted;
  c->nodes[c->num_nodes].parent = NO_NODE;
  return c->num_nodes++;
}

/// Is each micro-tile of b made of whole ones of a?
static bool is_part(const live_pyramid *c, const node *a, const node *b) {
  for (int32_t d = 0; d < c->bitmap->rank; ++d)
    if (b->size[d] != c->bitmap->shape[d] && b->size[d] % a->size[d] != 0)
      return false;
  return true;
}

/// Gives a node the smallest parent, and one for each dimension that differs.
static void find_parent(live_pyramid *c, int32_t i) {
  int32_t best = 0;
  for (int32_t j = 1; j < c->num_nodes; ++j)
    if (j != i && is_part(c, &c->nodes[j], &c->nodes[i]) &&
        c->nodes[j].rows * c->nodes[j].row_words <
            c->nodes[best].rows * c->nodes[best].row_words)
      best = j;
  node step = c->nodes[best];
  int32_t last = c->bitmap->rank - 1;
  for (int32_t d = 0; d <= last; ++d) {
    if (step.size[d] == c->nodes[i].size[d])
      continue;
    set_size(c, &step, d, c->nodes[i].size[d]);
    int32_t next = find_or_add(c, &step);
    // One that was there before finds its parent itself.
    if (c->nodes[next].parent == NO_NODE)
      c->nodes[next].parent = best;
    best = next;
  }
}

/// The node after this one, parents before their children and these before the
/// next sibling; NO_NODE after the last.
static int32_t next_node(const node *nodes, int32_t i) {
  if (nodes[i].first_child != NO_NODE)
    return nodes[i].first_child;
  while (i != NO_NODE && nodes[i].next_sibling == NO_NODE)
    i = nodes[i].parent;
  return i == NO_NODE ? NO_NODE : nodes[i].next_sibling;
}

/// Links the nodes and says where their words are. Returns how many the longest
/// path has.
static int64_t lay_out(live_pyramid *c) {
  node *nodes = c->nodes;
  for (int32_t i = 0; i < c->num_nodes; ++i)
    nodes[i].first_child = nodes[i].next_sibling = NO_NODE;
  for (int32_t i = c->num_nodes - 1; i > 0; --i) {
    node *parent = &nodes[nodes[i].parent];
    nodes[i].next_sibling = parent->first_child;
    parent->first_child = i;
  }
  int64_t longest = 0;
  for (int32_t i = next_node(nodes, 0); i != NO_NODE; i = next_node(nodes, i)) {
    const node *parent = &nodes[nodes[i].parent];
    nodes[i].offset = nodes[i].parent == 0
                          ? 0
                          : parent->offset + parent->rows * parent->row_words;
    longest =
        pit_max(longest, nodes[i].offset + nodes[i].rows * nodes[i].row_words);
  }
  return longest;
}

/// The node that has the micro-tiles of a candidate.
static int32_t add_node(live_pyramid *c, const pit_index *index) {
  node wanted = c->nodes[0];
  for (int32_t d = 0; d < index->rank; ++d) {
    int64_t extent = index->shape[d], size = index->micro_tile[d];
    if (index->step[d] != size)
      return NO_NODE;
    set_size(c, &wanted, d, size == 0 ? extent : pit_min(size, extent));
  }
  return find_or_add(c, &wanted);
}

static void plan(live_pyramid *c, int32_t count) {
  node root = {.parent = NO_NODE};
  for (int32_t d = 0; d < c->bitmap->rank; ++d)
    set_size(c, &root, d, 1);
  root.words = c->bitmap->words;
  c->nodes[0] = root;
  c->num_nodes = 1;
  for (int32_t i = 0; i < count; ++i)
    c->node_of[i] = add_node(c, &c->indices[i]);
  int32_t wanted = c->num_nodes;
  for (int32_t i = 1; i < wanted; ++i)
    if (c->nodes[i].parent == NO_NODE)
      find_parent(c, i);
}

//===----------------------------------------------------------------------===//
// From one node to the next
//===----------------------------------------------------------------------===//

typedef struct reduction {
  const pit_scan_kernels *kernels;
  const uint64_t *from;
  uint64_t *to;
  int64_t factor;        ///< micro-tiles that become one
  int64_t extent, count; ///< of these along the dimension, before and after
  int64_t from_words, to_words; ///< of a row, or of all dimensions further in
} reduction;

static void reduce_outer(void *argument, int64_t begin, int64_t end) {
  const reduction *r = argument;
  for (int64_t item = begin; item < end; ++item) {
    int64_t first = item % r->count * r->factor;
    int64_t at = item / r->count * r->extent + first;
    r->kernels->or_rows(r->from + at * r->from_words, r->from_words,
                        pit_min(r->factor, r->extent - first), r->from_words,
                        r->to + item * r->to_words);
  }
}

/// Merges by a power of two up to 64, which never straddles words.
static void merge_words(const reduction *r, const uint64_t *from,
                        uint64_t *to) {
  for (int64_t w = 0; w < r->from_words; w += COLUMN_BLOCK_WORDS) {
    uint64_t halves[2][COLUMN_BLOCK_WORDS / 2];
    int64_t n = pit_min(COLUMN_BLOCK_WORDS, r->from_words - w);
    const uint64_t *at = from + w;
    int which = 0;
    for (int64_t left = r->factor; left > 1; left /= 2, which = 1 - which) {
      uint64_t *half = left == 2 ? to + w / r->factor : halves[which];
      r->kernels->halve(at, n, half);
      at = half;
      n = (n + 1) / 2;
    }
  }
}

static void reduce_last(void *argument, int64_t begin, int64_t end) {
  const reduction *r = argument;
  if (r->factor == 2 && r->from_words % 2 == 0) {
    // Rows end with a word of the result: many are as good as one.
    r->kernels->halve(r->from + begin * r->from_words,
                      (end - begin) * r->from_words,
                      r->to + begin * r->to_words);
    return;
  }
  bool by_words = r->factor <= 64 && (r->factor & (r->factor - 1)) == 0;
  for (int64_t row = begin; row < end; ++row) {
    const uint64_t *from = r->from + row * r->from_words;
    uint64_t *to = r->to + row * r->to_words;
    if (r->count == 1) {
      uint64_t any = 0;
      for (int64_t w = 0; w < r->from_words; ++w)
        any |= from[w];
      *to = any != 0;
    } else if (by_words && r->from_words == 1) {
      uint64_t word = *from;
      for (int64_t left = r->factor; left > 1; left /= 2)
        word = pit_bits_merge_pairs(word);
      *to = word;
    } else if (by_words) {
      merge_words(r, from, to);
    } else {
      memset(to, 0, (size_t)r->to_words * sizeof(*to));
      for (int64_t i = 0; i < r->count; ++i) {
        uint64_t any = pit_bits_any(from, i * r->factor,
                                    pit_min((i + 1) * r->factor, r->extent));
        to[i / 64] |= any << (i % 64);
      }
    }
  }
}

/// Makes the words of a node of its parent's, from which it differs in one
/// dimension.
static void reduce(const live_pyramid *c, const node *from, const node *to,
                   uint64_t *words) {
  int32_t last = c->bitmap->rank - 1;
  int32_t dim = 0;
  while (from->size[dim] == to->size[dim])
    ++dim;
  bool whole = to->size[dim] == c->bitmap->shape[dim];
  reduction r = {.kernels = c->context->kernels,
                 .from = from->words,
                 .to = words,
                 .factor =
                     whole ? from->shape[dim] : to->size[dim] / from->size[dim],
                 .extent = from->shape[dim],
                 .count = to->shape[dim],
                 .from_words = from->row_words,
                 .to_words = to->row_words};
  int32_t threads = pit_threads_for(c->context, from->rows * from->row_words *
                                                    (int64_t)sizeof(*words));
  if (dim == last) {
    pit_parallel_for(threads, to->rows, reduce_last, &r);
    return;
  }
  for (int32_t d = dim + 1; d < last; ++d)
    r.from_words *= from->shape[d];
  r.to_words = r.from_words;
  pit_parallel_for(threads, to->rows * to->row_words / r.to_words, reduce_outer,
                   &r);
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

typedef struct counting {
  const pit_scan_kernels *kernels;
  const uint64_t *words;
  int64_t row_words;
  int64_t extent, inner; ///< of the axis, and words further in
  int64_t column_blocks; ///< of these
  _Atomic int64_t live, fullest;
} counting;

static void add_counts(counting *c, int64_t live, int64_t fullest) {
  atomic_fetch_add_explicit(&c->live, live, memory_order_relaxed);
  int64_t most = atomic_load_explicit(&c->fullest, memory_order_relaxed);
  while (most < fullest && !atomic_compare_exchange_weak_explicit(
                               &c->fullest, &most, fullest,
                               memory_order_relaxed, memory_order_relaxed))
    ;
}

/// Groups are rows.
static void count_rows(void *argument, int64_t begin, int64_t end) {
  counting *c = argument;
  int64_t fullest = 0;
  int64_t live = c->kernels->count_rows(c->words + begin * c->row_words,
                                        end - begin, c->row_words, &fullest);
  add_counts(c, live, fullest);
}

/// Words that are counted together: a cache line.
enum { COLUMN_WORDS = 8 };

/// Groups are columns of bits.
static void count_columns(void *argument, int64_t begin, int64_t end) {
  counting *c = argument;
  int64_t live = 0, fullest = 0;
  for (int64_t item = begin; item < end; ++item) {
    int64_t first = item % c->column_blocks * COLUMN_WORDS;
    const uint64_t *words =
        c->words + item / c->column_blocks * c->extent * c->inner + first;
    live += c->kernels->count_columns(words, c->inner, c->extent,
                                      pit_min(COLUMN_WORDS, c->inner - first),
                                      &fullest);
  }
  add_counts(c, live, fullest);
}

static void count_node(const live_pyramid *c, const node *n, int32_t axis,
                       pit_live_fraction *result) {
  counting counts = {.kernels = c->context->kernels,
                     .words = n->words,
                     .row_words = n->row_words,
                     .extent = n->shape[axis],
                     .inner = n->row_words};
  int64_t words = n->rows * n->row_words;
  int32_t last = c->bitmap->rank - 1;
  int32_t threads =
      pit_threads_for(c->context, words * (int64_t)sizeof(*n->words));
  if (axis == last) {
    pit_parallel_for(threads, n->rows, count_rows, &counts);
  } else {
    for (int32_t d = axis + 1; d < last; ++d)
      counts.inner *= n->shape[d];
    counts.column_blocks = pit_ceil_div(counts.inner, COLUMN_WORDS);
    int64_t items = words / counts.extent / counts.inner * counts.column_blocks;
    pit_parallel_for(threads, items, count_columns, &counts);
  }
  result->live = counts.live;
  result->max_count = counts.fullest;
}

/// A candidate that is no part of the pyramid: its bits are scanned as an
/// index's are.
static pit_status count_scan(pit_index_builder *builder, const live_pyramid *c,
                             const pit_index *index,
                             pit_live_fraction *result) {
  pit_rows rows;
  pit_status status = pit_rows_init_bitmap(c->context, c->bitmap, index, &rows);
  int64_t group_words = pit_words_per_group(index), words;
  if (!pit_mul(index->groups, group_words, &words))
    words = INT64_MAX;
  if (status == PIT_OK)
    status = pit_buffer_reserve(c->context, &builder->bits, words,
                                sizeof(uint64_t), "a live fraction");
  if (status != PIT_OK || words == 0)
    return status;
  pit_scan(&rows, pit_scan_threads(c->context, &rows), builder->bits.data);
  counting counts = {.kernels = c->context->kernels,
                     .words = builder->bits.data,
                     .row_words = group_words};
  pit_parallel_for(pit_threads_for(c->context, words * 8), index->groups,
                   count_rows, &counts);
  result->live = counts.live;
  result->max_count = counts.fullest;
  return PIT_OK;
}

//===----------------------------------------------------------------------===//
// All candidates
//===----------------------------------------------------------------------===//

/// Checks a candidate and sets what its shape tells.
static pit_status resolve(const live_pyramid *c, int32_t i,
                          const pit_index_spec *spec) {
  pit_index *index = &c->indices[i];
  pit_status status = pit_spec_resolve(c->context, spec, index);
  if (status != PIT_OK)
    return status;
  const pit_bitmap *bitmap = c->bitmap;
  bool same = index->rank == bitmap->rank;
  for (int32_t d = 0; same && d < index->rank; ++d)
    same = index->shape[d] == bitmap->shape[d];
  char is[PIT_DIMS_NAME_SIZE], wanted[PIT_DIMS_NAME_SIZE];
  if (!same)
    return pit_fail(c->context, PIT_ERROR_SHAPE,
                    "live fraction: candidate %d has shape %s; it must be the "
                    "bitmap's, %s",
                    i, pit_dims_name(index->shape, index->rank, is),
                    pit_dims_name(bitmap->shape, bitmap->rank, wanted));
  c->result[i] = (pit_live_fraction){.groups = index->groups,
                                     .micro_tiles = index->groups *
                                                    index->shape[index->axis]};
  return PIT_OK;
}

/// Cuts the memory of the plan.
static pit_status reserve(pit_index_builder *builder, int32_t count,
                          live_pyramid *c) {
  int64_t candidate = sizeof(pit_index) + sizeof(int32_t) +
                      (int64_t)sizeof(node) * c->bitmap->rank;
  // A node each, and those between it and its parent; the root.
  int64_t bytes = count * candidate + (int64_t)sizeof(node);
  pit_status status = pit_buffer_reserve(c->context, &builder->plan, bytes, 1,
                                         "the plan of a live fraction");
  if (status != PIT_OK)
    return status;
  c->indices = builder->plan.data;
  c->nodes = (node *)(c->indices + count);
  c->node_of = (int32_t *)(c->nodes + (int64_t)count * c->bitmap->rank + 1);
  return PIT_OK;
}

/// Sets the part of the micro-tiles that is live.
static void divide(pit_live_fraction *live_fractions, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    if (live_fractions[i].micro_tiles > 0)
      live_fractions[i].live_fraction = (double)live_fractions[i].live /
                                        (double)live_fractions[i].micro_tiles;
}

pit_status pit_count_live_fractions(pit_index_builder *builder,
                                    const pit_bitmap *bitmap,
                                    const pit_index_spec *candidates,
                                    int32_t count,
                                    pit_live_fraction *live_fractions) {
  live_pyramid c = {
      .context = builder->context, .bitmap = bitmap, .result = live_fractions};
  pit_status status = reserve(builder, count, &c);
  for (int32_t i = 0; status == PIT_OK && i < count; ++i)
    status = resolve(&c, i, &candidates[i]);
  if (status != PIT_OK || pit_bitmap_is_empty(bitmap))
    return status;
  if (bitmap->on_device) {
    status = pit_cuda_live_fractions(builder, bitmap, c.indices, count,
                                     live_fractions);
    divide(live_fractions, count);
    return status;
  }
  plan(&c, count);
  status =
      pit_buffer_reserve(c.context, &builder->pyramid, lay_out(&c),
                         sizeof(uint64_t), "the pyramid of a live fraction");
  if (status != PIT_OK)
    return status;
  for (int32_t n = 0; n != NO_NODE; n = next_node(c.nodes, n)) {
    node *at = &c.nodes[n];
    if (n > 0) {
      uint64_t *words = (uint64_t *)builder->pyramid.data + at->offset;
      reduce(&c, &c.nodes[at->parent], at, words);
      at->words = words;
    }
    for (int32_t i = 0; i < count; ++i)
      if (c.node_of[i] == n)
        count_node(&c, at, c.indices[i].axis, &live_fractions[i]);
  }
  for (int32_t i = 0; status == PIT_OK && i < count; ++i)
    if (c.node_of[i] == NO_NODE)
      status = count_scan(builder, &c, &c.indices[i], &live_fractions[i]);
  divide(live_fractions, count);
  return status;
}

pit_status pit_bitmap_live_fractions(pit_index_builder *builder,
                                     const pit_bitmap *bitmap,
                                     const pit_index_spec *candidates,
                                     int32_t count,
                                     pit_live_fraction *live_fractions) {
  if (!builder)
    return PIT_ERROR_INVALID_ARGUMENT;
  pit_context *context = builder->context;
  if (count < 0 || (count > 0 && (!candidates || !live_fractions)))
    return pit_fail(
        context, PIT_ERROR_INVALID_ARGUMENT,
        "live fraction: %d candidates at %p, their live fractions at %p", count,
        (const void *)candidates, (void *)live_fractions);
  pit_status status = pit_bitmap_check(context, bitmap);
  return status == PIT_OK && count > 0
             ? pit_count_live_fractions(builder, bitmap, candidates, count,
                                        live_fractions)
             : status;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// The largest size of a candidate that is no whole dimension.
enum { MAX_SIZE = 128 };

static void add(const pit_index_spec *spec, pit_index_spec *candidates,
                int32_t room, int32_t *count) {
  if (candidates && *count < room)
    candidates[*count] = *spec;
  ++*count;
}

int32_t pit_live_fraction_candidates(int32_t rank, const int64_t *shape,
                                     pit_index_spec *candidates, int32_t room) {
  if (rank < 1 || rank > PIT_MAX_RANK || !shape)
    return 0;
  int32_t count = 0;
  for (int32_t axis = rank - 1; axis >= 0; --axis) {
    pit_index_spec spec = {.rank = rank, .axis = axis};
    for (int32_t d = 0; d < rank; ++d) {
      spec.shape[d] = shape[d];
      spec.micro_tile[d] = 1;
    }
    add(&spec, candidates, room, &count);
    for (int32_t d = 0; d < rank; ++d) {
      if (d == axis || shape[d] < 2)
        continue;
      for (int64_t size = 2; size <= MAX_SIZE && size < shape[d]; size *= 2) {
        spec.micro_tile[d] = size;
        add(&spec, candidates, room, &count);
      }
      spec.micro_tile[d] = 0;
      add(&spec, candidates, room, &count);
      spec.micro_tile[d] = 1;
    }
    for (int32_t d = 0; d < rank; ++d)
      for (int32_t e = d + 1; e < rank; ++e) {
        if (d == axis || e == axis)
          continue;
        for (int64_t size = 2;
             size <= MAX_SIZE && size < shape[d] && size < shape[e];
             size *= 2) {
          spec.micro_tile[d] = spec.micro_tile[e] = size;
          add(&spec, candidates, room, &count);
        }
        spec.micro_tile[d] = spec.micro_tile[e] = 1;
      }
  }
  return count;
}
