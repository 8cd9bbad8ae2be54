//===- CudaChooseScan.h - A device scans, and decides ---------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_CUDALOOK_H
#define PIT_LIB_RUNTIME_INDEX_CUDALOOK_H

#include "CudaIndex.h"

/// The memory of a device for a choice, and the inputs of its decision
/// (Device/Choose.c).
typedef struct pit_cuda_decision {
  pit_choice_slot *slot;   ///< when to scan; of all calls
  pit_choice_state *state; ///< of one call at a time
  pit_scan_report *report; ///< where the host polls it; NULL: it does not
  /// The number of the choice that this one comes after, if that took none with
  /// an index; NULL: there is none.
  const int32_t *after;
  /// The state of an earlier choice, whose scan is this one's; NULL: it scans
  /// itself.
  const pit_choice_state *seen;
  int32_t elapsed; ///< calls that the device has not been told of
} pit_cuda_decision;

/// One of the variants to decide among.
typedef struct pit_cuda_variant {
  bool dense;           ///< it has no index
  double fixed, live;   ///< what it costs, and what each live micro-tile adds
  pit_cuda_build build; ///< of the index, begun
  int32_t *numbers;     ///< of live micro-tiles, which add up; NULL: as bits
  int32_t num_numbers;
  uint32_t *bits; ///< of the micro-tiles, in parts: of which any may have it
  int32_t parts, part_words;
  int32_t same; ///< the number of the same variant in the choice that has seen
} pit_cuda_variant;

/// Puts the launches on the stream that scan, if it is time to, decide, and
/// make the lists of the index that is decided for. Nothing but kernels of that
/// variant may read it. If another choice has seen the data, the variants are
/// that one's: what it has found, and its builds.
pit_status pit_cuda_choose_scan(const pit_cuda_work *work,
                                pit_cuda_variant *variants, int32_t count,
                                const pit_cuda_decision *decision);

#endif // PIT_LIB_RUNTIME_INDEX_CUDALOOK_H
