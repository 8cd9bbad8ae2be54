//===- Channels.h - Convolutions of live channels by oneDNN ---------------===//

#ifndef PIT_TOOLS_BENCH_CHANNELS_H
#define PIT_TOOLS_BENCH_CHANNELS_H

#include "Contender.h"

/// gather_make of a convolution whose input has whole channels of zeros: those
/// that live are copied together, with their part of the filter.
peer_answer channels_make(const problem *p, const char *name, contender *made);

#endif // PIT_TOOLS_BENCH_CHANNELS_H
