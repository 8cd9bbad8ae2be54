//===- TensorTcgen05Test.c - tcgen05 --------------------------------------===//
//
// A product whose factors lie in lines of 128 bytes, and what is refused. Other
// layouts are run by test/GPU/by_hand_layouts.py.
//
//===----------------------------------------------------------------------===//

#include "TensorTcgen05.h"

#include "TensorCase.h"

#include <stdlib.h>
#include <string.h>

enum { M = 128, N = 32, K = 16, A = 1024, B = A + M * 128, SIZE = B + N * 128 };

/// Bits 46 and 62: the constant, and a swizzle of 128 bytes.
static uint64_t describe(uint32_t start) {
  return start >> 4 | UINT64_C(1) << 16 | (uint64_t)(1024 >> 4) << 32 |
         UINT64_C(1) << 46 | UINT64_C(2) << 61;
}

/// Sums of f32, factors of bf16.
static uint32_t shape_of(uint32_t m, uint32_t n) {
  return 1U << 4 | 1U << 7 | 1U << 10 | n / 8 << 17 | m / 16 << 24;
}

typedef struct fixture {
  uint8_t bytes[SIZE];
  uint32_t words[TENSOR_LANES][TENSOR_COLUMNS];
  tensor_shared shared;
  tensor_tcgen05_memory memory;
} fixture;

static void put(fixture *f, uint32_t start, uint32_t row, uint32_t k,
                float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  uint16_t narrow = (uint16_t)(bits >> 16);
  uint32_t at = tensor_swizzle(start + row * 128 + k * 2, 128);
  memcpy(f->bytes + at, &narrow, sizeof(narrow));
}

static float a_of(uint32_t row, uint32_t k) {
  return (float)((int)(row * 3 + k * 5) % 7 - 3);
}
static float b_of(uint32_t col, uint32_t k) {
  return (float)((int)(col * 2 + k * 3) % 5 - 2);
}

static fixture *make(void) {
  fixture *f = calloc(1, sizeof(*f));
  assert_non_null(f);
  f->shared = (tensor_shared){.bytes = f->bytes, .size = SIZE};
  f->memory = (tensor_tcgen05_memory){f->words, 64};
  memset(f->words, 0xFF, sizeof(f->words));
  for (uint32_t k = 0; k < K; ++k) {
    for (uint32_t row = 0; row < M; ++row)
      put(f, A, row, k, a_of(row, k));
    for (uint32_t col = 0; col < N; ++col)
      put(f, B, col, k, b_of(col, k));
  }
  return f;
}

static const char *run(fixture *f, uint32_t d, uint64_t a, uint32_t shape,
                       bool adds) {
  return tensor_tcgen05_mma(TENSOR_KIND_F16, &f->shared, &f->memory, d, a,
                            describe(B), shape, adds);
}

static void test_product(void **unused) {
  (void)unused;
  fixture *f = make();
  const uint32_t first = 16;
  // The second product is added to the first, which replaces what was there.
  assert_ok(run(f, first, describe(A), shape_of(M, N), false));
  assert_ok(run(f, first, describe(A), shape_of(M, N), true));
  for (uint32_t warp = 0; warp < 4; ++warp)
    for (uint32_t half = 0; half < 2; ++half) {
      uint32_t to[4 * N / 8][32], lane = 32 * warp + 16 * half;
      assert_ok(tensor_tcgen05_load(&f->memory, warp, lane << 16 | first,
                                    4 * N / 8, to));
      for (uint32_t r = 0; r < 4 * N / 8; ++r)
        for (uint32_t t = 0; t < 32; ++t) {
          uint32_t row = lane + t / 4 + (r & 2 ? 8 : 0);
          uint32_t col = r / 4 * 8 + t % 4 * 2 + (r & 1);
          float sum = 0, got;
          for (uint32_t k = 0; k < K; ++k)
            sum += 2 * a_of(row, k) * b_of(col, k);
          memcpy(&got, &to[r][t], sizeof(got));
          assert_true(got == sum);
        }
    }
  // Columns beside the sums are as they were.
  for (uint32_t lane = 0; lane < M; ++lane) {
    assert_int_equal(f->words[lane][first - 1], UINT32_MAX);
    assert_int_equal(f->words[lane][first + N], UINT32_MAX);
  }
  free(f);
}

static void test_refused(void **unused) {
  (void)unused;
  fixture *f = make();
  const uint32_t right = shape_of(M, N);
  assert_error(run(f, 40, describe(A), right, true), "has allocated");
  assert_error(run(f, 1U << 16, describe(A), right, true), "has allocated");
  assert_error(run(f, 0, describe(A), shape_of(64, N), true), "rows are not");
  assert_error(run(f, 0, describe(A), shape_of(M, 24), true), "rows are not");
  assert_error(run(f, 0, describe(A), right | 1U << 23, true), "unused");
  assert_error(run(f, 0, describe(A), right ^ 3U << 4, true), "sums");
  assert_error(run(f, 0, describe(A), right | 2U << 7, true), "elements");
  // A descriptor of wgmma lacks the constant.
  assert_error(run(f, 0, describe(A) ^ UINT64_C(1) << 46, right, true),
               "bits 46 to 48");
  assert_error(run(f, 0, describe(A) | UINT64_C(1) << 61, right, true),
               "no such swizzle");
  assert_error(run(f, 0, describe(A) | UINT64_C(1) << 49, right, true),
               "base offsets");
  assert_error(tensor_tcgen05_mma(TENSOR_KIND_F8F6F4, &f->shared, &f->memory, 0,
                                  describe(A), describe(B), right | 1U << 15,
                                  true),
               "transposed");
  uint32_t to[16][32];
  assert_error(tensor_tcgen05_load(&f->memory, 0, 32U << 16, 16, to),
               "of its own 32");
  assert_error(tensor_tcgen05_load(&f->memory, 1, 40U << 16, 16, to),
               "of its own 32");
  assert_error(tensor_tcgen05_load(&f->memory, 0, 40, 16, to), "not allocated");
  free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_product),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
