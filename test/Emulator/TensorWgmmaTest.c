//===- TensorWgmmaTest.c - wgmma.mma_async --------------------------------===//
//
// Matrices come into shared memory in two ways: by the layouts that "Canonical
// Layouts" lists, as CuTe defines them, and by boxes of tensor maps, as kernels
// load them. What is said to be measured was, on a device of sm_90.
//
//===----------------------------------------------------------------------===//

#include "TensorWgmma.h"
#include "TensorMaps.h"

#include "TensorCase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 64, MAX_N = 256, MAX_K = 128, GLOBAL = 0x10000000 };

static uint32_t bytes_of(tensor_type type) {
  return type == TENSOR_TF32                         ? 4
         : type == TENSOR_F16 || type == TENSOR_BF16 ? 2
                                                     : 1;
}

/// Bits 62 and 63 of a descriptor, by log2(span / 16).
static const uint64_t modes[] = {0, 3, 2, 1};

static uint64_t make_descriptor(uint32_t start, uint32_t leading,
                                uint32_t stride, uint32_t swizzle) {
  return (start & 0x3FFFF) >> 4 | (uint64_t)((leading & 0x3FFFF) >> 4) << 16 |
         (uint64_t)((stride & 0x3FFFF) >> 4) << 32 | modes[swizzle] << 62;
}

//===----------------------------------------------------------------------===//
// Canonical layouts
//===----------------------------------------------------------------------===//

/// A CuTe layout of two dimensions, with up to three levels each: an index is
/// taken apart from the left, and each part goes by its stride (in elements).
typedef struct layout {
  uint32_t shape[2][3], stride[2][3];
} layout;

static uint32_t place_of(const layout *l, const uint32_t index[2]) {
  uint32_t place = 0;
  for (int d = 0; d < 2; ++d) {
    uint32_t rest = index[d];
    for (int level = 0; level < 3; ++level) {
      // The last level goes on and on.
      uint32_t shape = l->shape[d][level];
      uint32_t part = level == 2 || shape == 0 ? rest : rest % shape;
      rest = shape == 0 ? 0 : rest / shape;
      place += part * l->stride[d][level];
      if (shape == 0)
        break;
    }
  }
  return place;
}

/// Swizzle<B, 4, 3> of a byte address.
static uint32_t swizzled(uint32_t address, uint32_t b) {
  uint32_t mask = ((1U << b) - 1) << (4 + 3);
  return address ^ (address & mask) >> 3;
}

/// The table of canonical layouts; strides in elements. A shape of 0 stands for
/// m or k, which are not bounded.
static layout canonical(bool major, uint32_t swizzle, uint32_t t, uint32_t lbo,
                        uint32_t sbo) {
  uint32_t s = 1U << swizzle;
  if (major && swizzle == 0)
    return (layout){{{t, 1, 0}, {8, 0}}, {{1, t, sbo}, {t, lbo}}};
  if (major)
    return (layout){{{t, s, 0}, {8, 0}}, {{1, t, lbo}, {s * t, sbo}}};
  if (swizzle == 0)
    return (layout){{{8, 0}, {t, 0}}, {{t, sbo}, {1, lbo}}};
  return (layout){{{8, 0}, {t, 0}}, {{s * t, sbo}, {1, t}}};
}

/// The examples that the ISA works out: exact layouts and what a descriptor has
/// in units of 16 bytes.
static void test_examples(void **unused) {
  (void)unused;
  static const struct {
    tensor_type type;
    bool major;
    uint32_t swizzle, leading, stride; ///< as encoded
    layout exact;
  } examples[] = {
      {TENSOR_TF32, false, 0, 16, 8, {{{8, 2}, {4, 4}}, {{4, 32}, {1, 64}}}},
      {TENSOR_TF32, false, 1, 1, 16, {{{8, 2}, {4, 4}}, {{8, 64}, {1, 4}}}},
      {TENSOR_BF16,
       true,
       0,
       16,
       8,
       {{{8, 1, 2}, {8, 2}}, {{1, 8, 64}, {8, 128}}}},
      {TENSOR_BF16,
       true,
       1,
       16,
       32,
       {{{8, 2, 2}, {8, 2}}, {{1, 8, 128}, {16, 256}}}},
      {TENSOR_BF16,
       true,
       2,
       32,
       64,
       {{{8, 4, 2}, {8, 2}}, {{1, 8, 256}, {32, 512}}}}};
  for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); ++i) {
    const layout *l = &examples[i].exact;
    uint32_t extents[2] = {1, 1};
    for (int d = 0; d < 2; ++d)
      for (int level = 0; level < 3 && l->shape[d][level]; ++level)
        extents[d] *= l->shape[d][level];
    // tf32 takes 8 of the 16 columns that the example shows.
    uint32_t start = 4096, bytes = bytes_of(examples[i].type);
    extents[1] = extents[1] > 32 / bytes ? 32 / bytes : extents[1];
    for (uint32_t outer = 0; outer < extents[0]; ++outer)
      for (uint32_t k = 0; k < extents[1]; ++k) {
        uint32_t address;
        assert_ok(tensor_descriptor_address(
            make_descriptor(start, 16 * examples[i].leading,
                            16 * examples[i].stride, examples[i].swizzle),
            examples[i].type, examples[i].major, outer, k, &address));
        uint32_t linear = start + place_of(l, (uint32_t[]){outer, k}) * bytes;
        assert_int_equal(address, swizzled(linear, examples[i].swizzle));
      }
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A matrix along m or n, and k.
typedef struct matrix {
  tensor_type type;
  uint32_t outer, k;
  uint32_t bits[MAX_N][MAX_K];
} matrix;

static matrix *draw(uint64_t *seed, tensor_type type, uint32_t outer,
                    uint32_t k) {
  matrix *made = malloc(sizeof(*made));
  assert_non_null(made);
  made->type = type;
  made->outer = outer;
  made->k = k;
  for (uint32_t i = 0; i < outer; ++i)
    for (uint32_t j = 0; j < k; ++j)
      made->bits[i][j] = random_bits(seed, type);
  return made;
}

static void put(const tensor_shared *shared, uint32_t address, uint32_t bits,
                uint32_t size) {
  assert_true(address <= shared->size - size);
  memcpy(shared->bytes + address, &bits, size);
}

typedef uint32_t accumulators[MAX_N / 2][TENSOR_WARPGROUP];

static void draw_sums(uint64_t *seed, const tensor_wgmma *op, accumulators d) {
  for (uint32_t r = 0; r < op->n / 2; ++r)
    for (uint32_t thread = 0; thread < TENSOR_WARPGROUP; ++thread)
      d[r][thread] = random_bits(seed, op->sum);
}

/// Compares `d` with c + a * b over the columns from `first` on, of a and b
/// ("accumulator matrix D": row and column of a thread's element i).
static void check_product(const tensor_wgmma *op, const matrix *a,
                          const matrix *b, uint32_t first, uint32_t depth,
                          accumulators c, accumulators d) {
  for (uint32_t thread = 0; thread < TENSOR_WARPGROUP; ++thread)
    for (uint32_t i = 0; i < op->n / 2; ++i) {
      uint32_t warp = thread / 32, lane = thread % 32;
      uint32_t row = 16 * warp + lane / 4 + (i & 2 ? 8 : 0);
      uint32_t col = 8 * (i / 4) + lane % 4 * 2 + (i & 1);
      double sum = 0;
      for (uint32_t k = first; k < first + depth; ++k)
        sum +=
            value_of(op->a, a->bits[row][k]) * value_of(op->b, b->bits[col][k]);
      sum *= op->scale_a * op->scale_b;
      uint32_t expected;
      if (op->sum == TENSOR_F32) {
        sum += op->scale_d ? value_of(TENSOR_F32, c[i][thread]) : 0;
        expected = bits_of_float((float)sum);
      } else {
        int64_t whole = (int64_t)sum;
        whole += op->scale_d ? (int32_t)c[i][thread] : 0;
        expected = (uint32_t)whole;
        if (op->saturate && whole > INT32_MAX)
          expected = INT32_MAX;
        if (op->saturate && whole < INT32_MIN)
          expected = 1U << 31;
      }
      assert_int_equal(d[i][thread], expected);
    }
}

static const tensor_type types[][2] = {
    {TENSOR_F16, TENSOR_F16},   {TENSOR_BF16, TENSOR_BF16},
    {TENSOR_TF32, TENSOR_TF32}, {TENSOR_E4M3, TENSOR_E4M3},
    {TENSOR_E5M2, TENSOR_E4M3}, {TENSOR_S8, TENSOR_S8},
    {TENSOR_U8, TENSOR_S8},     {TENSOR_S8, TENSOR_U8}};

static tensor_wgmma draw_op(uint64_t *seed, const tensor_type *pair) {
  bool integer = pair[0] == TENSOR_S8 || pair[0] == TENSOR_U8;
  bool half = pair[0] == TENSOR_F16 || pair[0] == TENSOR_BF16;
  uint32_t n = 8 * (1 + random_below(seed, 32));
  if (integer && n > 24)
    n = n / 16 * 16;
  return (tensor_wgmma){.n = n,
                        .a = pair[0],
                        .b = pair[1],
                        .sum = integer ? TENSOR_S32 : TENSOR_F32,
                        .saturate = integer && random_below(seed, 2),
                        .scale_d = random_below(seed, 3) > 0,
                        .scale_a = !integer && random_below(seed, 2) ? -1 : 1,
                        .scale_b = !integer && random_below(seed, 2) ? -1 : 1,
                        .transpose_a = half && random_below(seed, 2),
                        .transpose_b = half && random_below(seed, 2)};
}

/// Puts a matrix into shared memory by a random canonical layout; gives its
/// descriptor.
static uint64_t put_canonical(uint64_t *seed, const tensor_shared *shared,
                              const matrix *from, bool major, uint32_t start) {
  uint32_t swizzle = random_below(seed, 4), bytes = bytes_of(from->type);
  uint32_t t = 16 / bytes, span = 16U << swizzle;
  // Patterns of 8 lines, with gaps that keep them aligned to themselves, one
  // after the other along one dimension and then along the other.
  uint32_t pattern = 8 * span * (1 + random_below(seed, 2));
  uint32_t along = major ? from->outer : from->k;
  uint32_t across = major ? from->k : from->outer;
  uint32_t blocks = (along * bytes + span - 1) / span;
  uint32_t lbo = pattern, sbo = pattern * blocks;
  if (random_below(seed, 2)) {
    sbo = pattern;
    lbo = pattern * ((across + 7) / 8);
  }
  if (major && swizzle == 0) {
    uint32_t other = lbo;
    lbo = sbo;
    sbo = other;
  }
  layout l = canonical(major, swizzle, t, lbo / bytes, sbo / bytes);
  for (uint32_t i = 0; i < from->outer; ++i)
    for (uint32_t k = 0; k < from->k; ++k)
      put(shared,
          swizzled(start + place_of(&l, (uint32_t[]){i, k}) * bytes, swizzle),
          from->bits[i][k], bytes);
  // Of swizzled k-major layouts there is no leading offset.
  if (!major && swizzle)
    lbo = 16 * random_below(seed, 1 << 14);
  return make_descriptor(start, lbo, sbo, swizzle);
}

static void test_canonical(void **unused) {
  (void)unused;
  uint64_t seed = 41;
  tensor_shared shared = make_shared(&seed);
  for (int run = 0; run < 200; ++run) {
    tensor_wgmma op = draw_op(&seed, types[run % 8]);
    uint32_t depth = 32 / bytes_of(op.a);
    matrix *a = draw(&seed, op.a, M, depth);
    matrix *b = draw(&seed, op.b, op.n, depth);
    uint64_t at = put_canonical(&seed, &shared, a, op.transpose_a, 1024);
    uint64_t bt = put_canonical(&seed, &shared, b, op.transpose_b, 32768);
    static accumulators c, d;
    draw_sums(&seed, &op, c);
    memcpy(d, c, sizeof(d));
    assert_ok(tensor_wgmma_run(&op, &shared, at, bt, d));
    check_product(&op, a, b, 0, depth, c, d);
    free(a);
    free(b);
  }
  free(shared.bytes);
}

/// The row and column of element i of a thread ("register fragment layout for
/// matrix A"), of 2, 4 and 1 bytes.
static void place_of_a(uint32_t bytes, uint32_t thread, uint32_t i,
                       uint32_t *row, uint32_t *col) {
  uint32_t g = thread % 32 / 4, t = thread % 4;
  bool low, left;
  switch (bytes) {
  case 2:
    low = i < 2 || (i >= 4 && i < 6);
    left = i < 4;
    *col = t * 2 + (i & 1) + (left ? 0 : 8);
    break;
  case 4:
    low = i == 0 || i == 2;
    left = i < 2;
    *col = t + (left ? 0 : 4);
    break;
  default:
    low = i < 4 || (i >= 8 && i < 12);
    left = i < 8;
    *col = t * 4 + (i & 3) + (left ? 0 : 16);
  }
  *row = 16 * (thread / 32) + (low ? g : g + 8);
}

static void test_registers(void **unused) {
  (void)unused;
  uint64_t seed = 43;
  tensor_shared shared = make_shared(&seed);
  for (int run = 0; run < 80; ++run) {
    tensor_wgmma op = draw_op(&seed, types[run % 8]);
    op.transpose_a = false;
    uint32_t bytes = bytes_of(op.a), depth = 32 / bytes;
    matrix *a = draw(&seed, op.a, M, depth);
    matrix *b = draw(&seed, op.b, op.n, depth);
    uint64_t bt = put_canonical(&seed, &shared, b, op.transpose_b, 32768);
    uint32_t ar[4][TENSOR_WARPGROUP] = {0};
    for (uint32_t thread = 0; thread < TENSOR_WARPGROUP; ++thread)
      for (uint32_t i = 0; i < 16 / bytes; ++i) {
        uint32_t row, col;
        place_of_a(bytes, thread, i, &row, &col);
        ar[i * bytes / 4][thread] |= a->bits[row][col] << (i * bytes % 4 * 8);
      }
    static accumulators c, d;
    draw_sums(&seed, &op, c);
    memcpy(d, c, sizeof(d));
    assert_ok(tensor_wgmma_run_registers(&op, &shared, ar, bt, d));
    check_product(&op, a, b, 0, depth, c, d);
    free(a);
    free(b);
  }
  free(shared.bytes);
}

//===----------------------------------------------------------------------===//
// Tiles that tensor maps load
//===----------------------------------------------------------------------===//

/// Fills `memory` with a matrix whose contiguous dimension is k, or `major` the
/// other one, in lines of `pitch` bytes.
static void write_matrix(const matrix *from, bool major, uint32_t pitch,
                         one_allocation *memory) {
  uint32_t bytes = bytes_of(from->type);
  uint32_t lines = major ? from->k : from->outer;
  memory->address = GLOBAL;
  memory->size = (uint64_t)lines * pitch;
  memory->bytes = calloc(lines, pitch);
  assert_non_null(memory->bytes);
  for (uint32_t i = 0; i < from->outer; ++i)
    for (uint32_t k = 0; k < from->k; ++k)
      memcpy(memory->bytes + (size_t)(major ? k : i) * pitch +
                 (size_t)(major ? i : k) * bytes,
             &from->bits[i][k], bytes);
}

typedef enum way { BOXES, ROWS, RANK3 } way;

/// How a tile of all k and outer positions lies in shared memory: what a kernel
/// knows of it.
typedef struct tile {
  uint64_t descriptor; ///< of its first k positions
  uint32_t step;       ///< bytes to the next ones
} tile;

/// Loads a matrix as kernels do: blocks as wide as the swizzle, in boxes of all
/// lines, of one line, or all blocks by one box of rank 3. Measured:
/// descriptors of the 128-byte swizzle, their steps, and that boxes of one
/// line, each at its place, give the same.
static tile load_tile(const tensor_shared *shared, const matrix *from,
                      bool major, uint32_t swizzle, way by, uint32_t start) {
  uint32_t bytes = bytes_of(from->type), span = 16U << swizzle;
  uint32_t along = (major ? from->outer : from->k) * bytes;
  uint32_t lines = major ? from->k : from->outer;
  uint32_t pitch = along + 48, blocks = along / span;
  one_allocation memory;
  write_matrix(from, major, pitch, &memory);
  tensor_global global = {find_in_allocation, &memory};
  _Alignas(64) uint8_t map[TENSOR_MAP_BYTES];
  int type = bytes == 4                  ? 7
             : from->type == TENSOR_F16  ? 6
             : from->type == TENSOR_BF16 ? 9
                                         : 0;
  uint32_t count, loaded = 0;
  if (by == RANK3) {
    assert_ok(tensor_map_encode(
        map, type, 3, GLOBAL, (uint64_t[]){span / bytes, lines, blocks},
        (uint64_t[]){pitch, span}, (uint32_t[]){span / bytes, lines, blocks},
        (uint32_t[]){1, 1, 1}, 0, (int)swizzle, 3, 0));
    assert_ok(tensor_map_load(map, 3, (int32_t[]){0, 0, 0}, &global, shared,
                              start, &loaded));
  } else {
    uint32_t rows = by == ROWS ? 1 : lines;
    assert_ok(tensor_map_encode(
        map, type, 2, GLOBAL, (uint64_t[]){along / bytes, lines},
        (uint64_t[]){pitch}, (uint32_t[]){span / bytes, rows},
        (uint32_t[]){1, 1}, 0, (int)swizzle, 3, 0));
    for (uint32_t block = 0; block < blocks; ++block)
      for (uint32_t line = 0; line < lines; line += rows) {
        int32_t at[] = {(int32_t)(block * span / bytes), (int32_t)line};
        assert_ok(tensor_map_load(map, 2, at, &global, shared,
                                  start + (block * lines + line) * span,
                                  &count));
        loaded += count;
      }
  }
  assert_int_equal(loaded, along * lines);
  free(memory.bytes);
  if (major)
    return (tile){make_descriptor(start, lines * span, 8 * span, swizzle),
                  16 / 8 * 8 * span};
  return (tile){make_descriptor(start, 0, 8 * span, swizzle), 32};
}

static void check_tile(uint64_t *seed, const tensor_shared *shared,
                       const tensor_type *pair, const uint32_t swizzles[2],
                       way by) {
  tensor_wgmma op = draw_op(seed, pair);
  // Whole blocks, which kernels have.
  op.n = 64 * (1 + random_below(seed, 4));
  op.scale_d = true;
  uint32_t depth = 32 / bytes_of(op.a);
  // k may go over the blocks of one operand, not of the other.
  uint32_t k = 128 / bytes_of(op.a);
  matrix *a = draw(seed, op.a, M, k), *b = draw(seed, op.b, op.n, k);
  tile at = load_tile(shared, a, op.transpose_a, swizzles[0], by, 2048);
  tile bt = load_tile(shared, b, op.transpose_b, swizzles[1], by, 65536);
  for (uint32_t step = 0; step < k / depth; ++step) {
    // Blocks along k follow one another.
    uint64_t descriptors[2] = {at.descriptor, bt.descriptor};
    for (int i = 0; i < 2; ++i) {
      bool major = i ? op.transpose_b : op.transpose_a;
      uint32_t span = 16U << swizzles[i], outer = i ? op.n : M;
      uint32_t offset = step * (i ? bt.step : at.step);
      if (!major)
        offset = step * 32 / span * span * outer + step * 32 % span;
      descriptors[i] += offset >> 4;
    }
    static accumulators c, d;
    draw_sums(seed, &op, c);
    memcpy(d, c, sizeof(d));
    assert_ok(tensor_wgmma_run(&op, shared, descriptors[0], descriptors[1], d));
    check_product(&op, a, b, step * depth, depth, c, d);
  }
  free(a);
  free(b);
}

static void test_tiles(void **unused) {
  (void)unused;
  uint64_t seed = 47;
  tensor_shared shared = make_shared(&seed);
  for (size_t pair = 0; pair < sizeof(types) / sizeof(*types); ++pair)
    for (uint32_t swizzle = 1; swizzle < 4; ++swizzle)
      for (way by = BOXES; by <= RANK3; ++by) {
        // A box of one line has to lie at a multiple of 128 bytes.
        if (by == ROWS && swizzle != 3)
          continue;
        for (int run = 0; run < 4; ++run) {
          uint32_t other = by == ROWS ? 3 : 1 + random_below(&seed, 3);
          check_tile(&seed, &shared, types[pair],
                     run % 2 ? (uint32_t[]){swizzle, other}
                             : (uint32_t[]){other, swizzle},
                     by);
        }
      }
  free(shared.bytes);
}

static void test_errors(void **unused) {
  (void)unused;
  uint64_t seed = 53;
  tensor_shared shared = make_shared(&seed);
  static accumulators d;
  const tensor_wgmma valid = {.n = 64,
                              .a = TENSOR_F16,
                              .b = TENSOR_F16,
                              .sum = TENSOR_F32,
                              .scale_d = true,
                              .scale_a = 1,
                              .scale_b = 1};
  uint64_t at = make_descriptor(0, 0, 1024, 3);
  tensor_wgmma op = valid;
  assert_ok(tensor_wgmma_run(&op, &shared, at, at, d));
#define REFUSED(change, words)                                                 \
  do {                                                                         \
    op = valid;                                                                \
    change;                                                                    \
    assert_error(tensor_wgmma_run(&op, &shared, at, at, d), words);            \
  } while (0)
  REFUSED(op.n = 0, "n");
  REFUSED(op.n = 12, "n");
  REFUSED(op.n = 264, "n");
  REFUSED(op.b = TENSOR_BF16, "go together");
  REFUSED(op.sum = TENSOR_S32, "sums");
  REFUSED(op.saturate = true, "satfinite");
  REFUSED(op.scale_a = 0, "imm-scale");
  REFUSED((op.a = op.b = TENSOR_TF32, op.transpose_b = true), "16 bits");
  REFUSED((op.a = op.b = TENSOR_S8, op.sum = TENSOR_S32, op.n = 40), "n");
  REFUSED((op.a = op.b = TENSOR_S8, op.sum = TENSOR_S32, op.scale_a = -1),
          "imm-scale");
#undef REFUSED
  op = valid;
  uint32_t ar[4][TENSOR_WARPGROUP] = {0};
  op.transpose_a = true;
  assert_error(tensor_wgmma_run_registers(&op, &shared, ar, at, d),
               "imm-trans");
  op.transpose_a = false;
  static const uint64_t bad[] = {UINT64_C(1) << 14, UINT64_C(1) << 31,
                                 UINT64_C(1) << 46, UINT64_C(1) << 61};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); ++i) {
    assert_error(tensor_wgmma_run(&op, &shared, at | bad[i], at, d), "meaning");
    assert_error(tensor_wgmma_run(&op, &shared, at, at | bad[i], d), "meaning");
  }
  assert_error(tensor_wgmma_run(&op, &shared, at | UINT64_C(1) << 49, at, d),
               "base offset");
  // One byte too far: the swizzle has the last chunk of the last line first.
  uint64_t last = make_descriptor(CASE_SHARED - 8192, 0, 1024, 3);
  assert_ok(tensor_wgmma_run(&op, &shared, last, at, d));
  --shared.size;
  assert_error(tensor_wgmma_run(&op, &shared, last, at, d), "outside");
  assert_error(tensor_wgmma_run(&op, &shared, at, last, d), "outside");
  ++shared.size;
  // What is not a number stays so.
  uint16_t nan = 0x7E00;
  memcpy(shared.bytes, &nan, 2);
  assert_ok(tensor_wgmma_run(&op, &shared, at, last, d));
  assert_int_equal(d[0][0], 0x7FFFFFFF);
  free(shared.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_examples), cmocka_unit_test(test_canonical),
      cmocka_unit_test(test_registers), cmocka_unit_test(test_tiles),
      cmocka_unit_test(test_errors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
