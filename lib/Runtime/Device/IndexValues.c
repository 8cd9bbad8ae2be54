//===- IndexValues.c - Liveness of micro-tiles of a matrix of values ------===//
//
// Each kernel begins the index and writes all bits (IndexLists.c).
//
//===----------------------------------------------------------------------===//

#include "Index.h"
#include "Lists.h"
#include "Values.h"

PIT_KERNEL(pit_index_columns) {
  begin_index(&p.begin);
  if (leaves(&p.when))
    return;
  const pit_cuda_values *v = &p.values;
  split s = {(uint32_t)p.split_log2, (uint32_t)p.blocks_per_group};
  piece at = get_piece(s);
  uint32_t slices = (uint32_t)p.slices;
  uint32_t group = at.group / slices, slice = at.group % slices;
  int32_t byte = (int32_t)(at.at_16 * sizeof(words4));
  bool inside = byte < v->row_bytes;
  int64_t first_row = group * p.step;
  int64_t last_row = min_64(first_row + p.size, p.rows);
  int64_t span = (last_row - first_row + slices - 1) / slices;
  int64_t begin = first_row + slice * span;
  int64_t end = min_64(begin + span, last_row);
  run rows = get_run(begin, end, inside, at.phase, s.log2);
  int64_t from = rows.first * v->row_stride + (uint32_t)byte;
  int64_t stride = v->row_stride << s.log2;
  pattern pattern = get_pattern(&v->pattern);
  words4 differs = 0;
  for (int64_t r = 0; r < rows.rows; ++r)
    differs =
        or_differences(differs, v->data, from + r * stride, pattern.background);

  differs = join_piece(differs, at.phase, s.log2);
  uint32_t elements =
      live_elements(live_words(differs, &pattern), v->size_log2);
  store_elements(inside && begin < end ? elements : 0, v->size_log2, at.at_16,
                 at.phase == 0, slices > 1, p.bits.bits, group,
                 (uint32_t)p.bits.words);
}

PIT_KERNEL(pit_index_windows) {
  begin_index(&p.begin);
  if (leaves(&p.when))
    return;
  const pit_cuda_values *v = &p.values;
  // Blocks that run at the same time read neighbouring pieces.
  uint32_t pieces = (uint32_t)p.pieces;
  uint32_t row_block = block() / pieces, piece = block() - row_block * pieces;
  uint32_t at = row_block * TEAM_WARPS + warp(), first = at * 32;
  uint32_t ids = (uint32_t)p.bits.extent;
  int32_t byte = (int32_t)((piece * WARP + lane()) * sizeof(words4));
  bool inside = byte < v->row_bytes;
  // Lanes and rows that are outside read something else, to no effect.
  int64_t safe_byte = inside ? byte : 0;
  pattern pattern = get_pattern(&v->pattern);
  uint32_t rows = 0;
  for (uint32_t r = 0; r < 32; r += BATCH_ROWS) {
    int32_t last = (int32_t)(ids - 1);
    batch batch = load_batch(v->data, safe_byte, v->row_stride,
                             min_32((int32_t)(first + r), last), last);
#pragma unroll
    for (uint32_t k = 0; k < BATCH_ROWS; ++k) {
      words4 x = live_words(batch.values[k] ^ pattern.background, &pattern);
      rows |= any_word(x) ? 1u << (r + k) : 0;
    }
  }
  // The lanes of a window have its bits together.
  uint32_t word = inside ? rows : 0;
  uint32_t lanes_log2 = (uint32_t)p.lanes_log2;
  for (uint32_t k = 0; k < lanes_log2; ++k)
    word |= shuffle_xor(word, 1u << k);
  uint32_t window = lane() >> lanes_log2;
  uint32_t group = piece * (WARP >> lanes_log2) + window;
  uint32_t words = (uint32_t)p.bits.words;
  if (window << lanes_log2 == lane() && group < (uint32_t)p.bits.groups &&
      at < words)
    p.bits.bits[(uint64_t)group * words + at] = word & valid_bits(first, ids);
}

PIT_KERNEL(pit_index_rows) {
  begin_index(&p.begin);
  if (leaves(&p.when))
    return;
  enum { WARP_ROWS = 2, BLOCK_ROWS = WARP_ROWS * TEAM_WARPS };
  const pit_cuda_values *v = &p.values;
  uint32_t groups = (uint32_t)p.bits.groups, ids = (uint32_t)p.bits.extent;
  uint32_t at = block() / groups, group = block() - at * groups;
  uint32_t block_first = at * BLOCK_ROWS, warp_first = warp() * WARP_ROWS;
  uint32_t first = block_first + warp_first;
  int32_t begin = (int32_t)(group * (uint32_t)p.step);
  int32_t end = min_32(begin + p.size, v->row_bytes);
  pattern pattern = get_pattern(&v->pattern);
  int64_t row0 = row_at(first, ids, v->row_stride);
  int64_t row1 = row_at(first + 1, ids, v->row_stride);
  words4 sum0 = 0, sum1 = 0;
  const int32_t by = WARP * (int32_t)sizeof(words4);
  for (int32_t b = begin + (int32_t)(lane() * sizeof(words4)); b < end;
       b += by) {
    sum0 = or_differences(sum0, v->data, row0 + b, pattern.background);
    sum1 = or_differences(sum1, v->data, row1 + b, pattern.background);
  }
  uint32_t bits = 0;
  bits |= ballot(any_word(live_words(sum0, &pattern))) ? 1u << warp_first : 0;
  bits |= ballot(any_word(live_words(sum1, &pattern))) ? 2u << warp_first : 0;
  uint32_t half = join_warps(bits);
  if (thread() == 0) {
    uint32_t valid = begin < end ? valid_bits(block_first, ids) : 0;
    uint16_t *to = (uint16_t *)p.bits.bits;
    to[(uint64_t)group * (uint32_t)p.bits.words * 2 + at] =
        (uint16_t)(half & valid);
  }
}
