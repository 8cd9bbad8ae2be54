//===- Pit.c - pit's own programs -----------------------------------------===//

#include "Contender.h"
#include "Tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pit_state {
  const problem *problem;
  pit_context *context;
  pit_program *program;
  const pit_entry *entry;
  pit_value *ins;           ///< [num_args]; of the call that runs
  pit_constant **constants; ///< [num_args]; NULL: not constant
  tensor result;
  DLTensor *outs[1];
} pit_state;

static void destroy(void *user) {
  pit_state *s = user;
  for (int32_t i = 0; s->constants && i < s->problem->num_args; ++i)
    pit_constant_destroy(s->constants[i]);
  free(s->constants);
  free(s->ins);
  pit_program_close(s->program);
  pit_context_destroy(s->context);
  tensor_free(&s->result);
  free(s);
}

/// True if it is PIT_OK; else prints the context's message.
static bool succeeded(const pit_state *s, pit_status status) {
  if (status == PIT_OK)
    return true;
  char message[512];
  size_t length =
      s->context ? pit_context_message(s->context, message, sizeof(message))
                 : 0;
  return tool_refuse("%s", length ? message : pit_status_string(status));
}

static bool run(void *user, int32_t pattern) {
  pit_state *s = user;
  const problem *p = s->problem;
  for (int32_t i = 0; i < p->num_args; ++i)
    s->ins[i] = pit_tensor_value(problem_args(p, pattern)[i]);
  return succeeded(s, pit_entry_run(s->context, s->entry, s->ins, p->num_args,
                                    s->outs, 1, NULL));
}

/// The pipeline's options of the settings, then of the case.
static char *pipeline_of(const problem *p, const pit_settings *settings,
                         bool dense) {
  const char *given = settings->options.pipeline, *own = p->from->pipeline;
  size_t size = strlen(given) + strlen(own) + 16;
  char *text = malloc(size);
  if (text)
    snprintf(text, size, "%s %s%s", given, own, dense ? " dense=true" : "");
  return text;
}

static bool compile(pit_state *s, const pit_settings *settings, bool dense) {
  const problem *p = s->problem;
  const char *path = p->from->program;
  char *file, *text = NULL;
  size_t size;
  if (!tool_read_file(path, &file, &size))
    return false;
  char *closed = realloc(file, size + 1); // a text for case_expand
  char *pipeline = pipeline_of(p, settings, dense);
  bool ok = closed && pipeline;
  if (ok) {
    closed[size] = '\0';
    text = case_expand(p->from, closed, &p->instance);
    ok = text != NULL;
  }
  if (ok) {
    pit_compile_options options = settings->options;
    options.pipeline = pipeline;
    pit_status status = pit_compile_program(
        settings->compiler, text, strlen(text), path, &options, &s->program);
    const char *why = pit_compiler_diagnostics(settings->compiler);
    ok = status == PIT_OK;
    if (!ok) {
      fputs(why, stderr);
      tool_error("%s: case '%s': its program does not compile%s%s",
                 p->from->file, p->from->name, *why ? "" : ": ",
                 *why ? "" : pit_status_string(status));
    }
  }
  free(text);
  free(closed ? closed : file);
  free(pipeline);
  return ok;
}

/// Checks that the program is a function of the case's arguments.
static bool find_entry(pit_state *s) {
  const problem *p = s->problem;
  s->entry = pit_program_entry_at(s->program, 0);
  if (pit_program_num_entries(s->program) != 1 ||
      pit_entry_num_args(s->entry) != p->num_args ||
      pit_entry_num_results(s->entry) != 1)
    return tool_refuse("%s: case '%s': its program must have one function, of "
                       "%d arguments and one result",
                       p->from->file, p->from->name, p->num_args);
  return true;
}

/// Promises what the case says does not change.
static bool promise(pit_state *s) {
  const problem *p = s->problem;
  s->constants = calloc((size_t)p->num_args, sizeof(*s->constants));
  s->ins = calloc((size_t)p->num_args, sizeof(*s->ins));
  if (!s->constants || !s->ins)
    return tool_refuse("out of memory");
  for (int32_t i = 0; i < p->num_args; ++i)
    if (case_is_constant(p->from, i) &&
        !succeeded(
            s, pit_constant_create(s->context, p->ins[i], &s->constants[i])))
      return false;
  return true;
}

peer_answer pit_make(const problem *p, const pit_settings *settings, bool dense,
                     contender *made) {
  pit_state *s = calloc(1, sizeof(*s));
  if (!s) {
    tool_error("out of memory");
    return PEER_FAILED;
  }
  s->problem = p;
  pit_context_options options = {.threads = settings->threads};
  if (!succeeded(s, pit_context_create(&options, &s->context)) ||
      !compile(s, settings, dense) || !find_entry(s) || !promise(s) ||
      !problem_init_result(p, &s->result)) {
    destroy(s);
    return PEER_FAILED;
  }
  s->outs[0] = &s->result.dl;
  *made = (contender){.name = dense ? "pit dense" : "pit",
                      .run = run,
                      .destroy = destroy,
                      .state = s,
                      .result = &s->result};
  return PEER_MADE;
}

bool pit_last_live_fraction(const contender *pit, int32_t pattern,
                            double *live_fraction) {
  enum { MOST = 64 };
  const pit_state *s = pit->state;
  pit_build_stats stats[MOST];
  int64_t copied = 0;
  // An index that was kept is not recorded.
  for (int32_t i = 0; i < s->problem->num_args; ++i)
    pit_constant_changed(s->constants[i]);
  if (!succeeded(s, pit_context_set_stats(s->context, PIT_STATS_ON)) ||
      !pit->run(pit->state, pattern))
    return false;
  pit_context_stats(s->context, stats, MOST, &copied);
  pit_context_set_stats(s->context, PIT_STATS_OFF);
  double live = 0, all = 0;
  for (int64_t i = 0; i < copied && i < MOST; ++i) {
    live += (double)stats[i].live;
    all += (double)stats[i].micro_tiles;
  }
  *live_fraction = all > 0 ? live / all : -1;
  return true;
}
