//===- TensorTcgen05.c - tcgen05: products into tensor memory -------------===//

#include "TensorTcgen05.h"

#include "TensorFactor.h"
#include "TensorMultiply.h"

enum { M = 128, MAX_N = 256, MAX_K = 32, WARP_LANES = 32, LOAD_LANES = 16 };

/// "Shared memory descriptor".
static const char *read_descriptor(uint64_t descriptor, tensor_factor *read) {
  static const uint32_t spans[] = {TENSOR_CHUNK, 0, 128, 0, 64, 0, 32, 0};
  const uint64_t unused = UINT64_C(3) << 14 | UINT64_C(3) << 30 |
                          UINT64_C(6) << 46 | UINT64_C(0xFF) << 53;
  if (descriptor & unused || !(descriptor >> 46 & 1))
    return "bits 46 to 48 of a matrix descriptor are 1, and unused ones 0";
  if (descriptor >> 49 & 0xF)
    return "base offsets and absolute addresses of matrix descriptors are not "
           "emulated";
  uint32_t span = spans[descriptor >> 61];
  if (!span)
    return "no such swizzle of a matrix descriptor, or one that is not "
           "emulated";
  *read = (tensor_factor){tensor_descriptor_bytes(descriptor, 0),
                          tensor_descriptor_bytes(descriptor, 16),
                          tensor_descriptor_bytes(descriptor, 32), span};
  return NULL;
}

/// The elements of a factor, by their number in an instruction descriptor.
static bool type_of(tensor_tcgen05_kind kind, uint32_t number,
                    tensor_type *type) {
  static const tensor_type of_f16[] = {TENSOR_F16, TENSOR_BF16};
  static const tensor_type of_f8[] = {TENSOR_E4M3, TENSOR_E5M2};
  if (kind == TENSOR_KIND_TF32) {
    *type = TENSOR_TF32;
    return number == 2;
  }
  if (number > 1)
    return false;
  *type = kind == TENSOR_KIND_F16 ? of_f16[number] : of_f8[number];
  return true;
}

/// The factors of a product: a [M][depth], b [depth][n].
typedef struct factors {
  uint32_t n, depth;
  double a[M * MAX_K], b[MAX_K * MAX_N];
} factors;

static const char *load_factors(tensor_tcgen05_kind kind,
                                const tensor_shared *shared, uint64_t a,
                                uint64_t b, uint32_t shape, factors *f) {
  // "Instruction descriptor": bits 0 to 3 sparsity and saturation, 4 and 5 the
  // sums, 6 none, 7 to 9 and 10 to 12 elements, 13 and 14 signs, 15 and 16 k is
  // not contiguous, 17 to 22 columns, 24 to 28 rows.
  tensor_type types[2];
  if (shape & (0xF | 1U << 6 | 3U << 13 | 1U << 23 | 7U << 29))
    return "an instruction descriptor with bits that are unused or not "
           "emulated";
  if ((shape >> 4 & 3) != 1)
    return "sums that are not f32 are not emulated";
  if (!type_of(kind, shape >> 7 & 7, &types[0]) ||
      !type_of(kind, shape >> 10 & 7, &types[1]))
    return "an instruction descriptor with elements that its kind has not";
  f->n = (shape >> 17 & 0x3F) * 8;
  if ((shape >> 24 & 0x1F) * 16 != M || f->n < 16 || f->n > MAX_N || f->n % 16)
    return "rows are not 128, or columns no multiple of 16 up to 256";
  bool major_a = shape >> 15 & 1, major_b = shape >> 16 & 1;
  if ((major_a || major_b) && kind != TENSOR_KIND_F16)
    return "only elements of 16 bits may be transposed here";
  tensor_factor of_a, of_b;
  const char *error = read_descriptor(a, &of_a);
  if (!error)
    error = read_descriptor(b, &of_b);
  f->depth = 256 / tensor_type_bits(types[0]);
  if (!error)
    error = tensor_factor_load(shared, &of_a, types[0], major_a, M, f->depth,
                               f->depth, 1, f->a);
  if (!error)
    error = tensor_factor_load(shared, &of_b, types[1], major_b, f->n, f->depth,
                               1, f->n, f->b);
  return error;
}

const char *tensor_tcgen05_mma_reads(tensor_tcgen05_kind kind,
                                     const tensor_shared *shared, uint64_t a,
                                     uint64_t b, uint32_t shape) {
  factors f;
  return load_factors(kind, shared, a, b, shape, &f);
}

const char *tensor_tcgen05_mma(tensor_tcgen05_kind kind,
                               const tensor_shared *shared,
                               const tensor_tcgen05_memory *memory, uint32_t d,
                               uint64_t a, uint64_t b, uint32_t shape,
                               bool adds) {
  factors f;
  const char *error = load_factors(kind, shared, a, b, shape, &f);
  if (error)
    return error;
  if (d >> 16 || d + f.n > memory->columns)
    return "the sums do not lie in columns that the block has allocated";
  double sums[MAX_N];
  for (uint32_t row = 0; row < M; ++row) {
    tensor_multiply_row(f.a + (size_t)row * f.depth, f.b, f.depth, f.n, sums);
    uint32_t *to = memory->words[row] + d;
    for (uint32_t col = 0; col < f.n; ++col)
      to[col] = tensor_add(TENSOR_F32, false, sums[col], adds ? to[col] : 0);
  }
  return NULL;
}

const char *tensor_tcgen05_load(const tensor_tcgen05_memory *memory,
                                uint32_t warp, uint32_t address,
                                uint32_t registers, uint32_t (*to)[32]) {
  uint32_t lane = address >> 16, column = address & 0xFFFF;
  uint32_t columns = registers / 4 * 8;
  if (column + columns > memory->columns)
    return "columns that the block has not allocated are read";
  if (lane / WARP_LANES != warp || lane % LOAD_LANES)
    return "a warp reads 16 lanes, from a multiple of 16 on, of its own 32";
  for (uint32_t r = 0; r < registers; ++r)
    for (uint32_t thread = 0; thread < WARP_LANES; ++thread) {
      uint32_t row = thread / 4 + r % 4 / 2 * 8;
      uint32_t col = r / 4 * 8 + thread % 4 * 2 + r % 2;
      to[r][thread] = memory->words[lane + row][column + col];
    }
  return NULL;
}
