//===- PortableBody.h - What a tile body's expansion consists of *- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_PORTABLE_PORTABLEBODY_H
#define PIT_LIB_CODEGEN_GPU_PORTABLE_PORTABLEBODY_H

#include "PortableLowering.h"

#include "Codegen/GPU/Common/Fragments.h"
#include "Codegen/GPU/Common/PlaceCompares.h"

namespace mlir::pit::cuda {

/// The state of a body's expansion.
struct BodyContext {
  Emitter &e;
  const BodyPlan &plan;
  MainloopOp mainloop;
  ChunkMap &chunks;
  MainloopSteps &steps;
};

//===----------------------------------------------------------------------===//
// Loads to shared memory
//===----------------------------------------------------------------------===//

/// Copies the tiles that contractions read to shared memory, with other threads
/// that do the same.
class BodyLoader {
public:
  BodyLoader(const BodyContext &body, const PortableThread &self)
      : self(self), body(body) {}

  /// Copies what is loaded once, and one tile of it to `to` (i32, bytes).
  void loadInvariants();
  void loadInvariant(const StagedTile &staged, Value to);
  /// Copies a tile of step `s` to `to` (i32, bytes).
  void loadTile(const StagedTile &staged, Value s, Value to);
  /// The places of a step's tiles: ids (i32) of the rows that the warp copies,
  /// of which each lane has some, -1 of those that are absent, and numbers. It
  /// comes a step before the tiles: a copy that waits for its id would hold up
  /// all that is behind it.
  SmallVector<Value> readAhead(Value s);
  /// The same of the step that is loaded next.
  void takeAhead(ValueRange values);
  /// Goes to the step that is loaded next.
  void enter(Value s) { body.steps.enter(s, numbers); }

private:
  int64_t countIds();
  /// How the rows of a tile lie in the lanes of a warp.
  struct LanesRows {
    Value lane, warp;     ///< this lane, and the warp's first thread (i32)
    int64_t chunks, rows; ///< of a row; of 32 chunks in a row
  };
  LanesRows rowsOfLanes(const SharedTile &tile);
  /// The ids (index) of the rows of which this thread copies chunks.
  SmallVector<Value> idsOfThread(const SharedTile &tile);

  const PortableThread &self;
  BodyContext body;
  SmallVector<Value> ids, numbers;
};

//===----------------------------------------------------------------------===//
// Tiles in registers
//===----------------------------------------------------------------------===//

/// The tiles of a body's step, as fragments.
class BodyTiles {
public:
  explicit BodyTiles(const BodyContext &body)
      : e(body.e), plan(body.plan), mainloop(body.mainloop),
        chunks(body.chunks), steps(body.steps) {}

  /// Says which thread (i32) it is of those that compute.
  void locate(Value number);
  /// Says which row (i32) the fragments of this thread begin with: wgmma's
  /// warps share one out, others have one each.
  void beginAt(Value row) { firstRow = row; }
  /// The first row of the thread's warp (i32).
  Value warpOrigin() const { return origin; }
  Value of(Value tile) const { return tiles.at(tile); }
  void set(Value tile, Value fragment) { tiles[tile] = fragment; }

  /// First values of what is carried.
  SmallVector<Value> initial();
  /// Reads elements that all steps read alike.
  void readInvariants();
  /// Reads what a step's ops take element by element, and takes what is
  /// carried to it. `ahead` is what readAhead() gave for it, or nothing.
  void enter(Value s, ValueRange carried, ValueRange ahead = {});
  /// Reads columns of a step that are spread: they may come a step before.
  SmallVector<Value> readAhead(Value s);
  /// Takes what is carried, and gives it.
  void takeCarried(ValueRange values);
  SmallVector<Value> carried() {
    return fragmentsOf(ValueRange(mainloop.getCarriedTiles()));
  }
  void compute(PointwiseOp op) { tiles[op.getResult()] = fragmentOf(op); }
  /// Whether all comparisons of places hold for all elements of the step's
  /// tiles, as far as one can ask that; null if there are none.
  Value allHold();
  /// The same of any step, before one is entered; that behind the last one is
  /// taken for the last one.
  Value holdsAt(Value s);
  /// Says whether it holds where a step's ops are computed. Else each of them
  /// asks.
  void assumeHolds(std::optional<bool> holds) { stepHolds = holds; }
  /// What the step knows by the numbers that it takes.
  SmallVector<Value> numbersOf(ValueRange values) const {
    return llvm::map_to_vector(
        values, [&](Value value) { return numbers.lookupOrDefault(value); });
  }
  /// The values that the step carries to the next one.
  SmallVector<Value> next() {
    return fragmentsOf(
        mainloop.getCompute().front().getTerminator()->getOperands());
  }
  /// Stores the further results, and runs the epilogue for the elements that
  /// thread `number` (i32) has of all that is carried. The thread is located
  /// anew, so that what is known of it takes no registers in the steps.
  void finish(MainloopEpilogue &epilogue, Value number, ValueRange carried);

private:
  SmallVector<Value> colsOf(int64_t columns);
  pitgpu::FragmentType fragmentOf(int64_t rows, int64_t columns,
                                  Type element) const;
  pitgpu::FragmentType typeOf(Value tile) const;
  pitgpu::FragmentType typeOfRead(BlockArgument tile) const;
  pitgpu::FragmentType typeOfElements(PointwiseOp op, Type element);
  bool isReadAhead(BlockArgument tile) const;
  SmallVector<Value> fragmentsOf(ValueRange tiles);
  Value readDirectly(BlockArgument tile);
  Value readCoords(BlockArgument tile, Value ids);
  Value readElements(BlockArgument tile, const TileAccess &access);
  Value fragmentOf(PointwiseOp op);
  Value map(PointwiseOp op, Value result, bool allHold);
  Value reduce(PointwiseOp op);
  void enterNumbers(Value s);
  void findBases();
  void readFromBase(Value read);
  SmallVector<std::pair<arith::CmpIOp, PlaceCompare>>
  compares(PointwiseOp op) const;
  Value allHold(PointwiseOp op);
  void storeExtraResults(ValueRange carried);
  void store(StoreOp op);

  Emitter &e;
  const BodyPlan &plan;
  MainloopOp mainloop;
  ChunkMap &chunks;
  MainloopSteps &steps;
  Value lane, origin;      ///< in the warp; its first row
  Value firstRow;          ///< of the fragments (i32)
  SmallVector<Value> rows; ///< of this thread
  DenseMap<Value, Value> tiles;
  IRMapping numbers; ///< of the step
  /// Addresses (i64) of vectors of which ops load elements from places that
  /// they compute.
  DenseMap<Value, Value> bases;
  std::optional<bool> stepHolds;
};

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The state of a thread in a step of a tile body.
struct BodyStep {
  const PortableThread &self; ///< of those that compute
  const BodyPlan &plan;
  Value origin; ///< the first row of its warp (i32)
  /// Where a staged tile lies (i32, bytes).
  function_ref<Value(const StagedTile &)> addressOf;
};

/// Adds what a contraction multiplies, by mma.sync, to `sums`. `lhs` is its
/// first operand, if that was computed; null: it lies in shared memory.
Value multiplyInBody(const BodyStep &step, ContractOp op, Value sums,
                     Value lhs);

/// Contractions by wgmma, in ops of the pipeline level.
class BodyProducts {
public:
  /// Gives a staged tile.
  using TileOf = std::function<Value(const StagedTile &)>;

  /// `group` is the thread's warpgroup among those that compute (i32).
  BodyProducts(Emitter &e, const BodyPlan &plan, Value group, TileOf tileOf)
      : e(e), plan(plan), group(group), tileOf(std::move(tileOf)) {}

  Value warpgroup() const { return group; }
  void setWarpgroup(Value number) { group = number; }
  static pitgpu::TileType typeOf(const StagedTile &staged);
  static pitgpu::AccumulatorType sumsOf(ContractOp op);
  /// A first factor that was computed, as products take it.
  Value factor(Value tile, Value fragment);
  /// Starts a contraction; `lhs` is its first factor if that was computed.
  /// Gives the accumulators.
  Value start(ContractOp op, Value sums, Value lhs);
  /// The type of the tile that has the first factor of BodyPlan::added, and the
  /// part of it that has this warpgroup's rows.
  static pitgpu::TileType typeOfFactor(const BodyPlan &plan);
  Value ownFactor(Value tile);
  /// The tile in which a warpgroup stages what that contraction gave.
  static pitgpu::TileType typeOfSums(const BodyPlan &plan);
  /// Starts that contraction.
  Value startAdded(Value factor);
  /// Stores what it gave.
  void storeAdded(Value sums, ValueRange subscripts, Value number,
                  const ChunkMap &chunks);
  /// Waits for the accumulators of a contraction while so many products that
  /// were started later go on; `before` are the sums that threads add.
  Value await(ContractOp op, Value accumulators, int64_t later, Value before);

private:
  Value rowsOfGroup(Value tile, bool transposed);

  Emitter &e;
  const BodyPlan &plan;
  Value group;
  TileOf tileOf;
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_PORTABLE_PORTABLEBODY_H
