//===- Onednn.h - oneDNN as a peer ----------------------------------------===//

#ifndef PIT_TOOLS_BENCH_ONEDNN_H
#define PIT_TOOLS_BENCH_ONEDNN_H

#include "Contender.h"
#include "Gemm.h"

/// Products, on the threads that OpenMP gives.
const gemm_library *onednn_gemm(void);

/// The dense problem: a product, or a convolution whose filter has been put
/// into the library's own order before.
peer_answer onednn_make(const problem *p, contender *made);

#endif // PIT_TOOLS_BENCH_ONEDNN_H
