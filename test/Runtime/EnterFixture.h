//===- EnterFixture.h - Arguments and results of a call ---------*- C++ -*-===//

#ifndef PIT_TEST_RUNTIME_ENTERFIXTURE_H
#define PIT_TEST_RUNTIME_ENTERFIXTURE_H

#include "pit-runtime/Abi.h"

#include "Reference.h"

typedef struct fixture {
  pit_context *context;
  pit_frame *frame;
  _Alignas(64) float a[32], r0[32], r1[32];
  int64_t scalar;
  int64_t a_shape[2], r0_shape[2], r1_shape[1];
  int32_t counts[4], ids[32];
  int64_t offsets[4];
  pit_index index;
  DLTensor a_tensor, s_tensor, r0_tensor, r1_tensor;
  pit_value ins[3];
  DLTensor *outs[2];
  int64_t views[16];
} fixture;

static int set_up(void **state) {
  static fixture f;
  f = (fixture){.a_shape = {5, 4}, .r0_shape = {5, 4}, .r1_shape = {6}};
  assert_int_equal(pit_context_create(NULL, &f.context), PIT_OK);
  pit_index_spec spec = {
      .rank = 2, .axis = 1, .shape = {7, 8}, .micro_tile = {2, 1}};
  pit_index_arrays arrays = {.counts = f.counts,
                             .offsets = f.offsets,
                             .ids = f.ids,
                             .groups = 4,
                             .capacity = 32};
  assert_ok(f.context, pit_index_import(f.context, &spec, &arrays, &f.index));
  f.a_tensor = tensor_of(f.a, PIT_DTYPE_FLOAT, 32, 2, f.a_shape);
  f.s_tensor = tensor_of(&f.scalar, PIT_DTYPE_INT, 64, 0, NULL);
  f.r0_tensor = tensor_of(f.r0, PIT_DTYPE_FLOAT, 32, 2, f.r0_shape);
  f.r1_tensor = tensor_of(f.r1, PIT_DTYPE_FLOAT, 32, 1, f.r1_shape);
  f.ins[0] = pit_tensor_value(&f.a_tensor);
  f.ins[1] = pit_index_value(&f.index);
  f.ins[2] = pit_tensor_value(&f.s_tensor);
  f.outs[0] = &f.r0_tensor;
  f.outs[1] = &f.r1_tensor;
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  pit_context_destroy(((fixture *)*state)->context);
  return 0;
}

#endif // PIT_TEST_RUNTIME_ENTERFIXTURE_H
