//===- Case.h - What to measure, from data files --------------------------===//

#ifndef PIT_TOOLS_BENCH_CASE_H
#define PIT_TOOLS_BENCH_CASE_H

#include "pit-runtime/Runtime.h"

#include <jansson.h>
#include <stdbool.h>

/// The computation of a program; peers know how to compute it, too.
typedef enum case_kind {
  CASE_MATMUL,  ///< C[m,n] = A[m,k] B[k,n], in batches if there is a "batch"
  CASE_CONV,    ///< linalg.conv_2d_nhwc_hwcf
  CASE_EXPERTS, ///< C[m,n] = sum of e, k: R[m,e] A[m,k] B[e,k,n]
} case_kind;

/// Which operand is sparse, and how. The axis is a dimension of the operand;
/// the other one is cut into blocks.
typedef struct case_sparse {
  char operand;  ///< 'A', 'B' or 'C' (outputs that are wanted); 0: none
  char axis;     ///< 'm', 'n' or 'k'
  int64_t block; ///< of the other dimension; 0: all of it
} case_sparse;

/// An entry of a data file, or, of one with "each", a part of it.
typedef struct bench_case {
  const char *file; ///< the data file, for messages
  char *name;
  case_kind kind;
  char *program; ///< its path
  json_t
      *set; ///< object, owned: the variables of the program and the arguments
  json_t *args; ///< array: descriptions of the arguments
  case_sparse sparse;
  int32_t num_sparsities; ///< at least 1
  double *sparsities;
  const char *pipeline; ///< options of the compiler's pipeline; ""
  json_t *constant;     ///< array of arguments that stay as they are, or NULL
} bench_case;

typedef struct case_list {
  int32_t count;
  bench_case *cases;
  json_t *overrides; ///< object, borrowed: variables that replace those of the
                     ///< cases that have them; NULL: none
  json_t **roots;    ///< [num_roots] that cases point into
  int32_t num_roots;
} case_list;

/// Adds the cases of a data file. Prints an error and returns false if it is
/// wrong.
bool case_read(case_list *list, const char *path);
void case_free(case_list *list);

/// Does an argument stay as it is from run to run?
bool case_is_constant(const bench_case *c, int32_t arg);

/// A whole number of the case's variables. Prints an error and returns false if
/// there is none that is at least 1.
bool case_size(const bench_case *c, const char *name, int64_t *size);
/// The same, or `otherwise` where the case has no such variable.
bool case_size_or(const bench_case *c, const char *name, int64_t otherwise,
                  int64_t *size);

/// The dtype that a variable names; without it, that of the variable T.
bool case_dtype(const bench_case *c, const char *name, DLDataType *dtype);

/// Values of variables that every case has.
typedef struct case_instance {
  double sparsity; ///< ${S}
  int64_t seed;    ///< ${seed}
} case_instance;

/// Replaces each ${NAME} in `text` by its value: of the case's "set", of the
/// instance, and of the sparse operand ${axis}, ${micro} (as 32x1) and ${tile}
/// (as 32, 1). `free` releases the result. Prints an error and returns NULL
/// if a name has no value.
char *case_expand(const bench_case *c, const char *text,
                  const case_instance *instance);

#endif // PIT_TOOLS_BENCH_CASE_H
