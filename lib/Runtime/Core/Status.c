//===- Status.c - Names of the status codes, and of the version -----------===//

#include "pit-runtime/Status.h"
#include "pit-runtime/Version.h"

const char *pit_version(void) { return PIT_VERSION_STRING; }

const char *pit_status_string(int32_t status) {
  switch ((pit_status)status) {
  case PIT_OK:
    return "ok";
  case PIT_ERROR_INVALID_ARGUMENT:
    return "invalid argument";
  case PIT_ERROR_SHAPE:
    return "wrong shape";
  case PIT_ERROR_DTYPE:
    return "wrong element type";
  case PIT_ERROR_LAYOUT:
    return "wrong layout";
  case PIT_ERROR_ALIGNMENT:
    return "wrong alignment";
  case PIT_ERROR_DEVICE:
    return "wrong or missing device";
  case PIT_ERROR_OUT_OF_MEMORY:
    return "out of memory";
  case PIT_ERROR_CAPACITY:
    return "capacity exceeded";
  case PIT_ERROR_NOT_FOUND:
    return "not found";
  case PIT_ERROR_LOAD:
    return "cannot load";
  case PIT_ERROR_UNSUPPORTED:
    return "unsupported";
  case PIT_ERROR_INTERNAL:
    return "internal error";
  case PIT_ERROR_DRIVER:
    return "the device's driver failed";
  }
  return "unknown status";
}
