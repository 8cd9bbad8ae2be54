//===- TensorMapsTest.c - Tensor maps and bulk copies ---------------------===//

#include "TensorMaps.h"

#include "TensorCase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GLOBAL = UINT32_C(0x70000000) };

/// CUtensorMapDataType: bytes of each.
static const uint32_t sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

typedef struct case_map {
  _Alignas(64) uint8_t map[TENSOR_MAP_BYTES];
  int type, swizzle;
  uint32_t rank;
  uint64_t dims[5], strides[4];
  uint32_t box[5], step[5];
  int32_t at[5];
  uint32_t shared; ///< address
} case_map;

static const char *encode(case_map *c) {
  return tensor_map_encode(c->map, c->type, c->rank, GLOBAL, c->dims,
                           c->strides, c->box, c->step, 0, c->swizzle, 2, 0);
}

/// "TMA Swizzle" in the CUDA programming guide: 16-byte units [y][x] of lines
/// of 128 bytes.
static uint32_t place_of(const case_map *c, uint32_t offset) {
  static const uint32_t rows[] = {1, 2, 4, 8};
  uint32_t address = c->shared + offset;
  uint32_t y = address / 128, x = address % 128 / 16;
  return y * 128 + ((y % rows[c->swizzle]) ^ x) * 16 + address % 16;
}

static uint32_t extent_of(const case_map *c, uint32_t d) {
  return d == 0 ? c->box[0] : (c->box[d] + c->step[d] - 1) / c->step[d];
}

static uint32_t elements_of(const case_map *c) {
  uint32_t count = 1;
  for (uint32_t d = 0; d < c->rank; ++d)
    count *= extent_of(c, d);
  return count;
}

/// Where element `number` of the box lies in device memory; -1: outside.
static int64_t source_of(const case_map *c, uint32_t number) {
  int64_t offset = 0;
  for (uint32_t d = 0; d < c->rank; ++d) {
    uint32_t extent = extent_of(c, d), step = d == 0 ? 1 : c->step[d];
    int64_t index = (int64_t)c->at[d] + (int64_t)(number % extent) * step;
    number /= extent;
    if (index < 0 || index >= (int64_t)c->dims[d])
      return -1;
    offset += index * (int64_t)(d == 0 ? sizes[c->type] : c->strides[d - 1]);
  }
  return offset;
}

/// A random map of a random tensor, and the bytes that the tensor takes.
static uint64_t draw(uint64_t *seed, case_map *c) {
  memset(c, 0, sizeof(*c));
  c->type = (int)random_below(seed, 13);
  c->swizzle = (int)random_below(seed, 4);
  c->rank = 1 + random_below(seed, 5);
  uint32_t size = sizes[c->type];
  uint64_t bytes = 0;
  for (uint32_t d = 0; d < c->rank; ++d) {
    c->dims[d] = 1 + random_below(seed, d == 0 ? 60 : 7);
    c->box[d] = 1 + random_below(seed, 4);
    c->step[d] = random_below(seed, 3) ? 1 : 1 + random_below(seed, 3);
    if (d == 0) {
      uint32_t span = 16U << c->swizzle;
      c->box[0] = (c->swizzle ? span : 16 * c->box[0]) / size;
      bytes = c->dims[0] * size;
    } else {
      c->strides[d - 1] = (bytes + 15) / 16 * 16 + 16 * random_below(seed, 3);
      bytes += (c->dims[d] - 1) * c->strides[d - 1];
    }
    c->at[d] = (int32_t)random_below(seed, (uint32_t)c->dims[d] + 6) - 3;
  }
  // All of it outside, now and then.
  if (random_below(seed, 10) == 0)
    c->at[random_below(seed, c->rank)] =
        random_below(seed, 2) ? INT32_MAX : INT32_MIN;
  c->shared = 128 * random_below(seed, 64);
  return bytes;
}

static one_allocation allocate(uint64_t *seed, uint64_t bytes) {
  one_allocation memory = {malloc(bytes), GLOBAL, bytes};
  assert_non_null(memory.bytes);
  for (uint64_t i = 0; i < bytes; ++i)
    memory.bytes[i] = (uint8_t)(random_word(seed) >> 17);
  return memory;
}

static void test_load_and_store(void **unused) {
  (void)unused;
  uint64_t seed = 19;
  tensor_shared shared = make_shared(&seed);
  shared.size = 1 << 16;
  uint8_t *expected = malloc(shared.size);
  assert_non_null(expected);
  for (int run = 0; run < 2000; ++run) {
    case_map c;
    one_allocation memory = allocate(&seed, draw(&seed, &c));
    tensor_global global = {find_in_allocation, &memory};
    uint32_t size = sizes[c.type], count = elements_of(&c), loaded = 0;
    assert_ok(encode(&c));
    memcpy(expected, shared.bytes, shared.size);
    for (uint32_t i = 0; i < count; ++i)
      for (uint32_t byte = 0; byte < size; ++byte) {
        int64_t from = source_of(&c, i);
        expected[place_of(&c, i * size + byte)] =
            from < 0 ? 0 : memory.bytes[from + byte];
      }
    assert_ok(tensor_map_load(c.map, c.rank, c.at, &global, &shared, c.shared,
                              &loaded));
    assert_int_equal(loaded, count * size);
    assert_memory_equal(shared.bytes, expected, shared.size);

    uint8_t *stored = malloc(memory.size);
    assert_non_null(stored);
    memcpy(stored, memory.bytes, memory.size);
    for (uint32_t i = 0; i < count * size; ++i)
      shared.bytes[place_of(&c, i)] = (uint8_t)(random_word(&seed) >> 11);
    for (uint32_t i = 0; i < count; ++i)
      for (uint32_t byte = 0; byte < size; ++byte) {
        int64_t to = source_of(&c, i);
        if (to >= 0)
          stored[to + byte] = shared.bytes[place_of(&c, i * size + byte)];
      }
    assert_ok(
        tensor_map_store(c.map, c.rank, c.at, &global, &shared, c.shared));
    assert_memory_equal(memory.bytes, stored, memory.size);
    free(stored);
    free(memory.bytes);
  }
  free(expected);
  free(shared.bytes);
}

/// Whether no neighbour of `bits` is nearer to `exact`, ties to even.
static bool is_nearest(tensor_type type, double exact, uint32_t bits) {
  double error = fabs(exact - value_of(type, bits));
  if (value_of(type, bits) == 0)
    return error == 0;
  for (int step = -1; step <= 1; step += 2) {
    double other = fabs(exact - value_of(type, bits + (uint32_t)step));
    if (other < error || (other == error && bits % 2 != 0))
      return false;
  }
  return true;
}

enum { ADD_ROWS = 3, ADD_PITCH = 48 };

/// Adds a box of two rows to the last two of a tensor, one column to the right.
static void check_add(uint64_t *seed, const tensor_shared *shared, int type,
                      bool is_float, tensor_type element) {
  uint32_t size = sizes[type], cols = ADD_PITCH / size;
  case_map c = {.type = type,
                .rank = 2,
                .dims = {cols, ADD_ROWS},
                .strides = {ADD_PITCH},
                .box = {cols, 2},
                .step = {1, 1},
                .at = {1, 1},
                .shared = 256};
  one_allocation memory = allocate(seed, (uint64_t)ADD_ROWS * ADD_PITCH);
  tensor_global global = {find_in_allocation, &memory};
  uint64_t tensor[ADD_ROWS][ADD_PITCH / 2], box[2][ADD_PITCH / 2];
  for (uint32_t row = 0; row < ADD_ROWS; ++row)
    for (uint32_t col = 0; col < cols; ++col) {
      uint32_t at = row * ADD_PITCH + col * size;
      tensor[row][col] = is_float    ? random_bits(seed, element)
                         : size == 4 ? (uint32_t)random_word(seed)
                                     : random_word(seed);
      memcpy(memory.bytes + at, &tensor[row][col], size);
      if (row == 2)
        continue;
      box[row][col] = is_float ? random_bits(seed, element) : random_word(seed);
      memcpy(shared->bytes + c.shared + at, &box[row][col], size);
    }
  assert_ok(encode(&c));
  assert_ok(tensor_map_add(c.map, 2, c.at, &global, shared, c.shared));
  for (uint32_t row = 0; row < ADD_ROWS; ++row)
    for (uint32_t col = 0; col < cols; ++col) {
      uint64_t a = tensor[row][col], got = 0;
      memcpy(&got, memory.bytes + row * ADD_PITCH + (size_t)col * size, size);
      if (row == 0 || col == 0) {
        assert_int_equal(got, a);
        continue;
      }
      uint64_t b = box[row - 1][col - 1];
      if (is_float)
        assert_true(is_nearest(element,
                               value_of(element, (uint32_t)a) +
                                   value_of(element, (uint32_t)b),
                               (uint32_t)got));
      else
        assert_int_equal(got, size == 4 ? (uint32_t)(a + b) : a + b);
    }
  free(memory.bytes);
}

static void test_add(void **unused) {
  (void)unused;
  uint64_t seed = 23;
  tensor_shared shared = make_shared(&seed);
  for (int run = 0; run < 20; ++run) {
    check_add(&seed, &shared, 2, false, TENSOR_S32); // u32, s32, u64
    check_add(&seed, &shared, 3, false, TENSOR_S32);
    check_add(&seed, &shared, 4, false, TENSOR_S32);
    check_add(&seed, &shared, 6, true, TENSOR_F16);
    check_add(&seed, &shared, 7, true, TENSOR_F32);
    check_add(&seed, &shared, 9, true, TENSOR_BF16);
  }
  case_map bytes = {.rank = 1, .dims = {16}, .box = {16}, .step = {1}};
  tensor_global global = {find_in_allocation, NULL};
  assert_ok(encode(&bytes));
  assert_error(tensor_map_add(bytes.map, 1, bytes.at, &global, &shared, 0),
               "no .add");
  free(shared.bytes);
}

static case_map valid_map(void) {
  return (case_map){.type = 6,
                    .swizzle = 3,
                    .rank = 3,
                    .dims = {100, 7, 5},
                    .strides = {208, 1600},
                    .box = {64, 4, 2},
                    .step = {1, 1, 1}};
}

static void test_encoding(void **unused) {
  (void)unused;
  case_map c = valid_map();
  assert_ok(encode(&c));
  // The limits themselves.
  c.dims[0] = c.dims[1] = c.dims[2] = UINT64_C(1) << 32;
  c.strides[1] = (UINT64_C(1) << 40) - 16;
  c.strides[0] = 0;
  c.box[1] = 256;
  c.step[2] = 8;
  c.step[0] = 8;
  assert_ok(encode(&c));
  // Strides need not grow: blocks of columns are a dimension outside of rows.
  c = valid_map();
  c.strides[1] = 128;
  assert_ok(encode(&c));

#define REFUSED(change, words)                                                 \
  do {                                                                         \
    c = valid_map();                                                           \
    change;                                                                    \
    assert_error(encode(&c), words);                                           \
  } while (0)
  REFUSED(c.type = -1, "data type");
  REFUSED(c.type = 13, "data type");
  REFUSED(c.rank = 0, "rank");
  REFUSED(c.rank = 6, "rank");
  REFUSED(c.dims[1] = 0, "dimension");
  REFUSED(c.dims[0] = (UINT64_C(1) << 32) + 1, "dimension");
  REFUSED(c.strides[0] = 200, "stride");
  REFUSED(c.strides[1] = UINT64_C(1) << 40, "stride");
  REFUSED(c.box[1] = 0, "box");
  REFUSED(c.box[2] = 257, "box");
  REFUSED(c.box[0] = 60, "multiple of 16");
  REFUSED(c.box[0] = 72, "larger than the swizzle");
  REFUSED((c.swizzle = 2, c.box[0] = 40), "larger than the swizzle");
  REFUSED((c.swizzle = 1, c.box[0] = 24), "larger than the swizzle");
  REFUSED(c.swizzle = 4, "swizzle");
  REFUSED(c.step[1] = 0, "element stride");
  REFUSED(c.step[0] = 9, "element stride");
#undef REFUSED

  c = valid_map();
#define ENCODE(map, address, interleave, l2, fill)                             \
  tensor_map_encode(map, c.type, c.rank, address, c.dims, c.strides, c.box,    \
                    c.step, interleave, c.swizzle, l2, fill)
  assert_error(ENCODE(NULL, GLOBAL, 0, 0, 0), "NULL");
  assert_error(ENCODE(c.map + 32, GLOBAL, 0, 0, 0), "64");
  assert_error(ENCODE(c.map, GLOBAL + 8, 0, 0, 0), "global address");
  assert_error(ENCODE(c.map, 0, 0, 0, 0), "global address");
  assert_error(ENCODE(c.map, GLOBAL, 1, 0, 0), "interleaved");
  assert_error(ENCODE(c.map, GLOBAL, 0, 4, 0), "L2");
  assert_error(ENCODE(c.map, GLOBAL, 0, 0, 2), "fill");
  c.type = 1;
  assert_error(ENCODE(c.map, GLOBAL, 0, 0, 1), "fill");
  assert_ok(ENCODE(c.map, GLOBAL, 0, 3, 0));
#undef ENCODE
}

static void test_copy_errors(void **unused) {
  (void)unused;
  uint64_t seed = 29;
  tensor_shared shared = make_shared(&seed);
  case_map c = valid_map();
  uint64_t bytes = 4 * 1600 + 6 * 208 + 200;
  one_allocation memory = allocate(&seed, bytes);
  tensor_global global = {find_in_allocation, &memory};
  uint32_t loaded;
#define LOAD(map, rank, address)                                               \
  tensor_map_load(map, rank, c.at, &global, &shared, address, &loaded)
  uint8_t zeros[TENSOR_MAP_BYTES] = {0};
  assert_error(LOAD(zeros, 3, 0), "no tensor map");
  assert_ok(encode(&c));
  assert_error(LOAD(c.map, 2, 0), "rank");
  assert_error(LOAD(c.map, 3, 64), "128");
  assert_error(LOAD(c.map, 3, CASE_SHARED - 896), "outside");
  assert_error(LOAD(c.map, 3, 0xFFFFFF80), "outside");
  assert_ok(LOAD(c.map, 3, CASE_SHARED - 1024));
  // The last rows of the tensor, and one byte less of memory.
  c.at[0] = 64;
  c.at[1] = 5;
  c.at[2] = 4;
  assert_ok(LOAD(c.map, 3, 0));
  --memory.size;
  assert_error(LOAD(c.map, 3, 0), "allocation");
  assert_error(tensor_map_store(c.map, 3, c.at, &global, &shared, 0),
               "allocation");
  ++memory.size;
  c.box[0] = 32;
  assert_ok(encode(&c));
  assert_error(LOAD(c.map, 3, 0), "smaller than the swizzle");
  for (int d = 0; d < 3; ++d)
    c.box[d] = 256;
  c.swizzle = 0;
  assert_ok(encode(&c));
  assert_error(LOAD(c.map, 3, 0), "outside");
  c.rank = 5;
  for (int d = 0; d < 5; ++d) {
    c.dims[d] = c.box[d] = 256;
    c.step[d] = 1;
  }
  assert_ok(encode(&c));
  assert_error(LOAD(c.map, 5, 0), "larger than shared memory");
#undef LOAD
  free(memory.bytes);
  free(shared.bytes);
}

static void test_bulk(void **unused) {
  (void)unused;
  uint64_t seed = 31;
  tensor_shared shared = make_shared(&seed);
  one_allocation memory = allocate(&seed, 256);
  tensor_global global = {find_in_allocation, &memory};
  assert_ok(tensor_bulk_load(&global, GLOBAL + 16, &shared, 48, 240));
  assert_memory_equal(shared.bytes + 48, memory.bytes + 16, 240);
  assert_ok(tensor_bulk_store(&shared, 96, &global, GLOBAL, 32));
  assert_memory_equal(shared.bytes + 96, memory.bytes, 32);
  assert_ok(tensor_bulk_load(&global, GLOBAL, &shared, 48, 0));
  assert_error(tensor_bulk_load(&global, GLOBAL + 8, &shared, 48, 16), "16");
  assert_error(tensor_bulk_load(&global, GLOBAL, &shared, 40, 16), "16");
  assert_error(tensor_bulk_load(&global, GLOBAL, &shared, 48, 24), "16");
  assert_error(tensor_bulk_load(&global, GLOBAL, &shared, CASE_SHARED, 16),
               "outside");
  assert_error(tensor_bulk_store(&shared, 0, &global, GLOBAL + 240, 32),
               "allocation");
  free(memory.bytes);
  free(shared.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_load_and_store), cmocka_unit_test(test_add),
      cmocka_unit_test(test_encoding), cmocka_unit_test(test_copy_errors),
      cmocka_unit_test(test_bulk)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
