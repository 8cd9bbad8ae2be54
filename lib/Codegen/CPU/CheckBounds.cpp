//===- CheckBounds.cpp - Bounds of every access, checked in the program ---===//
//
// An access runs only where it stays inside of its memref. Otherwise the
// runtime is told (pit_rt_check_bounds), which makes the call fail, and the
// element that is read is 0. So a wrong program does no harm, also in parallel
// loops, from which there is no way to return. (Upstream's
// RuntimeVerifiableOpInterface makes assertions, which end the process.)
//
//===----------------------------------------------------------------------===//

#include "BoundsChecker.h"

#include "pit/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCHECKBOUNDS
#include "pit/Codegen/CPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// A scalar, or all of a vector along the last dimensions.
LogicalResult BoundsChecker::checkPlain(Operation *op, Value memref,
                                        ValueRange indices, Type type) {
  SmallVector<Reach> ranges = points(memref, indices);
  auto vector = dyn_cast<VectorType>(type);
  bool isElement = cast<MemRefType>(memref.getType()).getElementType() == type;
  if (vector && !isElement && vector.getRank() == 1)
    consecutive(memref, ranges).count = index(vector.getDimSize(0));
  else if (vector && !isElement)
    for (int64_t d = 1; d <= vector.getRank(); ++d)
      ranges.end()[-d].count = index(vector.getShape().end()[-d]);
  guard(op, memref, ranges);
  return success();
}

LogicalResult BoundsChecker::checkMasked(Operation *op, Value memref,
                                         ValueRange indices, Value mask) {
  auto [first, count] = lanes(mask);
  SmallVector<Reach> ranges = points(memref, indices);
  // Without lanes it does not matter where they are not.
  Value any = arith::MinSIOp::create(b, loc, count, index(1));
  for (Reach &range : ranges)
    range.count = any;
  Reach &along = consecutive(memref, ranges);
  along.first = add(along.first, first);
  along.count = count;
  guard(op, memref, ranges);
  return success();
}

LogicalResult BoundsChecker::checkLinear(Operation *op, Value memref,
                                         Value first, Value count) {
  SmallVector<Reach> ranges = {
      {first, count, span(memref).second, /*linear=*/true}};
  addSources(memref, first, count, ranges);
  guard(op, ranges);
  return success();
}

LogicalResult BoundsChecker::checkGathered(Operation *op, Value memref,
                                           ValueRange indices, Value offsets,
                                           Value mask) {
  auto [first, count] = lanes(mask, offsets);
  return checkLinear(op, memref, add(linear(memref, indices), first), count);
}

/// Rows of a tile register, `stride` elements apart.
LogicalResult BoundsChecker::checkTile(Operation *op, Value memref,
                                       ValueRange indices, Value stride,
                                       amx::TileType tile) {
  Value rows = index(tile.getDimSize(0) - 1),
        columns = index(tile.getDimSize(1));
  if (!stride) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
    stride = metadata.getStrides().drop_back().back();
  }
  return checkLinear(op, memref, linear(memref, indices),
                     add(mul(rows, stride), columns));
}

LogicalResult BoundsChecker::checkCopy(memref::CopyOp op) {
  SmallVector<Reach> ranges;
  for (int64_t d = 0; d < op.getSource().getType().getRank(); ++d)
    ranges.push_back(
        {index(0), sizeOf(op.getSource(), d), sizeOf(op.getTarget(), d)});
  guard(op, ranges);
  return success();
}

LogicalResult BoundsChecker::checkTransfer(VectorTransferOpInterface op) {
  if (!isa<MemRefType>(op.getBase().getType()))
    return success();
  AffineMap map = op.getPermutationMap();
  SmallVector<Reach> ranges = points(op.getBase(), op.getIndices());
  std::pair<Value, Value> active;
  if (Value mask = op.getMask()) {
    if (map.getNumResults() != 1)
      return op.emitOpError(
          "has a mask of several dimensions, and cannot be checked");
    active = lanes(mask);
    // Without lanes it does not matter where they are not.
    Value any = min(active.second, index(1));
    for (Reach &range : ranges)
      range.count = any;
  }
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      continue; // broadcast
    Reach &range = ranges[dim.getPosition()];
    if (!op.isDimInBounds(d)) {
      // It takes what there is from here on, but nothing before the start.
      Value start = max(index(0), range.first);
      Value behind = max(index(0), sub(range.size, start));
      range.count = min(index(op.getVectorType().getDimSize(d)), behind);
    } else if (active.first) {
      range.first = add(range.first, active.first);
      range.count = active.second;
    } else {
      range.count = index(op.getVectorType().getDimSize(d));
    }
  }
  guard(op, op.getBase(), ranges);
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The part of its source that a view takes, by ranges that have to be inside.
/// Sizes that must be equal are inside of each other.
SmallVector<Reach> BoundsChecker::viewRanges(Operation *op) {
  Value result = op->getResult(0), zero = index(0);
  SmallVector<Reach> ranges;
  auto equal = [&](Value x, Value y) {
    ranges.push_back({zero, x, y});
    ranges.push_back({zero, y, x});
  };
  TypeSwitch<Operation *>(op)
      .Case([&](memref::ViewOp view) {
        Value bytes = index(elementBytes(view.getType().getElementType()));
        for (int64_t d = 0; d < view.getType().getRank(); ++d)
          bytes = mul(bytes, sizeOf(result, d));
        ranges.push_back(
            {view.getByteShift(), bytes, sizeOf(view.getSource(), 0)});
      })
      .Case([&](memref::SubViewOp view) {
        auto value = [&](OpFoldResult size) {
          return getValueOrCreateConstantIndexOp(b, loc, size);
        };
        for (auto [d, offset, size, stride] :
             llvm::enumerate(view.getMixedOffsets(), view.getMixedSizes(),
                             view.getMixedStrides())) {
          Value last = mul(sub(value(size), index(1)), value(stride));
          ranges.push_back({value(offset), add(last, index(1)),
                            sizeOf(view.getSource(), d)});
        }
      })
      .Case([&](memref::CastOp cast) {
        auto from = dyn_cast<MemRefType>(cast.getSource().getType());
        auto to = dyn_cast<MemRefType>(cast.getType());
        for (int64_t d = 0; from && to && d < to.getRank(); ++d)
          if (from.isDynamicDim(d) && !to.isDynamicDim(d))
            equal(sizeOf(cast.getSource(), d), index(to.getDimSize(d)));
      })
      .Case([&](memref::ExpandShapeOp expand) {
        for (auto [d, parts] :
             llvm::enumerate(expand.getReassociationIndices())) {
          Value product = index(1);
          for (int64_t part : parts)
            product = mul(product, sizeOf(result, part));
          equal(sizeOf(expand.getSrc(), d), product);
        }
      });
  return ranges;
}

/// Finds out whether a view lies inside of its source, when it is made. Only an
/// access can be wrong, and later depends on that.
void BoundsChecker::checkView(Operation *op) {
  b.setInsertionPointAfter(op);
  SmallVector<Reach> ranges = viewRanges(op);
  Value good;
  for (const Reach &range : ranges)
    good = conjunction(good, isInside(range));
  if (!good)
    return;
  views[op->getResult(0)] = {op, std::move(ranges), good};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// An op that is not known must not access memory.
static LogicalResult refuseAccess(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  auto accesses = [&](Value memref) {
    return isa<CallOpInterface>(op) ||
           (effects &&
            (effects.getEffectOnValue<MemoryEffects::Read>(memref) ||
             effects.getEffectOnValue<MemoryEffects::Write>(memref)));
  };
  for (Value operand : op->getOperands())
    if (isa<BaseMemRefType>(operand.getType()) && accesses(operand))
      return op->emitOpError("accesses memory of type ")
             << operand.getType() << ", and its bounds cannot be checked";
  return success();
}

LogicalResult BoundsChecker::check(Operation *op) {
  loc = op->getLoc();
  b.setInsertionPoint(op);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<memref::ViewOp, memref::SubViewOp, memref::CastOp,
            memref::ExpandShapeOp>([&](Operation *op) {
        checkView(op);
        return success();
      })
      .Case([&](memref::LoadOp op) {
        return checkPlain(op, op.getMemRef(), op.getIndices(), op.getType());
      })
      .Case([&](memref::StoreOp op) {
        return checkPlain(op, op.getMemRef(), op.getIndices(),
                          op.getValue().getType());
      })
      .Case<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>([&](auto op) {
        return checkPlain(op, op.getMemref(), op.getIndices(), op.getType());
      })
      .Case([&](vector::LoadOp op) {
        return checkPlain(op, op.getBase(), op.getIndices(), op.getType());
      })
      .Case([&](vector::StoreOp op) {
        return checkPlain(op, op.getBase(), op.getIndices(),
                          op.getValueToStore().getType());
      })
      .Case<vector::MaskedLoadOp, vector::MaskedStoreOp>([&](auto op) {
        return checkMasked(op, op.getBase(), op.getIndices(), op.getMask());
      })
      .Case<vector::GatherOp, vector::ScatterOp>([&](auto op) {
        return checkGathered(op, op.getBase(), op.getOffsets(), op.getIndices(),
                             op.getMask());
      })
      .Case([&](VectorTransferOpInterface op) { return checkTransfer(op); })
      .Case([&](amx::TileLoadOp op) {
        return checkTile(op, op.getBase(), op.getIndices(), op.getStride(),
                         op.getTileType());
      })
      .Case([&](amx::TileStoreOp op) {
        return checkTile(op, op.getBase(), op.getIndices(), op.getStride(),
                         op.getTileType());
      })
      .Case([&](memref::CopyOp op) { return checkCopy(op); })
      // A hint: nothing is read.
      .Case([&](memref::PrefetchOp) { return success(); })
      .Default(refuseAccess);
}

LogicalResult BoundsChecker::run() {
  SmallVector<Operation *> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(check(op)))
      return failure();
  return success();
}

namespace {
struct PitCheckBounds : pit::impl::PitCheckBoundsBase<PitCheckBounds> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      Value frame = function.isExternal() ? Value() : getFrame(function);
      OpBuilder builder(&getContext());
      if (frame && failed(BoundsChecker(builder, function, frame).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
