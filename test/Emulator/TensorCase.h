//===- TensorCase.h - Random data for tests of tensor instructions --------===//
//
// Written from the PTX ISA, and shares no code with what is tested.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_EMULATOR_TENSORCASE_H
#define PIT_TEST_EMULATOR_TENSORCASE_H

#include "TensorMemory.h"
#include "TensorTypes.h"

// cmocka.h wants these before it.
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/// Never 0. The state must not be, either.
uint64_t random_word(uint64_t *state);
uint32_t random_below(uint64_t *state, uint32_t bound);

/// What an element's bits mean, by the definition of its format.
double value_of(tensor_type type, uint32_t bits);
/// The bits of a value, of a few powers of two only, so that sums of some
/// hundred products are exact.
uint32_t random_bits(uint64_t *state, tensor_type type);
uint32_t bits_of_float(float value);

enum { CASE_SHARED = 1 << 18 };
/// Shared memory full of random bytes, that free() takes.
tensor_shared make_shared(uint64_t *state);

/// Device memory of one allocation.
typedef struct one_allocation {
  uint8_t *bytes;
  uint64_t address, size;
} one_allocation;
/// tensor_global::find of a one_allocation.
void *find_in_allocation(void *context, uint64_t address, uint64_t size);

#define assert_ok(call)                                                        \
  do {                                                                         \
    const char *assert_error = (call);                                         \
    if (assert_error)                                                          \
      fail_msg("%s: %s", #call, assert_error);                                 \
  } while (0)
#define assert_error(call, words)                                              \
  do {                                                                         \
    const char *assert_text = (call);                                          \
    if (!assert_text || !strstr(assert_text, words))                           \
      fail_msg("%s: %s", #call, assert_text ? assert_text : "no error");       \
  } while (0)

#endif // PIT_TEST_EMULATOR_TENSORCASE_H
