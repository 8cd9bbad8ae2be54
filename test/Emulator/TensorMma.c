//===- TensorMma.c - mma.sync, ldmatrix and stmatrix ----------------------===//

#include "TensorMma.h"

#include "TensorMultiply.h"

#include <string.h>

enum { M = 16, N = 8, MAX_K = 32 };

static const char *check(const tensor_mma *op) {
  const char *error = tensor_check_types(op->a, op->b, op->sum, op->saturate);
  if (error)
    return error;
  uint32_t bits = op->k * tensor_type_bits(op->a);
  return bits == 128 || bits == 256 ? NULL : "mma has no such k for its type";
}

const char *tensor_mma_run(const tensor_mma *op,
                           const uint32_t (*a)[TENSOR_WARP],
                           const uint32_t (*b)[TENSOR_WARP],
                           const uint32_t (*c)[TENSOR_WARP],
                           uint32_t (*d)[TENSOR_WARP]) {
  const char *error = check(op);
  if (error)
    return error;
  double av[M * MAX_K], bv[MAX_K * N], sums[N];
  uint32_t elements = 32 / tensor_type_bits(op->a);
  uint32_t halves = op->k / (4 * elements); // registers along k
  for (uint32_t lane = 0; lane < TENSOR_WARP; ++lane) {
    uint32_t group = lane / 4, first = lane % 4 * elements;
    for (uint32_t half = 0; half < halves; ++half) {
      double few[4];
      uint32_t k = half * 4 * elements + first;
      for (uint32_t high = 0; high < 2; ++high)
        tensor_values(op->a, &a[2 * half + high][lane], elements,
                      av + (group + 8 * high) * op->k + k);
      tensor_values(op->b, &b[half][lane], elements, few);
      for (uint32_t i = 0; i < elements; ++i)
        bv[(k + i) * N + group] = few[i];
    }
  }
  for (uint32_t row = 0; row < M; ++row) {
    tensor_multiply_row(av + (size_t)row * op->k, bv, op->k, N, sums);
    for (uint32_t col = 0; col < N; ++col) {
      uint32_t lane = row % 8 * 4 + col / 2, r = row / 8 * 2 + col % 2;
      d[r][lane] = tensor_add(op->sum, op->saturate, sums[col], c[r][lane]);
    }
  }
  return NULL;
}

//===----------------------------------------------------------------------===//
// Matrices of 8 x 8 elements of 16 bits
//===----------------------------------------------------------------------===//

enum { ROWS = 8, ROW_BYTES = 16 };

static const char *check_rows(const tensor_shared *shared, uint32_t count,
                              const uint32_t addresses[TENSOR_WARP]) {
  if (count != 1 && count != 2 && count != 4)
    return "the number of matrices is not 1, 2 or 4";
  for (uint32_t lane = 0; lane < ROWS * count; ++lane) {
    const char *error =
        tensor_check_shared(shared, addresses[lane], ROW_BYTES, ROW_BYTES);
    if (error)
      return error;
  }
  return NULL;
}

/// The two elements of a matrix that a lane has, as places in memory.
static void locate_pair(const tensor_shared *shared, bool transposed,
                        const uint32_t addresses[ROWS], uint32_t lane,
                        uint8_t *places[2]) {
  uint32_t outer = lane / 4, inner = lane % 4 * 2;
  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t row = transposed ? inner + i : outer;
    uint32_t col = transposed ? outer : inner + i;
    places[i] = shared->bytes + addresses[row] + (size_t)2 * col;
  }
}

const char *tensor_ldmatrix(const tensor_shared *shared, uint32_t count,
                            bool transposed,
                            const uint32_t addresses[TENSOR_WARP],
                            uint32_t (*registers)[TENSOR_WARP]) {
  const char *error = check_rows(shared, count, addresses);
  if (error)
    return error;
  // The addresses may be in a register that is written.
  uint32_t rows[TENSOR_WARP];
  memcpy(rows, addresses, sizeof(rows));
  for (uint32_t matrix = 0; matrix < count; ++matrix)
    for (uint32_t lane = 0; lane < TENSOR_WARP; ++lane) {
      uint8_t *places[2];
      uint16_t pair[2];
      locate_pair(shared, transposed, rows + (size_t)ROWS * matrix, lane,
                  places);
      for (int i = 0; i < 2; ++i)
        memcpy(&pair[i], places[i], sizeof(pair[i]));
      registers[matrix][lane] = pair[0] | (uint32_t)pair[1] << 16;
    }
  return NULL;
}

const char *tensor_stmatrix(const tensor_shared *shared, uint32_t count,
                            bool transposed,
                            const uint32_t addresses[TENSOR_WARP],
                            const uint32_t (*registers)[TENSOR_WARP]) {
  const char *error = check_rows(shared, count, addresses);
  if (error)
    return error;
  for (uint32_t matrix = 0; matrix < count; ++matrix)
    for (uint32_t lane = 0; lane < TENSOR_WARP; ++lane) {
      uint8_t *places[2];
      uint32_t both = registers[matrix][lane];
      uint16_t pair[2] = {(uint16_t)both, (uint16_t)(both >> 16)};
      locate_pair(shared, transposed, addresses + (size_t)ROWS * matrix, lane,
                  places);
      for (int i = 0; i < 2; ++i)
        memcpy(places[i], &pair[i], sizeof(pair[i]));
    }
  for (uint32_t lane = 0; lane < ROWS * count; ++lane)
    tensor_note_write(shared, addresses[lane], ROW_BYTES, /*async=*/false);
  return NULL;
}
