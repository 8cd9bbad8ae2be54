//===- FakeCudaStreams.c - Streams, events and graphs of the fake driver --===//

#include "FakeCudaInternal.h"

#include <stdlib.h>

enum { MAX_STREAMS = 64, MAX_OBJECTS = 64 };

struct CUstream_st {
  uint64_t id;
  uint64_t capture; ///< 0: none
  bool spoiled;
  CUgraph graph;
};

typedef struct CUuserObject_st {
  void *user;
  void (*destroy)(void *user);
} user_object;

struct CUgraph_st {
  int count;
  user_object objects[MAX_OBJECTS];
};

struct CUevent_st {
  bool recorded;
};

static struct CUstream_st streams[MAX_STREAMS];
static _Thread_local struct CUstream_st own_stream;
static int used_streams;
static uint64_t ids = 1;

/// What a handle means in this thread; not of the default stream, 0.
static struct CUstream_st *resolve(CUstream handle) {
  if ((uintptr_t)handle != CU_STREAM_PER_THREAD)
    return handle;
  if (!own_stream.id)
    own_stream.id = ++ids;
  return &own_stream;
}

unsigned long long fake_stream_id(CUstream handle) {
  CUstream stream = resolve(handle);
  return stream ? stream->id : 1;
}

void *fake_cuda_stream(void) {
  pthread_mutex_lock(&fake_lock);
  CUstream stream = &streams[used_streams++ % MAX_STREAMS];
  *stream = (struct CUstream_st){.id = ++ids};
  pthread_mutex_unlock(&fake_lock);
  return stream;
}

void fake_cuda_renew_stream(void *stream) { ((CUstream)stream)->id = ++ids; }

void *fake_cuda_capture(void *handle) {
  pthread_mutex_lock(&fake_lock);
  CUstream stream = resolve(handle);
  stream->capture = ++ids;
  stream->graph = calloc(1, sizeof(*stream->graph));
  ++fake_captures;
  pthread_mutex_unlock(&fake_lock);
  return stream->graph;
}

void fake_cuda_join_capture(void *handle, void *other) {
  pthread_mutex_lock(&fake_lock);
  CUstream stream = resolve(handle), from = resolve(other);
  stream->capture = from->capture;
  stream->graph = from->graph;
  pthread_mutex_unlock(&fake_lock);
}

void fake_cuda_end_capture(void *handle) {
  pthread_mutex_lock(&fake_lock);
  const uint64_t capture = resolve(handle)->capture;
  for (int i = 0; i <= MAX_STREAMS; ++i) {
    CUstream stream = i < MAX_STREAMS ? &streams[i] : &own_stream;
    if (stream->capture != capture)
      continue;
    stream->capture = 0;
    stream->spoiled = false;
  }
  --fake_captures;
  pthread_mutex_unlock(&fake_lock);
}

void fake_spoil_captures(void) {
  for (int i = 0; i < MAX_STREAMS; ++i)
    streams[i].spoiled |= streams[i].capture != 0;
}

void fake_cuda_spoil_capture(void *stream) {
  ((CUstream)stream)->spoiled = true;
}

void fake_cuda_destroy_graph(void *handle) {
  CUgraph graph = handle;
  for (int i = 0; i < graph->count; ++i)
    graph->objects[i].destroy(graph->objects[i].user);
  free(graph);
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  (void)flags;
  BEGIN(true, false);
  *stream = fake_cuda_stream();
  fake_count(&fake_shared.streams);
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  (void)stream;
  BEGIN(true, false);
  pthread_mutex_lock(&fake_lock);
  --fake_shared.streams;
  pthread_mutex_unlock(&fake_lock);
  return CUDA_SUCCESS;
}

/// Calls of programs never wait; pit_stream_wait and copies do.
CUresult cuStreamSynchronize(CUstream stream) {
  BEGIN(true, true);
  fake_count(&fake_shared.waits);
  fake_trace("wait for stream %llu", fake_stream_id(stream));
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
  BEGIN(true, false);
  pthread_mutex_lock(&fake_lock);
  // Refused in any mode.
  CUstream asked = resolve(stream);
  bool captured = asked && asked->capture;
  if (captured) {
    ++fake_shared.violations;
    asked->spoiled = true;
  } else {
    *id = fake_stream_id(stream);
  }
  pthread_mutex_unlock(&fake_lock);
  return captured ? REFUSED : CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int *status, uint64_t *id,
                                   CUgraph *graph,
                                   const CUgraphNode **dependencies,
                                   size_t *size) {
  (void)dependencies, (void)size;
  BEGIN(true, false);
  pthread_mutex_lock(&fake_lock);
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUstream asked = resolve(stream);
  if (asked && asked->capture) {
    *status = asked->spoiled ? 2 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    *id = asked->capture;
    *graph = asked->graph;
  }
  pthread_mutex_unlock(&fake_lock);
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
  int before = fake_capture_mode;
  fake_capture_mode = *mode;
  *mode = before;
  return CUDA_SUCCESS;
}

CUresult cuUserObjectCreate(CUuserObject *object, void *user,
                            void (*destroy)(void *user), unsigned references,
                            unsigned flags) {
  BEGIN(false, false);
  if (references != 1 || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
    return INVALID_VALUE;
  *object = malloc(sizeof(**object));
  **object = (user_object){user, destroy};
  fake_count(&fake_shared.user_objects);
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned references) {
  (void)references;
  object->destroy(object->user);
  free(object);
  return CUDA_SUCCESS;
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object,
                                 unsigned references, unsigned flags) {
  BEGIN(false, false);
  if (references != 1 || flags != CU_GRAPH_USER_OBJECT_MOVE ||
      graph->count == MAX_OBJECTS)
    return INVALID_VALUE;
  graph->objects[graph->count++] = *object;
  free(object);
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  (void)flags;
  BEGIN(true, false);
  *event = calloc(1, sizeof(**event));
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  BEGIN(true, false);
  free(event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  (void)stream;
  BEGIN(true, false);
  pthread_mutex_lock(&fake_lock);
  event->recorded = true;
  ++fake_shared.events_recorded;
  pthread_mutex_unlock(&fake_lock);
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  BEGIN(true, true);
  pthread_mutex_lock(&fake_lock);
  CUresult result = !event->recorded             ? INVALID_VALUE
                    : fake_shared.events_pending ? NOT_READY
                                                 : CUDA_SUCCESS;
  pthread_mutex_unlock(&fake_lock);
  return result;
}
