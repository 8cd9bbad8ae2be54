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
/// program that was unloaded may be another's, so the variants count, too.
typedef struct pit_choice_key {
  const void *manifest;
  const void *site;  ///< pit_frame_site
  uint64_t variants; ///< their identity
  int32_t mark;
  int32_t rank;
  int64_t shape[PIT_MAX_RANK]; ///< 0 from the rank on
} pit_choice_key;

static inline bool pit_is_dense(const pit_variants *variants, int32_t v) {
  return variants->variants[v].axis == PIT_VARIANT_DENSE;
}

/// The specs of the variants that are not dense, for a tensor of that shape.
void pit_variants_specs(const pit_variants *variants, const int64_t *shape,
                        pit_index_spec *specs);

/// The key of a call's choice for `value`.
pit_choice_key pit_choice_key_of(const pit_frame *frame,
                                 const pit_variants *variants,
                                 const pit_view *value);

/// A hash of a key.
uint64_t pit_choice_key_hash(const pit_choice_key *key);

/// Counts a call. True if it may do without a scan, because scans have ended
/// dense.
pit_status pit_choices_begin(pit_context *context, const pit_choice_key *key,
                             bool *may_skip);

/// Records what the call has chosen; mark, rank, shape and calls of `chosen` do
/// not matter, `scans` is 1 if it has scanned. `back_off`: the scan was not
/// free.
void pit_choices_end(pit_context *context, const pit_choice_key *key,
                     const pit_choice *chosen, bool back_off);

/// pit_entry_choices of a function.
int32_t pit_choices_list(pit_context *context, const void *manifest,
                         pit_choice *choices, int32_t max);

#endif // PIT_LIB_RUNTIME_PROGRAM_CHOICES_H
