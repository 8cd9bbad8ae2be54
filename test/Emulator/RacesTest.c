//===- RacesTest.c - Accesses of shared memory that nothing orders --------===//

#include "Races.h"

#include "TensorCase.h"

#include <string.h>

static uint32_t other;
#define ACCESS(warp, address, bytes, access)                                   \
  races_access(r, warp, 0, address, bytes, access, &other)

static void test_orders(void **unused) {
  (void)unused;
  races *r = races_new(1, 4, 4096);
  assert_non_null(r);
  // A warp with itself, and readers with each other.
  assert_ok(ACCESS(0, 64, 16, RACE_WRITE));
  assert_ok(ACCESS(0, 64, 16, RACE_READ));
  assert_error(ACCESS(1, 76, 4, RACE_READ), "after a write");
  assert_int_equal(other, 0);
  assert_error(ACCESS(1, 76, 4, RACE_WRITE), "after a write");
  assert_ok(ACCESS(1, 80, 16, RACE_READ));
  assert_ok(ACCESS(2, 80, 16, RACE_READ));
  assert_error(ACCESS(0, 80, 4, RACE_WRITE), "after a read");
  assert_int_equal(other, 1);
  // A release alone orders nothing, nor does waiting for others.
  assert_true(races_release(r, 0, 7));
  races_acquire(r, 1, 8);
  assert_error(ACCESS(1, 76, 4, RACE_READ), "after a write");
  races_acquire(r, 1, 7);
  assert_ok(ACCESS(1, 76, 4, RACE_READ));
  // What was written after the release is not part of it.
  assert_ok(ACCESS(0, 96, 4, RACE_WRITE));
  races_acquire(r, 1, 7);
  assert_error(ACCESS(1, 96, 4, RACE_READ), "after a write");
  // Through a third warp.
  assert_true(races_release(r, 0, 1));
  races_acquire(r, 2, 1);
  assert_true(races_release(r, 2, 2));
  races_acquire(r, 3, 2);
  assert_ok(ACCESS(3, 96, 4, RACE_WRITE));
  // Readers before the next write: all of them.
  assert_true(races_release(r, 1, 3));
  races_acquire(r, 0, 3);
  assert_error(ACCESS(0, 80, 4, RACE_WRITE), "after a read");
  assert_int_equal(other, 2);
  assert_true(races_release(r, 2, 3));
  races_acquire(r, 0, 3);
  assert_ok(ACCESS(0, 80, 4, RACE_WRITE));
  races_free(r);
}

static void test_parts(void **unused) {
  (void)unused;
  races *r = races_new(2, 1, 4096);
  assert_non_null(r);
  assert_ok(ACCESS(0, 0, 2, RACE_WRITE));
  assert_ok(ACCESS(1, 2, 2, RACE_WRITE));
  assert_ok(ACCESS(1, 5, 6, RACE_WRITE));
  assert_ok(ACCESS(0, 4, 1, RACE_READ));
  assert_error(ACCESS(0, 4, 2, RACE_READ), "after a write");
  assert_error(ACCESS(0, 8, 4, RACE_READ), "after a write");
  assert_ok(ACCESS(0, 11, 1, RACE_READ));
  // The memory of another block is another.
  assert_ok(races_access(r, 0, 1, 8, 4, RACE_READ, &other));
  // Atomics race with others, not with atomics.
  assert_ok(ACCESS(0, 64, 4, RACE_ATOMIC));
  assert_ok(ACCESS(1, 64, 4, RACE_ATOMIC));
  assert_error(ACCESS(0, 64, 4, RACE_READ), "after a write");
  assert_error(ACCESS(0, 64, 4, RACE_WRITE), "after a write");
  races_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders),
                                     cmocka_unit_test(test_parts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
