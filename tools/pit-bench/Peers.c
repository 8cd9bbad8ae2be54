//===- Peers.c - The peers there are --------------------------------------===//

#include "Contender.h"
#ifdef PIT_BENCH_MLIR_OPT
#include "Csr.h"
#endif
#ifdef PIT_BENCH_ONEDNN
#include "Gather.h"
#include "Onednn.h"
#endif

#include <stddef.h>

#ifdef PIT_BENCH_ONEDNN
static peer_answer make_gather(const problem *p, contender *made) {
  return gather_make(p, onednn_gemm(), "gather", made);
}
#else
#define onednn_make NULL
#define make_gather NULL
#endif

#ifndef PIT_BENCH_MLIR_OPT
#define csr_make NULL
#define csr_make_converted NULL
#endif

const peer *peers(void) {
  static const peer all[] = {
      {"onednn", "oneDNN, dense", onednn_make},
      {"gather", "gather, oneDNN, scatter", make_gather},
      {"csr", "mlir-opt --sparsifier, compressed in each run, one thread",
       csr_make},
      {"csr made", "the same, compressed before", csr_make_converted},
      {NULL, NULL, NULL}};
  return all;
}
