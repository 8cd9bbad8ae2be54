//===- RingPlan.cpp - How a ring is computed ------------------------------===//

#include "RingPlan.h"
#include "Ring.h"

#include "../Conversion/Common/Index.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pit;

/// The largest power of two that divides n.
static int64_t powerIn(int64_t n) { return n & -n; }

int64_t SharedTile::swizzleMask() const {
  return std::min<int64_t>(8, powerIn(chunks())) - 1;
}

int64_t SharedTile::rowsPerLine() const {
  return std::max<int64_t>(1, 128 / pitch());
}

int64_t SharedTile::swizzlePeriod() const {
  return rowsPerLine() *
         std::max<int64_t>(1, (swizzleMask() + 1) / swizzleStep);
}

int64_t SharedTile::offsetOf(int64_t row, int64_t col) const {
  int64_t byte = col * elementBytes;
  int64_t chunk = (byte / kChunkBytes) ^
                  ((row / rowsPerLine() * swizzleStep) & swizzleMask());
  return row * pitch() + chunk * kChunkBytes + byte % kChunkBytes;
}

int64_t RingPlan::neighbours() const {
  if (tensorCores)
    return b.alternates() ? 4 : 2;
  return b.kIsCol ? 1 : b.tile.chunkElements();
}

//===----------------------------------------------------------------------===//
// What a ring computes
//===----------------------------------------------------------------------===//

/// `x`, or what it was converted from.
static Value skipExtension(Value x) {
  while (Operation *op = x.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp>(op))
      break;
    x = op->getOperand(0);
  }
  return x;
}

bool mlir::pit::isMultiplyAdd(RingOp ring) {
  Block &compute = ring.getCompute().front();
  Value sum = compute.getTerminator()->getOperand(0);
  Operation *add = sum.getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add))
    return false;
  Value acc = compute.getArgument(2);
  Value product = add->getOperand(add->getOperand(0) == acc ? 1 : 0);
  if (add->getOperand(0) != acc && add->getOperand(1) != acc)
    return false;
  Operation *mul = product.getDefiningOp();
  if (!mul || !isa<arith::MulFOp, arith::MulIOp>(mul))
    return false;
  Value x = skipExtension(mul->getOperand(0));
  Value y = skipExtension(mul->getOperand(1));
  Value a = compute.getArgument(0), b = compute.getArgument(1);
  return (x == a && y == b) || (x == b && y == a);
}

static bool isZeroOrNone(TypedAttr pad) {
  if (auto value = dyn_cast_or_null<FloatAttr>(pad))
    return value.getValue().isPosZero();
  if (auto value = dyn_cast_or_null<IntegerAttr>(pad))
    return value.getValue().isZero();
  return true;
}

/// Do tensor cores take these elements?
static bool fitTensorCores(RingOp ring, const RingPlan &plan) {
  Type a = plan.a.element, b = plan.b.element;
  Type acc = ring.getAccumulatorType();
  if (a != b || !isMultiplyAdd(ring) ||
      !isZeroOrNone(ring.getLoaded(0).getPadAttr()) ||
      !isZeroOrNone(ring.getLoaded(1).getPadAttr()))
    return false;
  if (a.isF16() || a.isBF16())
    return acc.isF32();
  if (a.isF32())
    return ring.getTf32();
  return a.isInteger(8) && acc.isInteger(32);
}

/// Finds the parts of an operand's dimensions. `outer` and `k` are iteration
/// dimensions, -1 if of extent 1.
static void planOperand(ViewOp view, AffineMap map, int outer, int k,
                        RingOperand &operand) {
  operand.element =
      cast<VectorType>(view.getResult().getType()).getElementType();
  operand.tile.elementBytes = elementBytes(operand.element);
  int outerDim = -1, kDim = -1;
  for (auto [d, result] : llvm::enumerate(map.getResults())) {
    int dim = cast<AffineDimExpr>(result).getPosition();
    if (dim == outer)
      outerDim = d;
    else if (dim == k)
      kDim = d;
  }
  // The last dimension of the source is contiguous.
  int last = map.getNumResults() - 1;
  operand.kIsCol = kDim > outerDim || (kDim < 0 && outerDim != last);
  operand.colDim = operand.kIsCol ? kDim : outerDim;
  operand.rowDim = operand.kIsCol ? outerDim : kDim;
}

//===----------------------------------------------------------------------===//
// Sharing the work
//===----------------------------------------------------------------------===//

/// Splits the tile among warps of tensor cores.
static bool splitAmongWarps(RingPlan &plan) {
  int64_t best = 0;
  for (int64_t warps : {1, 2, 4, 8})
    for (int64_t warpsM = 1; warpsM <= warps; warpsM *= 2) {
      int64_t warpsN = warps / warpsM;
      int64_t perM = llvm::alignTo(llvm::divideCeil(plan.m, warpsM), 16);
      int64_t perN = llvm::alignTo(llvm::divideCeil(plan.n, warpsN), 16);
      // Accumulators take a register each; 128 of 255 leave room for the rest.
      if (perM * perN > 64 * 64)
        continue;
      // What is computed in vain counts most, then what each warp reads, then
      // few warps (more blocks on a multiprocessor), but at least four.
      int64_t padded = warpsM * perM * warpsN * perN;
      int64_t reads = padded / perM + padded / perN;
      int64_t cost = padded * 64 + reads * 256 + (warps < 4 ? padded * 16 : 0);
      if (!best || cost < best) {
        best = cost;
        plan.warpsM = warpsM;
        plan.warpsN = warpsN;
        plan.perWarpM = perM;
        plan.perWarpN = perN;
        plan.threads = 32 * warps;
      }
    }
  return best != 0;
}

/// Splits the tile among threads of scalar code. A warp is 4 x 8 threads.
static bool splitAmongThreads(RingPlan &plan, int64_t accumulatorBytes) {
  // A thread that reads along m or n reads whole chunks.
  int64_t unitM = plan.a.kIsCol ? 1 : plan.a.tile.chunkElements();
  int64_t unitN = plan.b.kIsCol ? 1 : plan.b.tile.chunkElements();
  // A short side leaves little to reuse: more threads with fewer registers each
  // hide more of what they wait for.
  int64_t most =
      accumulatorBytes > 4 || std::min(plan.m, plan.n) <= 32 ? 32 : 64;
  for (int64_t threads : {64, 128, 256, 512}) {
    int64_t best = 0;
    for (int64_t threadsM = 4; threadsM <= threads / 8; threadsM *= 2) {
      int64_t threadsN = threads / threadsM;
      int64_t perM = llvm::alignTo(llvm::divideCeil(plan.m, threadsM), unitM);
      int64_t perN = llvm::alignTo(llvm::divideCeil(plan.n, threadsN), unitN);
      // 512 threads have 128 registers each, fewer have 255.
      if (perM * perN > most ||
          perM * perN * accumulatorBytes > (threads > 256 ? 128 : 256))
        continue;
      int64_t cost = perM * perN * 16 + perM + perN;
      if (!best || cost < best) {
        best = cost;
        plan.threadsM = threadsM;
        plan.threadsN = threadsN;
        plan.perThreadM = perM;
        plan.perThreadN = perN;
        plan.threads = threads;
      }
    }
    if (best)
      return true;
  }
  return false;
}

void mlir::pit::layOutTiles(RingPlan &plan) {
  auto layOut = [&](RingOperand &operand, int64_t outer) {
    SharedTile &tile = operand.tile;
    tile.rows = operand.kIsCol ? outer : plan.depth;
    tile.cols = llvm::alignTo(operand.kIsCol ? plan.depth : outer,
                              tile.chunkElements());
    // Half a warp loads pairs of words from two chunks of each of four rows.
    bool words =
        plan.tensorCores && operand.alternates() && tile.elementBytes == 4;
    tile.swizzleStep = words ? 2 : 1;
  };
  layOut(plan.a, plan.coveredM());
  layOut(plan.b, plan.coveredN());
}

std::optional<RingPlan> mlir::pit::planRing(RingOp ring, int64_t capability) {
  RingPlan plan;
  plan.capability = capability;
  SmallVector<AffineMap> maps =
      llvm::to_vector(ring.getMaps().getAsValueRange<AffineMapAttr>());
  // Windows are the CPU's.
  for (AffineMap map : maps)
    if (!map.isProjectedPermutation())
      return std::nullopt;
  int m = -1, n = -1, k = -1;
  for (auto [d, extent] : llvm::enumerate(ring.getTile())) {
    if (extent == 1)
      continue;
    if (extent < 1)
      return std::nullopt;
    bool inA = maps[0].isFunctionOfDim(d), inB = maps[1].isFunctionOfDim(d);
    bool inAcc = maps[2].isFunctionOfDim(d);
    int *part = inA && inB && !inAcc   ? &k
                : inA && !inB && inAcc ? &m
                : !inA && inB && inAcc ? &n
                                       : nullptr;
    if (!part || *part >= 0)
      return std::nullopt;
    *part = d;
    (part == &m ? plan.m : part == &n ? plan.n : plan.k) = extent;
  }
  for (auto [d, result] : llvm::enumerate(maps[2].getResults())) {
    int dim = cast<AffineDimExpr>(result).getPosition();
    if (dim == m)
      plan.mDim = d;
    else if (dim == n)
      plan.nDim = d;
  }
  planOperand(ring.getLoaded(0), maps[0], m, k, plan.a);
  planOperand(ring.getLoaded(1), maps[1], n, k, plan.b);
  plan.a.outer = plan.m;
  plan.b.outer = plan.n;
  for (RingOperand *operand : {&plan.a, &plan.b})
    if (operand->element.isInteger(1) || operand->tile.elementBytes > 8 ||
        !isa<FloatType, IntegerType>(operand->element))
      return std::nullopt;

  plan.tensorCores = fitTensorCores(ring, plan);
  Type accumulator = ring.getAccumulatorType();
  if (!accumulator.isIntOrFloat() || accumulator.isInteger(1))
    return std::nullopt;
  int64_t unitK;
  if (plan.tensorCores) {
    if (!splitAmongWarps(plan))
      return std::nullopt;
    unitK = 2 * plan.a.tile.chunkElements();
  } else {
    if (!splitAmongThreads(plan, elementBytes(accumulator)))
      return std::nullopt;
    unitK = std::max(plan.a.kIsCol ? plan.a.tile.chunkElements() : 1,
                     plan.b.kIsCol ? plan.b.tile.chunkElements() : 1);
  }

  // Stages of 64 bytes along k, as long as whole ones make up a step.
  int64_t bytes = std::max(plan.a.tile.elementBytes, plan.b.tile.elementBytes);
  plan.depth = std::max(unitK, 64 / bytes);
  if (plan.k % plan.depth != 0)
    plan.depth = llvm::alignTo(plan.k, unitK);
  plan.subSteps = llvm::divideCeil(plan.k, plan.depth);
  layOutTiles(plan);
  // What every GPU of the capability has, for one block.
  int64_t budget = (capability >= 90 ? 200 : 96) * 1024;
  plan.stages = std::min<int64_t>(4, budget / plan.stageBytes());
  if (plan.stages < 2)
    return std::nullopt;
  return plan;
}
