//===- DescribeBody.cpp - What a tile body multiplies and reduces ---------===//

#include "BodyPlan.h"

#include "Codegen/Common/Index.h"
#include "Codegen/GPU/Common/Lowering.h"

#include "pit/Analysis/Combiner.h"
#include "pit/Codegen/Common/MathExpansions.h"
#include "pit/Dialect/Pit/IR/TileExtents.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Rows, columns and products of tensor cores' blocks, as they are loaded.
static constexpr int64_t kBlock = 16;

static ArrayRef<int64_t> shapeOf(Value tile) {
  return cast<VectorType>(tile.getType()).getShape();
}
namespace {

/// Finds all that is known before anything is decided.
class BodyDescriber {
public:
  BodyDescriber(MainloopOp mainloop, const GpuTarget &target)
      : mainloop(mainloop), plan(target) {}

  OrRefusal<BodyPlan> run() {
    OrRefusal<TileBodyInfo> info = describeTileBody(mainloop);
    if (!info)
      return info.refusal();
    plan.info = *info;
    if (plan.info.rows % kBlock)
      return refuse("its tiles have ", plan.info.rows,
                    " rows, which is no multiple of 16");
    for (auto &[tile, roles] : plan.info.roles)
      if (int64_t columns = plan.info.extent(tile, TileRole::Col);
          columns != 1 && columns % kBlock)
        return refuse("a tile has ", columns,
                      " columns, which is no multiple of 16");
    for (Operation &op : mainloop.getCompute().front().without_terminator()) {
      Refused refused;
      if (auto contract = dyn_cast<ContractOp>(op))
        refused = describe(contract);
      else if (auto pointwise = dyn_cast<PointwiseOp>(op);
               pointwise && !isOfStore(pointwise))
        refused = describe(pointwise);
      else if (auto store = dyn_cast<StoreOp>(op))
        refused = describe(store);
      if (refused)
        return *refused;
    }
    if (!mainloop.getExtraResults().empty())
      for (auto op : mainloop.getExtraResults().getOps<PointwiseOp>())
        if (Refused refused = describe(op))
          return *refused;
    for (Value carried : mainloop.getCarriedTiles())
      if (!getElementTypeOrSelf(carried).isIntOrIndexOrFloat())
        return refuse("it carries no numbers");
    if (Refused refused = findResultDims())
      return *refused;
    return std::move(plan);
  }

private:
  Refused describe(ContractOp op) {
    OrRefusal<ContractionDims> dims = findContractionDims(op);
    if (!dims)
      return dims.refusal();
    for (int d : {dims->m, dims->n, dims->k})
      if (op.getTile()[d] % kBlock)
        return refuse("it multiplies tiles of ", op.getTile()[d],
                      " elements, which is no multiple of 16");
    Type element = getElementTypeOrSelf(op.getLhs());
    bool isSmall = isF8(element) && isF8(getElementTypeOrSelf(op.getRhs()));
    bool isNarrow = (element.isF16() || element.isBF16()) &&
                    getElementTypeOrSelf(op.getRhs()) == element;
    if (!op.getScales().empty() || !isMultiplyAdd(op) ||
        !(isNarrow || isSmall) || !getElementTypeOrSelf(op.getAcc()).isF32())
      return refuse("tensor cores add products of f16, of bf16, or of floats "
                    "of 8 bits to f32, and a contraction is another");
    plan.takesWgmma |= isSmall;
    // A computed factor of 8 bits has the order of fragments, and so has what
    // it is multiplied by; others have their own.
    bool isInOrder = llvm::any_of(op.getMap(1).getResults(), [](AffineExpr e) {
      return matchFragmentOrder(e).has_value();
    });
    if (isInOrder != (isSmall && !isa<BlockArgument>(op.getLhs())))
      return refuse("computed factors of 8 bits, and no others, are multiplied "
                    "in the order of fragments");
    if (!isa<BlockArgument>(op.getRhs()))
      return refuse("the second operand of a contraction is computed");
    for (Value operand : {op.getLhs(), op.getRhs()}) {
      auto tile = dyn_cast<BlockArgument>(operand);
      if (tile && isCarried(tile))
        return refuse("a contraction multiplies what is carried");
      if (Refused refused = tile ? stage(tile) : Refused())
        return *refused;
    }
    return {};
  }

  /// What a step adds.
  Refused describe(StoreOp store) {
    auto op = store.getTile().getDefiningOp<ContractOp>();
    if (!op || plan.added || !storeOf(op) ||
        store.getCombine() != arith::AtomicRMWKind::addf ||
        !store.getDest().getType().getElementType().isF32())
      return refuse("its steps add something else than one product of f32");
    ContractionDims dims = *findContractionDims(op);
    auto extentOf = [&](int dim) { return op.getTile()[dim]; };
    if (!op.getLhs().getDefiningOp<PointwiseOp>() || !isZeroTile(op.getAcc()) ||
        isF8(getElementTypeOrSelf(op.getLhs())) ||
        extentOf(dims.m) != kWgmmaRows || extentOf(dims.k) != plan.info.rows ||
        extentOf(dims.n) * kWgmmaRows != plan.info.rows * kAddedColumns)
      return refuse("its steps add a product of ", extentOf(dims.m), " rows, ",
                    extentOf(dims.n), " columns and ", extentOf(dims.k),
                    " products of each; of a computed factor of 16 bits, 64 "
                    "rows, and as many columns and products as tiles have "
                    "rows are taken");
    if (!plan.stagedOf(op.getRhs()).isInvariant)
      return refuse("its steps add a product of what they load");
    auto columns = getAffineDimExpr(dims.n, op.getContext());
    MemRefType type = store.getDest().getType();
    bool isBox = op.getMap(2).getResults().back() == columns &&
                 type.getRank() <= 5 &&
                 type.getStridesAndOffset().first.back() == 1 &&
                 isa<BlockArgument>(store.getDest()) &&
                 llvm::all_of(store.getSubscripts(), [](Value subscript) {
                   return subscript.getType().isIndex();
                 });
    if (!isBox)
      return refuse("its steps add to what is no box of an argument");
    plan.added = op;
    return {};
  }

  bool isCarried(Value tile) {
    return llvm::is_contained(mainloop.getCarriedTiles(), tile);
  }

  bool isLast(Value tile) {
    return llvm::is_contained(mainloop.getLastTiles(), tile);
  }

  /// The op that gives a tile of the compute region.
  Operation *sourceOf(BlockArgument tile, bool &isInvariant) {
    unsigned number = tile.getArgNumber(), loaded = mainloop.getNumLoaded();
    isInvariant = number >= loaded;
    if (!isInvariant)
      return mainloop.getLoad()
          .front()
          .getTerminator()
          ->getOperand(number)
          .getDefiningOp();
    return number - loaded < mainloop.getInvariants().size()
               ? mainloop.getInvariants()[number - loaded].getDefiningOp()
               : nullptr;
  }

  Refused stage(BlockArgument tile) {
    if (llvm::any_of(plan.staged,
                     [&](StagedTile &known) { return known.tile == tile; }))
      return {};
    StagedTile staged;
    staged.tile = tile;
    staged.view = dyn_cast_or_null<ViewOp>(sourceOf(tile, staged.isInvariant));
    if (!staged.view)
      return refuse("a contraction multiplies coordinates");
    ArrayRef<int64_t> shape = shapeOf(tile);
    SmallVector<int> dims;
    for (auto [d, extent] : llvm::enumerate(shape))
      if (extent != 1)
        dims.push_back(d);
    if (dims.size() != 2 ||
        (staged.view.getPadAttr() && !isPositiveZero(staged.view.getPadAttr())))
      return refuse("a contraction reads a tile that is padded with "
                    "something else than 0, or is no matrix");
    staged.operand.element = getElementTypeOrSelf(tile);
    staged.operand.elementBytes = elementBytes(getElementTypeOrSelf(tile));
    staged.operand.rowDim = dims[0];
    staged.operand.colDim = dims[1];
    SharedTile &shared = staged.operand.tile;
    shared.elementBytes = staged.operand.elementBytes;
    shared.rows = shape[dims[0]];
    shared.cols = shape[dims[1]];
    plan.staged.push_back(staged);
    return {};
  }

  static bool isPositiveZero(TypedAttr pad) {
    auto number = dyn_cast<FloatAttr>(pad);
    return number && number.getValue().isPosZero();
  }

  Refused describe(PointwiseOp op) {
    for (Value input : op.getInputs()) {
      auto tile = dyn_cast<BlockArgument>(input);
      bool isInvariant, isSource = tile && !isCarried(tile) && !isLast(tile);
      Operation *source = isSource ? sourceOf(tile, isInvariant) : nullptr;
      if (isa_and_nonnull<ViewOp>(source) &&
          !getElementTypeOrSelf(tile).isIntOrFloat())
        return refuse("it reads elements that are no integers or floats");
    }
    if (!op.getAcc())
      return {};
    AffineMap result = op.getResultMap();
    for (auto [d, role] : llvm::enumerate(plan.info.dimRoles(op)))
      if (role == TileRole::Row && !result.isFunctionOfDim(d))
        return refuse("an op reduces rows, which different warps have");
    Block &body = op.getBody().front();
    Value before = body.getArguments().back();
    Operation *combiner = body.getTerminator()->getOperand(0).getDefiningOp();
    if (!combiner || !before.hasOneUse() || *before.user_begin() != combiner ||
        !isCombiner(combiner) || !combiner->hasOneUse())
      return refuse("an op reduces by more than one op that is "
                    "commutative and associative");
    TypedAttr identity = identityOf(combiner, before.getType());
    if (!identity)
      return refuse("an op reduces by one without an identity");
    plan.reductions[op] = {combiner, identity};
    return {};
  }

  Refused findResultDims() {
    ArrayRef<int64_t> tile = mainloop.getAccumulatorShape();
    for (auto [carried, map] :
         llvm::zip(mainloop.getCarriedTiles(), mainloop.getElementMaps()))
      for (auto [r, result] : llvm::enumerate(map.getResults())) {
        auto dim = dyn_cast<AffineDimExpr>(result);
        TileRole role = plan.info.rolesOf(carried)[r];
        if (!dim || role == TileRole::None)
          continue;
        int &known = role == TileRole::Row ? plan.mDim : plan.nDim;
        int position = dim.getPosition();
        if ((known >= 0 && known != position) ||
            tile[position] != shapeOf(carried)[r])
          return refuse("the result has other rows or columns than what "
                        "is carried");
        known = position;
      }
    for (auto [d, extent] : llvm::enumerate(tile))
      if (extent != 1 && static_cast<int>(d) != plan.mDim &&
          static_cast<int>(d) != plan.nDim)
        return refuse("the result has rows or columns that nothing has "
                      "that is carried");
    // A warp has all columns, as tensor cores' blocks cover them.
    plan.tileM = plan.info.rows;
    plan.tileN = plan.nDim < 0 ? 1 : tile[plan.nDim];
    plan.n = llvm::alignTo(plan.tileN, kBlock);
    return {};
  }

  MainloopOp mainloop;
  BodyPlan plan;
};

} // namespace

OrRefusal<BodyPlan> cuda::describeBody(MainloopOp mainloop,
                                       const GpuTarget &target) {
  return BodyDescriber(mainloop, target).run();
}
