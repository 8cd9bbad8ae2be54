//===- CollapseRows.cpp - Rows of a batch as one list ---------------------===//
//
// Lengths select rows s of each of the matrices b of a batch. The rule for them
// has a group for each matrix. If a sum goes over b and s, groups are loops
// around the one over ids: chunks end with each group, and no kernel takes such
// a nest. All operands that have b and s have them together, so they are
// matrices of b * s rows, too, and one list has the numbers of all rows.
//
//===----------------------------------------------------------------------===//

#include "Reshapes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pit;

/// The loops over the batch and its rows, in the order of the marked operand's
/// dimensions; empty if they cannot be one.
static ReassociationIndices findRows(linalg::LinalgOp op,
                                     const LegalRule &legal) {
  SparseOp mark = legal.mark;
  auto number = static_cast<unsigned>(legal.rule.getOperand());
  OpOperand &marked = op->getOpOperand(number);
  if (mark.getSource() != Source::Lengths || mark.getRuleAttr() ||
      op.isDpsInit(&marked) || op.hasIndexSemantics() ||
      !op.hasPureTensorSemantics())
    return {};
  int64_t ragged =
      cast<RankedTensorType>(mark.getSelector().getType()).getRank();
  if (ragged == 0 || legal.rule.getAxis() != ragged)
    return {};
  ReassociationIndices rows;
  AffineMap map = op.getMatchingIndexingMap(&marked);
  for (int64_t d = 0; d < map.getNumResults(); ++d) {
    if (d > ragged) {
      // The rest of a row is taken as a whole.
      if (!legal.index.isWhole(d))
        return {};
      continue;
    }
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(d));
    if (!dim || legal.index.isWhole(d) || legal.index.getMicroTile()[d] != 1 ||
        legal.index.getStep()[d] != 1)
      return {};
    rows.push_back(dim.getPosition());
  }
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  bool areSummed = llvm::all_of(
      rows, [&](int64_t d) { return linalg::isReductionIterator(kinds[d]); });
  if (!areSummed || !isCollapsible(op, rows))
    return {};
  return rows;
}

/// The index of all rows that `mark` selects, as one list.
static Value buildRowIndex(RewriterBase &rewriter, SparseOp mark,
                           SparsityIndexType type, bool unordered) {
  Location loc = mark.getLoc();
  Value lengths = mark.getSelector(), input = mark.getInput();
  int64_t rank = cast<RankedTensorType>(lengths.getType()).getRank();
  if (rank > 1) {
    ReassociationIndices all(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
    lengths = tensor::CollapseShapeOp::create(
        rewriter, loc, lengths, ArrayRef<ReassociationIndices>(all));
  }
  SmallVector<OpFoldResult> sizes = {
      tensor::getMixedSize(rewriter, loc, lengths, 0)};
  llvm::append_range(
      sizes,
      ArrayRef(tensor::getMixedSizes(rewriter, loc, input)).drop_front(rank));
  SmallVector<Value> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, size));
  return IndexOp::create(rewriter, loc, type, Source::Lengths, lengths, shape,
                         /*seen=*/Value(), /*bitmap=*/Value(),
                         /*background=*/TypedAttr(), unordered);
}

/// `extents` of a loop nest or an operand whose elements `run` are one: the
/// last of them.
static SmallVector<int64_t> collapseExtents(ArrayRef<int64_t> extents,
                                            ArrayRef<int64_t> run) {
  SmallVector<int64_t> collapsed;
  for (auto [d, extent] : llvm::enumerate(extents)) {
    int64_t at = d;
    if (at == run.front())
      collapsed.push_back(extents[run.back()]);
    else if (!llvm::is_contained(run, at))
      collapsed.push_back(extent);
  }
  return collapsed;
}

std::optional<RuledOp> mlir::pit::collapseRows(RewriterBase &rewriter,
                                               linalg::LinalgOp op,
                                               const LegalRule &legal,
                                               bool unordered) {
  ReassociationIndices rows = findRows(op, legal);
  if (rows.empty())
    return std::nullopt;
  SparseOp mark = legal.mark;
  auto number = static_cast<unsigned>(legal.rule.getOperand());
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
  // Other inputs that read the same elements.
  llvm::SmallBitVector alike(op.getNumDpsInputs());
  for (OpOperand *input : op.getDpsInputOperands())
    alike[input->getOperandNumber()] = input->get() == mark.getResult() &&
                                       op.getMatchingIndexingMap(input) == map;

  OpBuilder::InsertionGuard guard(rewriter);
  linalg::LinalgOp sum = collapseLoops(rewriter, op, rows);
  assert(sum && "the dims go together in all operands");

  ReassociationIndices dims(
      llvm::to_vector(llvm::seq<int64_t>(0, rows.size())));
  auto type = SparsityIndexType::get(
      rewriter.getContext(), collapseExtents(legal.index.getMicroTile(), dims),
      /*axis=*/0, collapseExtents(legal.index.getStep(), dims));
  rewriter.setInsertionPoint(sum);
  Value index = buildRowIndex(rewriter, mark, type, unordered);
  SmallVector<ReassociationIndices> groups = {dims};
  for (int64_t d = rows.size(); d < mark.getType().getRank(); ++d)
    groups.push_back({d});
  Value input = tensor::CollapseShapeOp::create(rewriter, mark.getLoc(),
                                                mark.getInput(), groups);
  auto chosen =
      SparseOp::create(rewriter, mark.getLoc(), input, Source::Index, index,
                       mark.getBackgroundAttr(), mark.getAssume(), RuleAttr());
  rewriter.modifyOpInPlace(sum, [&] {
    for (unsigned i : alike.set_bits())
      sum->setOperand(i, chosen);
  });
  auto rule = RuleAttr::get(
      rewriter.getContext(), number, /*axis=*/0, type.getMicroTile(),
      collapseExtents(legal.rule.getTile(), rows), Conflicts::None);
  assert(!checkTileable(sum, rule, type, chosen.getBackgroundOrZero()) &&
         "a rule for rows of a batch is one for all rows of it");
  return RuledOp{sum, {rule, chosen, type}};
}
