//===- Program.h - Compiled programs: load, ask, run ----------------------===//
//
// A program is a shared library (or code in memory) that follows Abi.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_RUNTIME_PROGRAM_H
#define PIT_RUNTIME_PROGRAM_H

#include "pit-runtime/Index.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Immutable: any thread may use it, as long as it has a reference to it.
typedef struct pit_program pit_program;
typedef struct pit_entry pit_entry; ///< a function of a program

/// Loads a shared library. `path` is that of a file, as fopen takes it: "f.so"
/// is in the current folder. `context` only receives error messages; the
/// program does not depend on it.
PIT_RT_EXPORT pit_status pit_program_open(pit_context *context,
                                          const char *path,
                                          pit_program **program);

/// Makes a program of code in memory: `lookup(user, symbol)` returns a symbol's
/// address or NULL; `close(user)`, unless NULL, is called when the program is
/// unloaded (pit_program_close), or at once if this fails.
PIT_RT_EXPORT pit_status pit_program_from_lookup(
    pit_context *context, void *(*lookup)(void *user, const char *symbol),
    void *user, void (*close)(void *user), pit_program **program);

/// Makes one more reference to a program, for a thread that uses it while
/// another one may close it. Returns the program; NULL is fine.
PIT_RT_EXPORT pit_program *pit_program_retain(pit_program *program);

/// Gives a reference back: the one of who made the program, or one of
/// pit_program_retain. The last one unloads it, and its entries are gone. Calls
/// that have begun keep it loaded until they return, and come to no harm; who
/// begins one, or asks an entry something, must have a reference until then.
/// NULL is fine.
PIT_RT_EXPORT void pit_program_close(pit_program *program);

PIT_RT_EXPORT int32_t pit_program_num_entries(const pit_program *program);
/// Entry i, in the order of the source file; NULL if there is no such entry.
PIT_RT_EXPORT const pit_entry *pit_program_entry_at(const pit_program *program,
                                                    int32_t i);
/// Finds an entry by its name. The message of PIT_ERROR_NOT_FOUND lists those
/// there are.
PIT_RT_EXPORT pit_status pit_program_entry(pit_context *context,
                                           const pit_program *program,
                                           const char *name,
                                           const pit_entry **entry);

typedef enum pit_arg_kind {
  PIT_KIND_TENSOR = 0,
  PIT_KIND_INDEX = 1,
  PIT_KIND_SCALAR = 2 ///< of signatures; passed as a tensor of rank 0
} pit_arg_kind;

/// The kind of an argument or a result.
typedef struct pit_arg_info {
  pit_arg_kind kind;
  DLDataType dtype;           ///< of a tensor or scalar
  int32_t rank;               ///< of a tensor, or of the tensor an index is of
  int64_t dims[PIT_MAX_RANK]; ///< of a tensor; -1: any size (see
                              ///< pit_entry_result_shape for results)
  int32_t axis;               ///< of an index
  int64_t micro_tile[PIT_MAX_RANK]; ///< of an index
  int64_t step[PIT_MAX_RANK];       ///< of an index
} pit_arg_info;

/// An argument of a call: the caller's tensor or index, which live until the
/// call returns.
typedef struct pit_value {
  pit_arg_kind kind; ///< PIT_KIND_TENSOR or PIT_KIND_INDEX
  union {
    const DLTensor *tensor;
    const pit_index *index;
  };
} pit_value;

static inline pit_value pit_tensor_value(const DLTensor *tensor) {
  pit_value value;
  value.kind = PIT_KIND_TENSOR;
  value.tensor = tensor;
  return value;
}

static inline pit_value pit_index_value(const pit_index *index) {
  pit_value value;
  value.kind = PIT_KIND_INDEX;
  value.index = index;
  return value;
}

/// The following say "", 0 or false of an entry that is NULL.
PIT_RT_EXPORT const char *pit_entry_name(const pit_entry *entry);
PIT_RT_EXPORT int32_t pit_entry_num_args(const pit_entry *entry);
PIT_RT_EXPORT int32_t pit_entry_num_results(const pit_entry *entry);
/// Scratch a call takes per thread, in bytes.
PIT_RT_EXPORT int64_t pit_entry_workspace(const pit_entry *entry);
/// The device that it runs on, and that its tensors are on: DLPack's kDLCPU or
/// kDLCUDA.
PIT_RT_EXPORT int32_t pit_entry_device(const pit_entry *entry);
/// False if there is no such argument or result.
PIT_RT_EXPORT bool pit_entry_arg(const pit_entry *entry, int32_t arg,
                                 pit_arg_info *info);
PIT_RT_EXPORT bool pit_entry_result(const pit_entry *entry, int32_t result,
                                    pit_arg_info *info);

/// The shape that result `result` must have for these arguments (only their
/// shapes and scalar integers are read); -1 where they do not tell. `shape` has
/// room for PIT_MAX_RANK sizes.
PIT_RT_EXPORT pit_status pit_entry_result_shape(pit_context *context,
                                                const pit_entry *entry,
                                                const pit_value *ins,
                                                int32_t num_ins, int32_t result,
                                                int64_t *shape);

/// Runs an entry: writes the results into the caller's tensors. Arguments and
/// results are contiguous and row-major. A CUDA program's tensors are on the
/// context's device, its scalars on the CPU; its work is put on `stream`, a
/// CUstream, and this returns before it is done.
PIT_RT_EXPORT pit_status pit_entry_run(pit_context *context,
                                       const pit_entry *entry,
                                       const pit_value *ins, int32_t num_ins,
                                       DLTensor *const *outs, int32_t num_outs,
                                       pit_stream stream);

/// The choices of calls of an entry on a context for one mark and one shape of
/// its value.
typedef struct pit_choice {
  int32_t mark; ///< its number in the program
  int32_t rank;
  int64_t shape[PIT_MAX_RANK];      ///< of the marked value
  int64_t calls;                    ///< choices made
  int64_t scans;                    ///< those that read the value
  int32_t variants;                 ///< how many there are to choose from
  int32_t variant;                  ///< chosen last: its number
  int32_t axis;                     ///< of the index it needs; -1: it is dense
  int64_t micro_tile[PIT_MAX_RANK]; ///< of this index
  double cost; ///< of this variant, in the units of the program's table
  double live_fraction; ///< of its micro-tiles at the last scan; -1: it is
                        ///< dense, or there was no scan
} pit_choice;

/// Copies what calls of the entry chose on the context, the latest first, at
/// most `max` of it. Returns how much there is. A context remembers some
/// hundred choices, of all programs together; where there are more, those that
/// were not used for long are forgotten.
PIT_RT_EXPORT int32_t pit_entry_choices(pit_context *context,
                                        const pit_entry *entry,
                                        pit_choice *choices, int32_t max);

/// Writes the profile of a context as JSON: what calls of programs that record
/// (pit-to-cpu's option) have counted of their marks. A compiler plans by it
/// (pit_compile_options.profile). PIT_ERROR_NOT_FOUND if nothing was recorded
/// or the file cannot be written; then there is none.
PIT_RT_EXPORT pit_status pit_context_write_profile(pit_context *context,
                                                   const char *path);

#ifdef __cplusplus
}
#endif

#endif // PIT_RUNTIME_PROGRAM_H
