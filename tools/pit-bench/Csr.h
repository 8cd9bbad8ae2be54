//===- Csr.h - MLIR's own sparsifier as a peer ----------------------------===//

#ifndef PIT_TOOLS_BENCH_CSR_H
#define PIT_TOOLS_BENCH_CSR_H

#include "Contender.h"

/// linalg.matmul with one factor in compressed rows, through mlir-opt's
/// pipeline
/// --sparsifier and clang, on one thread (the pipeline starts no others). The
/// compressed form is made in each run, by the pipeline's own conversion.
peer_answer csr_make(const problem *p, contender *made);

/// The same from compressed forms that were made before.
peer_answer csr_make_converted(const problem *p, contender *made);

#endif // PIT_TOOLS_BENCH_CSR_H
