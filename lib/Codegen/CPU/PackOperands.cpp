//===- PackOperands.cpp - Operands of mainloops, packed for all tiles -----===//

#include "PackOperands.h"

#include "Codegen/Common/RuntimeCalls.h"
#include "DotOperands.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

/// Rows that are a multiple of so many bytes apart share few sets of a cache.
static constexpr int64_t kSetBytes = 2048;

bool OperandPacker::isReused() {
  auto comesAgain = [&](auto from, Block &body) {
    for (unsigned i = 0; i < from.getSteps().size(); ++i) {
      std::optional<int64_t> lower = getConstantIntValue(from.getLower()[i]),
                             upper = getConstantIntValue(from.getUpper()[i]);
      if (!llvm::is_contained(view.getSubscripts(), body.getArgument(i)) &&
          (!lower || !upper || *upper - *lower > from.getSteps()[i]))
        return true;
    }
    return false;
  };
  bool reused = comesAgain(mainloop, mainloop.getLoad().front());
  for (Operation *op = mainloop->getParentOp();
       !reused && op != loop->getParentOp(); op = op->getParentOp()) {
    if (auto inner = dyn_cast<ForOp>(op))
      reused = comesAgain(inner, *inner.getBody());
    else if (auto inner = dyn_cast<ForallOp>(op))
      reused = comesAgain(inner, *inner.getBody());
  }
  return reused;
}

namespace {

/// Packs the tiles of A of one mainloop.
class TilesPacker : OperandPacker {
public:
  TilesPacker(OpBuilder &b, const PackedMainloop &of)
      : OperandPacker(b, of, of.plan.a) {}

  PackedTiles run() {
    // It pays if there are more tiles of C than of A.
    if (!plan.packA || isInside(view.getSrc()) ||
        !mainloop.getGroups().empty() || !isReused())
      return {};
    bool fits = collect(mainloop, &mainloop.getLoad().front());
    for (Operation *op = mainloop->getParentOp();
         fits && op != loop->getParentOp(); op = op->getParentOp()) {
      if (auto inner = dyn_cast<ForOp>(op))
        fits = collect(inner, inner.getBody());
      else if (auto inner = dyn_cast<ForallOp>(op))
        fits = collect(inner, inner.getBody());
      else
        fits = false;
    }
    // Every subscript is known.
    if (!fits || !llvm::all_of(view.getSubscripts(), [&](Value subscript) {
          return known.contains(subscript) || !isInside(subscript);
        }))
      return {};
    allocate();
    emitLoops();
    return tiles;
  }

private:
  unsigned last() { return mainloop.getMap(plan.a).getNumResults() - 1; }
  std::optional<unsigned> findSubscript(Value value) {
    auto found = llvm::find(view.getSubscripts(), value);
    if (found == view.getSubscripts().end())
      return std::nullopt;
    return found - view.getSubscripts().begin();
  }

  /// Notes what A's tiles depend on in one loop around. Groups have to be part
  /// of A, or as many tiles as there are of A would be packed for each.
  template <typename LoopTy> bool collect(LoopTy from, Block *body) {
    for (unsigned i = 0; i < from.getSteps().size(); ++i) {
      BlockArgument iv = body->getArgument(i);
      std::optional<unsigned> subscript = findSubscript(iv);
      Value lower = from.getLower()[i], upper = from.getUpper()[i];
      if (!subscript)
        continue;
      if (isInside(lower) || isInside(upper))
        return false;
      Value span = sub(upper, lower);
      int64_t step = from.getSteps()[i];
      tiles.dims.push_back(
          {*subscript, lower, step,
           arith::CeilDivSIOp::create(b, loc, span, index(step))});
      ivs.push_back(iv);
      uppers.push_back(upper);
      known.insert(iv);
    }
    if (!from.getIndex())
      return true;
    for (unsigned i = 0; i < 2; ++i) {
      BlockArgument ids = body->getArgument(from.getSteps().size() + i);
      if (!findSubscript(ids))
        continue;
      if (list || isInside(from.getIndex()))
        return false;
      list = from.getIndex();
      listed = ids;
      positions = i == 1;
      groups = llvm::to_vector(from.getGroup());
      tiles.chunk = from.getChunk();
      known.insert(ids);
    }
    return llvm::all_of(from.getGroup(), [&](Value group) {
      return listed == nullptr || !isInside(group) || findSubscript(group);
    });
  }

  void allocate() {
    Value count = index(1);
    for (const PackedTiles::Dim &dim : tiles.dims)
      count = mul(count, dim.trips);
    if (list) {
      tiles.chunks = ceilDiv(indices.at(list).axisExtent, index(tiles.chunk));
      count = mul(count, tiles.chunks);
    }
    MemRefType type = getPackedRowsType(mainloop, plan, last());
    SmallVector<int64_t> shape(type.getShape());
    int64_t bytes = type.getNumElements() * elementBytes(type.getElementType());
    shape.insert(shape.begin(), ShapedType::kDynamic);
    Value pointer = allocateBytes(b, loc, function, mul(count, bytes));
    tiles.buffer = memrefAt(
        b, loc, pointer, MemRefType::get(shape, type.getElementType()), count);
  }

  void emitLoops() {
    SmallVector<Value> lower, steps;
    for (const PackedTiles::Dim &dim : tiles.dims) {
      lower.push_back(dim.lower);
      steps.push_back(index(dim.step));
    }
    OpBuilder::InsertionGuard guard(b);
    IRMapping mapping;
    if (!lower.empty()) {
      auto parallel = scf::ParallelOp::create(b, loc, lower, uppers, steps);
      b.setInsertionPointToStart(parallel.getBody());
      mapping.map(ivs, parallel.getInductionVars());
    }
    ChunkMap chunks;
    if (!list)
      return emitTile(mapping, chunks, Value());
    SmallVector<Value> group;
    for (Value subscript : groups)
      group.push_back(mapping.lookupOrDefault(subscript));
    const IndexView &ids = indices.at(list);
    auto [count, offset] = ids.countAndOffset(b, loc, group);
    auto emitChunk = [&, count = count, offset = offset](Value first) {
      Value start = add(offset, first);
      Value live = min(sub(count, first), index(tiles.chunk));
      chunks[listed] = {positions ? Value() : ids.ids, start, live, first};
      emitTile(mapping, chunks, first);
    };
    forEach(index(0), count, index(tiles.chunk), emitChunk);
  }

  void emitTile(const IRMapping &mapping, const ChunkMap &chunks, Value first) {
    SmallVector<Value> subscripts;
    for (Value subscript : view.getSubscripts())
      subscripts.push_back(mapping.lookupOrDefault(subscript));
    TileAccess tile =
        accessTile(b, loc,
                   {view.getSrc(), subscripts,
                    cast<VectorType>(view.getResult().getType()).getShape()},
                   chunks);
    packRows(b, mainloop, plan, {tile, mainloop.getMap(plan.a), last()},
             tiles.find(b, loc, tile, first));
  }

  PackedTiles tiles;
  llvm::SmallDenseSet<Value> known;
  SmallVector<Value> ivs, uppers; ///< of the loops in tiles.dims
  Value list, listed;             ///< index and ids that A is read by
  bool positions = false;         ///< instead of ids
  SmallVector<Value> groups;
};

} // namespace

Value cpu::tileAt(OpBuilder &b, Location loc, Value tiles, Value number) {
  auto type = cast<MemRefType>(tiles.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      sizes = memref::getMixedSizes(b, loc, tiles),
      strides(type.getRank(), b.getIndexAttr(1));
  offsets.front() = number;
  sizes.front() = b.getIndexAttr(1);
  auto result = memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, loc, cast<MemRefType>(result), tiles,
                                   offsets, sizes, strides);
}

Value PackedTiles::find(OpBuilder &b, Location loc, const TileAccess &tile,
                        Value first) const {
  ArithEmitter e(b, loc);
  Value number = e.index(0);
  auto append = [&](Value trips, Value distance, int64_t step) {
    number = e.add(e.mul(number, trips), e.div(distance, step));
  };
  for (const Dim &dim : dims)
    append(dim.trips, e.sub(tile.dims[dim.subscript].start, dim.lower),
           dim.step);
  if (chunk)
    append(chunks, first, chunk);
  return tileAt(b, loc, buffer, number);
}

PackedTiles cpu::packTiles(OpBuilder &builder, const PackedMainloop &of) {
  return TilesPacker(builder, of).run();
}

/// The conversion of an element by packing: dot instructions have packing of
/// their own.
static Operation *getPackedExtension(MainloopOp mainloop,
                                     const MainloopPlan &plan,
                                     unsigned operand) {
  return plan.dots ? nullptr : getExtension(mainloop, operand);
}

MemRefType cpu::getPackedTileType(MainloopOp mainloop, const MainloopPlan &plan,
                                  unsigned operand, unsigned last) {
  Operation *extension = getPackedExtension(mainloop, plan, operand);
  Type element = extension ? extension->getResult(0).getType()
                           : getElementTypeOrSelf(mainloop.getOperandView(
                                 operand, plan.accumulator));
  SmallVector<int64_t> shape(
      cast<VectorType>(
          mainloop.getOperandView(operand, plan.accumulator).getType())
          .getShape());
  moveLast(shape, last);
  // Vectors move whole.
  shape.back() = llvm::alignTo(shape.back(), plan.lanes);
  int64_t bytes = elementBytes(element);
  if (shape.back() * bytes % kSetBytes == 0)
    shape.back() += CpuTarget::lineBytes / bytes;
  return MemRefType::get(shape, element);
}

TileForm cpu::describeTile(MainloopOp mainloop, const MainloopPlan &plan,
                           unsigned operand, unsigned last) {
  AffineMap map = mainloop.getMap(operand);
  llvm::SmallBitVector windows(map.getNumResults());
  for (auto [d, result] : llvm::enumerate(map.getResults()))
    windows[d] = !isa<AffineDimExpr, AffineConstantExpr>(result);
  return {getPackedExtension(mainloop, plan, operand), plan.lanes, windows,
          mainloop.getOperandView(operand, plan.accumulator).getPadAttr(),
          last};
}

std::optional<unsigned> cpu::findSameView(MainloopOp mainloop, unsigned operand,
                                          unsigned accumulator) {
  for (unsigned i = 0; i < accumulator; ++i)
    if (mainloop.getViewOf(i, operand) ==
        mainloop.getViewOf(accumulator, operand))
      return i;
  return std::nullopt;
}

void cpu::packOperandsOf(OpBuilder &builder, ForallOp loop,
                         func::FuncOp function, const IndexMap &indices,
                         DenseMap<Operation *, PackedOperands> &packed) {
  loop.walk([&](MainloopOp mainloop) {
    MainloopPlan plan = getPlan(mainloop);
    PackedMainloop of{function, loop, mainloop, plan, indices};
    SmallVector<PackedFactors, 0> &factors = packed[mainloop].factors;
    for (unsigned i = 0; i < mainloop.getNumAccumulators(); ++i) {
      plan.accumulator = i;
      PackedFactors own;
      auto sameAs = [&](unsigned operand) -> const PackedFactors * {
        std::optional<unsigned> other =
            findSameView(mainloop, operand, plan.accumulator);
        return other ? &factors[*other] : nullptr;
      };
      const PackedFactors *sameB = sameAs(plan.b), *sameA = sameAs(plan.a);
      own.panels = sameB ? sameB->panels : packPanels(builder, of);
      own.tiles = sameA ? sameA->tiles : packTiles(builder, of);
      if (sameA)
        own.rows = sameA->rows;
      else if (!own.tiles.buffer)
        own.rows = transposeRows(builder, of);
      factors.push_back(own);
    }
  });
}
