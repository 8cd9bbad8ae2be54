//===- DeviceCode.h - The form of a program's kernels -----------*- C++ -*-===//

#ifndef PIT_CODEGEN_GPU_HOST_DEVICECODE_H
#define PIT_CODEGEN_GPU_HOST_DEVICECODE_H

#include "llvm/Support/CommandLine.h"

namespace mlir::pit {

/// The form in which a program holds its kernels.
enum class DeviceCode {
  PTX,   ///< a text, which the driver assembles for the GPU that it finds
  Cubin, ///< machine code for one architecture
  Auto   ///< a cubin where PTX would run on one architecture only
};

/// The names of these in options.
inline llvm::cl::ValuesClass getDeviceCodeValues() {
  return llvm::cl::values(
      clEnumValN(DeviceCode::PTX, "ptx", "PTX, assembled by the driver"),
      clEnumValN(DeviceCode::Cubin, "cubin", "A cubin, assembled by ptxas"),
      clEnumValN(DeviceCode::Auto, "auto",
                 "A cubin for chips whose code no other GPU runs (sm_90a), if "
                 "there is ptxas; else PTX"));
}

} // namespace mlir::pit

#endif // PIT_CODEGEN_GPU_HOST_DEVICECODE_H
