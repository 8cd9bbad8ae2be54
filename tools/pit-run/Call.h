//===- Call.h - A call of an entry point ----------------------------------===//

#ifndef PIT_TOOLS_RUN_CALL_H
#define PIT_TOOLS_RUN_CALL_H

#include "Tensor.h"

/// An entry point with arguments and room for results. All tensors are on the
/// host; a program for a GPU has copies there.
typedef struct call {
  pit_context *context;
  const pit_entry *entry;
  DLDevice device;   ///< where the program runs
  pit_stream stream; ///< of a program for a GPU
  int32_t num_args, num_results;
  tensor *args; ///< [num_args]; of an index, what it is built of
  bool borrows; ///< the arguments are those of another call
  pit_index_builder **builders; ///< [num_args]; of index arguments
  pit_constant **constants;     ///< [num_args]; NULL: the argument may change
  tensor *results;              ///< [num_results]
  DLTensor *places; ///< [num_args + num_results] the tensors as the program
                    ///< sees them
  pit_value *ins;   ///< [num_args]
  DLTensor **outs;  ///< [num_results]
} call;

/// A size that the user says a result has.
typedef struct result_shape {
  int32_t result;
  int32_t rank;
  int64_t shape[PIT_MAX_RANK];
} result_shape;

/// Prints the context's message as an error.
void call_print_error(pit_context *context, pit_status status);

/// Makes the arguments from the texts of --arg. Prints an error and returns
/// false if they do not fit the entry.
bool call_init(call *c, pit_context *context, const pit_entry *entry,
               char *const *texts, int32_t num_texts);

/// Makes room for the results. Sizes that the arguments do not tell are taken
/// from `shapes`.
bool call_init_results(call *c, const result_shape *shapes, int32_t num_shapes);

/// Makes a call of another program with the arguments of `c`, which has to
/// outlive it, and results like its own.
bool call_init_like(call *made, const call *c, const pit_entry *entry);

/// Promises that an argument does not change. Prints an error and returns false
/// if it is no tensor of the call.
bool call_promise(call *c, int32_t arg);
/// Ends all promises.
void call_end_promises(call *c);

void call_free(call *c);

static inline bool call_on_gpu(const call *c) {
  return c->device.device_type == kDLCUDA;
}

/// Runs the entry once and waits for its end; `seconds`, by the host's clock,
/// may be NULL. A GPU's results stay there.
bool call_run(call *c, double *seconds);

/// The same for the first time: asks a GPU how the indices came out that the
/// program builds there, since no call says.
bool call_run_first(call *c);

/// Brings the results of a program for a GPU to the host.
bool call_fetch_results(call *c);

/// Reads an index that a call has just built on a GPU, where the host has only
/// bounds of its numbers; any other is copied.
bool call_read_index(const call *c, const pit_index *index, pit_index *built);

/// The argument that has this data; -1: none.
int32_t call_find_arg(const call *c, const DLTensor *data);

/// Parses "R:4x8".
bool call_parse_shape(const char *text, result_shape *shape);

#endif // PIT_TOOLS_RUN_CALL_H
