//===- Report.c - What a run found ----------------------------------------===//

#include "Report.h"
#include "Machine.h"
#include "Tool.h"

#include <string.h>

/// The least time that the machine allows, and what sets it.
static double floor_of(const outcome *o, const char **limit) {
  double operations = o->problem->dense_operations * o->live_fraction / o->rate;
  double bytes = o->bandwidth > 0 ? o->problem->bytes / o->bandwidth : 0;
  *limit = operations >= bytes ? "operations" : "bytes";
  return operations >= bytes ? operations : bytes;
}

void report_head(const report_options *options) {
  char name[MACHINE_NAME_SIZE];
  printf("# %s, %d thread%s, pit %s\n", machine_name(name), options->threads,
         options->threads == 1 ? "" : "s", options->commit);
  printf(
      "# times are medians in ms [quartiles]; 5.9x: pit takes a 5.9th of the "
      "peer's time;\n"
      "# GFLOP/s of the operations in live micro-tiles; floor: pit's time is "
      "so many times the least\n");
  for (const peer *p = peers(); p->name; ++p) {
    const char *missing = peer_missing(p);
    printf("# %s: %s", p->name, p->what);
    if (missing)
      printf(" (left out: %s)", missing);
    printf("\n");
  }
  printf("%-34s %5s %6s %26s %8s %7s", "case", "zero", "live", "pit", "GFLOP/s",
         "floor");
  for (int32_t i = 0; i < options->num_columns; ++i)
    printf(" %18s", options->columns[i]);
  printf("\n");
  fflush(stdout);
}

static void print_peer(const outcome *o, const char *name) {
  for (int32_t i = 1; i < o->count; ++i)
    if (strcmp(o->names[i], name) == 0) {
      double median = o->timings[i].median;
      printf(" %9.3f %7.2fx", median * 1e3, median / o->timings[0].median);
      return;
    }
  printf(" %18s", "-");
}

static void print_row(const report_options *options, const outcome *o) {
  const problem *p = o->problem;
  const timing *pit = &o->timings[0];
  const char *limit;
  double least = floor_of(o, &limit);
  double rate = p->dense_operations * o->live_fraction / pit->median;
  printf("%-34s %5.3g %6.3g %9.3f [%6.3f %7.3f] %8.1f %5.2f %c", p->from->name,
         p->instance.sparsity, o->live_fraction, pit->median * 1e3,
         pit->first_quartile * 1e3, pit->third_quartile * 1e3, rate * 1e-9,
         pit->median / least, limit[0]);
  for (int32_t i = 0; i < options->num_columns; ++i)
    print_peer(o, options->columns[i]);
  printf("\n");
  fflush(stdout);
}

static json_t *json_of_timing(const timing *t) {
  return json_pack("{s:f, s:f, s:f, s:I}", "median", t->median, "q1",
                   t->first_quartile, "q3", t->third_quartile, "runs",
                   (json_int_t)t->runs);
}

static bool write_json(const report_options *options, const outcome *o) {
  static const char *const kinds[] = {"matmul", "conv", "experts"};
  const problem *p = o->problem;
  const case_sparse *sparse = &p->from->sparse;
  const char *limit;
  double least = floor_of(o, &limit);
  char machine[MACHINE_NAME_SIZE];
  json_t *times = json_object();
  for (int32_t i = 0; i < o->count; ++i)
    json_object_set_new(times, o->names[i], json_of_timing(&o->timings[i]));
  json_t *line = json_pack(
      "{s:s, s:s, s:O, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:f, s:i, s:s, "
      "s:s, s:s, s:s, s:o}",
      "case", p->from->name, "kind", kinds[p->from->kind], "set", p->from->set,
      "sparsity", p->instance.sparsity, "live_fraction", o->live_fraction,
      "dense_operations", p->dense_operations, "bytes", p->bytes, "rate",
      o->rate, "bandwidth", o->bandwidth, "floor", least, "limit", limit,
      "error", o->error, "threads", (int)options->threads, "machine",
      machine_name(machine), "commit", options->commit, "options",
      options->options, "clock", options->cpu_time ? "cpu" : "wall", "seconds",
      times);
  if (line && sparse->operand)
    json_object_set_new(line, "sparse",
                        json_pack("{s:s%, s:s%, s:I}", "operand",
                                  &sparse->operand, (size_t)1, "axis",
                                  &sparse->axis, (size_t)1, "block",
                                  (json_int_t)sparse->block));
  bool ok = line &&
            json_dumpf(line, options->json,
                       JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0 &&
            fputc('\n', options->json) != EOF && fflush(options->json) == 0;
  json_decref(line);
  return ok || tool_refuse("cannot write the line of JSON");
}

bool report_outcome(const report_options *options, const outcome *o) {
  print_row(options, o);
  return !options->json || write_json(options, o);
}
