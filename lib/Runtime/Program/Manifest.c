//===- Manifest.c - Signatures of compiled functions ----------------------===//

#include "Manifest.h"

enum { MAX_VALUES = 4096, MAX_REQUIREMENTS = 65536 };

pit_status pit_manifest_expect(pit_context *context,
                               const pit_manifest *manifest) {
  if (!manifest)
    return pit_fail(context, PIT_ERROR_LOAD, "the manifest is NULL");
  if (manifest->version == PIT_MANIFEST_WORD0)
    return PIT_OK;
  if ((manifest->version & 0xFFFFFFFF) != PIT_MANIFEST_MAGIC)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "not a manifest: it starts with 0x%llx, not 0x%x",
                    (unsigned long long)(manifest->version & 0xFFFFFFFF),
                    PIT_MANIFEST_MAGIC);
  return pit_fail(context, PIT_ERROR_LOAD,
                  "the program has a manifest of version %lld; this runtime "
                  "takes version %d: compile the program anew",
                  (long long)(manifest->version >> 32), PIT_MANIFEST_VERSION);
}

//===----------------------------------------------------------------------===//
// Checks of a program that is loaded
//===----------------------------------------------------------------------===//

static pit_status check_head(pit_context *context, const pit_manifest *m) {
  if (m->num_args < 0 || m->num_args > MAX_VALUES || m->num_results < 0 ||
      m->num_results > MAX_VALUES || m->workspace < 0)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: %d arguments, %d results, %lld bytes "
                    "of workspace",
                    m->num_args, m->num_results, (long long)m->workspace);
  if (m->num_requirements < 0 || m->num_requirements > MAX_REQUIREMENTS)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: %d requirements", m->num_requirements);
  if (m->device != kDLCPU && m->device != kDLCUDA)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: device %d; it must be %d (the CPU) or "
                    "%d (CUDA)",
                    m->device, (int)kDLCPU, (int)kDLCUDA);
  return PIT_OK;
}

/// Checks argument or result `number`.
static pit_status check_value(pit_context *context, const char *what,
                              int32_t number, const pit_arg_info *info) {
  int kind = (int)info->kind;
  if (kind != PIT_KIND_TENSOR && kind != PIT_KIND_INDEX &&
      kind != PIT_KIND_SCALAR)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: %s %d has kind %d", what, number,
                    kind);
  bool is_index = kind == PIT_KIND_INDEX;
  DLDataType dtype = info->dtype;
  if (!is_index && (dtype.lanes != 1 ||
                    !pit_dtype_known((pit_dtype){dtype.code, dtype.bits})))
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: %s %d has an element type of code %d, "
                    "%d bits and %d lanes",
                    what, number, dtype.code, dtype.bits, dtype.lanes);
  int32_t most = kind == PIT_KIND_SCALAR ? 0 : PIT_MAX_RANK;
  if (info->rank < 0 || info->rank > most)
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: %s %d has rank %d; at most %d are "
                    "supported",
                    what, number, info->rank, most);
  if (is_index && (info->axis < 0 || info->axis >= info->rank))
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: %s %d, an index of rank %d, has axis "
                    "%d",
                    what, number, info->rank, info->axis);
  for (int32_t d = 0; !is_index && d < info->rank; ++d)
    if (info->dims[d] < -1)
      return pit_fail(context, PIT_ERROR_LOAD,
                      "malformed manifest: dimension %d of %s %d is %lld", d,
                      what, number, (long long)info->dims[d]);
  return PIT_OK;
}

static pit_status check_requirements(pit_context *context,
                                     const pit_manifest *m) {
  for (int32_t i = 0; i < m->num_requirements; ++i) {
    const pit_requirement *requirement = &m->requirements[i];
    if (requirement->relation != PIT_REQUIRE_EQUAL &&
        requirement->relation != PIT_REQUIRE_AT_LEAST)
      return pit_fail(context, PIT_ERROR_LOAD,
                      "malformed manifest: requirement %d is of kind %lld", i,
                      (long long)requirement->relation);
    const pit_shape_scope scope = {context, m, NULL, i, -1};
    for (int side = 0; side < 2; ++side) {
      pit_status status = pit_shape_check(&scope, &requirement->sides[side]);
      if (status != PIT_OK)
        return status;
    }
  }
  return PIT_OK;
}

static pit_status check_results(pit_context *context, const pit_manifest *m) {
  const pit_shape_program *size = m->sizes;
  for (int32_t i = 0; i < m->num_results; ++i) {
    const pit_arg_info *info = &m->values[m->num_args + i];
    pit_status status = check_value(context, "result", i, info);
    if (status == PIT_OK && info->kind != PIT_KIND_TENSOR)
      status = pit_fail(context, PIT_ERROR_LOAD,
                        "malformed manifest: result %d has kind %d; a result "
                        "is a tensor",
                        i, (int)info->kind);
    for (int32_t d = 0; status == PIT_OK && d < info->rank; ++d) {
      if (info->dims[d] >= 0)
        continue;
      const pit_shape_scope scope = {context, m, NULL, i, d};
      const pit_shape_program none = {0};
      status = pit_shape_check(&scope, size ? size++ : &none);
    }
    if (status != PIT_OK)
      return status;
  }
  return PIT_OK;
}

pit_status pit_manifest_check(pit_context *context,
                              const pit_manifest *manifest) {
  pit_status status = pit_manifest_expect(context, manifest);
  if (status == PIT_OK)
    status = check_head(context, manifest);
  if (status != PIT_OK)
    return status;
  if ((manifest->num_args + manifest->num_results > 0 && !manifest->values) ||
      (manifest->num_requirements > 0 && !manifest->requirements))
    return pit_fail(context, PIT_ERROR_LOAD,
                    "malformed manifest: the list of %s is NULL",
                    manifest->values ? "requirements" : "values");
  for (int32_t i = 0; status == PIT_OK && i < manifest->num_args; ++i)
    status = check_value(context, "argument", i, &manifest->values[i]);
  if (status == PIT_OK)
    status = check_requirements(context, manifest);
  return status == PIT_OK ? check_results(context, manifest) : status;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The error of a requirement that a call does not meet.
static pit_status refuse(pit_context *context,
                         const pit_requirement *requirement, int64_t left,
                         int64_t right) {
  const pit_shape_program *sides = requirement->sides;
  bool equal = requirement->relation == PIT_REQUIRE_EQUAL;
  char names[2][PIT_SHAPE_NAME_SIZE];
  pit_shape_name(&sides[0], names[0]);
  if (sides[1].ops[0].op == PIT_SHAPE_CONST && sides[1].count == 1)
    return pit_fail(context, PIT_ERROR_SHAPE, "%s is %lld; it must be %s%lld",
                    names[0], (long long)left, equal ? "" : "at least ",
                    (long long)right);
  return pit_fail(context, PIT_ERROR_SHAPE,
                  "%s is %lld but %s is %lld; the first must be %s the second",
                  names[0], (long long)left,
                  pit_shape_name(&sides[1], names[1]), (long long)right,
                  equal ? "equal to" : "at least");
}

pit_status pit_manifest_require(pit_context *context,
                                const pit_manifest *manifest,
                                const pit_value *ins) {
  for (int32_t i = 0; i < manifest->num_requirements; ++i) {
    const pit_requirement *requirement = &manifest->requirements[i];
    const pit_shape_scope scope = {context, manifest, ins, i, -1};
    pit_size left, right;
    pit_status status =
        pit_shape_evaluate(&scope, &requirement->sides[0], &left);
    if (status == PIT_OK)
      status = pit_shape_evaluate(&scope, &requirement->sides[1], &right);
    if (status != PIT_OK)
      return status;
    if (left.known && right.known &&
        (requirement->relation == PIT_REQUIRE_EQUAL ? left.value != right.value
                                                    : left.value < right.value))
      return refuse(context, requirement, left.value, right.value);
  }
  return PIT_OK;
}

pit_status pit_manifest_result(pit_context *context,
                               const pit_manifest *manifest,
                               const pit_value *ins, int32_t result,
                               const pit_shape_program **sizes, int64_t *dims) {
  const pit_arg_info *info = &manifest->values[manifest->num_args + result];
  for (int32_t d = 0; d < info->rank; ++d) {
    dims[d] = info->dims[d];
    if (dims[d] >= 0)
      continue;
    const pit_shape_program *program = (*sizes)++;
    const pit_shape_scope scope = {context, manifest, ins, result, d};
    pit_size size;
    pit_status status = pit_shape_evaluate(&scope, program, &size);
    if (status != PIT_OK)
      return status;
    if (!size.known)
      continue;
    dims[d] = size.value;
    char formula[PIT_SHAPE_NAME_SIZE];
    if (size.value < 0)
      return pit_fail(context, PIT_ERROR_SHAPE,
                      "result %d: dimension %d would be %lld (%s); the "
                      "arguments are too small",
                      result, d, (long long)size.value,
                      pit_shape_name(program, formula));
  }
  return PIT_OK;
}
