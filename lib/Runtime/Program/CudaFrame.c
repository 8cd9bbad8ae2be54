//===- CudaFrame.c - The memory of a call on a device ---------------------===//
//
// A call ends before its work does, so a frame that is given back may still be
// in use. It belongs to its stream: later work there comes after, and an event
// tells when other streams may have it. A frame that a graph was captured with
// belongs to the graph, which may run at any time until it is destroyed; the
// driver then calls back.
//
//===----------------------------------------------------------------------===//

#include "Cuda/CudaContext.h"
#include "Frame.h"
#include "Index/CudaIndex.h"

#include <stdlib.h>

/// The state that a frame and a graph share. The last owner frees it: the
/// driver calls back from a thread of its own, maybe after the context's end.
typedef struct pit_cuda_capture {
  _Atomic int32_t owners;
  _Atomic bool destroyed; ///< the graph is
} pit_cuda_capture;

static void let_go(pit_cuda_capture *capture) {
  if (atomic_fetch_sub(&capture->owners, 1) == 1)
    free(capture);
}

static void graph_destroyed(void *user) {
  pit_cuda_capture *capture = user;
  atomic_store(&capture->destroyed, true);
  let_go(capture);
}

/// The capture that a stream is part of.
typedef struct capturing {
  bool active;
  uint64_t id;
  CUgraph graph;
} capturing;

static pit_status ask_capture(pit_context *context, CUstream stream,
                              capturing *capture) {
  int state = CU_STREAM_CAPTURE_STATUS_NONE;
  *capture = (capturing){0};
  pit_status status = PIT_CUDA(context, StreamGetCaptureInfo, stream, &state,
                               &capture->id, &capture->graph, NULL, NULL);
  if (status != PIT_OK)
    return status;
  if (state != CU_STREAM_CAPTURE_STATUS_NONE &&
      state != CU_STREAM_CAPTURE_STATUS_ACTIVE)
    return pit_fail(context, PIT_ERROR_DRIVER,
                    "cuda: the capture of the call's stream has become invalid "
                    "by an earlier error");
  capture->active = state == CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return PIT_OK;
}

/// Names a stream among those of a capture, or else of the process. That is not
/// its handle, which may be that of another stream that is gone but has work
/// left. But of a stream that is being captured the driver does not tell the
/// id, and being asked makes the capture invalid, in any mode. There the handle
/// has to do: docs/RuntimeGPU.md asks that the capture's streams live as long.
static pit_status name_stream(pit_context *context, CUstream stream,
                              const capturing *capture, uint64_t *name) {
  static _Thread_local char own;
  if (!capture->active) {
    unsigned long long id = 0;
    pit_status status = PIT_CUDA(context, StreamGetId, stream, &id);
    *name = id;
    return status;
  }
  // One handle means another stream in each thread.
  bool of_thread = (uintptr_t)stream == CU_STREAM_PER_THREAD;
  *name = of_thread ? (uintptr_t)&own : (uintptr_t)stream;
  return PIT_OK;
}

/// Takes the first frame of a list for which `fits` holds.
static pit_frame *take(pit_frame **list,
                       bool (*fits)(const pit_frame *frame, uint64_t a,
                                    uint64_t b),
                       uint64_t a, uint64_t b) {
  for (pit_frame **at = list; *at; at = &(*at)->next)
    if (fits(*at, a, b)) {
      pit_frame *frame = *at;
      *at = frame->next;
      return frame;
    }
  return NULL;
}

static bool is_of_stream(const pit_frame *frame, uint64_t stream, uint64_t b) {
  (void)b;
  return frame->cuda->use != PIT_CUDA_IDLE && frame->cuda->stream == stream;
}

static bool is_of_capture(const pit_frame *frame, uint64_t stream,
                          uint64_t capture) {
  return frame->cuda->capture_id == capture && frame->cuda->stream == stream;
}

static bool is_of_nobody(const pit_frame *frame, uint64_t a, uint64_t b) {
  (void)a, (void)b;
  const pit_cuda_frame *cuda = frame->cuda;
  return cuda->use == PIT_CUDA_IDLE ||
         (cuda->use == PIT_CUDA_PENDING &&
          cuda->work.context->cuda->driver.EventQuery(cuda->event) ==
              CUDA_SUCCESS);
}

static bool is_released(const pit_frame *frame, uint64_t a, uint64_t b) {
  (void)a, (void)b;
  return atomic_load(&frame->cuda->capture->destroyed);
}

/// Takes back the frames of graphs that are no more.
static void collect(pit_cuda *cuda) {
  pit_frame *frame;
  while ((frame = take(&cuda->captured_frames, is_released, 0, 0))) {
    let_go(frame->cuda->capture);
    frame->cuda->capture = NULL;
    frame->cuda->arena.of_graph = false;
    frame->cuda->use = PIT_CUDA_IDLE;
    frame->next = cuda->free_frames;
    cuda->free_frames = frame;
  }
}

static pit_frame *find_frame(pit_context *context, const capturing *capture,
                             uint64_t stream) {
  pit_cuda *cuda = context->cuda;
  pthread_mutex_lock(&context->lock);
  pit_frame *frame =
      capture->active
          ? take(&cuda->captured_frames, is_of_capture, stream, capture->id)
          : take(&cuda->free_frames, is_of_stream, stream, 0);
  if (!frame) {
    collect(cuda);
    int mode = pit_cuda_relax(context);
    frame = take(&cuda->free_frames, is_of_nobody, 0, 0);
    pit_cuda_restore(context, mode);
    if (frame)
      frame->cuda->use = PIT_CUDA_IDLE;
  }
  pthread_mutex_unlock(&context->lock);
  return frame;
}

int64_t pit_cuda_frames_trim(pit_context *context) {
  pit_cuda *cuda = context->cuda;
  pit_frame *idle = NULL, *frame;
  int64_t bytes = 0;
  pthread_mutex_lock(&context->lock);
  collect(cuda);
  while ((frame = take(&cuda->free_frames, is_of_nobody, 0, 0))) {
    bytes += frame->cuda->arena.bytes;
    pit_cuda_arena_free(context, &frame->cuda->arena);
    frame->cuda->use = PIT_CUDA_IDLE;
    frame->next = idle;
    idle = frame;
  }
  while (idle) {
    frame = idle;
    idle = frame->next;
    frame->next = cuda->free_frames;
    cuda->free_frames = frame;
  }
  pthread_mutex_unlock(&context->lock);
  return bytes;
}

static void give_back(pit_frame *frame) {
  pit_context *context = frame->context;
  pit_frame **list = frame->cuda->capture ? &context->cuda->captured_frames
                                          : &context->cuda->free_frames;
  pthread_mutex_lock(&context->lock);
  frame->next = *list;
  *list = frame;
  pthread_mutex_unlock(&context->lock);
}

static pit_status make_frame(pit_context *context, pit_frame **result) {
  pit_frame *frame = calloc(1, sizeof(*frame));
  pit_cuda_frame *cuda = frame ? calloc(1, sizeof(*cuda)) : NULL;
  if (!cuda) {
    free(frame);
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for the frame of a call");
  }
  int mode = pit_cuda_relax(context);
  pit_status status =
      PIT_CUDA(context, EventCreate, &cuda->event, CU_EVENT_DISABLE_TIMING);
  pit_cuda_restore(context, mode);
  if (status != PIT_OK) {
    free(cuda);
    free(frame);
    return status;
  }
  frame->context = context;
  frame->cuda = cuda;
  cuda->work = (pit_cuda_work){.context = context, .arena = &cuda->arena};
  *result = frame;
  return PIT_OK;
}

/// Makes an idle frame that of a graph.
static pit_status bind_to_graph(pit_frame *frame, const capturing *capture) {
  pit_context *context = frame->context;
  const pit_cuda_driver *driver = &context->cuda->driver;
  pit_cuda_capture *shared = calloc(1, sizeof(*shared));
  if (!shared)
    return pit_fail(context, PIT_ERROR_OUT_OF_MEMORY,
                    "out of memory for the frame of a captured call");
  atomic_init(&shared->owners, 2);
  CUuserObject object;
  pit_status status =
      PIT_CUDA(context, UserObjectCreate, &object, shared, graph_destroyed, 1,
               CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  if (status != PIT_OK) {
    free(shared);
    return status;
  }
  status = PIT_CUDA(context, GraphRetainUserObject, capture->graph, object, 1,
                    CU_GRAPH_USER_OBJECT_MOVE);
  if (status != PIT_OK) {
    (void)driver->UserObjectRelease(object, 1); // calls graph_destroyed
    let_go(shared);
    return status;
  }
  frame->cuda->arena.of_graph = true;
  frame->cuda->capture = shared;
  frame->cuda->capture_id = capture->id;
  return PIT_OK;
}

static pit_status acquire(pit_context *context, pit_stream stream,
                          pit_frame **result) {
  capturing capture;
  uint64_t name = 0;
  pit_status status = ask_capture(context, stream, &capture);
  if (status == PIT_OK)
    status = name_stream(context, stream, &capture, &name);
  if (status != PIT_OK)
    return status;
  pit_frame *frame = find_frame(context, &capture, name);
  if (!frame)
    status = make_frame(context, &frame);
  if (status == PIT_OK && capture.active && !frame->cuda->capture) {
    status = bind_to_graph(frame, &capture);
    if (status != PIT_OK)
      give_back(frame);
  }
  if (status != PIT_OK)
    return status;
  pit_cuda_frame *cuda = frame->cuda;
  cuda->stream = name;
  cuda->work.stream = stream;
  cuda->num_copies = 0;
  cuda->choices_used = 0;
  cuda->verified = NULL;
  pit_cuda_arena_reset(&cuda->arena);
  pit_frame_reset(frame);
  *result = frame;
  return PIT_OK;
}

pit_status pit_cuda_frame_enter(pit_context *context, pit_stream stream,
                                pit_frame **result) {
  pit_status status = pit_cuda_push(context);
  if (status != PIT_OK)
    return status;
  status = acquire(context, stream, result);
  if (status != PIT_OK)
    pit_cuda_pop(context);
  return status;
}

int32_t pit_rt_wait(pit_frame *frame) {
  if (!frame)
    return PIT_ERROR_INVALID_ARGUMENT;
  if (!frame->cuda)
    return PIT_OK;
  if (frame->cuda->capture)
    return pit_fail(frame->context, PIT_ERROR_UNSUPPORTED,
                    "cuda: the host cannot wait for the call's stream while "
                    "that is captured; what comes next has to run on the "
                    "stream, too");
  return PIT_CUDA(frame->context, StreamSynchronize, frame->cuda->work.stream);
}

int32_t pit_cuda_frame_release(pit_frame *frame, int32_t status) {
  pit_cuda_frame *cuda = frame->cuda;
  cuda->use = PIT_CUDA_UNKNOWN;
  // A graph's frame is idle when the graph is gone, no sooner.
  if (!cuda->capture) {
    pit_status recorded =
        PIT_CUDA(frame->context, EventRecord, cuda->event, cuda->work.stream);
    if (recorded == PIT_OK)
      cuda->use = PIT_CUDA_PENDING;
    else if (status == PIT_OK)
      status = recorded;
  }
  give_back(frame);
  return status;
}

void pit_cuda_frame_free(pit_context *context, pit_cuda_frame *frame) {
  pit_cuda_arena_free(context, &frame->arena);
  if (frame->counters)
    (void)context->cuda->driver.MemFree(frame->counters);
  (void)context->cuda->driver.EventDestroy(frame->event);
  if (frame->capture)
    let_go(frame->capture);
  free(frame->copies);
  pit_cuda_frame_choices_free(context, frame);
  free(frame);
}

/// Makes the copy of a caller's index.
static pit_status import_index(pit_frame *frame, const pit_index *index) {
  pit_cuda_frame *cuda = frame->cuda;
  if (cuda->num_copies == cuda->copies_room) {
    int32_t room = cuda->copies_room ? 2 * cuda->copies_room : 4;
    pit_cuda_copy *moved = realloc(cuda->copies, (size_t)room * sizeof(*moved));
    if (!moved)
      return pit_fail(frame->context, PIT_ERROR_OUT_OF_MEMORY,
                      "out of memory for %d index arguments", room);
    cuda->copies = moved;
    cuda->copies_room = room;
  }
  pit_cuda_copy *copy = &cuda->copies[cuda->num_copies];
  copy->index = index;
  pit_status status = pit_cuda_import_index(&cuda->work, index, &copy->device);
  if (status == PIT_OK)
    ++cuda->num_copies;
  return status;
}

int32_t pit_rt_device_index(pit_frame *frame, const pit_index *index,
                            const pit_index **device) {
  if (!frame || !index || !device)
    return PIT_ERROR_INVALID_ARGUMENT;
  *device = NULL;
  if (!frame->cuda || !(index->flags & PIT_INDEX_DEVICE))
    return pit_fail(frame->context, PIT_ERROR_DEVICE,
                    "index: its place in device memory was asked for, but %s",
                    frame->cuda ? "its arrays are in the host's"
                                : "the program runs on the CPU");
  if (index->device_copy) {
    *device = (const void *)((const char *)(const void *)index->counts -
                             index->device_copy);
    return PIT_OK;
  }
  pit_cuda_frame *cuda = frame->cuda;
  int32_t i = 0;
  while (i < cuda->num_copies && cuda->copies[i].index != index)
    ++i;
  if (i == cuda->num_copies) {
    pit_status status = import_index(frame, index);
    if (status != PIT_OK)
      return status;
  }
  *device = cuda->copies[i].device;
  return PIT_OK;
}
