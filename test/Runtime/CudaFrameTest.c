//===- CudaFrameTest.c - Memory of calls on a device ----------------------===//

#include "CudaFixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *alloc(cuda_fixture *f, pit_frame *frame, int64_t bytes) {
  void *memory = NULL;
  assert_ok(f->context, pit_rt_alloc(frame, bytes, &memory));
  assert_int_equal((uintptr_t)memory % 256, 0);
  memset(memory, 1, (size_t)bytes);
  return memory;
}

/// A call that allocates; returns what it got.
static void *call(cuda_fixture *f, void *stream) {
  int depth = f->depth();
  pit_frame *frame = cuda_enter(f, stream);
  assert_int_equal(f->depth(), depth + 1);
  void *memory = alloc(f, frame, 5000);
  assert_int_equal(pit_rt_leave(frame, 0), 0);
  assert_int_equal(f->depth(), depth);
  return memory;
}

static void test_alloc(void **state) {
  cuda_fixture *f = *state;
  enum { COUNT = 40 };
  char *pieces[COUNT];
  int before = 0;
  for (int round = 0; round < 5; ++round) {
    pit_frame *frame = cuda_enter(f, NULL);
    for (int i = 0; i < COUNT; ++i) {
      int64_t bytes = i % 7 == 3 ? 3000000 : i * 997L;
      char *piece = alloc(f, frame, bytes);
      assert_true(round == 0 || piece == pieces[i]);
      for (int j = 0; j < i; ++j)
        assert_true(piece + bytes <= pieces[j] || piece > pieces[j]);
      pieces[i] = piece;
    }
    assert_int_equal(pit_rt_leave(frame, 7), 7);
    if (round == 0)
      before = f->fake->allocations;
  }
  // After the first call nothing is allocated.
  assert_true(before > 0 && before < COUNT);
  assert_int_equal(f->fake->allocations, before);
  assert_int_equal(f->fake->frees, 0);
}

static void test_alloc_errors(void **state) {
  cuda_fixture *f = *state;
  pit_frame *frame = cuda_enter(f, NULL);
  void *memory = f;
  f->fake->memory = 1 << 26;
  check_error(f->context, pit_rt_alloc(frame, -1, &memory),
              PIT_ERROR_INVALID_ARGUMENT,
              "scratch of -1 bytes; it must not be negative");
  assert_null(memory);
  assert_ok(f->context, pit_rt_alloc(frame, 1 << 26, &memory));
  check_error(f->context, pit_rt_alloc(frame, 4096, &memory),
              PIT_ERROR_OUT_OF_MEMORY,
              "cuda: out of memory on device 0 (Fake 0): 4096 bytes were asked "
              "for; 0 of 67108864 are free");
  cuda_fail(f, "cuMemGetInfo_v2", 1, 0, 1);
  check_error(f->context, pit_rt_alloc(frame, INT64_MAX, &memory),
              PIT_ERROR_OUT_OF_MEMORY, "bytes were asked for");
  cuda_fail(f, "cuMemAlloc_v2", 719, 0, 1);
  check_error(f->context, pit_rt_alloc(frame, 4096, &memory), PIT_ERROR_DRIVER,
              "cuda: cuMemAlloc failed on device 0 (Fake 0): fake error (error "
              "719)");
  pit_rt_leave(frame, 0);
}

/// Where there is no room for more than was asked for, that is enough.
static void test_tight(void **state) {
  cuda_fixture *f = *state;
  f->fake->memory = 4096;
  pit_frame *frame = cuda_enter(f, NULL);
  alloc(f, frame, 4096);
  pit_rt_leave(frame, 0);
  assert_int_equal(f->fake->allocated, 4096);
}

static int32_t call_of_size(cuda_fixture *f, void *stream, int64_t bytes) {
  pit_frame *frame = cuda_enter(f, stream);
  void *memory;
  return pit_rt_leave(frame, pit_rt_alloc(frame, bytes, &memory));
}

/// Before a call fails, what is kept for later calls is given up, but nothing
/// that work or a graph may use.
static void test_trim(void **state) {
  cuda_fixture *f = *state;
  const int64_t mib = 1 << 20;
  f->fake->memory = (size_t)64 * mib;
  void *a = f->stream(), *b = f->stream(), *c = f->stream();
  // A block that is too small for this call.
  assert_ok(f->context, call_of_size(f, a, 40 * mib));
  assert_ok(f->context, call_of_size(f, a, 50 * mib));
  assert_int_equal(f->fake->frees, 1);
  // Another stream's, while it is in use and afterwards.
  f->fake->events_pending = 1;
  check_error(f->context, call_of_size(f, b, 30 * mib), PIT_ERROR_OUT_OF_MEMORY,
              "31457280 bytes were asked for");
  f->fake->events_pending = 0;
  assert_ok(f->context, call_of_size(f, b, 30 * mib));
  assert_int_equal(f->fake->frees, 2);
  // Never a graph's, neither from outside nor from within the capture.
  assert_ok(f->context, call_of_size(f, b, 50 * mib));
  void *graph = f->capture(c);
  assert_ok(f->context, call_of_size(f, c, 40 * mib));
  int frees = f->fake->frees;
  check_error(f->context, call_of_size(f, c, 60 * mib), PIT_ERROR_OUT_OF_MEMORY,
              "62914560 bytes were asked for");
  f->end_capture(c);
  check_error(f->context, call_of_size(f, a, 50 * mib), PIT_ERROR_OUT_OF_MEMORY,
              "52428800 bytes were asked for");
  assert_int_equal(f->fake->frees, frees);
  f->destroy_graph(graph);
  assert_ok(f->context, call_of_size(f, a, 50 * mib));
}

static void test_streams(void **state) {
  cuda_fixture *f = *state;
  f->fake->events_pending = 1;
  void *a = f->stream(), *b = f->stream();
  void *of_a = call(f, a), *of_b = call(f, b), *of_default = call(f, NULL);
  assert_ptr_not_equal(of_a, of_b);
  assert_ptr_not_equal(of_a, of_default);
  assert_ptr_not_equal(of_b, of_default);
  int before = f->fake->allocations;
  for (int round = 0; round < 3; ++round) {
    assert_ptr_equal(call(f, a), of_a);
    assert_ptr_equal(call(f, b), of_b);
    assert_ptr_equal(call(f, NULL), of_default);
  }
  // Two calls at once on a stream.
  pit_frame *outer = cuda_enter(f, a);
  void *first = alloc(f, outer, 5000), *second = call(f, a);
  assert_ptr_equal(first, of_a);
  assert_ptr_not_equal(second, of_a);
  pit_rt_leave(outer, 0);
  assert_int_equal(f->fake->allocations, before + 1);

  // The handle is another stream's now, while the first one's work may still
  // run.
  f->renew_stream(a);
  void *of_new = call(f, a);
  assert_true(of_new != of_a && of_new != second && of_new != of_b);
  assert_int_equal(f->fake->allocations, before + 2);

  // Once work is done, any stream may have the memory.
  f->fake->events_pending = 0;
  void *c = f->stream();
  call(f, c);
  assert_int_equal(f->fake->allocations, before + 2);
  assert_int_equal(f->fake->frees, 0);
}

/// Without its event nobody knows when a frame's work is done.
static void test_record_fails(void **state) {
  cuda_fixture *f = *state;
  void *a = f->stream();
  pit_frame *frame = cuda_enter(f, a);
  void *memory = alloc(f, frame, 5000);
  cuda_fail(f, "cuEventRecord", 719, 0, 1);
  check_error(f->context, pit_rt_leave(frame, 0), PIT_ERROR_DRIVER,
              "cuda: cuEventRecord failed on device 0");
  assert_ptr_not_equal(call(f, f->stream()), memory);
  assert_ptr_equal(call(f, a), memory);
  // A call's own error is not covered by that.
  frame = cuda_enter(f, a);
  cuda_fail(f, "cuEventRecord", 719, 0, 1);
  assert_int_equal(pit_rt_leave(frame, PIT_ERROR_SHAPE), PIT_ERROR_SHAPE);
}

static void test_enter_fails(void **state) {
  cuda_fixture *f = *state;
  static const struct {
    const char *function, *named;
  } cases[] = {
      {"cuCtxPushCurrent_v2", "cuCtxPushCurrent"},
      {"cuStreamGetCaptureInfo_v2", "cuStreamGetCaptureInfo"},
      {"cuStreamGetId", "cuStreamGetId"},
      {"cuEventCreate", "cuEventCreate"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); ++i) {
    cuda_fail(f, cases[i].function, 719, 0, 1);
    pit_frame *frame = NULL;
    char part[64];
    snprintf(part, sizeof(part), "cuda: %s failed on device 0", cases[i].named);
    check_error(
        f->context,
        pit_rt_enter(f->context, cuda_no_args, NULL, NULL, NULL, NULL, &frame),
        PIT_ERROR_DRIVER, part);
    assert_null(frame);
    assert_int_equal(f->depth(), 0);
  }
  call(f, NULL);
}

static void test_capture(void **state) {
  cuda_fixture *f = *state;
  void *a = f->stream(), *b = f->stream();
  f->fake->events_pending = 1;
  void *warm = call(f, a);
  int recorded = f->fake->events_recorded;
  void *graph = f->capture(a);
  // The warm-up's work may still run beside the graph.
  void *captured = call(f, a);
  assert_ptr_not_equal(captured, warm);
  // In the graph, work on one stream comes in order, on two streams it need
  // not.
  assert_ptr_equal(call(f, a), captured);
  f->join_capture(b, a);
  void *beside = call(f, b);
  assert_ptr_not_equal(beside, captured);
  assert_ptr_equal(call(f, b), beside);
  f->end_capture(a);
  assert_int_equal(f->fake->events_recorded, recorded);
  assert_int_equal(f->fake->user_objects, 2);

  // Neither the stream, nor another, nor another capture gets what the graph
  // uses, however long it is idle.
  f->fake->events_pending = 0;
  void *c = f->stream();
  void *seen[] = {call(f, a), call(f, b), call(f, c), NULL, NULL};
  void *other = f->capture(c);
  seen[3] = call(f, c);
  f->end_capture(c);
  void *third = f->capture(a);
  seen[4] = call(f, a);
  f->end_capture(a);
  for (int i = 0; i < 5; ++i)
    assert_true(seen[i] != captured && seen[i] != beside);

  // After the graph's end it is used again.
  int before = f->fake->allocations;
  f->destroy_graph(graph);
  f->fake->events_pending = 1;
  void *again[3];
  for (int i = 0; i < 3; ++i)
    again[i] = call(f, f->stream());
  assert_int_equal(f->fake->allocations, before + 1);
  assert_true(again[0] == captured || again[0] == beside ||
              again[1] == captured || again[1] == beside);
  f->destroy_graph(other);
  f->destroy_graph(third);
}

typedef struct own_call {
  cuda_fixture *fixture;
  void *captured, *memory;
} own_call;

static void *call_own(void *argument) {
  own_call *own = argument;
  void *stream = NULL;
  uintptr_t handle = 2; // CU_STREAM_PER_THREAD
  memcpy(&stream, &handle, sizeof(stream));
  own->fixture->join_capture(stream, own->captured);
  own->memory = call(own->fixture, stream);
  return NULL;
}

/// The handle of the thread's default stream is that of another stream in each
/// thread.
static void test_capture_of_threads(void **state) {
  cuda_fixture *f = *state;
  void *a = f->stream();
  void *graph = f->capture(a);
  own_call own[2] = {{f, a, NULL}, {f, a, NULL}};
  call_own(&own[0]);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, call_own, &own[1]), 0);
  pthread_join(thread, NULL);
  assert_ptr_not_equal(own[0].memory, own[1].memory);
  void *before = own[0].memory;
  call_own(&own[0]);
  assert_ptr_equal(own[0].memory, before);
  f->end_capture(a);
  f->destroy_graph(graph);
}

/// A capture without a call before it works, and disturbs nobody's capture.
static void test_cold_capture(void **state) {
  cuda_fixture *f = *state;
  void *a = f->stream(), *b = f->stream();
  void *graph = f->capture(a);
  void *captured = call(f, a);
  assert_ptr_not_equal(call(f, b), captured);
  f->end_capture(a);
  f->destroy_graph(graph);
}

static void test_capture_errors(void **state) {
  cuda_fixture *f = *state;
  void *a = f->stream();
  pit_frame *frame = NULL;
#define ENTER()                                                                \
  pit_rt_enter(f->context, cuda_no_args, NULL, NULL, a, NULL, &frame)
  void *graph = f->capture(a);
  cuda_fail(f, "cuUserObjectCreate", 2, 0, 1);
  check_error(f->context, ENTER(), PIT_ERROR_OUT_OF_MEMORY,
              "cuda: cuUserObjectCreate failed");
  cuda_fail(f, "cuGraphRetainUserObject", 719, 0, 1);
  check_error(f->context, ENTER(), PIT_ERROR_DRIVER,
              "cuda: cuGraphRetainUserObject failed");
  call(f, a);
  f->spoil_capture(a);
  check_error(f->context, ENTER(), PIT_ERROR_DRIVER,
              "cuda: the capture of the call's stream has become invalid by an "
              "earlier error");
  f->end_capture(a);
  f->destroy_graph(graph);
  // The frame that was made is still good.
  int before = f->fake->allocations;
  call(f, a);
  assert_int_equal(f->fake->allocations, before);
}

/// A graph may outlive the context whose calls it captured.
static void test_graph_last(void **state) {
  cuda_fixture *f = *state;
  void *a = f->stream();
  void *graph = f->capture(a);
  call(f, a);
  f->end_capture(a);
  // Ending a context does not disturb somebody else's capture.
  void *b = f->stream();
  void *other = f->capture(b);
  pit_context_destroy(f->context);
  f->context = NULL;
  f->end_capture(b);
  f->destroy_graph(other);
  f->destroy_graph(graph);
}

static void test_copy(void **state) {
  cuda_fixture *f = *state;
  pit_frame *frame = cuda_enter(f, NULL);
  char *from = alloc(f, frame, 64), *to = alloc(f, frame, 64);
  memset(from, 7, 64);
  assert_ok(f->context, pit_rt_copy(frame, to, from, 64));
  assert_int_equal(to[63], 7);
  assert_ok(f->context, pit_rt_copy(frame, NULL, NULL, 0));
  assert_int_equal(f->fake->copies, 1);
  cuda_fail(f, "cuMemcpyAsync", 719, 0, 1);
  check_error(f->context, pit_rt_copy(frame, to, from, 64), PIT_ERROR_DRIVER,
              "cuda: cuMemcpyAsync failed");
  assert_int_equal(pit_rt_multiprocessors(frame), 132);
  pit_rt_leave(frame, 0);
}

/// Words that are 0 once, and the same for all calls on a stream.
static void test_counters(void **state) {
  cuda_fixture *f = *state;
  pit_frame *frame = cuda_enter(f, NULL);
  void *counters = f, *again;
  cuda_fail(f, "cuStreamSynchronize", 719, 0, 1);
  check_error(f->context, pit_rt_counters(frame, &counters), PIT_ERROR_DRIVER,
              "cuda: cuStreamSynchronize failed");
  assert_null(counters);
  assert_ok(f->context, pit_rt_counters(frame, &counters));
  uint32_t *words = counters;
  for (int i = 0; i < PIT_COUNTERS; ++i)
    assert_int_equal(words[i], 0);
  words[0] = 1;
  assert_ok(f->context, pit_rt_counters(frame, &again));
  assert_ptr_equal(again, counters);
  pit_rt_leave(frame, 0);
  frame = cuda_enter(f, NULL);
  assert_ok(f->context, pit_rt_counters(frame, &again));
  assert_ptr_equal(again, counters);
  assert_int_equal(words[0], 1);
  assert_int_equal(pit_rt_counters(NULL, &again), PIT_ERROR_INVALID_ARGUMENT);
  pit_rt_leave(frame, 0);
}

/// Passes an index of axis 1, micro-tiles of 2x1.
static int32_t pass_index(cuda_fixture *f, const pit_index *index) {
  // clang-format off
  static const int64_t manifest[] = {
      PIT_MANIFEST_WORD0, 1, 0, 0, kDLCUDA,
      PIT_ARG_INDEX, 2, 1, 2, 1, 2, 1,
      0,
  };
  // clang-format on
  const DLTensor *ins[] = {(const DLTensor *)(const void *)index};
  int64_t views[1];
  pit_frame *frame;
  int32_t status =
      pit_rt_enter(f->context, manifest, ins, NULL, NULL, views, &frame);
  return status == PIT_OK ? pit_rt_leave(frame, PIT_OK) : status;
}

static void test_index_arguments(void **state) {
  cuda_fixture *f = *state;
  struct {
    char copy[512];
    int32_t counts[2];
    int64_t offsets[2];
    int32_t ids[12];
  } device = {0};
  pit_index_spec spec = {.rank = 2,
                         .axis = 1,
                         .shape = {4, 6},
                         .micro_tile = {2, 1},
                         .flags = PIT_INDEX_DEVICE};
  pit_index_arrays arrays = {.counts = device.counts,
                             .offsets = device.offsets,
                             .ids = device.ids,
                             .groups = 2,
                             .capacity = 12};
  pit_index index;
  assert_ok(f->context, pit_index_import(f->context, &spec, &arrays, &index));
  assert_int_equal(index.flags, PIT_INDEX_DEVICE);
  assert_int_equal(index.extent, 12);
  assert_int_equal(index.total, 12);
  assert_int_equal(index.max_count, 6);
  pit_index_stats stats;
  check_error(f->context, pit_index_statistics(f->context, &index, &stats),
              PIT_ERROR_UNSUPPORTED,
              "statistics: the index is in device memory");
  double waste;
  float x[24] = {0};
  int64_t shape[2] = {4, 6};
  DLTensor data = tensor_of(x, PIT_DTYPE_FLOAT, 32, 2, shape);
  check_error(f->context,
              pit_index_waste(f->context, &index, PIT_SOURCE_VALUES, &data,
                              NULL, &waste),
              PIT_ERROR_UNSUPPORTED, "waste: the index is in device memory");

  pit_frame *frame = cuda_enter(f, NULL);
  // One that a builder of the runtime has made knows where its copy is.
  index.device_copy = 512;
  assert_ok(f->context, pass_index(f, &index));
  const pit_index *copy;
  assert_ok(f->context, pit_rt_device_index(frame, &index, &copy));
  assert_ptr_equal(copy, &device);
  index.ids = NULL;
  check_error(f->context, pass_index(f, &index), PIT_ERROR_INVALID_ARGUMENT,
              "argument 0: ids is NULL; it must have 12 elements");
  index.ids = device.ids;
  index.groups = 3;
  check_error(f->context, pass_index(f, &index), PIT_ERROR_SHAPE,
              "argument 0: the index has 3 groups; its group_shape gives 2");
  index.groups = 2;
  index.flags = 0;
  check_error(f->context, pit_rt_device_index(frame, &index, &copy),
              PIT_ERROR_DEVICE,
              "index: its place in device memory was asked for, but its arrays "
              "are in the host's");
  check_error(f->context, pass_index(f, &index), PIT_ERROR_DEVICE,
              "argument 0 is an index with arrays in the memory of the host; "
              "the program runs on a CUDA device");
  pit_rt_leave(frame, 0);

  arrays.counts = NULL;
  check_error(f->context, pit_index_import(f->context, &spec, &arrays, &index),
              PIT_ERROR_INVALID_ARGUMENT,
              "index: counts is NULL; it must have 2 elements");
  pit_context *plain;
  assert_int_equal(pit_context_create(NULL, &plain), PIT_OK);
  check_error(plain, pit_index_import(plain, &spec, &arrays, &index),
              PIT_ERROR_DEVICE,
              "index: the arrays are in device memory, but the context was "
              "made without a device");
  data.device.device_type = kDLCUDA;
  pit_index_builder *builder;
  const pit_index *built;
  assert_ok(plain, pit_index_builder_create(plain, &builder));
  spec.flags = 0;
  check_error(
      plain,
      pit_index_build(builder, &spec, PIT_SOURCE_VALUES, &data, NULL, &built),
      PIT_ERROR_DEVICE,
      "index: data is on a device of type 2; it must be on the CPU");
  pit_index_builder_destroy(builder);
  pit_context_destroy(plain);
  assert_ok(f->context, pit_index_builder_create(f->context, &builder));
  data.device.device_id = 1;
  check_error(
      f->context,
      pit_index_build(builder, &spec, PIT_SOURCE_VALUES, &data, NULL, &built),
      PIT_ERROR_DEVICE, "index: data is on device 1; it must be on device 0");
  pit_index_builder_destroy(builder);
}

/// Memory of a device may be constant; calls there keep nothing of it. A result
/// must not lie in it there, either.
static void test_constant(void **state) {
  cuda_fixture *f = *state;
  static const int64_t layout[] = {1, 1};
  static const int64_t gives[] = {
      PIT_MANIFEST_WORD0, 0, 1, 0, kDLCUDA, 0, PIT_DTYPE_FLOAT | 32 << 8, 1, 2,
      PIT_SHAPE_CONST,    64};
  int64_t shape[] = {64}, views[2];
  pit_constant *constant;
  void *weights, *memory;
  assert_ok(f->context, pit_device_alloc(f->context, 256, &weights));
  DLTensor tensor = cuda_tensor(weights, PIT_DTYPE_FLOAT, 32, 1, shape);
  assert_ok(f->context, pit_constant_create(f->context, &tensor, &constant));
  pit_frame *frame = cuda_enter(f, NULL);
  int32_t found = -1;
  assert_ok(f->context,
            pit_rt_keep(frame, weights, 256, layout, 512, 1, &memory, &found));
  assert_int_equal(found, PIT_KEEP_NONE);
  memset(memory, 1, 512);
  pit_rt_kept(frame, memory);
  pit_rt_leave(frame, 0);
  pit_kept_stats stats;
  pit_context_kept(f->context, &stats);
  assert_int_equal(stats.constants, 1);
  assert_int_equal(stats.pieces, 0);
  assert_int_equal(stats.refused, 0);
  DLTensor *outs[] = {&tensor};
  check_error(f->context,
              pit_rt_enter(f->context, gives, NULL, outs, NULL, views, &frame),
              PIT_ERROR_INVALID_ARGUMENT,
              "result 0 is in memory that is constant");
  pit_constant_destroy(constant);
  pit_device_free(f->context, weights);
}

/// What is on a device is not known to the host.
static void test_choose(void **state) {
  cuda_fixture *f = *state;
  const int64_t desc[] = {
      PIT_DTYPE_FLOAT | 32 << 8, 0, 0, 0, 1, 64, 1, 1, 0, 64, 1, 1};
  const int64_t variants[] = {1, PIT_VARIANT_DENSE};
  const double costs[] = {1, 0, 0};
  pit_frame *frame = cuda_enter(f, NULL);
  const pit_bitmap *bitmap;
  int32_t variant;
  check_error(f->context,
              pit_rt_choose(frame, 0, 0, PIT_SOURCE_VALUES, f, desc, variants,
                            costs, NULL, &bitmap, &variant),
              PIT_ERROR_UNSUPPORTED, "choice: the program runs on a device");
  const pit_bitmap made = {.source = PIT_SOURCE_VALUES, .rank = 1};
  const pit_index *index;
  check_error(f->context,
              pit_rt_build_chosen(frame, PIT_SOURCE_VALUES, f, desc, &made,
                                  NULL, &index),
              PIT_ERROR_INVALID_ARGUMENT,
              "the index is to be of source 0 on a device");
  pit_rt_leave(frame, 0);
}

#ifndef PIT_WITHOUT_DEVICE_CODE
/// An index that a loop builds again takes the memory of the one before.
static void test_rebuild(void **state) {
  cuda_fixture *f = *state;
  enum { ROWS = 4096, COLUMNS = 4096, F32 = PIT_DTYPE_FLOAT | 32 << 8 };
  const int64_t desc[] = {F32, 0, 0,    0,       2,  ROWS, COLUMNS, COLUMNS, 1,
                          2,   1, ROWS, COLUMNS, 32, 1,    32,      1};
  pit_frame *frame = cuda_enter(f, f->stream());
  void *data;
  assert_ok(f->context, pit_rt_alloc(frame, ROWS * COLUMNS * 4L, &data));
  const pit_index *index, *other;
  const void *seen[3] = {0};
  pit_place place = {0};
  for (int i = 0; i < 3; ++i) {
    assert_ok(f->context,
              pit_rt_rebuild_index(frame, 0, data, desc, &place, &index));
    seen[i] = index->ids;
  }
  assert_ptr_equal(seen[1], seen[2]);
  const size_t allocated = f->fake->allocated;
  for (int i = 0; i < 100; ++i)
    assert_ok(f->context,
              pit_rt_rebuild_index(frame, 0, data, desc, &place, &index));
  assert_int_equal(f->fake->allocated, allocated);
  assert_ptr_equal(index->ids, seen[1]);
  // Others have memory of their own.
  for (int i = 0; i < 3; ++i) {
    assert_ok(f->context, pit_rt_build_index(frame, 0, data, desc, &other));
    assert_ptr_not_equal(other->ids, index->ids);
  }
  pit_rt_leave(frame, 0);
}
#endif

int main(void) {
#define TEST(name)                                                             \
  cmocka_unit_test_setup_teardown(name, cuda_set_up, cuda_tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_alloc),
      TEST(test_alloc_errors),
      TEST(test_trim),
      TEST(test_tight),
      TEST(test_streams),
      TEST(test_record_fails),
      TEST(test_enter_fails),
      TEST(test_capture),
      TEST(test_capture_of_threads),
      TEST(test_cold_capture),
      TEST(test_capture_errors),
      TEST(test_graph_last),
      TEST(test_copy),
      TEST(test_counters),
      TEST(test_index_arguments),
      TEST(test_constant),
      TEST(test_choose),
#ifndef PIT_WITHOUT_DEVICE_CODE
      TEST(test_rebuild),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
