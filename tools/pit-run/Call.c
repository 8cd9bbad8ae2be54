//===- Call.c - A call of an entry point ----------------------------------===//

#include "Call.h"
#include "ArgSpec.h"
#include "Npy.h"
#include "Tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void call_print_error(pit_context *context, pit_status status) {
  char message[512];
  size_t length = pit_context_message(context, message, sizeof(message));
  tool_error("%s", length ? message : pit_status_string(status));
}

/// True if it is PIT_OK; else prints the context's message.
static bool succeeded(const call *c, pit_status status) {
  if (status != PIT_OK)
    call_print_error(c->context, status);
  return status == PIT_OK;
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

/// Puts a tensor where the program sees it.
static bool place(const call *c, const tensor *t, DLTensor *at) {
  *at = t->dl;
  if (!call_on_gpu(c))
    return true;
  int64_t bytes = (int64_t)tensor_bytes(t);
  void *memory;
  if (!succeeded(c, pit_device_alloc(c->context, bytes, &memory)))
    return false;
  at->data = memory;
  at->device = c->device;
  return succeeded(
      c, pit_device_write(c->context, memory, t->dl.data, bytes, c->stream));
}

/// Builds an index argument from the values of a tensor.
static bool build_index(call *c, int32_t i, const pit_arg_info *info) {
  pit_index_spec spec = {.rank = info->rank, .axis = info->axis};
  const tensor *t = &c->args[i];
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
  if (!place(c, t, &c->places[i]))
    return false;
  pit_status status = pit_index_builder_create(c->context, &c->builders[i]);
  if (status == PIT_OK)
    status = pit_index_builder_set_stream(c->builders[i], c->stream);
  if (status == PIT_OK)
    status = pit_index_build(c->builders[i], &spec, PIT_SOURCE_VALUES,
                             &c->places[i], NULL, &index);
  if (!succeeded(c, status))
    return false;
  c->ins[i] = pit_index_value(index);
  return true;
}

/// Makes the tensor of an argument on the host.
static bool read_arg(const char *text, const pit_arg_info *info, tensor *t) {
  if (info->kind == PIT_KIND_SCALAR && make_scalar(text, info->dtype, t))
    return true;
  return argspec_is(text) ? argspec_make(text, t)
                          : npy_read(text, info->dtype, t);
}

/// Checks an argument and gives it to the entry.
static bool pass_arg(call *c, int32_t i, const pit_arg_info *info) {
  if (info->kind == PIT_KIND_INDEX)
    return build_index(c, i, info);
  if (!check_arg(&c->args[i], i, info))
    return false;
  c->ins[i] = pit_tensor_value(&c->places[i]);
  if (info->kind == PIT_KIND_TENSOR)
    return place(c, &c->args[i], &c->places[i]);
  c->places[i] = c->args[i].dl; // scalars stay on the host
  return true;
}

/// Makes what every call has.
static bool init(call *c, pit_context *context, const pit_entry *entry,
                 int32_t num_args) {
  *c = (call){.context = context, .entry = entry, .device = {kDLCPU, 0}};
  if (!check_count(entry, num_args))
    return false;
  if (pit_entry_device(entry) == kDLCUDA) {
    pit_device_info info;
    if (!succeeded(c, pit_device_query(context, &info)) ||
        !succeeded(c, pit_stream_create(context, &c->stream)))
      return false;
    c->device = (DLDevice){kDLCUDA, info.device_id};
  }
  int32_t num_results = pit_entry_num_results(entry);
  size_t args = (size_t)num_args + 1, results = (size_t)num_results + 1;
  c->builders = calloc(args, sizeof(*c->builders));
  c->constants = calloc(args, sizeof(*c->constants));
  c->ins = calloc(args, sizeof(*c->ins));
  c->results = calloc(results, sizeof(*c->results));
  c->outs = calloc(results, sizeof(*c->outs));
  c->places = calloc(args + results, sizeof(*c->places));
  if (!c->builders || !c->constants || !c->ins || !c->results || !c->outs ||
      !c->places) {
    tool_error("out of memory");
    return false;
  }
  c->num_args = num_args;
  c->num_results = num_results;
  return true;
}

bool call_init(call *c, pit_context *context, const pit_entry *entry,
               char *const *texts, int32_t num_texts) {
  if (!init(c, context, entry, num_texts))
    return false;
  c->args = calloc((size_t)num_texts + 1, sizeof(*c->args));
  if (!c->args) {
    tool_error("out of memory");
    return false;
  }
  for (int32_t i = 0; i < num_texts; ++i) {
    pit_arg_info info;
    pit_entry_arg(entry, i, &info);
    if (!read_arg(texts[i], &info, &c->args[i]) || !pass_arg(c, i, &info))
      return false;
  }
  return true;
}

/// Makes room for a result.
static bool init_result(call *c, int32_t r, DLDataType dtype, int32_t rank,
                        const int64_t *shape) {
  tensor *t = &c->results[r];
  DLTensor *at = &c->places[c->num_args + r];
  if (!tensor_init(t, dtype, rank, shape))
    return false;
  // Elements that a kernel leaves out show: floats become NaN.
  if (call_on_gpu(c))
    memset(t->dl.data, 0xFF, tensor_bytes(t));
  c->outs[r] = at;
  return place(c, t, at);
}

bool call_init_results(call *c, const result_shape *shapes,
                       int32_t num_shapes) {
  for (int32_t r = 0; r < c->num_results; ++r) {
    pit_arg_info info;
    int64_t shape[PIT_MAX_RANK];
    pit_entry_result(c->entry, r, &info);
    if (!succeeded(c, pit_entry_result_shape(c->context, c->entry, c->ins,
                                             c->num_args, r, shape)))
      return false;
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
    if (!init_result(c, r, info.dtype, info.rank, shape))
      return false;
  }
  return true;
}

bool call_init_like(call *made, const call *c, const pit_entry *entry) {
  if (!init(made, c->context, entry, c->num_args))
    return false;
  made->args = c->args;
  made->borrows = true;
  for (int32_t i = 0; i < c->num_args; ++i) {
    pit_arg_info info;
    pit_entry_arg(entry, i, &info);
    if (!pass_arg(made, i, &info))
      return false;
  }
  bool same = made->num_results == c->num_results;
  for (int32_t r = 0; same && r < c->num_results; ++r) {
    const tensor *t = &c->results[r];
    pit_arg_info info;
    pit_entry_result(entry, r, &info);
    same = dtype_equal(info.dtype, t->dl.dtype) && info.rank == t->dl.ndim;
  }
  if (!same) {
    tool_error("'%s' of the dense program has other results than '%s'",
               pit_entry_name(entry), pit_entry_name(c->entry));
    return false;
  }
  for (int32_t r = 0; r < c->num_results; ++r) {
    const tensor *t = &c->results[r];
    if (!init_result(made, r, t->dl.dtype, t->dl.ndim, t->shape))
      return false;
  }
  return true;
}

bool call_promise(call *c, int32_t arg) {
  pit_arg_info info;
  if (!pit_entry_arg(c->entry, arg, &info) || info.kind != PIT_KIND_TENSOR) {
    tool_error("--constant=%d: '%s' has no tensor argument %d", arg,
               pit_entry_name(c->entry), arg);
    return false;
  }
  return c->constants[arg] ||
         succeeded(c, pit_constant_create(c->context, &c->places[arg],
                                          &c->constants[arg]));
}

void call_end_promises(call *c) {
  for (int32_t i = 0; i < c->num_args; ++i) {
    pit_constant_destroy(c->constants[i]);
    c->constants[i] = NULL;
  }
}

void call_free(call *c) {
  call_end_promises(c);
  for (int32_t i = 0; i < c->num_args; ++i) {
    pit_index_builder_destroy(c->builders[i]);
    if (c->args && !c->borrows)
      tensor_free(&c->args[i]);
  }
  for (int32_t r = 0; r < c->num_results; ++r)
    tensor_free(&c->results[r]);
  for (int32_t i = 0; i < c->num_args + c->num_results; ++i)
    if (c->places[i].device.device_type == kDLCUDA)
      pit_device_free(c->context, c->places[i].data);
  if (c->stream)
    pit_stream_destroy(c->context, c->stream);
  if (!c->borrows)
    free(c->args);
  free(c->builders);
  free(c->constants);
  free(c->ins);
  free(c->results);
  free(c->outs);
  free(c->places);
  *c = (call){0};
}

bool call_run(call *c, double *seconds) {
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  pit_status status = pit_entry_run(c->context, c->entry, c->ins, c->num_args,
                                    c->outs, c->num_results, c->stream);
  if (status == PIT_OK && call_on_gpu(c))
    status = pit_stream_wait(c->context, c->stream);
  clock_gettime(CLOCK_MONOTONIC, &end);
  if (seconds)
    *seconds = (double)(end.tv_sec - start.tv_sec) +
               1e-9 * (double)(end.tv_nsec - start.tv_nsec);
  return succeeded(c, status);
}

bool call_read_index(const call *c, const pit_index *index, pit_index *built) {
  *built = *index;
  if (!(index->flags & PIT_INDEX_DEVICE) || !index->device_copy)
    return true;
  const char *copy = (const char *)(const void *)index->counts;
  return succeeded(c,
                   pit_device_read(c->context, built, copy - index->device_copy,
                                   sizeof(*built), c->stream));
}

int32_t call_find_arg(const call *c, const DLTensor *data) {
  for (int32_t i = 0; i < c->num_args; ++i)
    if (c->places[i].data == data->data)
      return i;
  return -1;
}

/// Whether the indices of a call came out well.
typedef struct verdict {
  const call *c;
  int64_t count;
  bool ok;
} verdict;

static void judge(void *user, const pit_index *index, pit_source source,
                  const DLTensor *data, const void *background) {
  (void)source, (void)data, (void)background;
  verdict *v = user;
  pit_index built;
  v->ok &= call_read_index(v->c, index, &built);
  if (v->ok && built.status != PIT_OK) {
    tool_error("index %lld of the call is not complete: %s",
               (long long)v->count, pit_status_string(built.status));
    v->ok = false;
  }
  ++v->count;
}

bool call_run_first(call *c) {
  verdict v = {.c = c, .ok = true};
  if (call_on_gpu(c))
    pit_context_observe(c->context, judge, &v);
  bool ok = call_run(c, NULL);
  pit_context_observe(c->context, NULL, NULL);
  return ok && v.ok;
}

bool call_fetch_results(call *c) {
  for (int32_t r = 0; call_on_gpu(c) && r < c->num_results; ++r) {
    tensor *t = &c->results[r];
    if (!succeeded(c, pit_device_read(c->context, t->dl.data, c->outs[r]->data,
                                      (int64_t)tensor_bytes(t), c->stream)))
      return false;
  }
  return true;
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
