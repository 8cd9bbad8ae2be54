//===- PackColumns.cpp - Elements that ids select within rows, packed -----===//
//
//   pit.forall (m, n) { pit.for ids at pos in index[m] {
//     a = SRead A[m, ids]; b = SRead B[ids, n]; .. a * b .. } }
//
// reads A element by element, for each of the tiles along n again. It becomes
//
//   P = pit.forall (m) { pit.for ids at pos in index[m] {
//     a = SRead A[m, ids]; SWrite the transpose of a into P[pos, 0] } }
//   pit.forall (m, n) { pit.for ids at pos in index[m] {
//     a = SRead P[pos, 0]; b = SRead B[ids, n]; .. a * b .. } }
//
// A row of P is what an id selects: consecutive elements, which come in pieces
// of 16 bytes.
//
//===----------------------------------------------------------------------===//

#include "TransposedReads.h"

#include "pit/Dialect/Pit/Transforms/Passes.h"
#include "pit/Target/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITPACKCOLUMNS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Bytes of the elements whose rows wgmma takes transposed. Others have to lie
/// along k, as they do already.
static constexpr int64_t kElementBytes = 2;
/// A row of what is packed is a multiple of it, so that it is copied in pieces.
static constexpr int64_t kPieceBytes = 16;
/// Elements that a block packs at once: some for each thread.
static constexpr int64_t kPackedAtOnce = 2048;

namespace {

/// What an SRead in a loop over ids reads, packed.
class ColumnPacking {
public:
  ColumnPacking(RewriterBase &rewriter, SReadOp read)
      : rewriter(rewriter), read(read) {}

  /// Does it, if it can be done and is worth it; else nothing.
  bool run();

private:
  bool match();
  bool dependsOnGroup();
  bool isReadAgain();
  Value createPacked();
  void readPacked(Value packed);

  /// The number of the loop's variable that `value` is; -1 if it is none.
  int64_t loopOf(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != tiles.getBody())
      return -1;
    return argument.getArgNumber();
  }
  bool isOutside(Value value) {
    return !tiles->isProperAncestor(value.getParentBlock()->getParentOp()) &&
           value.getParentBlock() != tiles.getBody();
  }
  /// Extents of what an id selects.
  ArrayRef<int64_t> rowShape() {
    return cast<RankedTensorType>(read.getResult().getType())
        .getShape()
        .drop_back();
  }
  int64_t rowElements() { return llvm::product_of(rowShape()); }

  RewriterBase &rewriter;
  SReadOp read;
  ForOp steps;
  ForallOp tiles;
  llvm::SetVector<int64_t> loops; ///< of the tiles, which give the group
};

} // namespace

bool ColumnPacking::match() {
  steps = dyn_cast<ForOp>(read->getParentOp());
  tiles = steps ? dyn_cast<ForallOp>(steps->getParentOp()) : ForallOp();
  if (!tiles || tiles.getIndex() || !steps.getIndex() ||
      !steps.getSteps().empty() || !read.getResult() || read.isWhole() ||
      !isOutside(read.getSrc()) || !isOutside(steps.getIndex()))
    return false;
  auto source = cast<RankedTensorType>(read.getSrc().getType());
  auto tile = cast<RankedTensorType>(read.getResult().getType());
  Type element = source.getElementType();
  // Ids select elements of rows, and rows are what is left of it.
  if (!element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() != 8 * kElementBytes ||
      element != tile.getElementType() || tile.getRank() < 2 ||
      rowElements() * kElementBytes % kPieceBytes != 0 ||
      read.getSubscripts().back() != steps.getIds() ||
      llvm::count_if(read.getSubscripts(), [](Value subscript) {
        return isa<IdsType>(subscript.getType());
      }) != 1)
    return false;
  return dependsOnGroup() && isReadAgain() && isOfReductions(read);
}

/// Do tiles that read other rows have other ids, too? Then a position belongs
/// to one of them.
bool ColumnPacking::dependsOnGroup() {
  auto index = cast<SparsityIndexType>(steps.getIndex().getType());
  for (auto [dim, value] : llvm::zip(index.getGroupDims(), steps.getGroup())) {
    int64_t loop = loopOf(value);
    if (loop < 0 ? !isOutside(value)
                 : tiles.getSteps()[loop] < index.getStep()[dim])
      return false;
    if (loop >= 0)
      loops.insert(loop);
  }
  return !loops.empty() &&
         llvm::all_of(read.getSubscripts().drop_back(), [&](Value value) {
           return isOutside(value) || loops.contains(loopOf(value));
         });
}

/// Do several tiles read the same? For one of them, packing reads as much as it
/// saves.
bool ColumnPacking::isReadAgain() {
  for (int64_t loop = 0, e = tiles.getSteps().size(); loop < e; ++loop) {
    if (loops.contains(loop))
      continue;
    std::optional<int64_t> lower = getConstantIntValue(tiles.getLower()[loop]);
    std::optional<int64_t> upper = getConstantIntValue(tiles.getUpper()[loop]);
    if (!lower || !upper || *upper - *lower > tiles.getSteps()[loop])
      return true;
  }
  return false;
}

Value ColumnPacking::createPacked() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(tiles);
  Location loc = read.getLoc();
  Type element = getElementTypeOrSelf(read.getResult());
  SmallVector<OpFoldResult> sizes = {
      ExtentOp::create(rewriter, loc, steps.getIndex()).getResult()};
  llvm::append_range(sizes,
                     getAsIndexOpFoldResult(rewriter.getContext(), rowShape()));
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, element);
  SmallVector<Value> lower, upper;
  SmallVector<int64_t> strides;
  for (int64_t loop : loops) {
    lower.push_back(tiles.getLower()[loop]);
    upper.push_back(tiles.getUpper()[loop]);
    strides.push_back(tiles.getSteps()[loop]);
  }
  // An odd number of words, so that the rows of a column, which are read
  // together, lie in different banks.
  int64_t chunk = std::max<int64_t>(
      kPackedAtOnce / rowElements() - 4 / kElementBytes, 4 / kElementBytes);
  auto copyTile = [&](OpBuilder &b, Location loc, IRMapping &mapping, Value ids,
                      Value positions, Value into) {
    SmallVector<Value> at;
    for (Value subscript : read.getSubscripts().drop_back())
      at.push_back(mapping.lookupOrDefault(subscript));
    at.push_back(ids);
    SmallVector<int64_t> shape(rowShape()), rotated = {chunk}, permutation;
    llvm::append_range(rotated, shape);
    shape.push_back(chunk);
    int64_t rank = shape.size();
    for (int64_t d = 0; d < rank; ++d)
      permutation.push_back((d + rank - 1) % rank);
    Value tile = SReadOp::create(b, loc, RankedTensorType::get(shape, element),
                                 read.getSrc(), at, read.getPadAttr())
                     .getResult();
    Value init = tensor::EmptyOp::create(b, loc, rotated, element);
    Value columns = linalg::TransposeOp::create(b, loc, tile, init, permutation)
                        ->getResult(0);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    SmallVector<Value> to(rank, zero);
    to.front() = positions;
    return SWriteOp::create(b, loc, columns, into, to).getResult();
  };
  auto copyGroup = [&](OpBuilder &b, Location loc, ValueRange ivs, Value, Value,
                       ValueRange carried) {
    IRMapping mapping;
    for (auto [loop, iv] : llvm::zip(loops, ivs))
      mapping.map(tiles.getInductionVars()[loop], iv);
    SmallVector<Value> group;
    for (Value value : steps.getGroup())
      group.push_back(mapping.lookupOrDefault(value));
    auto chunks =
        ForOp::create(b, loc, ValueRange(), ValueRange(), ArrayRef<int64_t>(),
                      steps.getIndex(), group, chunk, carried,
                      [&](OpBuilder &b, Location loc, ValueRange, Value ids,
                          Value positions, ValueRange carried) {
                        YieldOp::create(b, loc,
                                        copyTile(b, loc, mapping, ids,
                                                 positions, carried.front()));
                      });
    YieldOp::create(b, loc, chunks.getResults());
  };
  return ForallOp::create(rewriter, loc, lower, upper, strides,
                          /*index=*/Value(), /*group=*/ValueRange(),
                          /*chunk=*/0, empty, copyGroup)
      .getResult(0);
}

/// Reads by positions, and has the tile's users take it as it is packed.
void ColumnPacking::readPacked(Value packed) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(read);
  Location loc = read.getLoc();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  SmallVector<Value> at(rowShape().size() + 1, zero);
  at.front() = steps.getPositions();
  SmallVector<int64_t> shape = {static_cast<int64_t>(steps.getChunk())};
  llvm::append_range(shape, rowShape());
  Type element = getElementTypeOrSelf(packed);
  Value tile =
      SReadOp::create(rewriter, loc, RankedTensorType::get(shape, element),
                      packed, at, read.getPadAttr())
          .getResult();
  SmallVector<int64_t> rotated = {static_cast<int64_t>(rowShape().size())};
  llvm::append_range(rotated, llvm::seq<int64_t>(rowShape().size()));
  replaceTransposed(rewriter, read, tile, rotated);
}

bool ColumnPacking::run() {
  if (!match())
    return false;
  readPacked(createPacked());
  return true;
}

namespace {
struct PackColumnsPass : pit::impl::PitPackColumnsBase<PackColumnsPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<Target> machine = getTarget(getOperation().getLoc(), target);
    if (failed(machine))
      return signalPassFailure();
    // Tensor cores that take columns from memory: others load elements.
    if (!machine->gpu || !machine->gpu->wgmma)
      return;
    SmallVector<SReadOp> reads;
    getOperation().walk([&](SReadOp read) { reads.push_back(read); });
    IRRewriter rewriter(&getContext());
    for (SReadOp read : reads)
      ColumnPacking(rewriter, read).run();
  }
};
} // namespace
