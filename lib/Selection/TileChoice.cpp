//===- TileChoice.cpp - Tile sizes by the roles of dims -------------------===//

#include "TileChoice.h"

#include "TileGeometry.h"
#include "pit/Analysis/Factors.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::pit;

/// Among the inputs the one of the highest rank, the first of several.
static OpOperand *getMainInput(linalg::LinalgOp op) {
  OpOperand *main = nullptr;
  for (OpOperand *input : op.getDpsInputOperands())
    if (!main || op.getRank(input) > op.getRank(main))
      main = input;
  return main;
}

Type mlir::pit::getTableElement(linalg::LinalgOp op, const TileTable &table,
                                Type marked) {
  if (marked && !table.byInputs)
    return marked;
  OpOperand *main = getMainInput(op);
  return main ? getElementTypeOrSelf(main->get()) : marked;
}

/// Is d one of several dims that an input is indexed by along one dimension?
static bool isInWindow(linalg::LinalgOp op, unsigned d) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return llvm::any_of(
        op.getMatchingIndexingMap(input).getResults(), [&](AffineExpr expr) {
          return !isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(d);
        });
  });
}

/// Do windows move along d, and along no later dim of the result?
static bool isLastWindow(linalg::LinalgOp op, unsigned d) {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr expr : llvm::reverse(result.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && isInWindow(op, dim.getPosition()))
      return dim.getPosition() == d;
  return false;
}

/// The size of one dim.
static int64_t sizeOf(linalg::LinalgOp op, const TileSizes &sizes, unsigned d,
                      bool grouped) {
  if (isReducedDim(op, d))
    return grouped && sizes.part ? sizes.part : sizes.reduced;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  bool inAll = true, inWindow = false, besideWindow = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap inputMap = op.getMatchingIndexingMap(input);
    if (inputMap.getNumResults() == 0)
      continue;
    inAll &= inputMap.isFunctionOfDim(d);
    for (AffineExpr expr : inputMap.getResults()) {
      bool window = !isa<AffineDimExpr>(expr);
      inWindow |= window && expr.isFunctionOfDim(d);
      besideWindow |= window && inputMap.isFunctionOfDim(d);
    }
  }
  if (inWindow && !(sizes.row && isLastWindow(op, d)))
    return sizes.window;
  bool innermost = result.getNumResults() > 0 &&
                   result.getResult(result.getNumResults() - 1) ==
                       getAffineDimExpr(d, op->getContext());
  if (inWindow && !innermost) {
    int64_t range = op.getStaticLoopRanges()[d];
    return ShapedType::isDynamic(range) || range == 0
               ? sizes.row
               : llvm::divideCeil(range, llvm::divideCeil(range, sizes.row));
  }
  if (innermost)
    return grouped && sizes.group ? sizes.group : sizes.vector;
  // Windows make tiles large enough.
  if (besideWindow)
    return 1;
  // A dim that every operand has gives no reuse: one at a time, unless there
  // is nothing to reuse at all and it makes a tile of two dims.
  bool contracts = op.getNumDpsInputs() > 1 && op.getNumReductionLoops() > 0;
  unsigned rank = result.getNumResults();
  bool nextToLast = rank > 1 && result.getResult(rank - 2) ==
                                    getAffineDimExpr(d, op->getContext());
  if (inAll && (contracts || !nextToLast))
    return 1;
  if (grouped && (sizes.group || sizes.groupRows))
    return sizes.group ? sizes.group : sizes.groupRows;
  return sizes.rows;
}

/// Dims of blocks that one scale is for: along some of the reduced dims a
/// factor varies, and along others, within a block, only the other factors do.
/// The same goes for dims of the result that one of them has and the other has
/// not.
static llvm::SmallBitVector findBlocks(linalg::LinalgOp op) {
  llvm::SmallBitVector blocks(op.getNumLoops()), reduced(op.getNumLoops());
  SmallVector<llvm::SmallBitVector> multiplied, scales;
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    reduced[d] = isReducedDim(op, d);
  for (OpOperand *input : op.getDpsInputOperands()) {
    llvm::SmallBitVector dims(op.getNumLoops());
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      dims[d] = op.getMatchingIndexingMap(input).isFunctionOfDim(d);
    if (!reduced.test(dims))
      multiplied.push_back(dims);
    else if (reduced.anyCommon(dims))
      scales.push_back(dims);
  }
  if (multiplied.size() != 2)
    return blocks;
  for (const llvm::SmallBitVector &scale : scales) {
    blocks |= scale & reduced;
    for (unsigned i = 0; i < 2; ++i) {
      llvm::SmallBitVector own = multiplied[i];
      own.reset(multiplied[1 - i]);
      if (own.test(scale))
        blocks |= scale & own;
    }
  }
  return blocks;
}

/// So many sums of a dense tile leave registers for a step's and their scales.
static constexpr int64_t kMostScaledSums = 128 * 128;

/// A kernel's tile is of one block, whose sums a scale multiplies: other dims
/// of blocks are taken one by one, and all of a block along the reduced dims,
/// unless it is long, so that its steps are one loop.
static void takeBlocksOneByOne(linalg::LinalgOp op, const TileRoles &roles,
                               SmallVectorImpl<int64_t> &tile) {
  llvm::SmallBitVector blocks = findBlocks(op);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned d = 0; d < op.getNumLoops() && blocks.any(); ++d)
    if (d == roles.axis || roles.grouped[d])
      continue;
    else if (blocks[d])
      tile[d] = 1;
    else if (isReducedDim(op, d) && !ShapedType::isDynamic(ranges[d]) &&
             ranges[d] <= 2 * tile[d])
      tile[d] = std::max<int64_t>(1, ranges[d]);
  if (roles.form != TileForm::Dense || blocks.none())
    return;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    while (result.isFunctionOfDim(d) && tile[d] > 1 &&
           tileElements(result, tile) > kMostScaledSums)
      tile[d] = (tile[d] + 1) / 2;
}

/// The extents of the op's dims.
static SmallVector<int64_t> getExtents(linalg::LinalgOp op,
                                       const TileRoles &roles) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (roles.assumed)
    extents[roles.assumed->first] = roles.assumed->second;
  return extents;
}

/// The sizes of all dims.
static SmallVector<int64_t> chooseTileByRoles(linalg::LinalgOp op,
                                              const TileSizes &sizes,
                                              const TileRoles &roles) {
  SmallVector<int64_t> ranges = getExtents(op, roles), tile;
  for (unsigned d = 0; d < op.getNumLoops(); ++d) {
    int64_t size =
        d == roles.axis ? sizes.chunk : sizeOf(op, sizes, d, roles.grouped[d]);
    if (!ShapedType::isDynamic(ranges[d]))
      size = std::clamp<int64_t>(ranges[d], 1, size);
    tile.push_back(roles.points[d] ? 1 : size);
  }
  // Dims inside of a window have to lie in one tile; if that cannot be known,
  // they are taken one by one.
  for (AffineMap any : op.getIndexingMapsArray())
    for (AffineExpr expr : any.getResults()) {
      std::optional<LinearExpr> linear = matchLinear(expr);
      if (!linear || linear->terms.size() < 2)
        continue;
      for (auto [d, coefficient] : llvm::drop_begin(linear->terms))
        tile[d] = roles.points[d] || ShapedType::isDynamic(ranges[d]) ||
                          ranges[d] > 16
                      ? 1
                      : std::max<int64_t>(ranges[d], 1);
    }
  // With each id come all points of a window: a few make as long a sum.
  if (sizes.row && roles.axis && isReducedDim(op, *roles.axis)) {
    int64_t points = 1;
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      if (d != roles.axis && isReducedDim(op, d) && isInWindow(op, d))
        points *= tile[d];
    if (points > 1)
      tile[*roles.axis] = std::min<int64_t>(
          tile[*roles.axis], llvm::alignTo(sizes.chunk / points + 1, 16));
  }
  return tile;
}

/// Sums lie in registers and on stacks, whatever operands may be given.
static constexpr int64_t kMostSums = 1 << 16;

void mlir::pit::boundTile(linalg::LinalgOp op, SmallVectorImpl<int64_t> &tile,
                          std::optional<unsigned> axis,
                          llvm::SmallBitVector given, int64_t maxElements) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (AffineMap any : maps)
    for (AffineExpr expr : any.getResults()) {
      std::optional<LinearExpr> linear = matchLinear(expr);
      if (!linear)
        return; // such an op is not tiled
      // Dims inside of a window stay in one tile.
      for (size_t i = 1; i < linear->terms.size(); ++i)
        given.set(linear->terms[i].first);
    }
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(op.getNumLoops()));
  if (axis && llvm::all_of(maps, [&](AffineMap any) {
        return any.isFunctionOfDim(*axis);
      }))
    std::swap(order[0], order[*axis]);
  for (auto [number, any] : llvm::enumerate(maps)) {
    bool isResult = number >= static_cast<size_t>(op.getNumDpsInputs());
    int64_t most = isResult ? std::min(maxElements, kMostSums) : maxElements;
    for (unsigned d : order)
      while (!given[d] && any.isFunctionOfDim(d) && tile[d] > 1 &&
             tileElements(any, tile) > most)
        tile[d] = (tile[d] + 1) / 2;
  }
}

/// Does each input with the innermost dim of the result have it last?
static bool hasContiguousRows(linalg::LinalgOp op) {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (result.getNumResults() == 0)
    return true;
  AffineExpr last = result.getResults().back();
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return !llvm::is_contained(map.getResults(), last) ||
           map.getResults().back() == last;
  });
}

TileChoice mlir::pit::chooseTile(
    linalg::LinalgOp op, const TileTable &table, Type element,
    const TileRoles &roles,
    llvm::function_ref<bool(SmallVectorImpl<int64_t> &, int64_t)> adjust,
    TileModel model) {
  TileChoice choice;
  SmallVector<int64_t> extents = getExtents(op, roles);
  FailureOr<SumOfProducts> products = matchSumOfProducts(op, /*result=*/0);
  Type sums = getElementTypeOrSelf(op.getDpsInits()[0]);
  // Sums of another type than f32 are not those of tf32.
  bool multiplies = succeeded(products) && sums.isF32();
  bool dots = succeeded(products) && products->factors.size() == 2 &&
              ((element.isBF16() && sums.isF32()) ||
               (element.isInteger(8) && sums.isInteger(32)));
  for (const TileSizes *sizes : table.lookup(element, roles.form, multiplies,
                                             dots, roles.points.any())) {
    if (!sizes->step && !choice.tiles.empty())
      break;
    if (sizes->byRows && !(multiplies && hasContiguousRows(op)))
      continue;
    SmallVector<int64_t> tile = chooseTileByRoles(op, *sizes, roles);
    if (table.isForGpu)
      takeBlocksOneByOne(op, roles, tile);
    bool isOfEntry = adjust(tile, sizes->elements);
    if (!sizes->step)
      return {{{tile, std::nullopt}}};
    if (!isOfEntry)
      continue;
    // Either all entries have a modelled time for the op, or none has.
    ModelledTile one = {tile, model(op, extents, tile, *sizes, table)};
    // The op's extents may have cut two entries to the same tile.
    auto *same = llvm::find_if(choice.tiles, [&](const ModelledTile &other) {
      return other.tile == one.tile;
    });
    if (same != choice.tiles.end()) {
      if (same->cycles <= one.cycles)
        continue;
      choice.tiles.erase(same);
    }
    choice.tiles.insert(
        llvm::upper_bound(choice.tiles, one,
                          [](const ModelledTile &a, const ModelledTile &b) {
                            return a.cycles < b.cycles;
                          }),
        one);
  }
  return choice;
}

void TileChoice::explain(linalg::LinalgOp op) const {
  if (tiles.size() < 2 || !tiles.front().cycles)
    return;
  InFlightDiagnostic diag = emitRemark(op.getLoc());
  diag << op->getName() << ": modelled cycles by tile: ";
  llvm::interleaveComma(tiles, diag, [&](const ModelledTile &one) {
    diag << "[";
    llvm::interleaveComma(one.tile, diag);
    diag << "] " << llvm::formatv("{0:F0}", *one.cycles).str();
  });
  diag << "; the first is chosen";
}

/// A kernel's mainloop has one dim for rows and one for columns: of several
/// that the same inputs have, and others do not, only the longest is cut into
/// tiles.
static void takeOneOfEach(linalg::LinalgOp op, SmallVectorImpl<int64_t> &tile) {
  auto findInputs = [&](unsigned d) {
    llvm::SmallBitVector inputs;
    for (OpOperand *input : op.getDpsInputOperands())
      if (op.getRank(input) > 0)
        inputs.push_back(op.getMatchingIndexingMap(input).isFunctionOfDim(d));
    return inputs;
  };
  for (unsigned d = 0; d < tile.size(); ++d) {
    llvm::SmallBitVector inputs = findInputs(d);
    if (isReducedDim(op, d) || inputs.all())
      continue;
    for (unsigned e = 0; e < tile.size(); ++e)
      if (e != d && !isReducedDim(op, e) && findInputs(e) == inputs)
        tile[tile[d] > tile[e] ? e : d] = 1;
  }
}

/// Takes the first tile of `shared`, if it is larger than that of `choice`, and
/// much better. A few large tiles with many steps are what sharing is for; of
/// smaller ones the models tell less.
static void takeShared(const TileTable &table, const TileChoice &shared,
                       TileChoice &choice) {
  const ModelledTile &best = shared.tiles.front();
  const auto *own = llvm::find_if(shared.tiles, [&](const ModelledTile &one) {
    return ArrayRef(one.tile) == choice.getTile();
  });
  if (!best.cycles || own == shared.tiles.end() ||
      ShapedType::getNumElements(best.tile) <=
          ShapedType::getNumElements(own->tile) ||
      *own->cycles < table.sharing.leastGain * *best.cycles)
    return;
  choice = shared;
}

TileChoice
mlir::pit::chooseDenseTile(linalg::LinalgOp op, const TileTable &table,
                           std::optional<std::pair<unsigned, int64_t>> assumed,
                           TileModel model) {
  llvm::SmallBitVector none(op.getNumLoops());
  // If there are several reduced dims, the innermost one of the main input is a
  // tile, as in a matmul; the others are taken one by one.
  AffineMap map = op.getMatchingIndexingMap(getMainInput(op));
  std::optional<unsigned> innermost;
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr);
        dim && isReducedDim(op, dim.getPosition()))
      innermost = dim.getPosition();
  auto adjust = [&](SmallVectorImpl<int64_t> &tile, int64_t maxElements) {
    for (unsigned d = 0; innermost && d < tile.size(); ++d)
      if (isReducedDim(op, d) && d != innermost)
        tile[d] = 1;
    if (table.isForGpu)
      takeOneOfEach(op, tile);
    boundTile(op, tile, /*axis=*/std::nullopt, none, maxElements);
    return true;
  };
  auto choose = [&](TileModel by) {
    return chooseTile(
        op, table, getTableElement(op, table, Type()),
        {TileForm::Dense, /*axis=*/std::nullopt, none, none, assumed}, adjust,
        by);
  };
  if (model)
    return choose(model);
  TileChoice choice = choose(modelCycles);
  if (table.isForGpu)
    takeShared(table, choose(modelSharedCycles), choice);
  return choice;
}
