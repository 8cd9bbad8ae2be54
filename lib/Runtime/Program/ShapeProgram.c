//===- ShapeProgram.c - Sizes computed from arguments' shapes -------------===//

#include "Manifest.h"

#include <stdio.h>
#include <string.h>

static pit_status malformed(const pit_shape_scope *s, const char *why) {
  if (s->dim < 0)
    return pit_fail(s->context, PIT_ERROR_LOAD,
                    "malformed manifest: a program of requirement %d %s",
                    s->result, why);
  return pit_fail(s->context, PIT_ERROR_LOAD,
                  "malformed manifest: the program of dimension %d of result "
                  "%d %s",
                  s->dim, s->result, why);
}

//===----------------------------------------------------------------------===//
// Checks of a program that is loaded
//===----------------------------------------------------------------------===//

/// Checks an operation that reads an argument.
static pit_status check_read(const pit_shape_scope *s, pit_shape_op op) {
  if (op.arg < 0 || op.arg >= s->manifest->num_args)
    return malformed(s, "reads an argument that does not exist");
  const pit_arg_info *info = &s->manifest->values[op.arg];
  if (op.op == PIT_SHAPE_DIM)
    return op.value >= 0 && op.value < info->rank
               ? PIT_OK
               : malformed(s, "reads a dimension that does not exist");
  return info->kind == PIT_KIND_SCALAR && info->dtype.code == PIT_DTYPE_INT
             ? PIT_OK
             : malformed(s, "reads the value of what is no signed scalar");
}

/// Takes two values off the stack: those are ADD to MOD.
static bool is_binary(int32_t op) {
  return op >= PIT_SHAPE_ADD && op <= PIT_SHAPE_MOD;
}

pit_status pit_shape_check(const pit_shape_scope *s,
                           const pit_shape_program *program) {
  if (!program->ops || program->count < 1 || program->count > PIT_SHAPE_MAX_OPS)
    return malformed(s, "has no length in [1, 256]");
  int depth = 0;
  for (int64_t i = 0; i < program->count; ++i) {
    pit_shape_op op = program->ops[i];
    if (op.op < 0 || op.op > PIT_SHAPE_SCALAR)
      return malformed(s, "has an unknown operation");
    if (op.op == PIT_SHAPE_DIM || op.op == PIT_SHAPE_SCALAR) {
      pit_status status = check_read(s, op);
      if (status != PIT_OK)
        return status;
    }
    depth += is_binary(op.op) ? -1 : 1;
    if (depth < 1)
      return malformed(s, "takes more from its stack than there is");
    if (depth > PIT_SHAPE_MAX_DEPTH)
      return malformed(s, "needs a deeper stack than there is");
  }
  return depth == 1 ? PIT_OK : malformed(s, "does not leave one value");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static int64_t read_dim(const pit_shape_scope *s, pit_shape_op op) {
  return s->manifest->values[op.arg].kind == PIT_KIND_INDEX
             ? s->ins[op.arg].index->shape[op.value]
             : s->ins[op.arg].tensor->shape[op.value];
}

static int64_t read_scalar(const pit_shape_scope *s, int32_t arg) {
  const void *data = pit_tensor_data(s->ins[arg].tensor);
  switch (s->manifest->values[arg].dtype.bits) {
  case 64:
    return *(const int64_t *)data;
  case 32:
    return *(const int32_t *)data;
  case 16:
    return *(const int16_t *)data;
  default:
    return *(const int8_t *)data;
  }
}

static pit_status apply(const pit_shape_scope *s, int32_t op, pit_size a,
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

pit_status pit_shape_evaluate(const pit_shape_scope *s,
                              const pit_shape_program *program,
                              pit_size *size) {
  pit_size stack[PIT_SHAPE_MAX_DEPTH];
  int depth = 0;
  for (int64_t i = 0; i < program->count; ++i) {
    pit_shape_op op = program->ops[i];
    if (is_binary(op.op)) {
      --depth;
      pit_status status =
          apply(s, op.op, stack[depth - 1], stack[depth], &stack[depth - 1]);
      if (status != PIT_OK)
        return status;
      continue;
    }
    pit_size *top = &stack[depth++];
    *top = (pit_size){.known = op.op != PIT_SHAPE_UNKNOWN};
    if (op.op == PIT_SHAPE_CONST)
      top->value = op.value;
    else if (op.op == PIT_SHAPE_DIM)
      top->value = read_dim(s, op);
    else if (op.op == PIT_SHAPE_SCALAR)
      top->value = read_scalar(s, op.arg);
  }
  *size = stack[0];
  return PIT_OK;
}

const char *pit_shape_name(const pit_shape_program *program,
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
  for (int64_t i = 0; i < program->count; ++i) {
    pit_shape_op op = program->ops[i];
    char item[96];
    if (is_binary(op.op)) {
      char *lhs = text[depth - 2], *rhs = text[depth - 1];
      char formula[2 * PIT_SHAPE_NAME_SIZE];
      bool is_last = i + 1 == program->count;
      snprintf(formula, sizeof(formula), is_last ? "%s %s %s" : "(%s %s %s)",
               lhs, signs[op.op], rhs);
      --depth;
      end = lhs + snprintf(lhs, (size_t)(limit - lhs), "%s", formula) + 1;
      if (end > limit)
        break; // it was cut
      continue;
    }
    if (op.op == PIT_SHAPE_DIM)
      snprintf(item, sizeof(item), "dimension %lld of argument %d",
               (long long)op.value, op.arg);
    else if (op.op == PIT_SHAPE_SCALAR)
      snprintf(item, sizeof(item), "argument %d", op.arg);
    else if (op.op == PIT_SHAPE_CONST)
      snprintf(item, sizeof(item), "%lld", (long long)op.value);
    else
      snprintf(item, sizeof(item), "?");
    text[depth++] = end;
    end += snprintf(end, (size_t)(limit - end), "%s", item) + 1;
    if (end >= limit)
      break;
  }
  return buffer;
}
