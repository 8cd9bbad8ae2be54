//===- VersionTiles.cpp - Tiles by an extent that is not known ------------===//
//
// A contraction, of which only the number of rows is not known, say, becomes
//
//   %few = arith.cmpi ule, %rows, 128
//   scf.if %few { contraction by small tiles } else { by large ones }
//
// with the element-wise ops that become its epilogue. Siblings that meet in
// these (gate and up) are in the same branches.
//
//===----------------------------------------------------------------------===//

#include "Choice/BranchedOps.h"
#include "Epilogues.h"
#include "Tiler.h"

#include "Selection/TileChoice.h"
#include "Selection/TileGeometry.h"
#include "pit/Dialect/Pit/Transforms/Mark.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITVERSIONTILES
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// The op, the epilogues after it and, last, where their result goes.
static SmallVector<Operation *> findChain(linalg::LinalgOp op) {
  SmallVector<Operation *> chain = {op};
  while (chain.back()->getResult(0).hasOneUse()) {
    OpOperand &use = *chain.back()->getResult(0).use_begin();
    Operation *next = use.getOwner();
    if (next->getBlock() != op->getBlock())
      break;
    if (isa<bufferization::MaterializeInDestinationOp>(next)) {
      if (use.getOperandNumber() == 0 && next->getNumResults() == 1)
        chain.push_back(next);
      break;
    }
    auto epilogue = dyn_cast<linalg::LinalgOp>(next);
    if (!epilogue || !epilogue.hasPureTensorSemantics() ||
        epilogue.isDpsInit(&use) || epilogue->hasAttr(kRuleAttrName) ||
        !isEpilogue(epilogue, use.getOperandNumber()))
      break;
    chain.push_back(next);
  }
  return chain;
}

namespace {
struct Versioned {
  linalg::LinalgOp op;
  TileVersions tiles;

  /// The tile for extents up to `most`.
  ArrayRef<int64_t> getTile(std::optional<int64_t> most) const {
    const auto *version =
        llvm::find_if(tiles.versions, [&](const TileVersion &one) {
          return !one.most || (most && *one.most >= *most);
        });
    return version->tile;
  }
};

/// Contractions that are versioned together, the first by its limits, and the
/// epilogues after them.
struct Group {
  SmallVector<Versioned> contractions;
  SetVector<Operation *> ops;
};
} // namespace

/// The extent of a dim of the op.
static Value createExtent(OpBuilder &b, linalg::LinalgOp op, unsigned dim) {
  for (OpOperand &operand : op->getOpOperands())
    for (auto [d, expr] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (expr == b.getAffineDimExpr(dim))
        return getValueOrCreateConstantIndexOp(
            b, op.getLoc(),
            tensor::getMixedSize(b, op.getLoc(), operand.get(), d));
  llvm_unreachable("a parallel dim is one of the result");
}

static void branch(RewriterBase &b, Group &group) {
  SmallVector<Operation *> ops = group.ops.takeVector();
  llvm::sort(ops, [](Operation *one, Operation *other) {
    return one->isBeforeInBlock(other);
  });
  BranchedOps branched(b, std::move(ops));
  Versioned &leader = group.contractions.front();
  Location loc = leader.op.getLoc();
  b.setInsertionPoint(branched.last());
  Value extent = createExtent(b, leader.op, leader.tiles.dim);
  if (auto computed = dyn_cast<linalg::LinalgOp>(branched.last()))
    branched.createMemory(loc, computed.getDpsInits());
  auto fill = [&](std::optional<int64_t> most) {
    IRMapping mapping;
    branched.clone(mapping);
    for (Versioned &one : group.contractions)
      mapping.lookup(one.op.getOperation())
          ->setAttr(kRuleAttrName, getDenseRule(one.op, one.getTile(most)));
    branched.yield(loc, mapping);
  };
  ArrayRef<TileVersion> versions = leader.tiles.versions;
  branched.replace(
      loc, versions.size() - 1,
      [&](size_t i) {
        return arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::ule, extent,
            arith::ConstantIndexOp::create(b, loc, *versions[i].most));
      },
      [&](std::optional<size_t> i) {
        fill(i ? versions[*i].most : std::nullopt);
      });
}

static void explainVersions(Versioned versioned) {
  InFlightDiagnostic diag = emitRemark(versioned.op.getLoc());
  diag << versioned.op->getName() << ": tiles by the extent of d"
       << versioned.tiles.dim << ": ";
  llvm::interleave(
      versioned.tiles.versions, diag,
      [&](const TileVersion &version) {
        diag << "[";
        llvm::interleaveComma(version.tile, diag);
        diag << "]";
        if (version.most)
          diag << " up to " << *version.most;
      },
      ", ");
  diag << " above";
}

namespace {
struct VersionTilesPass : pit::impl::PitVersionTilesBase<VersionTilesPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<Target> machine = getTarget(getOperation().getLoc(), target);
    if (failed(machine))
      return signalPassFailure();
    FailureOr<TileTable> table =
        loadTileTable(getOperation(), tileTable, *machine, tf32);
    if (failed(table))
      return signalPassFailure();
    SmallVector<Group> groups;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!isDenseContraction(op) || op->getNumResults() != 1)
        return;
      std::optional<TileVersions> tiles = findTileVersions(op, *table);
      if (!tiles || llvm::any_of(tiles->versions, [&](const TileVersion &one) {
            return checkDense(op, one.tile).has_value();
          }))
        return;
      if (explain)
        explainVersions({op, *tiles});
      add(groups, {op, std::move(*tiles)});
    });
    IRRewriter rewriter(&getContext());
    for (Group &group : groups)
      branch(rewriter, group);
  }

  /// Adds a group for the op, or to the groups that its epilogues are in, which
  /// become one.
  static void add(SmallVector<Group> &groups, Versioned versioned) {
    Group own;
    own.ops.insert_range(findChain(versioned.op));
    SmallVector<Group> others;
    for (Group &group : groups) {
      if (llvm::none_of(
              own.ops, [&](Operation *op) { return group.ops.contains(op); })) {
        others.push_back(std::move(group));
        continue;
      }
      own.ops.insert_range(group.ops);
      llvm::append_range(own.contractions, group.contractions);
    }
    own.contractions.push_back(std::move(versioned));
    others.push_back(std::move(own));
    groups = std::move(others);
  }
};
} // namespace
