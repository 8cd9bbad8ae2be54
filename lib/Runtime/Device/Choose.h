//===- Choose.h - Is it time to scan? -------------------------------------===//

#ifndef PIT_LIB_RUNTIME_DEVICE_CHOOSE_H
#define PIT_LIB_RUNTIME_DEVICE_CHOOSE_H

#include "Gpu.h"

/// A word that other kernels write.
PIT_DEVICE int32_t read_word(const int32_t *word) {
  return *(const volatile int32_t *)word;
}

/// Is there to be a scan? `elapsed` calls ran without asking the device; as
/// many as there can be means that there is.
PIT_DEVICE bool is_due(const pit_choice_slot *slot, int32_t elapsed) {
  return (int32_t)((uint32_t)read_word(&slot->skip) - (uint32_t)elapsed) <= 0;
}

/// Did the choice that this one comes after, if there is one, take a variant
/// with an index?
PIT_DEVICE bool is_taken(const int32_t *after) {
  return after && read_word(after) != 0;
}

#endif // PIT_LIB_RUNTIME_DEVICE_CHOOSE_H
