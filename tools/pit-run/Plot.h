//===- Plot.h - Pictures of sparse tensors --------------------------------===//

#ifndef PIT_TOOLS_RUN_PLOT_H
#define PIT_TOOLS_RUN_PLOT_H

#include "pit-runtime/Runtime.h"

#include <stdbool.h>

/// Draws the tensor that an index is about into a PNG file: selected elements
/// dark, the rest of the live micro-tiles light, everything else white. Large
/// tensors are scaled down. Prints an error and returns false if the file
/// cannot be written.
bool plot_index(const char *path, const pit_index *index, pit_source source,
                const DLTensor *data, const void *background);

#endif // PIT_TOOLS_RUN_PLOT_H
