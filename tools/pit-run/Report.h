//===- Report.h - What pit-run says about a run ---------------------------===//

#ifndef PIT_TOOLS_RUN_REPORT_H
#define PIT_TOOLS_RUN_REPORT_H

#include "Call.h"

/// Prints the least and the median of `count` times, which it sorts.
void report_time(double *seconds, int64_t count);

/// Prints what the context keeps of constant arguments.
void report_kept(const call *c);

/// Runs the call once more and, if `print`, prints of each index that it builds
/// where it comes from, how much of the tensor it covers and how long it took.
/// Draws the `plot_index`-th into the image `plot`, unless that is NULL.
bool report_indices(call *c, bool print, const char *plot, int64_t plot_index);

/// Prints the remarks that say which rule each op got.
void report_rules(const char *diagnostics);

/// Compares the results with those of the dense program and prints how far they
/// are apart. Returns false if that is more than `tolerance`, relative to the
/// size of the elements; if it is less than 0, more than rounding explains.
bool report_check(const call *c, const call *dense, double tolerance);

/// Prints the elements of the results, one row a line, up to a limit.
void report_results(const call *c);

#endif // PIT_TOOLS_RUN_REPORT_H
