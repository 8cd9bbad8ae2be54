//===- ArgSpec.h - Arguments from a description ---------------------------===//

#ifndef PIT_TOOLS_SUPPORT_ARGSPEC_H
#define PIT_TOOLS_SUPPORT_ARGSPEC_H

#include "Tensor.h"

/// True if `text` describes a tensor, as opposed to naming a file.
bool argspec_is(const char *text);

/// Makes the tensor that `text` describes:
///
///   zeros(SHAPE,DTYPE)
///   full(SHAPE,DTYPE,VALUE)
///   random(SHAPE,DTYPE[,sparsity=S][,micro=RxC..][,seed=N][,low=L][,high=H])
///
/// Prints an error and returns false if it is wrong.
bool argspec_make(const char *text, tensor *t);

#define ARGSPEC_HELP                                                           \
  "  zeros(SHAPE,DTYPE)  full(SHAPE,DTYPE,VALUE)\n"                            \
  "  "                                                                         \
  "random(SHAPE,DTYPE[,sparsity=S][,micro=SHAPE][,seed=N][,low=L][,high=H])\n"

#endif // PIT_TOOLS_SUPPORT_ARGSPEC_H
