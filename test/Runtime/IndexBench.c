//===- IndexBench.c - How long building an index from values takes --------===//
//
//   IndexBench [THREADS [ROWS COLUMNS]]
//
// Prints the best of some builds for micro-tiles of which a tenth is live, and
// the rate at which that reads X; then what a call takes with that index as an
// argument, and with one imported of its arrays, which each call checks. Not a
// test: times differ between machines.
//
//===----------------------------------------------------------------------===//

#include "pit-runtime/Abi.h"
#include "pit-runtime/Runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUILDS = 20 };

typedef struct bench {
  const char *dtype;
  uint8_t code, bits;
  int32_t axis;
  int64_t tile[2]; ///< 0: the whole dimension
} bench;

static const bench benches[] = {
    {"f32", PIT_DTYPE_FLOAT, 32, 1, {32, 1}},
    {"f32", PIT_DTYPE_FLOAT, 32, 0, {1, 64}},
    {"f32", PIT_DTYPE_FLOAT, 32, 0, {1, 0}},
    {"f32", PIT_DTYPE_FLOAT, 32, 1, {1, 1}},
    {"f32", PIT_DTYPE_FLOAT, 32, 0, {1, 1}},
    {"f32", PIT_DTYPE_FLOAT, 32, 0, {1, 8}},
    {"bf16", PIT_DTYPE_BFLOAT, 16, 1, {32, 1}},
    {"bf16", PIT_DTYPE_BFLOAT, 16, 0, {1, 64}},
    {"i8", PIT_DTYPE_INT, 8, 1, {32, 1}},
    {"f64", PIT_DTYPE_FLOAT, 64, 1, {32, 1}},
};

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/// Makes about a tenth of the micro-tiles live, each by its last element.
static void fill(const bench *b, int64_t rows, int64_t columns, char *x) {
  int64_t element = b->bits / 8;
  int64_t tile[2] = {b->tile[0] ? b->tile[0] : rows,
                     b->tile[1] ? b->tile[1] : columns};
  memset(x, 0, (size_t)(rows * columns * element));
  uint32_t state = 1;
  for (int64_t i = tile[0]; i <= rows; i += tile[0])
    for (int64_t j = tile[1]; j <= columns; j += tile[1]) {
      state = state * 1664525 + 1013904223;
      if (state >> 16 < 6554)
        x[((i - 1) * columns + j - 1) * element] = 1;
    }
}

/// The best time, in microseconds, of a call that does nothing with an index
/// argument; -1 if it fails.
static double call_us(pit_context *context, const pit_index *index) {
  const pit_manifest manifest = {
      .version = PIT_MANIFEST_WORD0,
      .num_args = 1,
      .device = kDLCPU,
      .values = (const pit_arg_info[]){
          {.kind = PIT_KIND_INDEX,
           .rank = 2,
           .axis = index->axis,
           .micro_tile = {index->micro_tile[0], index->micro_tile[1]},
           .step = {index->step[0], index->step[1]}}}};
  const pit_value ins[] = {{.kind = PIT_KIND_INDEX, .index = index}};
  int64_t views[1];
  double best = 1e30;
  for (int call = 0; call < BUILDS; ++call) {
    enum { CALLS = 10 };
    double start = now_ms();
    for (int i = 0; i < CALLS; ++i) {
      pit_frame *frame;
      if (pit_rt_enter(context, &manifest, ins, NULL, NULL, views, &frame))
        return -1;
      pit_rt_leave(frame, PIT_OK);
    }
    double took = (now_ms() - start) / CALLS;
    best = took < best ? took : best;
  }
  return 1e3 * best;
}

int main(int argc, char **argv) {
  pit_context_options options = {
      .threads = argc > 1 ? (int32_t)strtol(argv[1], NULL, 10) : 1};
  int64_t shape[2] = {2048, 2048};
  if (argc > 3)
    for (int d = 0; d < 2; ++d)
      shape[d] = strtoll(argv[2 + d], NULL, 10);
  pit_context *context = NULL;
  pit_index_builder *builder = NULL;
  if (pit_context_create(&options, &context) != PIT_OK ||
      pit_index_builder_create(context, &builder) != PIT_OK || shape[0] < 1 ||
      shape[1] < 1 || shape[0] > 1 << 20 || shape[1] > 1 << 20) {
    fprintf(stderr, "usage: IndexBench [THREADS [ROWS COLUMNS]]\n");
    return 1;
  }
  char *x = malloc((size_t)(shape[0] * shape[1] * 8));
  if (!x) {
    fprintf(stderr, "IndexBench: out of memory\n");
    return 1;
  }
  for (size_t i = 0; i < sizeof(benches) / sizeof(*benches); ++i) {
    const bench *b = &benches[i];
    fill(b, shape[0], shape[1], x);
    DLTensor tensor = {.data = x,
                       .device = {kDLCPU, 0},
                       .ndim = 2,
                       .dtype = {b->code, b->bits, 1},
                       .shape = shape};
    pit_index_spec spec = {.rank = 2,
                           .axis = b->axis,
                           .shape = {shape[0], shape[1]},
                           .micro_tile = {b->tile[0], b->tile[1]}};
    const pit_index *index = NULL;
    double best = 1e30;
    for (int build = 0; build < BUILDS; ++build) {
      double start = now_ms();
      if (pit_index_build(builder, &spec, PIT_SOURCE_VALUES, &tensor, NULL,
                          &index) != PIT_OK) {
        char message[512];
        pit_context_message(context, message, sizeof(message));
        fprintf(stderr, "IndexBench: %s\n", message);
        return 1;
      }
      double took = now_ms() - start;
      best = took < best ? took : best;
    }
    double bytes = (double)shape[0] * (double)shape[1] * b->bits / 8;
    pit_index_arrays arrays;
    pit_index imported;
    double checked = -1;
    if (pit_index_export(context, index, &arrays) == PIT_OK &&
        pit_index_import(context, &spec, &arrays, &imported) == PIT_OK)
      checked = call_us(context, &imported);
    printf("%-4s micro-tile %lldx%lld: %8lld live, %.3f ms, %.1f GB/s; a call "
           "%.2f us, checked %.2f us\n",
           b->dtype, (long long)b->tile[0], (long long)b->tile[1],
           (long long)index->total, best, bytes / best * 1e-6,
           call_us(context, index), checked);
  }
  free(x);
  pit_index_builder_destroy(builder);
  pit_context_destroy(context);
  return 0;
}
