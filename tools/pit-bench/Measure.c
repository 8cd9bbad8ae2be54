//===- Measure.c - Times of contenders, taken in turns --------------------===//

#include "Measure.h"
#include "Machine.h"
#include "Tool.h"

#include <stdlib.h>

enum { MAX_ROUNDS = 1000, MIN_ROUNDS = 3 };

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/// The value below which the part `q` of sorted values lies.
static double quantile(const double *sorted, int64_t count, double q) {
  double at = q * (double)(count - 1);
  int64_t below = (int64_t)at;
  double part = at - (double)below;
  return part > 0 ? sorted[below] * (1 - part) + sorted[below + 1] * part
                  : sorted[below];
}

static timing summarize(double *seconds, int64_t count) {
  qsort(seconds, (size_t)count, sizeof(*seconds), compare_doubles);
  return (timing){.runs = count,
                  .first_quartile = quantile(seconds, count, 0.25),
                  .median = quantile(seconds, count, 0.5),
                  .third_quartile = quantile(seconds, count, 0.75)};
}

/// Runs a contender on all patterns, so that what it prepares once for a size
/// is there; on two if it is slow.
static bool warm_up(contender *c, int32_t num_patterns, double seconds) {
  double start = seconds_now();
  for (int32_t i = 0; i < num_patterns; ++i) {
    if (i >= 2 && seconds_now() - start > seconds)
      break;
    if (!c->run(c->state, i))
      return false;
  }
  return true;
}

static bool run_timed(contender *c, int32_t pattern, bool cpu_time,
                      double *seconds) {
  double (*now)(void) = cpu_time ? seconds_of_thread : seconds_now;
  double start = now();
  bool ok = c->run(c->state, pattern);
  *seconds = now() - start;
  return ok;
}

bool measure(contender *list, int32_t count, int32_t num_patterns,
             const measure_options *options, timing *timings, double *rate) {
  int32_t rounds = options->rounds ? options->rounds : MAX_ROUNDS;
  // A row of times for each contender, and one of the probe's rates.
  size_t rows = (size_t)count + 1;
  double *times = calloc(rows * (size_t)rounds, sizeof(*times));
  double *spent = calloc(rows, sizeof(*spent));
  int64_t *runs = calloc(rows, sizeof(*runs));
  bool ok = times && spent && runs;
  if (!ok)
    tool_error("out of memory");
  for (int32_t i = 0; ok && i < count; ++i)
    ok = warm_up(&list[i], num_patterns, options->seconds);
  double *rates = times + (size_t)count * (size_t)rounds;
  bool more = ok;
  // A pattern comes again when all others have been run, whoever runs it.
  int32_t round = 0, pattern = 0;
  for (; more && round < rounds; ++round) {
    rates[round] =
        machine_operations(options->probe, options->threads, options->cpu_time);
    more = false;
    for (int32_t turn = 0; ok && turn < count; ++turn) {
      int32_t i = (turn + round) % count;
      if (runs[i] >= MIN_ROUNDS && spent[i] >= options->seconds)
        continue;
      double *seconds = &times[(size_t)i * (size_t)rounds + (size_t)runs[i]];
      ok = run_timed(&list[i], pattern, options->cpu_time, seconds);
      pattern = (pattern + 1) % num_patterns;
      spent[i] += *seconds;
      ++runs[i];
      more |= i == 0; // pit's own times are what is wanted
    }
    more &= ok;
  }
  for (int32_t i = 0; ok && i < count; ++i)
    timings[i] = summarize(&times[(size_t)i * (size_t)rounds], runs[i]);
  if (ok)
    *rate = summarize(rates, round).median;
  free(times);
  free(spent);
  free(runs);
  return ok;
}
