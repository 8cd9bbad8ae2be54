//===- index.c - Which columns of a sparse matrix are live ----------------===//
//
// A ReLU has left zeros in most of an activation matrix. A matmul over blocks
// of 32 rows may skip, in each block, every column that is zero throughout.
// This builds the index of the others and prints how much there is to do.
//
//===----------------------------------------------------------------------===//

#include "pit-runtime/Runtime.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 96, COLUMNS = 256, BLOCK = 32 };

static float activations[ROWS * COLUMNS];

/// Prints why a call failed, and ends the program.
static void check(pit_context *context, pit_status status) {
  if (status == PIT_OK)
    return;
  char message[512];
  pit_context_message(context, message, sizeof(message));
  fprintf(stderr, "%s: %s\n", pit_status_string(status), message);
  exit(1);
}

int main(void) {
  // Column j is live in block b if 7 divides j + b.
  for (int i = 0; i < ROWS; ++i)
    for (int j = i / BLOCK; j < COLUMNS; ++j)
      if ((j + i / BLOCK) % 7 == 0 && i % 2 == 0)
        activations[i * COLUMNS + j] = 1.5F;

  pit_context *context = NULL;
  pit_status status = pit_context_create(NULL, &context);
  if (status != PIT_OK) {
    fprintf(stderr, "%s\n", pit_status_string(status));
    return 1;
  }

  int64_t shape[] = {ROWS, COLUMNS};
  DLTensor tensor = {.data = activations,
                     .device = {kDLCPU, 0},
                     .ndim = 2,
                     .dtype = {kDLFloat, 32, 1},
                     .shape = shape};
  // Micro-tiles of 32x1, listed along dimension 1; each block of 32 rows is a
  // group.
  pit_index_spec spec = {
      .rank = 2, .axis = 1, .shape = {ROWS, COLUMNS}, .micro_tile = {BLOCK, 1}};
  pit_index_builder *builder = NULL;
  const pit_index *index = NULL;
  check(context, pit_index_builder_create(context, &builder));
  check(context, pit_index_build(builder, &spec, PIT_SOURCE_VALUES, &tensor,
                                 /*background=*/NULL, &index));

  for (int64_t g = 0; g < index->groups; ++g) {
    const int32_t *ids = index->ids + index->offsets[g];
    printf("rows %d to %d: %d live columns: %d %d %d ...\n", (int)g * BLOCK,
           (int)(g + 1) * BLOCK - 1, index->counts[g], ids[0], ids[1], ids[2]);
  }
  pit_index_stats stats;
  double waste = 0;
  check(context, pit_index_statistics(context, index, &stats));
  check(context, pit_index_waste(context, index, PIT_SOURCE_VALUES, &tensor,
                                 NULL, &waste));
  printf("%lld of %lld micro-tiles are live: live fraction %.3f, waste %.3f\n",
         (long long)stats.live, (long long)stats.micro_tiles,
         stats.live_fraction, waste);

  // A spec that cannot be right is refused, with a reason.
  spec.axis = 2;
  if (pit_index_build(builder, &spec, PIT_SOURCE_VALUES, &tensor, NULL,
                      &index) != PIT_OK) {
    char message[512];
    pit_context_message(context, message, sizeof(message));
    printf("refused: %s\n", message);
  }

  pit_index_builder_destroy(builder);
  pit_context_destroy(context);
  return 0;
}
