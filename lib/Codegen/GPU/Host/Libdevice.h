//===- Libdevice.h - NVIDIA's library of device functions -------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_HOST_LIBDEVICE_H
#define PIT_LIB_CODEGEN_GPU_HOST_LIBDEVICE_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::pit::cuda {

/// The names of libdevice's functions begin so.
inline constexpr StringLiteral kLibdevicePrefix = "__nv_";

/// The path of libdevice.10.bc. An error names the places that were searched.
llvm::Expected<std::string> findLibdevice();

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_HOST_LIBDEVICE_H
