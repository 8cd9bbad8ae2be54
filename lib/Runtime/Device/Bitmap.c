//===- Bitmap.c - One bit an element, and indices of that -----------------===//
//
// The bits of a row lie in words of 32, from the least significant, at
// multiples of 4 bytes. The words of a row of a bitmap (pit_bitmap) are even in
// number.
//
//===----------------------------------------------------------------------===//

#include "Lists.h"
#include "Values.h"

PIT_SHARED uint32_t thread_words[PIT_INDEX_THREADS];

PIT_KERNEL(pit_bitmap_values) {
  pdl_launch_dependents();
  pdl_wait();
  const pit_cuda_values *v = &p.values;
  split s = {(uint32_t)p.split_log2, (uint32_t)p.blocks_per_group};
  piece at = get_piece(s);
  int32_t byte = (int32_t)(at.at_16 * sizeof(words4));
  bool inside = byte < v->row_bytes;
  int64_t begin = at.group * (int64_t)p.height;
  int64_t end = min_64(begin + p.height, p.rows);
  run rows = get_run(begin, end, true, at.phase, s.log2);
  // Lanes that are outside read something else, to no effect.
  int64_t from = rows.first * v->row_stride + (inside ? byte : 0);
  int64_t stride = v->row_stride << s.log2;
  pattern pattern = get_pattern(&v->pattern);
  int32_t count = (int32_t)rows.rows;
  for (int32_t r = 0; r < count; r += BATCH_ROWS) {
    batch batch = load_batch(v->data, from, stride, r, count - 1);
    // Rows behind the last are the last once more, with the same bits.
#pragma unroll
    for (int32_t k = 0; k < BATCH_ROWS; ++k) {
      words4 x = live_words(batch.values[k] ^ pattern.background, &pattern);
      uint32_t elements = live_elements(x, v->size_log2);
      int64_t row = rows.first + ((int64_t)batch.rows[k] << s.log2);
      store_elements(inside ? elements : 0, v->size_log2, at.at_16, true, false,
                     p.bits, (uint64_t)row, (uint32_t)p.words);
    }
  }
}

/// The bits of an element of 2^size_log2 bytes.
PIT_DEVICE uint64_t load_element(const void *from, int32_t size_log2) {
  switch (size_log2) {
  case 0:
    return load_8(from);
  case 1:
    return load_16(from);
  case 2:
    return load_32(from);
  default:
    return load_64(from);
  }
}

PIT_KERNEL(pit_bitmap_elements) {
  pdl_launch_dependents();
  pdl_wait();
  enum { COLUMN_BLOCK_WORDS = 8 };
  uint32_t column_blocks = (uint32_t)p.column_blocks, words = (uint32_t)p.words;
  for (uint32_t item = grid_warp(); (int32_t)item < p.items;
       item += grid_warps()) {
    uint32_t row = item / column_blocks,
             column_block = item - row * column_blocks;
    const char *from = (const char *)p.data + row * p.row_stride;
    int32_t first = (int32_t)(column_block * COLUMN_BLOCK_WORDS * 32 + lane());
    uint64_t differs[COLUMN_BLOCK_WORDS];
    // Past the row's end comes the last element, to no effect.
#pragma unroll
    for (int32_t w = 0; w < COLUMN_BLOCK_WORDS; ++w) {
      int32_t column = min_32(first + 32 * w, p.columns - 1);
      differs[w] =
          load_element(from + (uint32_t)column * p.column_stride, p.size_log2) ^
          p.background;
    }
    // Lane j has word j.
    uint32_t own = 0;
#pragma unroll
    for (int32_t w = 0; w < COLUMN_BLOCK_WORDS; ++w) {
      bool live = (differs[w] & p.care) != 0 || p.always;
      uint32_t word = ballot(live && first + 32 * w < p.columns);
      own = lane() == (uint32_t)w ? word : own;
    }
    uint32_t at = column_block * COLUMN_BLOCK_WORDS + lane();
    if (lane() < COLUMN_BLOCK_WORDS && at < words)
      p.bits[(uint64_t)row * words + at] = own;
  }
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

PIT_DEVICE void store_word(const pit_cuda_bits *bits, uint32_t group,
                           uint32_t at, uint32_t word) {
  bits->bits[(uint64_t)group * (uint32_t)bits->words + at] = word;
}

PIT_KERNEL(pit_bits_columns) {
  begin_index(&p.begin);
  if (leaves(&p.when))
    return;
  uint32_t column_blocks = (uint32_t)p.column_blocks,
           column_block_log2 = (uint32_t)p.column_block_log2;
  uint32_t group = block() / column_blocks,
           column_block = block() - group * column_blocks;
  uint32_t in_column_block = thread() & ((1u << column_block_log2) - 1);
  uint32_t phase = thread() >> column_block_log2;
  uint32_t phases = PIT_INDEX_THREADS >> column_block_log2;
  uint32_t at = (column_block << column_block_log2) + in_column_block;
  // A row of a bitmap may have a word more than one of the mask.
  uint32_t first_id = at * 32, ids = (uint32_t)p.bits.extent;
  bool in_mask = (int32_t)first_id < (int32_t)ids;
  int64_t begin = group * p.step, end = min_64(begin + p.size, p.rows);
  int64_t stop = in_mask ? end : begin;
  const char *from = (const char *)p.data + at * INT64_C(4);
  uint32_t word = 0;
  for (int64_t r = begin + phase; r < stop; r += phases)
    word |= load_32(from + r * p.row_stride);
  thread_words[thread()] = word;
  barrier();
  if (phase != 0 || at >= (uint32_t)p.bits.words)
    return;
  for (uint32_t k = 1; k < phases; ++k)
    word |= thread_words[(k << column_block_log2) + in_column_block];
  store_word(&p.bits, group, at, word & valid_bits(first_id, ids));
}

/// A window of bits of rows.
typedef struct columns_window {
  uint32_t begin, end;            ///< columns
  uint32_t first_word, words_end; ///< that have them
} columns_window;

PIT_DEVICE columns_window get_window(const pit_bits_windows_params *p,
                                     uint32_t group) {
  int64_t first = group * p->step;
  uint32_t begin = (uint32_t)first;
  uint32_t end = (uint32_t)min_64(first + p->size, p->columns);
  return (columns_window){begin, end, begin / 32, (end + 31) / 32};
}

/// The bits of a window in word w of a row.
PIT_DEVICE uint32_t load_window(const char *row, uint32_t w,
                                columns_window window) {
  uint32_t in_window =
      valid_bits(w * 32, window.end) ^ valid_bits(w * 32, window.begin);
  return load_32(row + w * INT64_C(4)) & in_window;
}

PIT_KERNEL(pit_bits_windows) {
  begin_index(&p.begin);
  if (leaves(&p.when))
    return;
  uint32_t groups = (uint32_t)p.bits.groups;
  int32_t items = p.bits.groups * p.bits.words;
  // Warps of a block take windows that are neighbours, and so share lines.
  for (uint32_t item = grid_warp(); (int32_t)item < items;
       item += grid_warps()) {
    uint32_t at = item / groups, group = item - at * groups;
    uint32_t row = at * 32 + lane();
    columns_window window = get_window(&p, group);
    const char *from = (const char *)p.data + row * p.row_stride;
    bool is_row = (int32_t)row < (int32_t)p.bits.extent;
    uint32_t stop = is_row ? window.words_end : window.first_word;
    uint32_t any = 0;
    for (uint32_t w = window.first_word; (int32_t)w < (int32_t)stop; ++w)
      any |= load_window(from, w, window);
    uint32_t live = ballot(any != 0);
    if (lane() == 0)
      store_word(&p.bits, group, at, live);
  }
}

PIT_KERNEL(pit_bits_rows) {
  begin_index(&p.begin);
  if (leaves(&p.when))
    return;
  enum { WARP_ROWS = 32 / TEAM_WARPS };
  uint32_t groups = (uint32_t)p.bits.groups, ids = (uint32_t)p.bits.extent;
  uint32_t at = block() / groups, group = block() - at * groups;
  columns_window window = get_window(&p, group);
  uint32_t bits = 0;
  for (uint32_t k = 0; k < WARP_ROWS; ++k) {
    uint32_t number = warp() * WARP_ROWS + k;
    const char *row =
        (const char *)p.data + row_at(at * 32 + number, ids, p.row_stride);
    uint32_t any = 0;
    for (uint32_t w = window.first_word + lane();
         (int32_t)w < (int32_t)window.words_end; w += WARP)
      any |= load_window(row, w, window);
    bits |= ballot(any != 0) ? 1u << number : 0;
  }
  uint32_t word = join_warps(bits);
  if (thread() == 0)
    store_word(&p.bits, group, at, word & valid_bits(at * 32, ids));
}
