//===- Version.h - The version of pit -------------------------------------===//

#ifndef PIT_RUNTIME_VERSION_H
#define PIT_RUNTIME_VERSION_H

#include "pit-runtime/Status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The version of these headers; the same as the package's (find_package).
#define PIT_VERSION_MAJOR 0
#define PIT_VERSION_MINOR 1
#define PIT_VERSION_PATCH 0
#define PIT_VERSION_STRING "0.1.0"

/// The version of the runtime library that is loaded, as PIT_VERSION_STRING: a
/// constant string.
PIT_RT_EXPORT const char *pit_version(void);

#ifdef __cplusplus
}
#endif

#endif // PIT_RUNTIME_VERSION_H
