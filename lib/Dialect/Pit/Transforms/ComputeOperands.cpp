//===- ComputeOperands.cpp - Operands that are computed as they are read --===//
//
//   w = linalg.generic {element-wise} ins(bits, ..)
//   y = linalg.generic {contraction} ins(w, x)
//
// where one tile of y's loop reads an element of w becomes
//
//   pit.forall { pit.for { t = SRead bits[..], ..; linalg.generic ins(t, ..)
//                          contraction } }
//
// so that w is nowhere in memory. [K1 to K5]
//
//===----------------------------------------------------------------------===//

#include "Selection/TileGeometry.h"
#include "Tiler.h"
#include "pit/Analysis/Factors.h"
#include "pit/Analysis/Padding.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCOMPUTEOPERANDS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// Rows of the computed operand in a tile, and the most elements of its rows: a
/// warp has 16 rows of both in registers.
static constexpr int64_t kRows = 64, kMostDepth = 64;
/// The most rows of the other operand. More of them are worth an operand in
/// memory.
static constexpr int64_t kMostOthers = 64;
/// Extents of a tile are multiples of this, for tensor cores.
static constexpr int64_t kBlock = 16;

/// Is an op's result computed element by element, from other tensors? [K1]
static bool computesElements(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      !op.getIndexingMapsArray().back().isIdentity() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return false;
  return llvm::all_of(
             op.getIndexingMapsArray(),
             [](AffineMap map) { return map.isProjectedPermutation(); }) &&
         llvm::all_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) {
                        return isPure(&inner) && !mayTrap(&inner) &&
                               inner.getNumRegions() == 0;
                      });
}

/// Is less read for an element of an op's result than it has? Inputs that have
/// an element for each of its elements count. [K3]
static bool readsLess(linalg::GenericOp op) {
  auto bitsOf = [](Value tensor) -> int64_t {
    Type element = getElementTypeOrSelf(tensor);
    return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  };
  int64_t bits = 0;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).isPermutation())
      bits += bitsOf(input->get());
  return bits < bitsOf(op.getResult(0));
}

namespace {
/// A contraction, its computed operand, and the tile of its loop.
struct Computed {
  linalg::LinalgOp op;
  linalg::GenericOp operand;
  SmallVector<int64_t> tile;
};
} // namespace

/// The tile of a contraction whose operand `number` is computed. [K4, K5]
static OrRefusal<SmallVector<int64_t>> findTile(linalg::LinalgOp op,
                                                unsigned number) {
  AffineMap computed = op.getMatchingIndexingMap(op.getDpsInputOperand(number));
  AffineMap other =
      op.getMatchingIndexingMap(op.getDpsInputOperand(1 - number));
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<int64_t> tile(op.getNumLoops(), 1);
  std::optional<unsigned> row, depth, others;
  for (AffineExpr expr : computed.getResults()) {
    unsigned d = cast<AffineDimExpr>(expr).getPosition();
    if (isReducedDim(op, d))
      depth = d; // the last one
    else if (!other.isFunctionOfDim(d))
      row = d;
  }
  for (unsigned d = 0; d < op.getNumLoops(); ++d) {
    bool isOne = sizes[d] == 1;
    if (computed.isFunctionOfDim(d) || (isOne && others))
      continue;
    if ((others && sizes[*others] != 1) || sizes[d] > kMostOthers ||
        ShapedType::isDynamic(sizes[d]))
      return refuse("tiles share its elements: the other operand has rows in "
                    "several dims, or more than " +
                    Twine(kMostOthers) + ", or a number that is not known");
    others = d;
  }
  if (!row || !depth || !others || !other.isFunctionOfDim(*depth))
    return refuse("no product of matrices has it");
  for (int64_t extent = kMostDepth; extent >= kBlock; extent -= kBlock)
    if (!ShapedType::isDynamic(sizes[*depth]) && sizes[*depth] % extent == 0 &&
        tile[*depth] == 1)
      tile[*depth] = extent;
  if (tile[*depth] == 1)
    return refuse("its rows have no multiple of " + Twine(kBlock) +
                  " elements, or a number that is not known");
  tile[*row] = kRows;
  tile[*others] = llvm::alignTo(sizes[*others], kBlock);
  return tile;
}

/// Why an operand of a contraction is not computed as it is read.
static Refused check(linalg::LinalgOp op, unsigned number,
                     linalg::GenericOp operand) {
  if (!operand->hasOneUse() || operand->getBlock() != op->getBlock())
    return refuse("others use it"); // [K2]
  Type element = getElementTypeOrSelf(operand.getResult(0));
  if (!(element.isF16() || element.isBF16()) ||
      getElementTypeOrSelf(op.getDpsInputs()[1 - number]) != element)
    return refuse("tensor cores take elements of f16 or bf16"); // [K4]
  FailureOr<SumOfProducts> product = matchSumOfProducts(op);
  bool isProduct =
      succeeded(product) && product->factors.size() == 2 &&
      llvm::all_of(product->factors, [](const Factor &factor) {
        return factor.operands.size() == 1 && factor.indexDims.empty();
      });
  if (!isProduct)
    return refuse("it is no factor of a product of two");
  return std::nullopt;
}

static std::optional<Computed> find(linalg::LinalgOp op, bool explain) {
  if (!isDenseContraction(op) || op.getNumDpsInputs() != 2 ||
      op->getNumResults() != 1)
    return std::nullopt;
  for (unsigned number : {0u, 1u}) {
    auto operand = op.getDpsInputs()[number].getDefiningOp<linalg::GenericOp>();
    if (!operand || !computesElements(operand) || !readsLess(operand))
      continue;
    Refused refused = check(op, number, operand);
    if (!refused) {
      OrRefusal<SmallVector<int64_t>> tile = findTile(op, number);
      refused = tile ? checkDense(op, *tile) : Refused(tile.refusal());
      if (!refused)
        return Computed{op, operand, *tile};
    }
    if (explain)
      explainRefusal(operand, "is not computed as it is read", *refused);
  }
  return std::nullopt;
}

/// Computes a tile of an operand in the place of a read.
static void computeTile(RewriterBase &rewriter, SReadOp read,
                        linalg::GenericOp operand) {
  rewriter.setInsertionPoint(read);
  Location loc = operand.getLoc();
  ArrayRef<int64_t> tile = read.getTileType().getShape();
  SmallVector<Value> starts(read.getSubscripts()), inputs;
  for (OpOperand *input : operand.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (!type) {
      inputs.push_back(input->get()); // a scalar
      continue;
    }
    SmallVector<int64_t> shape;
    SmallVector<Value> subscripts;
    for (AffineExpr expr : operand.getMatchingIndexingMap(input).getResults()) {
      unsigned d = cast<AffineDimExpr>(expr).getPosition();
      shape.push_back(tile[d]);
      subscripts.push_back(starts[d]);
    }
    inputs.push_back(
        SReadOp::create(rewriter, loc,
                        RankedTensorType::get(shape, type.getElementType()),
                        input->get(), subscripts)
            .getResult());
  }
  Value init = tensor::EmptyOp::create(rewriter, loc, tile,
                                       read.getTileType().getElementType());
  linalg::LinalgOp computed =
      cloneOntoTile(rewriter, operand, inputs, init, starts);
  rewriter.replaceOp(read, computed->getResult(0));
}

namespace {
struct ComputeOperandsPass
    : pit::impl::PitComputeOperandsBase<ComputeOperandsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Computed> found;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (std::optional<Computed> computed = find(op, explain))
        found.push_back(*computed);
    });
    IRRewriter rewriter(&getContext());
    for (Computed &computed : found) {
      Tiler(rewriter, computed.op, getDenseRule(computed.op, computed.tile),
            SparseOp(), /*kernels=*/true, /*whole=*/true)
          .run();
      for (Operation *user :
           llvm::make_early_inc_range(computed.operand->getUsers()))
        if (auto read = dyn_cast<SReadOp>(user))
          computeTile(rewriter, read, computed.operand);
      if (computed.operand->use_empty())
        rewriter.eraseOp(computed.operand);
    }
  }
};
} // namespace
