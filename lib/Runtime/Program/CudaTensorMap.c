//===- CudaTensorMap.c - TMA descriptors ----------------------------------===//

#include "Cuda/CudaContext.h"
#include "Frame.h"

enum { MAX_TMA_RANK = 5, MAX_BOX = 256, TMA_ALIGNMENT = 16 };

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
/// `first`, 2 for twice that, up to `last`; -1: it has none.
static int step_of(int64_t bytes, int64_t first, int last) {
  if (bytes == 0)
    return 0;
  for (int i = 1; i <= last; ++i)
    if (bytes == first << (i - 1))
      return i;
  return -1;
}

/// A descriptor's words, taken apart; dimensions as the driver counts them, the
/// innermost first.
typedef struct tma {
  int type, swizzle, l2;
  int64_t element; ///< bytes
  int64_t swizzle_bytes;
  uint32_t rank;
  uint64_t dims[MAX_TMA_RANK], strides[MAX_TMA_RANK];
  uint32_t box[MAX_TMA_RANK];
} tma;

static pit_status read_dim(pit_context *context, const int64_t *words,
                           int64_t rank, int64_t d, tma *made) {
  int64_t size = words[d], stride = words[rank + d], box = words[2 * rank + d];
  int64_t at = rank - 1 - d;
  int64_t bytes;
  if (size < 1 || size > UINT32_MAX)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "tensor map: dimension %lld is %lld; it must be in [1, "
                    "2^32)",
                    (long long)d, (long long)size);
  if (box < 1 || box > MAX_BOX)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "tensor map: box[%lld] is %lld; it must be in [1, %d]",
                    (long long)d, (long long)box, MAX_BOX);
  made->dims[at] = (uint64_t)size;
  made->box[at] = (uint32_t)box;
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
                    "tensor map: stride %lld is %lld elements of %lld bytes; "
                    "it must be a multiple of %d bytes below 2^40",
                    (long long)d, (long long)stride, (long long)made->element,
                    TMA_ALIGNMENT);
  made->strides[at - 1] = (uint64_t)bytes;
  return PIT_OK;
}

static pit_status read_words(pit_context *context, const int64_t *words,
                             tma *made) {
  char name[PIT_DTYPE_NAME_SIZE];
  pit_dtype dtype = {(uint8_t)(words[0] & 0xFF), (uint8_t)(words[0] >> 8)};
  int64_t rank = words[1];
  *made = (tma){.type = type_of(dtype),
                .swizzle = step_of(words[2], 32, 3),
                .l2 = step_of(words[3], 64, 3),
                .element = dtype.bits / 8,
                .swizzle_bytes = words[2]};
  if (made->type < 0)
    return pit_fail(context, PIT_ERROR_DTYPE,
                    "tensor map: element type %s is not one that the device "
                    "copies",
                    pit_dtype_name(dtype, name));
  if (rank < 1 || rank > MAX_TMA_RANK)
    return pit_fail(context, PIT_ERROR_SHAPE,
                    "tensor map: rank %lld; ranks 1 to %d are supported",
                    (long long)rank, MAX_TMA_RANK);
  if (made->swizzle < 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "tensor map: swizzle is %lld; it must be 0, 32, 64 or 128 "
                    "bytes",
                    (long long)words[2]);
  if (made->l2 < 0)
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "tensor map: L2 promotion is %lld; it must be 0, 64, 128 "
                    "or 256 bytes",
                    (long long)words[3]);
  made->rank = (uint32_t)rank;
  for (int64_t d = 0; d < rank; ++d) {
    pit_status status = read_dim(context, words + 4, rank, d, made);
    if (status != PIT_OK)
      return status;
  }
  int64_t inner = made->box[0] * made->element;
  if (inner % TMA_ALIGNMENT != 0 ||
      (made->swizzle_bytes > 0 && inner > made->swizzle_bytes))
    return pit_fail(context, PIT_ERROR_INVALID_ARGUMENT,
                    "tensor map: the box has rows of %lld bytes; they must be "
                    "a multiple of %d%s%lld",
                    (long long)inner, TMA_ALIGNMENT,
                    made->swizzle_bytes > 0 ? " and at most the swizzle's "
                                            : "; the swizzle is ",
                    (long long)made->swizzle_bytes);
  return PIT_OK;
}

int32_t pit_rt_tensor_map(pit_frame *frame, void *map, const void *data,
                          const int64_t *desc) {
  if (!frame)
    return PIT_ERROR_INVALID_ARGUMENT;
  pit_context *context = frame->context;
  if (!frame->cuda || !map || !desc)
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
  if ((uintptr_t)map % 64 != 0 || (uintptr_t)data % TMA_ALIGNMENT != 0)
    return pit_fail(context, PIT_ERROR_ALIGNMENT,
                    "tensor map: the %s must be aligned to %d bytes",
                    (uintptr_t)map % 64 != 0 ? "map" : "data",
                    (uintptr_t)map % 64 != 0 ? 64 : TMA_ALIGNMENT);
  tma made;
  pit_status status = read_words(context, desc, &made);
  const uint32_t step[MAX_TMA_RANK] = {1, 1, 1, 1, 1};
  return status == PIT_OK
             ? PIT_CUDA(context, TensorMapEncodeTiled, map, made.type,
                        made.rank, data, made.dims, made.strides, made.box,
                        step, /*interleave=*/0, made.swizzle, made.l2,
                        /*fill=*/0)
             : status;
}
