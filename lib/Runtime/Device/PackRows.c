//===- PackRows.c - Rows that TMA and wgmma can take ----------------------===//
//
// Copies of tensors whose rows start at multiples of 16 bytes. Bytes behind the
// end of a row are zeros. The source of a row was one, or it was a column: then
// a tile goes through shared memory.
//
//===----------------------------------------------------------------------===//

#include "Index.h"

enum {
  CHUNK = sizeof(words4),
  /// In shared memory a row of a tile has four bytes more, so that neighbours
  /// lie in other banks.
  BANK = 4,
  BYTES_SIDE = 1 << PIT_PACK_BYTES_SIDE_LOG2,
  SIDE = 1 << PIT_PACK_SIDE_LOG2,
  BYTES_TILE = BYTES_SIDE * (BYTES_SIDE + BANK),
  WORDS_TILE = SIDE * (4 * SIDE + BANK)
};

PIT_SHARED char packed_tile[BYTES_TILE > WORDS_TILE ? BYTES_TILE : WORDS_TILE];

/// Bytes from a tensor's start to that of a batch.
PIT_DEVICE int64_t batch_offset(const pit_cuda_batches *batches,
                                uint64_t batch) {
  uint64_t n1 = (uint64_t)batches->sizes[0], n2 = (uint64_t)batches->sizes[1];
  uint64_t rest = batch / n2;
  return (int64_t)(rest / n1) * batches->strides[0] +
         (int64_t)(rest % n1) * batches->strides[1] +
         (int64_t)(batch % n2) * batches->strides[2];
}

/// The element of 1, 2 or 4 bytes at `from`.
PIT_DEVICE uint32_t element_at(const char *from, int32_t size_log2) {
  return size_log2 == 0   ? load_8(from)
         : size_log2 == 1 ? load_16(from)
                          : load_32(from);
}

/// 16 bytes of a row from `chunk` on. Bytes that are not among the first
/// `limit` (at least an element) are 0.
PIT_DEVICE words4 read_chunk(const char *chunk, uint32_t limit,
                             int32_t size_log2) {
  bool whole = limit >= CHUNK;
  uint32_t size = 1u << size_log2;
  words4 words = 0;
#pragma unroll
  for (uint32_t at = 0; at < CHUNK; at += size) {
    // No branch around the load: some element is read.
    uint32_t there = whole ? at : min_u32(at, limit - size);
    uint32_t x = element_at(chunk + there, size_log2);
    words[at / 4] |= (whole || at < limit ? x : 0) << 8 * (at % 4);
  }
  return words;
}

/// A tile of the copy.
typedef struct place {
  uint64_t batch, across, down;
} place;

/// Elements of a row are neighbours. 2^wide_log2 threads lie along a row, the
/// others below each other, four times.
PIT_DEVICE void pack_as_rows(const pit_pack_rows_params *p, int32_t size_log2) {
  uint32_t wide_log2 = (uint32_t)p->wide_log2;
  uint64_t wide = UINT64_C(1) << wide_log2;
  uint64_t high = PIT_INDEX_THREADS >> wide_log2;
  uint64_t x = thread() & (wide - 1), y = thread() >> wide_log2;
  uint64_t rows = (uint64_t)p->rows, chunks = (uint64_t)p->pitch / CHUNK;
  uint64_t tile_rows = high * PIT_PACK_THREAD_ROWS;
  uint64_t across = ceil_div_64(chunks, wide);
  uint64_t down = ceil_div_64(rows, tile_rows);
  uint64_t tiles = across * down * (uint64_t)p->batches.count;
  int64_t end = p->columns << size_log2;
  for (uint64_t tile = block(); (int64_t)tile < (int64_t)tiles;
       tile += num_blocks()) {
    uint64_t tile_row = tile / across, batch = tile_row / down;
    uint64_t chunk = tile % across * wide + x;
    uint64_t above = tile_row % down * tile_rows;
    uint64_t row_end = above + tile_rows < rows ? above + tile_rows : rows;
    int64_t at = (int64_t)(chunk * CHUNK), left = end - at;
    const char *from =
        (const char *)p->from + batch_offset(&p->batches, batch) + at;
    char *to = (char *)p->to + at;
    bool whole = left >= CHUNK;
    for (uint64_t r = above + y; (int64_t)r < (int64_t)row_end; r += high) {
      if (chunk >= chunks)
        continue;
      const char *row = from + (int64_t)r * p->row_stride;
      words4 words = whole ? read_chunk(row, CHUNK, size_log2)
                           : read_chunk(row, (uint32_t)left, size_log2);
      *(words4 *)(to + (int64_t)(batch * rows + r) * p->pitch) = words;
    }
  }
}

/// Stores the low bytes of `x`.
PIT_DEVICE void put_element(uint32_t x, PIT_SHARED_POINTER char *to,
                            int32_t size_log2) {
  if (size_log2 == 0)
    *to = (char)x;
  else if (size_log2 == 1)
    *(PIT_SHARED_POINTER uint16_t *)to = (uint16_t)x;
  else
    *(PIT_SHARED_POINTER uint32_t *)to = x;
}

/// Elements of a row of the copy lie `column_stride` apart, those of a column
/// are better neighbours. By tiles of 2^side_log2 x 2^side_log2 elements.
PIT_DEVICE void pack_as_columns(const pit_pack_columns_params *p,
                                int32_t size_log2, uint32_t side_log2) {
  uint32_t side = 1u << side_log2, side_bytes = side << size_log2;
  uint32_t line = side_bytes + BANK, line_chunks = side_bytes / CHUNK;
  uint64_t rows = (uint64_t)p->rows, columns = (uint64_t)p->columns;
  uint64_t across = ceil_div_64(columns, side);
  uint64_t down = ceil_div_64(rows, side);
  uint64_t tiles = across * down * (uint64_t)p->batches.count;
  for (uint64_t tile = block(); (int64_t)tile < (int64_t)tiles;
       tile += num_blocks()) {
    // Neighbouring blocks read neighbouring pieces of the same rows.
    uint64_t tile_row = tile / down, batch = tile_row / across;
    uint64_t row0 = tile % down * side, column0 = tile_row % across * side;
    // Rows that do not exist are not written; rows end in zeros.
    uint32_t own_row = thread() & (side - 1);
    uint64_t r = row0 + own_row < rows ? row0 + own_row : rows - 1;
    uint32_t inside =
        columns - column0 < side ? (uint32_t)(columns - column0) : side;
    const char *from =
        (const char *)p->from + batch_offset(&p->batches, batch) +
        (int64_t)r * p->row_stride + (int64_t)column0 * p->column_stride;
    PIT_SHARED_POINTER char *to = packed_tile + own_row * line;
#pragma unroll 8
    for (uint32_t c = thread() >> side_log2; c < side;
         c += PIT_INDEX_THREADS >> side_log2) {
      uint32_t there = min_u32(c, inside - 1);
      uint32_t x = element_at(from + there * p->column_stride, size_log2);
      put_element(c < inside ? x : 0, to + (c << size_log2), size_log2);
    }
    barrier();
    for (uint32_t i = thread(); i < line_chunks * side;
         i += PIT_INDEX_THREADS) {
      uint32_t line_row = i / line_chunks;
      uint32_t line_byte = i % line_chunks * CHUNK;
      uint64_t to_row = row0 + line_row;
      int64_t at = (int64_t)(column0 << size_log2) + line_byte;
      if (to_row >= rows || at >= p->pitch)
        continue;
      const PIT_SHARED_POINTER uint32_t *get =
          (const PIT_SHARED_POINTER uint32_t *)(packed_tile + line_row * line +
                                                line_byte);
      words4 words = {get[0], get[1], get[2], get[3]};
      int64_t row = (int64_t)(batch * rows + to_row);
      *(words4 *)((char *)p->to + row * p->pitch + at) = words;
    }
    barrier();
  }
}

PIT_KERNEL(pit_pack_rows) {
  pdl_launch_dependents();
  pdl_wait();
  if (leaves(&p.when))
    return;
  // Sizes are known where the function becomes part of the kernel.
  if (p.size_log2 == 0)
    pack_as_rows(&p, 0);
  else if (p.size_log2 == 1)
    pack_as_rows(&p, 1);
  else
    pack_as_rows(&p, 2);
}

PIT_KERNEL(pit_pack_columns) {
  pdl_launch_dependents();
  pdl_wait();
  if (leaves(&p.when))
    return;
  if (p.size_log2 == 0)
    pack_as_columns(&p, 0, PIT_PACK_BYTES_SIDE_LOG2);
  else if (p.size_log2 == 1)
    pack_as_columns(&p, 1, PIT_PACK_SIDE_LOG2);
  else
    pack_as_columns(&p, 2, PIT_PACK_SIDE_LOG2);
}
