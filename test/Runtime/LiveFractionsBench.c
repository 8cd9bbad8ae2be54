//===- LiveFractionsBench.c - What a scan before a build takes ------------===//
//
//   LiveFractionsBench [THREADS]
//
// For zeros anywhere: reading the values (the floor), the bitmap, the live
// fraction of all candidates that pit_live_fraction_candidates proposes, and
// the index of one of them, from the bitmap and from the values. Least times of
// some runs that take turns; of one thread its own time, which other work on
// the machine does not count in. Not a test: times differ between machines.
//
//===----------------------------------------------------------------------===//

#include "Builds.h"
#include "pit-runtime/Runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 40, MAX_CANDIDATES = 64 };

typedef struct bench {
  const char *dtype;
  uint8_t code, bits;
  int64_t rows, columns;
  double zeros;
} bench;

static const bench benches[] = {
    {"f32", PIT_DTYPE_FLOAT, 32, 4096, 4096, 0.5},
    {"f32", PIT_DTYPE_FLOAT, 32, 4096, 4096, 0.9},
    {"f32", PIT_DTYPE_FLOAT, 32, 4096, 4096, 0.99},
    {"f16", PIT_DTYPE_FLOAT, 16, 4096, 4096, 0.5},
    {"f16", PIT_DTYPE_FLOAT, 16, 4096, 4096, 0.9},
    {"f16", PIT_DTYPE_FLOAT, 16, 4096, 4096, 0.99},
    {"f32", PIT_DTYPE_FLOAT, 32, 599, 512, 0.5},
    {"f32", PIT_DTYPE_FLOAT, 32, 599, 512, 0.9},
    {"f32", PIT_DTYPE_FLOAT, 32, 599, 512, 0.99},
};

static clockid_t clock_of_runs = CLOCK_MONOTONIC;

static double now_us(void) {
  struct timespec now;
  clock_gettime(clock_of_runs, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void fill(const bench *b, char *x) {
  size_t element = b->bits / 8;
  uint64_t state = 1;
  for (int64_t i = 0; i < b->rows * b->columns; ++i) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407U;
    double unit = (double)(state >> 11) * 0x1p-53;
    memset(x + (size_t)i * element, unit < b->zeros ? 0 : 1, element);
  }
}

/// Reads all of x.
static uint64_t read_all(const char *x, size_t bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word;
    memcpy(&word, x + i, sizeof(word));
    sum |= word;
  }
  return sum;
}

typedef struct times {
  double read, bitmap, live_fraction, from_bitmap, from_values;
} times;

static void keep_least(double *least, double start) {
  double took = now_us() - start;
  if (*least == 0 || took < *least)
    *least = took;
}

static void stop(pit_context *context) {
  char message[512] = "out of memory";
  pit_context_message(context, message, sizeof(message));
  fprintf(stderr, "LiveFractionsBench: %s\n", message);
  exit(1);
}

/// The time of building the index of a micro-tile in both ways.
static void time_index(pit_context *context, pit_index_builder *builder,
                       const pit_index_spec *spec, const pit_bitmap *bitmap,
                       const DLTensor *tensor, times *t) {
  const pit_index *index;
  for (int run = 0; run < RUNS; ++run) {
    double start = now_us();
    if (pit_index_from_bitmap(builder, spec, bitmap, &index) != PIT_OK)
      stop(context);
    keep_least(&t->from_bitmap, start);
    start = now_us();
    if (pit_index_build(builder, spec, PIT_SOURCE_VALUES, tensor, NULL,
                        &index) != PIT_OK)
      stop(context);
    keep_least(&t->from_values, start);
  }
}

static void run(pit_context *context, pit_index_builder *builder,
                const bench *b, char *x) {
  fill(b, x);
  int64_t shape[2] = {b->rows, b->columns};
  DLTensor tensor = {.data = x,
                     .device = {kDLCPU, 0},
                     .ndim = 2,
                     .dtype = {b->code, b->bits, 1},
                     .shape = shape};
  size_t bytes = (size_t)(b->rows * b->columns) * b->bits / 8;
  static pit_index_spec specs[MAX_CANDIDATES];
  static pit_live_fraction live_fractions[MAX_CANDIDATES];
  int32_t count = pit_live_fraction_candidates(2, shape, specs, MAX_CANDIDATES);
  const pit_bitmap *bitmap = NULL;
  times t = {0};
  volatile uint64_t sink;
  for (int r = 0; r < RUNS; ++r) {
    double start = now_us();
    sink = read_all(x, bytes);
    keep_least(&t.read, start);
    start = now_us();
    if (pit_bitmap_build(builder, 2, shape, PIT_SOURCE_VALUES, &tensor, NULL,
                         &bitmap) != PIT_OK)
      stop(context);
    keep_least(&t.bitmap, start);
    start = now_us();
    if (pit_bitmap_live_fractions(builder, bitmap, specs, count,
                                  live_fractions) != PIT_OK)
      stop(context);
    keep_least(&t.live_fraction, start);
  }
  (void)sink;
  printf("%s %lldx%lld, %g %% zeros: read %.1f us, bitmap %.1f, live fraction "
         "of %d "
         "candidates %.1f\n",
         b->dtype, (long long)b->rows, (long long)b->columns, 100 * b->zeros,
         t.read, t.bitmap, count, t.live_fraction);
  static const pit_index_spec chosen[] = {
      {.rank = 2, .axis = 1, .micro_tile = {1, 1}},
      {.rank = 2, .axis = 1, .micro_tile = {32, 1}},
      {.rank = 2, .axis = 0, .micro_tile = {1, 1}},
      {.rank = 2, .axis = 0, .micro_tile = {1, 64}}};
  for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); ++i) {
    pit_index_spec spec = chosen[i];
    memcpy(spec.shape, shape, sizeof(shape));
    t.from_bitmap = t.from_values = 0;
    time_index(context, builder, &spec, bitmap, &tensor, &t);
    printf("  index %lldx%lld, axis %d: of the bitmap %.1f us, of the values "
           "%.1f; with the scan %.2f times the index alone\n",
           (long long)spec.micro_tile[0], (long long)spec.micro_tile[1],
           spec.axis, t.from_bitmap, t.from_values,
           (t.bitmap + t.live_fraction + t.from_bitmap) / t.from_values);
  }
}

/// The least time of a choice between dense, 1x1 and 32x1, in a call that does
/// nothing else; `dense` is the cost of the dense one.
static double choice_us(pit_context *context, const float *x, double dense,
                        int32_t flags) {
  enum { CALLS = 1000 };
  static const pit_manifest manifest = {.version = PIT_MANIFEST_WORD0,
                                        .device = kDLCPU};
  pit_variants variants =
      variants_of(build_of(32, 1, 1, 1), build_of(32, 1, 32, 1));
  variants.flags = flags;
  const pit_view view = view_of(x, 599, 512);
  const pit_cost costs[] = {{dense, 0, 0}, {10, 1, 0}, {10, 1, 0}};
  double best = 0;
  for (int call = 0; call < CALLS; ++call) {
    pit_frame *frame;
    const pit_bitmap *bitmap;
    int32_t variant;
    if (pit_rt_enter(context, &manifest, NULL, NULL, NULL, NULL, &frame))
      stop(context);
    double start = now_us();
    if (pit_rt_choose(frame, &variants, &view, costs, NULL, &bitmap, &variant))
      stop(context);
    keep_least(&best, start);
    pit_rt_leave(frame, PIT_OK);
  }
  return best;
}

int main(int argc, char **argv) {
  pit_context_options options = {
      .threads = argc > 1 ? (int32_t)strtol(argv[1], NULL, 10) : 1};
  if (options.threads == 1)
    clock_of_runs = CLOCK_THREAD_CPUTIME_ID;
  pit_context *context = NULL;
  pit_index_builder *builder = NULL;
  if (pit_context_create(&options, &context) != PIT_OK ||
      pit_index_builder_create(context, &builder) != PIT_OK) {
    fprintf(stderr, "usage: LiveFractionsBench [THREADS]\n");
    return 1;
  }
  char *x = malloc(sizeof(float) * 4096 * 4096);
  if (!x)
    stop(context);
  for (size_t i = 0; i < sizeof(benches) / sizeof(*benches); ++i)
    run(context, builder, &benches[i], x);
  // What is there now is 599x512. To ask for a thread's time takes longer than
  // a choice.
  clock_of_runs = CLOCK_MONOTONIC;
  printf("choice of dense, 1x1 and 32x1, f32 599x512: with a scan %.2f us, "
         "without one %.2f, decided before %.2f\n",
         choice_us(context, (const float *)(const void *)x, 1e3,
                   PIT_CHOOSE_DETERMINISTIC),
         choice_us(context, (const float *)(const void *)x, 1e3, 0),
         choice_us(context, (const float *)(const void *)x, 1, 0));
  free(x);
  pit_index_builder_destroy(builder);
  pit_context_destroy(context);
  return 0;
}
