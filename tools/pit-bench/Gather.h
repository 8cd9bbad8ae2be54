//===- Gather.h - Compacted products by a dense library -------------------===//

#ifndef PIT_TOOLS_BENCH_GATHER_H
#define PIT_TOOLS_BENCH_GATHER_H

#include "Contender.h"
#include "Gemm.h"

/// The steps that a user of a dense library writes by hand: find the live
/// micro-tiles, copy what they need together, multiply, and copy or add the
/// product to its place, one block after the other.
peer_answer gather_make(const problem *p, const gemm_library *library,
                        const char *name, contender *made);

#endif // PIT_TOOLS_BENCH_GATHER_H
