//===- HopperFill.h - Rows that no tile writes ------------------*- C++ -*-===//
//
// A program that computes some rows of a result fills it before. Most of what
// the fill writes is written again, and it takes as long as the memory does,
// while the tensor cores do nothing. A kernel of Hopper's schedule can do it
// instead: its producers start copies from shared memory to the rows that the
// index does not list, between the steps' loads, or in warps that load nothing.
// The consumers, which wait for the loads, find out which rows that are.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERFILL_H
#define PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERFILL_H

#include "HopperLowering.h"

#include "Codegen/GPU/Plan/HopperNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::pit::cuda {

/// Launches that fill what later ones, of one kernel, write.
struct LaunchedFill {
  /// Each launch of the kernel, behind the one that fills.
  SmallVector<std::pair<LaunchOp, LaunchOp>> launches;
  unsigned argument = 0; ///< of the later launch's kernel
  TypedAttr value;
};

/// The fill of one of the kernel's outputs, if all of its launches have it and
/// nothing uses that output between the fill and the launch.
std::optional<LaunchedFill> findFill(func::FuncOp kernel);

/// Bits that a block needs to know the rows that tiles write, to fill the
/// others.
OrRefusal<int64_t> rowsToFill(const std::optional<LaunchedFill> &fill,
                              MainloopNest nest);

/// So many elements a block of the kernel can fill; 0 if it can fill its share
/// in any case.
int64_t elementsToFill(MainloopNest nest, int64_t rows);

/// Before a barrier of all threads of a block: no row is listed yet, and what
/// is filled is there to be copied.
void prepareFill(Emitter &e, const HopperPlan &plan, const HopperShared &shared,
                 TypedAttr value);

/// In a kernel, the part of the rows that this block fills.
class HopperFill {
public:
  /// `dest` is the output; its first dimensions are those of the groups of an
  /// index, if the ids have any.
  HopperFill(Emitter &e, const HopperPlan &plan, const HopperThread &self,
             Value dest, unsigned groupDims);

  /// Finds out which of them are listed: `listed` of the index's ids, from
  /// `offset` on. All consumers come here.
  void mark(Value ids, Value offset, Value listed);
  /// The same for groups of the index, up to these subscripts.
  void markGroups(const IndexView &index, ValueRange upTo);
  /// In the producers: spreads the rows over so many steps (i32; null: that is
  /// not known).
  void start(Value steps);
  /// Fills what is due after step `number` (i32).
  void afterStep(Value number);
  /// Fills what is left after so many steps (i32), and waits for all of it.
  void finish(Value steps);
  /// Fills all of them, in the warps of the producers that load nothing.
  void fillAlone();

private:
  Value extent(unsigned dim);
  void markList(Value ids, Value offset, Value listed, Value origin);
  void arrive();
  Value copiesAfter(Value steps);
  void fill(Value from, Value to);
  void copy(Value row, Value number);
  int64_t copiesOfRow() const;

  Emitter &e;
  const HopperPlan &plan;
  const HopperThread &self;
  Value dest;
  unsigned groupDims;
  int64_t rowBytes;
  int64_t warps;      ///< that share the rows
  Value warp;         ///< this one's number of them (i32)
  Value first, count; ///< the block's rows (i32)
  Value base;         ///< address of the output's first row (i64)
  Value copies;       ///< so many copies a warp has at most (i32)
  Value spread, rate; ///< steps to spread them over, copies a step (i32)
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERFILL_H
