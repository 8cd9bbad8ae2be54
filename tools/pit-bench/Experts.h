//===- Experts.h - Routed tokens by a dense library -----------------------===//

#ifndef PIT_TOOLS_BENCH_EXPERTS_H
#define PIT_TOOLS_BENCH_EXPERTS_H

#include "Contender.h"
#include "Gemm.h"

/// gather_make of CASE_EXPERTS: for one expert after the other, its tokens'
/// rows are copied together, multiplied, and added, each times its weight.
peer_answer experts_make(const problem *p, const gemm_library *library,
                         const char *name, contender *made);

#endif // PIT_TOOLS_BENCH_EXPERTS_H
