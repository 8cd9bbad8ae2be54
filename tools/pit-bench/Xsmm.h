//===- Xsmm.h - libxsmm as a peer -----------------------------------------===//

#ifndef PIT_TOOLS_BENCH_XSMM_H
#define PIT_TOOLS_BENCH_XSMM_H

#include "Contender.h"
#include "Gemm.h"

/// Products of f32 and f64 in blocks around libxsmm's small ones.
const gemm_library *xsmm_gemm(void);

/// The dense product.
peer_answer xsmm_make(const problem *p, contender *made);

#endif // PIT_TOOLS_BENCH_XSMM_H
