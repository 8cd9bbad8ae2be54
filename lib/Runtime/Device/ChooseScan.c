//===- ChooseScan.c - One read of a matrix for all variants ---------------===//
//
// A choice wants the live micro-tiles of heights x 1 and the live rows of a
// matrix of values: both come from one read. The matrix's bitmap may be read in
// its place, as a matrix whose elements are bits. The findings lie in the bits
// of the first index, and for the rows in as many parts as blocks read of a
// row: a row is live if it is in one of them.
//
//===----------------------------------------------------------------------===//

#include "Choose.h"
#include "Index.h"
#include "Values.h"

enum { MAX_HEIGHT = 128 };

PIT_SHARED uint32_t scans_flag;
PIT_SHARED uint32_t live_rows[MAX_HEIGHT / 32];

/// Shall a block scan? Nothing is read that the kernel before may write, but
/// for the slot: an old word of it costs a scan too many or too few.
PIT_DEVICE bool block_scans(const pit_choose_scan_params *p) {
  if (thread() == 0)
    scans_flag = is_due(p->slot, p->elapsed);
  if (thread() < MAX_HEIGHT / 32)
    live_rows[thread()] = 0;
  barrier();
  return scans_flag != 0;
}

/// The live bits of a lane's 16 bytes of rows.
typedef struct findings {
  words4 sum;    ///< as bits of the 16 bytes
  uint32_t rows; ///< as bits of the rows, at most 32
} findings;

/// A batch of rows at a time, so that as many loads are under way.
PIT_DEVICE findings or_rows(const pit_choose_scan_params *p, int64_t first,
                            int64_t stride, int32_t rows) {
  pattern pattern = get_pattern(&p->values.pattern);
  findings found = {0, 0};
  for (int32_t r = 0; r < rows; r += BATCH_ROWS) {
    batch batch = load_batch(p->values.data, first, stride, r, rows - 1);
#pragma unroll
    for (int32_t k = 0; k < BATCH_ROWS; ++k) {
      words4 x = live_words(batch.values[k] ^ pattern.background, &pattern);
      found.sum |= x;
      found.rows |= any_word(x) ? 1u << batch.rows[k] : 0;
    }
  }
  return found;
}

/// A warp notes for its block the rows in which one of its lanes has found
/// something. They are cleared before.
PIT_DEVICE void note_rows(uint32_t live, uint32_t phase, uint32_t split_log2) {
  uint32_t all = (uint32_t)__nvvm_redux_sync_or((int32_t)live, ALL_LANES);
  if ((all >> lane() & 1) == 0)
    return;
  uint32_t row = (lane() << split_log2) + phase;
  atomic_or_shared(&live_rows[row / 32], 1u << row % 32);
}

/// A lane stores the words that its 16 bytes of a bitmap are, which come after
/// `at_16` others like them. A row of the bitmap may have more words.
PIT_DEVICE void store_sixteen(words4 live, uint32_t at_16, uint32_t *row,
                              uint32_t words) {
#pragma unroll
  for (uint32_t w = 0; w < 4; ++w)
    if (at_16 * 4 + w < words)
      row[at_16 * 4 + w] = live[w];
}

/// A warp stores the bits of its piece, if there is room, and counts them.
PIT_DEVICE uint32_t store_findings(const pit_choose_scan_params *p, words4 live,
                                   piece at) {
  bool writes = at.phase == 0 && p->bits;
  uint32_t words = (uint32_t)p->words;
  if (p->values.size_log2 < 0) {
    if (writes)
      store_sixteen(live, at.at_16, p->bits + (uint64_t)at.group * words,
                    words);
    return popcount(live.x) + popcount(live.y) +
           (popcount(live.z) + popcount(live.w));
  }
  uint32_t elements = live_elements(live, p->values.size_log2);
  store_elements(elements, p->values.size_log2, at.at_16, writes, false,
                 p->bits, at.group, words);
  return popcount(elements);
}

/// Indices that nobody lists are empty.
PIT_DEVICE void begin_indices(const pit_choose_scan_params *p) {
  if (block() != 0)
    return;
  if (p->bits)
    begin_copy(&p->head, p->copy);
  if (p->row_bits)
    begin_copy(&p->row_head, p->row_copy);
}

PIT_KERNEL(pit_choose_scan) {
  pdl_launch_dependents();
  if (!block_scans(&p)) {
    // The kernel is over when that before it is; one thread is enough for that.
    if (is_grid_first())
      pdl_wait();
    return;
  }
  pdl_wait();
  begin_indices(&p);
  if (is_taken(p.after))
    return;
  const pit_cuda_values *v = &p.values;
  split s = {(uint32_t)p.split_log2, (uint32_t)p.blocks_per_group};
  piece at = get_piece(s);
  int32_t byte = (int32_t)(at.at_16 * sizeof(words4));
  int64_t begin = at.group * (int64_t)p.height;
  int64_t end = min_64(begin + p.height, p.rows);
  run rows = get_run(begin, end, byte < v->row_bytes, at.phase, s.log2);
  findings found = or_rows(&p, rows.first * v->row_stride + (uint32_t)byte,
                           v->row_stride << s.log2, (int32_t)rows.rows);
  note_rows(found.rows, at.phase, s.log2);
  words4 live = join_piece(found.sum, at.phase, s.log2);
  uint32_t ones = store_findings(&p, live, at);
  uint32_t all = block_scan(at.phase == 0 ? ones : 0).all;
  if (thread() == 0) {
    p.counts[block()] = (int32_t)all;
    atomic_add((uint32_t *)&p.state->arrived, 1);
  }
  if (p.row_bits && thread() < (uint32_t)p.height / 8) {
    const PIT_SHARED_POINTER uint8_t *eights =
        (const PIT_SHARED_POINTER uint8_t *)live_rows;
    uint8_t *to = (uint8_t *)p.row_bits + at.part * p.part_bytes + begin / 8;
    to[thread()] = eights[thread()];
  }
}
