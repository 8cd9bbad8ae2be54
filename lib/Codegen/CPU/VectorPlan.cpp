//===- VectorPlan.cpp - Chooses lanes and register blocks -----------------===//

#include "VectorPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

// The coefficient of a dim in a sum of multiples of dims, if it is one.
static std::optional<int64_t> getCoefficient(AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> lhs = getCoefficient(binary.getLHS(), dim);
  std::optional<int64_t> rhs = getCoefficient(binary.getRHS(), dim);
  if (!lhs || !rhs)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Add)
    return *lhs + *rhs;
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() == AffineExprKind::Mul && factor)
    return *lhs * factor.getValue();
  return std::nullopt;
}

bool cpu::usesLoop(linalg::LinalgOp op, OpOperand &operand, unsigned loop) {
  return op.getMatchingIndexingMap(&operand).isFunctionOfDim(loop);
}

LaneAccess cpu::getLaneAccess(linalg::LinalgOp op, OpOperand &operand,
                              unsigned loop) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type || !map.isFunctionOfDim(loop))
    return LaneAccess::Uniform;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return LaneAccess::Strided;
  // The dims behind the lanes' one have to be of size one.
  unsigned dim = map.getNumResults();
  while (!map.getResult(--dim).isFunctionOfDim(loop))
    if (type.getDimSize(dim) != 1)
      return LaneAccess::Strided;
  bool elsewhere =
      llvm::any_of(map.getResults().take_front(dim),
                   [&](AffineExpr expr) { return expr.isFunctionOfDim(loop); });
  if (elsewhere || strides[dim] != 1 ||
      getCoefficient(map.getResult(dim), loop) != 1)
    return LaneAccess::Strided;
  return LaneAccess::Contiguous;
}

Operation *cpu::matchCombiner(linalg::LinalgOp op, unsigned number,
                              vector::CombiningKind *kind) {
  Block *body = op.getBlock();
  Value before = op.getMatchingBlockArgument(op.getDpsInitOperand(number));
  Operation *combiner =
      body->getTerminator()->getOperand(number).getDefiningOp();
  if (isa_and_nonnull<arith::TruncFOp>(combiner) &&
      combiner->getResult(0).hasOneUse() && before.hasOneUse() &&
      isa<arith::ExtFOp>(*before.user_begin())) {
    before = before.user_begin()->getResult(0);
    combiner = combiner->getOperand(0).getDefiningOp();
    if (!combiner || combiner->getResult(0).getType() != before.getType())
      return nullptr;
  }
  // A single use says that the other operand does not depend on it.
  if (!combiner || combiner->getBlock() != body || !before.hasOneUse() ||
      *before.user_begin() != combiner || !combiner->getResult(0).hasOneUse())
    return nullptr;
  std::optional<vector::CombiningKind> found =
      linalg::getCombinerOpKind(combiner);
  if (!found)
    return nullptr;
  if (kind)
    *kind = *found;
  return combiner;
}

bool cpu::isWide(linalg::LinalgOp op, unsigned number) {
  Operation *combiner = matchCombiner(op, number);
  return combiner && combiner->getResult(0).getType() !=
                         getElementTypeOrSelf(op.getDpsInits()[number]);
}

// Bits of an element that vectors may hold; 0 for other types.
static unsigned getLaneBits(Type type) {
  if (type.isIndex())
    return 64;
  if (isa<Float8E4M3FNType, Float8E5M2Type, Float16Type, BFloat16Type,
          Float32Type, Float64Type>(type))
    return type.getIntOrFloatBitWidth();
  if (type.isSignlessInteger(1))
    return 8;
  if (type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
      type.isSignlessInteger(32) || type.isSignlessInteger(64))
    return type.getIntOrFloatBitWidth();
  return 0;
}

// The widest element in a body of element-wise ops; 0 if the body is not so, or
// has other types.
static unsigned getBodyBits(linalg::LinalgOp op) {
  unsigned bits = 1;
  auto see = [&](Type type) {
    unsigned b = getLaneBits(type);
    bits = b && bits ? std::max(bits, b) : 0;
  };
  for (BlockArgument arg : op.getBlock()->getArguments())
    if (!arg.use_empty())
      see(arg.getType());
  for (Value init : op.getDpsInits())
    see(getElementTypeOrSelf(init));
  for (Operation &inner : op.getBlock()->without_terminator()) {
    bool constant = inner.hasTrait<OpTrait::ConstantLike>();
    if (!constant && !isa<linalg::IndexOp>(inner) &&
        (!OpTrait::hasElementwiseMappableTraits(&inner) ||
         !isMemoryEffectFree(&inner) || inner.getNumResults() != 1))
      return 0;
    // Constants and comparisons are as wide as what they are used with.
    if (!constant && !inner.getResult(0).getType().isInteger(1))
      see(inner.getResult(0).getType());
  }
  return bits;
}

// Integer divisions trap on what a switched-off lane may hold.
static bool isMaskable(linalg::LinalgOp op) {
  return llvm::none_of(*op.getBlock(), [](Operation &inner) {
    return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
               arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(
        inner);
  });
}

// The cycles, about, of `rows` x `vectors` multiply-adds: two a cycle, two
// loads a cycle, four cycles until a sum may be used again; and some overhead.
static double getBlockCost(int64_t rows, int64_t vectors) {
  return std::max({rows * vectors / 2.0, (rows + vectors) / 2.0, 4.0}) + 0.3;
}

static double getRowsCost(int64_t extent, int64_t rows, int64_t vectors) {
  double cost = double(extent / rows) * getBlockCost(rows, vectors);
  if (int64_t rest = extent % rows)
    cost += getBlockCost(rest, vectors);
  return cost;
}

// The extent that a dynamic one is taken for.
static constexpr int64_t kLarge = 256;

static int64_t orLarge(int64_t extent) {
  return ShapedType::isDynamic(extent) ? kLarge : extent;
}

int64_t cpu::chooseRows(int64_t extent, int64_t vectors, int64_t accumulators) {
  extent = orLarge(extent);
  int64_t best = 1;
  for (int64_t rows = 2; rows <= std::min(extent, accumulators / vectors);
       ++rows)
    if (getRowsCost(extent, rows, vectors) <=
        getRowsCost(extent, best, vectors))
      best = rows;
  return best;
}

SmallVector<int64_t> cpu::getKnownExtents(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [expr, size] : llvm::zip(map.getResults(), op.getShape(&operand)))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (ShapedType::isDynamic(extents[dim.getPosition()]))
          extents[dim.getPosition()] = size;
  }
  return extents;
}

std::optional<unsigned> cpu::findParallelLanes(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = getKnownExtents(op);
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (unsigned loop = extents.size(); loop-- > 0;)
    if (iterators[loop] == utils::IteratorType::parallel &&
        extents[loop] != 1 &&
        llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
          return getLaneAccess(op, init, loop) == LaneAccess::Contiguous;
        }))
      return loop;
  return std::nullopt;
}

namespace {

/// Facts about one op that the choice is made from.
class Planner {
public:
  Planner(linalg::LinalgOp op, const CpuTarget &target)
      : op(op), target(target), extents(getKnownExtents(op)),
        iterators(op.getIteratorTypesArray()) {}

  VectorPlan run() {
    classifyLoops();
    plan.maskable = isMaskable(op);
    unsigned bits = getBodyBits(op);
    if (bits && chooseLanes(bits)) {
      chooseBlock();
    }
    orderLoops();
    return plan;
  }

private:
  void classifyLoops() {
    for (unsigned loop = 0; loop < extents.size(); ++loop) {
      auto uses = [&](OpOperand &init) { return usesLoop(op, init, loop); };
      bool inAll = llvm::all_of(op.getDpsInitsMutable(), uses);
      bool inAny = llvm::any_of(op.getDpsInitsMutable(), uses);
      bool reduces = iterators[loop] == utils::IteratorType::reduction;
      if (!inAny && reduces)
        plan.inner.push_back(loop);
      else
        plan.outer.push_back(loop);
      if (inAll && !reduces && extents[loop] != 1)
        parallel.push_back(loop);
    }
  }

  bool allAccess(ArrayRef<OpOperand *> operands, unsigned loop,
                 ArrayRef<LaneAccess> allowed) {
    return llvm::all_of(operands, [&](OpOperand *operand) {
      return llvm::is_contained(allowed, getLaneAccess(op, *operand, loop));
    });
  }

  // Lanes along a reduction: contiguous inputs, combiners that are known.
  std::optional<unsigned> findReducingLanes() {
    plan.combiners.resize(op.getNumDpsInits());
    if (!plan.maskable)
      return std::nullopt;
    for (unsigned i = 0; i < plan.combiners.size(); ++i)
      if (!matchCombiner(op, i, &plan.combiners[i]))
        return std::nullopt;
    for (unsigned loop : llvm::reverse(plan.inner))
      if (orLarge(extents[loop]) >= 4 &&
          allAccess(op.getDpsInputOperands(), loop,
                    {LaneAccess::Uniform, LaneAccess::Contiguous}) &&
          !allAccess(op.getDpsInputOperands(), loop, {LaneAccess::Uniform}))
        return loop;
    return std::nullopt;
  }

  bool chooseLanes(unsigned bits) {
    std::optional<unsigned> loop = findParallelLanes(op);
    if (!loop || !allAccess(op.getDpsInputOperands(), *loop,
                            {LaneAccess::Uniform, LaneAccess::Contiguous}))
      if (std::optional<unsigned> reducing = findReducingLanes()) {
        loop = reducing;
        plan.lanesReduce = true;
      }
    if (!loop)
      return false;
    plan.lanes = std::max<int64_t>(1, target.vectorBits / bits);
    int64_t extent = std::max<int64_t>(1, orLarge(extents[*loop]));
    while (plan.lanes / 2 >= extent)
      plan.lanes /= 2;
    if (plan.lanes == 1)
      return false;
    plan.laneLoop = loop;
    return true;
  }

  int64_t getVectors() {
    return llvm::divideCeil(orLarge(extents[*plan.laneLoop]), plan.lanes);
  }

  // Bodies of few ops are isProfitable being repeated, to hide latencies.
  int64_t getSmallBodyVectors(int64_t most) {
    int64_t ops = op.getBlock()->getOperations().size();
    return std::min(getVectors(), ops <= 6 ? most : 1);
  }

  void chooseBlock() {
    if (!plan.lanesReduce && !plan.inner.empty() && findReuse()) {
      chooseContractionBlock();
      return;
    }
    if (!plan.lanesReduce) {
      if (plan.inner.empty() && findTransposed())
        return;
      plan.vectors = getSmallBodyVectors(plan.inner.empty() ? 4 : 8);
      return;
    }
    // Sums along the lanes: rows hide the latency, and where two loops of rows
    // share operands, each load is used more than once.
    plan.vectors = 1;
    for (unsigned loop : llvm::reverse(parallel))
      if (plan.rows.size() < 2)
        plan.rows.push_back(
            {loop, std::min<int64_t>(orLarge(extents[loop]),
                                     target.hasManyRegisters() ? 4 : 3)});
    if (plan.rows.size() == 2 && !sharesOperands())
      plan.rows.pop_back();
    if (plan.rows.empty())
      plan.vectors = getSmallBodyVectors(4);
  }

  // With lanes reducing: each of the two row loops leaves out an input.
  bool sharesOperands() {
    return llvm::all_of(plan.rows, [&](const VectorPlan::Rows &rows) {
      return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
        return !usesLoop(op, *input, rows.loop);
      });
    });
  }

  // A parallel loop whose points use the same vectors of an input.
  bool findReuse() {
    for (unsigned loop : llvm::reverse(parallel))
      if (loop != *plan.laneLoop &&
          llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
            return usesLoop(op, *input, *plan.laneLoop) &&
                   !usesLoop(op, *input, loop);
          }))
        plan.rows.push_back({loop, 1});
    return !plan.rows.empty();
  }

  void chooseContractionBlock() {
    int64_t accumulators =
        std::max<int64_t>(1, target.accumulators() / op.getNumDpsInits());
    // Two loops of rows only if the first one is short.
    plan.rows.truncate(std::min<size_t>(2, plan.rows.size()));
    int64_t first = orLarge(extents[plan.rows[0].loop]);
    int64_t vectors = getVectors();
    double bestCost = 0;
    for (int64_t v = 1; v <= std::min<int64_t>(4, vectors); ++v) {
      int64_t rows = chooseRows(first, v, accumulators);
      double cost = double(vectors / v) * getRowsCost(first, rows, v);
      if (int64_t rest = vectors % v)
        cost += getRowsCost(first, chooseRows(first, rest, accumulators), rest);
      if (v == 1 || cost <= bestCost) {
        plan.vectors = v;
        plan.rows[0].count = rows;
        bestCost = cost;
      }
    }
    if (plan.rows.size() < 2)
      return;
    int64_t left = accumulators / (plan.rows[0].count * plan.vectors);
    if (plan.rows[0].count == first && left > 1)
      plan.rows[1].count = std::min(left, orLarge(extents[plan.rows[1].loop]));
    else
      plan.rows.pop_back();
  }

  // Element-wise ops that transpose: an input is contiguous along another loop.
  bool findTransposed() {
    // More lanes would make too much code.
    int64_t lanes = std::min<int64_t>(plan.lanes, 16);
    for (unsigned loop : parallel) {
      if (loop == *plan.laneLoop || orLarge(extents[loop]) < lanes)
        continue;
      for (OpOperand *input : op.getDpsInputOperands())
        if (getLaneAccess(op, *input, *plan.laneLoop) == LaneAccess::Strided &&
            getLaneAccess(op, *input, loop) == LaneAccess::Contiguous) {
          plan.lanes = lanes;
          plan.transposedLoop = loop;
          plan.rows.push_back({loop, plan.lanes});
          return true;
        }
    }
    return false;
  }

  // The lanes' loop goes around its rows, so that the rows share what is in the
  // cache. A reduction along the lanes is the innermost loop.
  void orderLoops() {
    if (!plan.laneLoop)
      return;
    auto moveLast = [](SmallVectorImpl<unsigned> &loops, unsigned loop) {
      llvm::erase(loops, loop);
      loops.push_back(loop);
    };
    if (plan.lanesReduce)
      moveLast(plan.inner, *plan.laneLoop);
    else
      moveLast(plan.outer, *plan.laneLoop);
    for (const VectorPlan::Rows &rows : llvm::reverse(plan.rows))
      moveLast(plan.outer, rows.loop);
  }

  linalg::LinalgOp op;
  const CpuTarget &target;
  SmallVector<int64_t> extents;
  SmallVector<utils::IteratorType> iterators;
  /// Parallel loops that are in every output and longer than 1.
  SmallVector<unsigned> parallel;
  VectorPlan plan;
};

} // namespace

VectorPlan cpu::planVectors(linalg::LinalgOp op, const CpuTarget &target) {
  return Planner(op, target).run();
}
