//===- ComputeLiveRows.cpp - Element-wise ops on packed rows --------------===//
//
//   p = pit.forall ids at pos in index { .. SWrite into empty[pos, ..] }
//   h = linalg.generic {element-wise} ins(p, ..)
//   .. = pit.forall ids at pos in index { SRead h[pos, ..] .. }
//
// Rows of p without a position are nothing. Nor does anybody read those of h.
// Either is enough: they need not be computed, and the op becomes a loop over
// the index. [L1 to L3]
//
//===----------------------------------------------------------------------===//

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCOMPUTELIVEROWS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Rows of a chunk: few, so that there are blocks of threads for all of a GPU.
static constexpr int64_t kChunk = 8;

/// May some of the op's points be left out, and is a row one of the packed
/// rows? [L1]
static bool computesRows(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumLoops() == 0 ||
      op.getNumParallelLoops() != op.getNumLoops() || op.hasIndexSemantics())
    return false;
  auto isOfElements = [](Operation &inner) {
    return isPure(&inner) &&
           llvm::none_of(inner.getOperandTypes(), llvm::IsaPred<ShapedType>);
  };
  if (!llvm::all_of(op.getBlock()->without_terminator(), isOfElements))
    return false;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!op.getMatchingIndexingMap(&init).isIdentity() ||
        op.payloadUsesValueFromOperand(&init))
      return false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    // A tile is as large as a row, and is of as many rows as a chunk.
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation())
      return false;
    for (auto [d, extent] : llvm::enumerate(type.getShape())) {
      bool isRow = map.getDimPosition(d) == 0;
      if (isRow ? d != 0 : ShapedType::isDynamic(extent))
        return false;
    }
  }
  return ShapedType::isDynamic(
      cast<ShapedType>(op->getResult(0).getType()).getDimSize(0));
}

/// Does an index have one list? Then positions are those of rows, from 0 on.
static bool isOneList(Value index) {
  return index &&
         cast<SparsityIndexType>(index.getType()).getGroupDims().empty();
}

/// The index of one list at whose positions `use` reads rows; else null. [L2]
static Value findIndex(OpOperand &use) {
  auto read = dyn_cast<SReadOp>(use.getOwner());
  if (!read || read.isWhole() || read.getSubscripts().empty() ||
      &use != &read.getSrcMutable())
    return {};
  auto rows = dyn_cast<BlockArgument>(read.getSubscripts().front());
  for (Value subscript : read.getSubscripts().drop_front())
    if (!isa<IndexType>(subscript.getType()))
      return {};
  Operation *owner = rows ? rows.getOwner()->getParentOp() : nullptr;
  Value index;
  if (auto loop = dyn_cast_or_null<ForallOp>(owner))
    index = rows == loop.getPositions() ? loop.getIndex() : Value();
  else if (auto loop = dyn_cast_or_null<ForOp>(owner))
    index = rows == loop.getPositions() ? loop.getIndex() : Value();
  return isOneList(index) ? index : Value();
}

/// The index at whose positions alone the op's results are read; else null.
static Value findOnlyIndex(linalg::LinalgOp op) {
  Value found;
  for (OpResult result : op->getResults())
    for (OpOperand &use : result.getUses()) {
      if (isa<tensor::DimOp>(use.getOwner()))
        continue;
      Value index = findIndex(use);
      if (!index || (found && found != index))
        return {};
      found = index;
    }
  return found;
}

/// The index of one list at whose positions the rows of a tensor were written,
/// if nothing is promised of the others; else null. [L3]
static Value findWritten(Value tensor) {
  auto loop = tensor.getDefiningOp<ForallOp>();
  if (!loop || !isOneList(loop.getIndex()) ||
      loop.getConflicts() != Conflicts::None)
    return {};
  unsigned number = cast<OpResult>(tensor).getResultNumber();
  auto write = loop.getYield().getOperand(number).getDefiningOp<SWriteOp>();
  bool isOfRows =
      write && write->getBlock() == loop.getBody() && !write.isWhole() &&
      write.getDest() == loop.getRegionIterArgs()[number] &&
      write.getDest().hasOneUse() && !write.getSubscripts().empty() &&
      write.getSubscripts().front() == loop.getPositions() &&
      loop.getInitArgs()[number].getDefiningOp<tensor::EmptyOp>();
  return isOfRows ? loop.getIndex() : Value();
}

/// The same of an operand of the op of which each point reads its row.
static Value findWrittenOperand(linalg::LinalgOp op) {
  for (OpOperand *operand : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(operand).isFunctionOfDim(0))
      if (Value index = findWritten(operand->get()))
        return index;
  return {};
}

/// Is a value there where the op is? It was only known to be where it is used.
static bool isThere(Value value, Operation *op) {
  Operation *def = value.getDefiningOp();
  return !def || def->getBlock() != op->getBlock() || def->isBeforeInBlock(op);
}

/// The subscripts that read or write a tile of an operand.
static SmallVector<Value> subscriptsOf(AffineMap map, Value rows, Value zero) {
  SmallVector<Value> subscripts;
  for (unsigned d = 0; d < map.getNumResults(); ++d)
    subscripts.push_back(map.getDimPosition(d) == 0 ? rows : zero);
  return subscripts;
}

static RankedTensorType tileOf(Value tensor, AffineMap map) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [d, extent] : llvm::enumerate(shape))
    if (map.getDimPosition(d) == 0)
      extent = kChunk;
  return RankedTensorType::get(shape, type.getElementType());
}

/// Makes a loop over `index` of the op.
static void computeRows(RewriterBase &rewriter, linalg::LinalgOp op,
                        Value index) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  auto loop = ForallOp::create(
      rewriter, loc, ValueRange(), ValueRange(), ArrayRef<int64_t>(), index,
      /*group=*/ValueRange(), kChunk, op.getDpsInits(),
      [&](OpBuilder &b, Location loc, ValueRange, Value, Value rows,
          ValueRange into) {
        SmallVector<Value> operands;
        for (OpOperand &operand : op->getOpOperands()) {
          Value tensor = operand.get();
          if (!isa<RankedTensorType>(tensor.getType())) {
            operands.push_back(tensor);
            continue;
          }
          AffineMap map = op.getMatchingIndexingMap(&operand);
          RankedTensorType tile = tileOf(tensor, map);
          if (op.isDpsInit(&operand))
            operands.push_back(tensor::EmptyOp::create(b, loc, tile.getShape(),
                                                       tile.getElementType()));
          else
            operands.push_back(SReadOp::create(b, loc, tile, tensor,
                                               subscriptsOf(map, rows, zero))
                                   .getResult());
        }
        SmallVector<Type> types = llvm::map_to_vector(
            ArrayRef(operands).take_back(op.getNumDpsInits()),
            [](Value value) { return value.getType(); });
        Operation *tiled = clone(b, op, types, operands);
        SmallVector<Value> written;
        for (auto [init, value, dest] :
             llvm::zip(op.getDpsInitsMutable(), tiled->getResults(), into))
          written.push_back(
              SWriteOp::create(
                  b, loc, value, dest,
                  subscriptsOf(op.getMatchingIndexingMap(&init), rows, zero))
                  .getResult());
        YieldOp::create(b, loc, written);
      });
  rewriter.replaceOp(op, loop.getResults());
}

namespace {
struct ComputeLiveRowsPass
    : pit::impl::PitComputeLiveRowsBase<ComputeLiveRowsPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!op->getParentOfType<ForallOp>() && !op->getParentOfType<ForOp>() &&
          computesRows(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    // The reader of one op's results, or the source of an operand, may be
    // another op, as a loop.
    SmallVector<linalg::LinalgOp> others;
    for (linalg::LinalgOp op : llvm::reverse(ops)) {
      Value index = findOnlyIndex(op);
      if (index && isThere(index, op))
        computeRows(rewriter, op, index);
      else
        others.push_back(op);
    }
    for (linalg::LinalgOp op : llvm::reverse(others))
      if (Value index = findWrittenOperand(op))
        computeRows(rewriter, op, index);
  }
};
} // namespace
