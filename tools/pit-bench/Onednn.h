//===- Onednn.h - oneDNN as a peer ----------------------------------------===//

#ifndef PIT_TOOLS_BENCH_ONEDNN_H
#define PIT_TOOLS_BENCH_ONEDNN_H

#include "Contender.h"
#include "Gemm.h"

/// Products, on the threads that OpenMP gives.
const gemm_library *onednn_gemm(void);

/// Convolutions of an image [batch, height, width, channels] and a filter
/// [kernel, kernel, channels, filters]; NULL if the library has none of these
/// types.
typedef struct onednn onednn;
onednn *onednn_conv_create(const extents *sizes, DLDataType type,
                           DLDataType result_type);
/// Puts the weights into the library's own order, for the runs that follow.
bool onednn_pack(onednn *o, const void *weights);
bool onednn_conv_run(onednn *o, const void *image, void *result);
void onednn_conv_free(onednn *o);

/// The dense problem: a product, or a convolution whose filter, as the second
/// factor of a product if it is constant, has been put into the library's own
/// order before.
peer_answer onednn_make(const problem *p, contender *made);

#endif // PIT_TOOLS_BENCH_ONEDNN_H
