//===- pit-run.c - Compiles a function and runs it ------------------------===//

#include "ArgSpec.h"
#include "Call.h"
#include "Input.h"
#include "Npy.h"
#include "Report.h"
#include "Tool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: pit-run FILE [--entry=F] --arg=A --arg=B ... [options]\n"
    "\n"
    "Compiles FILE (MLIR text or bytecode; - is stdin) in this process and "
    "runs\n"
    "function F, which may be left out if it is the only one. FILE may also be "
    "a\n"
    "shared library that pit-compile made.\n"
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
    "  --constant=N          argument N stays as it is: what is made of it is "
    "kept from\n"
    "                        run to run; may be given several times\n"
    "  --threads=N           how many threads to use (default: "
    "OMP_NUM_THREADS)\n"
    "  --stats               print live fraction and waste of indices, and the "
    "rules\n"
    "  --explain             print why which rule was chosen\n"
    "  --profile-out=F.json  write what the runs recorded of the zeros of "
    "marks, "
    "for\n"
    "                        --profile\n"
    "  --check[=FILE]        compare with the dense program: of the same "
    "source, or\n"
    "                        that of FILE, a source or a shared library\n"
    "  --tolerance=X         the relative error that --check lets pass\n"
    "  --live-plot=F.png      draw a sparse operand and the micro-tiles that "
    "cover\n"
    "                        it\n"
    "  --plot-index=N        of index N in the order of --stats (default 0)\n"
    "  --help\n"
    "\n"
    "On a GPU (--target=cuda, or a shared library for it):\n"
    "  --device=N            which GPU, numbered from 0 (default 0)\n"
    "  --cuda-library=PATH   the driver's library (default libcuda.so.1)\n"
    "\n" TOOL_COMPILE_HELP;

enum { MAX_REPEAT = 1000000 };

typedef struct settings {
  tool_command_line line;
  const char *entry, *plot;
  const char *reference; ///< of --check; NULL: the file itself
  const char *cuda_library;
  const char *profile_out;
  char **args, **outs; ///< as many as command line words fit
  int32_t num_args, num_outs;
  int32_t *constants; ///< arguments; as many as command line words fit
  int32_t num_constants;
  result_shape *shapes;
  int32_t num_shapes;
  int64_t repeat, plot_index;
  double tolerance; ///< less than 0: by element type
  int32_t threads, device;
  bool print, stats, explain, check;
} settings;

enum {
  ENTRY = 1,
  ARG,
  OUT,
  SHAPE,
  PRINT,
  REPEAT,
  CONSTANT,
  THREADS,
  STATS,
  EXPLAIN,
  PROFILE_OUT,
  CHECK,
  TOLERANCE,
  PLOT,
  PLOT_INDEX,
  DEVICE,
  CUDA_LIBRARY
};

static const struct option options[] = {
    {"entry", required_argument, NULL, ENTRY},
    {"arg", required_argument, NULL, ARG},
    {"out", required_argument, NULL, OUT},
    {"shape", required_argument, NULL, SHAPE},
    {"print", no_argument, NULL, PRINT},
    {"repeat", required_argument, NULL, REPEAT},
    {"constant", required_argument, NULL, CONSTANT},
    {"threads", required_argument, NULL, THREADS},
    {"stats", no_argument, NULL, STATS},
    {"explain", no_argument, NULL, EXPLAIN},
    {"profile-out", required_argument, NULL, PROFILE_OUT},
    {"check", optional_argument, NULL, CHECK},
    {"tolerance", required_argument, NULL, TOLERANCE},
    {"live-plot", required_argument, NULL, PLOT},
    {"plot-index", required_argument, NULL, PLOT_INDEX},
    {"device", required_argument, NULL, DEVICE},
    {"cuda-library", required_argument, NULL, CUDA_LIBRARY},
    TOOL_OPTIONS,
    {NULL, 0, NULL, 0}};

static bool set_option(void *user, int val, char *value) {
  settings *s = user;
  long long number;
  char *end;
  switch (val) {
  case ENTRY:
    s->entry = value;
    return true;
  case ARG:
    s->args[s->num_args++] = value;
    return true;
  case OUT:
    s->outs[s->num_outs++] = value;
    return true;
  case SHAPE:
    if (!call_parse_shape(value, &s->shapes[s->num_shapes++]))
      return tool_refuse("--shape=%s: it must be the number of a result "
                         "and its sizes, as 0:4x8",
                         value);
    return true;
  case PRINT:
    s->print = true;
    return true;
  case REPEAT:
    if (!tool_parse_int(value, 1, MAX_REPEAT, &number))
      return tool_refuse("--repeat=%s: it must be from 1 to %d", value,
                         MAX_REPEAT);
    s->repeat = number;
    return true;
  case CONSTANT:
    if (!tool_parse_int(value, 0, INT32_MAX, &number))
      return tool_refuse("--constant=%s: it must be the number of an argument, "
                         "from 0",
                         value);
    s->constants[s->num_constants++] = (int32_t)number;
    return true;
  case THREADS:
    if (!tool_parse_int(value, 1, 4096, &number))
      return tool_refuse("--threads=%s: it must be from 1 to 4096", value);
    s->threads = (int32_t)number;
    return true;
  case STATS:
    s->stats = true;
    return true;
  case EXPLAIN:
    s->explain = true;
    return true;
  case PROFILE_OUT:
    s->profile_out = value;
    return true;
  case CHECK:
    s->check = true;
    s->reference = value;
    return true;
  case TOLERANCE:
    s->tolerance = strtod(value, &end);
    if (end == value || *end || !(s->tolerance >= 0 && s->tolerance <= 1))
      return tool_refuse("--tolerance=%s: it must be a number from 0 to 1",
                         value);
    return true;
  case PLOT:
    s->plot = value;
    return true;
  case PLOT_INDEX:
    if (!tool_parse_int(value, 0, INT32_MAX, &number))
      return tool_refuse("--plot-index=%s: it must be a number from 0", value);
    s->plot_index = number;
    return true;
  case DEVICE:
    if (!tool_parse_int(value, 0, INT32_MAX, &number))
      return tool_refuse("--device=%s: it must be a number from 0", value);
    s->device = (int32_t)number;
    return true;
  default:
    s->cuda_library = value;
    return true;
  }
}

/// A program and where it runs.
typedef struct session {
  const settings *settings;
  input input;
  pit_context *context;
  pit_program *program;
  const pit_entry *entry;
} session;

/// Makes the context: with a GPU for programs that run there.
static bool open_context(session *s, bool on_gpu) {
  char message[512] = "";
  pit_context_options options = {.threads = s->settings->threads,
                                 .device_type = on_gpu ? kDLCUDA : kDLCPU,
                                 .device_id = s->settings->device,
                                 .cuda_library = s->settings->cuda_library,
                                 .message = message,
                                 .message_size = sizeof(message)};
  pit_status status = pit_context_create(&options, &s->context);
  if (status != PIT_OK)
    tool_error("%s", message[0] ? message : pit_status_string(status));
  return status == PIT_OK;
}

static bool is_for_gpu(const pit_compile_options *options) {
  return strcmp(options->target, TOOL_GPU_TARGET) == 0;
}

/// The chip to compile for: that of the GPU, or an older one that the compiler
/// knows. Only sm_90a has instructions that no other GPU has.
static const char *find_chip(pit_context *context) {
  static const struct {
    int32_t capability;
    const char *chip;
  } chips[] = {{120, "sm_120"}, {100, "sm_100"}, {91, "sm_90"},
               {90, "sm_90a"},  {89, "sm_89"},   {86, "sm_86"}};
  pit_device_info info;
  if (pit_device_query(context, &info) == PIT_OK)
    for (size_t i = 0; i < sizeof(chips) / sizeof(*chips); ++i)
      if (info.capability >= chips[i].capability)
        return chips[i].chip;
  return "sm_80";
}

enum { MAX_PIPELINE = 1024 };

/// Options of a pipeline, and further ones after them.
static bool join_options(char joined[MAX_PIPELINE], const char *given,
                         const char *further) {
  int length = snprintf(joined, MAX_PIPELINE, "%s %s", given, further);
  if (length >= 0 && length < MAX_PIPELINE)
    return true;
  tool_error("--pipeline has more than %d characters", MAX_PIPELINE - 50);
  return false;
}

static bool compile_source(session *s) {
  const settings *set = s->settings;
  pit_compile_options options = set->line.compile;
  options.entry = set->entry;
  // --stats prints the rules, which are in the remarks.
  options.explain = set->explain || set->stats;
  char pipeline[MAX_PIPELINE];
  if (set->profile_out) {
    if (is_for_gpu(&options)) {
      tool_error(
          "--profile-out takes a program for the CPU, whose zeros are the "
          "same; --profile takes what it wrote for a GPU, too");
      return false;
    }
    if (!join_options(pipeline, options.pipeline, "record=true"))
      return false;
    options.pipeline = pipeline;
  }
  if (!open_context(s, is_for_gpu(&options)))
    return false;
  if (is_for_gpu(&options) && !options.chip)
    options.chip = find_chip(s->context);
  return input_compile(&s->input, &options, /*show=*/set->explain,
                       &s->program) &&
         input_find_entry(&s->input, s->program, NULL, &s->entry);
}

static bool open_library(session *s) {
  const settings *set = s->settings;
  if (set->line.compiles_given || set->explain) {
    tool_error("'%s' is compiled already; it takes no option that says how to "
               "compile",
               set->line.file);
    return false;
  }
  if (set->check && !set->reference) {
    tool_error("'%s' is compiled already; --check=FILE says what the dense "
               "program is, a source or a shared library",
               set->line.file);
    return false;
  }
  if (!input_open(&s->input, &s->program) ||
      !input_find_entry(&s->input, s->program, set->entry, &s->entry))
    return false;
  bool on_gpu = pit_entry_device(s->entry) == kDLCUDA;
  if (set->line.target_given && is_for_gpu(&set->line.compile) != on_gpu) {
    tool_error("'%s' runs on %s, not on --target=%s", set->line.file,
               on_gpu ? "a GPU" : "the CPU", on_gpu ? "cpu" : "cuda");
    return false;
  }
  return open_context(s, on_gpu);
}

static bool run_timed(call *c, int64_t repeat) {
  // The first run meets cold memory, code that is not there yet, and threads
  // that do not exist yet.
  if (!call_run_first(c))
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

/// Makes the dense program of `in`. That of a program for a GPU is one for the
/// CPU. It has no tiles and writes nothing in place, so that it shares little
/// with what it is compared to.
static bool make_dense(const session *s, input *in, pit_program **program) {
  if (in->is_library)
    return input_open(in, program);
  char pipeline[MAX_PIPELINE];
  pit_compile_options options = s->settings->line.compile;
  bool on_gpu = is_for_gpu(&options);
  // Options of the GPU's pipeline are not the CPU's.
  if (!join_options(pipeline, on_gpu ? "" : options.pipeline,
                    "dense=true tile-dense=false in-place=false"))
    return false;
  if (on_gpu)
    options.target = "cpu";
  options.pipeline = pipeline;
  options.entry = pit_entry_name(s->entry);
  options.explain = 0;
  return input_compile(in, &options, /*show=*/false, program);
}

/// A program for the CPU has a context without a GPU.
static bool can_run_dense(const input *in, const call *c,
                          const pit_entry *dense) {
  if (pit_entry_device(dense) != kDLCUDA || call_on_gpu(c))
    return true;
  tool_error("--check=%s runs on a GPU; the dense program of one for the CPU "
             "runs there",
             in->file);
  return false;
}

/// Runs the dense program on the same arguments and compares.
static bool check_with(session *s, input *in, const call *c) {
  pit_program *program = NULL;
  const pit_entry *entry;
  call dense = {0};
  double seconds;
  bool ok = make_dense(s, in, &program) &&
            input_find_entry(in, program, pit_entry_name(s->entry), &entry) &&
            can_run_dense(in, c, entry) && call_init_like(&dense, c, entry) &&
            call_run(&dense, &seconds) && call_fetch_results(&dense);
  if (ok) {
    printf("dense program%s: %.3f ms (1 run)\n",
           call_on_gpu(c) && !call_on_gpu(&dense) ? " on the CPU" : "",
           seconds * 1e3);
    ok = report_check(c, &dense, s->settings->tolerance);
  }
  call_free(&dense);
  pit_program_close(program);
  return ok;
}

static bool check(session *s, const call *c) {
  const char *file = s->settings->reference;
  if (!file)
    return check_with(s, &s->input, c);
  input in;
  bool ok = input_read(&in, file) && check_with(s, &in, c);
  input_free(&in);
  return ok;
}

/// Everything from the program on.
static bool run(session *s) {
  const settings *set = s->settings;
  call c;
  bool ok = call_init(&c, s->context, s->entry, set->args, set->num_args);
  if (ok && set->num_outs > c.num_results) {
    tool_error("'%s' has %d result%s; got %d --out", pit_entry_name(s->entry),
               c.num_results, c.num_results == 1 ? "" : "s", set->num_outs);
    ok = false;
  }
  if (ok && set->plot && call_on_gpu(&c)) {
    tool_error("--live-plot takes indices that are built on the CPU");
    ok = false;
  }
  ok = ok && call_init_results(&c, set->shapes, set->num_shapes);
  for (int32_t i = 0; ok && i < set->num_constants; ++i)
    ok = call_promise(&c, set->constants[i]);
  ok = ok && run_timed(&c, set->repeat);
  if (ok && set->num_constants)
    report_kept(&c);
  if (ok && set->profile_out) {
    pit_status status = pit_context_write_profile(s->context, set->profile_out);
    ok = status == PIT_OK;
    if (!ok)
      call_print_error(s->context, status);
  }
  // The runs that follow tell what a call builds, and compute everything
  // afresh.
  call_end_promises(&c);
  if (ok && (set->stats || set->plot))
    ok = report_indices(&c, set->stats, set->plot, set->plot_index);
  if (ok && set->stats)
    report_rules(input_diagnostics(&s->input));
  ok = ok && call_fetch_results(&c);
  if (ok && set->print)
    report_results(&c);
  for (int32_t r = 0; ok && r < set->num_outs; ++r)
    ok = npy_write(set->outs[r], &c.results[r]);
  if (ok && set->check)
    ok = check(s, &c);
  call_free(&c);
  return ok;
}

static bool load_and_run(session *s) {
  if (!input_read(&s->input, s->settings->line.file))
    return false;
  return (s->input.is_library ? open_library(s) : compile_source(s)) && run(s);
}

int main(int argc, char **argv) {
  tool_init("pit-run");
  settings set = {.repeat = 1,
                  .tolerance = -1,
                  .line = {.help = help,
                           .short_options = "",
                           .options = options,
                           .set = set_option,
                           .settings = &set,
                           .compile = PIT_COMPILE_OPTIONS}};
  set.line.compile.chip = NULL; // that of the GPU there is
  size_t words = (size_t)argc;
  set.args = calloc(words, sizeof(*set.args));
  set.outs = calloc(words, sizeof(*set.outs));
  set.constants = calloc(words, sizeof(*set.constants));
  set.shapes = calloc(words, sizeof(*set.shapes));
  int code = 1;
  session s = {.settings = &set};
  if (!set.args || !set.outs || !set.constants || !set.shapes) {
    tool_error("out of memory");
  } else {
    code = tool_parse(&set.line, argc, argv);
    if (code < 0)
      code = load_and_run(&s) ? 0 : 1;
  }
  pit_program_close(s.program);
  input_free(&s.input);
  pit_context_destroy(s.context);
  free(set.args);
  free(set.outs);
  free(set.constants);
  free(set.shapes);
  return code;
}
