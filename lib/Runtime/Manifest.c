//===- Manifest.c - Signatures of compiled functions ----------------------===//
//
// A manifest comes from a compiler, but maybe from another version or a broken
// file: each word is checked before it is used.
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"

enum { MAX_ARGS = 4096 };

pit_status pit_manifest_open(pit_context *context, const int64_t *words,
                             pit_manifest *manifest) {
  if (!words)
    return pit_fail(context, PIT_ERROR_LOAD, "the manifest is NULL");
  if ((words[0] & 0xFFFFFFFF) != PIT_MANIFEST_MAGIC)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "not a manifest: it starts with 0x%llx, not 0x%x",
                    (unsigned long long)(words[0] & 0xFFFFFFFF),
                    PIT_MANIFEST_MAGIC);
  if (words[0] >> 32 != PIT_MANIFEST_VERSION)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "the program has a manifest of version %lld; this runtime "
                    "takes version %d",
                    (long long)(words[0] >> 32), PIT_MANIFEST_VERSION);
  *manifest = (pit_manifest){.num_args = words[1],
                             .num_results = words[2],
                             .workspace = words[3],
                             .args = words + 4};
  if (words[1] < 0 || words[1] > MAX_ARGS || words[2] < 0 ||
      words[2] > MAX_ARGS || words[3] < 0)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: %lld arguments, %lld results, %lld "
                    "bytes of workspace",
                    (long long)words[1], (long long)words[2],
                    (long long)words[3]);
  return PIT_OK;
}

static pit_status read_dtype(pit_context *context, const char *what,
                             int64_t number, int64_t word, DLDataType *dtype) {
  pit_dtype read = {(uint8_t)(word & 0xFF), (uint8_t)(word >> 8 & 0xFF)};
  if (word >> 16 != 0 || !pit_dtype_known(read))
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: %s %lld has dtype word 0x%llx", what,
                    (long long)number, (unsigned long long)word);
  *dtype = (DLDataType){.code = read.code, .bits = read.bits, .lanes = 1};
  return PIT_OK;
}

static pit_status read_rank(pit_context *context, const char *what,
                            int64_t number, int64_t word, int32_t *rank) {
  if (word < 0 || word > PIT_MAX_RANK)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: %s %lld has rank %lld; at most %d are "
                    "supported",
                    what, (long long)number, (long long)word, PIT_MAX_RANK);
  *rank = (int32_t)word;
  return PIT_OK;
}

pit_status pit_manifest_arg(pit_context *context, int64_t number,
                            const int64_t **at, pit_arg_info *info) {
  const int64_t *words = *at;
  *info = (pit_arg_info){.kind = (pit_arg_kind)*words++};
  pit_status status = PIT_OK;
  switch ((int)info->kind) {
  case PIT_ARG_TENSOR:
  case PIT_ARG_SCALAR:
    status = read_dtype(context, "argument", number, *words++, &info->dtype);
    if (status != PIT_OK || info->kind == PIT_KIND_SCALAR)
      break;
    status = read_rank(context, "argument", number, *words++, &info->rank);
    for (int32_t d = 0; status == PIT_OK && d < info->rank; ++d) {
      info->dims[d] = *words++;
      if (info->dims[d] < -1)
        status = pit_fail(context, PIT_ERROR_LOAD,
                          "malformed manifest: dimension %d of argument %lld "
                          "is %lld",
                          d, (long long)number, (long long)info->dims[d]);
    }
    break;
  case PIT_ARG_INDEX:
    status = read_rank(context, "argument", number, *words++, &info->rank);
    if (status != PIT_OK)
      break;
    if (*words < 0 || *words >= info->rank)
      return pit_fail(context, PIT_ERROR_LOAD,
                      "malformed manifest: argument %lld, an index of rank %d, "
                      "has axis %lld",
                      (long long)number, info->rank, (long long)*words);
    info->axis = (int32_t)*words++;
    for (int32_t d = 0; d < info->rank; ++d)
      info->micro_tile[d] = *words++;
    for (int32_t d = 0; d < info->rank; ++d)
      info->step[d] = *words++;
    break;
  default:
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: argument %lld has kind %d",
                    (long long)number, (int)info->kind);
  }
  *at = words;
  return status;
}

pit_status pit_manifest_result(pit_context *context, int64_t number,
                               const int64_t **at, pit_arg_info *info) {
  *info = (pit_arg_info){.kind = PIT_KIND_TENSOR};
  for (int32_t d = 0; d < PIT_MAX_RANK; ++d)
    info->dims[d] = -1;
  pit_status status =
      read_dtype(context, "result", number, (*at)[0], &info->dtype);
  if (status == PIT_OK)
    status = read_rank(context, "result", number, (*at)[1], &info->rank);
  *at += 2;
  return status;
}

//===----------------------------------------------------------------------===//
// Programs of dimensions
//===----------------------------------------------------------------------===//

/// Where a dimension's program is, for its messages.
typedef struct program {
  pit_context *context;
  const pit_manifest *manifest;
  const DLTensor *const *ins;
  int64_t result;
  int32_t dim;
} program;

static pit_status malformed(const program *p, const char *why) {
  return pit_fail(p->context, PIT_ERROR_LOAD,
                  "malformed manifest: the program of dimension %d of result "
                  "%lld %s",
                  p->dim, (long long)p->result, why);
}

static pit_status read_dim(const program *p, int64_t arg, int64_t dim,
                           int64_t *size) {
  if (arg < 0 || arg >= p->manifest->num_args)
    return malformed(p, "reads an argument that does not exist");
  const int64_t *at = p->manifest->args;
  pit_arg_info info;
  for (int64_t i = 0; i <= arg; ++i) {
    pit_status status = pit_manifest_arg(p->context, i, &at, &info);
    if (status != PIT_OK)
      return status;
  }
  if (dim < 0 || dim >= info.rank)
    return malformed(p, "reads a dimension that does not exist");
  *size = -1;
  if (!p->ins)
    return PIT_OK;
  *size = info.kind == PIT_KIND_INDEX
              ? ((const pit_index *)(const void *)p->ins[arg])->shape[dim]
              : p->ins[arg]->shape[dim];
  return PIT_OK;
}

/// a op b of sizes that are not negative; -1: not known.
static pit_status apply(const program *p, int64_t op, int64_t a, int64_t b,
                        int64_t *value) {
  *value = -1;
  if (a < 0 || b < 0)
    return PIT_OK;
  bool fits = true;
  switch (op) {
  case PIT_SHAPE_ADD:
    fits = pit_add(a, b, value);
    break;
  case PIT_SHAPE_MUL:
    fits = pit_mul(a, b, value);
    break;
  default:
    if (b == 0)
      return pit_fail(p->context, PIT_ERROR_SHAPE,
                      "result %lld: dimension %d is %lld divided by 0",
                      (long long)p->result, p->dim, (long long)a);
    *value = op == PIT_SHAPE_FLOORDIV  ? a / b
             : op == PIT_SHAPE_CEILDIV ? pit_ceil_div(a, b)
                                       : a % b;
  }
  return fits ? PIT_OK
              : pit_fail(p->context, PIT_ERROR_SHAPE,
                         "result %lld: dimension %d is more than 63 bits count "
                         "(%lld and %lld)",
                         (long long)p->result, p->dim, (long long)a,
                         (long long)b);
}

static pit_status evaluate(const program *p, const int64_t *words, int64_t n,
                           int64_t *size) {
  int64_t stack[PIT_SHAPE_MAX_DEPTH];
  int depth = 0;
  for (int64_t i = 0; i < n;) {
    int64_t op = words[i++];
    if (op >= PIT_SHAPE_ADD && op <= PIT_SHAPE_MOD) {
      if (depth < 2)
        return malformed(p, "takes more from its stack than there is");
      --depth;
      pit_status status =
          apply(p, op, stack[depth - 1], stack[depth], &stack[depth - 1]);
      if (status != PIT_OK)
        return status;
      continue;
    }
    int64_t operands = op == PIT_SHAPE_CONST ? 1 : op == PIT_SHAPE_DIM ? 2 : 0;
    if (operands == 0 && op != PIT_SHAPE_UNKNOWN)
      return malformed(p, "has an unknown operation");
    if (i + operands > n)
      return malformed(p, "ends within an operation");
    if (depth == PIT_SHAPE_MAX_DEPTH)
      return malformed(p, "needs a deeper stack than there is");
    int64_t value = -1;
    if (op == PIT_SHAPE_CONST && (value = words[i]) < 0)
      return malformed(p, "has a negative constant");
    if (op == PIT_SHAPE_DIM) {
      pit_status status = read_dim(p, words[i], words[i + 1], &value);
      if (status != PIT_OK)
        return status;
    }
    i += operands;
    stack[depth++] = value;
  }
  if (depth != 1)
    return malformed(p, "does not leave one value");
  *size = stack[0];
  return PIT_OK;
}

pit_status pit_manifest_dim(pit_context *context, const pit_manifest *manifest,
                            const DLTensor *const *ins, int64_t result,
                            int32_t dim, const int64_t **at, int64_t *size) {
  program p = {context, manifest, ins, result, dim};
  int64_t n = **at;
  if (n < 1 || n > PIT_SHAPE_MAX_WORDS)
    return malformed(&p, "has no length in [1, 256]");
  const int64_t *words = *at + 1;
  *at = words + n;
  return evaluate(&p, words, n, size);
}
