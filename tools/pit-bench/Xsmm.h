//===- Xsmm.h - libxsmm as a peer -----------------------------------------===//

#ifndef PIT_TOOLS_BENCH_XSMM_H
#define PIT_TOOLS_BENCH_XSMM_H

#include "Gemm.h"

/// Products of f32 and f64 in blocks around libxsmm's small ones.
const gemm_library *xsmm_gemm(void);

#endif // PIT_TOOLS_BENCH_XSMM_H
