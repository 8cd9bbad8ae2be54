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

/// Takes the bytes of a .npy file apart. bf16, which numpy lacks, is stored as
/// 2-byte void (V2, as ml_dtypes does) or, if `bfloat` is wanted, as uint16. On
/// failure `message` says what is wrong, to be put after the name of the file.
bool pit_npy_parse(const char *file, size_t size, bool bfloat, pit_npy *npy,
                   char message[PIT_NPY_MESSAGE_SIZE]);

/// Numpy's name of an element type, after the byte order; NULL if it has none.
const char *pit_npy_descr(DLDataType dtype);

#ifdef __cplusplus
}
#endif

#endif // PIT_LIB_SUPPORT_NPY_H
