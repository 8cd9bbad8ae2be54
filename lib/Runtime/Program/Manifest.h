//===- Manifest.h - Signatures of compiled functions ----------------------===//

#ifndef PIT_LIB_RUNTIME_PROGRAM_MANIFEST_H
#define PIT_LIB_RUNTIME_PROGRAM_MANIFEST_H

#include "Core/Internal.h"
#include "pit-runtime/Abi.h"

/// Checks that a manifest is one of this version. The others take one that is.
pit_status pit_manifest_expect(pit_context *context,
                               const pit_manifest *manifest);

/// Checks all of a manifest, which may come from a broken file: what follows
/// relies on it.
pit_status pit_manifest_check(pit_context *context,
                              const pit_manifest *manifest);

/// Checks that arguments have shapes, and integers values, that can be read,
/// and the requirements.
pit_status pit_enter_shapes(pit_context *context, const pit_manifest *manifest,
                            const pit_value *ins);

/// Checks the requirements of a call. The arguments' ranks are the manifest's,
/// and its scalars can be read.
pit_status pit_manifest_require(pit_context *context,
                                const pit_manifest *manifest,
                                const pit_value *ins);

/// Computes the sizes of a result for such arguments, -1 where they do not tell
/// one, and steps past its programs at `*sizes`.
pit_status pit_manifest_result(pit_context *context,
                               const pit_manifest *manifest,
                               const pit_value *ins, int32_t result,
                               const pit_shape_program **sizes, int64_t *dims);

/// The inputs of the programs of one manifest, and their purpose.
typedef struct pit_shape_scope {
  pit_context *context;
  const pit_manifest *manifest;
  /// The arguments, whose ranks are the manifest's and whose scalars can be
  /// read; a check needs none.
  const pit_value *ins;
  int32_t result; ///< the program is of dimension `dim` of this result,
  int32_t dim;    ///< or, if -1, of requirement `result`
} pit_shape_scope;

/// A size, if it is known.
typedef struct pit_size {
  int64_t value;
  bool known;
} pit_size;

/// Checks a program: what follows takes one that is sound.
pit_status pit_shape_check(const pit_shape_scope *scope,
                           const pit_shape_program *program);

pit_status pit_shape_evaluate(const pit_shape_scope *scope,
                              const pit_shape_program *program, pit_size *size);

enum { PIT_SHAPE_NAME_SIZE = 160 };

/// Writes a program as a formula, cut if it is long; returns `buffer`.
const char *pit_shape_name(const pit_shape_program *program,
                           char buffer[PIT_SHAPE_NAME_SIZE]);

#endif // PIT_LIB_RUNTIME_PROGRAM_MANIFEST_H
