//===- CudaLook.h - A device looks, and decides ---------------------------===//

#ifndef PIT_LIB_RUNTIME_INDEX_CUDALOOK_H
#define PIT_LIB_RUNTIME_INDEX_CUDALOOK_H

#include "CudaIndex.h"

/// The memory of a device for a choice, and the inputs of its decision
/// (Device/Choose.mlir).
typedef struct pit_cuda_decision {
  void *slot;      ///< when to look; of all calls
  void *state;     ///< of one call at a time
  void *news;      ///< where the host hears of it; NULL: it does not
  void *after;     ///< the number of the choice that this one comes after, if
                   ///< that took none with an index; NULL: there is none
  void *seen;      ///< the state of an earlier choice, whose look is this
                   ///< one's; NULL: it looks itself
  int32_t elapsed; ///< calls that the device has not heard of
} pit_cuda_decision;

enum {
  PIT_STATE_VARIANT = 1, ///< word of the state: the number that is decided
  PIT_STATE_WORDS = 4
};

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

/// Puts the launches on the stream that look, if it is time to, decide, and
/// make the lists of the index that is decided for. Nothing but kernels of that
/// variant may read it. If another choice has seen the data, the variants are
/// that one's: what it has found, and its builds.
pit_status pit_cuda_look(const pit_cuda_work *work, pit_cuda_variant *variants,
                         int32_t count, const pit_cuda_decision *decision);

#endif // PIT_LIB_RUNTIME_INDEX_CUDALOOK_H
