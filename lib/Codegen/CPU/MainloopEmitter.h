//===- MainloopEmitter.h - Loops over register blocks -----------*- C++ -*-===//
//
// MainloopBlocks.cpp has the blocks of sums, MainloopLowering.cpp the steps.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_CPU_MAINLOOPEMITTER_H
#define PIT_LIB_CODEGEN_CPU_MAINLOOPEMITTER_H

#include "PackOperands.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::pit::cpu {

/// A block of sums, by its first coordinates in the tile.
struct SumBlock {
  SmallVector<Value> origin; ///< by iteration dimension; null for sums' dims
  int64_t vectors;
  Value mask;            ///< of the last vector; null: all lanes
  bool first = false;    ///< of those that read the same columns
  bool streamed = false; ///< whole cache lines, stored past the caches
};

/// The sums of a block, one row after another.
using BlockSums = SmallVector<Value>;

/// Steps of a part of the innermost sums; null: all.
struct StepRange {
  Value from, to;
};

/// The parts of one accumulator: its operands, and the place of its sums.
struct Accumulator {
  unsigned number = 0;  ///< in the mainloop
  PackedFactors before; ///< packed for all tiles
  TileAccess operands[2];
  /// `next` is the tile of A of the next chunk, null if none is known.
  Value sumsTile, packed, packedB, next;
  /// memref<?xindex>: rows of B that the ids of a chunk name; null without ids.
  Value rows;
  Value ahead;         ///< i1: is the next panel asked for? Null: no.
  Value existing;      ///< how many of them, of both operands; null with lanes
  Value packedColumns; ///< a panel of B's chunk, packed for dot instructions
  /// Panels of B, of all of it or of the chunk's tile, and where they begin, by
  /// dimension of B; null and none if that is known.
  Value panels;
  SmallVector<Value> origins;
};

class MainloopEmitter : ArithEmitter {
public:
  MainloopEmitter(OpBuilder &b, MainloopOp mainloop, const MainloopPlan &plan,
                  const PackedOperands &operands, const IndexMap &indices,
                  ChunkMap &chunks)
      : ArithEmitter(b, mainloop.getLoc()), mainloop(mainloop), plan(plan),
        results(operands.results), indices(indices), chunks(chunks),
        acc(mainloop.getMap(2)), destMap(acc),
        states(mainloop.getNumAccumulators()) {
    for (auto [number, state] : llvm::enumerate(states))
      state.number = number;
    for (auto [state, factors] : llvm::zip(states, operands.factors))
      state.before = factors;
  }

  void run();

private:
  //===--- Accumulators ---------------------------------------------------===//

  void forAccumulators(function_ref<void(Accumulator &)> body) {
    for (Accumulator &state : states)
      body(state);
  }
  /// The sums of a block for each accumulator.
  SmallVector<BlockSums> ofAll(function_ref<BlockSums(Accumulator &)> sums) {
    return llvm::map_to_vector(states, sums);
  }
  ViewOp view(Accumulator &own, unsigned operand) {
    return mainloop.getOperandView(operand, own.number);
  }
  /// The accumulator before this one that has the same A.
  Accumulator *sharesRows(Accumulator &own) {
    std::optional<unsigned> other = findSameView(mainloop, plan.a, own.number);
    return other ? &states[*other] : nullptr;
  }

  //===--- The whole tile -------------------------------------------------===//

  Value onStack(MemRefType type) {
    return memref::AllocaOp::create(b, loc, type, b.getI64IntegerAttr(64));
  }
  /// The buffers that the plan asks for.
  void allocate();
  void allocateSums();
  /// A transposed result passes through the tile of sums in any case. Does its
  /// start read tensors, an element at a time?
  bool initsByElements();
  /// The sums of all blocks lie in memory while `addUp` runs.
  void throughTile(function_ref<void()> addUp);
  /// All steps are packed at once; blocks may keep their sums in registers.
  void inOneChunk();
  void inManyChunks(const LoopBounds &bounds);

  //===--- Small things ---------------------------------------------------===//

  /// `value` less what is left over of a multiple of `unit`.
  Value roundDown(Value value, int64_t unit) {
    if (std::optional<int64_t> known = getConstantIntValue(value))
      return index(*known - *known % unit);
    return sub(value, arith::RemSIOp::create(b, loc, value, index(unit)));
  }
  VectorType vectorOf(Type element) {
    return VectorType::get(plan.lanes, element);
  }
  Value toVector(Value value) {
    if (isa<VectorType>(value.getType()))
      return value;
    return vector::BroadcastOp::create(b, loc, vectorOf(value.getType()),
                                       value);
  }

  //===--- Tiles ----------------------------------------------------------===//

  TileAccess access(const TilePlace &tile) {
    return accessTile(b, loc, tile, chunks);
  }
  SmallVector<Value>
  forLoop(Value from, Value to, int64_t step, ValueRange carried,
          function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    return emitFor(b, loc, from, to, step, carried, body);
  }
  Value coordinate(const TileDimension &dim, Value at) {
    return coordinateInTensor(b, loc, dim, at);
  }
  /// The part of an iteration point that a tile of this map has.
  SmallVector<Value> positionOf(AffineMap map, ArrayRef<Value> point);
  /// The same in the tensor.
  SmallVector<Value> coordinatesOf(const TileAccess &tile, AffineMap map,
                                   ArrayRef<Value> point);
  Value load(VectorType type, Value memref, ValueRange coordinates, Value mask);
  Value scalar(const TileAccess &tile, AffineMap map, ArrayRef<Value> point);
  Value vector(const TileAccess &tile, AffineMap map, ArrayRef<Value> point,
               Value mask);

  //===--- Blocks ---------------------------------------------------------===//

  void forBlocks(function_ref<void(const SumBlock &)> body);
  void forRows(SumBlock &block, function_ref<void(const SumBlock &)> body);
  /// The iteration point of row `row` and vector `v` of a block; rows beyond
  /// the last one are the last one.
  SmallVector<Value> point(const SumBlock &block, int64_t row, int64_t v);
  Value maskOf(const SumBlock &block, int64_t v) {
    return v + 1 == block.vectors ? block.mask : Value();
  }
  /// The value of a region on elements, vectors or scalars that stand for
  /// vectors of equal lanes.
  Value evaluate(Region &region, ValueRange elements, unsigned result = 0);
  SmallVector<Value> extrasAt(const SumBlock &block, int64_t row, int64_t v);
  BlockSums initial(Accumulator &own, const SumBlock &block);
  /// Is the destination read, too, as results are added to it?
  bool readsDestination();
  Value findStreaming();
  void storeRow(const SumBlock &block, ValueRange vectors,
                ValueRange coordinates);
  Value narrow(Value result);
  /// Stores what the sums of a block, or of its first row alone, come to.
  void finish(const SumBlock &block, ArrayRef<BlockSums> sums);
  void ifStreams(function_ref<void()> then, function_ref<void()> otherwise);
  void
  finishBlocks(function_ref<BlockSums(Accumulator &, const SumBlock &)> sumsOf);
  void finishSums();
  void finishRows();
  void forElements(int64_t together,
                   function_ref<void(ArrayRef<Value>, int64_t)> body);
  SmallVector<Value> extrasAt(ArrayRef<Value> point);
  void initElements();
  void finishElements();
  void finishElements(SmallVector<Value> at, unsigned across, int64_t rows);
  BlockSums loadSums(Accumulator &own, const SumBlock &block, int64_t rows);
  void storeSums(Accumulator &own, const SumBlock &block, ArrayRef<Value> sums);

  //===--- Steps ----------------------------------------------------------===//

  /// Runs `body` for each chunk of steps, with its operands in `operands`.
  void forChunks(LoopBounds bounds, function_ref<void()> body);
  void enterGroup(ValueRange ivs, LoopBounds &bounds);
  void enterChunk(ValueRange ivs, const LoopBounds &bounds);
  void packOperands();
  void packRowsOfChunk(Accumulator &own);
  void packColumnsOfChunk(Accumulator &own);
  Value tileAsPanels(Accumulator &own);
  void packTransposedRows(Accumulator &own);
  void findTiles(Accumulator &own);
  BlockSums multiply(Accumulator &own, const SumBlock &block, BlockSums sums,
                     const StepRange &part = {});
  std::optional<unsigned> rowsByIds(Accumulator &own);
  void tabulateRows(Accumulator &own, Value count);
  void tabulateExisting(Accumulator &own);
  Value rowAt(Accumulator &own, ArrayRef<Value> at);
  void prefetchNextSteps(Accumulator &own, const SumBlock &block,
                         SmallVector<Value> at);
  void prefetchColumns(Accumulator &own, const SumBlock &block,
                       ArrayRef<Value> at);
  void prefetchNextPanel(Accumulator &own, const SumBlock &block);
  void prefetchTile(Accumulator &own, const SumBlock &block);
  void prefetchLines(const TileAccess &tile, bool isWrite);
  void prefetchResults();
  void prefetchNextRows(Accumulator &own);
  SmallVector<Value> columnAt(Accumulator &own, const SumBlock &block,
                              ArrayRef<Value> at, int64_t v);
  /// The dimension of A that is last in a packed tile.
  unsigned lastOfRows(Accumulator &own) {
    return own.before.rows.memref ? own.before.rows.last
                                  : mainloop.getMap(plan.a).getNumResults() - 1;
  }
  /// The memory that columns of B are read from.
  Value columnsOf(Accumulator &own) {
    Value panels = own.panels ? own.panels : own.before.panels.memref;
    return packsColumns(own) ? own.packedB
           : panels          ? panels
                             : own.operands[plan.b].memref;
  }
  Value loadColumns(Accumulator &own, VectorType type, const SumBlock &block,
                    ArrayRef<Value> at, int64_t v, Value mask);
  SmallVector<Value> multiplyPoint(Accumulator &own, const SumBlock &block,
                                   ValueRange sums, ArrayRef<Value> k);
  Value limitOf(Accumulator &own, unsigned dim);
  int64_t partSteps();
  bool sumsInParts();
  void addProducts(Accumulator &own);
  MemRefType getSumsType();
  void enterTile();

  //===--- Dot instructions -----------------------------------------------===//

  MemRefType getPackedColumnsType();
  void multiplyDots(Accumulator &own);
  void forDims(Accumulator &own, ArrayRef<unsigned> dims,
               SmallVector<Value> &at, function_ref<void()> body);
  void forRange(Value to, int64_t step, function_ref<void(Value)> body);
  void packColumns(Accumulator &own, ArrayRef<Value> at, Value length,
                   Value steps);
  struct DotBlock;
  void multiplyTiles(Accumulator &own, const DotBlock &block, Value steps);
  void multiplyPairs(Accumulator &own, const DotBlock &block, Value length);

  MainloopOp mainloop;
  const MainloopPlan plan;
  Value results;
  const IndexMap &indices;
  ChunkMap &chunks;
  AffineMap acc;
  AffineMap destMap; ///< of what is written

  SmallVector<Accumulator, 0> states;
  TileAccess dest;
  SmallVector<TileAccess> extras;
  SmallVector<AffineMap> extraMaps; ///< of iteration points
  /// How far the tile goes along each dimension of the accumulator.
  SmallVector<Value> limits;
  Value streams; ///< i1: are stores to go past the caches? Null: no.
  /// A vector is a part of a cache line, which only goes past the caches whole:
  /// results are stored row by row, from the tile of sums.
  bool storesRows() { return streams && streamedVectors() > 1; }
  /// Bytes of a vector as the destination holds it.
  int64_t storedBytes() {
    return plan.lanes * elementBytes(getElementTypeOrSelf(dest.memref));
  }
  /// Vectors of a destination's cache line.
  int64_t streamedVectors() { return CpuTarget::lineBytes / storedBytes(); }
  /// Is a tile of B packed for this mainloop alone?
  bool packsColumns(Accumulator &own) {
    return plan.packB || (plan.transposeB && !own.before.panels.memref);
  }
};

} // namespace mlir::pit::cpu

#endif // PIT_LIB_CODEGEN_CPU_MAINLOOPEMITTER_H
