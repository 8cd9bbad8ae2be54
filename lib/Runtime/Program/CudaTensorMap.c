//===- CudaTensorMap.c - TMA descriptors ----------------------------------===//

#include "Cuda/CudaContext.h"
#include "Frame.h"

enum { TMA_ALIGNMENT = 16 };

/// CUtensorMapDataType of a dtype; -1: it has none.
static int type_of(pit_dtype dtype) {
  switch (PIT_DTYPE_WORD(dtype.code, dtype.bits)) {
  case PIT_DTYPE_WORD(PIT_DTYPE_INT, 8): // there is no signed byte
  case PIT_DTYPE_WORD(PIT_DTYPE_UINT, 8):
  case PIT_DTYPE_WORD(PIT_DTYPE_BOOL, 8):
  case PIT_DTYPE_WORD(PIT_DTYPE_FLOAT8_E4M3FN, 8): // nor are there floats
  case PIT_DTYPE_WORD(PIT_DTYPE_FLOAT8_E5M2, 8):
    return 0;
  case PIT_DTYPE_WORD(PIT_DTYPE_INT, 16): // nor a signed 16-bit integer
  case PIT_DTYPE_WORD(PIT_DTYPE_UINT, 16):
    return 1;
  case PIT_DTYPE_WORD(PIT_DTYPE_UINT, 32):
    return 2;
  case PIT_DTYPE_WORD(PIT_DTYPE_INT, 32):
    return 3;
  case PIT_DTYPE_WORD(PIT_DTYPE_UINT, 64):
    return 4;
  case PIT_DTYPE_WORD(PIT_DTYPE_INT, 64):
    return 5;
  case PIT_DTYPE_WORD(PIT_DTYPE_FLOAT, 16):
    return 6;
  case PIT_DTYPE_WORD(PIT_DTYPE_FLOAT, 32):
    return 7;
  case PIT_DTYPE_WORD(PIT_DTYPE_FLOAT, 64):
    return 8;
  case PIT_DTYPE_WORD(PIT_DTYPE_BFLOAT, 16):
    return 9;
  default:
    return -1;
  }
}

/// The value of an enumeration that counts powers of two: 0 for 0, 1 for
/// `first`, 2 for twice that, and so on.
static int step_of(int32_t bytes, int32_t first) {
  int step = 0;
  for (int32_t at = first; at <= bytes; at *= 2)
    ++step;
  return step;
}

/// Dimensions as the driver counts them, the innermost first.
typedef struct tma {
  int64_t element; ///< bytes
  uint64_t dims[PIT_TMA_MAX_RANK], strides[PIT_TMA_MAX_RANK];
  uint32_t box[PIT_TMA_MAX_RANK];
} tma;

static pit_status read_dim(pit_context *context, const pit_tensor_map *form,
                           const pit_view *data, int32_t d, tma *made) {
  int64_t size = data->shape[d], stride = data->strides[d];
  int32_t at = form->rank - 1 - d;
  int64_t bytes;
  if (size < 1 || size > UINT32_MAX)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "tensor map: dimension %d is %lld; it must be in [1, "
                    "2^32)",
                    d, (long long)size);
  made->dims[at] = (uint64_t)size;
  made->box[at] = (uint32_t)form->box[d];
  if (at == 0) {
    if (stride != 1)
      return pit_fail(context, PIT_ERROR_LAYOUT,
                      "tensor map: the innermost stride is %lld; it must be 1",
                      (long long)stride);
    return PIT_OK;
  }
  if (stride < 0 || !pit_mul(stride, made->element, &bytes) ||
      bytes % TMA_ALIGNMENT != 0 || bytes >= INT64_C(1) << 40)
    return pit_fail(context, PIT_ERROR_LAYOUT,
                    "tensor map: stride %d is %lld elements of %lld bytes; "
                    "it must be a multiple of %d bytes below 2^40",
                    d, (long long)stride, (long long)made->element,
                    TMA_ALIGNMENT);
  made->strides[at - 1] = (uint64_t)bytes;
  return PIT_OK;
}

int32_t pit_rt_tensor_map(pit_frame *frame, void *map,
                          const pit_tensor_map *form, const pit_view *data) {
  if (!frame)
    return PIT_ERROR_INVALID_ARGUMENT;
  pit_context *context = frame->context;
  if (!frame->cuda || !map)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    frame->cuda ? "tensor map: an argument is NULL"
                                : "tensor map: the program runs on the CPU");
  if (context->cuda->properties.capability < 90)
    return pit_fail(context, PIT_ERROR_DEVICE,
                    "tensor map: device %d (%s) has compute capability %d.%d; "
                    "TMA needs 9.0",
                    context->cuda->ordinal, context->cuda->name,
                    context->cuda->properties.capability / 10,
                    context->cuda->properties.capability % 10);
  if ((uintptr_t)map % 64 != 0 || (uintptr_t)data->data % TMA_ALIGNMENT != 0)
    return pit_fail(context, PIT_ERROR_ALIGNMENT,
                    "tensor map: the %s must be aligned to %d bytes",
                    (uintptr_t)map % 64 != 0 ? "map" : "data",
                    (uintptr_t)map % 64 != 0 ? 64 : TMA_ALIGNMENT);
  pit_dtype dtype = {form->dtype.code, form->dtype.bits};
  int type = type_of(dtype);
  char name[PIT_DTYPE_NAME_SIZE];
  if (type < 0)
    return pit_fail(context, PIT_ERROR_DTYPE,
                    "tensor map: element type %s is not one that the device "
                    "copies",
                    pit_dtype_name(dtype, name));
  tma made = {.element = dtype.bits / 8};
  for (int32_t d = 0; d < form->rank; ++d) {
    pit_status status = read_dim(context, form, data, d, &made);
    if (status != PIT_OK)
      return status;
  }
  const uint32_t step[PIT_TMA_MAX_RANK] = {1, 1, 1, 1, 1};
  return PIT_CUDA(context, TensorMapEncodeTiled, map, type,
                  (uint32_t)form->rank, data->data, made.dims, made.strides,
                  made.box, step, /*interleave=*/0, step_of(form->swizzle, 32),
                  step_of(form->l2_promotion, 64),
                  /*fill=*/0);
}
