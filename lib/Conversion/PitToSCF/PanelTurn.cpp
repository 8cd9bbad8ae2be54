//===- PanelTurn.cpp - Rows to columns, in registers ----------------------===//
//
// Processors interleave elements within 128 bits of a vector by one cheap
// instruction, and move such segments by another. So the segments are turned
// first, each for itself, and then they change places.
//
//===----------------------------------------------------------------------===//

#include "PanelTurn.h"

#include "PanelPack.h"
#include "PanelReads.h"
#include "RuntimeCalls.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;

static constexpr int64_t kSegmentBits = 128;
static constexpr int64_t kLineBytes = 64;
/// To gather an element costs as much as to turn this many (measured,
/// docs/Performance.md).
static constexpr int64_t kTurnsToGather = 6;
/// Columns that one iteration turns.
static constexpr int64_t kColumns = 64;

SmallVector<Value> mlir::pit::turnVectors(OpBuilder &b, Location loc,
                                          ArrayRef<Value> from) {
  int64_t lanes = from.size();
  auto type = cast<VectorType>(from.front().getType());
  int64_t segment = std::min<int64_t>(
      lanes, kSegmentBits / type.getElementType().getIntOrFloatBitWidth());
  SmallVector<Value> rows(from);
  auto shuffle = [&](Value x, Value y, function_ref<int64_t(int64_t)> pick) {
    auto picks = llvm::map_to_vector(llvm::seq(lanes), pick);
    return vector::ShuffleOp::create(b, loc, x, y, picks).getResult();
  };
  // A round of interleaving moves one bit of the row's number to the column's.
  for (int64_t round = 1; round < segment; round *= 2) {
    SmallVector<Value> next;
    for (int64_t group = 0; group < lanes; group += segment)
      for (int64_t i = 0; i < segment / 2; ++i)
        for (int64_t half : {0, 1}) {
          Value x = rows[group + i], y = rows[group + i + segment / 2];
          next.push_back(shuffle(x, y, [&](int64_t to) {
            int64_t within = to % segment;
            return to - within + half * segment / 2 + within / 2 +
                   within % 2 * lanes;
          }));
        }
    rows = next;
  }
  for (int64_t distance = segment; distance < lanes; distance *= 2)
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & distance)
        continue;
      Value x = rows[i], y = rows[i + distance];
      rows[i] = shuffle(x, y, [&](int64_t to) {
        return to & distance ? to - distance + lanes : to;
      });
      rows[i + distance] = shuffle(x, y, [&](int64_t to) {
        return to & distance ? to + lanes : to + distance;
      });
    }
  return rows;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

namespace {

/// Turns operand A of a ring.
class RowsTurner {
public:
  RowsTurner(OpBuilder &b, ForallOp loop, func::FuncOp function, RingOp ring,
             const PanelPlan &plan, const IndexMap &indices)
      : b(b), loc(ring.getLoc()), loop(loop), function(function), ring(ring),
        plan(plan), indices(indices), view(ring.getLoaded(plan.a)),
        rank(view.getSubscripts().size()),
        element(getElementTypeOrSelf(view.getSrc())) {}

  TurnedRows run() {
    if (!match())
      return {};
    Value worth = isReadMoreThan(b, loop, ring, view, indices, /*times=*/1,
                                 /*in=*/kTurnsToGather);
    if (matchPattern(worth, m_Zero()))
      return {};
    for (unsigned d = 0; d < rank; ++d)
      sizes.push_back(memref::DimOp::create(b, loc, view.getSrc(), d));
    allocate();
    auto branch = scf::IfOp::create(b, loc, worth, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    emitLoops();
    return {turned, k, worth};
  }

private:
  Value index(int64_t value) { return constantIndex(b, loc, value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value min(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }

  void forLanes(Value from, Value to, function_ref<void(Value)> body) {
    emitFor(b, loc, from, to, plan.lanes, {}, [&](Value at, ValueRange) {
      body(at);
      return SmallVector<Value>();
    });
  }

  /// Ids choose elements along the last dimension, and k is another one.
  bool match() {
    AffineMap map = getRingMap(ring, plan.a);
    if (!plan.packA || plan.k.empty() || !map.isProjectedPermutation() ||
        !isa<IdsType>(view.getSubscripts().back().getType()) ||
        loop.getRegion().isAncestor(view.getSrc().getParentRegion()) ||
        !cast<MemRefType>(view.getSrc().getType()).getLayout().isIdentity())
      return false;
    std::optional<unsigned> found = findDim(map, plan.k.back());
    if (!found || *found + 1 == rank)
      return false;
    k = *found;
    return true;
  }

  /// Rows end with a line that is not used, so that they fall into all sets of
  /// a cache.
  void allocate() {
    int64_t line = kLineBytes / elementBytes(element);
    SmallVector<Value> extents;
    for (unsigned d = 0; d < rank; ++d)
      if (d != k)
        extents.push_back(sizes[d]);
    Value lines = arith::DivUIOp::create(
        b, loc, add(sizes[k], index(2 * line - 1)), index(line));
    extents.push_back(arith::MulIOp::create(b, loc, lines, index(line)));
    Value bytes = index(elementBytes(element));
    for (Value extent : extents)
      bytes = arith::MulIOp::create(b, loc, bytes, extent);
    turned =
        memrefAt(b, loc, allocateBytes(b, loc, function, bytes),
                 MemRefType::get(
                     SmallVector<int64_t>(rank, ShapedType::kDynamic), element),
                 extents);
  }

  void emitLoops() {
    SmallVector<Value> lower(rank - 1, index(0)), upper, steps;
    for (unsigned d = 0; d < rank; ++d)
      if (d != k) {
        upper.push_back(sizes[d]);
        steps.push_back(index(d + 1 == rank ? kColumns : 1));
      }
    auto parallel = scf::ParallelOp::create(b, loc, lower, upper, steps);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(parallel.getBody());
    SmallVector<Value> others(parallel.getInductionVars());
    Value first = others.pop_back_val();
    Value end = min(add(first, index(kColumns)), sizes.back());
    Value whole = sub(end, arith::RemUIOp::create(b, loc, sub(end, first),
                                                  index(plan.lanes)));
    forLanes(index(0), sizes[k], [&](Value row) {
      forLanes(first, whole,
               [&](Value column) { turnSquare(others, row, column, Value()); });
      forLanes(whole, end, [&](Value column) {
        turnSquare(others, row, column, sub(end, column));
      });
    });
  }

  /// Turns a square of lanes; `left`, unless null, says how many columns of it
  /// exist.
  void turnSquare(ValueRange others, Value row, Value column, Value left) {
    auto type = VectorType::get(plan.lanes, element);
    Value mask, zero;
    if (left) {
      mask =
          vector::CreateMaskOp::create(b, loc, type.clone(b.getI1Type()), left);
      zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    }
    // Rows beyond the last one are the last one.
    Value lastRow = sub(sizes[k], index(1));
    SmallVector<Value> square;
    for (int64_t i = 0; i < plan.lanes; ++i) {
      SmallVector<Value> from(others);
      from.insert(from.begin() + k, min(add(row, index(i)), lastRow));
      from.push_back(column);
      square.push_back(
          left ? vector::MaskedLoadOp::create(b, loc, type, view.getSrc(), from,
                                              mask, zero)
                     .getResult()
               : vector::LoadOp::create(b, loc, type, view.getSrc(), from)
                     .getResult());
    }
    square = turnVectors(b, loc, square);
    // So are columns, which are stored first.
    Value lastColumn = sub(sizes.back(), index(1));
    for (int64_t i = plan.lanes; i-- > 0;) {
      SmallVector<Value> to(others);
      Value at = add(column, index(i));
      to.append({left ? min(at, lastColumn) : at, row});
      vector::StoreOp::create(b, loc, square[i], turned, to);
    }
  }

  OpBuilder &b;
  Location loc;
  ForallOp loop;
  func::FuncOp function;
  RingOp ring;
  const PanelPlan &plan;
  const IndexMap &indices;
  ViewOp view;
  unsigned rank, k = 0; ///< of A
  Type element;
  SmallVector<Value> sizes; ///< of A
  Value turned;
};

} // namespace

TurnedRows mlir::pit::turnRows(OpBuilder &builder, ForallOp loop,
                               func::FuncOp function, RingOp ring,
                               const PanelPlan &plan, const IndexMap &indices) {
  return RowsTurner(builder, loop, function, ring, plan, indices).run();
}
