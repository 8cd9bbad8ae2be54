//===- pit-bench.c - Times pit's programs and others in turns -------------===//

#include "Commit.h"
#include "Compare.h"
#include "Machine.h"
#include "Report.h"
#include "Tool.h"
#include "Torch.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <omp.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: pit-bench FILE.json... [options]\n"
    "\n"
    "Compiles the program of each case of the files, and times it and other "
    "libraries\n"
    "that compute the same, in turns, on data that changes each time.\n"
    "\n"
    "  --only=REGEX          cases whose names match\n"
    "  --sparsity=S          only this one of each case\n"
    "  --list                print the cases and their sparsities\n"
    "  --threads=N           of all contenders (default 1)\n"
    "  --seconds=S           of runs of each contender and case (default 2)\n"
    "  --rounds=N            at most so many runs of each; 0: only check the "
    "results\n"
    "  --patterns=N          different data of a case (default 8)\n"
    "  --cpu-time            of one thread: its time on the processor, where "
    "others run\n"
    "                        beside it\n"
    "  --peers=LIST          names with commas between them; none: pit alone\n"
    "  --torch=PATH          PyTorch's libtorch_cpu.so, which is then a peer\n"
    "  --set=NAME=VALUE      replaces a variable of all cases that have it, as "
    "M=512\n"
    "  --json=FILE           append a line of JSON for each case\n"
    "  --help\n"
    "\n" TOOL_COMPILE_HELP;

typedef struct settings {
  tool_command_line line;
  regex_t only;
  bool has_only, list, check_only, cpu_time;
  const char *peers; ///< NULL: all
  const char *torch; ///< NULL: without
  const char *json;
  json_t *overrides; ///< of --set
  double seconds;
  double sparsity; ///< less than 0: all
  int32_t threads, rounds, patterns;
} settings;

enum {
  ONLY = 1,
  SPARSITY,
  LIST,
  THREADS,
  SECONDS,
  ROUNDS,
  PATTERNS,
  CPU_TIME,
  PEERS,
  TORCH,
  SET,
  JSON
};

static const struct option options[] = {
    {"only", required_argument, NULL, ONLY},
    {"sparsity", required_argument, NULL, SPARSITY},
    {"list", no_argument, NULL, LIST},
    {"threads", required_argument, NULL, THREADS},
    {"seconds", required_argument, NULL, SECONDS},
    {"rounds", required_argument, NULL, ROUNDS},
    {"patterns", required_argument, NULL, PATTERNS},
    {"cpu-time", no_argument, NULL, CPU_TIME},
    {"peers", required_argument, NULL, PEERS},
    {"torch", required_argument, NULL, TORCH},
    {"set", required_argument, NULL, SET},
    {"json", required_argument, NULL, JSON},
    TOOL_OPTIONS,
    {NULL, 0, NULL, 0}};

/// True if LIST, with commas between names, has the name.
static bool lists(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list;; ++at) {
    size_t word = strcspn(at, ",");
    if (word == length && strncmp(at, name, length) == 0)
      return true;
    at += word;
    if (!*at)
      return false;
  }
}

/// Checks a list of peers: each is one that is there.
static bool check_peers(const char *list) {
  for (const char *at = list;; ++at) {
    size_t length = strcspn(at, ",");
    bool known = strcmp(list, "none") == 0 ||
                 (length == 9 && strncmp(at, "pit dense", length) == 0);
    for (const peer *p = peers(); p->name; ++p)
      if (strlen(p->name) == length && strncmp(p->name, at, length) == 0) {
        const char *missing = peer_missing(p);
        if (missing)
          return tool_refuse("--peers=%s: %s is left out: %s", list, p->name,
                             missing);
        known = true;
      }
    if (!known)
      return tool_refuse("--peers=%s: there is no peer '%.*s'; --help and the "
                         "table's head list them",
                         list, (int)length, at);
    at += length;
    if (!*at)
      return true;
  }
}

static bool set_only(settings *s, const char *text) {
  if (s->has_only)
    regfree(&s->only);
  int status = regcomp(&s->only, text, REG_EXTENDED | REG_NOSUB);
  s->has_only = status == 0;
  char why[128];
  if (status != 0)
    regerror(status, &s->only, why, sizeof(why));
  return status == 0 || tool_refuse("--only=%s: %s", text, why);
}

static bool set_variable(settings *s, const char *text) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text)
    return tool_refuse("--set=%s: it must be a name, = and a value", text);
  long long number;
  json_t *value = tool_parse_int(equals + 1, INT64_MIN, INT64_MAX, &number)
                      ? json_integer(number)
                      : json_string(equals + 1);
  char *name = strndup(text, (size_t)(equals - text));
  bool ok = name && value && s->overrides &&
            json_object_set(s->overrides, name, value) == 0;
  json_decref(value);
  free(name);
  return ok || tool_refuse("--set=%s: it is no text", text);
}

static bool set_option(void *user, int val, char *value) {
  settings *s = user;
  long long number;
  char *end;
  switch (val) {
  case ONLY:
    return set_only(s, value);
  case SPARSITY:
    s->sparsity = strtod(value, &end);
    if (end == value || *end || !(s->sparsity >= 0 && s->sparsity <= 1))
      return tool_refuse("--sparsity=%s: it must be a number from 0 to 1",
                         value);
    return true;
  case LIST:
    s->list = true;
    return true;
  case THREADS:
    if (!tool_parse_int(value, 1, 4096, &number))
      return tool_refuse("--threads=%s: it must be from 1 to 4096", value);
    s->threads = (int32_t)number;
    return true;
  case SECONDS:
    s->seconds = strtod(value, &end);
    if (end == value || *end || !(s->seconds > 0 && s->seconds <= 3600))
      return tool_refuse("--seconds=%s: it must be more than 0 and at most "
                         "3600",
                         value);
    return true;
  case ROUNDS:
    if (!tool_parse_int(value, 0, 1000, &number))
      return tool_refuse("--rounds=%s: it must be from 0 to 1000", value);
    s->rounds = (int32_t)number;
    s->check_only = number == 0;
    return true;
  case PATTERNS:
    if (!tool_parse_int(value, 1, 64, &number))
      return tool_refuse("--patterns=%s: it must be from 1 to 64", value);
    s->patterns = (int32_t)number;
    return true;
  case CPU_TIME:
    s->cpu_time = true;
    return true;
  case PEERS:
    s->peers = value;
    return true;
  case TORCH:
    s->torch = value;
    return true;
  case SET:
    return set_variable(s, value);
  default:
    s->json = value;
    return true;
  }
}

/// A problem and those who compute it; the first is pit.
typedef struct field {
  problem problem;
  contender contenders[MAX_CONTENDERS];
  int32_t count;
  double error; ///< pit's
} field;

static void field_free(field *f) {
  for (int32_t i = 0; i < f->count; ++i)
    f->contenders[i].destroy(f->contenders[i].state);
  problem_free(&f->problem);
}

/// Adds pit, the peers that compute the problem, and pit's own dense program
/// where no peer computes all of it.
static bool gather_field(field *f, const settings *set,
                         const pit_settings *pit) {
  if (pit_make(&f->problem, pit, false, &f->contenders[0]) != PEER_MADE)
    return false;
  f->count = 1;
  for (const peer *p = peers(); p->name; ++p) {
    if (peer_missing(p) || (set->peers && !lists(set->peers, p->name)))
      continue;
    peer_answer answer = p->make(&f->problem, &f->contenders[f->count]);
    if (answer == PEER_FAILED)
      return false;
    f->count += answer == PEER_MADE;
  }
  bool wanted = set->peers ? lists(set->peers, "pit dense") : f->count == 1;
  if (wanted || f->count == 1) {
    if (pit_make(&f->problem, pit, true, &f->contenders[f->count]) != PEER_MADE)
      return false;
    ++f->count;
  }
  return true;
}

/// Sets the outputs to 0 that the mask of a product does not want.
static void clear_unwanted(const problem *p, const tensor *result) {
  const uint8_t *mask = problem_data(p, 0, 2);
  size_t width = result->dl.dtype.bits / 8;
  char *data = result->dl.data;
  int64_t count = tensor_count(result);
  for (int64_t i = 0; i < count; ++i)
    if (!mask[i])
      memset(data + (size_t)i * width, 0, width);
}

/// Runs everybody on one pattern and compares with the first peer: what is
/// wrong is not timed.
static bool check(field *f) {
  const problem *p = &f->problem;
  for (int32_t i = 0; i < f->count; ++i) {
    contender *c = &f->contenders[i];
    if (!c->run(c->state, 0))
      return false;
    if (c->unwanted)
      clear_unwanted(p, c->result);
  }
  const contender *wanted = &f->contenders[1];
  for (int32_t i = 0; i < f->count; ++i) {
    const contender *c = &f->contenders[i];
    comparison found;
    if (c == wanted)
      continue;
    compare_tensors(c->result, wanted->result, -1, &found);
    if (i == 0)
      f->error = found.max_relative;
    if (found.off)
      return tool_refuse(
          "%s: case '%s', sparsity %g: %lld of %lld elements of %s differ from "
          "those of %s; element %lld is %.9g, not %.9g",
          p->from->file, p->from->name, p->instance.sparsity,
          (long long)found.off, (long long)tensor_count(c->result), c->name,
          wanted->name, (long long)found.first,
          tensor_get(c->result, found.first),
          tensor_get(wanted->result, found.first));
  }
  return true;
}

/// The state that a run of the program uses all along.
typedef struct session {
  const settings *set;
  pit_settings pit;
  report_options report;
} session;

static bool run_field(const session *s, field *f) {
  const settings *set = s->set;
  const problem *p = &f->problem;
  outcome o = {.problem = p, .count = f->count};
  if (!gather_field(f, set, &s->pit) || !check(f) ||
      !pit_last_live_fraction(&f->contenders[0], 0, &o.live_fraction))
    return false;
  if (o.live_fraction < 0)
    o.live_fraction = 1; // a dense program
  if (set->check_only) {
    printf("%s, sparsity %g: ok (", p->from->name, p->instance.sparsity);
    for (int32_t i = 0; i < f->count; ++i)
      printf("%s%s", i ? ", " : "", f->contenders[i].name);
    printf(")\n");
    return true;
  }
  measure_options how = {.seconds = set->seconds,
                         .rounds = set->rounds,
                         .threads = set->threads,
                         .cpu_time = set->cpu_time,
                         .probe = p->type};
  o.count = f->count;
  o.error = f->error;
  o.bandwidth = machine_bandwidth(set->threads, set->cpu_time);
  for (int32_t i = 0; i < f->count; ++i)
    o.names[i] = f->contenders[i].name;
  return measure(f->contenders, f->count, p->num_patterns, &how, o.timings,
                 &o.rate) &&
         report_outcome(&s->report, &o);
}

static bool is_wanted(const settings *set, double sparsity) {
  return set->sparsity < 0 || fabs(set->sparsity - sparsity) < 1e-9;
}

/// Runs a case; a sparsity that goes wrong does not stop the others.
static bool run_case(const session *s, const bench_case *c) {
  bool ok = true;
  for (int32_t i = 0; i < c->num_sparsities; ++i) {
    if (!is_wanted(s->set, c->sparsities[i]))
      continue;
    fprintf(stderr, "pit-bench: %s, sparsity %g ...\n", c->name,
            c->sparsities[i]);
    field f = {.count = 0};
    ok &= problem_init(&f.problem, c, c->sparsities[i], s->set->patterns) &&
          run_field(s, &f);
    field_free(&f);
  }
  return ok;
}

static void print_case(const settings *set, const bench_case *c) {
  printf("%-34s", c->name);
  for (int32_t i = 0; i < c->num_sparsities; ++i)
    if (is_wanted(set, c->sparsities[i]))
      printf(" %g", c->sparsities[i]);
  printf("\n");
}

/// The table's columns: the peers that may take part.
static void list_columns(session *s) {
  report_options *r = &s->report;
  const char *wanted = s->set->peers;
  for (const peer *p = peers(); p->name; ++p)
    if (!peer_missing(p) && (!wanted || lists(wanted, p->name)))
      r->columns[r->num_columns++] = p->name;
  r->columns[r->num_columns++] = "pit dense";
}

static bool run_cases(session *s, const case_list *list) {
  const settings *set = s->set;
  bool ok = true, any = false;
  list_columns(s);
  if (!set->list && !set->check_only)
    report_head(&s->report);
  for (int32_t i = 0; i < list->count; ++i) {
    const bench_case *c = &list->cases[i];
    if (set->has_only && regexec(&set->only, c->name, 0, NULL, 0) != 0)
      continue;
    any = true;
    if (set->list)
      print_case(set, c);
    else
      ok &= run_case(s, c);
  }
  return any ? ok : tool_refuse("no case matches --only");
}

static bool run(session *s) {
  const settings *set = s->set;
  case_list list = {.overrides = set->overrides};
  bool ok = true;
  for (int i = 0; ok && i < set->line.num_files; ++i)
    ok = case_read(&list, set->line.files[i]);
  if (ok && set->json) {
    s->report.json = fopen(set->json, "a");
    ok = s->report.json ||
         tool_refuse("cannot write '%s': %s", set->json, strerror(errno));
  }
  if (ok && !set->list)
    ok = pit_compiler_create(&s->pit.compiler) == PIT_OK ||
         tool_refuse("the compiler cannot be made");
  ok = ok && run_cases(s, &list);
  pit_compiler_destroy(s->pit.compiler);
  if (s->report.json && fclose(s->report.json) != 0)
    ok = tool_refuse("cannot write '%s': %s", set->json, strerror(errno));
  case_free(&list);
  return ok;
}

int main(int argc, char **argv) {
  tool_init("pit-bench");
  settings set = {.seconds = 2,
                  .sparsity = -1,
                  .threads = 1,
                  .patterns = 8,
                  .overrides = json_object(),
                  .line = {.help = help,
                           .short_options = "",
                           .options = options,
                           .many_files = true,
                           .set = set_option,
                           .settings = &set,
                           .compile = PIT_COMPILE_OPTIONS}};
  int code = tool_parse(&set.line, argc, argv);
  if (code < 0 && set.cpu_time && set.threads > 1) {
    tool_error("--cpu-time is that of one thread; it takes no --threads=%d",
               set.threads);
    code = 2;
  }
  if (code < 0) {
    // Torch takes as many when it starts.
    omp_set_num_threads(set.threads);
    if (set.torch && !torch_open(set.torch))
      code = 1;
    else if (set.peers && !check_peers(set.peers))
      code = 2;
  }
  if (code < 0) {
    session s = {.set = &set,
                 .pit = {.options = set.line.compile, .threads = set.threads},
                 .report = {.threads = set.threads,
                            .cpu_time = set.cpu_time,
                            .commit = PIT_COMMIT,
                            .options = set.line.compile.pipeline}};
    code = run(&s) ? 0 : 1;
  }
  json_decref(set.overrides);
  if (set.has_only)
    regfree(&set.only);
  return code;
}
