//===- RandomCase.h - Random tensors and what is selected of them ---------===//

#ifndef PIT_TEST_RUNTIME_RANDOMCASE_H
#define PIT_TEST_RUNTIME_RANDOMCASE_H

#include "Reference.h"

typedef struct type {
  const char *name;
  uint8_t code, bits;
} type;

/// A case: the spec, X, and the data it comes from.
typedef struct test_case {
  rng r;
  pit_index_spec spec;
  selected x;
  pit_source source;
  type type;
  uint64_t background;
  bool has_background;
  DLTensor data;
  int64_t shape[PIT_MAX_RANK], strides[PIT_MAX_RANK];
  char *memory;
} test_case;

/// Makes the case of a seed: of any source, or of any that has a bitmap.
void random_case(pit_context *context, test_case *c, uint64_t seed,
                 bool with_blocks);
void free_case(test_case *c);

/// Sets the axis, micro-tile and steps of a spec whose rank and shape are set.
/// Returns how many elements its micro-tiles have together, about.
double random_micro_tile(rng *r, pit_index_spec *spec);

#endif // PIT_TEST_RUNTIME_RANDOMCASE_H
