//===- Report.c - What pit-run says about a run ---------------------------===//

#include "Report.h"
#include "Compare.h"
#include "Plot.h"
#include "Tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void report_time(double *seconds, int64_t count) {
  qsort(seconds, (size_t)count, sizeof(*seconds), compare_times);
  double median = count % 2 ? seconds[count / 2]
                            : (seconds[count / 2 - 1] + seconds[count / 2]) / 2;
  printf("time: min %.3f ms, median %.3f ms (%lld run%s)\n", seconds[0] * 1e3,
         median * 1e3, (long long)count, count == 1 ? "" : "s");
}

void report_kept(const call *c) {
  pit_kept_stats kept;
  pit_context_kept(c->context, &kept);
  printf("kept: %lld piece%s of %lld constant%s, %lld bytes; made %lld, used "
         "again %lld time%s\n",
         (long long)kept.pieces, kept.pieces == 1 ? "" : "s",
         (long long)kept.constants, kept.constants == 1 ? "" : "s",
         (long long)kept.bytes, (long long)kept.made, (long long)kept.reused,
         kept.reused == 1 ? "" : "s");
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

enum { MAX_SEEN = 256 };

/// The observer's numbers of an index.
typedef struct seen {
  pit_source source;
  int32_t arg; ///< whose data it was built from; -1: of none
  bool on_gpu;
  int64_t total, max_count;
  int32_t rank;
  int64_t shape[PIT_MAX_RANK], micro_tile[PIT_MAX_RANK], step[PIT_MAX_RANK];
} seen;

typedef struct watch {
  const call *c;
  const char *plot;
  int64_t plot_index;
  bool plotted, ok;
  int64_t count; ///< indices seen
  seen list[MAX_SEEN];
} watch;

static void see(void *user, const pit_index *index, pit_source source,
                const DLTensor *data, const void *background) {
  watch *w = user;
  if (w->plot && w->count == w->plot_index) {
    w->plotted = true;
    w->ok &= plot_index(w->plot, index, source, data, background);
  }
  if (w->count++ >= MAX_SEEN)
    return;
  pit_index built;
  w->ok &= call_read_index(w->c, index, &built);
  seen *s = &w->list[w->count - 1];
  *s = (seen){.source = source,
              .arg = call_find_arg(w->c, data),
              .on_gpu = (index->flags & PIT_INDEX_DEVICE) != 0,
              .total = built.total,
              .max_count = built.max_count,
              .rank = index->rank};
  memcpy(s->shape, index->shape, sizeof(s->shape));
  memcpy(s->micro_tile, index->micro_tile, sizeof(s->micro_tile));
  memcpy(s->step, index->step, sizeof(s->step));
}

static void print_sizes(const int64_t *sizes, int32_t rank, bool star) {
  for (int32_t d = 0; d < rank; ++d) {
    if (d)
      printf("x");
    if (star && sizes[d] == 0)
      printf("*");
    else
      printf("%lld", (long long)sizes[d]);
  }
}

static void print_index(int64_t number, const seen *s,
                        const pit_build_stats *stats) {
  static const char *const sources[] = {[PIT_SOURCE_VALUES] = "values",
                                        [PIT_SOURCE_MASK] = "mask",
                                        [PIT_SOURCE_MASK_BITS] = "mask bits",
                                        [PIT_SOURCE_LENGTHS] = "lengths",
                                        [PIT_SOURCE_ROUTING] = "routing",
                                        [PIT_SOURCE_BLOCKS] = "blocks",
                                        [PIT_SOURCE_IMPORT] = "import",
                                        [PIT_SOURCE_ROW_LENGTHS] =
                                            "lengths of rows"};
  printf("index %lld: %s of ", (long long)number, sources[s->source]);
  if (s->arg < 0)
    printf("an intermediate tensor");
  else
    printf("argument %d", s->arg);
  printf(", ");
  print_sizes(s->shape, s->rank, false);
  printf(" along axis %d in micro-tiles of ", stats->axis);
  print_sizes(s->micro_tile, s->rank, true);
  if (memcmp(s->step, s->micro_tile, sizeof(s->step)) != 0) {
    printf(" each ");
    print_sizes(s->step, s->rank, true);
  }
  double all = (double)stats->micro_tiles;
  printf("\n  %lld of %lld micro-tiles are live: live fraction %.4f, ",
         (long long)s->total, (long long)stats->micro_tiles,
         all > 0 ? (double)s->total / all : 0);
  // The context records neither of a build on a GPU.
  if (!s->on_gpu)
    printf("waste %.4f, ", stats->waste);
  printf("fullest of %lld group%s %lld; built ", (long long)stats->groups,
         stats->groups == 1 ? "" : "s", (long long)s->max_count);
  if (s->on_gpu)
    printf("on the GPU\n");
  else
    printf("in %.3f ms\n", (double)stats->build_ns / 1e6);
}

/// The choices of the last calls, for each mark.
static void print_choices(const call *c) {
  enum { MAX_CHOICES = 64 };
  pit_choice choices[MAX_CHOICES];
  int32_t count = pit_entry_choices(c->context, c->entry, choices, MAX_CHOICES);
  for (int32_t i = (count < MAX_CHOICES ? count : MAX_CHOICES) - 1; i >= 0;
       --i) {
    const pit_choice *choice = &choices[i];
    printf("choice %d: of ", choice->mark);
    print_sizes(choice->shape, choice->rank, false);
    if (choice->axis < 0) {
      printf(", dense");
    } else {
      printf(" along axis %d in micro-tiles of ", choice->axis);
      print_sizes(choice->micro_tile, choice->rank, true);
    }
    printf("; scanned in %lld of %lld calls\n", (long long)choice->scans,
           (long long)choice->calls);
  }
}

bool report_indices(call *c, bool print, const char *plot, int64_t plot_index) {
  watch w = {.c = c, .plot = plot, .plot_index = plot_index, .ok = true};
  pit_build_stats *stats = calloc(MAX_SEEN, sizeof(*stats));
  pit_status status = stats ? pit_context_set_stats(c->context, PIT_STATS_WASTE)
                            : PIT_ERROR_OUT_OF_MEMORY;
  if (status == PIT_OK)
    status = pit_context_observe(c->context, see, &w);
  if (status != PIT_OK) {
    call_print_error(c->context, status);
    free(stats);
    return false;
  }
  bool ok = call_run(c, NULL);
  int64_t copied = 0;
  pit_context_stats(c->context, stats, MAX_SEEN, &copied);
  pit_context_observe(c->context, NULL, NULL);
  pit_context_set_stats(c->context, PIT_STATS_OFF);
  if (ok && print) {
    print_choices(c);
    // The context keeps the latest records, the observer the first.
    int64_t first = w.count > MAX_SEEN ? w.count : 0;
    for (int64_t i = first; i < w.count && i < copied; ++i)
      print_index(i, &w.list[i], &stats[i]);
    if (first)
      printf("indices: %lld; too many to list\n", (long long)w.count);
    if (w.count == 0)
      printf("indices: none were built\n");
  }
  if (ok && plot && !w.plotted) {
    tool_error("no picture: the program builds %lld %s; there is no index %lld",
               (long long)w.count, w.count == 1 ? "index" : "indices",
               (long long)plot_index);
    ok = false;
  }
  free(stats);
  return ok && w.ok;
}

void report_rules(const char *diagnostics) {
  for (const char *line = diagnostics; *line;) {
    const char *end = strchr(line, '\n');
    size_t length = end ? (size_t)(end - line) : strlen(line);
    const char *remark = strstr(line, "remark: ");
    const char *rule = strstr(line, "chosen: ");
    const char *dense = strstr(line, "computed dense");
    if (remark && remark < line + length &&
        ((rule && rule < line + length) || (dense && dense < line + length)))
      printf("rule: %.*s\n", (int)length, line);
    line += length + (end != NULL);
  }
}

//===----------------------------------------------------------------------===//
// Check
//===----------------------------------------------------------------------===//

static bool check_result(int32_t number, const tensor *is, const tensor *wanted,
                         double tolerance) {
  comparison found;
  compare_tensors(is, wanted, tolerance, &found);
  printf("check: result %d: max abs error %.3g, max relative error %.3g "
         "(tolerance %.0e): %s\n",
         number, found.max_absolute, found.max_relative, found.tolerance,
         found.off ? "OFF" : "ok");
  if (found.off)
    tool_error("result %d: %lld of %lld elements differ from the dense "
               "program's; element %lld is %.9g, not %.9g",
               number, (long long)found.off, (long long)tensor_count(is),
               (long long)found.first, tensor_get(is, found.first),
               tensor_get(wanted, found.first));
  return found.off == 0;
}

bool report_check(const call *c, const call *dense, double tolerance) {
  bool ok = true;
  for (int32_t r = 0; r < c->num_results; ++r)
    ok &= check_result(r, &c->results[r], &dense->results[r], tolerance);
  return ok;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void report_results(const call *c) {
  enum { MAX_PRINTED = 1024 };
  for (int32_t r = 0; r < c->num_results; ++r) {
    const tensor *t = &c->results[r];
    char name[TENSOR_NAME_SIZE];
    printf("result %d: %s\n", r,
           tensor_name(t->dl.dtype, t->dl.ndim, t->shape, name));
    int64_t count = tensor_count(t);
    int64_t row = t->dl.ndim ? t->shape[t->dl.ndim - 1] : 1;
    for (int64_t i = 0; i < count && i < MAX_PRINTED; ++i)
      printf("%.9g%c", tensor_get(t, i), (i + 1) % row == 0 ? '\n' : ' ');
    if (count > MAX_PRINTED)
      printf("... %lld more\n", (long long)(count - MAX_PRINTED));
  }
}
