//===- FuseRowSums.cpp - Sums of what an element-wise op reads ------------===//
//
//   y = linalg.generic {element-wise} ins(x, ..)
//   s = linalg.generic {the sum of each row} ins(x, ..)
//
// become one op with the results of both, so that x is read once. Each stays
// what it was: the element-wise results are those of the op's points, each of
// which is computed once.
//
//===----------------------------------------------------------------------===//

#include "pit/Analysis/Combiner.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITFUSEROWSUMS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// The shortest rows that give each lane of a warp a vector. Threads share an
/// element-wise op of shorter rows better if it stands by itself.
static constexpr int64_t kLeastElements = 256;

/// Are all results of a generic computed for each point, by the identity map?
static bool isElementwise(linalg::GenericOp op) {
  return op.getNumParallelLoops() == op.getNumLoops() &&
         llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
           return op.getMatchingIndexingMap(&init).isIdentity() &&
                  !op.payloadUsesValueFromOperand(&init);
         });
}

/// Does a generic reduce rows: its last loop, by combiners that are known, and
/// no other?
static bool reducesRows(linalg::GenericOp op) {
  if (op.getNumReductionLoops() != 1 || op.getNumLoops() < 2 ||
      op.getIteratorTypesArray().back() != utils::IteratorType::reduction ||
      op.getStaticLoopRanges().back() < kLeastElements) // or dynamic
    return false;
  AffineMap rows =
      AffineMap::getMultiDimIdentityMap(op.getNumLoops(), op->getContext())
          .getMajorSubMap(op.getNumLoops() - 1);
  for (OpOperand &init : op.getDpsInitsMutable())
    if (op.getMatchingIndexingMap(&init) != rows)
      return false;
  for (unsigned result = 0; result < op->getNumResults(); ++result)
    if (failed(matchCombiner(op, result)))
      return false;
  return true;
}

/// Do both read the same tensor at each of their points?
static bool readTheSame(linalg::GenericOp one, linalg::GenericOp other) {
  return llvm::any_of(one.getDpsInputOperands(), [&](OpOperand *input) {
    return one.getMatchingIndexingMap(input).isIdentity() &&
           llvm::any_of(other.getDpsInputOperands(), [&](OpOperand *second) {
             return second->get() == input->get() &&
                    other.getMatchingIndexingMap(second).isIdentity();
           });
  });
}

/// Collects what has to move so that `value` is there before `place`: sizes,
/// new tensors and what they are filled with. False if there is more to it.
static bool collectMoved(Value value, Operation *place,
                         llvm::SetVector<Operation *> &moved) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != place->getBlock() || op->isBeforeInBlock(place))
    return true;
  bool isSmall = isa<tensor::EmptyOp, linalg::FillOp, tensor::DimOp>(op) ||
                 (isPure(op) && llvm::none_of(op->getResultTypes(),
                                              llvm::IsaPred<ShapedType>));
  if (!isSmall || op == place)
    return false;
  for (Value operand : op->getOperands())
    if (!collectMoved(operand, place, moved))
      return false;
  moved.insert(op);
  return true;
}

/// One op, at the place of `first`, that computes what both do.
static void fuse(RewriterBase &rewriter, linalg::GenericOp first,
                 linalg::GenericOp second, linalg::GenericOp sums) {
  rewriter.setInsertionPoint(first);
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps, initMaps;
  SmallVector<SmallVector<unsigned>, 2> places(2); // of each op's inputs
  for (auto [op, place] : llvm::zip(std::array{first, second}, places)) {
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      unsigned at = 0;
      while (at < inputs.size() &&
             !(inputs[at] == input->get() && maps[at] == map))
        ++at;
      if (at == inputs.size()) {
        inputs.push_back(input->get());
        maps.push_back(map);
      }
      place.push_back(at);
    }
    for (OpOperand &init : op.getDpsInitsMutable()) {
      inits.push_back(init.get());
      initMaps.push_back(op.getMatchingIndexingMap(&init));
    }
  }
  llvm::append_range(maps, initMaps);
  auto fused = linalg::GenericOp::create(
      rewriter, rewriter.getFusedLoc({first.getLoc(), second.getLoc()}),
      TypeRange(ValueRange(inits)), inputs, inits, maps,
      sums.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        SmallVector<Value> yielded;
        unsigned init = inputs.size();
        for (auto [op, place] : llvm::zip(std::array{first, second}, places)) {
          IRMapping mapping;
          Block *body = op.getBody();
          for (auto [i, at] : llvm::enumerate(place))
            mapping.map(body->getArgument(i), arguments[at]);
          for (BlockArgument argument :
               body->getArguments().drop_front(place.size()))
            mapping.map(argument, arguments[init++]);
          for (Operation &inner : body->without_terminator())
            b.clone(inner, mapping);
          for (Value value : body->getTerminator()->getOperands())
            yielded.push_back(mapping.lookupOrDefault(value));
        }
        linalg::YieldOp::create(b, loc, yielded);
      });
  auto results = fused.getResults();
  unsigned count = first->getNumResults();
  rewriter.replaceOp(second, results.drop_front(count));
  rewriter.replaceOp(first, results.take_front(count));
}

/// Fuses `sums` with an element-wise op of its block that reads the same.
static bool fuseWithPoints(RewriterBase &rewriter, linalg::GenericOp sums) {
  for (auto points : sums->getBlock()->getOps<linalg::GenericOp>()) {
    if (points.getNumLoops() != sums.getNumLoops() || !isElementwise(points) ||
        !readTheSame(points, sums))
      continue;
    bool isFirst = points->isBeforeInBlock(sums);
    linalg::GenericOp first = isFirst ? points : sums;
    linalg::GenericOp second = isFirst ? sums : points;
    llvm::SetVector<Operation *> moved;
    if (!llvm::all_of(second->getOperands(), [&](Value operand) {
          return collectMoved(operand, first, moved);
        }))
      continue;
    for (Operation *op : moved)
      rewriter.moveOpBefore(op, first);
    fuse(rewriter, first, second, sums);
    return true;
  }
  return false;
}

namespace {
struct FuseRowSumsPass : pit::impl::PitFuseRowSumsBase<FuseRowSumsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> sums;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && reducesRows(op) &&
          !op->getParentOfType<ForallOp>() && !op->getParentOfType<ForOp>())
        sums.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : sums)
      fuseWithPoints(rewriter, op);
  }
};
} // namespace
