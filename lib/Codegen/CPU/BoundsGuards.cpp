//===- BoundsGuards.cpp - What is inside of a memref, and what is not -----===//
//
// An access becomes the branch of an scf.if. The other branch tells the
// runtime, and gives zeros.
//
//===----------------------------------------------------------------------===//

#include "BoundsChecker.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// The ops inside
//===----------------------------------------------------------------------===//

Value BoundsChecker::conjunction(Value x, Value y) {
  return !x ? y : !y ? x : logicalAnd(x, y);
}

Value BoundsChecker::isInside(const Reach &range) {
  using P = arith::CmpIPredicate;
  Value from = compare(P::sge, range.first, index(0));
  Value to = compare(P::sle, range.first, sub(range.size, range.count));
  Value none = compare(P::sle, range.count, index(0));
  return bitOr(none, conjunction(from, to));
}

SmallVector<const BoundsChecker::View *>
BoundsChecker::viewsOf(Operation *access) const {
  SmallVector<const View *> found;
  for (Value memref : access->getOperands()) {
    if (!isa<MemRefType>(memref.getType()))
      continue;
    while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
      if (auto it = views.find(memref); it != views.end())
        found.push_back(&it->second);
      memref = view.getViewSource();
    }
  }
  return found;
}

std::pair<Value, Value> BoundsChecker::span(Value memref) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  Value length = index(1), empty;
  for (auto [size, stride] :
       llvm::zip_equal(metadata.getSizes(), metadata.getStrides())) {
    length = add(length, mul(sub(size, index(1)), stride));
    Value none = compare(arith::CmpIPredicate::sle, size, index(0));
    empty = empty ? bitOr(empty, none) : none;
  }
  if (empty)
    length = select(empty, index(0), length);
  return {metadata.getOffset(), length};
}

Value BoundsChecker::linear(Value memref, ValueRange indices) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  Value place = index(0);
  for (auto [at, stride] : llvm::zip_equal(indices, metadata.getStrides()))
    place = add(place, mul(at, stride));
  return place;
}

SmallVector<Reach> BoundsChecker::points(Value memref, ValueRange indices) {
  SmallVector<Reach> ranges;
  for (auto [dim, at] : llvm::enumerate(indices))
    ranges.push_back({at, index(1), sizeOf(memref, dim)});
  return ranges;
}

std::pair<Value, Value> BoundsChecker::lanes(Value mask, Value offsets) {
  int64_t count = cast<VectorType>(mask.getType()).getNumElements();
  auto type = VectorType::get(count, b.getI64Type());
  auto constant = [&](int64_t value) -> Value {
    return ArithEmitter::constant(
        DenseElementsAttr::get(type, b.getI64IntegerAttr(value)));
  };
  if (!offsets) {
    offsets = ArithEmitter::constant(DenseElementsAttr::get(
        type, ArrayRef<int64_t>(llvm::to_vector(llvm::seq(count)))));
  } else if (offsets.getType() != type) {
    bool isIndex =
        cast<VectorType>(offsets.getType()).getElementType().isIndex();
    offsets = isIndex ? to(type, offsets) : make<arith::ExtSIOp>(type, offsets);
  }
  // Wild ones stay far outside, but do not overflow.
  constexpr int64_t far = INT64_MAX / 4;
  offsets = min(max(offsets, constant(-far)), constant(far));
  auto reduce = [&](vector::CombiningKind kind, int64_t neutral) -> Value {
    Value active = select(mask, offsets, constant(neutral));
    return toIndex(vector::ReductionOp::create(b, loc, kind, active));
  };
  // Without lanes the first comes behind the last.
  Value first = reduce(vector::CombiningKind::MINSI, far);
  Value last = reduce(vector::CombiningKind::MAXSI, -far);
  return {first, add(sub(last, first), index(1))};
}

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

Value BoundsChecker::zero(Type type) {
  if (auto tile = dyn_cast<amx::TileType>(type))
    return amx::TileZeroOp::create(b, loc, tile);
  return constant(b.getZeroAttr(type));
}

void BoundsChecker::report(Operation *op, ArrayRef<Reach> ranges) {
  std::string what;
  llvm::raw_string_ostream os(what);
  bool placed = false;
  op->getLoc()->walk([&](Location part) {
    if (auto file = dyn_cast<FileLineColLoc>(part)) {
      os << file.getFilename().getValue() << ":" << file.getLine() << ":"
         << file.getColumn() << ": ";
      placed = true;
    }
    return placed ? WalkResult::interrupt() : WalkResult::advance();
  });
  os << op->getName();
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType())) {
      os << " of " << operand.getType();
      break;
    }
  Value text = constantText(b, loc, "pit_access", what);
  for (auto [dim, range] : llvm::enumerate(ranges))
    callRuntime(b, loc, "pit_rt_check_bounds", {},
                {frame, text,
                 arith::ConstantIntOp::create(b, loc, b.getI32Type(),
                                              range.linear ? -1 : dim),
                 toI64(range.first), toI64(range.count), toI64(range.size)});
}

void BoundsChecker::guard(Operation *op, ArrayRef<Reach> ranges) {
  Value good, nothing, sound;
  for (const Reach &range : ranges) {
    good = conjunction(good, isInside(range));
    Value none = compare(arith::CmpIPredicate::sle, range.count, index(0));
    nothing = nothing ? bitOr(nothing, none) : none;
  }
  SmallVector<const View *> views = viewsOf(op);
  for (const View *view : views)
    sound = conjunction(sound, view->isSound);
  if (sound && nothing)
    sound = bitOr(sound, nothing);
  good = conjunction(good, sound);
  if (!good)
    return;
  auto branch = scf::IfOp::create(b, loc, op->getResultTypes(), good,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  op->replaceAllUsesWith(branch);
  op->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, op->getResults());
  b.setInsertionPointToEnd(branch.elseBlock());
  for (const View *view : views)
    report(view->op, view->ranges);
  report(op, ranges);
  SmallVector<Value> zeros;
  for (Type type : op->getResultTypes())
    zeros.push_back(zero(type));
  scf::YieldOp::create(b, loc, zeros);
}

void BoundsChecker::addSources(Value memref, Value first, Value count,
                               SmallVector<Reach> &ranges) {
  for (Value at = memref; Operation *op = at.getDefiningOp();) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    // memref.view counts anew.
    if (!view || isa<memref::ViewOp>(op))
      return;
    at = view.getViewSource();
    if (!isa<memref::ReinterpretCastOp>(op))
      continue;
    auto [offset, length] = span(at);
    Value from = add(first, sub(span(memref).first, offset));
    ranges.push_back({from, count, length, /*linear=*/true});
  }
}

void BoundsChecker::guard(Operation *op, Value memref,
                          SmallVector<Reach> ranges) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  Value first = index(0), count = index(1), least = index(1);
  for (auto [range, stride] : llvm::zip_equal(ranges, metadata.getStrides())) {
    first = add(first, mul(range.first, stride));
    count = add(count, mul(sub(range.count, index(1)), stride));
    least = min(least, range.count);
  }
  // Nothing along one dimension is nothing at all.
  Value some = compare(arith::CmpIPredicate::sgt, least, index(0));
  count = select(some, count, index(0));
  addSources(memref, first, count, ranges);
  guard(op, ranges);
}

Reach &BoundsChecker::consecutive(Value memref, MutableArrayRef<Reach> ranges) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t dim = type.getRank() - 1;
  // Behind the one element of a row comes the next row.
  while (dim > 0 && type.getDimSize(dim) == 1 && type.getLayout().isIdentity())
    --dim;
  return ranges[dim];
}
