//===- Data.c - Element types and tensors as builders see them ------------===//

#include "Cuda/CudaContext.h"

#include <stdio.h>

bool pit_dtype_known(pit_dtype dtype) {
  switch (dtype.code) {
  case PIT_DTYPE_INT:
  case PIT_DTYPE_UINT:
    return dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 ||
           dtype.bits == 64;
  case PIT_DTYPE_FLOAT:
    return dtype.bits == 16 || dtype.bits == 32 || dtype.bits == 64;
  case PIT_DTYPE_BFLOAT:
    return dtype.bits == 16;
  case PIT_DTYPE_BOOL:
  case PIT_DTYPE_FLOAT8_E4M3FN:
  case PIT_DTYPE_FLOAT8_E5M2:
    return dtype.bits == 8;
  default:
    return false;
  }
}

const char *pit_dtype_name(pit_dtype dtype, char buffer[PIT_DTYPE_NAME_SIZE]) {
  if (!pit_dtype_known(dtype))
    snprintf(buffer, PIT_DTYPE_NAME_SIZE, "(code %d, %d bits)", dtype.code,
             dtype.bits);
  else if (dtype.code == PIT_DTYPE_BOOL)
    snprintf(buffer, PIT_DTYPE_NAME_SIZE, "bool");
  else if (dtype.code == PIT_DTYPE_FLOAT8_E4M3FN)
    snprintf(buffer, PIT_DTYPE_NAME_SIZE, "f8E4M3FN");
  else if (dtype.code == PIT_DTYPE_FLOAT8_E5M2)
    snprintf(buffer, PIT_DTYPE_NAME_SIZE, "f8E5M2");
  else
    snprintf(buffer, PIT_DTYPE_NAME_SIZE, "%s%d",
             dtype.code == PIT_DTYPE_INT     ? "i"
             : dtype.code == PIT_DTYPE_UINT  ? "u"
             : dtype.code == PIT_DTYPE_FLOAT ? "f"
                                             : "bf",
             dtype.bits);
  return buffer;
}

const char *pit_dims_name(const int64_t *dims, int32_t rank,
                          char buffer[PIT_DIMS_NAME_SIZE]) {
  if (rank == 0)
    snprintf(buffer, PIT_DIMS_NAME_SIZE, "(scalar)");
  int used = 0;
  for (int32_t i = 0; i < rank && used < PIT_DIMS_NAME_SIZE; ++i)
    used += snprintf(buffer + used, (size_t)(PIT_DIMS_NAME_SIZE - used),
                     i ? "x%lld" : "%lld", (long long)dims[i]);
  return buffer;
}

bool pit_is_contiguous(int32_t rank, const int64_t *shape,
                       const int64_t *strides) {
  for (int32_t i = 0; i < rank; ++i)
    if (shape[i] == 0)
      return true;
  int64_t expected = 1;
  for (int32_t i = rank - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != expected)
      return false;
    if (!pit_mul(expected, shape[i], &expected))
      return false;
  }
  return true;
}

bool pit_tensor_bytes(int32_t rank, const int64_t *shape, int64_t element,
                      int64_t *bytes) {
  // An empty tensor is 0 bytes, however large its other dimensions are.
  for (int32_t i = 0; i < rank; ++i)
    if (shape[i] == 0) {
      *bytes = 0;
      return true;
    }
  *bytes = element;
  for (int32_t i = 0; i < rank; ++i)
    if (!pit_mul(*bytes, shape[i], bytes))
      return false;
  return true;
}

/// Checks that data is where it can be read; says where that is.
static pit_status check_device(pit_context *context, const char *what,
                               DLDevice device, bool *on_device) {
  int type = (int)device.device_type;
  bool cuda = type == kDLCUDA || type == kDLCUDAManaged;
  if (on_device)
    *on_device = cuda;
  if (type == kDLCPU || type == kDLCUDAHost)
    return PIT_OK;
  if (!on_device || !cuda || !context->cuda)
    return pit_fail(context, PIT_ERROR_DEVICE,
                    "%s is on a device of type %d; it must be on the CPU (%d)",
                    what, type, (int)kDLCPU);
  if (device.device_id != context->cuda->ordinal)
    return pit_fail(context, PIT_ERROR_DEVICE,
                    "%s is on device %d; it must be on device %d, the "
                    "context's",
                    what, device.device_id, context->cuda->ordinal);
  return PIT_OK;
}

/// Checks that the places of a tensor's elements can be counted in bytes.
static pit_status check_strides(pit_context *context, const char *what,
                                const pit_data *data) {
  int64_t reach = 0;
  for (int32_t d = 0; d < data->rank; ++d) {
    int64_t stride = data->strides[d], most;
    bool fits = stride > INT64_MIN;
    fits = fits &&
           pit_mul(data->shape[d] - 1, stride < 0 ? -stride : stride, &most);
    fits = fits && pit_add(reach, most, &reach);
    if (!fits || reach > INT64_MAX / 16)
      return pit_fail(context, PIT_ERROR_LAYOUT,
                      "%s: stride %d is %lld; with that, %lld elements lie "
                      "farther apart than memory reaches",
                      what, d, (long long)stride, (long long)data->shape[d]);
  }
  return PIT_OK;
}

pit_status pit_data_from_tensor(pit_context *context, const char *what,
                                const DLTensor *tensor, pit_data *data,
                                bool *on_device) {
  if (!tensor)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT, "%s is NULL", what);
  if ((uintptr_t)tensor % _Alignof(DLTensor) != 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "%s is not a DLTensor, whose address is a multiple of 8",
                    what);
  pit_status status = check_device(context, what, tensor->device, on_device);
  if (status != PIT_OK)
    return status;
  if (tensor->ndim < 0 || tensor->ndim > PIT_MAX_RANK)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "%s has rank %d; ranks 0 to %d are supported", what,
                    tensor->ndim, PIT_MAX_RANK);
  if (tensor->ndim > 0 && !tensor->shape)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "%s has rank %d but no shape", what, tensor->ndim);
  if ((uintptr_t)tensor->shape % _Alignof(int64_t) != 0 ||
      (uintptr_t)tensor->strides % _Alignof(int64_t) != 0)
    return pit_fail(context, PIT_ERROR_ALIGNMENT,
                    "%s has its shape and strides at %p and %p; they must be "
                    "aligned to 8 bytes",
                    what, (void *)tensor->shape, (void *)tensor->strides);
  *data = (pit_data){.data = pit_tensor_data(tensor),
                     .dtype = {tensor->dtype.code, tensor->dtype.bits},
                     .rank = tensor->ndim};
  char name[PIT_DTYPE_NAME_SIZE];
  if (!pit_dtype_known(data->dtype) || tensor->dtype.lanes != 1)
    return pit_fail(context, PIT_ERROR_DTYPE,
                    "%s has element type %s with %d lanes; supported are "
                    "f8E4M3FN, f8E5M2, f16, bf16, f32, f64, bool, and integers "
                    "of 8 to 64 bits, with 1 lane",
                    what, pit_dtype_name(data->dtype, name),
                    tensor->dtype.lanes);
  for (int32_t i = 0; i < data->rank; ++i) {
    if (tensor->shape[i] < 0)
      return pit_fail(context, PIT_ERROR_SHAPE,
                      "%s: dimension %d is %lld; it cannot be negative", what,
                      i, (long long)tensor->shape[i]);
    data->shape[i] = tensor->shape[i];
  }
  int64_t element = data->dtype.bits / 8;
  int64_t bytes;
  char dims[PIT_DIMS_NAME_SIZE];
  if (!pit_tensor_bytes(data->rank, data->shape, element, &bytes) ||
      pit_memory_wraps(data->data, bytes))
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "%s: a tensor of %s does not fit in memory", what,
                    pit_dims_name(data->shape, data->rank, dims));
  if (bytes > 0 && !data->data)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "%s has shape %s but its data is NULL", what,
                    pit_dims_name(data->shape, data->rank, dims));
  if (bytes > 0 && (uintptr_t)data->data % (uintptr_t)element != 0)
    return pit_fail(context, PIT_ERROR_ALIGNMENT,
                    "%s is at an address that is %lld past a multiple of %lld; "
                    "data must be aligned to its element",
                    what, (long long)((uintptr_t)data->data % element),
                    (long long)element);
  int64_t stride = 1;
  for (int32_t i = data->rank - 1; i >= 0; --i) {
    data->strides[i] = tensor->strides ? tensor->strides[i] : stride;
    if (bytes > 0)
      stride *= data->shape[i];
  }
  return bytes > 0 ? check_strides(context, what, data) : PIT_OK;
}
