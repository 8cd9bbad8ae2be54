//===- ShapeProgram.c - Sizes computed from arguments' shapes -------------===//

#include "ShapeProgram.h"

#include <stdio.h>
#include <string.h>

static pit_status malformed(const pit_shape_scope *s, const char *why) {
  if (s->dim < 0)
    return pit_fail(s->context, PIT_ERROR_LOAD,
                    "malformed manifest: a program of requirement %lld %s",
                    (long long)s->result, why);
  return pit_fail(s->context, PIT_ERROR_LOAD,
                  "malformed manifest: the program of dimension %d of result "
                  "%lld %s",
                  s->dim, (long long)s->result, why);
}

static pit_status find_arg(const pit_shape_scope *s, int64_t arg,
                           pit_arg_info *info) {
  if (arg < 0 || arg >= s->manifest->num_args)
    return malformed(s, "reads an argument that does not exist");
  const int64_t *at = s->manifest->args;
  pit_status status = PIT_OK;
  for (int64_t i = 0; status == PIT_OK && i <= arg; ++i)
    status = pit_manifest_arg(s->context, i, &at, info);
  return status;
}

static pit_status read_dim(const pit_shape_scope *s, int64_t arg, int64_t dim,
                           pit_size *size) {
  pit_arg_info info;
  pit_status status = find_arg(s, arg, &info);
  if (status != PIT_OK)
    return status;
  if (dim < 0 || dim >= info.rank)
    return malformed(s, "reads a dimension that does not exist");
  *size = (pit_size){0};
  if (!s->ins)
    return PIT_OK;
  size->known = true;
  size->value = info.kind == PIT_KIND_INDEX
                    ? ((const pit_index *)(const void *)s->ins[arg])->shape[dim]
                    : s->ins[arg]->shape[dim];
  return PIT_OK;
}

static pit_status read_scalar(const pit_shape_scope *s, int64_t arg,
                              pit_size *size) {
  pit_arg_info info;
  pit_status status = find_arg(s, arg, &info);
  if (status != PIT_OK)
    return status;
  if (info.kind != PIT_KIND_SCALAR || info.dtype.code != PIT_DTYPE_INT)
    return malformed(s, "reads the value of what is no signed scalar");
  *size = (pit_size){.known = s->ins != NULL};
  if (!s->ins)
    return PIT_OK;
  const void *data = pit_tensor_data(s->ins[arg]);
  size->value = info.dtype.bits == 64   ? *(const int64_t *)data
                : info.dtype.bits == 32 ? *(const int32_t *)data
                : info.dtype.bits == 16 ? *(const int16_t *)data
                                        : *(const int8_t *)data;
  return PIT_OK;
}

static pit_status apply(const pit_shape_scope *s, int64_t op, pit_size a,
                        pit_size b, pit_size *result) {
  *result = (pit_size){0};
  if (op > PIT_SHAPE_MUL && b.known && b.value <= 0)
    return malformed(s, "divides by a number that is not positive");
  if (!a.known || !b.known)
    return PIT_OK;
  bool fits = true;
  int64_t down = 0, rest = 0;
  if (op > PIT_SHAPE_MUL) {
    // C rounds towards zero.
    rest = a.value % b.value;
    down = a.value / b.value - (rest < 0);
    rest += rest < 0 ? b.value : 0;
  }
  switch (op) {
  case PIT_SHAPE_ADD:
    fits = pit_add(a.value, b.value, &result->value);
    break;
  case PIT_SHAPE_MUL:
    fits = pit_mul(a.value, b.value, &result->value);
    break;
  case PIT_SHAPE_FLOORDIV:
    result->value = down;
    break;
  case PIT_SHAPE_CEILDIV:
    result->value = down + (rest != 0);
    break;
  default:
    result->value = rest;
  }
  result->known = true;
  return fits ? PIT_OK
              : pit_fail(s->context, PIT_ERROR_SHAPE,
                         "the arguments are too large: a size computed from "
                         "their shapes (%lld %s %lld) does not fit in 64 bits",
                         (long long)a.value, op == PIT_SHAPE_ADD ? "+" : "*",
                         (long long)b.value);
}

pit_status pit_shape_evaluate(const pit_shape_scope *s, const int64_t *words,
                              int64_t n, pit_size *size) {
  if (n < 1 || n > PIT_SHAPE_MAX_WORDS)
    return malformed(s, "has no length in [1, 256]");
  pit_size stack[PIT_SHAPE_MAX_DEPTH];
  int depth = 0;
  for (int64_t i = 0; i < n;) {
    int64_t op = words[i++];
    if (op >= PIT_SHAPE_ADD && op <= PIT_SHAPE_MOD) {
      if (depth < 2)
        return malformed(s, "takes more from its stack than there is");
      --depth;
      pit_status status =
          apply(s, op, stack[depth - 1], stack[depth], &stack[depth - 1]);
      if (status != PIT_OK)
        return status;
      continue;
    }
    int64_t operands = op == PIT_SHAPE_CONST || op == PIT_SHAPE_SCALAR ? 1
                       : op == PIT_SHAPE_DIM                           ? 2
                                                                       : 0;
    if (operands == 0 && op != PIT_SHAPE_UNKNOWN)
      return malformed(s, "has an unknown operation");
    if (i + operands > n)
      return malformed(s, "ends within an operation");
    if (depth == PIT_SHAPE_MAX_DEPTH)
      return malformed(s, "needs a deeper stack than there is");
    pit_size value = {0};
    if (op == PIT_SHAPE_CONST)
      value = (pit_size){words[i], true};
    pit_status status = PIT_OK;
    if (op == PIT_SHAPE_DIM)
      status = read_dim(s, words[i], words[i + 1], &value);
    if (op == PIT_SHAPE_SCALAR)
      status = read_scalar(s, words[i], &value);
    if (status != PIT_OK)
      return status;
    i += operands;
    stack[depth++] = value;
  }
  if (depth != 1)
    return malformed(s, "does not leave one value");
  *size = stack[0];
  return PIT_OK;
}

const char *pit_shape_name(const int64_t *words, int64_t n,
                           char buffer[PIT_SHAPE_NAME_SIZE]) {
  static const char *const signs[] = {[PIT_SHAPE_ADD] = "+",
                                      [PIT_SHAPE_MUL] = "*",
                                      [PIT_SHAPE_FLOORDIV] = "/",
                                      [PIT_SHAPE_CEILDIV] = "/^",
                                      [PIT_SHAPE_MOD] = "%"};
  // The texts of the values on the stack lie one behind the other in `buffer`,
  // each with its NUL; an operator puts its sign between the last two.
  char *text[PIT_SHAPE_MAX_DEPTH];
  for (int i = 0; i < PIT_SHAPE_MAX_DEPTH; ++i)
    text[i] = buffer;
  int depth = 0;
  char *end = buffer, *limit = buffer + PIT_SHAPE_NAME_SIZE;
  for (int64_t i = 0; i < n;) {
    int64_t op = words[i++];
    char item[96];
    if (op >= PIT_SHAPE_ADD && op <= PIT_SHAPE_MOD) {
      char *lhs = text[depth - 2], *rhs = text[depth - 1];
      char formula[2 * PIT_SHAPE_NAME_SIZE];
      snprintf(formula, sizeof(formula), i < n ? "(%s %s %s)" : "%s %s %s", lhs,
               signs[op], rhs);
      --depth;
      end = lhs + snprintf(lhs, (size_t)(limit - lhs), "%s", formula) + 1;
      if (end > limit)
        break; // it was cut
      continue;
    }
    if (op == PIT_SHAPE_DIM) {
      snprintf(item, sizeof(item), "dimension %lld of argument %lld",
               (long long)words[i + 1], (long long)words[i]);
      i += 2;
    } else if (op == PIT_SHAPE_SCALAR) {
      snprintf(item, sizeof(item), "argument %lld", (long long)words[i++]);
    } else if (op == PIT_SHAPE_CONST) {
      snprintf(item, sizeof(item), "%lld", (long long)words[i++]);
    } else {
      snprintf(item, sizeof(item), "?");
    }
    text[depth++] = end;
    end += snprintf(end, (size_t)(limit - end), "%s", item) + 1;
    if (end >= limit)
      break;
  }
  return buffer;
}
