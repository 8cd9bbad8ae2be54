//===- Measure.h - Times of contenders, taken in turns --------------------===//

#ifndef PIT_TOOLS_BENCH_MEASURE_H
#define PIT_TOOLS_BENCH_MEASURE_H

#include "Contender.h"

typedef struct measure_options {
  double seconds;   ///< for each contender
  int32_t rounds;   ///< at most; 0: as many as fit
  int32_t threads;  ///< of the probe of the machine's rate
  bool cpu_time;    ///< of this thread, instead of wall time
  DLDataType probe; ///< the type that it computes with
} measure_options;

/// The times of the runs of a contender.
typedef struct timing {
  int64_t runs;
  double first_quartile, median, third_quartile;
} timing;

/// Runs all contenders once in each round, in an order that rotates, each on
/// another pattern than the others and than in its last runs. A contender that
/// has used its seconds is left out, but not before its third run. `rate`
/// receives the median of the probe's operations a second, which is run in
/// each round.
bool measure(contender *list, int32_t count, int32_t num_patterns,
             const measure_options *options, timing *timings, double *rate);

#endif // PIT_TOOLS_BENCH_MEASURE_H
