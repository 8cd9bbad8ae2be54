//===- WgmmaLayout.h - What wgmma reads in shared memory --------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_WGMMALAYOUT_H
#define PIT_LIB_CODEGEN_GPU_COMMON_WGMMALAYOUT_H

#include <cstdint>

namespace mlir::pit::cuda {

/// Threads of a warpgroup, which computes one wgmma, and rows of that.
constexpr int64_t kWarpgroup = 128;
constexpr int64_t kWgmmaRows = 64;
/// Bytes of the longest line: a row of a tile lies in lines, each of another
/// block, and the swizzle stays within a line.
constexpr int64_t kLineBytes = 128;
/// Lines after which the swizzle repeats. Tiles start at multiples of it.
constexpr int64_t kSwizzleLines = 8;
constexpr int64_t kSwizzleBytes = kLineBytes * kSwizzleLines;

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_WGMMALAYOUT_H
