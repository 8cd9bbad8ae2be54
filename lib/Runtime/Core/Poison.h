//===- Poison.h - Memory that nobody may touch ----------------------------===//
//
// In a process with AddressSanitizer memory that the runtime keeps but has not
// handed out is poisoned, whether or not the runtime itself was built with it:
// programs may be (sanitize=address).
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_RUNTIME_CORE_POISON_H
#define PIT_LIB_RUNTIME_CORE_POISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// AddressSanitizer's interface, where there is one.
extern void __asan_poison_memory_region(const volatile void *, size_t)
    __attribute__((weak));
extern void __asan_unpoison_memory_region(const volatile void *, size_t)
    __attribute__((weak));

static inline bool pit_has_poison(void) {
  return __asan_poison_memory_region && __asan_unpoison_memory_region;
}

static inline void pit_poison(const void *memory, int64_t bytes) {
  if (pit_has_poison() && bytes > 0)
    __asan_poison_memory_region(memory, (size_t)bytes);
}

static inline void pit_unpoison(const void *memory, int64_t bytes) {
  if (pit_has_poison() && bytes > 0)
    __asan_unpoison_memory_region(memory, (size_t)bytes);
}

#endif // PIT_LIB_RUNTIME_CORE_POISON_H
