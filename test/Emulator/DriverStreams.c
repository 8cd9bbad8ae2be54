//===- DriverStreams.c - Streams, events and graphs -----------------------===//

#include "Device.h"

#include <stdlib.h>

typedef struct CUuserObject_st {
  struct CUuserObject_st *next;
  void *user;
  void (*destroy)(void *user);
} user_object;

/// What a capture has seen; instantiated graphs refer to it.
struct CUgraph_st {
  int references;
  emu_work *first, **last;
  user_object *objects;
  bool is_invalid;
};

struct CUstream_st {
  unsigned long long id;
  CUgraph graph; ///< NULL: it does not capture
  uint64_t capture;
  bool is_origin; ///< of the capture
  int mode;
  struct CUstream_st *next;
};

struct CUevent_st {
  bool is_recorded;
  CUstream captured; ///< the stream that captured it
  uint64_t capture;
};

static struct CUstream_st legacy = {.id = 1};
static _Thread_local CUstream per_thread;
static CUstream streams; ///< all but the legacy one
static unsigned long long ids = 1;
static uint64_t captures;
static int global_captures; ///< under way, which no thread may disturb
static _Thread_local int capture_mode; ///< 0: global

/// A stream in the list of all; NULL: out of memory.
static CUstream new_stream(void) {
  CUstream made = calloc(1, sizeof(*made));
  if (!made)
    return NULL;
  made->id = ++ids;
  made->next = streams;
  streams = made;
  return made;
}

static CUstream resolve(CUstream stream) {
  if (!stream || (uintptr_t)stream == 1)
    return &legacy;
  if ((uintptr_t)stream != CU_STREAM_PER_THREAD)
    return stream;
  if (!per_thread)
    per_thread = new_stream();
  return per_thread;
}

CUresult emu_check_capture(void) {
  if (global_captures == 0 || capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_SUCCESS;
  for (CUstream s = streams; s; s = s->next)
    if (s->graph)
      s->graph->is_invalid = true;
  return EMU_CAPTURE_REFUSED;
}

CUresult emu_put(CUstream handle, emu_work *work) {
  CUstream stream = resolve(handle);
  if (stream->graph) {
    *stream->graph->last = work;
    stream->graph->last = &work->next;
    return CUDA_SUCCESS;
  }
  CUresult result = emu_do(work);
  emu_free_work(work);
  return result;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  (void)flags;
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  *stream = new_stream();
  return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  EMU_LOCKED;
  for (CUstream *s = &streams; *s; s = &(*s)->next)
    if (*s == stream) {
      *s = stream->next;
      free(stream);
      return CUDA_SUCCESS;
    }
  return EMU_INVALID_VALUE;
}

CUresult cuStreamSynchronize(CUstream stream) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  EMU_CHECK(emu_check_capture());
  return resolve(stream)->graph ? EMU_CAPTURE_REFUSED : CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  CUstream asked = resolve(stream);
  if (asked->graph) {
    asked->graph->is_invalid = true; // refused in any mode
    return EMU_CAPTURE_REFUSED;
  }
  *id = asked->id;
  return CUDA_SUCCESS;
}

/// A stream that waits for an event of a capture becomes part of it.
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  (void)flags;
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  CUstream waits = resolve(stream), from = event->captured;
  if (!from)
    return CUDA_SUCCESS;
  if (!from->graph || from->capture != event->capture)
    return EMU_INVALID_VALUE;
  if (waits->graph)
    return waits->graph == from->graph ? CUDA_SUCCESS : EMU_INVALID_VALUE;
  waits->graph = from->graph;
  waits->capture = from->capture;
  waits->is_origin = false;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

EMU_EXPORT CUresult cuStreamBeginCapture_v2(CUstream handle, int mode) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  CUstream stream = resolve(handle);
  if (stream == &legacy || stream->graph)
    return EMU_CAPTURE_REFUSED;
  CUgraph graph = calloc(1, sizeof(*graph));
  if (!graph)
    return CUDA_ERROR_OUT_OF_MEMORY;
  graph->references = 1;
  graph->last = &graph->first;
  stream->graph = graph;
  stream->capture = ++captures;
  stream->is_origin = true;
  stream->mode = mode;
  global_captures += mode == 0;
  return CUDA_SUCCESS;
}

/// Gives back what is destroyed with the last reference; the caller calls back
/// for the objects when it does not hold the lock.
static user_object *release(CUgraph graph) {
  if (--graph->references > 0)
    return NULL;
  user_object *objects = graph->objects;
  while (graph->first) {
    emu_work *next = graph->first->next;
    emu_free_work(graph->first);
    graph->first = next;
  }
  free(graph);
  return objects;
}

static void destroy_objects(user_object *objects) {
  while (objects) {
    user_object *next = objects->next;
    objects->destroy(objects->user);
    free(objects);
    objects = next;
  }
}

static CUresult end_capture(CUstream handle, CUgraph *graph,
                            user_object **objects) {
  EMU_LOCKED;
  *graph = NULL;
  CUstream stream = resolve(handle);
  CUgraph made = stream->graph;
  if (!made || !stream->is_origin)
    return EMU_INVALID_VALUE;
  global_captures -= stream->mode == 0;
  for (CUstream s = streams; s; s = s->next)
    if (s->graph == made)
      s->graph = NULL;
  if (made->is_invalid) {
    *objects = release(made);
    return EMU_CAPTURE_INVALID;
  }
  *graph = made;
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  user_object *objects = NULL;
  CUresult result = end_capture(stream, graph, &objects);
  destroy_objects(objects);
  return result;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int *status, uint64_t *id,
                                   CUgraph *graph,
                                   const CUgraphNode **dependencies,
                                   size_t *count) {
  (void)dependencies, (void)count;
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  CUstream asked = resolve(stream);
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (!asked->graph)
    return CUDA_SUCCESS;
  *status = asked->graph->is_invalid ? 2 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (id)
    *id = asked->capture;
  if (graph)
    *graph = asked->graph;
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
  int before = capture_mode;
  capture_mode = *mode;
  *mode = before;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

CUresult cuUserObjectCreate(CUuserObject *object, void *user,
                            void (*destroy)(void *user), unsigned count,
                            unsigned flags) {
  EMU_LOCKED;
  if (count != 1 || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
    return EMU_INVALID_VALUE;
  *object = malloc(sizeof(**object));
  if (!*object)
    return CUDA_ERROR_OUT_OF_MEMORY;
  **object = (user_object){NULL, user, destroy};
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  if (count != 1)
    return EMU_INVALID_VALUE;
  destroy_objects(object);
  return CUDA_SUCCESS;
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object,
                                 unsigned count, unsigned flags) {
  EMU_LOCKED;
  if (count != 1 || flags != CU_GRAPH_USER_OBJECT_MOVE)
    return EMU_INVALID_VALUE;
  object->next = graph->objects;
  graph->objects = object;
  return CUDA_SUCCESS;
}

/// An instantiated graph is the graph itself, which nothing changes any more.
EMU_EXPORT CUresult cuGraphInstantiateWithFlags(void **made, CUgraph graph,
                                                unsigned long long flags) {
  (void)flags;
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  ++graph->references;
  *made = graph;
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuGraphLaunch(void *instance, CUstream stream) {
  EMU_LOCKED;
  CUgraph graph = instance;
  EMU_CHECK(emu_check_context());
  if (resolve(stream)->graph)
    return EMU_NOT_SUPPORTED;
  for (emu_work *work = graph->first; work; work = work->next)
    EMU_CHECK(emu_do(work));
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuGraphDestroy(CUgraph graph) {
  user_object *objects;
  {
    EMU_LOCKED;
    objects = release(graph);
  }
  destroy_objects(objects);
  return CUDA_SUCCESS;
}

EMU_EXPORT CUresult cuGraphExecDestroy(void *instance) {
  return cuGraphDestroy(instance);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  (void)flags;
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  *event = calloc(1, sizeof(**event));
  return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuEventDestroy_v2(CUevent event) {
  EMU_LOCKED;
  free(event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  CUstream asked = resolve(stream);
  event->is_recorded = true;
  event->captured = asked->graph ? asked : NULL;
  event->capture = asked->capture;
  return CUDA_SUCCESS;
}

static CUresult done(CUevent event) {
  EMU_LOCKED;
  EMU_CHECK(emu_check_context());
  EMU_CHECK(emu_check_capture());
  return event->captured ? EMU_CAPTURE_REFUSED : CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) { return done(event); }

CUresult cuEventSynchronize(CUevent event) { return done(event); }
