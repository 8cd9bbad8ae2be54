//===- TestProgram.c - A program as a compiler would make it --------------===//
//
// scale(x: ?x? f32, at least 2 columns, factor: f32) -> ?x? f32, factor * x
// count(x: ?x? f32) -> ? i32, the live columns of each pair of rows
// pairs(i: index) -> f32, the total of an index
//
//===----------------------------------------------------------------------===//

#include "Builds.h"

enum { F32 = PIT_DTYPE_FLOAT | 32 << 8, I32 = PIT_DTYPE_INT | 32 << 8 };

#define EXPORT __attribute__((visibility("default")))

EXPORT extern const char pit_program_entries[];
const char pit_program_entries[] = "scale\0count\0pairs\0";

EXPORT extern const pit_manifest pit_scale_manifest;
const pit_manifest pit_scale_manifest = {
    .version = PIT_MANIFEST_WORD0,
    .num_args = 2,
    .num_results = 1,
    .num_requirements = 1,
    .device = kDLCPU,
    .workspace = 128,
    .values = (const pit_arg_info[]){{.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                      .rank = 2,
                                      .dims = {-1, -1}},
                                     {.kind = PIT_KIND_SCALAR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1}},
                                     {.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                      .rank = 2,
                                      .dims = {-1, -1}}},
    .requirements =
        (const pit_requirement[]){
            {PIT_REQUIRE_AT_LEAST,
             {PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 1}),
              PIT_SHAPE_PROGRAM({PIT_SHAPE_CONST, 0, 2})}}},
    .sizes =
        (const pit_shape_program[]){PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 0}),
                                    PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 1})}};

EXPORT int32_t pit_scale(pit_context *context, const pit_value *ins,
                         DLTensor *const *outs, pit_stream stream);
int32_t pit_scale(pit_context *context, const pit_value *ins,
                  DLTensor *const *outs, pit_stream stream) {
  int64_t views[7];
  pit_frame *frame;
  int32_t status = pit_rt_enter(context, &pit_scale_manifest, ins, outs, stream,
                                views, &frame);
  if (status)
    return status;
  const float *x = (const float *)(intptr_t)views[0];
  float factor = *(const float *)(intptr_t)views[3];
  float *y = (float *)(intptr_t)views[4];
  for (int64_t i = 0; i < views[1] * views[2]; ++i)
    y[i] = factor * x[i];
  return pit_rt_leave(frame, PIT_OK);
}

EXPORT extern const pit_manifest pit_count_manifest;
const pit_manifest pit_count_manifest = {
    .version = PIT_MANIFEST_WORD0,
    .num_args = 1,
    .num_results = 1,
    .device = kDLCPU,
    .values = (const pit_arg_info[]){{.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                      .rank = 2,
                                      .dims = {-1, -1}},
                                     {.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_INT, 32, 1},
                                      .rank = 1,
                                      .dims = {-1}}},
    .sizes = (const pit_shape_program[]){
        PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 0}, {PIT_SHAPE_CONST, 0, 2},
                          {PIT_SHAPE_CEILDIV, 0, 0})}};

EXPORT int32_t pit_count(pit_context *context, const pit_value *ins,
                         DLTensor *const *outs, pit_stream stream);
int32_t pit_count(pit_context *context, const pit_value *ins,
                  DLTensor *const *outs, pit_stream stream) {
  int64_t views[5];
  pit_frame *frame;
  int32_t status = pit_rt_enter(context, &pit_count_manifest, ins, outs, stream,
                                views, &frame);
  if (status)
    return status;
  const pit_build build = build_of(32, 1, 2, 1);
  const pit_view view =
      view_of((const void *)(intptr_t)views[0], views[1], views[2]);
  const pit_index *index;
  status = pit_rt_build(frame, &build, &view, view.shape, NULL, NULL, &index);
  void *scratch = NULL;
  if (!status)
    status = pit_rt_alloc(frame, 4 * (views[4] + 1), &scratch);
  int32_t *counts = scratch;
  for (int64_t g = 0; !status && g < views[4]; ++g)
    counts[g] = index->counts[g];
  int32_t *result = (int32_t *)(intptr_t)views[3];
  for (int64_t g = 0; !status && g < views[4]; ++g)
    result[g] = counts[g];
  return pit_rt_leave(frame, status);
}

EXPORT extern const pit_manifest pit_pairs_manifest;
const pit_manifest pit_pairs_manifest = {
    .version = PIT_MANIFEST_WORD0,
    .num_args = 1,
    .num_results = 1,
    .device = kDLCPU,
    .values = (const pit_arg_info[]){{.kind = PIT_KIND_INDEX,
                                      .rank = 2,
                                      .axis = 1,
                                      .micro_tile = {2, 1},
                                      .step = {2, 1}},
                                     {.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                      .rank = 1,
                                      .dims = {1}}}};

EXPORT int32_t pit_pairs(pit_context *context, const pit_value *ins,
                         DLTensor *const *outs, pit_stream stream);
int32_t pit_pairs(pit_context *context, const pit_value *ins,
                  DLTensor *const *outs, pit_stream stream) {
  int64_t views[3];
  pit_frame *frame;
  int32_t status = pit_rt_enter(context, &pit_pairs_manifest, ins, outs, stream,
                                views, &frame);
  if (status)
    return status;
  const pit_index *index = (const pit_index *)(intptr_t)views[0];
  *(float *)(intptr_t)views[1] = (float)index->total;
  return pit_rt_leave(frame, PIT_OK);
}
