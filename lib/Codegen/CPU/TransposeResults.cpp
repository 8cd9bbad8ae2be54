//===- TransposeResults.cpp - Results transposed at last ------------------===//
//
// If the loops in a tile loop come by the same elements of C several times, and
// lanes are no neighbours in C, each time would gather and scatter them:
//
//   pit.forall m
//     pit.for parts of k
//       pit.for ids along n
//         pit.mainloop C[m, ids] += ...
//
// Instead all columns of the tile's rows are transposed to a matrix [n][m], in
// which mainloops find them as vectors, and transposed back after the last
// part. That pays if the index names a column more than once, which is known
// when the program runs: there are two versions of the inner loops.
//
//===----------------------------------------------------------------------===//

#include "Codegen/Common/RuntimeCalls.h"
#include "PackOperands.h"
#include "TransposeVectors.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

bool cpu::readsResult(MainloopOp mainloop, ViewOp extra) {
  return extra.getSrc() == mainloop.getDest() &&
         extra.getSubscripts() == mainloop.getSubscripts();
}

/// The memory that a memref is a part of, as far as can be seen.
static Value getRoot(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

namespace {

/// Finds what stays transposed in a tile loop.
class ResultsFinder {
public:
  explicit ResultsFinder(ForallOp loop) : loop(loop) {}

  std::optional<TransposedResults> run() {
    if (loop.getIndex() || !matchBody())
      return std::nullopt;
    MainloopPlan plan = getPlan(found.mainloop);
    if (!plan.transposeC || !matchResult(plan) || !matchExtras())
      return std::nullopt;
    return found;
  }

private:
  /// Is it one mainloop, in sequential loops, and nothing else that touches
  /// memory?
  bool matchBody() {
    WalkResult walked = loop.getBody()->walk([&](Operation *op) {
      if (auto mainloop = dyn_cast<MainloopOp>(op)) {
        if (found.mainloop)
          return WalkResult::interrupt();
        found.mainloop = mainloop;
      } else if (!isa<ForOp, ViewOp, YieldOp>(op) && !isPure(op)) {
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (walked.wasInterrupted() || !found.mainloop)
      return false;
    for (Operation *op = found.mainloop->getParentOp(); op != loop;
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
    return llvm::is_contained(found.mainloop.getSubscripts(), value);
  }

  /// Columns by ids, lanes, and single elements that the tile loop chooses.
  bool matchResult(const MainloopPlan &plan) {
    MainloopOp mainloop = found.mainloop;
    AffineMap acc = mainloop.getMap(2);
    auto type = cast<MemRefType>(mainloop.getDest().getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    unsigned last = acc.getNumResults() - 1;
    if (loop.getRegion().isAncestor(mainloop.getDest().getParentRegion()) ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return false;
    found.lanes = *findDim(acc, plan.n);
    for (auto [d, subscript] : llvm::enumerate(mainloop.getSubscripts())) {
      bool isIds = isa<IdsType>(subscript.getType());
      if (isIds != (d == last) || (!isIds && isInside(subscript)) ||
          (d != last && d != found.lanes &&
           mainloop.getAccumulatorShape()[d] != 1))
        return false;
    }
    // Tiles of the loop share nothing.
    for (Value iv : loop.getInductionVars())
      if (!names(iv))
        return false;
    // Some loop comes back to the same elements.
    for (Operation *op = mainloop->getParentOp(); op != loop;
         op = op->getParentOp())
      for (Value iv : cast<ForOp>(op).getInductionVars())
        if (!names(iv))
          return true;
    return false;
  }

  /// All other memory that is read is not C, or just the part that the mainloop
  /// writes. Sums of the transposed matrix meet it in vectors.
  bool matchExtras() {
    MainloopOp mainloop = found.mainloop;
    Value root = getRoot(mainloop.getDest());
    for (auto [i, extra] : llvm::enumerate(mainloop.getExtras())) {
      auto view = extra.getDefiningOp<ViewOp>();
      auto map = cast<AffineMapAttr>(mainloop.getExtraMaps()[i]).getValue();
      if (readsResult(mainloop, view)
              ? !map.isIdentity()
              : getRoot(view.getSrc()) == root ||
                    !hasVectors(mainloop, i, found.lanes))
        return false;
    }
    return llvm::all_of(llvm::seq(mainloop.getNumLoaded()), [&](unsigned i) {
      return getRoot(mainloop.getLoaded(i).getSrc()) != root;
    });
  }

  ForallOp loop;
  TransposedResults found;
};

} // namespace

std::optional<TransposedResults> cpu::findResults(OpBuilder &b, ForallOp loop,
                                                  func::FuncOp function,
                                                  const IndexMap &indices) {
  std::optional<TransposedResults> found = ResultsFinder(loop).run();
  if (!found)
    return std::nullopt;
  Location loc = loop.getLoc();
  MainloopOp mainloop = found->mainloop;
  found->isProfitable =
      isReadMoreThan(b, {loop, mainloop, mainloop.getSubscripts(), indices},
                     /*times=*/1);
  if (matchPattern(found->isProfitable, m_Zero()))
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
  Value columns = memref::DimOp::create(
      b, loc, mainloop.getDest(), mainloop.getAccumulatorShape().size() - 1);
  int64_t lanes = getPlan(mainloop).lanes;
  int64_t width =
      llvm::alignTo(mainloop.getAccumulatorShape()[found->lanes], lanes);
  Type element = getElementTypeOrSelf(mainloop.getDest());
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

MainloopOp cpu::keepResults(RewriterBase &b, const TransposedResults &results,
                            ValueRange lower, ValueRange ivs,
                            ArrayRef<int64_t> steps, Value &matrix) {
  int64_t lanes = getPlan(results.mainloop).lanes;
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

  MainloopOp mainloop = results.mainloop;
  Value dest = mainloop.getDest();
  SmallVector<Value> subscripts(mainloop.getSubscripts());
  ArrayRef<int64_t> extents = mainloop.getAccumulatorShape();
  TileDimension along = tileDimension(b, loc, {dest, subscripts, extents},
                                      results.lanes, ChunkMap());
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
      scf::IfOp::create(b, loc, results.isProfitable, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  transposeMatrix(b, loc, {dest, inResult}, {matrix, inMatrix},
                  {along.limit, columns, lanes});
  Operation *loops = b.clone(*results.loops);
  transposeMatrix(b, loc, {matrix, inMatrix}, {dest, inResult, true},
                  {columns, along.limit, lanes});
  b.moveOpBefore(results.loops, branch.elseBlock(),
                 branch.elseBlock()->begin());
  MainloopOp clone;
  loops->walk([&](MainloopOp op) { clone = op; });
  return clone;
}
