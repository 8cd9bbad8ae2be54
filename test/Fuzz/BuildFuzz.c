//===- BuildFuzz.c - Indices of wild tensors ------------------------------===//
//
// Builds an index from a tensor with any strides and contents: values, masks,
// lengths, routings and lists of blocks. What is built must be sound, and
// its waste a fraction.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// Of an index, and of the elements that are looked at one by one, so that a
/// run takes no time.
enum { MAX_MICRO_TILES = 1 << 13, MAX_SCANNED = 1 << 20 };

void fuzz_write_seeds(void) {
  // The source; the tensor; whether the spec has its shape, and the spec.
  static const uint8_t values[] = {0, 0, 7, 2, 4, 3, 1, 0, 0, 0, 0, 0, 0, 0, 9};
  static const uint8_t lengths[] = {3, 0, 2, 1, 3, 1, 0, 0, 0, 2, 0, 0, 0,
                                    3, 0, 0, 0, 1, 2, 1, 3, 1, 1, 5, 1, 1};
  static const uint8_t blocks[] = {5, 0, 2, 2, 2, 2, 1, 0, 0, 0, 2, 0, 0, 0, 0,
                                   0, 0, 0, 1, 0, 0, 0, 1, 2, 1, 4, 2, 1, 6};
  fuzz_seed(values, sizeof(values));
  fuzz_seed(lengths, sizeof(lengths));
  fuzz_seed(blocks, sizeof(blocks));
}

/// A build takes as long as the tensor is large, even if it is not read.
static bool is_small(pit_context *context, const pit_index_spec *spec) {
  int64_t elements = 1, groups;
  if (pit_index_groups(context, spec, NULL, &groups) != PIT_OK)
    return true;
  for (int32_t d = 0; d < spec->rank; ++d) {
    int64_t extent = spec->shape[d] ? spec->shape[d] : 1;
    if (extent > MAX_SCANNED || (elements *= extent) > MAX_SCANNED)
      return false;
  }
  return groups <= MAX_MICRO_TILES &&
         groups * spec->shape[spec->axis] <= MAX_MICRO_TILES;
}

static void build(pit_context *context, const pit_index_spec *spec,
                  pit_source source, const DLTensor *data,
                  const void *background) {
  pit_index_builder *builder;
  FUZZ_CHECK(pit_index_builder_create(context, &builder) == PIT_OK);
  const pit_index *index;
  pit_status status =
      pit_index_build(builder, spec, source, data, background, &index);
  fuzz_check_status(context, status);
  if (status == PIT_OK) {
    fuzz_check_index(index);
    // What the runtime builds it takes from others, too.
    pit_index_arrays arrays;
    pit_index copy;
    FUZZ_CHECK(pit_index_export(context, index, &arrays) == PIT_OK);
    pit_index_spec same = *spec;
    fuzz_expect_ok(context, pit_index_import(context, &same, &arrays, &copy));
    double waste = 0;
    status = pit_index_waste(context, index, source, data, background, &waste);
    fuzz_expect_ok(context, status);
    FUZZ_CHECK(waste >= 0 && waste <= 1);
  }
  pit_index_builder_destroy(builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input input = {data, size};
  uint8_t choice = fuzz_byte(&input);
  pit_source source = (pit_source)(choice % 7);
  fuzz_tensor t;
  fuzz_draw_tensor(&input, &t);
  _Alignas(8) uint8_t background[8];
  uint8_t odd = fuzz_byte(&input);
  for (int i = 0; i < 8; ++i)
    background[i] = odd & 2 ? fuzz_byte(&input) : 0;
  pit_index_spec spec;
  fuzz_draw_spec(&input, &spec);
  if (!(odd & 1) && t.dl.ndim >= 0 && t.dl.ndim <= PIT_MAX_RANK && t.dl.shape) {
    spec.rank = t.dl.ndim;
    spec.axis = spec.rank && spec.axis >= 0 ? spec.axis % spec.rank : 0;
    memcpy(spec.shape, t.shape, sizeof(spec.shape));
    int64_t *last = &spec.shape[spec.rank ? spec.rank - 1 : 0];
    if (source == PIT_SOURCE_MASK_BITS && *last > 0 &&
        *last <= MAX_FUZZ_ELEMENTS)
      *last = 8 * *last - odd / 32;
  }
  pit_context *context = fuzz_context();
  if (is_small(context, &spec))
    build(context, &spec, source, choice & 0x80 ? NULL : &t.dl,
          odd & 4 ? NULL : background);
  fuzz_free_tensor(&t);
  return 0;
}
