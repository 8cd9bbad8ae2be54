//===- Target.h - The machines that programs are compiled for ---*- C++ -*-===//
//
// The compiler's knowledge of a machine: one description for each kind of CPU
// and for each GPU chip. Passes make it from their options and hand it on;
// nothing else has the numbers of a machine or looks at its name.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_TARGET_TARGET_H
#define PIT_TARGET_TARGET_H

#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"

#include <optional>
#include <string>

namespace mlir::pit {

/// A kind of CPU.
struct CpuTarget {
  StringLiteral name;
  int64_t vectorBits;      ///< of a vector register
  int64_t vectorRegisters; ///< that a program names
  bool amx = false;        ///< tile registers and their products of bf16 and i8

  /// Bytes of a line of the caches.
  static constexpr int64_t lineBytes = 64;
  /// Bytes of a core's caches for data, and of its share of the last one.
  static constexpr int64_t l1Bytes = 32 << 10;
  static constexpr int64_t l2Bytes = 1 << 20;
  static constexpr int64_t l3Bytes = 4 << 20;

  /// Enough registers for blocks of four vectors by six rows and what they
  /// read.
  bool hasManyRegisters() const { return vectorRegisters >= 32; }
  /// Registers that hold the sums of a block; the rest is for operands.
  int64_t accumulators() const { return vectorRegisters * 3 / 4; }
};

/// A GPU. Code for it also runs on newer ones, unless `isExact`.
struct GpuTarget {
  std::string chip;
  int64_t capability; ///< 80 of sm_80
  bool isExact;       ///< its code runs on no other chip, as that of sm_90a
  std::string ptx;    ///< the version of PTX that knows the chip, as for LLVM

  bool wgmma; ///< products of warpgroups, with TMA and clusters of blocks
  bool vectorAtomics; ///< additions of several floats at once (red.v4.f32)
  bool tf32Nearest;   ///< rounding to tf32 to nearest, ties to even

  int64_t multiprocessors;         ///< of the largest one
  int64_t multiprocessorRegisters; ///< of 32 bits
  int64_t blockSharedBytes;        ///< of shared memory that a block may have
  int64_t l2Bytes;                 ///< of the cache that all blocks share
  /// The bytes that the stages of a mainloop of the portable schedule may take
  /// of it, and up to which bytes of a block two of them run on a
  /// multiprocessor.
  int64_t mainloopSharedBytes, pairedSharedBytes;
};

/// So many blocks of a multiprocessor share tiles along k, where there are too
/// few tiles for the machine: those of 256 threads.
constexpr int64_t blocksThatShare(int64_t threads) {
  return std::max<int64_t>(1, 256 / threads);
}

/// Shared memory that a block may have on every GPU.
constexpr int64_t kPortableSharedBytes = 99 * 1024;

/// The machine that tiles are chosen for: one of the two.
struct Target {
  std::optional<CpuTarget> cpu;
  std::optional<GpuTarget> gpu;
};

/// The CPU whose vector registers have so many bits, with tile registers if
/// `amx` and if there is such a one; none if no CPU has them.
std::optional<CpuTarget> findCpuTarget(int64_t vectorBits, bool amx = false);

/// The GPU of this name, as `sm_80`.
std::optional<GpuTarget> findGpuTarget(StringRef chip);

/// The names of all, and the GPU whose code runs on all others.
SmallVector<std::string> getGpuChips();
GpuTarget getOldestGpuTarget();

/// The CPU of this name, as `avx2`, and the names of all.
std::optional<CpuTarget> findCpuTarget(StringRef name);
std::string listCpuNames();

/// The name by which `getTarget` finds a CPU or, if there is none, words for
/// its error.
std::string getCpuName(int64_t vectorBits, bool amx);

/// The same as the two find functions, for passes: what is not known is an
/// error at `loc` that lists what is.
FailureOr<CpuTarget> getCpuTarget(Location loc, int64_t vectorBits,
                                  bool amx = false);
FailureOr<GpuTarget> getGpuTarget(Location loc, StringRef chip);
/// The CPU or GPU of this name.
FailureOr<Target> getTarget(Location loc, StringRef name);

/// The mistake in the name of a chip that `findGpuTarget` does not know.
std::string describeUnknownChip(StringRef chip);

} // namespace mlir::pit

#endif // PIT_TARGET_TARGET_H
