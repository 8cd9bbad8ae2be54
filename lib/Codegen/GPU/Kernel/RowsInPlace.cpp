//===- RowsInPlace.cpp - Element-wise ops on listed rows ------------------===//

#include "RowsInPlace.h"

#include "Codegen/GPU/Common/TileAccess.h"
#include "Codegen/GPU/Common/TileLoop.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

//===----------------------------------------------------------------------===//
// Recognizing such a loop
//===----------------------------------------------------------------------===//

/// Does `memref` come from outside of the loop, and do the subscripts select
/// rows of it, whole ones, by positions of the loop, or all of it?
static bool selectsRows(ForallOp loop, Value memref, ValueRange subscripts,
                        ShapedType tile) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type || loop->isAncestor(memref.getParentRegion()->getParentOp()) ||
      type.getElementType() != tile.getElementType())
    return false;
  for (auto [d, subscript] : llvm::enumerate(subscripts)) {
    if (d == 0 && subscript == loop.getPositions())
      continue;
    if (!matchPattern(subscript, m_Zero()) || type.isDynamicDim(d) ||
        type.getDimSize(d) != tile.getDimSize(d))
      return false;
  }
  return true;
}

/// Is the op element-wise, with rows as its first dimension?
static bool isOfRows(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0 ||
      op.getNumParallelLoops() != op.getNumLoops() || op.hasIndexSemantics())
    return false;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!op.getMatchingIndexingMap(&init).isIdentity() ||
        op.payloadUsesValueFromOperand(&init))
      return false;
  return llvm::all_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) { return isPure(&inner); });
}

namespace {
/// The ops of the loop, by what they do.
struct Parts {
  linalg::LinalgOp op;
  SmallVector<SReadOp> reads;
  SmallVector<SWriteOp> writes;
  SmallVector<Operation *> others; ///< that make and end tiles
  /// The memref in place of each tile.
  IRMapping memrefs;
};
} // namespace

/// Has an operand the rows of the op as its first dimension, or none of them?
static bool isByRows(linalg::LinalgOp op, OpOperand &operand, bool hasRows) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!map.isProjectedPermutation())
    return false;
  bool isFirst = map.getNumResults() > 0 && map.getDimPosition(0) == 0;
  return hasRows ? isFirst : !map.isFunctionOfDim(0);
}

static std::optional<Parts> findParts(ForallOp loop) {
  Parts parts;
  auto isTaken = [&](auto op, Value tile, Value memref) {
    return !op.isWhole() && tile.getDefiningOp<memref::AllocOp>() &&
           !parts.memrefs.contains(tile) &&
           selectsRows(loop, memref, op.getSubscripts(), op.getTileType());
  };
  for (Operation &inner : loop.getBody()->without_terminator()) {
    if (auto read = dyn_cast<SReadOp>(inner)) {
      bool isPadded = read.getPadAttr() && !isZero(read.getPadAttr());
      if (!read.getDest() || isPadded ||
          !isTaken(read, read.getDest(), read.getSrc()))
        return std::nullopt;
      parts.memrefs.map(read.getDest(), read.getSrc());
      parts.reads.push_back(read);
    } else if (auto write = dyn_cast<SWriteOp>(inner)) {
      if (write.getCombine() || write.getSubscripts().empty() ||
          write.getSubscripts().front() != loop.getPositions() ||
          !isTaken(write, write.getTile(), write.getDest()))
        return std::nullopt;
      parts.memrefs.map(write.getTile(), write.getDest());
      parts.writes.push_back(write);
    } else if (auto op = dyn_cast<linalg::LinalgOp>(inner)) {
      if (parts.op)
        return std::nullopt;
      parts.op = op;
    } else if (isa<memref::AllocOp, memref::DeallocOp>(inner)) {
      parts.others.push_back(&inner);
    } else if (!inner.hasTrait<OpTrait::ConstantLike>()) {
      return std::nullopt;
    }
  }
  if (!parts.op || !isOfRows(parts.op) || parts.writes.empty())
    return std::nullopt;
  return parts;
}

/// Does the op read just what is read, and write just what is written?
static bool connects(const Parts &parts) {
  linalg::LinalgOp op = parts.op;
  for (OpOperand &operand : op->getOpOperands()) {
    Value tile = operand.get();
    if (!isa<MemRefType>(tile.getType()))
      continue;
    if (op.isDpsInit(&operand)) {
      if (llvm::none_of(parts.writes,
                        [&](SWriteOp each) { return each.getTile() == tile; }))
        return false;
      continue;
    }
    auto read = llvm::find_if(
        parts.reads, [&](SReadOp each) { return each.getDest() == tile; });
    if (read == parts.reads.end())
      return false;
    SReadOp found = *read;
    bool hasRows = !found.getSubscripts().empty() &&
                   isa<IdsType>(found.getSubscripts().front().getType());
    if (!isByRows(op, operand, hasRows))
      return false;
  }
  // Each result is written once.
  return op.getNumDpsInits() == static_cast<int64_t>(parts.writes.size());
}

std::optional<RowsInPlace> cuda::takeRowsInPlace(RewriterBase &rewriter,
                                                 func::FuncOp function) {
  ForallOp loop = matchOnlyLoop(function);
  if (!loop || !loop.getIndex() || !loop.getGroup().empty() ||
      loop.getNumDense() || loop.getConflicts() != Conflicts::None ||
      !cast<SparsityIndexType>(loop.getIndex().getType())
           .getGroupDims()
           .empty())
    return std::nullopt;
  std::optional<Parts> parts = findParts(loop);
  if (!parts || !connects(*parts))
    return std::nullopt;
  for (SWriteOp write : parts->writes)
    rewriter.eraseOp(write);
  for (SReadOp read : parts->reads)
    rewriter.eraseOp(read);
  rewriter.modifyOpInPlace(parts->op, [&] {
    for (OpOperand &operand : parts->op->getOpOperands())
      operand.set(parts->memrefs.lookupOrDefault(operand.get()));
  });
  for (Operation *op : llvm::reverse(parts->others))
    rewriter.eraseOp(op);
  return RowsInPlace{loop, parts->op};
}

//===----------------------------------------------------------------------===//
// The code
//===----------------------------------------------------------------------===//

/// A copy of the op that computes rows [from, to). Operands without rows stay
/// as they are.
static linalg::LinalgOp cloneForRows(RewriterBase &rewriter,
                                     linalg::LinalgOp op, Value from,
                                     Value to) {
  Location loc = op.getLoc();
  Value count = arith::SubIOp::create(rewriter, loc, to, from);
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    Value memref = operand.get();
    auto type = dyn_cast<MemRefType>(memref.getType());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!type || !map.isFunctionOfDim(0)) {
      operands.push_back(memref);
      continue;
    }
    SmallVector<OpFoldResult> sizes =
        memref::getMixedSizes(rewriter, loc, memref);
    SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0)),
        steps(sizes.size(), rewriter.getIndexAttr(1));
    offsets.front() = from;
    sizes.front() = count;
    operands.push_back(memref::SubViewOp::create(rewriter, loc, memref, offsets,
                                                 sizes, steps));
  }
  return cast<linalg::LinalgOp>(clone(rewriter, op, TypeRange(), operands));
}

/// Computes rows of which some operand has none: a tile has 0 there. Rows of
/// what is written that do not exist are left out.
static void computeMissing(RewriterBase &rewriter, linalg::LinalgOp op,
                           const Workers &workers, Value from, Value to) {
  Location loc = op.getLoc();
  Emitter e(rewriter, loc);
  SmallVector<OpFoldResult> extents;
  for (const Range &range : op.createLoopRanges(rewriter, loc))
    extents.push_back(range.size);
  extents.front() = e.sub(to, from);
  Value total = getValueOrCreateConstantIndexOp(rewriter, loc,
                                                volume(rewriter, loc, extents));
  workers.share(rewriter, loc, total, [&](Value number) {
    SmallVector<Value> at = delinearize(rewriter, loc, number, extents);
    at.front() = e.add(at.front(), from);
    auto placeOf = [&](OpOperand &operand) {
      SmallVector<Value> place;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (unsigned d = 0; d < map.getNumResults(); ++d)
        place.push_back(at[map.getDimPosition(d)]);
      return place;
    };
    auto isThere = [&](OpOperand &operand) {
      Value rows = memref::DimOp::create(rewriter, loc, operand.get(), 0);
      return e.inRange(at.front(), rows);
    };
    IRMapping mapping;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      Value value = operand->get();
      if (auto type = dyn_cast<MemRefType>(value.getType())) {
        auto load = [&] { return e.loadAt(operand->get(), placeOf(*operand)); };
        auto zero = [&] {
          return e.constant(rewriter.getZeroAttr(type.getElementType()));
        };
        value = op.getMatchingIndexingMap(operand).isFunctionOfDim(0)
                    ? e.choose(isThere(*operand), load, zero)
                    : load();
      }
      mapping.map(op.getMatchingBlockArgument(operand), value);
    }
    for (Operation &inner : op.getBlock()->without_terminator())
      rewriter.clone(inner, mapping);
    for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
      OpOperand &init = *op.getDpsInitOperand(i);
      Value value = op.getBlock()->getTerminator()->getOperand(i);
      e.ifThen(isThere(init), [&] {
        e.storeAt(mapping.lookupOrDefault(value), init.get(), placeOf(init));
      });
    }
  });
}

LogicalResult cuda::lowerRowsInPlace(RewriterBase &rewriter,
                                     const RowsInPlace &rows,
                                     const Workers &workers,
                                     const IndexMap &indices, Staging staging) {
  ForallOp loop = rows.loop;
  linalg::LinalgOp op = rows.op;
  Location loc = loop.getLoc();
  rewriter.moveOpBefore(op, loop);
  rewriter.setInsertionPoint(op);
  for (Operation &inner :
       llvm::make_early_inc_range(loop.getBody()->without_terminator()))
    rewriter.moveOpBefore(&inner, op);
  Emitter e(rewriter, loc);
  LoopBounds bounds = loopBounds(rewriter, loop, indices);
  Value first = bounds.offset, end = e.add(first, bounds.count);
  // Packed memrefs have all rows, but a tile may be read beyond their ends.
  Value last = end;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (isa<MemRefType>(operand.get().getType()) && map.isFunctionOfDim(0))
      last =
          e.min(last, memref::DimOp::create(rewriter, loc, operand.get(), 0));
  }
  last = e.max(last, first);
  linalg::LinalgOp whole = cloneForRows(rewriter, op, first, last);
  if (failed(lowerLinalg(rewriter, whole, workers, staging)))
    return failure();
  rewriter.eraseOp(whole);
  rewriter.setInsertionPoint(op);
  computeMissing(rewriter, op, workers, last, e.max(end, last));
  rewriter.eraseOp(op);
  rewriter.eraseOp(loop);
  return success();
}
