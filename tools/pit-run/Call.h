//===- Call.h - A call of an entry point ----------------------------------===//

#ifndef PIT_TOOLS_RUN_CALL_H
#define PIT_TOOLS_RUN_CALL_H

#include "Tensor.h"

/// An entry point with arguments and room for results.
typedef struct call {
  pit_context *context;
  const pit_entry *entry;
  int32_t num_args, num_results;
  tensor *args; ///< [num_args]; of an index, what it is built of
  pit_index_builder **builders; ///< [num_args]; of index arguments
  const DLTensor **ins;         ///< [num_args]
  tensor *results;              ///< [num_results]
  DLTensor **outs;              ///< [num_results]
} call;

/// A size that the user says a result has.
typedef struct result_shape {
  int32_t result;
  int32_t rank;
  int64_t shape[PIT_MAX_RANK];
} result_shape;

/// Prints the context's message as an error.
void call_print_error(pit_context *context, const char *what,
                      pit_status status);

/// Makes the arguments from the texts of --arg. Prints an error and returns
/// false if they do not fit the entry.
bool call_init(call *c, pit_context *context, const pit_entry *entry,
               char *const *texts, int32_t num_texts);

/// Makes room for the results. Sizes that the arguments do not tell are taken
/// from `shapes`.
bool call_init_results(call *c, const result_shape *shapes, int32_t num_shapes);

void call_free(call *c);

/// Runs the entry once; `seconds` may be NULL.
bool call_run(call *c, double *seconds);

/// Parses "R:4x8".
bool call_parse_shape(const char *text, result_shape *shape);

#endif // PIT_TOOLS_RUN_CALL_H
