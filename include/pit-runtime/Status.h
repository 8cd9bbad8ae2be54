//===- Status.h - Status codes of the runtime -----------------------------===//
//
// Every function that can fail returns a pit_status; the context keeps one line
// that says which argument is wrong, by which numbers, and what would be right
// (pit_context_message).
//
//===----------------------------------------------------------------------===//

#ifndef PIT_RUNTIME_STATUS_H
#define PIT_RUNTIME_STATUS_H

#include <stdint.h>

#ifdef _WIN32
#define PIT_RT_EXPORT
#else
#define PIT_RT_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Generated code passes a status as int32_t; 0 is success.
typedef enum pit_status {
  PIT_OK = 0,
  PIT_ERROR_INVALID_ARGUMENT = 1, ///< a value is out of range, or NULL
  PIT_ERROR_SHAPE = 2,            ///< a rank or a dimension is wrong
  PIT_ERROR_DTYPE = 3,            ///< an element type is wrong
  PIT_ERROR_LAYOUT = 4,           ///< strides are not the ones required
  PIT_ERROR_ALIGNMENT = 5,        ///< data is not aligned to its element
  PIT_ERROR_DEVICE = 6,           ///< a tensor is on the wrong device, or the
                                  ///< device is missing or not good enough
  PIT_ERROR_OUT_OF_MEMORY = 7,
  PIT_ERROR_CAPACITY = 8,  ///< an index needs more ids than there is room for
  PIT_ERROR_NOT_FOUND = 9, ///< no such entry, file or symbol
  PIT_ERROR_LOAD = 10,     ///< a program cannot be loaded, or is malformed
  PIT_ERROR_UNSUPPORTED = 11,
  PIT_ERROR_INTERNAL = 12,
  PIT_ERROR_DRIVER = 13 ///< a function of the device's driver failed
} pit_status;

/// A constant string that names the status; never NULL.
PIT_RT_EXPORT const char *pit_status_string(int32_t status);

#ifdef __cplusplus
}
#endif

#endif // PIT_RUNTIME_STATUS_H
