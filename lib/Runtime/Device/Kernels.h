//===- Kernels.h - The parameters of the runtime's kernels ----------------===//
//
// The host and the device share this. A kernel has one parameter, the struct of
// its name with _params.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_DEVICE_KERNELS_H
#define PIT_LIB_RUNTIME_DEVICE_KERNELS_H

#include "pit-runtime/Abi.h"

/// Threads of a block: of most kernels, of the scan of a routing, and of
/// kernels of one warp (LaunchBounds.csv.in).
enum {
  PIT_INDEX_THREADS = 256,
  PIT_ASSIGN_THREADS = 1024,
  PIT_WARP_THREADS = 32
};

//===----------------------------------------------------------------------===//
// Parts of parameters
//===----------------------------------------------------------------------===//

/// An index that a scan begins: its copy in device memory gets `head`, in which
/// the numbers are 0 that only the device knows. The counter of blocks is
/// cleared.
typedef struct pit_cuda_begin {
  pit_index head;
  pit_index *copy;
  uint32_t *counter;
} pit_cuda_begin;

/// The bits that a scan writes: `words` words of 32 for each group, of so many
/// ids.
typedef struct pit_cuda_bits {
  uint32_t *bits;
  int32_t groups, words;
  int64_t extent;
} pit_cuda_bits;

/// The condition under which a kernel does anything: the word in device memory
/// is `value` as it starts. Without a word, always.
typedef struct pit_cuda_condition {
  const int32_t *word;
  int32_t value;
} pit_cuda_condition;

/// The number that an element is compared with: the bits of 8 bytes of
/// elements. An element is live iff (element ^ background) & care is not 0, or
/// always.
typedef struct pit_cuda_pattern {
  uint32_t background_low, background_high, care_low, care_high, always;
} pit_cuda_pattern;

/// A matrix whose rows are contiguous: `row_bytes` of them, a multiple of 16,
/// at multiples of `row_stride`, also of 16. An element has 2^size_log2 bytes.
typedef struct pit_cuda_values {
  const void *data;
  int64_t row_stride;
  int32_t row_bytes, size_log2;
  pit_cuda_pattern pattern;
} pit_cuda_values;

/// The arrays of an index that kernels write.
typedef struct pit_cuda_arrays {
  pit_index *copy;
  int32_t *counts;
  int64_t *offsets;
  int32_t *ids;
  int32_t *origin; ///< or NULL
} pit_cuda_arrays;

/// The routing that origins are found in: group g is window g of `size` every
/// `step` of `limit` tokens or, with `by_expert`, experts. Strides are in
/// elements, of 8 bytes if they are `wide`. `vectors`: the slots of a token in
/// vectors of 16 bytes; 0 if they are none.
typedef struct pit_cuda_origin {
  const void *data;
  int64_t token_stride, slot_stride, size, step, limit;
  int32_t wide, slots, vectors, by_expert;
} pit_cuda_origin;

/// Status words that blocks of a scan have left, 0 if all is well.
typedef struct pit_cuda_checks {
  int32_t *words;
  int32_t count;
} pit_cuda_checks;

//===----------------------------------------------------------------------===//
// Values in contiguous rows (IndexValues.c)
//===----------------------------------------------------------------------===//

/// Ids are elements of a row, groups windows of rows: [size] every [step] of
/// `rows`. A block takes one window of rows, or one of its `slices`, and
/// 2^(3 - split_log2) pieces of 512 bytes; 2^split_log2 warps share the rows of
/// a piece.
typedef struct pit_index_columns_params {
  pit_cuda_begin begin;
  pit_cuda_bits bits;
  pit_cuda_values values;
  int64_t rows, size, step;
  int32_t split_log2, blocks_per_group, slices;
  pit_cuda_condition when;
} pit_index_columns_params;

/// Ids are rows, groups windows of 2^lanes_log2 * 16 bytes (at most 512) of
/// them. A warp takes 32 rows of 512 bytes, a block 256; there are `pieces` of
/// 512 bytes in a row.
typedef struct pit_index_windows_params {
  pit_cuda_begin begin;
  pit_cuda_bits bits;
  pit_cuda_values values;
  int32_t lanes_log2, pieces;
  pit_cuda_condition when;
} pit_index_windows_params;

/// Ids are rows, groups windows of [size] every [step] bytes of them, multiples
/// of 16. A block takes one window of 16 rows, a warp two of them.
typedef struct pit_index_rows_params {
  pit_cuda_begin begin;
  pit_cuda_bits bits;
  pit_cuda_values values;
  int32_t size, step;
  pit_cuda_condition when;
} pit_index_rows_params;

//===----------------------------------------------------------------------===//
// Every source (IndexGeneral.c)
//===----------------------------------------------------------------------===//

enum { PIT_BOX_DIMS = 8 };

/// Dimensions of X other than the axis, the innermost one last, the unused ones
/// with a single element.
typedef struct pit_box_dims {
  int64_t skip[PIT_BOX_DIMS];    ///< groups that a step along it skips
  int64_t windows[PIT_BOX_DIMS]; ///< of which there are so many,
  int64_t size[PIT_BOX_DIMS];    ///< their size
  int64_t step[PIT_BOX_DIMS];    ///< and their step
  int64_t extent[PIT_BOX_DIMS];
  int64_t place[PIT_BOX_DIMS];  ///< what a coordinate adds to the place
  int64_t number[PIT_BOX_DIMS]; ///< and to the number to compare
} pit_box_dims;

/// The kind of a source decides when an element is live.
enum {
  PIT_SCAN_VALUES = 0,     ///< its bytes at the place differ (pit_cuda_pattern)
  PIT_SCAN_MASK_BITS = 1,  ///< bit `number` of the bytes from the place on is 1
  PIT_SCAN_LENGTHS = 2,    ///< number < the integer at the place
  PIT_SCAN_ROUTING = 3,    ///< one of `slots` integers from the place on is it
  PIT_SCAN_ROW_LENGTHS = 4 ///< number % slots < integer number / slots
};

/// A lane takes an id, or a warp: the elements of its box are scanned.
typedef struct pit_index_lanes_params {
  pit_cuda_begin begin;
  pit_box_dims dims;
  pit_cuda_bits bits;
  int64_t id_place, id_number; ///< what an id adds
  const void *data;
  uint64_t background, care;
  int64_t slot_stride, slots;
  int32_t kind, size_log2, always, wide;
  pit_cuda_condition when;
} pit_index_lanes_params;

typedef pit_index_lanes_params pit_index_warps_params;

//===----------------------------------------------------------------------===//
// Bits (Bitmap.c)
//===----------------------------------------------------------------------===//

/// Writes the bitmap of a matrix, `words` words of 32 for a row. A block takes
/// `height` rows as one of pit_index_columns takes a window.
typedef struct pit_bitmap_values_params {
  uint32_t *bits;
  pit_cuda_values values;
  int64_t rows;
  int32_t words, height, split_log2, blocks_per_group;
} pit_bitmap_values_params;

/// The same of a matrix with any strides, in bytes. A warp takes 8 words of a
/// row, a lane an element of each: `column_blocks` of them are a row, `items`
/// all.
typedef struct pit_bitmap_elements_params {
  uint32_t *bits;
  const void *data;
  int64_t row_stride, column_stride;
  uint64_t background, care;
  int32_t words, size_log2, always, rows, columns, column_blocks, items;
} pit_bitmap_elements_params;

/// Ids are bits of a row, groups windows of rows: [size] every [step] of
/// `rows`. A block takes one window of 2^column_block_log2 words, of which
/// `column_blocks` are a row; its threads share the rows.
typedef struct pit_bits_columns_params {
  pit_cuda_begin begin;
  pit_cuda_bits bits;
  const void *data;
  int64_t row_stride, rows, size, step;
  int32_t column_block_log2, column_blocks;
  pit_cuda_condition when;
} pit_bits_columns_params;

/// Ids are rows, groups windows of bits of them: [size] every [step] of
/// `columns`. A warp takes one window of 32 rows, a lane one of them.
typedef struct pit_bits_windows_params {
  pit_cuda_begin begin;
  pit_cuda_bits bits;
  const void *data;
  int64_t row_stride, columns, size, step;
  pit_cuda_condition when;
} pit_bits_windows_params;

/// The same for windows of many words: a block takes one window of 32 rows, a
/// warp four of them.
typedef pit_bits_windows_params pit_bits_rows_params;

//===----------------------------------------------------------------------===//
// Live fraction (LiveFractions.c)
//===----------------------------------------------------------------------===//

/// Counts for the groups. A warp takes 128 rows of 128 columns; `across` such
/// tiles lie side by side. Counts of groups are cleared before; those of
/// windows of 2^k rows lie from 2 p - (2 p >> k) on, where p are the rows
/// rounded up to a multiple of 128. The others follow in the same way, with
/// columns for rows.
typedef struct pit_live_fraction_tiles_params {
  const uint32_t *bits;
  uint32_t *row_counts, *column_counts;
  int32_t words, rows, across, tiles, padded_rows, padded_columns;
} pit_live_fraction_tiles_params;

/// The results of the counts. A block takes a share of the counts of a kind,
/// number y of the grid: 0 to 7 windows of 2^y rows, 8 to 15 of columns.
/// `results` are pairs, cleared before: all live micro-tiles, and those of the
/// fullest group; then the rows and the columns that are not empty.
typedef struct pit_live_fraction_sums_params {
  const uint32_t *row_counts, *column_counts;
  int64_t *results;
  int32_t padded_rows, padded_columns;
} pit_live_fraction_sums_params;

/// Adds the bits of groups, `words` of each, to a pair of results. A warp takes
/// a group.
typedef struct pit_live_fraction_groups_params {
  const uint32_t *bits;
  int64_t *results;
  int32_t groups, words;
} pit_live_fraction_groups_params;

//===----------------------------------------------------------------------===//
// Integers (IndexIntegers.c)
//===----------------------------------------------------------------------===//

/// Words of bits that a block of pit_index_assign has room for.
enum { PIT_ASSIGN_WORDS = 4096 };

/// Bits of a routing [tokens, slots] to experts: ids are tokens, groups
/// experts. A block takes 32 * 2^words_log2 tokens, so that it has room for
/// their bits, and counts them: tally[expert][block]. It leaves `status` in
/// `checks` if a number is out of range.
typedef struct pit_index_assign_params {
  pit_cuda_begin begin;
  uint32_t *bits, *tally;
  int32_t *checks;
  const void *data;
  int64_t token_stride, slot_stride;
  int32_t status, words, words_log2, wide, tokens, slots, experts;
} pit_index_assign_params;

/// Bits, zeros before, of a list of `blocks` pairs (group, id). Without any, it
/// only begins the index.
typedef struct pit_index_scatter_params {
  pit_cuda_begin begin;
  uint32_t *bits;
  int32_t *checks;
  const void *data;
  int64_t block_stride, pair_stride, blocks, groups, extent;
  int32_t status, words, wide;
} pit_index_scatter_params;

/// Checks that each of the `count` numbers of a tensor lies in [low, high].
typedef struct pit_index_check_params {
  int32_t *checks;
  const void *data;
  int64_t count, low, high;
  int64_t size[PIT_MAX_RANK]; ///< 1 where there is no dimension
  int64_t stride[PIT_MAX_RANK];
  int32_t status, wide;
} pit_index_check_params;

//===----------------------------------------------------------------------===//
// Lists (IndexLists.c, IndexSegments.c)
//===----------------------------------------------------------------------===//

/// Lists all groups, each in `slices` of `span` parts of `part_words` words.
/// `tally` has `parts` numbers for each group; it is read if groups are to lie
/// densely, not at multiples of the extent, and if there are several slices. If
/// it is NULL, groups do not lie densely, and what is before a slice is
/// counted. Ids past the capacity are dropped, which the status tells.
typedef struct pit_index_lists_params {
  pit_cuda_arrays arrays;
  pit_cuda_bits bits;
  pit_cuda_checks checks;
  const uint32_t *tally;
  int32_t parts, part_words, slices, span, dense, capacity_status;
  int64_t capacity;
  pit_cuda_origin origin;
} pit_index_lists_params;

/// Counts each segment into `tally`; with `start` (not NULL), the last block
/// places groups and segments.
typedef struct pit_index_count_params {
  pit_cuda_arrays arrays;
  pit_chunk *chunks;
  pit_cuda_bits bits;
  pit_cuda_checks checks;
  uint32_t *counter, *tally;
  int64_t *start;
  int32_t per_group, dense, capacity_status;
  int64_t capacity, chunk_size;
} pit_index_count_params;

/// Lists each segment at its place.
typedef struct pit_index_place_params {
  pit_cuda_arrays arrays;
  pit_cuda_bits bits;
  const int64_t *start;
  int32_t per_group;
  pit_cuda_origin origin;
} pit_index_place_params;

/// The copy of an index of a caller's arrays, by one block.
typedef struct pit_index_copy_head_params {
  pit_index head;
  pit_index *copy;
} pit_index_copy_head_params;

//===----------------------------------------------------------------------===//
// Transposes (IndexTranspose.c)
//===----------------------------------------------------------------------===//

/// An index whose positions are listed: each group is read in `slices`.
typedef struct pit_cuda_listed {
  const int32_t *counts;
  const int64_t *offsets;
  const int32_t *ids;
  int32_t groups, slices, num_ids;
} pit_cuda_listed;

/// Sets bit g of the row of `words` words of each id that group g lists. Bits
/// are zeros before.
typedef struct pit_index_mark_ids_params {
  pit_cuda_begin begin;
  uint32_t *bits;
  int32_t words;
  pit_cuda_listed from;
  pit_cuda_condition when;
} pit_index_mark_ids_params;

/// Makes the lists from the bits: that of id i has `room` places from i * room
/// on.
typedef struct pit_index_place_positions_params {
  pit_cuda_arrays arrays;
  const uint32_t *bits;
  int32_t words;
  pit_cuda_listed from;
  int64_t room;
  pit_cuda_condition when;
} pit_index_place_positions_params;

//===----------------------------------------------------------------------===//
// Packed micro-tiles (IndexPacked.c)
//===----------------------------------------------------------------------===//

/// Begins an index, before the kernel that makes all of it.
typedef struct pit_index_begin_params {
  pit_index head;
  pit_index *copy;
} pit_index_begin_params;

/// Lists all groups at fixed places, and writes what is in their micro-tiles:
/// that of position p to `packed`, [positions][rows of a group]. A group is a
/// window of as many rows as the kernel's name says << parts_log2, a cluster of
/// so many blocks its row. A warp takes 256 columns of the name's rows.
typedef struct pit_index_packed_params {
  pit_cuda_arrays arrays;
  void *packed;
  pit_cuda_values values;
  int64_t extent, rows;
  int32_t groups, parts_log2, cluster;
} pit_index_packed_params;

typedef pit_index_packed_params pit_index_packed_8_params;
typedef pit_index_packed_params pit_index_packed_16_params;
typedef pit_index_packed_params pit_index_packed_32_params;

//===----------------------------------------------------------------------===//
// Choices (Choose.c, ChooseScan.c)
//===----------------------------------------------------------------------===//

/// Memory of a choice, of the context: calls on several streams may share it.
typedef struct pit_choice_slot {
  int32_t skip;  ///< calls that need no scan
  int32_t next;  ///< calls that it will be after the next scan that ends dense
  int32_t scans; ///< how many there were
  int32_t unused;
} pit_choice_slot;

/// Memory of a choice, of one call at a time. `arrived` and `readers` are 0
/// between calls.
typedef struct pit_choice_state {
  int32_t arrived; ///< blocks that have scanned
  int32_t variant; ///< -1 if the choice that this one comes after took one with
                   ///< an index: then nobody scans
  int32_t readers; ///< blocks that have read how many have scanned
  int32_t scan;    ///< whether there is to be a scan, and once it is decided
                   ///< whether there was one, which other choices by the same
                   ///< values then use
} pit_choice_state;

/// Memory of the host that tells it what the latest scan found.
typedef struct pit_scan_report {
  int32_t scans, variant;
  int64_t live;
} pit_scan_report;

_Static_assert(sizeof(pit_choice_slot) == 16 && sizeof(pit_choice_state) == 16,
               "the device writes a slot at once");
_Static_assert(sizeof(pit_scan_report) == 16, "the device writes it at once");

/// A variant to decide among; one without groups has no index. Groups are
/// listed at multiples of their extent, each in `slices` of `span` words.
typedef struct pit_choice_variant {
  double fixed, live;   ///< its cost, and that of a live micro-tile
  int32_t *numbers;     ///< of live micro-tiles that add up, or NULL: they
                        ///< are counted in the bits
  const uint32_t *bits; ///< in parts: of which any may have a micro-tile
  pit_cuda_arrays arrays;
  int64_t extent;
  int32_t num_numbers, parts, part_words, groups, words, slices, span;
  int32_t same; ///< the number of the same variant in the choice that has seen
} pit_choice_variant;

typedef struct pit_choice_table {
  pit_choice_variant variants[PIT_MAX_VARIANTS];
} pit_choice_table;

/// Tells kernels of one warp and of many whether there is to be a scan.
typedef struct pit_choose_begin_params {
  pit_choice_slot *slot;
  pit_choice_state *state;
  const int32_t *after; ///< the number of the choice that this one comes after,
                        ///< or NULL
  int32_t elapsed;      ///< calls that ran without asking the device
} pit_choose_begin_params;

/// Counts the live micro-tiles of each variant whose numbers do not come with
/// the scan: a part of them in each block.
typedef struct pit_choose_count_params {
  pit_choice_table table;
  pit_choice_state *state;
  int32_t count;
} pit_choose_count_params;

/// Decides, and makes the lists of the variant's index: all blocks decide
/// alike. If not all of `expected` blocks have scanned, the call is dense.
/// `seen` is NULL, or the state of an earlier choice, whose scan is this one's.
typedef struct pit_choose_list_params {
  pit_choice_table table;
  pit_choice_slot *slot;
  pit_choice_state *state;
  pit_scan_report *report; ///< or NULL
  const int32_t *after;
  const pit_choice_state *seen;
  int32_t count, elapsed, expected;
} pit_choose_list_params;

/// Begins a choice, and scans if there is to be a scan: then each block counts
/// itself. A block takes `height` rows (8 to 128, a multiple of 8) as one of
/// pit_index_columns takes a window, at most 32 of them by a warp. `bits` or
/// `row_bits` is NULL if no variant needs it; a part of `row_bits` has
/// `part_bytes`.
typedef struct pit_choose_scan_params {
  pit_index head, row_head; ///< of the index of columns, and of that of rows
  pit_index *copy, *row_copy;
  pit_choice_slot *slot;
  pit_choice_state *state;
  const int32_t *after;
  uint32_t *bits, *row_bits;
  int32_t *counts;
  pit_cuda_values values;
  int64_t part_bytes, rows;
  int32_t elapsed, words, height, split_log2, blocks_per_group;
} pit_choose_scan_params;

//===----------------------------------------------------------------------===//
// Copies with aligned rows (PackRows.c)
//===----------------------------------------------------------------------===//

/// Rows of a thread in a tile of pit_pack_rows; elements of the side of a tile
/// of pit_pack_columns, of a byte and of more.
enum {
  PIT_PACK_THREAD_ROWS = 4,
  PIT_PACK_BYTES_SIDE_LOG2 = 7,
  PIT_PACK_SIDE_LOG2 = 6
};

/// Batches of matrices; up to three dimensions number the batches, of which the
/// sizes of the inner two are here. Strides of the source are in bytes.
typedef struct pit_cuda_batches {
  int64_t count, sizes[2], strides[3];
} pit_cuda_batches;

/// The copy's rows have `columns` elements and start at multiples of `pitch`
/// bytes. Elements of a row of the source are neighbours: a thread takes pieces
/// of 16 bytes, 2^wide_log2 threads lie along a row.
typedef struct pit_pack_rows_params {
  void *to;
  const void *from;
  pit_cuda_batches batches;
  int64_t rows, row_stride, columns, pitch;
  int32_t size_log2, wide_log2;
  pit_cuda_condition when;
} pit_pack_rows_params;

/// The same where elements of a row lie `column_stride` apart, and those of a
/// column are better neighbours.
typedef struct pit_pack_columns_params {
  void *to;
  const void *from;
  pit_cuda_batches batches;
  int64_t rows, row_stride, columns, column_stride, pitch;
  int32_t size_log2;
  pit_cuda_condition when;
} pit_pack_columns_params;

#endif // PIT_LIB_RUNTIME_DEVICE_KERNELS_H
