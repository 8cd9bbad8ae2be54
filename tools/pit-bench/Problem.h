//===- Problem.h - A case at one sparsity, with its data ------------------===//

#ifndef PIT_TOOLS_BENCH_PROBLEM_H
#define PIT_TOOLS_BENCH_PROBLEM_H

#include "Case.h"
#include "Tensor.h"

/// The sizes of what a case computes.
typedef struct extents {
  int64_t batch, m, n, k; ///< of products; of a convolution's as a product
  int64_t experts;
  int64_t height, width, channels, filters; ///< of a convolution's input
  int64_t kernel, stride;
} extents;

/// Arguments for several calls that differ in what is zero. The arguments are
/// (A, B) or (A, B, mask of C), an expert's (R, A, B, ...).
typedef struct problem {
  const bench_case *from;
  case_instance instance;
  extents sizes;
  DLDataType type, result_type;
  int32_t num_args, num_patterns;
  tensor *tensors;      ///< [num_patterns * num_args]; some hold nothing
  const DLTensor **ins; ///< [num_patterns * num_args]; what does not depend on
                        ///< ${seed} is there once
  double dense_operations; ///< of all of it, 2 a multiplication and addition
  double bytes;            ///< of the arguments and the result
} problem;

/// Makes the data. Prints an error and returns false if it cannot.
bool problem_init(problem *p, const bench_case *from, double sparsity,
                  int32_t num_patterns);
void problem_free(problem *p);

static inline const DLTensor *const *problem_args(const problem *p,
                                                  int32_t pattern) {
  return &p->ins[pattern * p->num_args];
}

static inline const void *problem_data(const problem *p, int32_t pattern,
                                       int32_t arg) {
  return problem_args(p, pattern)[arg]->data;
}

/// Makes room for the result, as the case's kind says it is.
bool problem_init_result(const problem *p, tensor *result);

#endif // PIT_TOOLS_BENCH_PROBLEM_H
