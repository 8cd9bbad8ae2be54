//===- DeviceFunctions.h - Functions that devices lack ----------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_DEVICEFUNCTIONS_H
#define PIT_LIB_CODEGEN_GPU_DEVICEFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::pit::cuda {

/// Adds patterns for powf, fpowi, sinh, cosh, asinh, acosh and atanh of f32
/// scalars, right to a few units in the last place: upstream's expansions
/// cancel near 0, overflow early, and know no power of a negative number.
void populateDeviceFunctionPatterns(RewritePatternSet &patterns);

/// Adds patterns that make calls of libdevice of the functions of f64 scalars
/// that PTX lacks. They are right to four units in the last place.
void populateDeviceLibraryPatterns(RewritePatternSet &patterns);

/// Adds a pattern for arith.remf of scalars, which is exact.
void populateDeviceRemainderPatterns(RewritePatternSet &patterns);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_DEVICEFUNCTIONS_H
