//===- IndexPacked.c - Lists of micro-tiles, and their values -------------===//
//
// A matrix of elements of 2 bytes is read once: a thread keeps 16 bytes of 8,
// 16 or 32 rows in registers until it knows where the live ones of its 8
// columns go. The blocks of a group are a cluster; each tells the others how
// many it has. From sm_90 on.
//
//===----------------------------------------------------------------------===//

#include "Index.h"
#include "Values.h"

#if __CUDA_ARCH__ >= 900

enum { MAX_CLUSTER = 8, COLUMNS = 8, MAX_PACKED_ROWS = 32 };

PIT_SHARED uint32_t packed_bits[PIT_INDEX_THREADS];
PIT_SHARED uint32_t piece_sums[TEAM_WARPS];
/// By the blocks of the cluster.
PIT_SHARED uint32_t cluster_sums[MAX_CLUSTER];

/// A block stores x in the shared memory of another block of its cluster.
PIT_DEVICE void store_in_block(PIT_SHARED_POINTER uint32_t *to, uint32_t rank,
                               uint32_t x) {
  uint64_t there;
  __asm__ volatile("mapa.shared::cluster.u64 %0, %1, %2;"
                   : "=l"(there)
                   : "l"(to), "r"(rank));
  __asm__ volatile("st.shared::cluster.b32 [%0], %1;" ::"l"(there), "r"(x)
                   : "memory");
}

/// The sum of those of `count` numbers before number `at`, and of all.
PIT_DEVICE sums_32 sum_before(const PIT_SHARED_POINTER uint32_t *numbers,
                              uint32_t at, uint32_t count) {
  sums_32 sums = {0, 0};
  for (uint32_t i = 0; i < count; ++i) {
    sums.before += i < at ? numbers[i] : 0;
    sums.all += numbers[i];
  }
  return sums;
}

/// A thread's part of the matrix.
typedef struct columns {
  words4 rows[MAX_PACKED_ROWS]; ///< as many as the kernel has, of 8 elements
  uint32_t live;                ///< columns that differ in any of them
} columns;

/// A thread reads 16 bytes of each of the `height` rows from `first` on. Rows
/// from `end` on are those of zeros.
PIT_DEVICE columns load_columns(const pit_cuda_values *v, int64_t byte,
                                int64_t first, int64_t end, int32_t height) {
  pattern pattern = get_pattern(&v->pattern);
  // The last row stands in for those behind it: it is of this group, too.
  int64_t base = min_64(first, end - 1), most = end - 1 - base;
  int64_t from = base * v->row_stride + byte;
  columns c;
  words4 differs = 0;
#pragma unroll
  for (int32_t r = 0; r < height; ++r) {
    c.rows[r] = load_words4(v->data, from + min_64(r, most) * v->row_stride);
    differs |= c.rows[r] ^ pattern.background;
  }
  if (end - first < height) {
#pragma unroll
    for (int32_t r = 0; r < height; ++r)
      if (r >= end - first)
        c.rows[r] = 0;
  }
  c.live = live_elements(live_words(differs, &pattern), 1);
  return c;
}

/// The bits that any of the warps of a thread's columns has found.
PIT_DEVICE uint32_t join_parts(uint32_t found, uint32_t part, uint32_t parts) {
  if (parts == 1)
    return found;
  packed_bits[thread()] = found;
  barrier();
  uint32_t first = thread() - part * WARP, live = 0;
  for (uint32_t p = 0; p < parts; ++p)
    live |= packed_bits[first + p * WARP];
  return live;
}

/// Element c of a row.
PIT_DEVICE uint32_t get_element(words4 row, int32_t c) {
  uint32_t word = row[c / 2];
  return c % 2 == 0 ? word & 0xffff : word >> 16;
}

/// Stores column c, all of its rows as neighbours.
PIT_DEVICE void store_column(const columns *columns, int32_t c, int32_t height,
                             words4 *to) {
#pragma unroll
  for (int32_t q = 0; q < height / 8; ++q) {
    words4 eight;
#pragma unroll
    for (int32_t w = 0; w < 4; ++w) {
      const words4 *rows = &columns->rows[8 * q + 2 * w];
      eight[w] = get_element(rows[0], c) | get_element(rows[1], c) << 16;
    }
    to[q] = eight;
  }
}

/// A cluster lists and packs a group. `height` is known where this becomes part
/// of a kernel.
PIT_DEVICE void list_packed(const pit_index_packed_params *p, int32_t height) {
  // The next kernel does not start before: its blocks would come to where those
  // of this one have ended, and hold the others up.
  pdl_wait();
  // Before a block stores into another, that has to be there.
  __nvvm_barrier_cluster_arrive_relaxed();
  uint32_t cluster = (uint32_t)p->cluster;
  uint32_t group = block() / cluster, rank = block() % cluster;
  uint32_t parts_log2 = (uint32_t)p->parts_log2, parts = 1u << parts_log2;
  uint32_t part = warp() & (parts - 1), own_piece = warp() >> parts_log2;
  uint32_t pieces = num_threads() / WARP >> parts_log2;
  uint32_t at_16 = (rank * pieces + own_piece) * WARP + lane();
  int32_t byte = (int32_t)(at_16 * sizeof(words4));
  bool inside = byte < p->values.row_bytes;
  int64_t group_rows = parts * (int64_t)height;
  int64_t part_row = part * (int64_t)height;
  columns columns =
      load_columns(&p->values, inside ? byte : 0, group * group_rows + part_row,
                   p->rows, height);
  uint32_t live = join_parts(inside ? columns.live : 0, part, parts);

  // Positions: in the warp, in the block, in the cluster.
  uint32_t ones = popcount(live), upto = warp_scan(ones);
  if (lane() == LAST_LANE && part == 0)
    piece_sums[own_piece] = upto;
  barrier();
  sums_32 in_block = sum_before(piece_sums, own_piece, pieces);
  __nvvm_barrier_cluster_wait();
  if (thread() < cluster)
    store_in_block(&cluster_sums[rank], thread(), in_block.all);
  __nvvm_barrier_cluster_arrive();
  __nvvm_barrier_cluster_wait();
  sums_32 in_cluster = sum_before(cluster_sums, rank, cluster);
  int64_t place = group * p->extent;
  if ((thread() | rank) == 0) {
    add_ids(p->arrays.copy, in_cluster.all);
    tell_group(&p->arrays, group, (uint32_t)p->groups, place, in_cluster.all);
  }

  int64_t position =
      place + (in_cluster.before + in_block.before + (upto - ones));
#pragma unroll
  for (int32_t c = 0; c < COLUMNS; ++c) {
    uint32_t bit = 1u << c;
    if ((live & bit) == 0)
      continue;
    int64_t to = position + popcount(live & (bit - 1));
    if (part == 0)
      p->arrays.ids[to] = (int32_t)(at_16 * COLUMNS + (uint32_t)c);
    uint16_t *values = (uint16_t *)p->packed + to * group_rows + part_row;
    store_column(&columns, c, height, (words4 *)values);
  }
}

PIT_KERNEL(pit_index_packed_8) { list_packed(&p, 8); }
PIT_KERNEL(pit_index_packed_16) { list_packed(&p, 16); }
PIT_KERNEL(pit_index_packed_32) { list_packed(&p, 32); }

PIT_KERNEL(pit_index_begin) {
  pdl_wait();
  begin_copy(&p.head, p.copy);
}

#endif
