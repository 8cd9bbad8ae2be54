//===- TilerResults.cpp - What a tiled op writes --------------------------===//

#include "Tiler.h"

#include "pit/Analysis/Combiner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::pit;

/// Positions of an id that the second of two phases reads at once: as many as a
/// token has slots, if that is known and not more.
static int64_t getPartChunk(Value index) {
  constexpr int64_t most = 4;
  auto op = index.getDefiningOp<IndexOp>();
  if (!op || op.getSource() != Source::Routing)
    return most;
  int64_t slots = cast<ShapedType>(op.getInput().getType()).getDimSize(1);
  return ShapedType::isDynamic(slots) ? most
                                      : std::clamp<int64_t>(slots, 1, most);
}

bool Tiler::isResultSlim(unsigned r) {
  // Reads from an unpacked init have all dims, and so have results of which
  // perhaps not all are packed.
  return op->getNumResults() == 1 && !op.hasIndexSemantics() &&
         packedResults[r] &&
         (fillOf(op.getDpsInits()[r]) || !getAccumulatorUsed(r));
}

SmallVector<int64_t> Tiler::resultShape(unsigned r) {
  return isResultSlim(r)
             ? to_vector(
                   packedTileType(initMap(r), body.accumulators[r]).getShape())
             : tileShape(initMap(r));
}

AffineMap Tiler::initMap(unsigned r) {
  return op.getMatchingIndexingMap(op.getDpsInitOperand(r));
}

Value Tiler::fillOf(Value init) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return fill.value();
  return {};
}

Value Tiler::emptyLike(Value tensor, Type element) {
  return tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, tensor), element);
}

bool Tiler::writesAgain() {
  return conflicts != Conflicts::Disjoint &&
         llvm::is_contained(kinds, Kind::Conflicting);
}

/// Is `value` what a loop around carries, or a slice of it that is updated?
static bool isCarried(Value value) {
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    return value.hasOneUse() && isCarried(slice.getSource());
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<scf::ForOp>(argument.getOwner()->getParentOp());
}

/// A tile of what a loop around carries is read where it is written: then the
/// loop's tensor is updated, and not made again and copied in each iteration.
bool Tiler::writesInPlace(unsigned r) {
  return isCarried(op.getDpsInits()[r]) && getAccumulatorUsed(r) &&
         writesAllTiles() && !hasTwoPhases() && !packedResults[r];
}

void Tiler::start() {
  bool conflicting = writesAgain();
  for (unsigned r = 0; r < op.getNumDpsInits(); ++r) {
    Value init = op.getDpsInits()[r];
    Type element = getElementTypeOrSelf(init.getType());
    bool widened = conflicting && element != body.accumulators[r];
    packedResults.push_back(!conflicting && findPackedReads(r));
    if (packedResults.back()) {
      initial.push_back(emptyPacked(r));
    } else if (markedResult) {
      initial.push_back(createFill(rewriter, loc, mark.getBackgroundOrZero(),
                                   emptyLike(init, element)));
    } else if (skipped[r].kind == ResultEffect::Kind::Constant) {
      initial.push_back(createFill(rewriter, loc,
                                   cast<TypedAttr>(skipped[r].constant),
                                   emptyLike(init, element)));
    } else if (skipped[r].kind == ResultEffect::Kind::Copy) {
      initial.push_back(op->getOperand(skipped[r].operand));
    } else if (writesInPlace(r)) {
      initial.push_back(init);
    } else if (writesAllTiles() || hasTwoPhases()) {
      // Every tile is written, of two phases by the second one; what is added
      // up starts from the init.
      initial.push_back(emptyLike(init, element));
    } else if (widened) {
      initial.push_back(widen(init, body.accumulators[r]));
    } else if (isa<BlockArgument>(init)) {
      // An argument cannot be updated in place. A copy into a tensor that
      // bufferization is free to place is one copy, not two.
      initial.push_back(
          linalg::CopyOp::create(rewriter, loc, init, emptyLike(init, element))
              .getResult(0));
    } else {
      initial.push_back(init);
    }
  }
}

Value Tiler::widen(Value tensor, Type element) {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return convert(tensor, element);
  Value value =
      rewriter.createOrFold<arith::ExtFOp>(loc, element, fill.value());
  return createFill(rewriter, loc, value, emptyLike(tensor, element));
}

Value Tiler::convert(Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = emptyLike(tensor, element);
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      rewriter, loc, empty.getType(), tensor, empty,
      ArrayRef<AffineMap>{identity, identity}, iterators,
      [&](OpBuilder &b, Location l, ValueRange args) {
        ElementEmitter e(b, l);
        e.make<linalg::YieldOp>(e.convert(element, args[0]));
      });
  return generic.getResult(0);
}

Value Tiler::outcome(unsigned r) {
  return markedResult ? Value(mark.getResult()) : op->getResult(r);
}

bool Tiler::findPackedReads(unsigned r) {
  Value result = outcome(r);
  return !result.use_empty() &&
         llvm::all_of(result.getUsers(), [&](Operation *user) {
           auto read = dyn_cast<SReadOp>(user);
           return read && read.isWhole() &&
                  read.getSubscripts().front() == index &&
                  isPackedLike(initMap(r), read.getPackedDims());
         });
}

Value Tiler::emptyPacked(unsigned r) {
  auto read = cast<SReadOp>(*outcome(r).getUsers().begin());
  auto type = cast<RankedTensorType>(read.getResult().getType());
  SmallVector<bool> dropped = groupDimsOf(initMap(r));
  SmallVector<OpFoldResult> sizes;
  sizes.push_back(
      type.isDynamicDim(0)
          ? OpFoldResult(ExtentOp::create(rewriter, loc, index).getResult())
          : rewriter.getIndexAttr(type.getDimSize(0)));
  for (auto [d, expr] : llvm::enumerate(initMap(r).getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dropped[d] && (!dim || dim.getPosition() != axis))
      sizes.push_back(
          tensor::getMixedSize(rewriter, loc, op.getDpsInits()[r], d));
  }
  return tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
}

Value Tiler::filled(unsigned r, TypedAttr constant) {
  Type element = body.accumulators[r];
  if (!constant)
    constant = identityOf(matchCombiner(op, r)->ops.front(), element);
  return createFill(
      rewriter, loc, constant,
      tensor::EmptyOp::create(rewriter, loc, resultShape(r), element));
}

Value Tiler::emptyParts(unsigned r) {
  SmallVector<OpFoldResult> sizes;
  for (auto [d, expr] : llvm::enumerate(initMap(r).getResults())) {
    bool isAxis = cast<AffineDimExpr>(expr).getPosition() == axis;
    sizes.push_back(
        isAxis
            ? OpFoldResult(ExtentOp::create(rewriter, loc, index).getResult())
            : tensor::getMixedSize(rewriter, loc, op.getDpsInits()[r], d));
  }
  return tensor::EmptyOp::create(rewriter, loc, sizes, partElement(r));
}

Type Tiler::partElement(unsigned r) {
  return conflicts == Conflicts::TwoPhaseRounded
             ? getElementTypeOrSelf(op.getDpsInits()[r].getType())
             : body.accumulators[r];
}

Value Tiler::refill(Value number, ArrayRef<int64_t> shape, Type element) {
  if (number.getType() != element)
    number = ElementEmitter(rewriter, loc).convert(element, number);
  return createFill(rewriter, loc, number,
                    tensor::EmptyOp::create(rewriter, loc, shape, element));
}

Value Tiler::addPartials(unsigned r, Value parts, Value transpose) {
  AffineMap map = initMap(r);
  Type element = body.accumulators[r];
  Value init = op.getDpsInits()[r];
  auto type = RankedTensorType::get(tileShape(map), element);
  Value sum;
  if (Value fill = fillOf(init))
    sum = refill(fill, type.getShape(), element);
  else
    sum = read(init, map, element);
  // Lists end with identities, which add nothing.
  Operation *combine = matchCombiner(op, r)->ops.front();
  TypedAttr identity = identityOf(combine, partElement(r));
  arith::AtomicRMWKind kind = *atomicKindOf(combine);
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<AffineExpr> from, to;
  unsigned chunkDim = type.getRank();
  int64_t size = getPartChunk(index);
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    bool isAxis = cast<AffineDimExpr>(expr).getPosition() == axis;
    to.push_back(rewriter.getAffineDimExpr(d));
    from.push_back(rewriter.getAffineDimExpr(isAxis ? chunkDim : d));
    if (isAxis)
      shape[d] = size;
  }
  SmallVector<AffineMap> maps =
      AffineMap::inferFromExprList({from, to}, op->getContext());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  auto addChunk = [&](OpBuilder &, Location, ValueRange, Value chunk, Value,
                      ValueRange carried) {
    positions = chunk;
    Value part = SReadOp::create(rewriter, loc,
                                 RankedTensorType::get(shape, partElement(r)),
                                 parts, positionSubscripts(map), identity)
                     .getResult();
    Value next =
        linalg::GenericOp::create(
            rewriter, loc, type, part, carried.front(), maps, iterators,
            [&](OpBuilder &b, Location l, ValueRange args) {
              Value value = args[0];
              if (value.getType() != element)
                value = ElementEmitter(b, l).convert(element, value);
              linalg::YieldOp::create(
                  b, l, arith::getReductionOp(kind, b, l, args[1], value));
            })
            .getResult(0);
    YieldOp::create(rewriter, loc, next);
  };
  OpBuilder::InsertionGuard guard(rewriter);
  return ForOp::create(rewriter, loc, ValueRange(), ValueRange(),
                       ArrayRef<int64_t>(), transpose, starts[*axis], size, sum,
                       addChunk)
      .getResult(0);
}

Value Tiler::accumulator(unsigned r, Value carried) {
  AffineMap map = initMap(r);
  Value init = op.getDpsInits()[r];
  Type element = body.accumulators[r];
  if (!getAccumulatorUsed(r))
    return tensor::EmptyOp::create(rewriter, loc, resultShape(r), element);
  // The sum of a tile is combined with the outputs when it is written, or
  // later.
  if (conflicts == Conflicts::Atomic || hasTwoPhases())
    return filled(r);
  bool conflicting = writesAgain();
  Value fill = fillOf(init);
  if (fill && !conflicting)
    return refill(fill, resultShape(r), element);
  // The carried tensor has the sums of conflicting groups so far.
  bool inCarried = conflicting || writesInPlace(r);
  return read(inCarried ? carried : init, map, element);
}

bool Tiler::getAccumulatorUsed(unsigned r) {
  return !op.getMatchingBlockArgument(op.getDpsInitOperand(r)).use_empty();
}

Value Tiler::write(unsigned r, Value value, Value carried) {
  AffineMap map = initMap(r);
  if (hasTwoPhases())
    return SWriteOp::create(rewriter, loc, value, carried,
                            positionSubscripts(map))
        .getResult();
  std::optional<arith::AtomicRMWKind> combine;
  if (conflicts == Conflicts::Atomic)
    combine = atomicKindOf(matchCombiner(op, r)->ops.front());
  if (!packedResults[r])
    return SWriteOp::create(rewriter, loc, value, carried, subscripts(map),
                            combine)
        .getResult();
  RankedTensorType type =
      packedTileType(map, getElementTypeOrSelf(value.getType()));
  if (type != value.getType())
    value = tensor::CollapseShapeOp::create(rewriter, loc, type, value,
                                            packing(groupDimsOf(map)));
  return SWriteOp::create(rewriter, loc, value, carried, packedSubscripts(map))
      .getResult();
}
