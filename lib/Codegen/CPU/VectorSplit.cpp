//===- VectorSplit.cpp - Cuts large ops into tiles ------------------------===//
//
// A contraction C[m, n] += A[m, k] * B[k, n] of any layout becomes
//
//   parallel over tiles of m and n           (each A tile stays in the L2
//   cache)
//     for blocks of k, for panels of n
//       pack the panel of B                  (read in one piece by every row)
//       C[tile, panel] += A[tile, block] * packed panel
//
// Sums of rows, such as C[n] += A[k] * B[k, n], take a few whole rows at a
// time. Other ops are only distributed to threads.
//
//===----------------------------------------------------------------------===//

#include "VectorPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

// A parallel region costs microseconds: points of an op that are isProfitable
// one.
static constexpr int64_t kLargePoints = 1 << 16;
static constexpr int64_t kLargeProducts = 1 << 19;
// Tiles of a contraction, along n and k; fewer rows do not pay for packing.
static constexpr int64_t kTileColumns = 256, kBlock = 512, kMinRowsToPack = 16;
// Along m: as many rows of f32 as fill a quarter of the second cache.
static constexpr int64_t kTileRows =
    CpuTarget::l2Bytes / 4 / (kBlock * sizeof(float));
// Rows that are summed up together, each a stream for the hardware's
// prefetcher.
static constexpr int64_t kRowsTogether = 16;
// A second input of so many elements of f32, half of that cache, needs no
// packing for the cache's sake.
static constexpr int64_t kCacheElements =
    CpuTarget::l2Bytes / 2 / sizeof(float);

namespace {

/// The loops of an op C[.., m, n] += A[.., m, .., k] * B[.., k, .., n].
struct Contraction {
  unsigned m, n, k;
  OpOperand *lhs, *rhs;
};

class Splitter {
public:
  Splitter(RewriterBase &rewriter, linalg::LinalgOp op, const CpuTarget &target,
           bool parallel)
      : rewriter(rewriter), op(op), target(target),
        parallel(parallel && !op->getParentOfType<scf::ParallelOp>() &&
                 !op->getParentOfType<scf::ForallOp>()),
        extents(getKnownExtents(op)) {}

  SmallVector<linalg::LinalgOp> run() {
    std::optional<Contraction> contraction = matchContraction();
    if (!parallel && (!contraction || fitsCache(*contraction)))
      return {emitRows(op)};
    SmallVector<int64_t> sizes =
        contraction ? getContractionTiles(*contraction) : getTiles();
    if (sizes.empty())
      return {op};
    std::optional<bool> large =
        emitLargeBranch(contraction ? kLargeProducts : kLargePoints);
    if (large == false)
      return {op};
    linalg::LinalgOp tile = emitTiles(op, sizes, parallel);
    if (!contraction)
      parts.push_back(emitRows(tile));
    else
      emitBlocks(tile, *contraction);
    rewriter.eraseOp(op);
    return parts;
  }

private:
  Location getLoc() { return op.getLoc(); }

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, getLoc(), value);
  }

  std::optional<Contraction> matchContraction() {
    std::optional<unsigned> n = findParallelLanes(op);
    if (!n || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
        op.hasIndexSemantics() ||
        !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
          return map.isProjectedPermutation();
        }))
      return std::nullopt;
    Contraction result{0, *n, 0, op.getDpsInputOperand(0),
                       op.getDpsInputOperand(1)};
    if (usesLoop(op, *result.lhs, *n))
      std::swap(result.lhs, result.rhs);
    if (usesLoop(op, *result.lhs, *n) || !usesLoop(op, *result.rhs, *n) ||
        !isa<MemRefType>(result.lhs->get().getType()))
      return std::nullopt;
    bool hasRows = false, hasReduction = false;
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    for (unsigned loop = 0; loop < extents.size(); ++loop) {
      bool inLhs = usesLoop(op, *result.lhs, loop),
           inRhs = usesLoop(op, *result.rhs, loop);
      if (iterators[loop] == utils::IteratorType::reduction) {
        result.k = loop;
        hasReduction |= inLhs && inRhs;
      } else if (inLhs && !inRhs && extents[loop] != 1) {
        result.m = loop;
        hasRows = true;
      }
    }
    if (!hasRows || !hasReduction || op.getNumReductionLoops() != 1)
      return std::nullopt;
    return result;
  }

  bool fitsCache(const Contraction &c) {
    auto type = cast<MemRefType>(c.rhs->get().getType());
    return type.hasStaticShape() && type.getNumElements() <= kCacheElements;
  }

  // Tiles of rows and columns; other loops are batches, one by one.
  SmallVector<int64_t> getContractionTiles(const Contraction &c) {
    SmallVector<int64_t> sizes(extents.size(), 1);
    int64_t rows = getRows();
    sizes[c.m] = llvm::divideCeil(kTileRows, rows) * rows;
    sizes[c.n] = kTileColumns;
    sizes[c.k] = 0;
    return sizes;
  }

  // The rows of a register block once the second input is packed.
  int64_t getRows() {
    return chooseRows(ShapedType::kDynamic, getPanelVectors(),
                      target.accumulators());
  }

  int64_t getPanelVectors() { return target.hasManyRegisters() ? 4 : 2; }

  int64_t getPanel() {
    Type type = getElementTypeOrSelf(op.getDpsInits()[0]);
    int64_t bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
    return getPanelVectors() * std::max<int64_t>(1, target.vectorBits / bits);
  }

  // Outer parallel loops, in pieces of about kLargePoints points. The lanes'
  // loop is cut only if there is no other.
  SmallVector<int64_t> getTiles() {
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    std::optional<unsigned> lanes = findParallelLanes(op);
    SmallVector<unsigned> loops;
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      if (iterators[loop] == utils::IteratorType::parallel &&
          extents[loop] != 1 && loop != lanes &&
          llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
            return usesLoop(op, init, loop);
          }))
        loops.push_back(loop);
    if (loops.empty() && lanes)
      loops.push_back(*lanes);
    if (loops.empty())
      return {};
    return chooseTileSizes(loops, lanes);
  }

  SmallVector<int64_t> chooseTileSizes(ArrayRef<unsigned> loops,
                                       std::optional<unsigned> lanes) {
    // Points in an iteration of the loops up to the last that is cut.
    SmallVector<unsigned> cut(loops.take_front(2));
    int64_t inside = 1;
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      if (!llvm::is_contained(cut, loop))
        inside *= ShapedType::isDynamic(extents[loop]) ? 256 : extents[loop];
    SmallVector<int64_t> sizes(extents.size(), 0);
    sizes[cut.front()] = 1;
    sizes[cut.back()] =
        std::max<int64_t>(1, kLargePoints / 2 / std::max<int64_t>(inside, 1));
    // Whole vectors, a few of them.
    if (cut.back() == lanes)
      sizes[cut.back()] = llvm::alignTo(sizes[cut.back()], 256);
    return sizes;
  }

  // Decides whether the op has at least `points` points. If only the run time
  // knows, emits a branch, with the op in its side for large ones and a copy in
  // the other.
  std::optional<bool> emitLargeBranch(int64_t points) {
    int64_t known = 1;
    Value product;
    SmallVector<Range, 4> ranges;
    if (llvm::any_of(extents, ShapedType::isDynamic))
      ranges = op.createLoopRanges(rewriter, getLoc());
    for (auto [loop, extent] : llvm::enumerate(extents)) {
      if (!ShapedType::isDynamic(extent)) {
        known *= extent;
        continue;
      }
      Value size = getValueOrCreateConstantIndexOp(rewriter, getLoc(),
                                                   ranges[loop].size);
      product = product
                    ? arith::MulIOp::create(rewriter, getLoc(), product, size)
                    : size;
    }
    if (!product || known == 0)
      return known >= points;
    Value bound = constant(llvm::divideCeil(points, known));
    Value large = arith::CmpIOp::create(
        rewriter, getLoc(), arith::CmpIPredicate::sge, product, bound);
    emitBranch(large, op);
    return std::nullopt;
  }

  // Puts `whole` in one side of a branch, and a copy in the other.
  void emitBranch(Value condition, linalg::LinalgOp whole) {
    auto branch = scf::IfOp::create(rewriter, getLoc(), condition,
                                    /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(&branch.getElseRegion().front());
    parts.push_back(cast<linalg::LinalgOp>(rewriter.clone(*whole)));
    rewriter.moveOpBefore(whole, &branch.getThenRegion().front(),
                          branch.getThenRegion().front().begin());
  }

  // Loops that one tile holds are not cut: extents that are known stay known,
  // which the tile's plan depends on.
  linalg::LinalgOp emitTiles(linalg::LinalgOp whole, ArrayRef<int64_t> bounds,
                             bool inParallel) {
    SmallVector<int64_t> sizes(bounds);
    for (auto [size, extent] : llvm::zip(sizes, getKnownExtents(whole)))
      if (!ShapedType::isDynamic(extent) && extent <= size)
        size = 0;
    if (llvm::all_of(sizes, [](int64_t size) { return size == 0; })) {
      rewriter.setInsertionPoint(whole);
      Operation *only = rewriter.clone(*whole);
      rewriter.setInsertionPoint(only);
      return cast<linalg::LinalgOp>(only);
    }
    linalg::LinalgTilingOptions options;
    options.setTileSizes(sizes);
    options.setLoopType(inParallel ? linalg::LinalgTilingLoopType::ParallelLoops
                                   : linalg::LinalgTilingLoopType::Loops);
    // Sizes of tiles are not zero, so this does not fail.
    linalg::TiledLinalgOp tiled =
        *linalg::tileLinalgOp(rewriter, whole, options);
    rewriter.setInsertionPoint(tiled.op);
    return tiled.op;
  }

  // The loop that sums up rows of an input in memory, if lanes run along them
  // and more than a register block fits into one.
  std::optional<unsigned> findSummedRows(linalg::LinalgOp whole,
                                         OpOperand *&rows) {
    std::optional<unsigned> lanes = findParallelLanes(whole);
    if (!lanes || whole.getNumReductionLoops() != 1 ||
        whole.getNumDpsInits() != 1 || isWide(whole, 0))
      return std::nullopt;
    int64_t row = getKnownExtents(whole)[*lanes];
    if (!ShapedType::isDynamic(row) && row <= 2 * getPanel())
      return std::nullopt;
    SmallVector<unsigned> loops;
    whole.getReductionDims(loops);
    for (OpOperand *input : whole.getDpsInputOperands()) {
      LaneAccess access = getLaneAccess(whole, *input, *lanes);
      if (access == LaneAccess::Strided)
        return std::nullopt;
      if (access == LaneAccess::Contiguous &&
          usesLoop(whole, *input, loops.front()))
        rows = input;
    }
    return rows ? std::optional(loops.front()) : std::nullopt;
  }

  // If whole rows are summed up, a few of them are taken at a time: a piece of
  // each row, from the first row to the last, would be a stream that ends with
  // each page. Takes the place of `whole`, if that is not the op to split.
  linalg::LinalgOp emitRows(linalg::LinalgOp whole) {
    OpOperand *rows = nullptr;
    std::optional<unsigned> k = findSummedRows(whole, rows);
    SmallVector<int64_t> known = getKnownExtents(whole);
    int64_t points = 1;
    bool large = llvm::any_of(known, ShapedType::isDynamic);
    for (int64_t extent : known)
      large = large || (points *= extent) >= kLargePoints;
    if (!k || !large ||
        (!ShapedType::isDynamic(known[*k]) && known[*k] <= kRowsTogether))
      return whole;
    rewriter.setInsertionPoint(whole);
    // Each of several matrices by itself.
    SmallVector<int64_t> one(known.size(), 0), few(known.size(), 0);
    for (unsigned loop = 0; loop < known.size(); ++loop)
      one[loop] = loop != *k && loop != findParallelLanes(whole) &&
                  usesLoop(whole, *rows, loop);
    few[*k] = kRowsTogether;
    linalg::LinalgOp matrix = emitTiles(whole, one, /*inParallel=*/false);
    linalg::LinalgOp block = emitTiles(matrix, few, /*inParallel=*/false);
    rewriter.eraseOp(matrix);
    rewriter.eraseOp(whole);
    return block;
  }

  // One tile of a contraction: blocks of k and panels of n, packed.
  void emitBlocks(linalg::LinalgOp tile, const Contraction &c) {
    rewriter.setInsertionPoint(tile);
    if (!ShapedType::isDynamic(extents[c.m])) {
      if (extents[c.m] < kMinRowsToPack) {
        parts.push_back(emitRows(tile));
        return;
      }
    } else {
      Value rows = getValueOrCreateConstantIndexOp(
          rewriter, getLoc(),
          tile.createLoopRanges(rewriter, getLoc())[c.m].size);
      emitBranch(arith::CmpIOp::create(rewriter, getLoc(),
                                       arith::CmpIPredicate::sge, rows,
                                       constant(kMinRowsToPack)),
                 tile);
    }
    SmallVector<int64_t> bounds = getContractionTiles(c),
                         sizes(extents.size(), 0);
    sizes[c.k] = bounds[c.k] = kBlock;
    linalg::LinalgOp block = emitTiles(tile, sizes, /*inParallel=*/false);
    rewriter.eraseOp(tile);
    OpOperand &lhs = block->getOpOperand(c.lhs->getOperandNumber());
    if (isWorthPacking(block, lhs, c.n, bounds)) {
      SmallVector<linalg::LinalgOp> packed =
          packInputs(rewriter, block, c.n, bounds, &lhs);
      block = packed.pop_back_val();
      llvm::append_range(parts, packed);
    }
    sizes[c.k] = 0;
    sizes[c.n] = bounds[c.n] = getPanel();
    linalg::LinalgOp panel = emitTiles(block, sizes, /*inParallel=*/false);
    rewriter.eraseOp(block);
    llvm::append_range(
        parts, packInputs(rewriter, panel, c.n, bounds,
                          &panel->getOpOperand(c.rhs->getOperandNumber())));
  }

  RewriterBase &rewriter;
  linalg::LinalgOp op;
  const CpuTarget &target;
  bool parallel;
  SmallVector<int64_t> extents;
  SmallVector<linalg::LinalgOp> parts;
};

} // namespace

SmallVector<linalg::LinalgOp> cpu::splitLargeOp(RewriterBase &rewriter,
                                                linalg::LinalgOp op,
                                                const CpuTarget &target,
                                                bool parallel) {
  return Splitter(rewriter, op, target, parallel).run();
}
