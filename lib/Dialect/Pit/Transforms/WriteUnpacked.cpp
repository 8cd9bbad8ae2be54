//===- WriteUnpacked.cpp - Packed values that are only unpacked -----------===//
//
//   p = pit.forall .. at pos in index { .. SWrite into packed[pos, n] }
//   y = pit.forall ids at pos in index { SRead p[pos, n]; SWrite into z[ids, n]
//   }
//
// become one loop that writes into z[ids, n], and p is never in memory.
//
//===----------------------------------------------------------------------===//

#include "Epilogues.h"

#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITWRITEUNPACKED
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// The SRead whose tile `write` writes, if the body of `loop` is nothing else.
static SReadOp findOnlyRead(ForallOp loop, SWriteOp write) {
  auto read = write.getTile().getDefiningOp<SReadOp>();
  if (!read || read->getBlock() != loop.getBody() || read.isWhole() ||
      write->getBlock() != loop.getBody() || !read.getResult().hasOneUse())
    return {};
  for (Operation &op : loop.getBody()->without_terminator())
    if (&op != read.getOperation() && &op != write.getOperation() &&
        !op.hasTrait<OpTrait::ConstantLike>())
      return {};
  return read;
}

/// Does `loop` read, in tiles at `subscripts`, each element of `tensor` that
/// has a position? Dimension `packed` is subscribed by the positions.
static bool readsAll(ForallOp loop, SReadOp read, unsigned packed) {
  auto variables = loop.getInductionVars();
  ArrayRef<int64_t> tile = read.getTileType().getShape();
  ArrayRef<int64_t> shape = read.getSrcType().getShape();
  for (auto [d, subscript] : llvm::enumerate(read.getSubscripts())) {
    if (d == packed)
      continue;
    auto variable = llvm::find(variables, subscript);
    if (variable == variables.end())
      return false;
    unsigned i = variable - variables.begin();
    bool isWhole = getConstantIntValue(loop.getLower()[i]) == 0 &&
                   loop.getSteps()[i] == tile[d] &&
                   !ShapedType::isDynamic(shape[d]) &&
                   getConstantIntValue(loop.getUpper()[i]) == shape[d];
    if (!isWhole)
      return false;
  }
  return true;
}

/// The dimension of `write` whose subscript is `ids` where `read` has
/// `positions`, if they have all others in common.
static std::optional<unsigned> findPackedDim(SWriteOp write, Value ids,
                                             SReadOp read, Value positions) {
  if (write.getSubscripts().size() != read.getSubscripts().size())
    return std::nullopt;
  std::optional<unsigned> found;
  for (auto [d, pair] : llvm::enumerate(
           llvm::zip(write.getSubscripts(), read.getSubscripts()))) {
    auto [to, from] = pair;
    if (to == ids && from == positions && !found)
      found = d;
    else if (to != from || !isa<IndexType>(to.getType()))
      return std::nullopt;
  }
  return found;
}

/// Has the loop that packs what `unpack` unpacks write it in place. False if
/// it cannot.
static bool writeInPlace(RewriterBase &rewriter, DominanceInfo &dominance,
                         ForallOp unpack) {
  SWriteOp to = findOnlyWrite(unpack);
  SReadOp from = to && unpack.getIndex() ? findOnlyRead(unpack, to) : SReadOp();
  auto pack = from ? from.getSrc().getDefiningOp<ForallOp>() : ForallOp();
  if (!pack || pack->getBlock() != unpack->getBlock() ||
      pack.getIndex() != unpack.getIndex() ||
      pack.getGroup() != unpack.getGroup() || !from.getSrc().hasOneUse())
    return false;
  std::optional<unsigned> dim =
      findPackedDim(to, unpack.getIds(), from, unpack.getPositions());
  if (!dim || !readsAll(unpack, from, *dim))
    return false;
  SWriteOp write = findOnlyWrite(pack);
  // The tile is of the destination's type, before and after.
  Value init = unpack.getInitArgs().front();
  if (!write || write->getBlock() != pack.getBody() ||
      write.getSubscripts().size() <= *dim ||
      init.getType() != pack.getInitArgs().front().getType())
    return false;
  for (auto [d, subscript] : llvm::enumerate(write.getSubscripts()))
    if (d == *dim ? subscript != pack.getPositions()
                  : !isa<IndexType>(subscript.getType()))
      return false;
  if (failed(moveValueDefinitions(rewriter, {init}, pack, dominance)))
    return false;
  rewriter.modifyOpInPlace(pack,
                           [&] { pack.getInitArgsMutable().assign(init); });
  rewriter.modifyOpInPlace(
      write, [&] { write.getSubscriptsMutable()[*dim].assign(pack.getIds()); });
  rewriter.replaceOp(unpack, pack.getResults());
  return true;
}

namespace {
struct WriteUnpackedPass : pit::impl::PitWriteUnpackedBase<WriteUnpackedPass> {
  void runOnOperation() override {
    SmallVector<ForallOp> loops;
    getOperation().walk([&](ForallOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (ForallOp loop : loops) {
      // Others move definitions.
      DominanceInfo dominance(getOperation());
      writeInPlace(rewriter, dominance, loop);
    }
  }
};
} // namespace
