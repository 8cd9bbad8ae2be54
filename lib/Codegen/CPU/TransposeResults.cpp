//===- PanelResults.cpp - Turned results that stay until all is added up --===//
//
// Where the loops in a tile loop come by the same elements of C several times,
// and lanes are no neighbours in C, each time would gather and scatter them:
//
//   pit.forall m
//     pit.for parts of k
//       pit.for ids along n
//         pit.ring C[m, ids] += ...
//
// Instead all columns of the tile's rows are turned to a matrix [n][m], in
// which rings find them as vectors, and turned back after the last part. That
// pays if the index names a column more than once, which is known when the
// program runs: there are two versions of the inner loops.
//
//===----------------------------------------------------------------------===//

#include "PanelPack.h"
#include "PanelReads.h"
#include "PanelTurn.h"
#include "RuntimeCalls.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::pit;

bool mlir::pit::readsResult(RingOp ring, ViewOp extra) {
  return extra.getSrc() == ring.getDest() &&
         extra.getSubscripts() == ring.getSubscripts();
}

/// The memory that a memref is a part of, as far as can be seen.
static Value getRoot(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

namespace {

/// Finds what stays turned in a tile loop.
class ResultsFinder {
public:
  ResultsFinder(ForallOp loop, PanelTarget target)
      : loop(loop), target(target) {}

  std::optional<TurnedResults> run() {
    if (loop.getIndex() || !matchBody())
      return std::nullopt;
    std::optional<PanelPlan> plan = planPanels(found.ring, target);
    if (!plan || !plan->turnC || !matchResult(*plan) || !matchExtras())
      return std::nullopt;
    return found;
  }

private:
  /// Is it one ring, in sequential loops, and nothing else that touches memory?
  bool matchBody() {
    WalkResult walked = loop.getBody()->walk([&](Operation *op) {
      if (auto ring = dyn_cast<RingOp>(op)) {
        if (found.ring)
          return WalkResult::interrupt();
        found.ring = ring;
      } else if (!isa<ForOp, ViewOp, YieldOp>(op) && !isPure(op)) {
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (walked.wasInterrupted() || !found.ring)
      return false;
    for (Operation *op = found.ring->getParentOp(); op != loop;
         op = op->getParentOp()) {
      auto around = dyn_cast<ForOp>(op);
      if (!around)
        return false;
      found.loops = around;
    }
    return found.loops != nullptr;
  }

  bool isInside(Value value) {
    return found.loops.getRegion().isAncestor(value.getParentRegion());
  }
  bool names(Value value) {
    return llvm::is_contained(found.ring.getSubscripts(), value);
  }

  /// Columns by ids, lanes, and single elements that the tile loop chooses.
  bool matchResult(const PanelPlan &plan) {
    RingOp ring = found.ring;
    AffineMap acc = getRingMap(ring, 2);
    auto type = cast<MemRefType>(ring.getDest().getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    unsigned last = acc.getNumResults() - 1;
    if (loop.getRegion().isAncestor(ring.getDest().getParentRegion()) ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return false;
    found.lanes = *findDim(acc, plan.n);
    for (auto [d, subscript] : llvm::enumerate(ring.getSubscripts())) {
      bool isIds = isa<IdsType>(subscript.getType());
      if (isIds != (d == last) || (!isIds && isInside(subscript)) ||
          (d != last && d != found.lanes && ring.getAccumulatorShape()[d] != 1))
        return false;
    }
    // Tiles of the loop share nothing.
    for (Value iv : loop.getInductionVars())
      if (!names(iv))
        return false;
    // Some loop comes back to the same elements.
    for (Operation *op = ring->getParentOp(); op != loop;
         op = op->getParentOp())
      for (Value iv : cast<ForOp>(op).getInductionVars())
        if (!names(iv))
          return true;
    return false;
  }

  /// What else is read is not C, or just what the ring writes.
  bool matchExtras() {
    RingOp ring = found.ring;
    Value root = getRoot(ring.getDest());
    for (auto [extra, attr] :
         llvm::zip(ring.getExtras(), ring.getExtraMaps())) {
      auto view = extra.getDefiningOp<ViewOp>();
      AffineMap map = cast<AffineMapAttr>(attr).getValue();
      if (readsResult(ring, view) ? !map.isIdentity()
                                  : getRoot(view.getSrc()) == root)
        return false;
    }
    return llvm::all_of(ArrayRef<unsigned>{0, 1}, [&](unsigned i) {
      return getRoot(ring.getLoaded(i).getSrc()) != root;
    });
  }

  ForallOp loop;
  PanelTarget target;
  TurnedResults found;
};

} // namespace

std::optional<TurnedResults> mlir::pit::findResults(OpBuilder &b, ForallOp loop,
                                                    func::FuncOp function,
                                                    const IndexMap &indices,
                                                    PanelTarget target) {
  std::optional<TurnedResults> found = ResultsFinder(loop, target).run();
  if (!found)
    return std::nullopt;
  Location loc = loop.getLoc();
  RingOp ring = found->ring;
  found->worth = isReadMoreThan(b, loop, ring, ring.getSubscripts(), indices,
                                /*times=*/1);
  if (matchPattern(found->worth, m_Zero()))
    return std::nullopt;
  // A matrix for each tile of the loop: they meet in any order.
  Value tiles = constantIndex(b, loc, 1);
  for (auto [lower, upper, step] :
       llvm::zip(loop.getLower(), loop.getUpper(), loop.getSteps())) {
    Value span = arith::SubIOp::create(b, loc, upper, lower);
    Value trips =
        arith::CeilDivSIOp::create(b, loc, span, constantIndex(b, loc, step));
    found->trips.push_back(trips);
    tiles = arith::MulIOp::create(b, loc, tiles, trips);
  }
  Value columns = memref::DimOp::create(b, loc, ring.getDest(),
                                        ring.getAccumulatorShape().size() - 1);
  int64_t lanes = planPanels(ring, target)->lanes;
  int64_t width =
      llvm::alignTo(ring.getAccumulatorShape()[found->lanes], lanes);
  Type element = getElementTypeOrSelf(ring.getDest());
  Value bytes = constantIndex(b, loc, width * elementBytes(element));
  for (Value extent : {tiles, columns})
    bytes = arith::MulIOp::create(b, loc, bytes, extent);
  found->memory = memrefAt(
      b, loc, allocateBytes(b, loc, function, bytes),
      MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic, width},
                      element),
      {tiles, columns});
  return found;
}

RingOp mlir::pit::keepResults(RewriterBase &b, const TurnedResults &results,
                              ValueRange lower, ValueRange ivs,
                              ArrayRef<int64_t> steps, PanelTarget target,
                              Value &matrix) {
  int64_t lanes = planPanels(results.ring, target)->lanes;
  Location loc = results.loops->getLoc();
  b.setInsertionPoint(results.loops);
  // The tile's matrix.
  Value number = constantIndex(b, loc, 0);
  for (unsigned i = 0; i < ivs.size(); ++i) {
    Value at = arith::SubIOp::create(b, loc, ivs[i], lower[i]);
    at = arith::DivUIOp::create(b, loc, at, constantIndex(b, loc, steps[i]));
    number = arith::MulIOp::create(b, loc, number, results.trips[i]);
    number = arith::AddIOp::create(b, loc, number, at);
  }
  matrix = tileAt(b, loc, results.memory, number);
  Value columns = memref::DimOp::create(b, loc, results.memory, 1);

  RingOp ring = results.ring;
  Value dest = ring.getDest();
  SmallVector<Value> subscripts(ring.getSubscripts());
  int64_t extent = ring.getAccumulatorShape()[results.lanes];
  TileDimension along =
      tileDimension(b, loc, dest, results.lanes, subscripts[results.lanes],
                    extent, ChunkMap());
  auto inResult = [&](Value row, Value column) {
    SmallVector<Value> at(subscripts);
    at[results.lanes] =
        arith::AddIOp::create(b, loc, subscripts[results.lanes], row);
    at.back() = column;
    return at;
  };
  auto inMatrix = [&](Value row, Value column) {
    return SmallVector<Value>{row, column};
  };

  auto branch =
      scf::IfOp::create(b, loc, results.worth, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  turnMatrix(b, loc, lanes, {dest, inResult}, {matrix, inMatrix}, along.limit,
             columns);
  Operation *loops = b.clone(*results.loops);
  turnMatrix(b, loc, lanes, {matrix, inMatrix}, {dest, inResult, true}, columns,
             along.limit);
  b.moveOpBefore(results.loops, branch.elseBlock(),
                 branch.elseBlock()->begin());
  RingOp clone;
  loops->walk([&](RingOp op) { clone = op; });
  return clone;
}
