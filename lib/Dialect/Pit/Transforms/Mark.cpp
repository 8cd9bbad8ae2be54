//===- Mark.cpp - Which mark a linalg op sees -----------------------------===//

#include "pit/Dialect/Pit/Transforms/Mark.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CastInterfaces.h"

using namespace mlir;
using namespace mlir::pit;

/// The dimension among `group` of `shape` that alone may have more than one
/// element, or -1.
static int64_t onlyDim(ArrayRef<int64_t> shape, ArrayRef<int64_t> group) {
  int64_t found = -1;
  for (int64_t dim : group) {
    if (shape[dim] == 1)
      continue;
    if (found != -1)
      return -1;
    found = dim;
  }
  return found == -1 && group.size() == 1 ? group.front() : found;
}

/// For each dimension of the result of `op`, the dimension of its source that
/// it is, or -1. `op` is one that is traced through.
static SmallVector<int64_t> sourceDims(Operation *op) {
  SmallVector<int64_t> dims;
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return SmallVector<int64_t>(transpose.getPermutation());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    dims.assign(shape.size(), -1);
    for (auto [source, group] :
         llvm::enumerate(expand.getReassociationIndices()))
      if (int64_t dim = onlyDim(shape, group); dim != -1)
        dims[dim] = source;
    return dims;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
    for (const ReassociationIndices &group : collapse.getReassociationIndices())
      dims.push_back(onlyDim(shape, group));
    return dims;
  }
  int64_t rank = cast<ShapedType>(op->getResult(0).getType()).getRank();
  return llvm::to_vector(llvm::seq<int64_t>(rank));
}

static SmallVector<int64_t> identityDims(Value value) {
  int64_t rank = cast<ShapedType>(value.getType()).getRank();
  return llvm::to_vector(llvm::seq<int64_t>(rank));
}

bool pit::isTracedThrough(Operation *op) {
  if (!isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
           linalg::TransposeOp>(op) ||
      op->getNumResults() != 1)
    return false;
  auto isRanked = [](Value v) { return isa<RankedTensorType>(v.getType()); };
  return isRanked(op->getOperand(0)) && isRanked(op->getResult(0));
}

bool pit::isElementCast(Operation *op) {
  auto cast = dyn_cast<linalg::LinalgOp>(op);
  if (!cast || !cast.hasPureTensorSemantics() || cast.getNumDpsInputs() != 1 ||
      cast.getNumDpsInits() != 1 || op->hasAttr(kRuleAttrName) ||
      cast.getNumParallelLoops() != cast.getNumLoops() ||
      !llvm::all_of(cast.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return false;
  Block *body = cast.getBlock();
  auto ops = body->without_terminator();
  return llvm::hasSingleElement(ops) && isa<CastOpInterface>(*ops.begin()) &&
         ops.begin()->getOperand(0) == body->getArgument(0) &&
         body->getTerminator()->getOperand(0) == ops.begin()->getResult(0);
}

std::optional<Mark> pit::traceOperandMark(Value operand) {
  Mark mark;
  if (!isa<RankedTensorType>(operand.getType()))
    return std::nullopt;
  mark.dims = identityDims(operand);
  while (Operation *op = operand.getDefiningOp()) {
    if ((mark.sparse = dyn_cast<SparseOp>(op)))
      return mark;
    if (!isTracedThrough(op))
      return std::nullopt;
    SmallVector<int64_t> source = sourceDims(op);
    for (int64_t &dim : mark.dims)
      dim = dim == -1 ? -1 : source[dim];
    mark.path.push_back(op);
    operand = op->getOperand(0);
  }
  return std::nullopt;
}

std::optional<Mark> pit::traceResultMark(Value result) {
  Mark mark;
  if (!isa<RankedTensorType>(result.getType()))
    return std::nullopt;
  mark.dims = identityDims(result);
  while (result.hasOneUse()) {
    OpOperand &use = *result.use_begin();
    Operation *op = use.getOwner();
    if (auto sparse = dyn_cast<SparseOp>(op)) {
      // Which values are background is only known once they are computed.
      if (sparse.getSource() == Source::Values || use.getOperandNumber() != 0)
        return std::nullopt;
      mark.sparse = sparse;
      return mark;
    }
    if (!isTracedThrough(op) || use.getOperandNumber() != 0)
      return std::nullopt;
    // Here the dims of the op's source are looked for in its result.
    SmallVector<int64_t> source = sourceDims(op);
    for (int64_t &dim : mark.dims) {
      auto it = dim == -1 ? source.end() : llvm::find(source, dim);
      dim = it == source.end() ? -1 : it - source.begin();
    }
    mark.path.push_back(op);
    result = op->getResult(0);
  }
  return std::nullopt;
}

SparseOp pit::getIndexMark(linalg::LinalgOp op, RuleAttr rule) {
  if (rule.getOperand() < 0 || rule.getOperand() >= op->getNumOperands())
    return {};
  OpOperand &operand = op->getOpOperand(rule.getOperand());
  SparseOp mark;
  if (!op.isDpsInit(&operand)) {
    mark = operand.get().getDefiningOp<SparseOp>();
  } else {
    Value result = op.getTiedOpResult(&operand);
    if (result.hasOneUse())
      mark = dyn_cast<SparseOp>(*result.getUsers().begin());
  }
  return mark && mark.getSource() == Source::Index ? mark : SparseOp();
}
