//===- Manifest.h - Signatures of compiled functions ----------------------===//

#ifndef PIT_LIB_RUNTIME_PROGRAM_MANIFEST_H
#define PIT_LIB_RUNTIME_PROGRAM_MANIFEST_H

#include "Core/Internal.h"
#include "pit-runtime/Program.h"

/// The head of a manifest.
typedef struct pit_manifest {
  int64_t num_args, num_results, workspace;
  int32_t device;      ///< kDLCPU or kDLCUDA
  const int64_t *args; ///< the words of the arguments
} pit_manifest;

/// Reads the head and checks it.
pit_status pit_manifest_open(pit_context *context, const int64_t *words,
                             pit_manifest *manifest);

/// Reads argument `number` at `*at` and steps past it.
pit_status pit_manifest_arg(pit_context *context, int64_t number,
                            const int64_t **at, pit_arg_info *info);

/// Checks the requirements at `*at`, which follow the arguments, and steps past
/// them. If `ins` is NULL, this checks only that they are well-formed.
pit_status pit_manifest_require(pit_context *context,
                                const pit_manifest *manifest,
                                const DLTensor *const *ins, const int64_t **at);

/// Reads the head of result `number` at `*at`; the programs of its dimensions
/// follow.
pit_status pit_manifest_result(pit_context *context, int64_t number,
                               const int64_t **at, pit_arg_info *info);

/// Evaluates the program at `*at` with the shapes of `ins` and steps past it;
/// `*size` becomes -1 where it is not known. The arguments' ranks are the
/// manifest's. If `ins` is NULL, nothing is known: this checks the program.
pit_status pit_manifest_dim(pit_context *context, const pit_manifest *manifest,
                            const DLTensor *const *ins, int64_t result,
                            int32_t dim, const int64_t **at, int64_t *size);

#endif // PIT_LIB_RUNTIME_PROGRAM_MANIFEST_H
