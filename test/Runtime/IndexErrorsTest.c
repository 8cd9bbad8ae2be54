//===- IndexErrorsTest.c - Builds that must fail, and edge cases ----------===//

#include "Reference.h"

#include <math.h>
#include <string.h>

static pit_index_spec spec_2d(int64_t rows, int64_t columns, int32_t axis,
                              int64_t tile_rows, int64_t tile_columns) {
  return (pit_index_spec){.rank = 2,
                          .axis = axis,
                          .shape = {rows, columns},
                          .micro_tile = {tile_rows, tile_columns}};
}

/// Builds and expects an error with `part` in its message.
static void refuse(builder_fixture *f, const pit_index_spec *spec,
                   pit_source source, const DLTensor *data, pit_status wanted,
                   const char *part) {
  f->index = (const pit_index *)f;
  pit_status status =
      pit_index_build(f->builder, spec, source, data, NULL, &f->index);
  check_error(f->context, status, wanted, part);
  assert_null(f->index);
}

static void test_spec(void **state) {
  builder_fixture *f = *state;
  float values[16] = {0};
  int64_t shape[2] = {4, 4};
  DLTensor x = tensor_of(values, PIT_DTYPE_FLOAT, 32, 2, shape);
  const pit_index_spec good = spec_2d(4, 4, 1, 2, 1);
  pit_index_spec spec;

  refuse(f, NULL, PIT_SOURCE_VALUES, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: the spec is NULL");
  spec = good, spec.rank = 0;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_SHAPE,
         "index: rank 0; ranks 1 to 8 are supported");
  spec = good, spec.rank = 9;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_SHAPE,
         "index: rank 9; ranks 1 to 8 are supported");
  spec = good, spec.axis = 2;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: axis 2 of a tensor of rank 2; it must be in [0, 2)");
  spec = good, spec.axis = -1;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: axis -1 of");
  spec = good, spec.shape[0] = -4;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_SHAPE,
         "index: dimension 0 is -4; it cannot be negative");
  spec = good, spec.shape[0] = INT64_MAX;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_UNSUPPORTED,
         "index: dimension 0 is 9223372036854775807; it can be at most 2^60");
  spec = good, spec.shape[1] = INT64_C(1) << 31;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_UNSUPPORTED,
         "index: dimension 1, the axis, is 2147483648; ids are 32-bit");
  spec = good, spec.micro_tile[0] = -2;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: micro_tile[0] is -2; it must be at least 1, or 0");
  spec = good, spec.micro_tile[1] = 2;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: micro_tile[1] is 2 with step 0; on the axis both must be 1");
  spec = good, spec.step[1] = 2;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: micro_tile[1] is 1 with step 2; on the axis both must be 1");
  spec = good, spec.step[0] = -1;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: step[0] is -1; it must be at least 1, or 0");
  spec = good, spec.flags = 6;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: flags 0x6; known are 0x5");
  spec = good, spec.chunk_size = -1;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: chunk_size is -1; it must be in [0, 2147483647]");
  spec = good, spec.capacity = -1;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: capacity is -1; it must be at least 1, or 0");

  int64_t groups = -1, group_shape[PIT_MAX_RANK];
  assert_ok(f->context,
            pit_index_groups(f->context, &good, group_shape, &groups));
  assert_int_equal(groups, 2);
  assert_int_equal(group_shape[0], 2);
  assert_int_equal(group_shape[1], 1);
}

static void test_huge(void **state) {
  builder_fixture *f = *state;
  int32_t length = 3;
  DLTensor lengths = tensor_of(&length, PIT_DTYPE_INT, 32, 0, NULL);
  pit_index_spec spec = {.rank = 4,
                         .axis = 0,
                         .shape = {8, INT64_C(1) << 60, INT64_C(1) << 60, 1},
                         .micro_tile = {1, 1, 1, 1}};
  refuse(f, &spec, PIT_SOURCE_LENGTHS, &lengths, PIT_ERROR_UNSUPPORTED,
         "groups of 8 ids are more than 63 bits count");
  spec.shape[2] = 1;
  refuse(f, &spec, PIT_SOURCE_LENGTHS, &lengths, PIT_ERROR_UNSUPPORTED,
         "groups of 8 ids are more than 63 bits count");
  spec.shape[1] = INT64_C(1) << 58;
  refuse(f, &spec, PIT_SOURCE_LENGTHS, &lengths, PIT_ERROR_OUT_OF_MEMORY,
         "out of memory for building an index: ");
  spec.shape[1] = INT64_C(1) << 31;
  spec.chunk_size = 4;
  refuse(f, &spec, PIT_SOURCE_LENGTHS, &lengths, PIT_ERROR_UNSUPPORTED,
         "index: 2147483648 groups; a work list (chunk_size 4) takes at most "
         "2147483647");
  // A window that is larger than memory, of a tensor of nothing.
  float none = 0;
  int64_t empty_shape[2] = {4, 0};
  DLTensor empty = tensor_of(&none, PIT_DTYPE_FLOAT, 32, 2, empty_shape);
  spec = (pit_index_spec){
      .rank = 2, .axis = 0, .shape = {4, 0}, .micro_tile = {1, INT64_MAX}};
  assert_ok(f->context, pit_index_build(f->builder, &spec, PIT_SOURCE_VALUES,
                                        &empty, NULL, &f->index));
  // The builder is still good.
  spec = spec_2d(8, 4, 0, 0, 0);
  assert_ok(f->context, pit_index_build(f->builder, &spec, PIT_SOURCE_LENGTHS,
                                        &lengths, NULL, &f->index));
  assert_int_equal(f->index->total, 3);
}

static void test_tensor(void **state) {
  builder_fixture *f = *state;
  _Alignas(8) char values[70] = {0};
  int64_t shape[2] = {4, 4};
  const DLTensor good = tensor_of(values, PIT_DTYPE_FLOAT, 32, 2, shape);
  const pit_index_spec spec = spec_2d(4, 4, 1, 2, 1);
  DLTensor x;

  refuse(f, &spec, PIT_SOURCE_VALUES, NULL, PIT_ERROR_INVALID_ARGUMENT,
         "index: data is NULL");
  x = good, x.device.device_type = kDLCUDA;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_DEVICE,
         "index: data is on a device of type 2; it must be on the CPU (1)");
  x = good, x.ndim = 9;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_SHAPE,
         "index: data has rank 9; ranks 0 to 8 are supported");
  x = good, x.shape = NULL;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: data has rank 2 but no shape");
  x = good, x.dtype.code = kDLComplex, x.dtype.bits = 64;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_DTYPE,
         "index: data has element type (code 5, 64 bits) with 1 lanes");
  x = good, x.dtype.lanes = 4;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_DTYPE,
         "index: data has element type f32 with 4 lanes");
  x = good, x.byte_offset = 2;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_ALIGNMENT,
         "index: data is at an address that is 2 past a multiple of 4");
  x = good, x.data = NULL;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: data has shape 4x4 but its data is NULL");
  x.byte_offset = 4; // which says nothing where there is no data
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: data has shape 4x4 but its data is NULL");
  int64_t negative[2] = {4, -4};
  x = good, x.shape = negative;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_SHAPE,
         "index: data: dimension 1 is -4; it cannot be negative");
  int64_t huge[2] = {INT64_C(1) << 40, INT64_C(1) << 40};
  x = good, x.shape = huge;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_SHAPE,
         "index: data: a tensor of 1099511627776x1099511627776 does not fit");
  int64_t other[2] = {4, 5};
  x = good, x.shape = other;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_SHAPE,
         "index: the tensor of values has shape 4x5; it must be 4x4");
  x = good, x.ndim = 0;
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_SHAPE,
         "index: the tensor of values has shape (scalar); it must be 4x4");
  refuse(f, &spec, PIT_SOURCE_IMPORT, &good, PIT_ERROR_INVALID_ARGUMENT,
         "index: source 6 (import); no index is built of it");
  assert_int_equal(
      pit_index_build(f->builder, &spec, PIT_SOURCE_VALUES, &good, NULL, NULL),
      PIT_ERROR_INVALID_ARGUMENT);
  assert_int_equal(
      pit_index_build(NULL, &spec, PIT_SOURCE_VALUES, &good, NULL, &f->index),
      PIT_ERROR_INVALID_ARGUMENT);
}

static void test_masks(void **state) {
  builder_fixture *f = *state;
  _Alignas(8) uint8_t bytes[64] = {0};
  int64_t shape[2] = {4, 4};
  const pit_index_spec spec = spec_2d(4, 4, 1, 2, 1);
  DLTensor mask = tensor_of(bytes, PIT_DTYPE_BOOL, 8, 1, shape);
  refuse(f, &spec, PIT_SOURCE_MASK, &mask, PIT_ERROR_SHAPE,
         "index: the mask has shape 4; it must be 4x4");
  mask = tensor_of(bytes, PIT_DTYPE_INT, 8, 2, shape);
  refuse(f, &spec, PIT_SOURCE_MASK_BITS, &mask, PIT_ERROR_DTYPE,
         "index: the bit mask has element type i8; it must be packed "
         "into u8");
  mask = tensor_of(bytes, PIT_DTYPE_UINT, 8, 2, shape);
  refuse(f, &spec, PIT_SOURCE_MASK_BITS, &mask, PIT_ERROR_SHAPE,
         "index: the bit mask has shape 4x4; it must be 4x1");
}

static void test_lengths(void **state) {
  builder_fixture *f = *state;
  int32_t lengths[4] = {4, 0, 5, 3};
  int64_t shape[2] = {4, 4};
  const pit_index_spec spec = spec_2d(4, 4, 1, 2, 1);
  DLTensor x = tensor_of(lengths, PIT_DTYPE_INT, 32, 1, shape);
  refuse(f, &spec, PIT_SOURCE_LENGTHS, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: length 2 (in row-major order) is 5; it must be in [0, 4]");
  lengths[2] = -1;
  refuse(f, &spec, PIT_SOURCE_LENGTHS, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: length 2 (in row-major order) is -1; it must be in [0, 4]");
  x.dtype.code = PIT_DTYPE_FLOAT;
  refuse(f, &spec, PIT_SOURCE_LENGTHS, &x, PIT_ERROR_DTYPE,
         "index: the tensor of lengths has element type f32; it must be i32 "
         "or i64");
  x = tensor_of(lengths, PIT_DTYPE_INT, 32, 2, shape);
  refuse(f, &spec, PIT_SOURCE_LENGTHS, &x, PIT_ERROR_SHAPE,
         "index: lengths of rank 2 for a tensor of rank 2; their rank must be "
         "less");
  int64_t three = 3;
  x = tensor_of(lengths, PIT_DTYPE_INT, 32, 1, &three);
  refuse(f, &spec, PIT_SOURCE_LENGTHS, &x, PIT_ERROR_SHAPE,
         "index: the tensor of lengths has shape 3; it must be 4");
}

static void test_row_lengths(void **state) {
  builder_fixture *f = *state;
  int32_t lengths[4] = {2, 0, 1, 3};
  int64_t shape[2] = {4, 1};
  pit_index_spec spec = {.rank = 2, .axis = 0, .shape = {8, 3}};
  DLTensor x = tensor_of(lengths, PIT_DTYPE_INT, 32, 1, shape);
  refuse(f, &spec, PIT_SOURCE_ROW_LENGTHS, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: length 3 (in row-major order) is 3; it must be in [0, 2]");
  lengths[3] = 2;
  assert_ok(f->context,
            pit_index_build(f->builder, &spec, PIT_SOURCE_ROW_LENGTHS, &x, NULL,
                            &f->index));
  const int32_t ids[] = {0, 1, 4, 6, 7};
  assert_int_equal(f->index->groups, 1);
  assert_int_equal(f->index->counts[0], 5);
  assert_memory_equal(f->index->ids, ids, sizeof(ids));
  spec.shape[0] = 7;
  refuse(f, &spec, PIT_SOURCE_ROW_LENGTHS, &x, PIT_ERROR_SHAPE,
         "index: 4 lengths for 7 rows; there must be as many rows for each");
  spec.axis = 1;
  refuse(f, &spec, PIT_SOURCE_ROW_LENGTHS, &x, PIT_ERROR_SHAPE,
         "index: lengths of rank 1, along axis 1; those of rows of a batch are "
         "a vector, and the axis is 0");
  x.dtype.code = PIT_DTYPE_FLOAT;
  refuse(f, &spec, PIT_SOURCE_ROW_LENGTHS, &x, PIT_ERROR_DTYPE,
         "index: the vector of lengths has element type f32; it must be i32 "
         "or i64");
}

static void test_routing(void **state) {
  builder_fixture *f = *state;
  int64_t slots[6] = {0, -1, 3, 2, 1, 4};
  int64_t shape[2] = {3, 2};
  pit_index_spec spec = spec_2d(3, 4, 0, 1, 1);
  DLTensor x = tensor_of(slots, PIT_DTYPE_INT, 64, 2, shape);
  refuse(f, &spec, PIT_SOURCE_ROUTING, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: slot 1 of token 2 is assigned to expert 4; it must be in "
         "[0, 4), or -1 for none");
  slots[5] = -2;
  refuse(f, &spec, PIT_SOURCE_ROUTING, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: slot 1 of token 2 is assigned to expert -2");
  spec.shape[0] = 5;
  refuse(f, &spec, PIT_SOURCE_ROUTING, &x, PIT_ERROR_SHAPE,
         "index: the routing has shape 3x2; it must have one row for each "
         "of the 5 tokens");
  spec.rank = 3, spec.shape[2] = 1;
  refuse(f, &spec, PIT_SOURCE_ROUTING, &x, PIT_ERROR_SHAPE,
         "index: a routing is of a tensor of rank 2 (tokens x experts), "
         "not 3");
  x.dtype.bits = 16;
  refuse(f, &spec, PIT_SOURCE_ROUTING, &x, PIT_ERROR_DTYPE,
         "index: the routing has element type i16; it must be i32 or i64");
}

static void test_blocks(void **state) {
  builder_fixture *f = *state;
  int32_t pairs[6] = {1, 3, 0, 4, 2, 0};
  int64_t shape[2] = {3, 2};
  pit_index_spec spec = spec_2d(4, 4, 1, 2, 1);
  DLTensor x = tensor_of(pairs, PIT_DTYPE_INT, 32, 2, shape);
  refuse(f, &spec, PIT_SOURCE_BLOCKS, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: block 1 has id 4; it must be in [0, 4)");
  pairs[3] = 0;
  refuse(f, &spec, PIT_SOURCE_BLOCKS, &x, PIT_ERROR_INVALID_ARGUMENT,
         "index: block 2 is in group 2; it must be in [0, 2)");
  shape[1] = 1;
  refuse(f, &spec, PIT_SOURCE_BLOCKS, &x, PIT_ERROR_SHAPE,
         "index: the block list has shape 3x1; it must have one row (group, "
         "id) for each block");
  x.dtype.code = PIT_DTYPE_UINT;
  refuse(f, &spec, PIT_SOURCE_BLOCKS, &x, PIT_ERROR_DTYPE,
         "index: the block list has element type u32; it must be i32 or i64");
}

static void test_capacity(void **state) {
  builder_fixture *f = *state;
  float values[8] = {1, 0, 2, 3, 0, 4, 5, 0};
  int64_t shape[1] = {8};
  DLTensor x = tensor_of(values, PIT_DTYPE_FLOAT, 32, 1, shape);
  pit_index_spec spec = {.rank = 1, .shape = {8}, .capacity = 4};
  refuse(f, &spec, PIT_SOURCE_VALUES, &x, PIT_ERROR_CAPACITY,
         "index: 5 micro-tiles are live, but the capacity is 4");
  spec.capacity = 5;
  assert_ok(f->context, pit_index_build(f->builder, &spec, PIT_SOURCE_VALUES,
                                        &x, NULL, &f->index));
  assert_int_equal(f->index->capacity, 5);
  assert_int_equal(f->index->total, 5);
}

/// Room for what the source can select: a slot of a routing is in one
/// group, unless they overlap, and a block is one.
static void test_bounds(void **state) {
  builder_fixture *f = *state;
  int32_t slots[6] = {7, 0, 99, 7, 1, 2};
  int64_t shape[2] = {3, 2};
  DLTensor x = tensor_of(slots, PIT_DTYPE_INT, 32, 2, shape);
#define BUILD(source, room, live)                                              \
  do {                                                                         \
    assert_ok(f->context, pit_index_build(f->builder, &spec, source, &x, NULL, \
                                          &f->index));                         \
    assert_int_equal(f->index->capacity, room);                                \
    assert_int_equal(f->index->total, live);                                   \
  } while (0)
  pit_index_spec spec = spec_2d(3, 100, 0, 1, 1);
  BUILD(PIT_SOURCE_ROUTING, 6, 6);
  spec = spec_2d(3, 100, 1, 1, 1);
  BUILD(PIT_SOURCE_ROUTING, 6, 6);
  // Two windows hold each expert but the first and the last; 1 and 2 share one.
  spec = spec_2d(3, 100, 0, 1, 2);
  spec.step[1] = 1;
  BUILD(PIT_SOURCE_ROUTING, 3 * 99, 9);
  // Whole dimensions do not overlap, and so few ids are there.
  spec.micro_tile[1] = spec.step[1] = 0;
  BUILD(PIT_SOURCE_ROUTING, 3, 3);
  spec = spec_2d(4, 100, 1, 1, 1);
  int32_t pairs[6] = {1, 3, 0, 4, 1, 3};
  x = tensor_of(pairs, PIT_DTYPE_INT, 32, 2, shape);
  BUILD(PIT_SOURCE_BLOCKS, 3, 2);
  spec.capacity = 2;
  BUILD(PIT_SOURCE_BLOCKS, 2, 2);
  // No slots at all.
  spec = spec_2d(3, 100, 0, 1, 1);
  shape[1] = 0;
  x = tensor_of(slots, PIT_DTYPE_INT, 32, 2, shape);
  BUILD(PIT_SOURCE_ROUTING, 0, 0);
}

/// What is selected, told element by element: no reference to share a mistake.
static void test_values(void **state) {
  builder_fixture *f = *state;
  int64_t shape[1] = {6};
  pit_index_spec spec = {.rank = 1, .shape = {6}};
  float values[6] = {0.0F, -0.0F, NAN, 1e-45F, -INFINITY, 1.0F};
  DLTensor x = tensor_of(values, PIT_DTYPE_FLOAT, 32, 1, shape);
  struct {
    float background;
    int32_t ids[7]; ///< ends with -1
  } cases[] = {{0.0F, {2, 3, 4, 5, -1}},
               {-0.0F, {2, 3, 4, 5, -1}},
               {-INFINITY, {0, 1, 2, 3, 5, -1}},
               {1.0F, {0, 1, 2, 3, 4, -1}},
               {NAN, {0, 1, 2, 3, 4, 5, -1}}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    assert_ok(f->context, pit_index_build(f->builder, &spec, PIT_SOURCE_VALUES,
                                          &x, &cases[i].background, &f->index));
    int32_t count = 0;
    for (; cases[i].ids[count] >= 0; ++count)
      assert_int_equal(f->index->ids[count], cases[i].ids[count]);
    assert_int_equal(f->index->total, count);
  }
}

static void test_waste(void **state) {
  builder_fixture *f = *state;
  float values[8] = {1, 0, 0, 0, 0, 0, 5, 6};
  int64_t shape[2] = {2, 4};
  DLTensor x = tensor_of(values, PIT_DTYPE_FLOAT, 32, 2, shape);
  pit_index_spec spec = spec_2d(2, 4, 1, 2, 1);
  assert_ok(f->context, pit_index_build(f->builder, &spec, PIT_SOURCE_VALUES,
                                        &x, NULL, &f->index));
  pit_index_stats stats;
  assert_ok(f->context, pit_index_statistics(f->context, f->index, &stats));
  assert_int_equal(stats.micro_tiles, 4);
  assert_int_equal(stats.live, 3);
  assert_true(stats.live_fraction == 0.75);
  double waste;
  assert_ok(f->context, pit_index_waste(f->context, f->index, PIT_SOURCE_VALUES,
                                        &x, NULL, &waste));
  assert_true(waste == 0.5);
  for (int i = 0; i < 8; ++i)
    values[i] = 1;
  check_error(f->context,
              pit_index_waste(f->context, f->index, PIT_SOURCE_VALUES, &x, NULL,
                              &waste),
              PIT_ERROR_INVALID_ARGUMENT,
              "waste: the index covers 6 elements, but the source selects 8");
  // Whole dimensions make few groups of many elements, which nobody can count.
  int32_t count = 1, id = 2, length = 8;
  int64_t offset = 0;
  pit_index_arrays arrays = {.counts = &count,
                             .offsets = &offset,
                             .ids = &id,
                             .groups = 1,
                             .capacity = 1};
  pit_index_spec huge = {.rank = 3,
                         .axis = 0,
                         .shape = {8, INT64_C(1) << 60, 64},
                         .micro_tile = {1, 0, 0}};
  pit_index index;
  assert_ok(f->context, pit_index_import(f->context, &huge, &arrays, &index));
  DLTensor lengths = tensor_of(&length, PIT_DTYPE_INT, 32, 0, NULL);
  check_error(f->context,
              pit_index_waste(f->context, &index, PIT_SOURCE_LENGTHS, &lengths,
                              NULL, &waste),
              PIT_ERROR_UNSUPPORTED,
              "waste: a tensor of 8x1152921504606846976x64 has more elements "
              "than 63 bits count");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BUILDER_TEST(test_spec),     BUILDER_TEST(test_huge),
      BUILDER_TEST(test_tensor),   BUILDER_TEST(test_masks),
      BUILDER_TEST(test_lengths),  BUILDER_TEST(test_row_lengths),
      BUILDER_TEST(test_routing),  BUILDER_TEST(test_blocks),
      BUILDER_TEST(test_capacity), BUILDER_TEST(test_bounds),
      BUILDER_TEST(test_values),   BUILDER_TEST(test_waste),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
