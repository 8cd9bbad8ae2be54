//===- Npy.h - Arrays in .npy files ---------------------------------------===//

#ifndef PIT_TOOLS_RUN_NPY_H
#define PIT_TOOLS_RUN_NPY_H

#include "Tensor.h"

/// Reads an array from the bytes of a .npy file. `path` is for messages.
/// `wanted` is the element type that the data is meant for: bf16 and floats of
/// 8 bits, which numpy lacks, may be stored as void (V2 and V1, as ml_dtypes
/// does) or as uint16 and uint8. Prints an error and returns false if the bytes
/// are no such array.
bool npy_parse(const char *path, const char *data, size_t size,
               DLDataType wanted, tensor *t);

/// The same from a file.
bool npy_read(const char *path, DLDataType wanted, tensor *t);

/// Writes a tensor; bf16 as V2, floats of 8 bits as V1. Prints an error and
/// returns false if it cannot.
bool npy_write(const char *path, const tensor *t);

#endif // PIT_TOOLS_RUN_NPY_H
