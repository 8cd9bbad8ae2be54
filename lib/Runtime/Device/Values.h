//===- Values.h - Matrices of values in contiguous rows -------------------===//
//
// A warp reads pieces of 512 bytes, a lane 16 bytes of a row at once.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_DEVICE_VALUES_H
#define PIT_LIB_RUNTIME_DEVICE_VALUES_H

#include "Team.h"

PIT_SHARED words4 partial[PIT_INDEX_THREADS];

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The pattern for 16 bytes of elements.
typedef struct pattern {
  words4 background, care, always;
} pattern;

PIT_DEVICE pattern get_pattern(const pit_cuda_pattern *p) {
  return (pattern){{p->background_low, p->background_high, p->background_low,
                    p->background_high},
                   {p->care_low, p->care_high, p->care_low, p->care_high},
                   {p->always, p->always, p->always, p->always}};
}

/// The live bits of 16 bytes, of which those of `differs` are not as in the
/// background.
PIT_DEVICE words4 live_words(words4 differs, const pattern *p) {
  return (differs & p->care) | p->always;
}

PIT_DEVICE bool any_word(words4 v) { return (v.x | v.y | v.z | v.w) != 0; }

/// Bit i: whether byte i of the word is not 0.
PIT_DEVICE uint32_t live_bytes(uint32_t word) {
  uint32_t high = ((word & 0x7f7f7f7f) + 0x7f7f7f7f) | word;
  return ((high >> 7 & 0x01010101) * 0x10204080) >> 28;
}

/// Bit i: whether element i of the 16 bytes, of 2^size_log2 bytes, is not 0.
PIT_DEVICE uint32_t live_elements(words4 v, int32_t size_log2) {
  uint32_t bits = live_bytes(v.x) | live_bytes(v.y) << 4 |
                  live_bytes(v.z) << 8 | live_bytes(v.w) << 12;
  // Merges pairs of bits, until a bit is an element.
  for (int32_t k = 0; k < size_log2; ++k) {
    bits = (bits | bits >> 1) & 0x5555;
    bits = (bits | bits >> 1) & 0x3333;
    bits = (bits | bits >> 2) & 0x0f0f;
    bits = (bits | bits >> 4) & 0x00ff;
  }
  return bits;
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// How blocks cover a matrix: 2^split_log2 warps share the rows of a piece, and
/// so many blocks lie along a row.
typedef struct split {
  uint32_t log2, blocks_per_group;
} split;

/// The part of a matrix that a warp reads.
typedef struct piece {
  uint32_t group; ///< window of rows that the block takes
  uint32_t part;  ///< number of the block among those of the window
  uint32_t phase; ///< own number among the warps that share the rows
  uint32_t at_16; ///< the 16 bytes of a row that the lane reads
} piece;

PIT_DEVICE piece get_piece(split s) {
  uint32_t group = block() / s.blocks_per_group;
  uint32_t part = block() - group * s.blocks_per_group;
  uint32_t number = (part << (3 - s.log2)) + (warp() >> s.log2);
  uint32_t phase = warp() & ((1u << s.log2) - 1);
  return (piece){group, part, phase, number * WARP + lane()};
}

/// The rows that a lane reads: the first, and how many, 2^split_log2 apart.
typedef struct run {
  int64_t first, rows;
} run;

/// The rows of [begin, end) for the lane; none if it is not inside of them.
PIT_DEVICE run get_run(int64_t begin, int64_t end, bool inside, uint32_t phase,
                       uint32_t split_log2) {
  int64_t first = begin + phase;
  int64_t between = (inside ? end : first) - first;
  int64_t rounding = (INT64_C(1) << split_log2) - 1;
  return (run){first, (between + rounding) >> split_log2};
}

/// The offset of a row; rows past the last read the last, to no effect.
PIT_DEVICE int64_t row_at(uint32_t id, uint32_t ids, int64_t stride) {
  return (uint32_t)min_32((int32_t)id, (int32_t)(ids - 1)) * stride;
}

/// Adds to `sum` the bits in which 16 bytes of a row differ from the
/// background.
PIT_DEVICE words4 or_differences(words4 sum, const void *data, int64_t at,
                                 words4 background) {
  return sum | (load_words4(data, at) ^ background);
}

/// A block collects, for the first of the 2^split_log2 warps of a piece, the
/// findings of all of them.
PIT_DEVICE words4 join_piece(words4 found, uint32_t phase,
                             uint32_t split_log2) {
  uint32_t warps = 1u << split_log2;
  if (warps == 1)
    return found;
  partial[thread()] = found;
  barrier();
#pragma unroll
  for (uint32_t w = 1; w < TEAM_WARPS; ++w)
    if (phase == 0 && w < warps)
      found |= partial[thread() + w * WARP];
  return found;
}

/// A warp writes the bits of the elements of its 512 bytes to the words of a
/// group, if it `writes`; or adds them, if other blocks have bits of the same
/// elements. A lane has those of the 16 bytes `at_16` of a row.
PIT_DEVICE void store_elements(uint32_t live, int32_t size_log2, uint32_t at_16,
                               bool writes, bool adds, uint32_t *bits,
                               uint64_t group, uint32_t words) {
  // 2^(size_log2 + 1) lanes make a word.
  uint32_t lanes_log2 = (uint32_t)size_log2 + 1;
  uint32_t lane_in_word = lane() & ((1u << lanes_log2) - 1);
  uint32_t word = live << (lane_in_word << (4 - size_log2));
  for (uint32_t k = 0; k < lanes_log2; ++k)
    word |= shuffle_xor(word, 1u << k);
  uint32_t at = at_16 >> lanes_log2;
  if (writes && at < words && lane_in_word == 0) {
    uint32_t *to = &bits[group * words + at];
    if (adds)
      atomic_or(to, word);
    else
      *to = word;
  }
}

//===----------------------------------------------------------------------===//
// Batches of rows
//===----------------------------------------------------------------------===//

/// Rows that a warp has under way.
enum { BATCH_ROWS = 8 };

/// Eight rows from `row` on of a lane's 16 bytes, `stride` apart, and their
/// numbers; in the place of rows behind the last comes the last.
typedef struct batch {
  words4 values[BATCH_ROWS];
  int32_t rows[BATCH_ROWS];
} batch;

PIT_DEVICE batch load_batch(const void *data, int64_t first, int64_t stride,
                            int32_t row, int32_t last) {
  batch b;
#pragma unroll
  for (int32_t k = 0; k < BATCH_ROWS; ++k) {
    b.rows[k] = row;
    row = min_32(row + 1, last);
  }
#pragma unroll
  for (int32_t k = 0; k < BATCH_ROWS; ++k)
    b.values[k] = load_words4(data, first + (uint32_t)b.rows[k] * stride);
  return b;
}

#endif // PIT_LIB_RUNTIME_DEVICE_VALUES_H
