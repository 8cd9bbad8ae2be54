//===- SampleManifest.h - A manifest with an argument of each kind --------===//

#ifndef PIT_TEST_RUNTIME_SAMPLEMANIFEST_H
#define PIT_TEST_RUNTIME_SAMPLEMANIFEST_H

#include "pit-runtime/Abi.h"

enum { F32 = PIT_DTYPE_FLOAT | 32 << 8, I64 = PIT_DTYPE_INT | 64 << 8 };

/// f(a: ?x4 f32, i: index, s: i64) -> (?x4 f32, ceil(rows of i / 3) * 2 f32)
// clang-format off
static const int64_t sample_manifest[] = {
    PIT_MANIFEST_WORD0, 3, 2, 256, kDLCPU,
    PIT_ARG_TENSOR, F32, 2, -1, 4,
    PIT_ARG_INDEX, 2, 1, 2, 1, 2, 1,
    PIT_ARG_SCALAR, I64,
    0,
    F32, 2, 3, PIT_SHAPE_DIM, 0, 0, 2, PIT_SHAPE_CONST, 4,
    F32, 1, 9, PIT_SHAPE_DIM, 1, 0, PIT_SHAPE_CONST, 3, PIT_SHAPE_CEILDIV,
               PIT_SHAPE_CONST, 2, PIT_SHAPE_MUL,
};
// clang-format on

#endif // PIT_TEST_RUNTIME_SAMPLEMANIFEST_H
