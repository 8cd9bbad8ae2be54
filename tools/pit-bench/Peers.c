//===- Peers.c - The peers there are --------------------------------------===//

#include "Contender.h"
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

const peer *peers(void) {
  static const peer all[] = {{"onednn", "oneDNN, dense", onednn_make},
                             {"gather", "gather, oneDNN, scatter", make_gather},
                             {NULL, NULL, NULL}};
  return all;
}
