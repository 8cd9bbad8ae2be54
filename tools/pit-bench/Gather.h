//===- Gather.h - Compacted products by a dense library -------------------===//

#ifndef PIT_TOOLS_BENCH_GATHER_H
#define PIT_TOOLS_BENCH_GATHER_H

#include "Contender.h"
#include "Gemm.h"

/// What a user of a dense library writes by hand: finds the live micro-tiles,
/// copies what they need together, multiplies, and copies or adds the product
/// to where it belongs, one block after the other.
peer_answer gather_make(const problem *p, const gemm_library *library,
                        const char *name, contender *made);

#endif // PIT_TOOLS_BENCH_GATHER_H
