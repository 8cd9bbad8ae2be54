//===- Dense.h - Whole products by a dense library ------------------------===//

#ifndef PIT_TOOLS_BENCH_DENSE_H
#define PIT_TOOLS_BENCH_DENSE_H

#include "Contender.h"
#include "Gemm.h"

/// The product that a matmul problem is, zeros and all.
gemm_shape dense_shape(const problem *p);

/// A peer that computes all of a product.
peer_answer dense_make(const problem *p, const gemm_library *library,
                       const char *name, contender *made);

#endif // PIT_TOOLS_BENCH_DENSE_H
