//===- CudaContext.h - The device of a context ----------------------------===//

#ifndef PIT_LIB_RUNTIME_CUDA_CUDACONTEXT_H
#define PIT_LIB_RUNTIME_CUDA_CUDACONTEXT_H

#include "Cuda.h"
#include "CudaDriver.h"

struct pit_cuda_kernel;
struct pit_cuda_memory;
struct pit_cuda_module;

enum { PIT_CUDA_KERNEL_BUCKETS = 64, PIT_CUDA_NAME_SIZE = 96 };

struct pit_cuda {
  pit_cuda_driver driver;
  pit_cuda_properties properties;
  char name[PIT_CUDA_NAME_SIZE]; ///< of the device
  int32_t ordinal;
  int version; ///< of the driver
  CUdevice device;
  CUcontext primary;
  char *cache_folder; ///< NULL: nothing is kept on disk
  /// The context of another device, of the same module (Program/PlainCuda.c).
  /// It ends with this one.
  _Atomic(void *) next;

  // Kernels found before; entries are added in front and stay, so that readers
  // need no lock.
  struct pit_cuda_kernel *_Atomic kernels[PIT_CUDA_KERNEL_BUCKETS];
  pthread_mutex_t lock; ///< of loading, of `modules`, and of making `choices`
  struct pit_cuda_module *modules;

  // The memory of choices (Program/CudaChoose.c); NULL: there was none.
  struct pit_cuda_memory *choices;

  // Frames of CUDA programs that no call uses, the latest first; under the
  // context's lock.
  pit_frame *free_frames;
  pit_frame *captured_frames; ///< whose memory is that of a graph
};

/// Opens the device that the options ask for.
pit_status pit_cuda_open(pit_context *context,
                         const pit_context_options *options);
/// Gives everything back; nothing may use it any more.
void pit_cuda_close(pit_context *context);

/// Makes the device's context the calling thread's current one, until
/// pit_cuda_pop gives back the one before.
pit_status pit_cuda_push(pit_context *context);
void pit_cuda_pop(pit_context *context);

/// PIT_OK, or an error with a message that names the function.
pit_status pit_cuda_checked(pit_context *context, const char *function,
                            CUresult result);

/// Calls a function of the driver: PIT_CUDA(context, MemFree, memory).
#define PIT_CUDA(context, name, ...)                                           \
  pit_cuda_checked((context), "cu" #name,                                      \
                   (context)->cuda->driver.name(__VA_ARGS__))

/// If any thread of the process captures a stream, the driver refuses calls
/// that might disturb a careless capture: allocating, loading, asking for an
/// event. Nothing here does: between these two the thread may. Returns the mode
/// before.
int pit_cuda_relax(const pit_context *context);
void pit_cuda_restore(const pit_context *context, int mode);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The error of too little memory: says how much there is.
pit_status pit_cuda_out_of_memory(pit_context *context, int64_t bytes);

/// Memory of `count` 32-bit words that are 0, for as long as nobody frees it.
/// Waits until they are: a graph that is captured now may run at any time.
pit_status pit_cuda_make_zeros(pit_context *context, int64_t count,
                               CUdeviceptr *memory);

typedef struct pit_cuda_block {
  CUdeviceptr memory;
  int64_t bytes, used;
} pit_cuda_block;

struct pit_cuda_arena {
  pit_cuda_block *blocks;
  int32_t count, room;
  int64_t bytes;        ///< of all blocks
  bool of_graph;        ///< what no call uses now, a graph may use
  pit_cuda_block again; ///< taken first: memory of the arena that is used again
  int64_t taken;        ///< bytes since that was given
};

pit_status pit_cuda_arena_alloc(pit_context *context, pit_cuda_arena *arena,
                                int64_t bytes, void **memory);
/// Takes back all that was allocated. Blocks stay as they are, and the first
/// that fits is used: the same requests find the same places.
void pit_cuda_arena_reset(pit_cuda_arena *arena);
/// Memory that is allocated from now on is taken from `memory` first, a part of
/// the arena that is not used any more. NULL and 0: not any longer.
void pit_cuda_arena_again(pit_cuda_arena *arena, void *memory, int64_t bytes);
/// Frees the blocks; waits for work that uses them.
void pit_cuda_arena_free(pit_context *context, pit_cuda_arena *arena);

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

struct pit_cuda_capture;
struct pit_cuda_choice;

/// An index of a caller's arrays and its copy in device memory.
typedef struct pit_cuda_copy {
  const pit_index *index, *device;
} pit_cuda_copy;

/// The state of the work that uses a frame's memory.
typedef enum pit_cuda_use {
  PIT_CUDA_IDLE,    ///< there is none
  PIT_CUDA_PENDING, ///< it is done when the event is
  PIT_CUDA_UNKNOWN  ///< it is done when later work on the stream is
} pit_cuda_use;

/// The part of a frame that is about the device.
typedef struct pit_cuda_frame {
  pit_cuda_work work;
  pit_cuda_arena arena;
  uint64_t stream; ///< the one it was last used on (CudaFrame.c, name_stream)
  pit_cuda_use use;
  CUevent event;                    ///< recorded when a call ends
  uint64_t capture_id;              ///< of the capture it belongs to
  struct pit_cuda_capture *capture; ///< NULL: it belongs to none
  pit_cuda_copy *copies;
  int32_t num_copies, copies_room;
  const void *verified; ///< data of an image that this call has compared
  const struct pit_cuda_module *module; ///< what that is
  CUdeviceptr counters; ///< pit_rt_counters; 0: nobody asked for them
  struct pit_cuda_choice **choices; ///< the n-th for the n-th of a call
  int32_t choices_made, choices_used, choices_room;
} pit_cuda_frame;

/// Takes a frame whose memory work on the stream may use, and makes the
/// device's context the thread's current one until pit_rt_leave.
pit_status pit_cuda_frame_enter(pit_context *context, pit_stream stream,
                                pit_frame **result);
/// Gives it back; returns `status`, or why the stream is in trouble.
int32_t pit_cuda_frame_release(pit_frame *frame, int32_t status);

/// Frees the memory of the frames that neither a call nor work uses; returns
/// its bytes.
int64_t pit_cuda_frames_trim(pit_context *context);

/// Frees what the choices of a frame, and of all calls, take.
void pit_cuda_frame_choices_free(pit_context *context, pit_cuda_frame *frame);
void pit_cuda_choices_free(pit_context *context);

/// Frees what a frame has on the device.
void pit_cuda_frame_free(pit_context *context, pit_cuda_frame *frame);

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

typedef struct pit_cuda_kernel {
  struct pit_cuda_kernel *next;
  const struct pit_cuda_module *module;
  const void *data; ///< where its image was found
  CUfunction function;
  int32_t max_dynamic_bytes; ///< of shared memory
  int32_t static_bytes;
  char name[];
} pit_cuda_kernel;

/// Why an image's content need not be compared again.
typedef struct pit_cuda_trust {
  bool always;                          ///< nothing else can lie at its address
  const struct pit_cuda_module *module; ///< what it is known to be, or NULL
} pit_cuda_trust;

/// Finds a kernel; loads the image on first use. `trust` may be NULL.
pit_status pit_cuda_find_kernel(pit_context *context, const pit_image *image,
                                const char *name, const pit_cuda_trust *trust,
                                const pit_cuda_kernel **kernel);

void pit_cuda_unload(pit_context *context);

/// Links PTX for the context's device; the cubin is the caller's to free, NULL
/// after an error.
pit_status pit_cuda_link(pit_context *context, const pit_image *ptx,
                         void **cubin, size_t *size);

//===----------------------------------------------------------------------===//
// The cache on disk
//===----------------------------------------------------------------------===//

/// The folder that the options and the environment ask for, made if need be;
/// NULL: none.
char *pit_cuda_cache_folder(const char *option);

enum { PIT_CUDA_KEY_SIZE = 32 };

/// Reads what is kept under a key; NULL if there is nothing sound. The caller
/// frees it.
void *pit_cuda_cache_read(const char *folder,
                          const uint8_t key[PIT_CUDA_KEY_SIZE], size_t *size);
/// Keeps data under a key. If that fails, it is not kept.
void pit_cuda_cache_write(const char *folder,
                          const uint8_t key[PIT_CUDA_KEY_SIZE],
                          const void *data, size_t size);

#endif // PIT_LIB_RUNTIME_CUDA_CUDACONTEXT_H
