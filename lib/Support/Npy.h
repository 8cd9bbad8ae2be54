//===- Npy.h - What a .npy file holds -----------------------------*- C -*-===//

#ifndef PIT_LIB_SUPPORT_NPY_H
#define PIT_LIB_SUPPORT_NPY_H

#include "pit-runtime/Index.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// An array, where it lies in the bytes of a file: little-endian, row-major.
typedef struct pit_npy {
  DLDataType dtype;
  int32_t rank;
  int64_t shape[PIT_MAX_RANK];
  const char *data; ///< of `bytes`; aligned to 1
  size_t bytes;
} pit_npy;

enum { PIT_NPY_MESSAGE_SIZE = 320 };

/// Takes the bytes of a .npy file apart. bf16 and floats of 8 bits, which numpy
/// lacks, are stored as void (V2 and V1, as ml_dtypes does) or as uint16 and
/// uint8. These are taken for `wanted` if that is such a type; otherwise V2 is
/// bf16 and V1 f8E4M3FN. On failure `message` says what is wrong, to be put
/// after the name of the file.
bool pit_npy_parse(const char *file, size_t size, DLDataType wanted,
                   pit_npy *npy, char message[PIT_NPY_MESSAGE_SIZE]);

/// Numpy's name of an element type, after the byte order; NULL if it has none.
const char *pit_npy_descr(DLDataType dtype);

#ifdef __cplusplus
}
#endif

#endif // PIT_LIB_SUPPORT_NPY_H
