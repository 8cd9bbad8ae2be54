//===- FakeCuda.h - A CUDA driver for tests without a device --------------===//
//
// A library with the driver's functions over host memory. Nothing runs: kernels
// are counted, streams keep no work, and tests say when events are done. What
// the runtime must not do is an error here: calling without a current context,
// allocating or asking for events while a thread captures (unless this one said
// that it knows what it does), asking for the id of a stream that is captured,
// using what was freed. As with a real driver, the captures that such a call
// might disturb become invalid. With PIT_FAKE_CUDA_TRACE in the environment,
// what is asked of the device is printed to stderr, a line each. New memory is
// full of the byte that PIT_FAKE_CUDA_FILL says, or 0.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TEST_RUNTIME_FAKECUDA_H
#define PIT_TEST_RUNTIME_FAKECUDA_H

#include <stddef.h>
#include <stdint.h>

typedef struct fake_launch {
  char kernel[64];
  unsigned blocks, split, threads, shared, cluster;
  int is_pdl;
  void *stream;
  void *first; ///< what the first parameter points to, as a pointer
} fake_launch;

/// What tests set and see. Counts are of the calls that succeeded.
typedef struct fake_cuda {
  // What the machine has.
  int devices, version, capability_major;
  size_t memory; ///< bytes that can be allocated
  // `fail_count` calls of the function fail, after `fail_after` that do not.
  const char *fail_function;
  int fail_after, fail_count, fail_error;
  int events_pending; ///< queries of events say that they are not done
  // What happened.
  int allocations, frees, events_recorded, loads, links, launches, copies;
  int attributes_set, user_objects, contexts;
  size_t allocated; ///< bytes
  int violations;   ///< see above
  fake_launch last;
  int writes, reads; ///< between the host's memory and the device's
  int waits;         ///< for streams
  int streams;       ///< that cuStreamCreate made and that are there
  void *registered;  ///< the host's memory that was registered last
  size_t registered_bytes;
} fake_cuda;

/// What the library exports beside the driver's functions.
typedef fake_cuda *(*fake_state)(void);
/// The depth of the calling thread's stack of contexts.
typedef int (*fake_depth)(void);
/// Forgets everything but memory that is still allocated.
typedef void (*fake_reset)(void);
typedef void *(*fake_stream)(void);
/// The handle becomes that of a new stream.
typedef void (*fake_renew_stream)(void *stream);
/// Starts capturing a stream, in a graph that it returns.
typedef void *(*fake_capture)(void *stream);
/// Makes a stream part of the capture of another.
typedef void (*fake_join_capture)(void *stream, void *other);
typedef void (*fake_end_capture)(void *stream);
/// Makes the capture invalid.
typedef void (*fake_spoil_capture)(void *stream);
/// Calls back for everything that the graph holds.
typedef void (*fake_destroy_graph)(void *graph);

#endif // PIT_TEST_RUNTIME_FAKECUDA_H
