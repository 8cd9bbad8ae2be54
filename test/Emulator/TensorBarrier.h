//===- TensorBarrier.h - mbarrier objects ---------------------------------===//
//
// An mbarrier is a 64-bit word of shared memory, in an encoding of our own. A
// phase is complete, and the next one begins, as soon as no arrival is pending
// and the tx-count is 0. A word of zeros is not an mbarrier.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_EMULATOR_TENSORBARRIER_H
#define PIT_TEST_EMULATOR_TENSORBARRIER_H

#include <stdbool.h>
#include <stdint.h>

enum { TENSOR_BARRIER_MAX = (1 << 20) - 1 }; ///< of counts and tx-counts

/// mbarrier.init. What the word was before is not looked at.
const char *tensor_barrier_init(uint64_t *word, uint32_t count);
/// mbarrier.inval.
const char *tensor_barrier_invalidate(uint64_t *word);

/// mbarrier.arrive: `count` arrivals. `*state`, if not NULL, is what the
/// instruction returns. cp.async.mbarrier.arrive.noinc is an arrival of 1 when
/// the thread's copies are complete.
const char *tensor_barrier_arrive(uint64_t *word, uint32_t count,
                                  uint64_t *state);
/// mbarrier.expect_tx. mbarrier.arrive.expect_tx does this, then arrives.
const char *tensor_barrier_expect(uint64_t *word, uint32_t bytes);
/// mbarrier.complete_tx, and what bulk copies do at their end. It may come
/// before the bytes are expected: until then the tx-count is negative.
const char *tensor_barrier_complete(uint64_t *word, uint32_t bytes);
/// cp.async.mbarrier.arrive without .noinc: one more arrival is pending from
/// now on, and is made when the thread's copies are complete.
const char *tensor_barrier_add_pending(uint64_t *word);

/// mbarrier.test_wait and try_wait: `*done` tells whether the phase of `state`,
/// as tensor_barrier_arrive gave it, is complete.
const char *tensor_barrier_test(const uint64_t *word, uint64_t state,
                                bool *done);
/// mbarrier.test_wait.parity and try_wait.parity: whether the phase of the
/// parity (0 or 1; the first phase's is 0) that is current or just over is
/// complete.
const char *tensor_barrier_test_parity(const uint64_t *word, uint32_t parity,
                                       bool *done);

/// For messages.
typedef struct tensor_barrier_state {
  uint32_t phase, pending, expected;
  int32_t bytes;
} tensor_barrier_state;
const char *tensor_barrier_read(const uint64_t *word,
                                tensor_barrier_state *state);

#endif // PIT_TEST_EMULATOR_TENSORBARRIER_H
