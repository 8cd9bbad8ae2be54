//===- Problem.c - A case at one sparsity, with its data ------------------===//

#include "Problem.h"
#include "ArgSpec.h"
#include "Tool.h"

#include <stdlib.h>
#include <string.h>

static bool read_matmul(const bench_case *c, extents *s) {
  return case_size_or(c, "batch", 1, &s->batch) && case_size(c, "M", &s->m) &&
         case_size(c, "N", &s->n) && case_size(c, "K", &s->k);
}

static bool read_conv(const bench_case *c, extents *s) {
  if (!case_size_or(c, "batch", 1, &s->batch) ||
      !case_size(c, "H", &s->height) || !case_size(c, "W", &s->width) ||
      !case_size(c, "C", &s->channels) || !case_size(c, "F", &s->filters) ||
      !case_size(c, "kernel", &s->kernel) ||
      !case_size_or(c, "stride", 1, &s->stride))
    return false;
  if (s->kernel > s->height || s->kernel > s->width)
    return tool_refuse("%s: case '%s': its kernel is larger than the image",
                       c->file, c->name);
  int64_t rows = (s->height - s->kernel) / s->stride + 1;
  int64_t columns = (s->width - s->kernel) / s->stride + 1;
  s->m = rows * columns;
  s->n = s->filters;
  s->k = s->kernel * s->kernel * s->channels;
  return true;
}

static bool read_sizes(problem *p) {
  const bench_case *c = p->from;
  extents *s = &p->sizes;
  *s = (extents){.batch = 1, .experts = 1};
  switch (c->kind) {
  case CASE_MATMUL:
    return read_matmul(c, s);
  case CASE_CONV:
    return read_conv(c, s);
  default:
    return read_matmul(c, s) && case_size(c, "E", &s->experts);
  }
}

bool problem_init_result(const problem *p, tensor *result) {
  const extents *s = &p->sizes;
  int64_t shape[4] = {s->batch, s->m, s->n};
  if (p->from->kind == CASE_CONV) {
    shape[1] = (s->height - s->kernel) / s->stride + 1;
    shape[2] = (s->width - s->kernel) / s->stride + 1;
    shape[3] = s->filters;
    return tensor_init(result, p->result_type, 4, shape);
  }
  return s->batch > 1 ? tensor_init(result, p->result_type, 3, shape)
                      : tensor_init(result, p->result_type, 2, shape + 1);
}

static double bytes_of(const DLTensor *t) {
  double bytes = t->dtype.bits / 8;
  for (int32_t d = 0; d < t->ndim; ++d)
    bytes *= (double)t->shape[d];
  return bytes;
}

/// Makes an argument, or takes that of the first pattern.
static bool make_arg(problem *p, int32_t pattern, int32_t arg) {
  const char *text =
      json_string_value(json_array_get(p->from->args, (size_t)arg));
  int32_t at = pattern * p->num_args + arg;
  if (pattern > 0 && !strstr(text, "${seed}")) {
    p->ins[at] = p->ins[arg];
    return true;
  }
  case_instance instance = p->instance;
  instance.seed = 1000 + pattern;
  char *spec = case_expand(p->from, text, &instance);
  if (!spec)
    return false;
  bool ok = argspec_is(spec)
                ? argspec_make(spec, &p->tensors[at])
                : tool_refuse("%s: case '%s': the argument '%s' must be one of "
                              "zeros(), full(), random()",
                              p->from->file, p->from->name, spec);
  free(spec);
  p->ins[at] = &p->tensors[at].dl;
  return ok;
}

/// The tensor that an operand of the case's kind must be.
static bool check_operand(const problem *p, int32_t arg, int32_t rank,
                          const int64_t *shape) {
  // Products that are no batch have no such dimension.
  if (p->from->kind == CASE_MATMUL && shape[0] == 1) {
    --rank;
    ++shape;
  }
  const DLTensor *t = arg < p->num_args ? p->ins[arg] : NULL;
  if (t && t->ndim == rank && dtype_equal(t->dtype, p->type) &&
      memcmp(t->shape, shape, (size_t)rank * sizeof(*shape)) == 0)
    return true;
  char name[TENSOR_NAME_SIZE];
  return tool_refuse("%s: case '%s': argument %d must be %s", p->from->file,
                     p->from->name, arg,
                     tensor_name(p->type, rank, shape, name));
}

/// Checks the mask of a product's outputs, a byte each.
static bool check_mask(const problem *p) {
  const extents *s = &p->sizes;
  const DLTensor *t = p->num_args > 2 ? p->ins[2] : NULL;
  if (t && s->batch == 1 && t->ndim == 2 && t->dtype.bits == 8 &&
      t->shape[0] == s->m && t->shape[1] == s->n)
    return true;
  return tool_refuse("%s: case '%s': argument 2 must be a mask of the outputs, "
                     "i8 %lldx%lld",
                     p->from->file, p->from->name, (long long)s->m,
                     (long long)s->n);
}

/// Checks the arguments that peers read.
static bool check_operands(const problem *p) {
  const extents *s = &p->sizes;
  if (p->from->kind == CASE_CONV) {
    int64_t image[] = {s->batch, s->height, s->width, s->channels};
    int64_t filter[] = {s->kernel, s->kernel, s->channels, s->filters};
    return check_operand(p, 0, 4, image) && check_operand(p, 1, 4, filter);
  }
  if (p->from->kind == CASE_EXPERTS) {
    int64_t r[] = {s->m, s->experts}, a[] = {s->m, s->k};
    int64_t b[] = {s->experts, s->k, s->n};
    return check_operand(p, 0, 2, r) && check_operand(p, 1, 2, a) &&
           check_operand(p, 2, 3, b);
  }
  if (p->from->sparse.operand == 'C' && !check_mask(p))
    return false;
  int64_t a[] = {s->batch, s->m, s->k}, b[] = {s->batch, s->k, s->n};
  return check_operand(p, 0, 3, a) && check_operand(p, 1, 3, b);
}

bool problem_init(problem *p, const bench_case *from, double sparsity,
                  int32_t num_patterns) {
  *p = (problem){.from = from,
                 .instance = {.sparsity = sparsity},
                 .num_args = (int32_t)json_array_size(from->args),
                 .num_patterns = num_patterns};
  if (!read_sizes(p) || !case_dtype(from, "T", &p->type) ||
      !case_dtype(from, "R", &p->result_type))
    return false;
  size_t count = (size_t)p->num_args * (size_t)num_patterns;
  p->tensors = calloc(count, sizeof(*p->tensors));
  p->ins = calloc(count, sizeof(*p->ins));
  if (!p->tensors || !p->ins)
    return tool_refuse("out of memory");
  for (int32_t pattern = 0; pattern < num_patterns; ++pattern)
    for (int32_t arg = 0; arg < p->num_args; ++arg)
      if (!make_arg(p, pattern, arg))
        return false;
  const extents *s = &p->sizes;
  double results = (double)s->batch * (double)s->m * (double)s->n;
  p->dense_operations = 2 * results * (double)s->k * (double)s->experts;
  p->bytes = results * (p->result_type.bits / 8);
  for (int32_t arg = 0; arg < p->num_args; ++arg)
    p->bytes += bytes_of(p->ins[arg]);
  return check_operands(p);
}

void problem_free(problem *p) {
  for (int32_t i = 0; p->tensors && i < p->num_args * p->num_patterns; ++i)
    tensor_free(&p->tensors[i]);
  free(p->tensors);
  free((void *)p->ins);
  *p = (problem){0};
}
