//===- Report.h - What a run found ----------------------------------------===//

#ifndef PIT_TOOLS_BENCH_REPORT_H
#define PIT_TOOLS_BENCH_REPORT_H

#include "Measure.h"

enum { MAX_CONTENDERS = 16 };

/// The measurements of a problem.
typedef struct outcome {
  const problem *problem;
  int32_t count; ///< contenders; the first is pit
  const char *names[MAX_CONTENDERS];
  timing timings[MAX_CONTENDERS];
  double live_fraction; ///< the part of the operations that pit's tiles have
  double rate;          ///< operations a second that the machine can do
  double bandwidth;     ///< bytes a second that it can read
  double error;         ///< pit's largest, relative; of the kind of the type
} outcome;

/// The columns that do not change from case to case.
typedef struct report_options {
  FILE *json;                          ///< NULL: none
  const char *columns[MAX_CONTENDERS]; ///< peers of the table
  int32_t num_columns;
  int32_t threads;
  bool cpu_time; ///< times are those of the thread's clock
  const char *commit, *options;
} report_options;

/// Prints the table's head: what is in it, and which peers pit was configured
/// without.
void report_head(const report_options *options);
/// Prints a row, and a line of JSON.
bool report_outcome(const report_options *options, const outcome *o);

#endif // PIT_TOOLS_BENCH_REPORT_H
