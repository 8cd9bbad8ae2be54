//===- Call.c - A call of an entry point ----------------------------------===//

#include "Call.h"
#include "ArgSpec.h"
#include "Npy.h"
#include "Tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void call_print_error(pit_context *context, const char *what,
                      pit_status status) {
  char message[512];
  size_t length = pit_context_message(context, message, sizeof(message));
  tool_error("%s%s", what, length ? message : pit_status_string(status));
}

/// "f32 ?x4" or "index of rank 2".
static const char *info_name(const pit_arg_info *info,
                             char buffer[TENSOR_NAME_SIZE]) {
  if (info->kind != PIT_KIND_INDEX)
    return tensor_name(info->dtype, info->rank, info->dims, buffer);
  snprintf(buffer, TENSOR_NAME_SIZE, "an index of rank %d", info->rank);
  return buffer;
}

static bool check_count(const pit_entry *entry, int32_t given) {
  int32_t takes = pit_entry_num_args(entry);
  if (given == takes)
    return true;
  char list[1024] = "", name[TENSOR_NAME_SIZE];
  size_t used = 0;
  for (int32_t i = 0; i < takes && used < sizeof(list); ++i) {
    pit_arg_info info;
    pit_entry_arg(entry, i, &info);
    used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                             i ? ", " : ": ", info_name(&info, name));
  }
  tool_error("'%s' takes %d argument%s%s; got %d --arg", pit_entry_name(entry),
             takes, takes == 1 ? "" : "s", list, given);
  return false;
}

/// A number in place of a scalar argument.
static bool make_scalar(const char *text, DLDataType dtype, tensor *t) {
  char *end;
  double value = strtod(text, &end);
  bool is_bool = dtype.code == PIT_DTYPE_BOOL;
  if (is_bool && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
    value = text[0] == 't';
  else if (end == text || *end != '\0')
    return false;
  if (!tensor_init(t, dtype, 0, NULL))
    return false;
  tensor_set(t, 0, value);
  return true;
}

/// Checks a tensor against what the entry takes, so that the message has both
/// in full.
static bool check_arg(const tensor *t, int32_t number,
                      const pit_arg_info *info) {
  bool ok = dtype_equal(t->dl.dtype, info->dtype) && t->dl.ndim == info->rank;
  for (int32_t d = 0; ok && d < info->rank; ++d)
    ok = info->dims[d] < 0 || info->dims[d] == t->shape[d];
  if (ok)
    return true;
  char is[TENSOR_NAME_SIZE], wanted[TENSOR_NAME_SIZE];
  tool_error("argument %d is %s; it must be %s", number,
             tensor_name(t->dl.dtype, t->dl.ndim, t->shape, is),
             info_name(info, wanted));
  return false;
}

/// Builds an index argument from the values of a tensor.
static bool build_index(call *c, int32_t i, const pit_arg_info *info) {
  pit_index_spec spec = {.rank = info->rank, .axis = info->axis};
  tensor *t = &c->args[i];
  if (t->dl.ndim != info->rank) {
    tool_error("argument %d is built from a tensor of rank %d; the index is of "
               "one of rank %d",
               i, t->dl.ndim, info->rank);
    return false;
  }
  memcpy(spec.shape, t->shape, sizeof(spec.shape));
  memcpy(spec.micro_tile, info->micro_tile, sizeof(spec.micro_tile));
  memcpy(spec.step, info->step, sizeof(spec.step));
  const pit_index *index;
  pit_status status = pit_index_builder_create(c->context, &c->builders[i]);
  if (status == PIT_OK)
    status = pit_index_build(c->builders[i], &spec, PIT_SOURCE_VALUES, &t->dl,
                             NULL, &index);
  if (status != PIT_OK) {
    call_print_error(c->context, "", status);
    return false;
  }
  c->ins[i] = (const DLTensor *)(const void *)index;
  return true;
}

static bool make_arg(call *c, int32_t i, const char *text) {
  pit_arg_info info;
  pit_entry_arg(c->entry, i, &info);
  tensor *t = &c->args[i];
  c->ins[i] = &t->dl;
  if (info.kind == PIT_KIND_SCALAR && make_scalar(text, info.dtype, t))
    return true;
  if (argspec_is(text) ? !argspec_make(text, t)
                       : !npy_read(text, info.dtype, t))
    return false;
  return info.kind == PIT_KIND_INDEX ? build_index(c, i, &info)
                                     : check_arg(t, i, &info);
}

bool call_init(call *c, pit_context *context, const pit_entry *entry,
               char *const *texts, int32_t num_texts) {
  *c = (call){.context = context, .entry = entry};
  if (!check_count(entry, num_texts))
    return false;
  c->num_results = pit_entry_num_results(entry);
  size_t args = (size_t)num_texts + 1, results = (size_t)c->num_results + 1;
  c->args = calloc(args, sizeof(*c->args));
  c->builders = calloc(args, sizeof(*c->builders));
  c->ins = calloc(args, sizeof(*c->ins));
  c->results = calloc(results, sizeof(*c->results));
  c->outs = calloc(results, sizeof(*c->outs));
  if (!c->args || !c->builders || !c->ins || !c->results || !c->outs) {
    tool_error("out of memory");
    return false;
  }
  c->num_args = num_texts;
  for (int32_t i = 0; i < num_texts; ++i)
    if (!make_arg(c, i, texts[i]))
      return false;
  return true;
}

bool call_init_results(call *c, const result_shape *shapes,
                       int32_t num_shapes) {
  for (int32_t r = 0; r < c->num_results; ++r) {
    pit_arg_info info;
    int64_t shape[PIT_MAX_RANK];
    pit_entry_result(c->entry, r, &info);
    pit_status status = pit_entry_result_shape(c->context, c->entry, c->ins,
                                               c->num_args, r, shape);
    if (status != PIT_OK) {
      call_print_error(c->context, "", status);
      return false;
    }
    for (int32_t i = 0; i < num_shapes; ++i)
      if (shapes[i].result == r && shapes[i].rank == info.rank)
        memcpy(shape, shapes[i].shape, sizeof(shape));
    for (int32_t d = 0; d < info.rank; ++d)
      if (shape[d] < 0) {
        char name[TENSOR_NAME_SIZE];
        tool_error("the shape of result %d (%s) depends on the contents of "
                   "tensors; give it with --shape=%d:SHAPE",
                   r, tensor_name(info.dtype, info.rank, shape, name), r);
        return false;
      }
    if (!tensor_init(&c->results[r], info.dtype, info.rank, shape))
      return false;
    c->outs[r] = &c->results[r].dl;
  }
  return true;
}

void call_free(call *c) {
  for (int32_t i = 0; i < c->num_args; ++i) {
    tensor_free(&c->args[i]);
    pit_index_builder_destroy(c->builders[i]);
  }
  for (int32_t r = 0; r < c->num_results && c->results; ++r)
    tensor_free(&c->results[r]);
  free(c->args);
  free(c->builders);
  free((void *)c->ins);
  free(c->results);
  free(c->outs);
  *c = (call){0};
}

bool call_run(call *c, double *seconds) {
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  pit_status status = pit_entry_run(c->context, c->entry, c->ins, c->num_args,
                                    c->outs, c->num_results, NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  if (seconds)
    *seconds = (double)(end.tv_sec - start.tv_sec) +
               1e-9 * (double)(end.tv_nsec - start.tv_nsec);
  if (status == PIT_OK)
    return true;
  call_print_error(c->context, "", status);
  return false;
}

bool call_parse_shape(const char *text, result_shape *shape) {
  char *end;
  long long number = strtoll(text, &end, 10);
  if (end == text || *end != ':' || number < 0 || number > INT32_MAX)
    return false;
  *shape = (result_shape){.result = (int32_t)number};
  do {
    const char *at = end + 1;
    if (shape->rank == PIT_MAX_RANK)
      return false;
    number = strtoll(at, &end, 10);
    if (end == at || number < 0 || number == INT64_MAX)
      return false;
    shape->shape[shape->rank++] = number;
  } while (*end == 'x');
  return *end == '\0';
}
