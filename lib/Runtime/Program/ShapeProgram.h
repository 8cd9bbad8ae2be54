//===- ShapeProgram.h - Sizes computed from arguments' shapes -------------===//

#ifndef PIT_LIB_RUNTIME_PROGRAM_SHAPEPROGRAM_H
#define PIT_LIB_RUNTIME_PROGRAM_SHAPEPROGRAM_H

#include "Manifest.h"

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

#endif // PIT_LIB_RUNTIME_PROGRAM_SHAPEPROGRAM_H
