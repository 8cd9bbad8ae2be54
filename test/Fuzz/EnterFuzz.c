//===- EnterFuzz.c - Wild tensors given to a program ----------------------===//
//
// Calls programs of a few sound signatures with tensors of any rank, shape,
// strides, element type, device and address, NULL among them. What is accepted
// must be what the program was promised.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_ARGS = 3 };

/// f(a: ?x4 f32, b: ?x? f32, n: i64) -> ? f32, b's elements plus n
static const pit_manifest sum = {
    .version = PIT_MANIFEST_WORD0,
    .num_args = 3,
    .num_results = 1,
    .num_requirements = 1,
    .device = kDLCPU,
    .values = (const pit_arg_info[]){{.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                      .rank = 2,
                                      .dims = {-1, 4}},
                                     {.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                      .rank = 2,
                                      .dims = {-1, -1}},
                                     {.kind = PIT_KIND_SCALAR,
                                      .dtype = {PIT_DTYPE_INT, 64, 1}},
                                     {.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                      .rank = 1,
                                      .dims = {-1}}},
    .requirements =
        (const pit_requirement[]){{PIT_REQUIRE_EQUAL,
                                   {PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 0}),
                                    PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 1, 0})}}},
    .sizes = (const pit_shape_program[]){PIT_SHAPE_PROGRAM(
        {PIT_SHAPE_DIM, 1, 0}, {PIT_SHAPE_DIM, 1, 1}, {PIT_SHAPE_MUL, 0, 0},
        {PIT_SHAPE_SCALAR, 2, 0}, {PIT_SHAPE_ADD, 0, 0})}};
/// g(a: ?x?x? i8) -> (? i8, as many as two of a's sizes together, ?x2 i8)
static const pit_manifest unknown = {
    .version = PIT_MANIFEST_WORD0,
    .num_args = 1,
    .num_results = 2,
    .device = kDLCPU,
    .values = (const pit_arg_info[]){{.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_INT, 8, 1},
                                      .rank = 3,
                                      .dims = {-1, -1, -1}},
                                     {.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_INT, 8, 1},
                                      .rank = 1,
                                      .dims = {-1}},
                                     {.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_INT, 8, 1},
                                      .rank = 2,
                                      .dims = {-1, 2}}},
    .sizes = (const pit_shape_program[]){
        PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 2}, {PIT_SHAPE_DIM, 0, 1},
                          {PIT_SHAPE_ADD, 0, 0}),
        PIT_SHAPE_PROGRAM({PIT_SHAPE_UNKNOWN, 0, 0})}};
/// h(s: i8) -> i64
static const pit_manifest scalars = {
    .version = PIT_MANIFEST_WORD0,
    .num_args = 1,
    .num_results = 1,
    .device = kDLCPU,
    .values = (const pit_arg_info[]){
        {.kind = PIT_KIND_SCALAR, .dtype = {PIT_DTYPE_INT, 8, 1}},
        {.kind = PIT_KIND_TENSOR, .dtype = {PIT_DTYPE_INT, 64, 1}}}};

static const pit_manifest *const manifests[] = {&sum, &unknown, &scalars};

void fuzz_write_seeds(void) {
  // A signature, and for each tensor: what is odd, its element type, rank and
  // sizes.
  static const uint8_t three[] = {0, 0, 7, 2, 2, 4, 0, 0, 0, 0, 0, 0};
  static const uint8_t one[] = {1, 1, 0, 3, 2, 3, 4, 12, 4, 1};
  static const uint8_t scalar[] = {2, 2, 0, 0, 8};
  fuzz_seed(three, sizeof(three));
  fuzz_seed(one, sizeof(one));
  fuzz_seed(scalar, sizeof(scalar));
}

/// Checks a tensor that was accepted; returns where its view ends.
static const int64_t *check_view(const int64_t *view, const DLTensor *t) {
  FUZZ_CHECK(t && t->ndim >= 0 && t->ndim <= PIT_MAX_RANK);
  const char *data = t->data ? (const char *)t->data + t->byte_offset : NULL;
  FUZZ_CHECK(*view++ == (int64_t)(intptr_t)data);
  FUZZ_CHECK(t->dtype.lanes == 1 && t->device.device_type != kDLCUDA);
  int64_t bytes = t->dtype.bits / 8;
  bool empty = false;
  for (int32_t d = 0; d < t->ndim; ++d)
    empty |= t->shape[d] == 0;
  for (int32_t d = t->ndim - 1; d >= 0; --d) {
    FUZZ_CHECK(t->shape[d] >= 0);
    // Row-major, and no larger than memory can be.
    int64_t elements = bytes / (t->dtype.bits / 8);
    FUZZ_CHECK(empty || !t->strides || t->shape[d] == 1 ||
               t->strides[d] == elements);
    FUZZ_CHECK(empty || !__builtin_mul_overflow(bytes, t->shape[d], &bytes));
  }
  FUZZ_CHECK(empty || (data && (uintptr_t)data % (t->dtype.bits / 8) == 0));
  for (int32_t d = 0; d < t->ndim; ++d)
    FUZZ_CHECK(*view++ == t->shape[d]);
  return view;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input input = {data, size};
  const pit_manifest *manifest =
      manifests[fuzz_byte(&input) % (sizeof(manifests) / sizeof(*manifests))];
  fuzz_tensor ins[MAX_ARGS], outs[MAX_ARGS];
  pit_value in_list[MAX_ARGS];
  DLTensor *out_list[MAX_ARGS];
  uint8_t missing = 0;
  for (int64_t i = 0; i < manifest->num_args; ++i) {
    fuzz_draw_tensor(&input, &ins[i]);
    in_list[i] = pit_tensor_value(&ins[i].dl);
  }
  for (int64_t i = 0; i < manifest->num_results; ++i) {
    fuzz_draw_tensor(&input, &outs[i]);
    out_list[i] = &outs[i].dl;
  }
  missing = fuzz_byte(&input);
  if (missing & 0x80)
    in_list[missing % manifest->num_args].tensor = NULL;
  if (missing & 0x40)
    out_list[missing % manifest->num_results] = NULL;

  pit_context *context = fuzz_context();
  int64_t views[2 * MAX_ARGS * (1 + PIT_MAX_RANK)];
  pit_frame *frame = NULL;
  int32_t status = pit_rt_enter(
      context, manifest, (missing & 0x33) == 0x33 ? NULL : in_list,
      (missing & 0x3C) == 0x3C ? NULL : out_list, NULL, views, &frame);
  fuzz_check_status(context, (pit_status)status);
  FUZZ_CHECK((status == PIT_OK) == (frame != NULL));
  if (status == PIT_OK) {
    const int64_t *view = views;
    for (int64_t i = 0; i < manifest->num_args; ++i)
      view = check_view(view, in_list[i].tensor);
    for (int64_t i = 0; i < manifest->num_results; ++i)
      view = check_view(view, out_list[i]);
    FUZZ_CHECK(pit_rt_leave(frame, PIT_OK) == PIT_OK);
  }
  for (int64_t i = 0; i < manifest->num_args; ++i)
    fuzz_free_tensor(&ins[i]);
  for (int64_t i = 0; i < manifest->num_results; ++i)
    fuzz_free_tensor(&outs[i]);
  return 0;
}
