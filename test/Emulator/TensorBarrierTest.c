//===- TensorBarrierTest.c - mbarrier objects -----------------------------===//

#include "TensorBarrier.h"

#include "TensorCase.h"

#include <string.h>

static bool is_done(uint64_t word, uint32_t parity) {
  bool done;
  assert_ok(tensor_barrier_test_parity(&word, parity, &done));
  return done;
}

static void test_arrivals(void **unused) {
  (void)unused;
  uint64_t word, token, next;
  bool done;
  assert_ok(tensor_barrier_init(&word, 3));
  // Nothing is complete, and what was before the first phase counts as such.
  assert_false(is_done(word, 0));
  assert_true(is_done(word, 1));
  assert_ok(tensor_barrier_arrive(&word, 1, &token));
  assert_ok(tensor_barrier_arrive(&word, 1, NULL));
  assert_ok(tensor_barrier_test(&word, token, &done));
  assert_false(done);
  assert_ok(tensor_barrier_arrive(&word, 1, NULL));
  assert_ok(tensor_barrier_test(&word, token, &done));
  assert_true(done);
  assert_true(is_done(word, 0));
  assert_false(is_done(word, 1));
  // The next phase expects as many.
  assert_ok(tensor_barrier_arrive(&word, 2, &next));
  assert_false(is_done(word, 1));
  assert_ok(tensor_barrier_arrive(&word, 1, NULL));
  assert_ok(tensor_barrier_test(&word, next, &done));
  assert_true(done);
  assert_true(is_done(word, 1));
  assert_false(is_done(word, 0));
}

static void test_bytes(void **unused) {
  (void)unused;
  uint64_t word;
  assert_ok(tensor_barrier_init(&word, 1));
  assert_ok(tensor_barrier_expect(&word, 96));
  assert_ok(tensor_barrier_arrive(&word, 1, NULL));
  assert_false(is_done(word, 0));
  assert_ok(tensor_barrier_complete(&word, 64));
  assert_false(is_done(word, 0));
  assert_ok(tensor_barrier_complete(&word, 32));
  assert_true(is_done(word, 0));
  // Bytes may come before anybody expects them.
  assert_ok(tensor_barrier_complete(&word, 48));
  tensor_barrier_state state;
  assert_ok(tensor_barrier_read(&word, &state));
  assert_int_equal(state.bytes, -48);
  assert_int_equal(state.pending, 1);
  assert_int_equal(state.expected, 1);
  assert_int_equal(state.phase, 1);
  assert_ok(tensor_barrier_expect(&word, 48));
  assert_false(is_done(word, 1));
  assert_ok(tensor_barrier_arrive(&word, 1, NULL));
  assert_true(is_done(word, 1));
}

static void test_added_arrivals(void **unused) {
  (void)unused;
  uint64_t word;
  assert_ok(tensor_barrier_init(&word, 1));
  assert_ok(tensor_barrier_add_pending(&word));
  assert_ok(tensor_barrier_arrive(&word, 1, NULL));
  assert_false(is_done(word, 0));
  assert_ok(tensor_barrier_arrive(&word, 1, NULL));
  assert_true(is_done(word, 0));
  // Of that phase only.
  assert_ok(tensor_barrier_arrive(&word, 1, NULL));
  assert_true(is_done(word, 1));
}

static void test_errors(void **unused) {
  (void)unused;
  uint64_t word = 0;
  bool done;
  assert_error(tensor_barrier_init(&word, 0), "count");
  assert_error(tensor_barrier_init(&word, 1U << 20), "count");
  for (int i = 0; i < 2; ++i) {
    assert_error(tensor_barrier_arrive(&word, 1, NULL), "no mbarrier");
    assert_error(tensor_barrier_expect(&word, 16), "no mbarrier");
    assert_error(tensor_barrier_complete(&word, 16), "no mbarrier");
    assert_error(tensor_barrier_add_pending(&word), "no mbarrier");
    assert_error(tensor_barrier_test(&word, 0, &done), "no mbarrier");
    assert_error(tensor_barrier_test_parity(&word, 0, &done), "no mbarrier");
    assert_error(tensor_barrier_invalidate(&word), "no mbarrier");
    assert_ok(tensor_barrier_init(&word, TENSOR_BARRIER_MAX));
    if (i == 0)
      assert_ok(tensor_barrier_invalidate(&word));
  }
  assert_error(tensor_barrier_add_pending(&word), "pending");
  assert_error(tensor_barrier_arrive(&word, 0, NULL), "count of arrivals");
  assert_ok(tensor_barrier_arrive(&word, TENSOR_BARRIER_MAX - 1, NULL));
  assert_error(tensor_barrier_arrive(&word, 2, NULL), "more arrivals");
  assert_ok(tensor_barrier_expect(&word, TENSOR_BARRIER_MAX));
  assert_error(tensor_barrier_expect(&word, 1), "tx-count");
  assert_ok(tensor_barrier_complete(&word, TENSOR_BARRIER_MAX));
  assert_ok(tensor_barrier_complete(&word, TENSOR_BARRIER_MAX));
  assert_error(tensor_barrier_complete(&word, 1), "tx-count");
  assert_error(tensor_barrier_test_parity(&word, 2, &done), "parity");
  assert_error(tensor_barrier_test(&word, 0, &done), "state");
}

/// Against what the ISA says in words.
static void test_random(void **unused) {
  (void)unused;
  uint64_t seed = 77;
  for (int run = 0; run < 200; ++run) {
    uint32_t expected = 1 + random_below(&seed, 5), pending = expected;
    int64_t bytes = 0;
    unsigned phase = 0;
    uint64_t word;
    assert_ok(tensor_barrier_init(&word, expected));
    for (int step = 0; step < 200; ++step) {
      uint32_t amount = 16 * random_below(&seed, 4);
      switch (random_below(&seed, 5)) {
      case 0:
        assert_ok(tensor_barrier_expect(&word, amount));
        bytes += amount;
        break;
      case 1:
        assert_ok(tensor_barrier_complete(&word, amount));
        bytes -= amount;
        break;
      case 2: // all that is left
        if (bytes > 0) {
          assert_ok(tensor_barrier_complete(&word, (uint32_t)bytes));
          bytes = 0;
        }
        break;
      case 3:
        if (pending < 9) {
          assert_ok(tensor_barrier_add_pending(&word));
          ++pending;
        }
        break;
      default:
        if (pending > 0) {
          uint32_t count = 1 + random_below(&seed, pending);
          assert_ok(tensor_barrier_arrive(&word, count, NULL));
          pending -= count;
        } else {
          assert_error(tensor_barrier_arrive(&word, 1, NULL), "more arrivals");
        }
      }
      if (pending == 0 && bytes == 0) {
        ++phase;
        pending = expected;
      }
      tensor_barrier_state state;
      assert_ok(tensor_barrier_read(&word, &state));
      assert_int_equal(state.phase, phase % 2);
      assert_int_equal(state.pending, pending);
      assert_int_equal(state.bytes, bytes);
      assert_int_equal(is_done(word, phase % 2), false);
      assert_int_equal(is_done(word, (phase + 1) % 2), true);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrivals), cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_added_arrivals), cmocka_unit_test(test_errors),
      cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
