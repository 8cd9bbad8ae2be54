//===- Plans.h - The programs of an op, by the arrays -------------*- C -*-===//

#ifndef PIT_PYTHON_PLANS_H
#define PIT_PYTHON_PLANS_H

#include "Call.h"

enum { PIT_MAX_SYMBOLS = 64 /**< dynamic dimensions of an op */ };

/// The static dimensions of plans.
typedef struct pit_form {
  int32_t num_args, num_static;
  uint8_t dims[PIT_MAX_OPERANDS];    ///< bit d: dimension d is static
  bool permutable[PIT_MAX_OPERANDS]; ///< the order of dimensions is static
} pit_form;
_Static_assert(PIT_MAX_RANK <= 8, "a dimension is a bit of a byte");

/// The conditions of a plan for an argument. Its rank, element type and
/// micro-tile say the caller's infos.
typedef struct pit_pattern {
  int64_t dims[PIT_MAX_RANK];  ///< >= 0: the size; < 0: symbol -1 - dim
  int32_t order[PIT_MAX_RANK]; ///< in which the program has them
  bool permuted;               ///< `order` is not the usual one
  bool permutable;             ///< another plan may have another order
} pit_pattern;

/// How arrays of a kind are passed to a program.
typedef struct pit_plan {
  PyObject ob_base;
  struct pit_plan *next; ///< of its bucket
  bool listed;           ///< its bucket holds a reference
  uint64_t key;
  pit_form form;
  pit_caller *caller;
  DLDevice device;
  pit_pattern *args;
  int32_t num_symbols;
  int64_t least; ///< that dynamic sizes multiply to, unless one is 0
  int32_t rank;  ///< of the only result; -1: the entry tells shapes of results
  int64_t result[PIT_MAX_RANK]; ///< as pit_pattern.dims
} pit_plan;

/// The key of a plan: equal ones are for equal operands.
uint64_t pit_key_of_plan(const pit_plan *plan);

/// Whether a plan is for the operands; `symbols` become its dynamic sizes.
bool pit_plan_fits(const pit_plan *plan, const pit_operands *operands,
                   int64_t *symbols);

/// Runs a plan that fits, as pit_run_plan does.
PyObject *pit_run_found_plan(const pit_plan *plan, pit_operands *operands,
                             const int64_t *symbols, PyObject *out,
                             DLTensor lead);

#endif // PIT_PYTHON_PLANS_H
