//===- LiveFractions.c - Live micro-tiles of many kinds, from a bitmap ----===//
//
// Two kernels count for h x 1 and 1 x w with h and w of 1, 2, 4, ..., 128 at
// once: the micro-tiles of each group that are live, and what that makes of all
// groups.
//
//===----------------------------------------------------------------------===//

#include "Team.h"

enum { TILE_LOG2 = 7, TILE = 1 << TILE_LOG2, TILE_WORDS = TILE / 32 };

/// A warp exchanges squares of `distance` lanes by bits across the diagonal;
/// `low` are the bits of the left ones.
PIT_DEVICE uint32_t swap_bits(uint32_t x, uint32_t distance, uint32_t low) {
  uint32_t y = shuffle_xor(x, distance);
  bool is_lower = (thread() & distance) != 0;
  uint32_t mask = is_lower ? ~low : low;
  uint32_t moved = is_lower ? y >> distance : y << distance;
  return (x & mask) | (moved & ~mask);
}

/// A warp turns a word of each of 32 rows, lane by lane, into one of each of 32
/// columns.
PIT_DEVICE uint32_t transpose_bits(uint32_t x) {
  x = swap_bits(x, 16, 0x0000ffff);
  x = swap_bits(x, 8, 0x00ff00ff);
  x = swap_bits(x, 4, 0x0f0f0f0f);
  x = swap_bits(x, 2, 0x33333333);
  return swap_bits(x, 1, 0x55555555);
}

/// A warp puts a of two lanes together in the one, and b in the other, whose
/// number has the bit `distance`.
PIT_DEVICE uint32_t merge(uint32_t a, uint32_t b, uint32_t distance) {
  bool is_second = (thread() & distance) != 0;
  return (is_second ? b : a) | shuffle_xor(is_second ? a : b, distance);
}

/// The x of both lanes of a warp, and their sum.
PIT_DEVICE uint32_t either(uint32_t x, uint32_t distance) {
  return x | shuffle_xor(x, distance);
}
PIT_DEVICE uint32_t sum_of_both(uint32_t x, uint32_t distance) {
  return x + shuffle_xor(x, distance);
}

PIT_DEVICE uint32_t count_words(const uint32_t *words) {
  return popcount(words[0]) + popcount(words[1]) +
         (popcount(words[2]) + popcount(words[3]));
}

/// Bit `from` of the lane's number at place `to`.
PIT_DEVICE uint32_t lane_bit(uint32_t from, uint32_t to) {
  return (lane() >> from & 1) << to;
}

/// The counts of groups that a warp adds to: those of windows from row `first`
/// on.
typedef struct window_counts {
  uint32_t *counts;
  uint32_t padded, first;
} window_counts;

/// The place of the counts of windows of 2^level rows.
PIT_DEVICE uint64_t level_place(uint32_t padded, uint32_t level) {
  uint64_t twice = (uint64_t)padded * 2;
  return twice - (twice >> level);
}

/// Adds live micro-tiles to group `number` of the warp's windows of 2^level
/// rows, if the lane `adds`.
PIT_DEVICE void add_count(const window_counts *c, uint32_t level,
                          uint32_t number, uint32_t n, bool adds) {
  if (adds && n != 0)
    atomic_add(&c->counts[level_place(c->padded, level) +
                          ((c->first >> level) + number)],
               n);
}

/// Words of a tile: i has 32 columns of row 32 j + lane.
typedef struct tile {
  uint32_t words[TILE_WORDS][TILE_WORDS]; ///< [rows][columns]
} tile;

/// A warp counts for windows of 1, 2, ..., 128 rows.
///
/// Rows are merged by one bit of their number after the other, those of the
/// lane from the lowest. With each, a lane keeps half of the words that two
/// lanes have in common, as long as there are two: so a bit of the lane's
/// number becomes one of that of rows (the first two), or of columns.
PIT_DEVICE void count_windows(const tile *x, const window_counts *c) {
  // 1 row: lane.
#pragma unroll
  for (uint32_t i = 0; i < 4; ++i)
    add_count(c, 0, lane() + 32 * i, count_words(x->words[i]), true);

  // 2 rows: bit 0 of the lane is bit 0 of the rows.
  uint32_t v1[2][4], v2[4];
#pragma unroll
  for (uint32_t i = 0; i < 2; ++i) {
#pragma unroll
    for (uint32_t j = 0; j < 4; ++j)
      v1[i][j] = merge(x->words[2 * i][j], x->words[2 * i + 1][j], 1);
  }
  uint32_t pair = (lane() >> 1) + lane_bit(0, 4);
  add_count(c, 1, pair, count_words(v1[0]), true);
  add_count(c, 1, pair + 32, count_words(v1[1]), true);

  // 4 rows: bit 1 of the lane is bit 1 of the rows.
#pragma unroll
  for (uint32_t j = 0; j < 4; ++j)
    v2[j] = merge(v1[0][j], v1[1][j], 2);
  add_count(c, 2, (lane() >> 2) + lane_bit(0, 3) + lane_bit(1, 4),
            count_words(v2), true);

  // 8 rows: bit 2 of the lane is bit 1 of the columns.
  uint32_t v30 = merge(v2[0], v2[2], 4), v31 = merge(v2[1], v2[3], 4);
  uint32_t n3 = sum_of_both(popcount(v30) + popcount(v31), 4);
  add_count(c, 3, (lane() >> 3) + lane_bit(0, 2) + lane_bit(1, 3), n3,
            (lane() & 4) == 0);

  // 16 rows: bit 3 of the lane is bit 0 of the columns. All that follows is
  // merged whole. The counts, at most 128 each, are added up as bytes of one
  // word.
  uint32_t v4 = merge(v30, v31, 8), v5 = either(v4, 16), v6 = either(v5, 1),
           v7 = either(v6, 2);
  uint32_t n = popcount(v4) + (popcount(v5) << 8) +
               ((popcount(v6) << 16) + (popcount(v7) << 24));
  n = sum_of_both(sum_of_both(n, 4), 8);
  add_count(c, 4, (lane() >> 4) + lane_bit(0, 1) + lane_bit(1, 2), n & 255,
            (lane() & 12) == 0);
  add_count(c, 5, lane(), n >> 8 & 255, lane() < 4);
  add_count(c, 6, lane() >> 1, n >> 16 & 255, lane() < 4 && lane() % 2 == 0);
  add_count(c, 7, 0, n >> 24, lane() == 0);
}

/// Two words, from an even one on, of a row; 0 if there are none.
typedef uint32_t words2 __attribute__((ext_vector_type(2)));
PIT_DEVICE words2 load_two(const pit_live_fraction_tiles_params *p,
                           uint32_t row, uint32_t at) {
  if (row >= (uint32_t)p->rows || at >= (uint32_t)p->words)
    return 0;
  typedef unsigned unsigned2 __attribute__((ext_vector_type(2)));
  return __nvvm_ldg_ui2(
      (const unsigned2 *)&p->bits[(uint64_t)row * (uint32_t)p->words + at]);
}

PIT_DEVICE tile load_tile(const pit_live_fraction_tiles_params *p,
                          uint32_t down, uint32_t side) {
  tile t;
#pragma unroll
  for (uint32_t i = 0; i < TILE_WORDS; ++i) {
#pragma unroll
    for (uint32_t j = 0; j < TILE_WORDS; j += 2) {
      words2 two = load_two(p, (down << TILE_LOG2) + i * 32 + lane(),
                            side * TILE_WORDS + j);
      t.words[i][j] = two.x;
      t.words[i][j + 1] = two.y;
    }
  }
  return t;
}

PIT_DEVICE tile transpose_tile(const tile *from) {
  tile t;
#pragma unroll
  for (uint32_t i = 0; i < TILE_WORDS; ++i) {
#pragma unroll
    for (uint32_t j = 0; j < TILE_WORDS; ++j)
      t.words[j][i] = transpose_bits(from->words[i][j]);
  }
  return t;
}

PIT_KERNEL(pit_live_fraction_tiles) {
  pdl_launch_dependents();
  pdl_wait();
  uint32_t across = (uint32_t)p.across;
  for (uint32_t number = grid_warp(); (int32_t)number < p.tiles;
       number += grid_warps()) {
    uint32_t down = number / across, side = number - down * across;
    tile rows = load_tile(&p, down, side);
    window_counts of_rows = {p.row_counts, (uint32_t)p.padded_rows,
                             down << TILE_LOG2};
    count_windows(&rows, &of_rows);
    tile columns = transpose_tile(&rows);
    window_counts of_columns = {p.column_counts, (uint32_t)p.padded_columns,
                                side << TILE_LOG2};
    count_windows(&columns, &of_columns);
  }
}

PIT_KERNEL(pit_live_fraction_sums) {
  pdl_launch_dependents();
  pdl_wait();
  enum { LEVELS = 8, WHOLE = 4 * LEVELS };
  uint32_t kind = block_y(), level = kind % LEVELS, which = kind / LEVELS;
  uint32_t padded = (uint32_t)(which == 0 ? p.padded_rows : p.padded_columns);
  const uint32_t *counts = which == 0 ? p.row_counts : p.column_counts;
  counts += level_place(padded, level);
  int64_t sum = 0;
  uint32_t most = 0, some = 0;
  for (uint32_t g = block() * PIT_INDEX_THREADS + thread();
       (int32_t)g < (int32_t)(padded >> level);
       g += num_blocks() * PIT_INDEX_THREADS) {
    uint32_t n = counts[g];
    sum += n;
    most = n > most ? n : most;
    some += n != 0;
  }
  sum = (int64_t)block_scan_64((uint64_t)sum).all;
  int64_t fullest = block_max(most);
  uint32_t live = block_scan(some).all;
  if (thread() != 0)
    return;
  atomic_add_64(&p.results[2 * kind], sum);
  atomic_max_64(&p.results[2 * kind + 1], fullest);
  if (level == 0)
    atomic_add_64(&p.results[WHOLE + which], live);
}

PIT_KERNEL(pit_live_fraction_groups) {
  pdl_launch_dependents();
  pdl_wait();
  int64_t sum = 0, most = 0;
  for (uint32_t g = grid_warp(); (int32_t)g < p.groups; g += grid_warps()) {
    const uint32_t *words = p.bits + (uint64_t)g * (uint32_t)p.words;
    uint32_t mine = 0;
    for (uint32_t w = lane(); (int32_t)w < p.words; w += WARP)
      mine += popcount(words[w]);
    uint32_t all = shuffle_from(warp_scan(mine), LAST_LANE);
    sum += all;
    most = max_64(most, all);
  }
  if (lane() == 0) {
    atomic_add_64(&p.results[0], sum);
    atomic_max_64(&p.results[1], most);
  }
}
