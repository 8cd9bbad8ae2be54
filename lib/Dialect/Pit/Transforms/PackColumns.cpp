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
// If the function builds the index of A itself, the build may pack, too:
//
//   i, done, O = pit.packed_index A into empty
//   P = scf.if done { O } else { pit.forall as above, into O }
//
//===----------------------------------------------------------------------===//

#include "TransposedReads.h"

#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITPACKCOLUMNS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Elements that a block packs at once: some for each thread.
static constexpr int64_t kPackedAtOnce = 2048;

namespace {

/// The columns that packed indices of a function have.
using PackedIndices = DenseMap<Value, Value>;

/// The tensor that an SRead in a loop over ids reads, packed.
class ColumnPacking {
public:
  ColumnPacking(RewriterBase &rewriter, SReadOp read, PackedIndices &indices)
      : rewriter(rewriter), read(read), indices(indices) {}

  /// Does it, if it can be done and is worth it; else nothing.
  void run();

private:
  bool match();
  bool dependsOnGroup();
  bool readsMicroTilesOf(Value input);
  IndexOp findBuild();
  Value packGroups(OpBuilder &b, ValueRange lower, ValueRange upper,
                   Value index, Value into);
  Value packByLoop();
  Value packByBuild(IndexOp build);

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
  /// The dim that ids select comes first.
  SmallVector<int64_t> rotation() {
    int64_t rank = rowShape().size();
    SmallVector<int64_t> order = {rank};
    llvm::append_range(order, llvm::seq<int64_t>(rank));
    return order;
  }
  /// Subscripts of what is packed, from these positions on.
  SmallVector<Value> packedAt(OpBuilder &b, Location loc, Value positions) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    SmallVector<Value> at(rowShape().size() + 1, zero);
    at.front() = positions;
    return at;
  }

  RewriterBase &rewriter;
  SReadOp read;
  PackedIndices &indices;
  ForOp steps;
  ForallOp tiles;
  llvm::SetVector<int64_t> loops; ///< of the tiles, which give the group
};

} // namespace

bool ColumnPacking::match() {
  steps = dyn_cast<ForOp>(read->getParentOp());
  tiles = steps ? dyn_cast<ForallOp>(steps->getParentOp()) : ForallOp();
  if (!tiles || tiles.getIndex() || !steps.getIndex() ||
      !steps.getSteps().empty() || !readsElementsOfRows(read) ||
      !isOutside(read.getSrc()) || !isOutside(steps.getIndex()))
    return false;
  // Rows of what is packed are what is left of the tile.
  if (read.getSubscripts().back() != steps.getIds() ||
      !isInPieces(rowElements()) || !dependsOnGroup())
    return false;
  // For one tile that reads it, packing reads as much as it saves.
  std::optional<int64_t> readers =
      countTiles(tiles, [&](int64_t loop) { return !loops.contains(loop); });
  return !readers || *readers > 1;
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

/// Is what the tile reads of `input` a micro-tile of its index for each id?
bool ColumnPacking::readsMicroTilesOf(Value input) {
  auto index = cast<SparsityIndexType>(steps.getIndex().getType());
  return input == read.getSrc() && index.getRank() == 2 &&
         index.getAxis() == 1 && index.getMicroTile()[0] == rowElements() &&
         index.getStep()[0] == rowElements() &&
         read.getSubscripts().front() == steps.getGroup().front() &&
         (!read.getPadAttr() || matchPattern(read.getPadAttr(), m_Zero()) ||
          matchPattern(read.getPadAttr(), m_PosZeroFloat()));
}

/// The build of the index, if it can pack what the tile reads.
IndexOp ColumnPacking::findBuild() {
  auto build = steps.getIndex().getDefiningOp<IndexOp>();
  // In a branch it may depend on what a device chooses.
  bool canPack = build && build.getSource() == Source::Values &&
                 !build.getSeen() && !build.getWritten() &&
                 !build->getParentOfType<scf::IfOp>() &&
                 readsMicroTilesOf(build.getInput());
  return canPack ? build : IndexOp();
}

/// Packs the tiles between these bounds at the insertion point.
Value ColumnPacking::packGroups(OpBuilder &b, ValueRange lower,
                                ValueRange upper, Value index, Value into) {
  Location loc = read.getLoc();
  SmallVector<int64_t> strides;
  for (int64_t loop : loops)
    strides.push_back(tiles.getSteps()[loop]);
  // An odd number of words, so that the rows of a column, which are read
  // together, lie in different banks.
  int64_t chunk =
      std::max<int64_t>(kPackedAtOnce / rowElements() - 4 / kTransposedBytes,
                        4 / kTransposedBytes);
  auto copyTile = [&](OpBuilder &b, Location loc, IRMapping &mapping, Value ids,
                      Value positions, Value into) {
    SmallVector<Value> at;
    for (Value subscript : read.getSubscripts().drop_back())
      at.push_back(mapping.lookupOrDefault(subscript));
    at.push_back(ids);
    SmallVector<int64_t> shape(rowShape());
    shape.push_back(chunk);
    return copyTransposed(
        b, loc, {read.getSrc(), at, shape, read.getPadAttr(), rotation()}, into,
        packedAt(b, loc, positions));
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
                      index, group, chunk, carried,
                      [&](OpBuilder &b, Location loc, ValueRange, Value ids,
                          Value positions, ValueRange carried) {
                        YieldOp::create(b, loc,
                                        copyTile(b, loc, mapping, ids,
                                                 positions, carried.front()));
                      });
    YieldOp::create(b, loc, chunks.getResults());
  };
  return ForallOp::create(b, loc, lower, upper, strides,
                          /*index=*/Value(), /*group=*/ValueRange(),
                          /*chunk=*/0, into, copyGroup)
      .getResult(0);
}

/// Packs before the tile loop.
Value ColumnPacking::packByLoop() {
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
  for (int64_t loop : loops) {
    lower.push_back(tiles.getLower()[loop]);
    upper.push_back(tiles.getUpper()[loop]);
  }
  return packGroups(rewriter, lower, upper, steps.getIndex(), empty);
}

/// Has the index packed where it is built, or right behind that.
Value ColumnPacking::packByBuild(IndexOp build) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(build);
  Location loc = build.getLoc();
  Value input = build.getInput();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value rows = tensor::DimOp::create(rewriter, loc, input, 0);
  Value columns = tensor::DimOp::create(rewriter, loc, input, 1);
  Value height = arith::ConstantIndexOp::create(rewriter, loc, rowElements());
  Value groups = arith::CeilDivUIOp::create(rewriter, loc, rows, height);
  Value room = arith::MulIOp::create(rewriter, loc, groups, columns);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc,
      ArrayRef<OpFoldResult>{room, rewriter.getIndexAttr(rowElements())},
      getElementTypeOrSelf(input));
  auto packed = PackedIndexOp::create(rewriter, loc, build.getType(),
                                      rewriter.getI1Type(), empty.getType(),
                                      input, empty, build.getBackgroundAttr());
  auto branch = scf::IfOp::create(
      rewriter, loc, packed.getDone(),
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, packed.getPacked());
      },
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(
            b, loc,
            packGroups(b, zero, rows, packed.getIndex(), packed.getPacked()));
      });
  rewriter.replaceOp(build, packed.getIndex());
  return indices[packed.getIndex()] = branch.getResult(0);
}

void ColumnPacking::run() {
  if (!match())
    return;
  Value packed;
  auto before = steps.getIndex().getDefiningOp<PackedIndexOp>();
  if (before && readsMicroTilesOf(before.getInput()))
    packed = indices.lookup(before.getIndex());
  else if (IndexOp build = findBuild())
    packed = packByBuild(build);
  if (!packed)
    packed = packByLoop();
  rewriter.setInsertionPoint(read);
  SmallVector<Value> at =
      packedAt(rewriter, read.getLoc(), steps.getPositions());
  replaceTransposed(rewriter, read, packed, at, rotation());
}

namespace {
struct PackColumnsPass : pit::impl::PitPackColumnsBase<PackColumnsPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<SmallVector<SReadOp>> reads =
        listReadsForWgmma(getOperation(), target);
    if (failed(reads))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    PackedIndices indices;
    for (SReadOp read : *reads)
      ColumnPacking(rewriter, read, indices).run();
  }
};
} // namespace
