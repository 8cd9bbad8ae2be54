//===- SampleManifest.h - A manifest with an argument of each kind --------===//

#ifndef PIT_TEST_RUNTIME_SAMPLEMANIFEST_H
#define PIT_TEST_RUNTIME_SAMPLEMANIFEST_H

#include "pit-runtime/Abi.h"

enum { F32 = PIT_DTYPE_FLOAT | 32 << 8, I64 = PIT_DTYPE_INT | 64 << 8 };

/// f(a: ?x4 f32, i: index, s: i64) -> (?x4 f32, ceil(rows of i / 3) * 2 f32)
static const pit_manifest sample_manifest = {
    .version = PIT_MANIFEST_WORD0,
    .num_args = 3,
    .num_results = 2,
    .device = kDLCPU,
    .workspace = 256,
    .values = (const pit_arg_info[]){{.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                      .rank = 2,
                                      .dims = {-1, 4}},
                                     {.kind = PIT_KIND_INDEX,
                                      .rank = 2,
                                      .axis = 1,
                                      .micro_tile = {2, 1},
                                      .step = {2, 1}},
                                     {.kind = PIT_KIND_SCALAR,
                                      .dtype = {PIT_DTYPE_INT, 64, 1}},
                                     {.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                      .rank = 2,
                                      .dims = {-1, 4}},
                                     {.kind = PIT_KIND_TENSOR,
                                      .dtype = {PIT_DTYPE_FLOAT, 32, 1},
                                      .rank = 1,
                                      .dims = {-1}}},
    .sizes = (const pit_shape_program[]){
        PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 0, 0}),
        PIT_SHAPE_PROGRAM({PIT_SHAPE_DIM, 1, 0}, {PIT_SHAPE_CONST, 0, 3},
                          {PIT_SHAPE_CEILDIV, 0, 0}, {PIT_SHAPE_CONST, 0, 2},
                          {PIT_SHAPE_MUL, 0, 0})}};

#endif // PIT_TEST_RUNTIME_SAMPLEMANIFEST_H
