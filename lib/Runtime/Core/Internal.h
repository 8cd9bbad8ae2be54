//===- Internal.h - What the files of the runtime share -------------------===//

#ifndef PIT_LIB_RUNTIME_CORE_INTERNAL_H
#define PIT_LIB_RUNTIME_CORE_INTERNAL_H

#include "pit-runtime/Abi.h"
#include "pit-runtime/Constant.h"
#include "pit-runtime/LiveFractions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct pit_cuda pit_cuda;
struct pit_scan_kernels;

enum { PIT_MESSAGE_SIZE = 512, PIT_STATS_KEPT = 1024 };

struct pit_context {
  /// The one of who made it, and one of each call that runs.
  _Atomic int64_t references;
  int32_t threads;          ///< 0: what OpenMP would use
  int64_t bytes_per_thread; ///< what makes a thread worth its start
  const struct pit_scan_kernels *kernels;
  pit_cuda *cuda;              ///< the device; NULL: the CPU alone
  pit_index_observer observer; ///< or NULL
  void *observer_user;
  int64_t kept_limit;         ///< bytes; 0: none
  _Atomic int32_t stats_mode; ///< pit_stats_mode
  pit_context *older, *newer; ///< of Fork.c
  /// Written under the lock, read without it by calls that need nothing kept.
  _Atomic int32_t num_constants;
  /// The lock of everything below. Its holder takes no other lock, computes
  /// nothing in parallel and waits for nothing, since forks wait for it
  /// (Fork.c).
  pthread_mutex_t lock;
  char message[PIT_MESSAGE_SIZE];
  pit_frame *free_frames;
  pit_build_stats *stats; ///< ring of PIT_STATS_KEPT, once they were asked for
  int64_t stats_count;    ///< recorded since pit_context_set_stats
  struct pit_range *constants;
  int32_t constants_room;
  pit_kept_stats kept;         ///< all but the number of constants
  bool deterministic;          ///< does not change
  struct pit_choices *choices; ///< NULL: there was none yet
  struct pit_profile *profile; ///< NULL: nothing was recorded yet
};

/// Leaves a message in the context (none if it is NULL).
__attribute__((format(printf, 2, 3))) void pit_report(pit_context *context,
                                                      const char *format, ...);

/// Leaves a message in the context; its value is `status`. A macro, so that
/// readers of one file (the analyzer is one) see that an error stays one.
#define pit_fail(context, status, ...)                                         \
  (pit_report((context), __VA_ARGS__), (status))

/// How many threads reading so many bytes is worth.
int32_t pit_threads_for(const pit_context *context, int64_t bytes);

/// Keeps a context until a matching pit_context_destroy.
void pit_context_retain(pit_context *context);

/// Adds one record, if the context records.
void pit_context_record(pit_context *context, const pit_build_stats *stats);

/// Nanoseconds of a clock that never goes back.
int64_t pit_now_ns(void);

/// Frees what was recorded. NULL is fine.
void pit_profile_free(struct pit_profile *profile);

/// Forgets what other threads were filling, in the child of a fork. Under the
/// lock.
void pit_constants_after_fork(pit_context *context);

/// Frees the frames of a list and what they hold.
void pit_frames_free(pit_frame *frames);

//===----------------------------------------------------------------------===//
// Checked arithmetic on sizes (never negative)
//===----------------------------------------------------------------------===//

static inline bool pit_mul(int64_t a, int64_t b, int64_t *product) {
  return !__builtin_mul_overflow(a, b, product);
}

static inline bool pit_add(int64_t a, int64_t b, int64_t *sum) {
  return !__builtin_add_overflow(a, b, sum);
}

static inline int64_t pit_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t pit_max(int64_t a, int64_t b) { return a > b ? a : b; }
/// The least multiple of `step` that is at least `a`.
static inline int64_t pit_round_up(int64_t a, int64_t step) {
  return (a + step - 1) / step * step;
}
/// For a >= 0 and b > 0, without the overflow of (a + b - 1) / b.
static inline int64_t pit_ceil_div(int64_t a, int64_t b) {
  return a / b + (a % b != 0);
}

//===----------------------------------------------------------------------===//
// Memory that only grows
//===----------------------------------------------------------------------===//

typedef struct pit_buffer {
  void *data; ///< aligned to 64 bytes
  int64_t bytes;
} pit_buffer;

/// Makes room for `count` elements of `size` bytes; the contents are lost if
/// it has to grow. Messages name `what`.
pit_status pit_buffer_reserve(pit_context *context, pit_buffer *buffer,
                              int64_t count, int64_t size, const char *what);
void pit_buffer_free(pit_buffer *buffer);

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

typedef struct pit_dtype {
  uint8_t code; ///< PIT_DTYPE_*
  uint8_t bits;
} pit_dtype;

/// True iff the runtime has a name for it; then it takes whole bytes.
bool pit_dtype_known(pit_dtype dtype);

enum { PIT_DTYPE_NAME_SIZE = 24 };
/// Writes a name such as f32 into `buffer` and returns it.
const char *pit_dtype_name(pit_dtype dtype, char buffer[PIT_DTYPE_NAME_SIZE]);

/// Writes a list such as 3x4 into `buffer`, cut to its size, and returns it.
enum { PIT_DIMS_NAME_SIZE = 96 };
const char *pit_dims_name(const int64_t *dims, int32_t rank,
                          char buffer[PIT_DIMS_NAME_SIZE]);

//===----------------------------------------------------------------------===//
// Data to build from
//===----------------------------------------------------------------------===//

/// A tensor in memory; strides in elements.
typedef struct pit_data {
  const void *data;
  pit_dtype dtype;
  int32_t rank;
  int64_t shape[PIT_MAX_RANK];
  int64_t strides[PIT_MAX_RANK];
} pit_data;

/// The data of a selection, which a build reads.
typedef struct pit_selection {
  pit_source source;
  pit_data data;
  uint64_t background; ///< the bits of one element
  /// The bitmap of all that, which is then read in its place; or NULL.
  const pit_bitmap *bitmap;
} pit_selection;

/// Checks a DLTensor and takes it apart. If `on_device` is NULL, it must be on
/// the CPU, else the context's device will do, too.
pit_status pit_data_from_tensor(pit_context *context, const char *what,
                                const DLTensor *tensor, pit_data *data,
                                bool *on_device);

/// True iff the strides are those of a row-major tensor: dimensions of size 1
/// have any stride, and an empty tensor any strides.
bool pit_is_contiguous(int32_t rank, const int64_t *shape,
                       const int64_t *strides);

/// The place of a tensor's first element; NULL if it has no data. Absurd
/// offsets wrap around: pit_memory_wraps tells.
static inline const void *pit_tensor_data(const DLTensor *tensor) {
  if (!tensor->data)
    return NULL;
  return (const void *)((uintptr_t)tensor->data + tensor->byte_offset);
}

/// True if so many bytes from there on would go past the last address.
static inline bool pit_memory_wraps(const void *data, int64_t bytes) {
  return (uint64_t)bytes > UINTPTR_MAX - (uintptr_t)data;
}

/// Room for a tensor in bytes; false if it overflows.
bool pit_tensor_bytes(int32_t rank, const int64_t *shape, int64_t element,
                      int64_t *bytes);

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

struct pit_index_builder {
  pit_context *context;
  pit_stream stream;            ///< of builds on the context's device
  struct pit_cuda_arena *arena; ///< of these; NULL: there was none, or it is
                                ///< the memory of a call
  /// The memory of bitmaps on the device, and of their live fraction; NULL:
  /// there was none.
  struct pit_cuda_arena *bitmap_arena, *live_fraction_arena;
  pit_index index;
  pit_buffer counts, offsets, ids, origin, chunks;
  pit_buffer bits;          ///< one bit per micro-tile, while building
  pit_buffer blocks;        ///< sums of the blocks of `bits`, while building
  pit_bitmap bitmap;        ///< the one that was built last
  pit_buffer words;         ///< of it
  pit_buffer plan, pyramid; ///< of its live fraction, while it is computed
};

void pit_builder_init(pit_index_builder *builder, pit_context *context);
void pit_builder_release(pit_index_builder *builder);
/// Frees what only builds need. Returns the bytes of the index.
int64_t pit_builder_shrink(pit_index_builder *builder);

/// Takes the data of a build apart.
pit_status pit_selection_from_tensor(pit_context *context, pit_source source,
                                     const DLTensor *data,
                                     const void *background,
                                     pit_selection *selection, bool *on_device);

struct pit_cuda_work;

/// The place to which a build may write the values of the micro-tiles that it
/// lists, while it has them at hand: those of position p to row p.
typedef struct pit_packing {
  void *memory;  ///< rows one after the other
  int64_t rows;  ///< that there is room for
  int64_t width; ///< elements of a row, and of a micro-tile
  bool done;     ///< false: nothing was written
} pit_packing;

/// pit_index_build on data taken apart; `slot` is for the recorded statistics.
/// `work`: on the device; NULL: on the CPU. `packing`: NULL: nothing is packed.
pit_status pit_builder_run(pit_index_builder *builder,
                           const pit_index_spec *spec,
                           const pit_selection *selection, int64_t slot,
                           const struct pit_cuda_work *work,
                           pit_packing *packing, const pit_index **result);

/// The same on the context's device, in the builder's own memory.
pit_status pit_builder_run_on_device(pit_index_builder *builder,
                                     const pit_index_spec *spec,
                                     const pit_selection *selection,
                                     const pit_index **index);

/// Begins work on the builder's stream: makes the device's context the thread's
/// current one, until pit_cuda_pop, and all memory of `arena`, which is made if
/// there is none, free.
pit_status pit_builder_begin_work(pit_index_builder *builder,
                                  struct pit_cuda_arena **arena,
                                  struct pit_cuda_work *work);

/// Sums over the groups of an index.
typedef struct pit_index_sums {
  int64_t extent, total, max_count;
} pit_index_sums;

/// Sets what the host knows of an index in device memory: upper bounds of
/// extent, total and max_count.
void pit_index_set_bounds(pit_index *index);

/// Checks that an index has the arrays that its numbers announce. Messages of
/// this and the following begin with `what`.
pit_status pit_index_check_pointers(pit_context *context, const char *what,
                                    const pit_index *index);

/// Checks all that an index points to against its shape, groups, capacity and
/// chunk_size (pit_index_import says what); sums up. Its pointers have been
/// checked. `scratch` may grow.
pit_status pit_index_check_arrays(pit_context *context, const char *what,
                                  const pit_index *index, pit_buffer *scratch,
                                  pit_index_sums *sums);

/// Checks that a caller's pointer is to an index, before it is read.
pit_status pit_index_expect(pit_context *context, const char *what,
                            const pit_index *index);

/// Marks an index as complete and sound, where it lies.
void pit_index_seal(pit_index *index);
/// True iff it was sealed, and neither moved nor altered since.
bool pit_index_is_sealed(const pit_index *index);

/// Checks the fields of a caller's index: that they agree with each other. No
/// array is read.
pit_status pit_index_check_fields(pit_context *context, const char *what,
                                  const pit_index *index);

/// Checks the arrays of a caller's index on the CPU, unless it is sealed. Its
/// fields have been checked. `scratch` may grow.
pit_status pit_index_check_contents(pit_context *context, const char *what,
                                    const pit_index *index,
                                    pit_buffer *scratch);

#endif // PIT_LIB_RUNTIME_CORE_INTERNAL_H
