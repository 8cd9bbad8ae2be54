//===- HopperPartials.h - Tiles that blocks share -----------------*- C++
//-*-===//
//
// Blocks that share a tile along k write the sums of their steps to memory. The
// one that counts itself in last adds them up.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_KERNEL_HOPPERPARTIALS_H
#define PIT_LIB_KERNEL_HOPPERPARTIALS_H

#include "HopperLowering.h"

namespace mlir::pit {

class HopperPartials {
public:
  /// `exist` says of each wgmma whether the result has any of its warp's rows;
  /// null: it has. Sums of others are neither written nor read.
  HopperPartials(Emitter &e, const HopperPlan &plan, const HopperThread &self,
                 ArrayRef<Value> exist)
      : e(e), plan(plan), self(self), exist(exist) {}

  /// Writes the sums of this block's part.
  void write(ArrayRef<Value> sums);
  /// Counts this warpgroup in; true in the one that comes last.
  Value countIn();
  /// Adds up the parts in their order, whichever block comes last: the same
  /// bits every time.
  SmallVector<Value> add();

private:
  Value address(Value start, Value byte);
  Value pointer(Value address);
  Value firstOf(Value part);
  Value place(Value first, int64_t j);
  SmallVector<Value> addRows(int64_t wgmma);
  void syncWarpgroup();
  void fence();
  Value zero() { return e.constant(e.b.getF32FloatAttr(0)); }

  Emitter &e;
  const HopperPlan &plan;
  const HopperThread &self;
  ArrayRef<Value> exist;
};

} // namespace mlir::pit

#endif // PIT_LIB_KERNEL_HOPPERPARTIALS_H
