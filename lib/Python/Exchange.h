//===- Exchange.h - What newer versions of DLPack have ------------*- C -*-===//
//
// DLPack's header of version 0.6, which Debian 12 has, lacks DLManagedTensor-
// Versioned (1.0) and DLPackExchangeAPI (1.3). These are their layouts, under
// names that a newer header does not have.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_PYTHON_EXCHANGE_H
#define PIT_PYTHON_EXCHANGE_H

#include <dlpack/dlpack.h>
#include <stdint.h>

typedef struct pit_dlpack_version {
  uint32_t major, minor;
} pit_dlpack_version;

/// DLManagedTensorVersioned, in a capsule PIT_VERSIONED. Only the fields up to
/// the flags are where they are in any version.
typedef struct pit_managed_tensor {
  pit_dlpack_version version;
  void *manager_ctx;
  void (*deleter)(struct pit_managed_tensor *self);
  uint64_t flags;
  DLTensor dl_tensor;
} pit_managed_tensor;

#define PIT_VERSIONED "dltensor_versioned"
#define PIT_UNVERSIONED "dltensor"
enum { PIT_DLPACK_MAJOR = 1, PIT_DLPACK_READ_ONLY = 1, PIT_DLPACK_COPIED = 2 };

/// DLPackExchangeAPI, in a capsule PIT_EXCHANGE that a type of array has as
/// __dlpack_c_exchange_api__. It lives as long as the process. Objects are
/// PyObject *; functions return 0, or -1 with an exception.
typedef struct pit_exchange {
  pit_dlpack_version version;
  const struct pit_exchange *previous; ///< of an older major version, or NULL
  int (*allocate)(DLTensor *prototype, pit_managed_tensor **out, void *user,
                  void (*set_error)(void *user, const char *kind,
                                    const char *message));
  int (*managed_from_object)(void *object, pit_managed_tensor **out);
  int (*managed_to_object)(pit_managed_tensor *tensor, void **out);
  /// Fills in a tensor whose shape and strides are the object's; may be NULL.
  int (*tensor_from_object)(void *object, DLTensor *out);
  int (*current_work_stream)(DLDeviceType device, int32_t id, void **out);
} pit_exchange;

#define PIT_EXCHANGE "dlpack_exchange_api"

#endif // PIT_PYTHON_EXCHANGE_H
