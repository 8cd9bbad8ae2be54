//===- Choices.h - What calls chose before --------------------------------===//
//
// Remembered for each function of a program, mark, shape and site: layers of
// one shape call one function, but not all of them have the same zeros. A table
// of fixed size, as nobody says when a program or a shape will not come again:
// what was not used for longest makes room.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_PROGRAM_CHOICES_H
#define PIT_LIB_RUNTIME_PROGRAM_CHOICES_H

#include "Core/Internal.h"
#include "pit-runtime/Abi.h"
#include "pit-runtime/Program.h"

/// The facts that a choice depends on beyond the data. The addresses of a
/// program that was unloaded may be another's, so the table of variants counts,
/// too.
typedef struct pit_choice_key {
  const void *manifest;
  const void *site; ///< pit_frame_site
  uint64_t table;   ///< a hash of the words
  int32_t mark;
  int32_t rank;
  int64_t shape[PIT_MAX_RANK]; ///< 0 from the rank on
} pit_choice_key;

/// The variants that a table of words (Abi.h) describes.
typedef struct pit_variants {
  int32_t count;
  bool dense[PIT_MAX_VARIANTS];
  pit_index_spec specs[PIT_MAX_VARIANTS]; ///< of those that are not dense
  int64_t words;                          ///< of the table
} pit_variants;

/// Reads a table for a tensor of that shape.
pit_status pit_variants_read(pit_context *context, const pit_index_spec *shape,
                             const int64_t *table, pit_variants *variants);

/// The key of a call's choice among the variants of a table, for the tensor at
/// `value`.
pit_choice_key pit_choice_key_of(const pit_frame *frame, int32_t mark,
                                 const void *value, const pit_index_spec *shape,
                                 const int64_t *table,
                                 const pit_variants *variants);

/// A hash of a key.
uint64_t pit_choice_key_hash(const pit_choice_key *key);

/// A hash of `count` words on top of another one.
uint64_t pit_choice_hash(uint64_t hash, const int64_t *words, int64_t count);

/// Counts a call. True if it may do without a look, because looks have ended
/// dense.
pit_status pit_choices_begin(pit_context *context, const pit_choice_key *key,
                             bool *may_skip);

/// Records what the call has chosen; mark, rank, shape and calls of `chosen` do
/// not matter, `looks` is 1 if it has looked. `back_off`: the look was not
/// free.
void pit_choices_end(pit_context *context, const pit_choice_key *key,
                     const pit_choice *chosen, bool back_off);

/// pit_entry_choices of a function.
int32_t pit_choices_list(pit_context *context, const void *manifest,
                         pit_choice *choices, int32_t max);

#endif // PIT_LIB_RUNTIME_PROGRAM_CHOICES_H
