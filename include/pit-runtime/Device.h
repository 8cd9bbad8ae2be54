//===- Device.h - Memory and streams of a context's device ----------------===//
//
// The functions that run a CUDA program on data of the host without another
// library: memory on the device, copies into it and out of it, a stream. A
// caller with arrays on the device and a stream of its own needs none of this.
//
// All of it is of a context with a device (pit_context_options.device_type);
// without one it fails with PIT_ERROR_DEVICE. The calling thread's current
// context stays as it was. Unlike calls of programs, copies wait for the
// device: they are for the time before and after, and not for a stream that is
// being captured.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_RUNTIME_DEVICE_H
#define PIT_RUNTIME_DEVICE_H

#include "pit-runtime/Context.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A context's device.
typedef struct pit_device_info {
  int32_t device_id;  ///< its ordinal
  int32_t capability; ///< 10 * major + minor: 80, 90, ...
  int32_t multiprocessors;
  char name[96];
} pit_device_info;

PIT_RT_EXPORT pit_status pit_device_query(pit_context *context,
                                          pit_device_info *info);

/// Memory on the device, aligned to 256 bytes, not initialized. `bytes` may be
/// 0. It is the caller's until pit_device_free, which has to come before the
/// context's end. After an error `*memory` is NULL. The error of too little
/// memory says how much there is.
PIT_RT_EXPORT pit_status pit_device_alloc(pit_context *context, int64_t bytes,
                                          void **memory);

/// Waits for work that uses the memory, and frees it. NULL is fine.
PIT_RT_EXPORT pit_status pit_device_free(pit_context *context, void *memory);

/// Copies `bytes` from the host's memory to the device's, after the work that
/// is on the stream. When this returns, the copy is done.
PIT_RT_EXPORT pit_status pit_device_write(pit_context *context, void *to,
                                          const void *from, int64_t bytes,
                                          pit_stream stream);

/// The same from the device's memory to the host's: what earlier work on the
/// stream has written is there when this returns.
PIT_RT_EXPORT pit_status pit_device_read(pit_context *context, void *to,
                                         const void *from, int64_t bytes,
                                         pit_stream stream);

/// Makes a stream that does not wait for the default stream (NULL), nor it for
/// this one. It is the caller's until pit_stream_destroy, which has to come
/// before the context's end. After an error `*stream` is NULL.
PIT_RT_EXPORT pit_status pit_stream_create(pit_context *context,
                                           pit_stream *stream);

/// Gives a stream back; work on it still ends. NULL is fine.
PIT_RT_EXPORT pit_status pit_stream_destroy(pit_context *context,
                                            pit_stream stream);

/// Waits until the work on a stream (NULL: the default stream) is done. An
/// error may be that of any work before: after a fault on the device, every
/// call fails.
PIT_RT_EXPORT pit_status pit_stream_wait(pit_context *context,
                                         pit_stream stream);

#ifdef __cplusplus
}
#endif

#endif // PIT_RUNTIME_DEVICE_H
