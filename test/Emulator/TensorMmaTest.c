//===- TensorMmaTest.c - mma.sync, ldmatrix and stmatrix ------------------===//
//
// Fragments are laid out by the formulas of "Matrix Fragments for mma.m16n8k*",
// one for each shape as it stands there.
//
//===----------------------------------------------------------------------===//

#include "TensorMma.h"

#include "TensorCase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 16, N = 8, MAX_K = 32 };

typedef struct place {
  uint32_t row, col;
} place;

/// Of element i of a in lane (g, t).
static place place_of_a(uint32_t bits, uint32_t k, uint32_t g, uint32_t t,
                        uint32_t i) {
  switch (bits * 100 + k) {
  case 1616: // m16n8k16 of f16 and bf16
    return (place){(i < 2 || (4 <= i && i < 6)) ? g : g + 8,
                   t * 2 + (i & 1) + (i < 4 ? 0 : 8)};
  case 1608: // m16n8k8
    return (place){i < 2 ? g : g + 8, t * 2 + (i & 1)};
  case 3208: // m16n8k8 of tf32
    return (place){i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
  case 3204: // m16n8k4
    return (place){i == 0 ? g : g + 8, t};
  case 832: // m16n8k32 of bytes
    return (place){(i < 4 || (8 <= i && i < 12)) ? g : g + 8,
                   t * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  default: // m16n8k16 of bytes
    return (place){i < 4 ? g : g + 8, t * 4 + (i & 3)};
  }
}

static place place_of_b(uint32_t bits, uint32_t k, uint32_t g, uint32_t t,
                        uint32_t i) {
  switch (bits * 100 + k) {
  case 1616:
    return (place){t * 2 + (i & 1) + (i < 2 ? 0 : 8), g};
  case 1608:
    return (place){t * 2 + i, g};
  case 3208:
    return (place){i == 0 ? t : t + 4, g};
  case 3204:
    return (place){t, g};
  case 832:
    return (place){t * 4 + (i & 3) + (i < 4 ? 0 : 16), g};
  default:
    return (place){t * 4 + i, g};
  }
}

static place place_of_c(uint32_t g, uint32_t t, uint32_t i) {
  return (place){i < 2 ? g : g + 8, t * 2 + (i & 1)};
}

static uint32_t width_of(tensor_type type) {
  return type == TENSOR_TF32                         ? 32
         : type == TENSOR_F16 || type == TENSOR_BF16 ? 16
                                                     : 8;
}

static void put(uint32_t (*registers)[TENSOR_WARP], uint32_t lane,
                uint32_t element, uint32_t width, uint32_t bits) {
  uint32_t per = 32 / width;
  registers[element / per][lane] |= bits << (element % per * width);
}

static uint32_t saturated(double exact, uint32_t wrapped) {
  return exact > INT32_MAX   ? (uint32_t)INT32_MAX
         : exact < INT32_MIN ? (uint32_t)INT32_MIN
                             : wrapped;
}

static void check_mma(uint64_t *seed, const tensor_mma *op) {
  uint32_t a[M][MAX_K], b[MAX_K][N], c[M][N];
  uint32_t width = width_of(op->a), each = M * op->k / 32;
  uint32_t ar[4][TENSOR_WARP] = {0}, br[2][TENSOR_WARP] = {0},
           cr[4][TENSOR_WARP] = {0}, dr[4][TENSOR_WARP];
  for (uint32_t k = 0; k < op->k; ++k) {
    for (uint32_t i = 0; i < M; ++i)
      a[i][k] = random_bits(seed, op->a);
    for (uint32_t j = 0; j < N; ++j)
      b[k][j] = random_bits(seed, op->b);
  }
  for (uint32_t i = 0; i < M; ++i)
    for (uint32_t j = 0; j < N; ++j)
      // Near the ends, so that sums wrap.
      c[i][j] = op->sum == TENSOR_F32
                    ? random_bits(seed, TENSOR_F32)
                    : (random_below(seed, 2) ? 0x7FFFFF00U : 0x80000100U) +
                          random_below(seed, 256);
  for (uint32_t lane = 0; lane < TENSOR_WARP; ++lane) {
    uint32_t g = lane >> 2, t = lane % 4;
    for (uint32_t i = 0; i < each; ++i) {
      place p = place_of_a(width, op->k, g, t, i);
      put(ar, lane, i, width, a[p.row][p.col]);
    }
    for (uint32_t i = 0; i < each / 2; ++i) {
      place p = place_of_b(width, op->k, g, t, i);
      put(br, lane, i, width, b[p.row][p.col]);
    }
    for (uint32_t i = 0; i < 4; ++i) {
      place p = place_of_c(g, t, i);
      cr[i][lane] = c[p.row][p.col];
    }
  }
  assert_ok(tensor_mma_run(op, ar, br, cr, dr));
  for (uint32_t lane = 0; lane < TENSOR_WARP; ++lane)
    for (uint32_t i = 0; i < 4; ++i) {
      place p = place_of_c(lane >> 2, lane % 4, i);
      double exact = value_of(op->sum, c[p.row][p.col]);
      uint32_t wrapped = c[p.row][p.col];
      for (uint32_t k = 0; k < op->k; ++k) {
        double product =
            value_of(op->a, a[p.row][k]) * value_of(op->b, b[k][p.col]);
        exact += product;
        wrapped += op->sum == TENSOR_S32 ? (uint32_t)(int32_t)product : 0;
      }
      uint32_t expected = op->sum == TENSOR_F32 ? bits_of_float((float)exact)
                          : op->saturate        ? saturated(exact, wrapped)
                                                : wrapped;
      assert_int_equal(dr[i][lane], expected);
    }
  // The sums may be where the results go.
  assert_ok(tensor_mma_run(op, ar, br, cr, cr));
  assert_memory_equal(cr, dr, sizeof(dr));
}

static void test_mma(void **unused) {
  (void)unused;
  static const tensor_mma ops[] = {
      {16, TENSOR_F16, TENSOR_F16, TENSOR_F32, false},
      {8, TENSOR_F16, TENSOR_F16, TENSOR_F32, false},
      {16, TENSOR_BF16, TENSOR_BF16, TENSOR_F32, false},
      {8, TENSOR_BF16, TENSOR_BF16, TENSOR_F32, false},
      {8, TENSOR_TF32, TENSOR_TF32, TENSOR_F32, false},
      {4, TENSOR_TF32, TENSOR_TF32, TENSOR_F32, false},
      {32, TENSOR_E4M3, TENSOR_E4M3, TENSOR_F32, false},
      {32, TENSOR_E4M3, TENSOR_E5M2, TENSOR_F32, false},
      {32, TENSOR_S8, TENSOR_S8, TENSOR_S32, false},
      {32, TENSOR_S8, TENSOR_S8, TENSOR_S32, true},
      {32, TENSOR_U8, TENSOR_S8, TENSOR_S32, false},
      {16, TENSOR_S8, TENSOR_U8, TENSOR_S32, true}};
  uint64_t seed = 11;
  for (int run = 0; run < 20; ++run)
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); ++i)
      check_mma(&seed, &ops[i]);
}

static void test_mma_errors(void **unused) {
  (void)unused;
  uint32_t r[4][TENSOR_WARP] = {0};
  tensor_mma op = {16, TENSOR_F16, TENSOR_BF16, TENSOR_F32, false};
  assert_error(tensor_mma_run(&op, r, r, r, r), "go together");
  op = (tensor_mma){16, TENSOR_F16, TENSOR_F16, TENSOR_S32, false};
  assert_error(tensor_mma_run(&op, r, r, r, r), "type of the sums");
  op = (tensor_mma){16, TENSOR_F32, TENSOR_F32, TENSOR_F32, false};
  assert_error(tensor_mma_run(&op, r, r, r, r), "factors");
  op = (tensor_mma){32, TENSOR_F16, TENSOR_F16, TENSOR_F32, false};
  assert_error(tensor_mma_run(&op, r, r, r, r), "k");
  op = (tensor_mma){16, TENSOR_F16, TENSOR_F16, TENSOR_F32, true};
  assert_error(tensor_mma_run(&op, r, r, r, r), "satfinite");
}

/// Every bit pattern, and what is special in sums.
static void test_values(void **unused) {
  (void)unused;
  static const tensor_type types[] = {TENSOR_F16,  TENSOR_BF16, TENSOR_E4M3,
                                      TENSOR_E5M2, TENSOR_S8,   TENSOR_U8};
  for (size_t i = 0; i < sizeof(types) / sizeof(*types); ++i)
    for (uint32_t bits = 0; bits < 1U << width_of(types[i]); ++bits) {
      double value = tensor_value(types[i], bits);
      double expected = value_of(types[i], bits);
      if (isnan(expected))
        assert_true(isnan(value));
      else
        assert_true(value == expected && signbit(value) == signbit(expected));
      // And back.
      if (types[i] == TENSOR_F16 || types[i] == TENSOR_BF16)
        assert_int_equal(tensor_round(types[i], expected),
                         isnan(expected) ? 0x7FFF : bits);
    }
  uint64_t seed = 5;
  for (int i = 0; i < 100000; ++i) {
    uint32_t bits = (uint32_t)(random_word(&seed) >> 9);
    for (int t = 0; t < 2; ++t) {
      tensor_type type = t ? TENSOR_TF32 : TENSOR_F32;
      double value = tensor_value(type, bits), expected = value_of(type, bits);
      assert_true(isnan(expected) ? isnan(value) : value == expected);
    }
  }
  assert_int_equal(tensor_round(TENSOR_F32, 1 + 0x1p-24), 0x3F800000);
  assert_int_equal(tensor_round(TENSOR_F32, 1 + 0x3p-24), 0x3F800002);
  assert_int_equal(tensor_round(TENSOR_F32, 0x1p128), 0x7F800000);
  assert_int_equal(tensor_round(TENSOR_F32, (double)NAN), 0x7FFFFFFF);
  assert_int_equal(tensor_round(TENSOR_F16, 65519.999), 0x7BFF);
  assert_int_equal(tensor_round(TENSOR_F16, 65520), 0x7C00);
  assert_int_equal(tensor_round(TENSOR_F16, -0x1p-25), 0x8000);
  assert_int_equal(tensor_round(TENSOR_F16, 0x1.000001p-25), 1);
  assert_int_equal(tensor_round(TENSOR_F16, 1 + 0x1p-11), 0x3C00);
  assert_int_equal(tensor_round(TENSOR_F16, 1 + 0x3p-11), 0x3C02);
  assert_int_equal(tensor_round(TENSOR_BF16, 1 + 0x1p-8), 0x3F80);
  assert_int_equal(tensor_round(TENSOR_BF16, -1 - 0x3p-8), 0xBF82);
  assert_int_equal(tensor_round(TENSOR_BF16, 0x1.FFp127), 0x7F80);
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

/// The element of a matrix that a lane has in the low or high half.
static place place_in_matrix(uint32_t lane, uint32_t half, bool transposed) {
  uint32_t major = lane / 4, minor = 2 * (lane % 4) + half;
  return transposed ? (place){minor, major} : (place){major, minor};
}

static void test_matrices(void **unused) {
  (void)unused;
  uint64_t seed = 3;
  tensor_shared shared = make_shared(&seed);
  for (int run = 0; run < 300; ++run) {
    uint32_t count = 1U << random_below(&seed, 3);
    bool transposed = random_below(&seed, 2);
    uint32_t addresses[TENSOR_WARP], r[4][TENSOR_WARP];
    for (uint32_t lane = 0; lane < TENSOR_WARP; ++lane)
      // Rows do not overlap, for what is stored. The others do not count.
      addresses[lane] = lane < 8 * count
                            ? (lane * 128 + random_below(&seed, 8)) * 16
                            : 0xFFFFFFFF;
    assert_ok(tensor_ldmatrix(&shared, count, transposed, addresses, r));
    for (uint32_t m = 0; m < count; ++m)
      for (uint32_t lane = 0; lane < TENSOR_WARP; ++lane)
        for (uint32_t half = 0; half < 2; ++half) {
          place p = place_in_matrix(lane, half, transposed);
          const uint8_t *at =
              shared.bytes + addresses[8 * m + p.row] + 2 * p.col;
          assert_int_equal(r[m][lane] >> (16 * half) & 0xFFFF,
                           at[0] | at[1] << 8);
        }
    // What is stored comes back, also transposed, and no other byte changes.
    uint8_t *before = malloc(CASE_SHARED);
    assert_non_null(before);
    memcpy(before, shared.bytes, CASE_SHARED);
    for (uint32_t m = 0; m < count; ++m)
      for (uint32_t lane = 0; lane < TENSOR_WARP; ++lane)
        r[m][lane] = (uint32_t)random_word(&seed);
    assert_ok(tensor_stmatrix(&shared, count, transposed, addresses, r));
    for (uint32_t m = 0; m < count; ++m)
      for (uint32_t lane = 0; lane < TENSOR_WARP; ++lane)
        for (uint32_t half = 0; half < 2; ++half) {
          place p = place_in_matrix(lane, half, transposed);
          uint8_t *at = before + addresses[8 * m + p.row] + 2 * p.col;
          at[0] = (uint8_t)(r[m][lane] >> (16 * half));
          at[1] = (uint8_t)(r[m][lane] >> (16 * half + 8));
        }
    assert_memory_equal(before, shared.bytes, CASE_SHARED);
    free(before);
  }
  uint32_t addresses[TENSOR_WARP] = {0}, r[4][TENSOR_WARP];
  assert_error(tensor_ldmatrix(&shared, 3, false, addresses, r), "1, 2 or 4");
  addresses[31] = 8;
  assert_error(tensor_ldmatrix(&shared, 4, false, addresses, r), "of 16");
  assert_ok(tensor_ldmatrix(&shared, 2, false, addresses, r));
  addresses[7] = CASE_SHARED;
  assert_error(tensor_stmatrix(&shared, 1, false, addresses, r), "outside");
  // A register of addresses may be one of the results.
  for (uint32_t lane = 0; lane < TENSOR_WARP; ++lane)
    r[0][lane] = addresses[lane] = 16 * lane;
  uint32_t expected[4][TENSOR_WARP];
  assert_ok(tensor_ldmatrix(&shared, 4, false, addresses, expected));
  assert_ok(tensor_ldmatrix(&shared, 4, false, r[0], r));
  assert_memory_equal(r, expected, sizeof(r));
  free(shared.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mma), cmocka_unit_test(test_mma_errors),
      cmocka_unit_test(test_values), cmocka_unit_test(test_matrices)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
