//===- Fold.cpp - Values stay packed between ops that share an index ------===//
//
// How it works: Folder.h.
//
//===----------------------------------------------------------------------===//

#include "Folder.h"

#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Transforms.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITFOLD
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Marks and packed values
//===----------------------------------------------------------------------===//

bool mlir::pit::isIdentity(SparseOp mark) {
  return mark.getSource() == Source::Values || mark.getAssume();
}

SWriteOp mlir::pit::getUnpack(Value value) {
  while (auto mark = value.getDefiningOp<SparseOp>()) {
    if (!isIdentity(mark))
      return {};
    value = mark.getInput();
  }
  auto write = value.getDefiningOp<SWriteOp>();
  if (!write || !getPacking(write) ||
      getElementTypeOrSelf(write.getTile()) != getElementTypeOrSelf(value))
    return {};
  return write;
}

std::optional<Packing> mlir::pit::getOnlyPacking(Value value) {
  std::optional<Packing> only;
  for (Operation *user : value.getUsers()) {
    auto read = dyn_cast<SReadOp>(user);
    std::optional<Packing> packing = read ? getPacking(read) : std::nullopt;
    if (!packing || (only && !(*packing == *only)) ||
        getElementTypeOrSelf(read.getResult()) != getElementTypeOrSelf(value))
      return std::nullopt;
    only = packing;
  }
  return only;
}

bool mlir::pit::isResultMark(SparseOp mark) {
  auto op = mark.getInput().getDefiningOp<linalg::LinalgOp>();
  auto rule = op ? op->getAttrOfType<RuleAttr>(kRuleAttrName) : RuleAttr();
  return rule && getIndexMark(op, rule) == mark;
}

bool mlir::pit::isAllSelected(SparseOp mark, const Packing &packing) {
  if (mark.getSource() == Source::Index)
    return mark.getSelector() == packing.index &&
           Packing{packing.index, packing.dims} == wholePacking(mark);
  auto index = packing.index.getDefiningOp<IndexOp>();
  if (!index || index.getSource() != mark.getSource() ||
      index.hasRowsOfBatch() || index.getInput() != mark.getSelector())
    return false;
  // As many leading dimensions as the selector is about are one wide in the
  // micro-tiles, and are those of the mark.
  SparsityIndexType type = index.getType();
  int64_t about = mark.getType().getRank();
  if (mark.getSource() == Source::Lengths)
    about = cast<RankedTensorType>(mark.getSelector().getType()).getRank() + 1;
  if (about > type.getRank() ||
      about > static_cast<int64_t>(packing.dims.size()))
    return false;
  for (int64_t d = 0; d < about; ++d)
    if (type.isWhole(d) || packing.dims[d] != d)
      return false;
  return true;
}

Packing mlir::pit::wholePacking(SparseOp mark) {
  auto type = cast<SparsityIndexType>(mark.getSelector().getType());
  Packing whole{mark.getSelector(), {}};
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!type.isWhole(i))
      whole.dims.push_back(i);
  return whole;
}

Value Folder::pack(Location loc, Value value, const Packing &packing) {
  if (SWriteOp write = getUnpack(value))
    if (*getPacking(write) == packing)
      return write.getTile();
  if (Value uniform = packUniform(loc, value, packing))
    return uniform;
  return createPack(rewriter, loc, value, packing);
}

Value Folder::packUniform(Location loc, Value value, const Packing &packing) {
  if (value.getDefiningOp<tensor::EmptyOp>())
    return createPackedEmpty(rewriter, loc, value, packing);
  Value element;
  if (auto fillOp = value.getDefiningOp<linalg::FillOp>())
    element = fillOp.value();
  else if (auto uniform =
               dyn_cast_or_null<TypedAttr>(getUniformConstant(value)))
    element = arith::ConstantOp::create(rewriter, loc, uniform);
  else
    return {};
  return fill(loc, element, createPackedEmpty(rewriter, loc, value, packing));
}

Value Folder::fill(Location loc, Value constant, Value into) {
  return linalg::FillOp::create(rewriter, loc, constant, into).getResult(0);
}

linalg::LinalgOp Folder::packOp(linalg::LinalgOp op, ArrayRef<unsigned> loops,
                                Value index) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<Packing> packing =
        *getOperandPacking(op.getMatchingIndexingMap(&operand), loops, index);
    Value value = operand.get();
    if (packing && op.isDpsInit(&operand) &&
        !op.payloadUsesValueFromOperand(&operand))
      value = createPackedEmpty(rewriter, op.getLoc(), value, *packing);
    else if (packing)
      value = pack(op.getLoc(), value, *packing);
    operands.push_back(value);
  }
  return createPacked(rewriter, op, loops, index, operands);
}

void Folder::replaceRead(SReadOp read, Value packed) {
  Type type = read.getResult().getType();
  if (packed.getType() != type) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(read);
    packed = tensor::CastOp::create(rewriter, read.getLoc(), type, packed);
  }
  rewriter.replaceOp(read, packed);
}

//===----------------------------------------------------------------------===//
// Before all
//===----------------------------------------------------------------------===//

void Folder::resolveDims() {
  function.walk([&](tensor::DimOp dim) {
    Value source = getShapeSource(dim.getSource());
    std::optional<int64_t> d = dim.getConstantIndex();
    auto empty = source.getDefiningOp<tensor::EmptyOp>();
    if (empty && d && empty.getType().isDynamicDim(*d))
      rewriter.replaceOp(dim, empty.getDynamicSize(*d));
    else
      rewriter.modifyOpInPlace(dim,
                               [&] { dim.getSourceMutable().assign(source); });
  });
}

static bool areSameSize(Value a, Value b) {
  auto dimA = a.getDefiningOp<tensor::DimOp>();
  auto dimB = b.getDefiningOp<tensor::DimOp>();
  std::optional<int64_t> constant = getConstantIntValue(a);
  return a == b || (constant && constant == getConstantIntValue(b)) ||
         (dimA && dimB && dimA.getSource() == dimB.getSource() &&
          dimA.getConstantIndex() &&
          dimA.getConstantIndex() == dimB.getConstantIndex());
}

/// The mask that `mask` repeats along whole dimensions of the index.
static Value getRepeated(Value mask, SparsityIndexType index) {
  auto broadcast = mask.getDefiningOp<linalg::BroadcastOp>();
  if (!broadcast || !broadcast.hasPureTensorSemantics())
    return {};
  auto type = cast<RankedTensorType>(mask.getType());
  for (int64_t d : broadcast.getDimensions())
    if (!index.isWhole(d) || type.isDynamicDim(d) || type.getDimSize(d) == 0)
      return {};
  return broadcast.getInput();
}

/// True if two indices list the same ids in the same groups. How long whole
/// dimensions are makes no difference.
static bool listSameIds(IndexOp a, IndexOp b) {
  SparsityIndexType type = a.getType();
  if (type != b.getType() || a.getSource() != b.getSource() ||
      a.getBackgroundAttr() != b.getBackgroundAttr() ||
      a.getUnordered() != b.getUnordered())
    return false;
  if (a.getInput() != b.getInput()) {
    Value repeated = a.getSource() == Source::Mask
                         ? getRepeated(a.getInput(), type)
                         : Value();
    return repeated && repeated == getRepeated(b.getInput(), type);
  }
  if (a.getShape().size() != b.getShape().size())
    return false;
  // How long whole dimensions are does not matter. The dims of rows of a batch
  // are the first two of the shape.
  int64_t more = a.hasRowsOfBatch();
  for (auto [d, sizes] :
       llvm::enumerate(llvm::zip_equal(a.getShape(), b.getShape())))
    if (!type.isWhole(std::max<int64_t>(d - more, 0)) &&
        !areSameSize(std::get<0>(sizes), std::get<1>(sizes)))
      return false;
  return true;
}

void Folder::shareIndices() {
  SmallVector<IndexOp> indices;
  function.walk([&](IndexOp index) {
    auto first = llvm::find_if(indices, [&](IndexOp earlier) {
      return dominance.properlyDominates(earlier.getOperation(),
                                         index.getOperation()) &&
             listSameIds(earlier, index);
    });
    if (first != indices.end())
      rewriter.replaceOp(index, *first);
    else
      indices.push_back(index);
  });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void Folder::run() {
  resolveDims();
  shareIndices();
  leaveEpilogues();
  offerPackedOperands();
  pushDown();
  pushUp();
  takeBackOffers();
}

void pit::foldPacked(RewriterBase &rewriter, func::FuncOp function) {
  Folder(rewriter, function).run();
}

namespace {
struct FoldPass : pit::impl::PitFoldBase<FoldPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    foldPacked(rewriter, getOperation());
  }
};
} // namespace
