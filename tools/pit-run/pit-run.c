//===- pit-run.c - Compiles a function and runs it ------------------------===//

#include "ArgSpec.h"
#include "Call.h"
#include "Npy.h"
#include "Report.h"
#include "Tool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: pit-run FILE.mlir [--entry=F] --arg=A --arg=B ... [options]\n"
    "\n"
    "Compiles FILE (MLIR text or bytecode; - is stdin) in this process and "
    "runs\n"
    "function F, which may be left out if it is the only one.\n"
    "\n"
    "  --arg=A               an argument, in order: a .npy file, a number (for "
    "a\n"
    "                        scalar), or one of\n"
    "  " ARGSPEC_HELP "                        An index argument is built from "
    "the values given.\n"
    "  --out=FILE.npy        where to save a result, in order; may be left "
    "out\n"
    "  --shape=R:SHAPE       the shape of result R, as 0:4x8, if it depends on "
    "the\n"
    "                        contents of tensors\n"
    "  --print               print the results\n"
    "  --repeat=N            time N runs, after one that is not timed (default "
    "1)\n"
    "  --threads=N           how many threads to use (default: "
    "OMP_NUM_THREADS)\n"
    "  --stats               print coverage and waste of each index, and the "
    "rules\n"
    "  --explain             print why which rule was chosen\n"
    "  --check               compare with the dense program\n"
    "  --coverage-plot=F.png draw a sparse operand and the micro-tiles that "
    "cover\n"
    "                        it\n"
    "  --plot-index=N        of index N in the order of --stats (default 0)\n"
    "  --help\n"
    "\n" TOOL_COMPILE_HELP;

enum { MAX_REPEAT = 1000000 };

typedef struct settings {
  const char *file, *entry, *plot;
  char **args, **outs; ///< as many as command line words fit
  int32_t num_args, num_outs;
  result_shape *shapes;
  int32_t num_shapes;
  int64_t repeat, plot_index;
  int32_t threads;
  bool print, stats, explain, check;
  pit_compile_options compile;
} settings;

enum {
  ENTRY = 1,
  ARG,
  OUT,
  SHAPE,
  PRINT,
  REPEAT,
  THREADS,
  STATS,
  EXPLAIN,
  CHECK,
  PLOT,
  PLOT_INDEX,
  HELP
};

static const struct option options[] = {
    {"entry", required_argument, NULL, ENTRY},
    {"arg", required_argument, NULL, ARG},
    {"out", required_argument, NULL, OUT},
    {"shape", required_argument, NULL, SHAPE},
    {"print", no_argument, NULL, PRINT},
    {"repeat", required_argument, NULL, REPEAT},
    {"threads", required_argument, NULL, THREADS},
    {"stats", no_argument, NULL, STATS},
    {"explain", no_argument, NULL, EXPLAIN},
    {"check", no_argument, NULL, CHECK},
    {"coverage-plot", required_argument, NULL, PLOT},
    {"plot-index", required_argument, NULL, PLOT_INDEX},
    {"help", no_argument, NULL, HELP},
    TOOL_COMPILE_OPTIONS,
    {NULL, 0, NULL, 0}};

/// Sets one option; returns an exit code, or -1 to go on.
static int set_option(settings *s, int val, char *value) {
  long long number;
  switch (val) {
  case ENTRY:
    s->entry = value;
    return -1;
  case ARG:
    s->args[s->num_args++] = value;
    return -1;
  case OUT:
    s->outs[s->num_outs++] = value;
    return -1;
  case SHAPE:
    if (!call_parse_shape(value, &s->shapes[s->num_shapes++]))
      return tool_usage_error("--shape=%s: it must be the number of a result "
                              "and its sizes, as 0:4x8",
                              value);
    return -1;
  case PRINT:
    s->print = true;
    return -1;
  case REPEAT:
    if (!tool_parse_int(value, 1, MAX_REPEAT, &number))
      return tool_usage_error("--repeat=%s: it must be from 1 to %d", value,
                              MAX_REPEAT);
    s->repeat = number;
    return -1;
  case THREADS:
    if (!tool_parse_int(value, 1, 4096, &number))
      return tool_usage_error("--threads=%s: it must be from 1 to 4096", value);
    s->threads = (int32_t)number;
    return -1;
  case STATS:
    s->stats = true;
    return -1;
  case EXPLAIN:
    s->explain = true;
    return -1;
  case CHECK:
    s->check = true;
    return -1;
  case PLOT:
    s->plot = value;
    return -1;
  case PLOT_INDEX:
    if (!tool_parse_int(value, 0, INT32_MAX, &number))
      return tool_usage_error("--plot-index=%s: it must be a number from 0",
                              value);
    s->plot_index = number;
    return -1;
  case HELP:
    fputs(help, stdout);
    return 0;
  case '?':
    fputs("Try 'pit-run --help'.\n", stderr);
    return 2;
  default:
    return tool_compile_option(&s->compile, val, value) ? -1 : 2;
  }
}

static int parse_options(settings *s, int argc, char **argv) {
  int val;
  while ((val = getopt_long(argc, argv, "", options, NULL)) != -1) {
    int code = set_option(s, val, optarg);
    if (code >= 0)
      return code;
  }
  if (optind + 1 != argc)
    return tool_usage_error(optind == argc
                                ? "no input file"
                                : "more than one input file ('%s' and '%s')",
                            argv[optind], argv[optind + 1]);
  s->file = argv[optind];
  // The remarks hold the rules.
  s->compile.explain = s->explain || s->stats;
  s->compile.entry = s->entry;
  return -1;
}

/// A source file and a compiler for it.
typedef struct session {
  const settings *settings;
  pit_compiler *compiler;
  pit_context *context;
  char *source;
  size_t size;
} session;

static bool compile(const session *s, const pit_compile_options *options,
                    pit_program **program) {
  pit_status status = pit_compile_program(s->compiler, s->source, s->size,
                                          s->settings->file, options, program);
  const char *diagnostics = pit_compiler_diagnostics(s->compiler);
  // Remarks were asked for, or are only there for --stats.
  if (status != PIT_OK || s->settings->explain)
    fputs(diagnostics, stderr);
  if (status != PIT_OK && !*diagnostics)
    tool_error("%s", pit_status_string(status));
  return status == PIT_OK;
}

/// The entry that was asked for, which is then the only one, or the only one.
static bool find_entry(const session *s, const pit_program *program,
                       const pit_entry **entry) {
  int32_t count = pit_program_num_entries(program);
  *entry = pit_program_entry_at(program, 0);
  if (count == 0)
    tool_error("'%s' has no public function", s->settings->file);
  else if (count > 1)
    tool_error("'%s' has %d public functions; --entry=%s or another says which",
               s->settings->file, count, pit_entry_name(*entry));
  return count == 1;
}

static bool run_timed(call *c, int64_t repeat) {
  // The first run meets cold memory and threads that do not exist yet.
  if (!call_run(c, NULL))
    return false;
  double *seconds = malloc((size_t)repeat * sizeof(*seconds));
  bool ok = seconds != NULL;
  if (!ok)
    tool_error("out of memory for %lld times", (long long)repeat);
  for (int64_t i = 0; ok && i < repeat; ++i)
    ok = call_run(c, &seconds[i]);
  if (ok)
    report_time(seconds, repeat);
  free(seconds);
  return ok;
}

/// Compiles and runs the dense program on the same arguments and compares.
static bool check(const session *s, call *c) {
  char pipeline[1024];
  pit_compile_options options = s->settings->compile;
  int length =
      snprintf(pipeline, sizeof(pipeline), "%s dense=true", options.pipeline);
  if (length < 0 || (size_t)length >= sizeof(pipeline)) {
    tool_error("--pipeline has more than 1000 characters");
    return false;
  }
  options.pipeline = pipeline;
  options.explain = 0;
  pit_program *program;
  if (!compile(s, &options, &program))
    return false;
  // The arguments are shared.
  call dense = *c;
  dense.results = calloc((size_t)c->num_results + 1, sizeof(*dense.results));
  dense.outs = calloc((size_t)c->num_results + 1, sizeof(*dense.outs));
  bool ok = dense.results && dense.outs &&
            pit_program_entry(s->context, program, pit_entry_name(c->entry),
                              &dense.entry) == PIT_OK;
  for (int32_t r = 0; ok && r < c->num_results; ++r) {
    tensor *t = &dense.results[r];
    ok = tensor_init(t, c->results[r].dl.dtype, c->results[r].dl.ndim,
                     c->results[r].shape);
    dense.outs[r] = &t->dl;
  }
  double seconds;
  ok = ok && call_run(&dense, &seconds);
  if (ok) {
    printf("dense program: %.3f ms (1 run)\n", seconds * 1e3);
    ok = report_check(c, &dense);
  }
  for (int32_t r = 0; dense.results && r < c->num_results; ++r)
    tensor_free(&dense.results[r]);
  free(dense.results);
  free(dense.outs);
  pit_program_close(program);
  return ok;
}

/// Everything from the compiled program on.
static bool run(const session *s, const pit_entry *entry, const char *rules) {
  const settings *set = s->settings;
  call c;
  bool ok = call_init(&c, s->context, entry, set->args, set->num_args);
  if (ok && set->num_outs > c.num_results) {
    tool_error("'%s' has %d result%s; got %d --out", pit_entry_name(entry),
               c.num_results, c.num_results == 1 ? "" : "s", set->num_outs);
    ok = false;
  }
  ok = ok && call_init_results(&c, set->shapes, set->num_shapes) &&
       run_timed(&c, set->repeat);
  if (ok && (set->stats || set->plot))
    ok = report_indices(&c, set->stats, set->plot, set->plot_index);
  if (ok && set->stats)
    report_rules(rules);
  if (ok && set->print)
    report_results(&c);
  for (int32_t r = 0; ok && r < set->num_outs; ++r)
    ok = npy_write(set->outs[r], &c.results[r]);
  if (ok && set->check)
    ok = check(s, &c);
  call_free(&c);
  return ok;
}

static bool compile_and_run(session *s) {
  const settings *set = s->settings;
  if (!tool_read_file(set->file, &s->source, &s->size))
    return false;
  pit_context_options options = {.threads = set->threads};
  pit_status status = pit_context_create(&options, &s->context);
  if (status == PIT_OK)
    status = pit_compiler_create(&s->compiler);
  if (status != PIT_OK) {
    tool_error("%s", pit_status_string(status));
    return false;
  }
  pit_program *program;
  if (!compile(s, &set->compile, &program))
    return false;
  // The compiler's next call drops them.
  char *rules = strdup(pit_compiler_diagnostics(s->compiler));
  const pit_entry *entry;
  bool ok = find_entry(s, program, &entry) && run(s, entry, rules ? rules : "");
  free(rules);
  pit_program_close(program);
  return ok;
}

int main(int argc, char **argv) {
  tool_init("pit-run");
  settings set = {.repeat = 1, .compile = PIT_COMPILE_OPTIONS};
  size_t words = (size_t)argc;
  set.args = calloc(words, sizeof(*set.args));
  set.outs = calloc(words, sizeof(*set.outs));
  set.shapes = calloc(words, sizeof(*set.shapes));
  int code = 1;
  session s = {.settings = &set};
  if (!set.args || !set.outs || !set.shapes) {
    tool_error("out of memory");
  } else {
    code = parse_options(&set, argc, argv);
    if (code < 0)
      code = compile_and_run(&s) ? 0 : 1;
  }
  free(s.source);
  pit_compiler_destroy(s.compiler);
  pit_context_destroy(s.context);
  free(set.args);
  free(set.outs);
  free(set.shapes);
  return code;
}
