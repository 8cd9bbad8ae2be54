//===- CudaDeviceCheck.c - The runtime on a real device -------------------===//
//
// What the tests over the fake driver cannot tell: that the real one takes what
// the runtime asks of it. Run by hand, or by tools/check-gpu.sh, on a machine
// with a GPU; prints a line for each check and exits with 1 if one failed.
//
//===----------------------------------------------------------------------===//

#include "Cuda/CudaDriver.h"

#include "pit-runtime/Abi.h"
#include "pit-runtime/Runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/// y[i] = x[i] + s for i < n, for any grid.
static const char add_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .shared .align 16 .b8 room[];\n"
    ".visible .entry add(.param .u64 py, .param .u64 px, .param .f32 ps,\n"
    "                    .param .u64 pn)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<12>; .reg .f32 %f<4>;\n"
    "  ld.param.u64 %d1, [py]; ld.param.u64 %d2, [px];\n"
    "  ld.param.f32 %f1, [ps]; ld.param.u64 %d3, [pn];\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "  mad.lo.s32 %r4, %r1, %r2, %r3;\n"
    "  mov.u32 %r5, %nctaid.x; mul.lo.s32 %r6, %r5, %r2;\n"
    "  cvt.u64.u32 %d4, %r4; cvt.u64.u32 %d5, %r6;\n"
    "LOOP:\n"
    "  setp.ge.u64 %p1, %d4, %d3;\n"
    "  @%p1 bra DONE;\n"
    "  shl.b64 %d6, %d4, 2; add.u64 %d7, %d2, %d6; add.u64 %d8, %d1, %d6;\n"
    "  ld.global.f32 %f2, [%d7]; add.f32 %f3, %f2, %f1;\n"
    "  st.global.f32 [%d8], %f3;\n"
    "  add.u64 %d4, %d4, %d5;\n"
    "  bra LOOP;\n"
    "DONE:\n"
    "  ret;\n"
    "}\n"
    // y[b] = c for b < c, the blocks along y.
    ".visible .entry split(.param .u64 py)\n"
    "{\n"
    "  .reg .b32 %r<3>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [py]; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.y;\n"
    "  mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;\n"
    "  st.global.u32 [%d3], %r2;\n"
    "  ret;\n"
    "}\n";

/// Writes to an address that is not there.
static const char fault_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry fault()\n{\n  .reg .b64 %d<2>; .reg .b32 %r<2>;\n"
    "  mov.u64 %d1, 64; mov.u32 %r1, 1; st.global.u32 [%d1], %r1;\n  ret;\n}\n";

static const char broken_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k()\n{\n  no.such.instruction;\n  ret;\n}\n";

enum { N = 1 << 20, BYTES = N * 4 };

static const pit_manifest no_args = {.version = PIT_MANIFEST_WORD0,
                                     .device = kDLCUDA};

/// What only this program needs of the driver.
typedef struct extra {
  CUresult (*begin_capture)(CUstream, int mode);
  CUresult (*end_capture)(CUstream, CUgraph *);
  CUresult (*instantiate)(void **exec, CUgraph, unsigned long long flags);
  CUresult (*launch)(void *exec, CUstream);
  CUresult (*destroy_exec)(void *exec);
  CUresult (*destroy_graph)(CUgraph);
  CUresult (*to_host)(void *to, CUdeviceptr from, size_t bytes);
  CUresult (*current)(CUcontext *);
  CUresult (*sync)(void);
} extra;

static pit_cuda_driver cuda;
static extra more;
static pit_context *context;
static int failures;

static void say(bool good, const char *what, const char *detail) {
  printf("%s  %s%s%s\n", good ? "ok  " : "FAIL", what, detail[0] ? ": " : "",
         detail);
  fflush(stdout);
  failures += !good;
}

static void must(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS)
    return;
  say(false, what, pit_cuda_error(&cuda, result));
  exit(1);
}

static const char *message(void) {
  static char text[512];
  pit_context_message(context, text, sizeof(text));
  return text;
}

static pit_status make_context(int32_t device, const char *folder, char *text) {
  pit_context_options options = {.device_type = kDLCUDA,
                                 .device_id = device,
                                 .cache_folder = folder,
                                 .message = text,
                                 .message_size = 512};
  return pit_context_create(&options, &context);
}

static void find(const char *symbol, void *pointer) {
  void *address = dlsym(cuda.library, symbol);
  if (!address) {
    say(false, symbol, "the driver has no such function");
    exit(1);
  }
  memcpy(pointer, &address, sizeof(address));
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// y = ((x + 1) + 2) + 4 by way of two pieces of scratch and a copy; returns a
/// piece of scratch.
static void *call(CUstream stream, CUdeviceptr y, CUdeviceptr x,
                  pit_status *status) {
  const pit_image image = {add_ptx, sizeof(add_ptx)};
  pit_frame *frame;
  void *a = NULL, *b = NULL;
  *status = pit_rt_enter(context, &no_args, NULL, NULL, stream, NULL, &frame);
  if (*status != PIT_OK)
    return NULL;
  *status = pit_rt_alloc(frame, BYTES, &a);
  if (*status == PIT_OK)
    *status = pit_rt_alloc(frame, BYTES, &b);
  uint64_t n = N;
  float one = 1, two = 2, four = 4;
  void *first[] = {&a, &x, &one, &n}, *second[] = {&b, &a, &two, &n},
       *third[] = {&y, &a, &four, &n};
  int64_t blocks = 2L * pit_rt_multiprocessors(frame);
#define LAUNCH(params, shared)                                                 \
  if (*status == PIT_OK)                                                       \
  *status =                                                                    \
      pit_rt_launch(frame, &(pit_kernel){&image, "add", 256, shared, 0, 0},    \
                    blocks, 1, params)
  LAUNCH(first, 0);
  LAUNCH(second, 100000);
  if (*status == PIT_OK)
    *status = pit_rt_copy(frame, a, b, BYTES);
  LAUNCH(third, 0);
  *status = (pit_status)pit_rt_leave(frame, *status);
  return a;
}

static float *host;

/// True if y is x + 7, x being 0, 1, 2, ...
static bool right(CUdeviceptr y) {
  must(more.sync(), "cuCtxSynchronize");
  must(more.to_host(host, y, BYTES), "cuMemcpyDtoH");
  for (int i = 0; i < N; ++i)
    if (host[i] != (float)i + 7)
      return false;
  return true;
}

static void clear(CUdeviceptr y) {
  must(cuda.MemsetD32Async(y, 0, N, NULL), "cuMemsetD32Async");
  must(more.sync(), "cuCtxSynchronize");
}

static void check_call(const char *what, CUstream stream, CUdeviceptr y,
                       CUdeviceptr x) {
  pit_status status;
  clear(y);
  call(stream, y, x, &status);
  say(status == PIT_OK && right(y), what, status == PIT_OK ? "" : message());
}

/// Captures a call, launches the graph twice with another call between, ends
/// it; returns the scratch that the graph uses.
static void *check_capture(const char *what, CUstream stream, int mode,
                           CUdeviceptr y, CUdeviceptr x) {
  pit_status status;
  CUgraph graph = NULL;
  void *exec = NULL;
  must(more.begin_capture(stream, mode), "cuStreamBeginCapture");
  void *scratch = call(stream, y, x, &status), *second = NULL;
  if (status == PIT_OK)
    second = call(stream, y, x, &status);
  CUresult ended = more.end_capture(stream, &graph);
  if (status != PIT_OK || ended != CUDA_SUCCESS) {
    say(false, what,
        status != PIT_OK ? message() : pit_cuda_error(&cuda, ended));
    return NULL;
  }
  must(more.instantiate(&exec, graph, 0), "cuGraphInstantiateWithFlags");
  bool good = scratch == second;
  for (int i = 0; i < 2; ++i) {
    clear(y);
    must(more.launch(exec, stream), "cuGraphLaunch");
    good = right(y) && good;
    clear(y);
    good = call(stream, y, x, &status) != scratch && good;
    good = status == PIT_OK && right(y) && good;
  }
  must(more.destroy_exec(exec), "cuGraphExecDestroy");
  must(more.destroy_graph(graph), "cuGraphDestroy");
  must(more.sync(), "cuCtxSynchronize");
  say(good, what, "");
  return scratch;
}

/// The driver calls back, on a thread of its own, when a graph is gone.
static bool is_reused(void *scratch, CUdeviceptr y, CUdeviceptr x) {
  for (int tries = 0; tries < 50; ++tries) {
    pit_status status;
    CUgraph graph = NULL;
    CUstream stream;
    must(cuda.StreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    bool found = call(stream, y, x, &status) == scratch;
    must(more.sync(), "cuCtxSynchronize");
    // A frame of its own for each try, so that all are seen.
    must(more.begin_capture(stream, 0), "cuStreamBeginCapture");
    found = call(stream, y, x, &status) == scratch || found;
    must(more.end_capture(stream, &graph), "cuStreamEndCapture");
    if (found)
      return true;
    usleep(10000);
  }
  return false;
}

typedef struct other_thread {
  CUdeviceptr y, x;
  CUcontext primary;
  CUstream stream;
  bool good;
} other_thread;

static void *run_other(void *argument) {
  other_thread *other = argument;
  must(cuda.CtxPushCurrent(other->primary), "cuCtxPushCurrent");
  pit_status status;
  for (int i = 0; i < 3; ++i) {
    call(other->stream, other->y, other->x, &status);
    other->good = status == PIT_OK && (i == 0 || other->good);
  }
  return NULL;
}

/// While this thread captures in the strictest mode, another one's first calls
/// allocate.
static void check_other_thread(CUstream stream, CUdeviceptr y, CUdeviceptr x,
                               CUcontext primary) {
  CUdeviceptr z;
  must(cuda.MemAlloc(&z, BYTES), "cuMemAlloc");
  other_thread other = {z, x, primary, NULL, false};
  must(cuda.StreamCreate(&other.stream, CU_STREAM_NON_BLOCKING),
       "cuStreamCreate");
  CUgraph graph = NULL;
  pthread_t thread;
  pit_status status;
  must(more.begin_capture(stream, 0), "cuStreamBeginCapture");
  pthread_create(&thread, NULL, run_other, &other);
  pthread_join(thread, NULL);
  call(stream, y, x, &status);
  CUresult ended = more.end_capture(stream, &graph);
  say(other.good && status == PIT_OK && ended == CUDA_SUCCESS,
      "another thread's calls while this one captures",
      other.good && status == PIT_OK ? "" : message());
  if (graph)
    must(more.destroy_graph(graph), "cuGraphDestroy");
  say(right(z), "... computed what they should", "");
}

/// More blocks along y than a device can have are cut.
static void check_split(CUstream stream, CUdeviceptr y) {
  const pit_image image = {add_ptx, sizeof(add_ptx)};
  void *params[] = {&y};
  for (int32_t split = 3; split <= 100000; split += 99997) {
    pit_frame *frame;
    clear(y);
    if (pit_rt_enter(context, &no_args, NULL, NULL, stream, NULL, &frame))
      return say(false, "enter", message());
    int32_t status = pit_rt_leave(
        frame, pit_rt_launch(frame, &(pit_kernel){&image, "split", 32, 0, 0, 0},
                             2, split, params));
    must(more.sync(), "cuCtxSynchronize");
    must(more.to_host(host, y, BYTES), "cuMemcpyDtoH");
    int32_t wanted = split < 65535 ? split : 65535;
    bool good = status == PIT_OK;
    for (int32_t i = 0; i < N; ++i) {
      int32_t found;
      memcpy(&found, &host[i], sizeof(found));
      good &= found == (i < wanted ? wanted : 0);
    }
    say(good, "blocks along y", status ? message() : "");
  }
}

static void check_error(const char *what, int32_t status, pit_status wanted,
                        const char *part) {
  say(status == (int32_t)wanted && strstr(message(), part), what, message());
}

static void check_errors(void) {
  pit_frame *frame;
  void *memory;
  const pit_image good = {add_ptx, sizeof(add_ptx)};
  const pit_image broken = {broken_ptx, sizeof(broken_ptx)};
  if (pit_rt_enter(context, &no_args, NULL, NULL, NULL, NULL, &frame))
    return say(false, "enter", message());
  check_error("too much memory", pit_rt_alloc(frame, INT64_C(1) << 42, &memory),
              PIT_ERROR_OUT_OF_MEMORY, "are free");
  check_error("broken PTX",
              pit_rt_launch(frame, &(pit_kernel){&broken, "k", 32, 0, 0, 0}, 1,
                            1, NULL),
              PIT_ERROR_LOAD, "does not load");
  check_error(
      "no such kernel",
      pit_rt_launch(frame, &(pit_kernel){&good, "k", 32, 0, 0, 0}, 1, 1, NULL),
      PIT_ERROR_LOAD, "has no kernel 'k'");
  check_error("too much shared memory",
              pit_rt_launch(frame,
                            &(pit_kernel){&good, "add", 32, 1 << 20, 0, 0}, 1,
                            1, NULL),
              PIT_ERROR_DEVICE, "bytes of shared memory");
  pit_rt_leave(frame, 0);
}

static void check_tensor_map(CUdeviceptr x) {
  _Alignas(64) char map[128] = {0};
  const pit_tensor_map form = {.dtype = {PIT_DTYPE_FLOAT, 32, 1},
                               .rank = 2,
                               .swizzle = 128,
                               .l2_promotion = 128,
                               .box = {64, 32}};
  const pit_view view = {(const void *)(uintptr_t)x, {1024, 1024}, {1024, 1}};
  pit_frame *frame;
  if (pit_rt_enter(context, &no_args, NULL, NULL, NULL, NULL, &frame))
    return say(false, "enter", message());
  int32_t status = pit_rt_tensor_map(frame, map, &form, &view);
  bool written = false;
  for (size_t i = 0; i < sizeof(map); ++i)
    written |= map[i] != 0;
  pit_device_info info;
  if (pit_device_query(context, &info) == PIT_OK && info.capability < 90)
    check_error("no TMA descriptor", status, PIT_ERROR_DEVICE, "TMA needs");
  else
    say(status == PIT_OK && written, "TMA descriptor", status ? message() : "");
  pit_rt_leave(frame, 0);
}

/// The runtime's own memory, copies and streams: a call on data of the host,
/// which only the stream keeps in order.
static void check_device(void) {
  pit_device_info info;
  char text[256] = "";
  if (pit_device_query(context, &info) == PIT_OK)
    snprintf(text, sizeof(text), "%s, capability %d, %d multiprocessors",
             info.name, info.capability, info.multiprocessors);
  say(text[0] != '\0', "device", text);
  check_error("too much device memory",
              pit_device_alloc(context, INT64_C(1) << 42, &(void *){NULL}),
              PIT_ERROR_OUT_OF_MEMORY, "are free");
  pit_stream stream;
  void *x = NULL, *y = NULL;
  pit_status status = pit_stream_create(context, &stream);
  if (status == PIT_OK)
    status = pit_device_alloc(context, BYTES, &x);
  if (status == PIT_OK)
    status = pit_device_alloc(context, BYTES, &y);
  bool good = status == PIT_OK;
  // A copy that did not wait would see the next round's numbers.
  for (int round = 0; good && round < 20; ++round) {
    for (int i = 0; i < N; ++i)
      host[i] = (float)(i + round);
    status = pit_device_write(context, x, host, BYTES, stream);
    memset(host, 0, BYTES);
    if (status == PIT_OK)
      call(stream, (CUdeviceptr)(uintptr_t)y, (CUdeviceptr)(uintptr_t)x,
           &status);
    if (status == PIT_OK)
      status = pit_device_read(context, host, y, BYTES, stream);
    good = status == PIT_OK;
    for (int i = 0; good && i < N; ++i)
      good = host[i] == (float)(i + round) + 7;
  }
  say(good, "copies from and to the host", status ? message() : "");
  good = pit_stream_wait(context, stream) == PIT_OK &&
         pit_device_free(context, x) == PIT_OK &&
         pit_device_free(context, y) == PIT_OK &&
         pit_stream_destroy(context, stream) == PIT_OK;
  say(good, "memory and stream given back", good ? "" : message());
}

static void measure(CUstream stream, CUdeviceptr y, CUdeviceptr x) {
  enum { ROUNDS = 5000 };
  pit_frame *frame;
  const pit_image image = {add_ptx, sizeof(add_ptx)};
  uint64_t n = 1;
  float one = 1;
  void *params[] = {&y, &x, &one, &n};
  char text[128];
  double best[2] = {1, 1};
  for (int kind = 0; kind < 2; ++kind)
    for (int repeat = 0; repeat < 5; ++repeat) {
      double start = seconds();
      for (int i = 0; i < ROUNDS; ++i) {
        if (pit_rt_enter(context, &no_args, NULL, NULL, stream, NULL, &frame))
          return say(false, "enter", message());
        if (kind)
          pit_rt_launch(frame, &(pit_kernel){&image, "add", 32, 0, 0, 0}, 1, 1,
                        params);
        pit_rt_leave(frame, 0);
      }
      double took = (seconds() - start) / ROUNDS;
      must(more.sync(), "cuCtxSynchronize");
      if (took < best[kind])
        best[kind] = took;
    }
  snprintf(text, sizeof(text), "%.2f us, with a kernel %.2f us", 1e6 * best[0],
           1e6 * best[1]);
  say(true, "host time of a call", text);
}

/// In a process of its own: after a fault nothing works any more.
static int fault(void) {
  char text[512];
  if (make_context(0, "", text))
    return 1;
  const pit_image image = {fault_ptx, sizeof(fault_ptx)};
  int32_t status = PIT_OK;
  for (int i = 0; i < 100 && status == PIT_OK; ++i) {
    pit_frame *frame;
    status = pit_rt_enter(context, &no_args, NULL, NULL, NULL, NULL, &frame);
    if (status == PIT_OK)
      status = pit_rt_leave(
          frame,
          pit_rt_launch(frame, &(pit_kernel){&image, "fault", 1, 0, 0, 0}, 1, 1,
                        NULL));
    usleep(10000);
  }
  say(status == PIT_ERROR_DRIVER, "a fault on the device", message());
  pit_context_destroy(context);
  return failures;
}

int main(int argc, char **argv) {
  char text[512] = "", folder[] = "/tmp/pit-device-check-XXXXXX";
  if (argc > 1 && strcmp(argv[1], "--fault") == 0)
    return fault();
  if (pit_cuda_driver_open(&cuda, NULL, text) != 0 || !mkdtemp(folder)) {
    say(false, "open the driver", text);
    return 1;
  }
  find("cuStreamBeginCapture_v2", &more.begin_capture);
  find("cuStreamEndCapture", &more.end_capture);
  find("cuGraphInstantiateWithFlags", &more.instantiate);
  find("cuGraphLaunch", &more.launch);
  find("cuGraphExecDestroy", &more.destroy_exec);
  find("cuGraphDestroy", &more.destroy_graph);
  find("cuMemcpyDtoH_v2", &more.to_host);
  find("cuCtxGetCurrent", &more.current);
  find("cuCtxSynchronize", &more.sync);

  say(make_context(99, folder, text) == PIT_ERROR_DEVICE, "device 99", text);
  double start = seconds();
  if (make_context(0, folder, text)) {
    say(false, "make a context", text);
    return 1;
  }
  snprintf(text, sizeof(text), "%.0f ms", 1e3 * (seconds() - start));
  say(true, "make a context", text);
  CUcontext current = NULL, primary;
  must(more.current(&current), "cuCtxGetCurrent");
  say(!current, "the thread's context is as it was", "");
  CUdevice device;
  must(cuda.DeviceGet(&device, 0), "cuDeviceGet");
  must(cuda.DevicePrimaryCtxRetain(&primary, device), "retain");
  must(cuda.CtxPushCurrent(primary), "cuCtxPushCurrent");

  host = malloc(BYTES);
  for (int i = 0; i < N; ++i)
    host[i] = (float)i;
  CUdeviceptr x, y;
  CUstream a, b;
  must(cuda.MemAlloc(&x, BYTES), "cuMemAlloc");
  must(cuda.MemAlloc(&y, BYTES), "cuMemAlloc");
  must(cuda.MemcpyHtoD(x, host, BYTES), "cuMemcpyHtoD");
  must(cuda.StreamCreate(&a, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  must(cuda.StreamCreate(&b, CU_STREAM_NON_BLOCKING), "cuStreamCreate");

  // The very first call, captured: it compiles, loads and allocates.
  check_capture("capture without a call before it", a, 0, y, x);
  start = seconds();
  check_call("a call", a, y, x);
  check_call("a call on another stream", b, y, x);
  check_call("a call on the default stream", NULL, y, x);
  check_call("a call on the thread's default stream", (CUstream)2, y, x);
  check_capture("capture, global mode", a, 0, y, x);
  check_capture("capture, thread's mode", a, 1, y, x);
  check_capture("capture, the thread's default stream", (CUstream)2, 1, y, x);
  void *scratch = check_capture("capture, relaxed mode", b, 2, y, x);
  say(is_reused(scratch, y, x), "a graph's memory is used after its end", "");
  check_other_thread(a, y, x, primary);
  check_split(a, y);
  check_errors();
  check_tensor_map(x);
  check_device();
  measure(a, y, x);

  pit_context_destroy(context);
  start = seconds();
  if (make_context(0, folder, text) == PIT_OK)
    check_call("a call with a cubin from the cache", a, y, x);
  else
    say(false, "make a second context", text);
  snprintf(text, sizeof(text), "ls -l %s", folder);
  if (system(text) != 0)
    say(false, "look into the cache", folder);
  snprintf(text, sizeof(text), "test $(ls %s/*.cubin | wc -l) = 1", folder);
  say(system(text) == 0, "one cubin in the cache", folder);
  pit_context_destroy(context);
  must(more.current(&current), "cuCtxGetCurrent");
  say(current == primary, "the thread's context is as it was", "");

  pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", argv[0], "--fault", (char *)NULL);
    _exit(1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  failures += status != 0;
  printf("%d failures\n", failures);
  return failures != 0;
}
