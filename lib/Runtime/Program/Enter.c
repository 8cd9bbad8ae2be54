//===- Enter.c - Checking the arguments and results of a call -------------===//

#include "Constant.h"
#include "Core/OpenMP.h"
#include "Cuda/CudaContext.h"
#include "Manifest.h"

#include <stdio.h>
#include <string.h>

/// The state that the checks of one call share.
typedef struct call {
  pit_context *context;
  const pit_manifest *manifest;
  const pit_value *ins;
  DLTensor *const *outs;
  int64_t *views; ///< the next word to write
  pit_argument largest[2];
} call;

/// An argument or a result, as messages name it.
typedef struct place {
  const char *what;
  int64_t number;
} place;

/// The bytes of a tensor whose shape was checked.
static int64_t bytes_of(const DLTensor *tensor) {
  int64_t bytes;
  return pit_tensor_bytes(tensor->ndim, tensor->shape, tensor->dtype.bits / 8,
                          &bytes)
             ? bytes
             : INT64_MAX;
}

static pit_status check_memory(pit_context *context, place p,
                               const DLTensor *tensor, int64_t bytes) {
  char dims[PIT_DIMS_NAME_SIZE], is[PIT_DIMS_NAME_SIZE];
  const void *data = pit_tensor_data(tensor);
  if (bytes == INT64_MAX || pit_memory_wraps(data, bytes))
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "%s %lld: a tensor of %s does not fit in memory", p.what,
                    (long long)p.number,
                    pit_dims_name(tensor->shape, tensor->ndim, dims));
  if (tensor->strides &&
      !pit_is_contiguous(tensor->ndim, tensor->shape, tensor->strides)) {
    int64_t right[PIT_MAX_RANK];
    int64_t stride = 1;
    for (int32_t d = tensor->ndim - 1; d >= 0; --d) {
      right[d] = stride;
      stride *= tensor->shape[d];
    }
    return pit_fail(context, PIT_ERROR_LAYOUT,
                    "%s %lld: strides %s; they must be %s (contiguous, "
                    "row-major)",
                    p.what, (long long)p.number,
                    pit_dims_name(tensor->strides, tensor->ndim, is),
                    pit_dims_name(right, tensor->ndim, dims));
  }
  if (bytes > 0 && !data)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "%s %lld: its shape is %s but its data is NULL", p.what,
                    (long long)p.number,
                    pit_dims_name(tensor->shape, tensor->ndim, dims));
  int64_t element = tensor->dtype.bits / 8;
  if (bytes > 0 && (uintptr_t)data % (uintptr_t)element != 0)
    return pit_fail(context, PIT_ERROR_ALIGNMENT,
                    "%s %lld: its data is %lld bytes past a multiple of %lld; "
                    "it must be aligned to its element",
                    p.what, (long long)p.number,
                    (long long)((uintptr_t)data % (uintptr_t)element),
                    (long long)element);
  return PIT_OK;
}

/// Checks that a tensor is where the program runs; scalars are the host's.
static pit_status check_device(const call *c, place p, bool scalar,
                               DLDevice device) {
  int type = (int)device.device_type;
  if (scalar || c->manifest->device == kDLCPU) {
    if (type == kDLCPU || type == kDLCUDAHost)
      return PIT_OK;
    return pit_fail(c->context, PIT_ERROR_DEVICE,
                    "%s %lld%s is on a device of type %d; it must be on the "
                    "CPU (%d)",
                    p.what, (long long)p.number, scalar ? ", a scalar," : "",
                    type, (int)kDLCPU);
  }
  int32_t ordinal = c->context->cuda->ordinal;
  if ((type == kDLCUDA || type == kDLCUDAManaged) &&
      device.device_id == ordinal)
    return PIT_OK;
  return pit_fail(c->context, PIT_ERROR_DEVICE,
                  "%s %lld is on device %d of type %d; it must be on device %d "
                  "of type %d (CUDA)",
                  p.what, (long long)p.number, device.device_id, type, ordinal,
                  (int)kDLCUDA);
}

/// Checks that a tensor has a shape to read, of the rank of its description.
static pit_status check_rank(pit_context *context, place p,
                             const pit_arg_info *info, const DLTensor *tensor) {
  if (!tensor)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "%s %lld is NULL; it must be a tensor", p.what,
                    (long long)p.number);
  if ((uintptr_t)tensor % _Alignof(DLTensor) != 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "%s %lld is not the address of a DLTensor, which is a "
                    "multiple of 8",
                    p.what, (long long)p.number);
  if (tensor->ndim != info->rank)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "%s %lld has rank %d; it must be %d", p.what,
                    (long long)p.number, tensor->ndim, info->rank);
  if (info->rank > 0 && !tensor->shape)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "%s %lld has rank %d but no shape", p.what,
                    (long long)p.number, info->rank);
  if ((uintptr_t)tensor->shape % _Alignof(int64_t) != 0 ||
      (uintptr_t)tensor->strides % _Alignof(int64_t) != 0)
    return pit_fail(context, PIT_ERROR_ALIGNMENT,
                    "%s %lld: its shape and strides are at %p and %p; they "
                    "must be aligned to 8 bytes",
                    p.what, (long long)p.number, (void *)tensor->shape,
                    (void *)tensor->strides);
  return PIT_OK;
}

/// Checks a tensor against its description and sizes; where one is -1, any will
/// do. Writes its view, and to `*bytes` how large it is.
static pit_status check_tensor(call *c, place p, const pit_arg_info *info,
                               const int64_t *dims, const DLTensor *tensor,
                               int64_t *bytes) {
  pit_status status = check_rank(c->context, p, info, tensor);
  if (status == PIT_OK)
    status = check_device(c, p, info->kind == PIT_KIND_SCALAR, tensor->device);
  if (status != PIT_OK)
    return status;
  char is[PIT_DTYPE_NAME_SIZE], wanted[PIT_DTYPE_NAME_SIZE];
  if (tensor->dtype.code != info->dtype.code ||
      tensor->dtype.bits != info->dtype.bits || tensor->dtype.lanes != 1)
    return pit_fail(
        c->context, PIT_ERROR_DTYPE,
        "%s %lld has element type %s with %d lanes; it must be %s with 1 lane",
        p.what, (long long)p.number,
        pit_dtype_name((pit_dtype){tensor->dtype.code, tensor->dtype.bits}, is),
        tensor->dtype.lanes,
        pit_dtype_name((pit_dtype){info->dtype.code, info->dtype.bits},
                       wanted));
  for (int32_t d = 0; d < info->rank; ++d)
    if (tensor->shape[d] < 0 || (dims[d] >= 0 && tensor->shape[d] != dims[d]))
      return pit_fail(c->context, PIT_ERROR_SHAPE,
                      dims[d] < 0
                          ? "%s %lld: dimension %d is %lld; it cannot be "
                            "negative"
                          : "%s %lld: dimension %d is %lld; it must be %lld",
                      p.what, (long long)p.number, d,
                      (long long)tensor->shape[d], (long long)dims[d]);
  *bytes = bytes_of(tensor);
  status = check_memory(c->context, p, tensor, *bytes);
  if (status != PIT_OK)
    return status;
  *c->views++ = (int64_t)(intptr_t)pit_tensor_data(tensor);
  for (int32_t d = 0; d < info->rank; ++d)
    *c->views++ = tensor->shape[d];
  return PIT_OK;
}

/// The name of an argument in messages; the first ones have theirs ready.
enum { ARGUMENT_NAME_SIZE = 40 };
static const char *argument_name(int64_t number,
                                 char name[ARGUMENT_NAME_SIZE]) {
  static const char *const first[] = {"argument 0", "argument 1", "argument 2",
                                      "argument 3"};
  if (number < (int64_t)(sizeof(first) / sizeof(*first)))
    return first[number];
  snprintf(name, ARGUMENT_NAME_SIZE, "argument %lld", (long long)number);
  return name;
}

/// Checks that an argument is a tensor or an index, as its description says.
static pit_status check_kind(pit_context *context, int32_t number,
                             const pit_arg_info *info, const pit_value *value) {
  bool wants_index = info->kind == PIT_KIND_INDEX;
  if (value->kind == (wants_index ? PIT_KIND_INDEX : PIT_KIND_TENSOR))
    return PIT_OK;
  if (value->kind != PIT_KIND_INDEX && value->kind != PIT_KIND_TENSOR)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "argument %d has kind %d; it must be a tensor "
                    "(PIT_KIND_TENSOR) or an index (PIT_KIND_INDEX)",
                    number, (int)value->kind);
  return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                  "argument %d is %s; it must be %s", number,
                  wants_index ? "a tensor" : "an index",
                  wants_index ? "an index" : "a tensor");
}

/// Checks what an index argument is about; its contents are left to
/// check_contents.
static pit_status check_index(call *c, int64_t number, const pit_arg_info *info,
                              const pit_index *index) {
  char buffer[ARGUMENT_NAME_SIZE];
  const char *name = argument_name(number, buffer);
  pit_status status = pit_index_expect(c->context, name, index);
  if (status != PIT_OK)
    return status;
  if (index->rank != info->rank || index->axis != info->axis)
    return pit_fail(c->context, PIT_ERROR_SHAPE,
                    "argument %lld is an index of axis %d of rank %d; it must "
                    "be of axis %d of rank %d",
                    (long long)number, index->axis, index->rank, info->axis,
                    info->rank);
  for (int32_t d = 0; d < info->rank; ++d) {
    if (index->micro_tile[d] != info->micro_tile[d])
      return pit_fail(c->context, PIT_ERROR_SHAPE,
                      "argument %lld is an index with micro_tile[%d] = %lld; "
                      "it must be %lld",
                      (long long)number, d, (long long)index->micro_tile[d],
                      (long long)info->micro_tile[d]);
    if (index->step[d] != info->step[d])
      return pit_fail(c->context, PIT_ERROR_SHAPE,
                      "argument %lld is an index with step[%d] = %lld; it must "
                      "be %lld",
                      (long long)number, d, (long long)index->step[d],
                      (long long)info->step[d]);
  }
  status = pit_index_check_fields(c->context, name, index);
  if (status != PIT_OK)
    return status;
  bool on_device = (index->flags & PIT_INDEX_DEVICE) != 0;
  if (on_device != (c->manifest->device == kDLCUDA))
    return pit_fail(c->context, PIT_ERROR_DEVICE,
                    "argument %lld is an index with arrays in the memory of "
                    "%s; the program runs on %s",
                    (long long)number, on_device ? "a device" : "the host",
                    on_device ? "the CPU" : "a CUDA device");
  *c->views++ = (int64_t)(intptr_t)index;
  return PIT_OK;
}

/// Checks that a tensor of bools in the host's memory holds 0 and 1: programs
/// rely on that.
static pit_status check_bools(pit_context *context, place p,
                              const unsigned char *data, int64_t bytes) {
  enum { STEP = 4096 };
  for (int64_t at = 0; at < bytes; at += STEP) {
    int64_t end = bytes - at < STEP ? bytes : at + STEP;
    unsigned char bits = 0;
    for (int64_t i = at; i < end; ++i) // without a branch, for vectors
      bits |= data[i];
    if (bits <= 1)
      continue;
    while (data[at] <= 1)
      ++at;
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "%s %lld: byte %lld of its data is %d; a bool array may "
                    "hold 0 and 1",
                    p.what, (long long)p.number, (long long)at, data[at]);
  }
  return PIT_OK;
}

static bool overlap(const void *a, int64_t a_bytes, const void *b,
                    int64_t b_bytes) {
  uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return a_bytes > 0 && b_bytes > 0 &&
         (x <= y ? y - x < (uintptr_t)a_bytes : x - y < (uintptr_t)b_bytes);
}

static bool overlaps_index(const pit_index *index, const void *data,
                           int64_t bytes) {
  struct {
    const void *data;
    int64_t count, size;
  } arrays[] = {
      {index->counts, index->groups, sizeof(*index->counts)},
      {index->offsets, index->groups, sizeof(*index->offsets)},
      {index->ids, index->capacity, sizeof(*index->ids)},
      {index->origin, index->capacity, sizeof(*index->origin)},
      {index->chunks, index->num_chunks, sizeof(*index->chunks)},
      {index, 1, sizeof(*index)},
  };
  for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); ++i) {
    int64_t length;
    if (!pit_mul(arrays[i].count, arrays[i].size, &length))
      length = INT64_MAX;
    if (arrays[i].data && overlap(data, bytes, arrays[i].data, length))
      return true;
  }
  return false;
}

/// Checks that a result shares no memory with an argument or an earlier result.
static pit_status check_overlap(const call *c, int64_t result, int64_t bytes) {
  const void *data = pit_tensor_data(c->outs[result]);
  place hit = {NULL, 0};
  for (int32_t i = 0; !hit.what && i < c->manifest->num_args; ++i) {
    const pit_value in = c->ins[i];
    if (in.kind == PIT_KIND_INDEX
            ? overlaps_index(in.index, data, bytes)
            : overlap(data, bytes, pit_tensor_data(in.tensor),
                      bytes_of(in.tensor)))
      hit = (place){"argument", i};
  }
  for (int64_t i = 0; !hit.what && i < result; ++i)
    if (overlap(data, bytes, pit_tensor_data(c->outs[i]), bytes_of(c->outs[i])))
      hit = (place){"result", i};
  if (!hit.what && pit_constant_overlaps(c->context, data, bytes))
    return pit_fail(c->context, PIT_ERROR_INVALID_ARGUMENT,
                    "result %lld is in memory that is constant; a result must "
                    "have memory that may change (pit_constant_destroy)",
                    (long long)result);
  if (!hit.what)
    return PIT_OK;
  return pit_fail(c->context, PIT_ERROR_INVALID_ARGUMENT,
                  "result %lld shares memory with %s %lld; a result must have "
                  "memory of its own",
                  (long long)result, hit.what, (long long)hit.number);
}

/// Keeps the two largest arguments; the first one of equal ones stays.
static void note_argument(call *c, const void *data, int64_t bytes) {
  pit_argument seen = {data, bytes};
  if (bytes > c->largest[0].bytes) {
    c->largest[1] = c->largest[0];
    c->largest[0] = seen;
  } else if (bytes > c->largest[1].bytes) {
    c->largest[1] = seen;
  }
}

static pit_status check_argument(call *c, int32_t i) {
  const pit_arg_info *info = &c->manifest->values[i];
  pit_status status = check_kind(c->context, i, info, &c->ins[i]);
  if (status != PIT_OK)
    return status;
  if (info->kind == PIT_KIND_INDEX)
    return check_index(c, i, info, c->ins[i].index);
  const place p = {"argument", i};
  const DLTensor *in = c->ins[i].tensor;
  bool scalar = info->kind == PIT_KIND_SCALAR;
  int64_t bytes = 0;
  // A scalar's view is that of a tensor of rank 0.
  status = check_tensor(c, p, info, info->dims, in, &bytes);
  bool in_host = scalar || c->manifest->device == kDLCPU;
  if (status == PIT_OK && in_host && info->dtype.code == PIT_DTYPE_BOOL)
    status = check_bools(c->context, p, pit_tensor_data(in), bytes);
  if (status == PIT_OK && !scalar)
    note_argument(c, pit_tensor_data(in), bytes);
  return status;
}

pit_status pit_enter_shapes(pit_context *context, const pit_manifest *manifest,
                            const pit_value *ins) {
  int64_t view[1], bytes;
  call c = {.context = context, .manifest = manifest, .ins = ins};
  pit_status status = PIT_OK;
  for (int32_t i = 0; status == PIT_OK && i < manifest->num_args; ++i) {
    const pit_arg_info *info = &manifest->values[i];
    const place p = {"argument", i};
    char name[ARGUMENT_NAME_SIZE];
    c.views = view;
    status = check_kind(context, i, info, &ins[i]);
    if (status != PIT_OK)
      break;
    if (info->kind == PIT_KIND_INDEX)
      status = pit_index_expect(context, argument_name(i, name), ins[i].index);
    else if (info->kind == PIT_KIND_TENSOR || info->dtype.code != PIT_DTYPE_INT)
      status = check_rank(context, p, info, ins[i].tensor);
    else // a size may be its value
      status = check_tensor(&c, p, info, info->dims, ins[i].tensor, &bytes);
  }
  return status == PIT_OK ? pit_manifest_require(context, manifest, ins)
                          : status;
}

static pit_status check_call(call *c) {
  const pit_manifest *m = c->manifest;
  pit_status status = PIT_OK;
  for (int32_t i = 0; status == PIT_OK && i < m->num_args; ++i)
    status = check_argument(c, i);
  if (status == PIT_OK)
    status = pit_manifest_require(c->context, m, c->ins);
  const pit_shape_program *sizes = m->sizes;
  for (int32_t i = 0; status == PIT_OK && i < m->num_results; ++i) {
    int64_t dims[PIT_MAX_RANK], bytes = 0;
    status = pit_manifest_result(c->context, m, c->ins, i, &sizes, dims);
    if (status == PIT_OK)
      status =
          check_tensor(c, (place){"result", i}, &m->values[m->num_args + i],
                       dims, c->outs[i], &bytes);
    if (status == PIT_OK)
      status = check_overlap(c, i, bytes);
  }
  return status;
}

/// Checks what is in the index arguments of a program for the CPU. Nobody
/// checks those of a device: reading them takes waiting.
static pit_status check_contents(const call *c, pit_buffer *scratch) {
  pit_status status = PIT_OK;
  for (int32_t i = 0; status == PIT_OK && i < c->manifest->num_args; ++i) {
    char name[ARGUMENT_NAME_SIZE];
    if (c->manifest->values[i].kind == PIT_KIND_INDEX)
      status = pit_index_check_contents(c->context, argument_name(i, name),
                                        c->ins[i].index, scratch);
  }
  return status;
}

int32_t pit_rt_enter(pit_context *context, const pit_manifest *manifest,
                     const pit_value *ins, DLTensor *const *outs,
                     pit_stream stream, int64_t *views, pit_frame **frame) {
  if (!context || !frame)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "enter: an argument is NULL");
  *frame = NULL;
  pit_status status = pit_manifest_expect(context, manifest);
  if (status != PIT_OK)
    return status;
  call c = {.context = context,
            .manifest = manifest,
            .ins = ins,
            .outs = outs,
            .views = views};
  if ((manifest->num_args > 0 && !ins) || (manifest->num_results > 0 && !outs))
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "the list of %s is NULL; the program has %d arguments and "
                    "%d results",
                    ins || !manifest->num_args ? "results" : "arguments",
                    manifest->num_args, manifest->num_results);
  bool on_device = manifest->device == kDLCUDA;
  if (on_device && !context->cuda)
    return pit_fail(context, PIT_ERROR_DEVICE,
                    "the program runs on a CUDA device, but the context was "
                    "made without one (pit_context_options.device_type)");
  status = check_call(&c);
  if (status == PIT_OK)
    status = on_device ? pit_cuda_frame_enter(context, stream, frame)
                       : pit_frame_acquire(context, frame);
  if (status != PIT_OK)
    return status;
  (*frame)->manifest = manifest;
  memcpy((*frame)->largest, c.largest, sizeof(c.largest));
  pit_context_retain(context); // until pit_rt_leave
  if (on_device)
    return PIT_OK;
  pit_openmp_choose();
  pit_frame_set_threads(*frame);
  status = check_contents(&c, &(*frame)->scratch);
  if (status != PIT_OK) {
    pit_rt_leave(*frame, status);
    *frame = NULL;
  }
  return status;
}
