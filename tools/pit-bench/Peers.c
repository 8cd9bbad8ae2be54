//===- Peers.c - The peers there are --------------------------------------===//

#include "Channels.h"
#include "Csr.h"
#include "Dense.h"
#include "Gather.h"
#include "Onednn.h"
#include "Torch.h"
#include "Xsmm.h"

#include <stddef.h>

// A peer that was not found when pit was configured has no functions.
#ifdef PIT_BENCH_ONEDNN
static peer_answer gather_onednn(const problem *p, contender *made) {
  const char *name = "gather onednn";
  return p->from->kind == CASE_CONV ? channels_make(p, name, made)
                                    : gather_make(p, onednn_gemm(), name, made);
}
#else
#define onednn_make NULL
#define gather_onednn NULL
#endif

#ifdef PIT_BENCH_XSMM
static peer_answer dense_xsmm(const problem *p, contender *made) {
  return dense_make(p, xsmm_gemm(), "libxsmm", made);
}

static peer_answer gather_xsmm(const problem *p, contender *made) {
  return gather_make(p, xsmm_gemm(), "gather libxsmm", made);
}
#else
#define dense_xsmm NULL
#define gather_xsmm NULL
#endif

#ifndef PIT_BENCH_MLIR_OPT
#define csr_make NULL
#define csr_make_converted NULL
#endif

static peer_answer dense_torch(const problem *p, contender *made) {
  return dense_make(p, torch_gemm(), "torch", made);
}

static peer_answer gather_torch(const problem *p, contender *made) {
  return gather_make(p, torch_gemm(), "gather torch", made);
}

const char *peer_missing(const peer *p) {
  if (!p->make)
    return "it was not found when pit was configured";
  return p->is_loaded && !p->is_loaded() ? "it needs --torch=PATH" : NULL;
}

const peer *peers(void) {
  static const peer all[] = {
      {"onednn", "oneDNN, dense", onednn_make, NULL},
      {"libxsmm", "libxsmm, dense", dense_xsmm, NULL},
      {"torch", "PyTorch, dense", dense_torch, torch_is_open},
      {"gather onednn", "gather, oneDNN, scatter", gather_onednn, NULL},
      {"gather libxsmm", "gather, libxsmm, scatter", gather_xsmm, NULL},
      {"gather torch", "gather, PyTorch, scatter", gather_torch, torch_is_open},
      {"csr", "mlir-opt --sparsifier, compressed in each run, one thread",
       csr_make, NULL},
      {"csr made", "the same, compressed before", csr_make_converted, NULL},
      {NULL, NULL, NULL, NULL}};
  return all;
}
