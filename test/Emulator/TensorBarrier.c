//===- TensorBarrier.c - mbarrier objects ---------------------------------===//

#include "TensorBarrier.h"

#include <stddef.h>

// From the lowest bit on: arrivals that are pending (20 bits), those that each
// phase expects (20), the tx-count plus its maximum (21), the phase's parity,
// and two bits that tell an mbarrier from other words.
enum { COUNT_BITS = 20, BYTES_BITS = 21, MARK = 2 };

static const char *read_word(uint64_t word, tensor_barrier_state *state) {
  *state = (tensor_barrier_state){
      .pending = word & TENSOR_BARRIER_MAX,
      .expected = word >> COUNT_BITS & TENSOR_BARRIER_MAX,
      .bytes = (int32_t)(word >> (2 * COUNT_BITS) & ((1U << BYTES_BITS) - 1)) -
               TENSOR_BARRIER_MAX,
      .phase = word >> (2 * COUNT_BITS + BYTES_BITS) & 1};
  return word >> 62 == MARK && state->expected > 0
             ? NULL
             : "no mbarrier is at the address";
}

static uint64_t make_word(tensor_barrier_state state) {
  return (uint64_t)state.pending | (uint64_t)state.expected << COUNT_BITS |
         (uint64_t)(state.bytes + TENSOR_BARRIER_MAX) << (2 * COUNT_BITS) |
         (uint64_t)state.phase << (2 * COUNT_BITS + BYTES_BITS) |
         (uint64_t)MARK << 62;
}

/// Begins the next phase if this one is complete.
static void write_word(uint64_t *word, tensor_barrier_state state) {
  if (state.pending == 0 && state.bytes == 0) {
    state.phase ^= 1;
    state.pending = state.expected;
  }
  *word = make_word(state);
}

const char *tensor_barrier_init(uint64_t *word, uint32_t count) {
  if (count < 1 || count > TENSOR_BARRIER_MAX)
    return "the count of an mbarrier is not in 1 to 2^20 - 1";
  *word =
      make_word((tensor_barrier_state){.pending = count, .expected = count});
  return NULL;
}

const char *tensor_barrier_invalidate(uint64_t *word) {
  tensor_barrier_state state;
  const char *error = read_word(*word, &state);
  if (!error)
    *word = 0;
  return error;
}

const char *tensor_barrier_arrive(uint64_t *word, uint32_t count,
                                  uint64_t *token) {
  tensor_barrier_state state;
  const char *error = read_word(*word, &state);
  if (error)
    return error;
  if (count < 1 || count > TENSOR_BARRIER_MAX)
    return "the count of arrivals is not in 1 to 2^20 - 1";
  if (count > state.pending)
    return "more arrivals than the mbarrier's phase expects";
  if (token)
    *token = *word;
  state.pending -= count;
  write_word(word, state);
  return NULL;
}

static const char *add_bytes(uint64_t *word, int64_t bytes) {
  tensor_barrier_state state;
  const char *error = read_word(*word, &state);
  if (error)
    return error;
  int64_t sum = state.bytes + bytes;
  if (sum < -TENSOR_BARRIER_MAX || sum > TENSOR_BARRIER_MAX)
    return "the tx-count of an mbarrier leaves -(2^20 - 1) to 2^20 - 1";
  state.bytes = (int32_t)sum;
  write_word(word, state);
  return NULL;
}

const char *tensor_barrier_expect(uint64_t *word, uint32_t bytes) {
  return add_bytes(word, bytes);
}

const char *tensor_barrier_complete(uint64_t *word, uint32_t bytes) {
  return add_bytes(word, -(int64_t)bytes);
}

const char *tensor_barrier_add_pending(uint64_t *word) {
  tensor_barrier_state state;
  const char *error = read_word(*word, &state);
  if (error)
    return error;
  if (state.pending == TENSOR_BARRIER_MAX)
    return "the pending arrivals of an mbarrier exceed 2^20 - 1";
  ++state.pending;
  *word = make_word(state);
  return NULL;
}

const char *tensor_barrier_test(const uint64_t *word, uint64_t token,
                                bool *done) {
  tensor_barrier_state state, then;
  const char *error = read_word(*word, &state);
  if (error)
    return error;
  if (read_word(token, &then) || then.expected != state.expected)
    return "the state is not one that an arrival on this mbarrier returned";
  *done = then.phase != state.phase;
  return NULL;
}

const char *tensor_barrier_test_parity(const uint64_t *word, uint32_t parity,
                                       bool *done) {
  tensor_barrier_state state;
  const char *error = read_word(*word, &state);
  if (error)
    return error;
  if (parity > 1)
    return "the parity of a phase is not 0 or 1";
  *done = parity != state.phase;
  return NULL;
}

const char *tensor_barrier_read(const uint64_t *word,
                                tensor_barrier_state *state) {
  return read_word(*word, state);
}
