//===- BodyPlan.h - How a tile body is computed -----------------*- C++ -*-===//
//
// The portable schedule of a mainloop with a tile body. Each warp has some rows
// of all tiles, in registers, as mma.sync has its sums. What contractions read
// from memory lies in shared memory. All warps load it or, where wgmma
// multiplies tiles of 128 rows or more, warps that do nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_PLAN_BODYPLAN_H
#define PIT_LIB_CODEGEN_GPU_PLAN_BODYPLAN_H

#include "PortablePlan.h"

#include "Codegen/Common/TileBodyInfo.h"

namespace mlir::pit::cuda {

/// A tile that contractions read from shared memory.
struct StagedTile {
  BlockArgument tile;       ///< of the compute region
  ViewOp view;              ///< where it comes from
  PortableOperand operand;  ///< how it lies, without what k is
  bool isInvariant = false; ///< loaded before the first step
  int64_t offset = 0;       ///< in what is loaded once (bytes)

  /// Is it a box of an argument of the kernel? Then TMA can copy it.
  bool isBox() const;
};

/// The columns of what steps add that a warpgroup multiplies: so much is in
/// each of its threads' registers at most.
constexpr int64_t kAddedColumns = 64;

/// How an op of a body combines what it reduces.
struct BodyReduction {
  Operation *combiner; ///< takes the value so far
  TypedAttr identity;
};

struct BodyPlan : KernelPlan {
  using KernelPlan::KernelPlan;

  TileBodyInfo info;
  SmallVector<StagedTile> staged;
  DenseMap<Operation *, BodyReduction> reductions;
  bool takesWgmma = false; ///< mma.sync does not take what it multiplies
  int64_t stageBytes = 0, invariantBytes = 0;
  /// Places for what is loaded once. With two, that of the next tile is loaded
  /// while the one before is computed.
  int64_t invariantStages = 1;
  /// A contraction that runs a step late, while the next step's tiles are
  /// computed, and what it is carried as; null if none does.
  ContractOp late;
  BlockArgument lateSums;
  /// A contraction that sums up rows, and that steps add to memory; null if
  /// there is none. Its first factor goes through shared memory. With producers
  /// it runs a step late.
  ContractOp added;

  /// With producers, two barriers of each place for a tile.
  int64_t barriers() const {
    int64_t count = 0;
    for (const StagedTile &tile : staged)
      count += 2 * (tile.isInvariant ? invariantStages : stages);
    count += added ? 2 * addedStages() : 0;
    return producers ? count : 0;
  }
  int64_t sharedBytes() const {
    return addedOffset() + addedBytes() + 8 * barriers();
  }
  /// The places of what is added's first factor, behind those of all tiles.
  int64_t addedStages() const { return producers ? 2 : 1; }
  int64_t addedOffset() const {
    return invariantStages * invariantBytes + stages * stageBytes;
  }
  int64_t addedBytes() const {
    return added ? addedStages() * info.rows * kLineBytes + addedSumBytes() +
                       (producers ? kSwizzleBytes : 0)
                 : 0;
  }
  /// Where producers leave the adding to TMA, workers stage sums.
  int64_t addedSumBytes() const {
    return added && producers ? info.rows * kAddedColumns * 4 : 0;
  }
  /// The dimension of memory that rows of what is added run along.
  unsigned addedRowDim() const;
  /// Registers of a thread, after the roles are known.
  int64_t producerRegisters() const;
  int64_t workerRegisters() const {
    return KernelPlan::workerRegisters(producerRegisters());
  }
  const StagedTile &stagedOf(Value tile) const;
  /// Chunks of a tile that each thread copies.
  int64_t piecesOf(const SharedTile &tile) const {
    return llvm::divideCeil(tile.rows * tile.chunks(), loaders());
  }
  /// Rows in which 32 chunks lie that a warp copies at once, or more: a power
  /// of two.
  static int64_t rowsOfWarp(const SharedTile &tile);
  /// Registers of a lane for the ids of all rows that its warp copies.
  int64_t idRegistersOf(const SharedTile &tile) const {
    return llvm::divideCeil(piecesOf(tile) * rowsOfWarp(tile), 32);
  }
  /// The first of the tiles whose rows ids of the steps select, and these, if
  /// lanes have few of them; null if there is none.
  std::pair<const StagedTile *, Value> tileOfIds(MainloopOp mainloop) const;
  /// Has a tile the rows of that one, by the same threads?
  bool takesIdsAhead(const StagedTile &tile, MainloopOp mainloop) const;
  /// Decides how staged tiles lie in shared memory, when it is known whether
  /// wgmma reads them.
  void layOutTiles();

  /// See PortablePlan.
  static OrRefusal<BodyPlan> from(GpuScheduleAttr schedule, MainloopOp mainloop,
                                  const GpuTarget &target);
  GpuScheduleAttr toAttribute(MLIRContext *context) const;
};

/// Does k run along the columns of an operand?
bool isAlongK(ContractOp op, unsigned number, const StagedTile &staged);
/// Does an op give zeros everywhere? Then a contraction replaces its sums.
bool isZeroTile(Value tile);

/// Tensor cores add floats of 8 bits with about 14 bits, and cut off the rest:
/// what many steps add up that way is too small, by a quarter after 16384 keys.
/// So threads add the sums of each step, which begin at 0.
bool addsInThreads(ContractOp op);

/// A plan that says what a body loads, multiplies and reduces, before anything
/// is decided.
OrRefusal<BodyPlan> describeBody(MainloopOp mainloop, const GpuTarget &target);

/// Can this schedule compute a mainloop with a tile body?
Refused checkBody(MainloopOp mainloop, const GpuTarget &target);

/// The plan of one, if this schedule computes it.
OrRefusal<BodyPlan> planBody(MainloopOp mainloop, const GpuTarget &target);
/// The plan of one by wgmma, with producers.
OrRefusal<BodyPlan> planBodyByRoles(MainloopOp mainloop,
                                    const GpuTarget &target);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_PLAN_BODYPLAN_H
