//===- Manifest.c - Signatures of compiled functions ----------------------===//
//
// A manifest comes from a compiler, but maybe from another version or a broken
// file: each word is checked before it is used.
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "ShapeProgram.h"

enum { MAX_ARGS = 4096, MAX_REQUIREMENTS = 65536 };

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
                             .device = (int32_t)words[4],
                             .args = words + 5};
  if (words[1] < 0 || words[1] > MAX_ARGS || words[2] < 0 ||
      words[2] > MAX_ARGS || words[3] < 0)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: %lld arguments, %lld results, %lld "
                    "bytes of workspace",
                    (long long)words[1], (long long)words[2],
                    (long long)words[3]);
  if (words[4] != kDLCPU && words[4] != kDLCUDA)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: device %lld; it must be %d (the CPU) "
                    "or %d (CUDA)",
                    (long long)words[4], (int)kDLCPU, (int)kDLCUDA);
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

pit_status pit_manifest_dim(pit_context *context, const pit_manifest *manifest,
                            const DLTensor *const *ins, int64_t result,
                            int32_t dim, const int64_t **at, int64_t *size) {
  pit_shape_scope scope = {context, manifest, ins, result, dim};
  int64_t n = **at;
  const int64_t *words = *at + 1;
  pit_size computed;
  pit_status status = pit_shape_evaluate(&scope, words, n, &computed);
  if (status != PIT_OK)
    return status;
  *at = words + n;
  *size = computed.known ? computed.value : -1;
  if (!computed.known || computed.value >= 0)
    return PIT_OK;
  char formula[PIT_SHAPE_NAME_SIZE];
  return pit_fail(context, PIT_ERROR_SHAPE,
                  "result %lld: dimension %d would be %lld (%s); the arguments "
                  "are too small",
                  (long long)result, dim, (long long)computed.value,
                  pit_shape_name(words, n, formula));
}

pit_status pit_manifest_require(pit_context *context,
                                const pit_manifest *manifest,
                                const DLTensor *const *ins,
                                const int64_t **at) {
  const int64_t *word = *at;
  int64_t count = *word++;
  if (count < 0 || count > MAX_REQUIREMENTS)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: %lld requirements", (long long)count);
  for (int64_t i = 0; i < count; ++i) {
    int64_t relation = *word++;
    if (relation != PIT_REQUIRE_EQUAL && relation != PIT_REQUIRE_AT_LEAST)
      return pit_fail(context, PIT_ERROR_LOAD,
                      "malformed manifest: requirement %lld is of kind %lld",
                      (long long)i, (long long)relation);
    pit_shape_scope scope = {context, manifest, ins, i, -1};
    const int64_t *words[2];
    int64_t n[2];
    pit_size size[2];
    for (int side = 0; side < 2; ++side) {
      n[side] = *word;
      words[side] = word + 1;
      pit_status status =
          pit_shape_evaluate(&scope, words[side], n[side], &size[side]);
      if (status != PIT_OK)
        return status;
      word += 1 + n[side];
    }
    bool equal = relation == PIT_REQUIRE_EQUAL;
    if (!size[0].known || !size[1].known ||
        (equal ? size[0].value == size[1].value
               : size[0].value >= size[1].value))
      continue;
    char left[PIT_SHAPE_NAME_SIZE], right[PIT_SHAPE_NAME_SIZE];
    pit_shape_name(words[0], n[0], left);
    if (words[1][0] == PIT_SHAPE_CONST && n[1] == 2)
      return pit_fail(context, PIT_ERROR_SHAPE, "%s is %lld; it must be %s%lld",
                      left, (long long)size[0].value, equal ? "" : "at least ",
                      (long long)size[1].value);
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "%s is %lld but %s is %lld; the first must be %s the "
                    "second",
                    left, (long long)size[0].value,
                    pit_shape_name(words[1], n[1], right),
                    (long long)size[1].value, equal ? "equal to" : "at least");
  }
  *at = word;
  return PIT_OK;
}
