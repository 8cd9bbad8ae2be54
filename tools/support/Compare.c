//===- Compare.c - How far two tensors lie apart --------------------------===//

#include "Compare.h"

#include <math.h>
#include <string.h>

double compare_tolerance(DLDataType dtype) {
  if (!dtype_is_float(dtype))
    return 0;
  return dtype.bits == 64   ? 1e-10
         : dtype.bits == 32 ? 1e-4
         : dtype.bits == 16 ? 3e-2
                            : 3e-1;
}

/// The root of the mean square of the finite elements.
static double typical_size(const tensor *t) {
  int64_t count = tensor_count(t), finite = 0;
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    double value = tensor_get(t, i);
    if (isfinite(value)) {
      sum += value * value;
      ++finite;
    }
  }
  return finite ? sqrt(sum / (double)finite) : 0;
}

void compare_tensors(const tensor *is, const tensor *wanted, double tolerance,
                     comparison *found) {
  if (tolerance < 0)
    tolerance = compare_tolerance(is->dl.dtype);
  *found = (comparison){.tolerance = tolerance};
  double scale = typical_size(wanted);
  int64_t count = tensor_count(is), width = is->dl.dtype.bits / 8;
  for (int64_t i = 0; i < count; ++i) {
    double x = tensor_get(is, i), y = tensor_get(wanted, i);
    // By their bytes: doubles do not tell large integers apart.
    if (memcmp((char *)is->dl.data + i * width,
               (char *)wanted->dl.data + i * width, (size_t)width) == 0 ||
        (tolerance > 0 && (x == y || (isnan(x) && isnan(y)))))
      continue;
    double absolute = fabs(x - y), size = fabs(y) > scale ? fabs(y) : scale;
    double relative = size > 0 ? absolute / size : INFINITY;
    if (!isfinite(relative))
      relative = INFINITY; // one of them is NaN or infinite
    found->max_absolute =
        fmax(found->max_absolute, isnan(absolute) ? INFINITY : absolute);
    found->max_relative = fmax(found->max_relative, relative);
    if (relative > tolerance && found->off++ == 0)
      found->first = i;
  }
}
