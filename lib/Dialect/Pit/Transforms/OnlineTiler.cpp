//===- OnlineTiler.cpp - One loop for reductions that use each other ------===//

#include "OnlineTiler.h"

#include "pit/Analysis/BodyEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pit;

std::optional<Selection> mlir::pit::findMarkSelection(Operation *op) {
  auto mark = dyn_cast<SparseOp>(op);
  if (!mark || mark.getSource() == Source::Values ||
      mark.getSource() == Source::Routing)
    return std::nullopt;
  return Selection{mark.getInput(), mark.getBackgroundOrZero()};
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value OnlineTiler::extentOf(unsigned dim) {
  if (int64_t extent = staticExtent(dim); !ShapedType::isDynamic(extent))
    return index(extent);
  for (bool computed : {false, true})
    for (auto &[value, dims] : chain.dims) {
      auto *position = llvm::find(dims, int64_t(dim));
      const ChainOp *op = chain.find(value);
      if (position == dims.end() || bool(op) != computed)
        continue;
      Value from = !op                 ? value
                   : op->isSelection() ? op->op->getOperand(0)
                                       : op->linalgOp().getDpsInits()[0];
      return rewriter.createOrFold<tensor::DimOp>(loc, from,
                                                  position - dims.begin());
    }
  llvm_unreachable("each dim is one of a tensor");
}

OnlineTiler::Dims OnlineTiler::shapeOf(ArrayRef<int64_t> dims) const {
  Dims shape;
  for (int64_t dim : dims)
    shape.push_back(dim < 0 ? 1 : tile[dim]);
  return shape;
}

SmallVector<Value> OnlineTiler::subscripts(ArrayRef<int64_t> dims) {
  SmallVector<Value> found;
  for (int64_t dim : dims)
    found.push_back(dim < 0 || kinds[dim] == Kind::Whole ? index(0)
                    : ids[dim]                           ? ids[dim]
                                                         : starts[dim]);
  return found;
}

void OnlineTiler::run() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfter(last);
  for (const ChainOp &op : chain.ops)
    if (linalg::LinalgOp computed = op.linalgOp();
        computed && op.role != ChainRole::Rows &&
        (op.role != ChainRole::Elements || isInnerContraction(op))) {
      auto no = [](unsigned) { return false; };
      templates[op.op] = buildTileBody(rewriter, computed, no, no);
    }
  for (unsigned dim = 0; dim < chain.numDims; ++dim)
    extents.push_back(kinds[dim] == Kind::Whole ? Value() : extentOf(dim));
  starts.assign(chain.numDims, Value());
  ids.assign(chain.numDims, Value());
  coordinates.assign(chain.numDims, Value());
  prepareSelection();
  copyAlongAxis();
  if (!listed)
    prepareRanges();

  SmallVector<Value> inits, lower, upper;
  SmallVector<int64_t> steps;
  for (unsigned number : outputs) {
    const ChainOp &op = chain.ops[number];
    if (op.role == ChainRole::Added) {
      inits.push_back(op.linalgOp().getDpsInits()[0]);
      continue;
    }
    auto type = cast<RankedTensorType>(op.result().getType());
    SmallVector<OpFoldResult> sizes;
    for (auto [position, dim] : llvm::enumerate(dimsOf(op.result())))
      if (!type.isDynamicDim(position))
        sizes.push_back(rewriter.getIndexAttr(type.getDimSize(position)));
      else
        sizes.push_back(extents[dim]);
    inits.push_back(
        tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType()));
  }
  for (unsigned dim : rowDims) {
    lower.push_back(index(0));
    upper.push_back(extents[dim]);
    steps.push_back(tile[dim]);
  }
  auto loop = ForallOp::create(
      rewriter, loc, lower, upper, steps, Value(), ValueRange(), 0, inits,
      [&](OpBuilder &, Location, ValueRange ivs, Value, Value,
          ValueRange carried) {
        for (auto [dim, iv] : llvm::zip(rowDims, ivs))
          starts[dim] = iv;
        for (unsigned dim : rowDims)
          enterOrder(dim);
        SmallVector<Value> written = tileOfRows(carried);
        YieldOp::create(rewriter, loc, written);
      });
  if (!added.empty())
    loop.setConflicts(Conflicts::Atomic);
  replaceUses(loop.getResults());
}

SmallVector<Value> OnlineTiler::tileOfRows(ValueRange carried) {
  for (auto &memo : rowTiles)
    memo.clear();
  // One length for all rows of the tile is a number.
  if (SparseOp marked = mark();
      marked && marked.getSource() == Source::Lengths &&
      llvm::all_of(selectorDims, [&](int64_t dim) {
        return dim < 0 || (kinds[dim] == Kind::Row && tile[dim] == 1);
      })) {
    Value read = this->read(selector, selectorDims);
    SmallVector<Value> first(selectorDims.size(), index(0));
    Value number = tensor::ExtractOp::create(rewriter, loc, read, first);
    length = arith::IndexCastOp::create(rewriter, loc, rewriter.getIndexType(),
                                        number);
  }
  SmallVector<Value> lower, upper, group = groupOfTile(), states;
  SmallVector<int64_t> steps;
  for (unsigned dim : chain.outers) {
    lower.push_back(index(0));
    upper.push_back(extents[dim]);
    steps.push_back(1);
  }
  if (!listed) {
    range = rangeOfTile();
    lower.push_back(range.lower);
    upper.push_back(range.upper);
    steps.push_back(tile[chain.axis]);
  }
  for (unsigned number : reductions) {
    const ChainOp &op = chain.ops[number];
    Type element = accumulatorOf(op);
    TypedAttr start;
    Operation *combine = matchCombiner(op.linalgOp(), 0)->ops.front();
    Attribute given = getUniformConstant(op.linalgOp().getDpsInits()[0]);
    bool isMost = isa<arith::MaximumFOp, arith::MaxNumFOp>(combine),
         isLeast = isa<arith::MinimumFOp, arith::MinNumFOp>(combine);
    if (auto number = dyn_cast<FloatAttr>(given)) {
      llvm::APFloat value = number.getValue();
      bool loses = false;
      const auto &semantics = cast<FloatType>(element).getFloatSemantics();
      // From nothing: what is there is an infinity, a NaN or the least number.
      bool isNothing = value.isNaN() || value.isInfinity() || value.isLargest();
      if ((isMost || isLeast) && isNothing)
        value = llvm::APFloat::getInf(semantics, /*Negative=*/isMost);
      else
        value.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
      start = FloatAttr::get(element, value);
    } else {
      start = cast<TypedAttr>(given);
    }
    states.push_back(filledTile(dimsOf(op.result()), start));
  }
  for (auto [number, dest] : llvm::zip(outputs, carried))
    if (chain.ops[number].role == ChainRole::Added)
      states.push_back(dest);
  auto loop =
      ForOp::create(rewriter, loc, lower, upper, steps, sparsity, group,
                    byBlocks ? 1
                    : listed ? tile[chain.axis]
                             : 0,
                    states,
                    [&](OpBuilder &, Location, ValueRange ivs, Value chunk,
                        Value, ValueRange before) {
                      for (auto [dim, iv] : llvm::zip(chain.outers, ivs))
                        starts[dim] = iv;
                      if (listed)
                        enterIds(chunk);
                      else
                        starts[chain.axis] = placeOf(ivs.back());
                      SmallVector<Value> next = step(before);
                      YieldOp::create(rewriter, loc, next);
                    });
  ids[chain.axis] = Value();
  rowScaleTiles.clear();
  auto &end = rowTiles[unsigned(Epoch::End)];
  for (auto [number, state] : llvm::zip(reductions, loop.getResults())) {
    const ChainOp &op = chain.ops[number];
    end[op.result()] = {state, scales[number].scale, scales[number].rowScale};
    if (scales[number].rowScale)
      end[op.result()] = {materialize(end[op.result()], dimsOf(op.result()))};
  }
  for (unsigned number : reductions) {
    const ChainOp &op = chain.ops[number];
    if (!op.dependence.factors.empty())
      end[op.result()] = {finish(op, end[op.result()]), 1};
  }
  SmallVector<Value> written;
  size_t sums = reductions.size();
  for (auto [number, dest] : llvm::zip(outputs, carried)) {
    if (chain.ops[number].role == ChainRole::Added) {
      written.push_back(loop.getResult(sums++));
      continue;
    }
    Value result = chain.ops[number].result();
    const Dims &dims = dimsOf(result);
    Value value = materialize(rows(result, Epoch::End), dims);
    written.push_back(
        SWriteOp::create(rewriter, loc, value, dest, subscripts(dims))
            .getResult());
  }
  return written;
}

SmallVector<Value> OnlineTiler::step(ValueRange before) {
  stepTiles.clear();
  rowScaleTiles.clear();
  shifts.clear();
  scaled.clear();
  coordinates[chain.axis] = Value();
  auto &old = rowTiles[unsigned(Epoch::Before)];
  auto &now = rowTiles[unsigned(Epoch::Now)];
  for (auto [number, state] : llvm::zip(reductions, before))
    old[chain.ops[number].result()] = {state, 1};
  SmallVector<Value> next;
  for (auto [number, state] : llvm::zip(reductions, before)) {
    const ChainOp &op = chain.ops[number];
    next.push_back(accumulate(op, number, {state, 1}));
    const Tile &scale = scales[number];
    now[op.result()] = {next.back(), scale.scale, scale.rowScale};
    old[op.result()] = {state, scale.scale, scale.rowScale};
  }
  for (auto [number, sums] :
       llvm::zip(added, before.drop_front(reductions.size())))
    next.push_back(addTo(chain.ops[number], sums));
  return next;
}

/// Does nothing use an op any more, which has no effects? Reductions of others
/// stay: who looks for chains has a list of them.
static bool isDead(Operation &op, const OnlineChain &chain) {
  auto computed = dyn_cast<linalg::LinalgOp>(op);
  if (computed && computed.getNumReductionLoops() > 0 &&
      !chain.numbers.contains(&op))
    return false;
  return isa<linalg::LinalgOp, tensor::EmptyOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp, tensor::ExtractSliceOp, tensor::CastOp,
             tensor::DimOp, ReorderOp, SparseOp>(op) &&
         isOpTriviallyDead(&op);
}

void OnlineTiler::replaceUses(ValueRange results) {
  Operation *after = results.front().getDefiningOp();
  for (Operation *user : findEarlyUsers()) {
    bool isSize = isa<tensor::DimOp>(user);
    if (isSize)
      continue;
    rewriter.moveOpAfter(user, after);
    after = user;
  }
  for (auto [number, result] : llvm::zip(outputs, results)) {
    const ChainOp &op = chain.ops[number];
    rewriter.replaceUsesWithIf(op.result(), result, [&](OpOperand &use) {
      return !chain.numbers.contains(use.getOwner());
    });
  }
  // Sizes do not keep what they are asked of.
  for (const ChainOp &op : chain.ops)
    for (Operation *user : llvm::make_early_inc_range(op.result().getUsers()))
      if (auto dim = dyn_cast<tensor::DimOp>(user)) {
        std::optional<int64_t> position = dim.getConstantIndex();
        if (!position || op.isSelection())
          continue;
        rewriter.setInsertionPoint(dim);
        rewriter.replaceOpWithNewOp<tensor::DimOp>(
            dim, op.linalgOp().getDpsInits()[0], dim.getIndex());
      }
  for (auto &[op, body] : templates)
    for (Operation *scaffold : llvm::reverse(body.scaffolding))
      rewriter.eraseOp(scaffold);
  for (Operation &op : llvm::make_early_inc_range(
           llvm::reverse(last->getBlock()->getOperations())))
    if (isDead(op, chain))
      rewriter.eraseOp(&op);
}

/// The ops before `last` that use what the chain gives, without those of the
/// chain.
SmallVector<Operation *> OnlineTiler::findEarlyUsers() const {
  llvm::SmallDenseSet<Operation *> found;
  SmallVector<Operation *> ordered;
  auto uses = [&](Operation *op) {
    Operation *def = op;
    bool does = false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if ((def = operand.getDefiningOp()) &&
            (found.contains(def) || chain.numbers.contains(def)))
          does = true;
    });
    return does;
  };
  for (Operation &op : *last->getBlock()) {
    if (&op == last)
      break;
    if (chain.numbers.contains(&op) || !uses(&op))
      continue;
    found.insert(&op);
    ordered.push_back(&op);
  }
  return ordered;
}
