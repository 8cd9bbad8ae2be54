//===- HopperFill.h - Rows that no tile writes ------------------*- C++ -*-===//
//
// A program that computes some rows of a result fills it before. Most of what
// the fill writes is written again, and it takes as long as the memory does,
// while the tensor cores do nothing. A kernel of Hopper's schedule can do it
// instead: its producers fill the rows that the index does not list, after each
// tile some of them, as they have little to do but to wait.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CONVERSION_PITTOGPU_HOPPERFILL_H
#define PIT_LIB_CONVERSION_PITTOGPU_HOPPERFILL_H

#include "../../Kernel/HopperLowering.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::pit {

/// A launch that fills what a later one writes.
struct LaunchedFill {
  LaunchOp launch;
  unsigned argument = 0; ///< of the later launch's kernel
  TypedAttr value;
};

/// The fill of one of the kernel's outputs, if nothing uses that between the
/// fill and the kernel's only launch.
std::optional<LaunchedFill> findFill(func::FuncOp kernel);

/// Bits that a kernel needs to know the rows that `forall` writes; 0 if its
/// producers cannot fill the others, and `why` then says the reason.
int64_t rowsToFill(const LaunchedFill &fill, ForallOp forall, RingOp ring,
                   std::string &why);

/// In a kernel, the part of the rows that this block fills.
class HopperFill {
public:
  /// `dest` is the output, `ids` those of the index: `count` from `offset` on.
  HopperFill(Emitter &e, const HopperPlan &plan, const HopperThread &self,
             Value dest, TypedAttr value);

  /// Rows to look at (i32).
  Value rows() const { return count; }
  /// Finds out which of them are listed. All producers come here.
  void mark(Value ids, Value offset, Value listed);
  /// Fills those from `begin` to `end` (i32) that are not.
  void fill(Value begin, Value end);

private:
  Value wordAt(Value row);
  Value bitOf(Value row);
  void sync();

  Emitter &e;
  const HopperThread &self;
  Value base;         ///< address of the first row (i64)
  Value bits;         ///< in shared memory (i32)
  Value first, count; ///< the block's rows (i32)
  int64_t rowBytes;
  Value chunk; ///< what is filled with (vector<4xi32>)
};

} // namespace mlir::pit

#endif // PIT_LIB_CONVERSION_PITTOGPU_HOPPERFILL_H
