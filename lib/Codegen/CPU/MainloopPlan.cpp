//===- MainloopPlan.cpp - How the CPU computes a mainloop -----------------===//

#include "MainloopPlan.h"

#include "DotOperands.h"

#include "Codegen/Common/RuntimeCalls.h"

#include "pit/Codegen/CPU/Mainloops.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

/// Rows that meet a transposed column of B, and products that make a sum which
/// is stored alone, at least. With fewer rows or columns nothing pays for
/// lanes.
static constexpr int64_t kLeastToTranspose = 4;
/// Vectors of a block of one row, and registers beside the sums of several:
/// those of an element of A, and of what is read of B meanwhile.
static constexpr int64_t kMostVectors = 8, kOperandRegisters = 4;

namespace {

/// The relation of a subscript of one tile to the subscript of another.
bool isSameRange(Value x, Value y) {
  if (x == y)
    return true;
  // Ids of a loop and the positions of the same ids.
  auto argX = dyn_cast<BlockArgument>(x), argY = dyn_cast<BlockArgument>(y);
  return argX && argY && isa<IdsType>(x.getType()) &&
         isa<IdsType>(y.getType()) && argX.getOwner() == argY.getOwner();
}

class Planner {
public:
  Planner(MainloopOp mainloop, const CpuTarget &target, unsigned accumulator)
      : mainloop(mainloop), target(target), acc(mainloop.getMap(2)) {
    plan.accumulator = accumulator;
  }

  OrRefusal<MainloopPlan> run() {
    OrRefusal<int64_t> vector = lanesOfVector();
    if (!vector)
      return vector.refusal();
    OrRefusal<LanePlan> lanes = chooseLanes(*vector);
    if (!lanes)
      return lanes.refusal();
    static_cast<LanePlan &>(plan) = *lanes;
    classifyDims();
    if (plan.lanes > 1)
      plan.dots = planDots(mainloop, plan, target);
    if (hasWindows(mainloop.getMap(plan.a)))
      chooseTallBlock();
    else if (!chooseWideBlock())
      chooseBlock();
    choosePacking();
    return plan;
  }

  /// The plan with the lanes, the block and the kind of instructions of a
  /// schedule; all else follows from the mainloop.
  OrRefusal<MainloopPlan> take(CpuScheduleAttr schedule) {
    OrRefusal<int64_t> vector = lanesOfVector();
    if (!vector)
      return vector.refusal();
    OrRefusal<LanePlan> lanes =
        takeLanes(schedule.getN(), schedule.getLanes(), *vector);
    if (!lanes)
      return lanes.refusal();
    static_cast<LanePlan &>(plan) = *lanes;
    classifyDims();
    if (plan.lanes > 1 && schedule.getDots())
      plan.dots = planDots(mainloop, plan, target);
    plan.rows = schedule.getRows();
    plan.vectors = schedule.getVectors();
    if (plan.rows > 1)
      takeWide(takeRows(mainloop, wideDims(), plan.rows));
    choosePacking();
    if (Refused refused = checkBlock())
      return *refused;
    return plan;
  }

private:
  ViewOp view(unsigned operand) {
    return mainloop.getOperandView(operand, plan.accumulator);
  }

  /// Every tile that has dimension `dim` of the accumulator covers the same
  /// range of it: what does not exist in one exists in none.
  bool isAligned(unsigned dim) {
    Value subscript = mainloop.getSubscripts()[*findDim(acc, dim)];
    for (unsigned i = 0; i < 2; ++i)
      if (std::optional<unsigned> d = findDim(mainloop.getMap(i), dim))
        if (!isSameRange(view(i).getSubscripts()[*d], subscript))
          return false;
    for (auto [extra, attr] :
         llvm::zip(mainloop.getExtras(), mainloop.getExtraMaps()))
      for (auto [d, result] : llvm::enumerate(
               cast<AffineMapAttr>(attr).getValue().compose(acc).getResults()))
        if (auto expr = dyn_cast<AffineDimExpr>(result))
          if (expr.getPosition() == dim &&
              !isSameRange(extra.getDefiningOp<ViewOp>().getSubscripts()[d],
                           subscript))
            return false;
    return true;
  }

  /// In memory an i1 takes a byte, where vectors of them would move bits.
  bool readsBits() {
    auto isBits = [](ViewOp source) {
      return getElementTypeOrSelf(source.getSrc()).isInteger(1);
    };
    return isBits(view(0)) || isBits(view(1)) ||
           llvm::any_of(mainloop.getExtras(), [&](Value extra) {
             return isBits(extra.getDefiningOp<ViewOp>());
           });
  }

  /// The dimension of B that goes on by one from lane to lane along n, if one
  /// does and the others stay.
  static std::optional<unsigned> findLanes(AffineMap map, unsigned n) {
    AffineExpr lane = getAffineDimExpr(n, map.getContext());
    std::optional<unsigned> found;
    for (auto [d, result] : llvm::enumerate(map.getResults())) {
      if (!result.isFunctionOfDim(n))
        continue;
      AffineExpr rest = simplifyAffineExpr(result - lane, map.getNumDims(), 0);
      if (found || rest.isFunctionOfDim(n))
        return std::nullopt;
      found = d;
    }
    return found;
  }

  /// The elements of a vector, if a CPU can compute it by vectors, whatever
  /// dimension the lanes run along.
  OrRefusal<int64_t> lanesOfVector() {
    if (mainloop.getAtomic() || mainloop.getTf32())
      return refuse("atomic combination and tf32 are for GPUs");
    if (mainloop.getNumScales() > 0)
      return refuse("scales are for GPUs");
    if (!acc.isProjectedPermutation() || acc.getNumResults() == 0)
      return refuse("its accumulator has no dimension");
    if (readsBits())
      return refuse("an operand lies in memory as i1, a byte for each element");
    Region &product = mainloop.getContraction().getBody();
    int64_t bits =
        std::max({regionBits(product), regionBits(mainloop.getPrologue()),
                  regionBits(mainloop.getEpilogue())});
    if (llvm::any_of(llvm::ArrayRef<Region *>{&product, &mainloop.getPrologue(),
                                              &mainloop.getEpilogue()},
                     [](Region *region) { return !regionBits(*region); }) ||
        !laneBits(getElementTypeOrSelf(mainloop.getDest())))
      return refuse(
          "what it computes is not element-wise on floats or integers "
          "of 8, 16, 32 or 64 bits");
    for (unsigned dim = 0; dim < mainloop.getTile().size(); ++dim)
      if (findDim(acc, dim) && !isAligned(dim))
        return refuse("along dimension " + Twine(dim) +
                      " of its tile, an operand is read in other places than "
                      "the result is written");
    for (auto [extra, attr] :
         llvm::zip(mainloop.getExtras(), mainloop.getExtraMaps()))
      if (!cast<AffineMapAttr>(attr).getValue().isProjectedPermutation(
              /*allowZeroInResults=*/true))
        return refuse(
            "an operand of its first values or its epilogue is read by "
            "windows");
    return target.vectorBits / bits;
  }

  OrRefusal<LanePlan> chooseLanes(int64_t lanes) {
    unsigned rank = acc.getNumResults();
    if (auto found = vectorsAlong(rank - 1, lanes);
        found && isInPlace(*found, rank - 1))
      return *found;
    for (unsigned d = rank; d-- > 0;)
      if (auto found = vectorsAlong(d, lanes);
          found && canTranspose(*found, d) && isTransposeProfitable(*found))
        return *found;
    if (auto found = elementsOneByOne())
      return *found;
    return refuse("no dimension of its tile is in one piece in the destination "
                  "and in one operand, and missing in the other");
  }

  /// Lanes that a schedule has; a vector has `vector` of them.
  OrRefusal<LanePlan> takeLanes(int64_t n, int64_t lanes, int64_t vector) {
    std::optional<unsigned> d = findDim(acc, n);
    if (!d)
      return refuse("its n is ", n, ", no dimension of the result");
    if (lanes == 1) {
      if (auto found = elementsOneByOne(); found && found->n == n)
        return *found;
      return refuse("elements are computed one by one only along the result's "
                    "last dimension, and where ids stand for k and few rows or "
                    "columns meet");
    }
    if (lanes != vector)
      return refuse("its lanes have to be ", vector, ", those of a vector of ",
                    target.vectorBits, " bits");
    if (auto found = vectorsAlong(*d, lanes);
        found && (isInPlace(*found, *d) || canTranspose(*found, *d)))
      return *found;
    return refuse("lanes cannot run along dimension ", n, " of its tile");
  }

  /// Is the register block of a schedule a part of the tile, and are there
  /// registers for its sums?
  Refused checkBlock() {
    int64_t rows = plan.m ? mainloop.getTile()[*plan.m]
                          : (plan.wide.empty() ? 1 : plan.rows),
            vectors = mainloop.getTile()[plan.n] / plan.lanes;
    if (plan.rows > rows || plan.vectors > vectors)
      return refuse("its block of ", plan.rows, " rows and ", plan.vectors,
                    " vectors is larger than the tile's ", rows, " and ",
                    vectors);
    if (plan.dots && plan.dots->amx) {
      if (!fitsDotTiles(*plan.dots, plan.vectors))
        return refuse("its block of ", plan.dots->tiles, " x ", plan.vectors,
                      " sums takes more tile registers than there are");
    } else if (plan.rows * plan.vectors > target.vectorRegisters) {
      return refuse("its block of ", plan.rows, " rows and ", plan.vectors,
                    " vectors has more sums than the ", target.vectorRegisters,
                    " registers hold");
    }
    return std::nullopt;
  }

  /// If ids stand for k, and too few rows or columns meet for lanes, elements
  /// are multiplied one by one in their place: to copy one takes longer.
  /// Elements that ids leave out are left out of both operands.
  std::optional<LanePlan> elementsOneByOne() {
    AffineMap maps[2] = {mainloop.getMap(0), mainloop.getMap(1)};
    unsigned last = acc.getNumResults() - 1;
    std::optional<LanePlan> found = lanesAlong(last, /*lanes=*/1);
    if (!found || acc.getNumDims() != acc.getNumResults() + 1 ||
        isa<IdsType>(mainloop.getSubscripts()[last].getType()))
      return std::nullopt;
    int64_t extents[2] = {1, 1};
    for (unsigned dim = 0; dim < mainloop.getTile().size(); ++dim) {
      std::optional<unsigned> in[2] = {findDim(maps[0], dim),
                                       findDim(maps[1], dim)};
      if (!findDim(acc, dim)) {
        if (!in[0] || !in[1])
          return std::nullopt;
        Value k = view(0).getSubscripts()[*in[0]];
        if (!isa<IdsType>(k.getType()) || k != view(1).getSubscripts()[*in[1]])
          return std::nullopt;
        continue;
      }
      for (unsigned i : {0, 1})
        if (in[i] && !in[1 - i])
          extents[i] *= mainloop.getTile()[dim];
    }
    if (!maps[0].isProjectedPermutation() ||
        !maps[1].isProjectedPermutation() ||
        std::min(extents[0], extents[1]) >= kLeastToTranspose)
      return std::nullopt;
    return found;
  }

  /// Lanes along dimension `d` of C, if one operand has it and goes on by one
  /// from lane to lane, and the other one has it not.
  std::optional<LanePlan> lanesAlong(unsigned d, int64_t lanes) {
    unsigned n = acc.getDimPosition(d);
    bool isFirst = mainloop.getMap(0).isFunctionOfDim(n);
    unsigned b = isFirst ? 0 : 1;
    if (isFirst == mainloop.getMap(1).isFunctionOfDim(n))
      return std::nullopt;
    std::optional<unsigned> lane = findLanes(mainloop.getMap(b), n);
    if (!lane)
      return std::nullopt;
    return LanePlan{/*a=*/1 - b, b, n, *lane, lanes};
  }

  /// The same if they fill a vector, with what would be transposed.
  std::optional<LanePlan> vectorsAlong(unsigned d, int64_t lanes) {
    std::optional<LanePlan> found = lanesAlong(d, lanes);
    if (!found || mainloop.getTile()[found->n] < lanes)
      return std::nullopt;
    ViewOp source = view(found->b);
    found->transposeB = !isContiguous(source.getSrc().getType(),
                                      source.getSubscripts(), found->lane);
    found->transposeC = !isContiguous(mainloop.getDest().getType(),
                                      mainloop.getSubscripts(), d);
    return found;
  }

  /// Are the lanes neighbours wherever they are read and written?
  bool isInPlace(const LanePlan &lanes, unsigned d) {
    return !lanes.transposeB && !lanes.transposeC && areExtrasContiguous(d);
  }

  bool areExtrasContiguous(unsigned d) {
    return llvm::all_of(llvm::seq<unsigned>(mainloop.getExtras().size()),
                        [&](unsigned i) { return hasVectors(mainloop, i, d); });
  }

  /// Can lanes that are no neighbours be transposed?
  bool canTranspose(const LanePlan &lanes, unsigned d) {
    auto isIds = [](ValueRange subscripts, unsigned d) {
      return isa<IdsType>(subscripts[d].getType());
    };
    return mainloop.getMap(lanes.a).isProjectedPermutation() &&
           mainloop.getMap(lanes.b).isProjectedPermutation() &&
           !isIds(mainloop.getSubscripts(), d) &&
           !isIds(view(lanes.b).getSubscripts(), lanes.lane) &&
           (lanes.transposeC || areExtrasContiguous(d));
  }

  /// Elements one by one are for what is read and written a few times in a sum.
  bool isTransposeProfitable(const LanePlan &lanes) {
    AffineMap aMap = mainloop.getMap(lanes.a), bMap = mainloop.getMap(lanes.b);
    int64_t rows = 1, sums = 1;
    for (unsigned dim = 0; dim < mainloop.getTile().size(); ++dim) {
      int64_t extent = mainloop.getTile()[dim];
      if (!findDim(acc, dim))
        sums *= extent;
      else if (aMap.isFunctionOfDim(dim) && !bMap.isFunctionOfDim(dim))
        rows = std::max(rows, extent);
    }
    return rows >= kLeastToTranspose &&
           (!lanes.transposeC || sums >= kLeastToTranspose);
  }

  void classifyDims() {
    AffineMap aMap = mainloop.getMap(plan.a), bMap = mainloop.getMap(plan.b);
    int64_t best = 1;
    for (AffineExpr result : acc.getResults()) {
      unsigned dim = cast<AffineDimExpr>(result).getPosition();
      if (aMap.isFunctionOfDim(dim) && !bMap.isFunctionOfDim(dim) &&
          mainloop.getTile()[dim] > 1 && mainloop.getTile()[dim] >= best) {
        plan.m = dim;
        best = mainloop.getTile()[dim];
      }
    }
    for (AffineExpr result : acc.getResults()) {
      unsigned dim = cast<AffineDimExpr>(result).getPosition();
      if (dim != plan.n && dim != plan.m)
        plan.batchDims.push_back(dim);
    }
    for (unsigned dim = 0; dim < mainloop.getTile().size(); ++dim)
      if (!findDim(acc, dim))
        plan.k.push_back(dim);
    // The longest sum runs innermost.
    llvm::sort(plan.k, [&](unsigned x, unsigned y) {
      return std::pair(mainloop.getTile()[x], x) <
             std::pair(mainloop.getTile()[y], y);
    });
  }

  /// Does a product take more than to multiply and to add?
  bool hasTemporaries() {
    auto inside =
        mainloop.getContraction().getBody().front().without_terminator();
    return llvm::count_if(inside, [&](Operation &op) {
             return !op.hasTrait<OpTrait::ConstantLike>() &&
                    &op != getExtension(mainloop, plan.a) &&
                    &op != getExtension(mainloop, plan.b);
           }) > 2;
  }

  /// Dimensions of the accumulator that may be rows of the block though A lacks
  /// them, in its order: B has them, and tiles are as long as C. Only an A
  /// whose one row ids choose from gains by it: an id is read for more
  /// products.
  SmallVector<unsigned> wideDims() {
    AffineMap aMap = mainloop.getMap(plan.a), bMap = mainloop.getMap(plan.b);
    if (plan.m || plan.dots || plan.lanes == 1 || plan.transposeB ||
        plan.transposeC || plan.k.size() != 1 || hasWindows(aMap) ||
        hasWindows(bMap) || mainloop.getNumAccumulators() > 1)
      return {};
    std::optional<unsigned> k = findDim(aMap, plan.k.back());
    if (!k || !isa<IdsType>(view(plan.a).getSubscripts()[*k].getType()))
      return {};
    SmallVector<unsigned> dims;
    ArrayRef<int64_t> shape =
        cast<ShapedType>(mainloop.getDest().getType()).getShape();
    for (auto [d, result] : llvm::enumerate(acc.getResults())) {
      unsigned dim = cast<AffineDimExpr>(result).getPosition();
      if (dim != plan.n && !aMap.isFunctionOfDim(dim) && findDim(bMap, dim) &&
          mainloop.getTile()[dim] > 1 && mainloop.getTile()[dim] == shape[d] &&
          matchPattern(mainloop.getSubscripts()[d], m_Zero()))
        dims.push_back(dim);
    }
    return dims;
  }

  void takeWide(ArrayRef<unsigned> dims) {
    plan.wide.assign(dims.begin(), dims.end());
    llvm::erase_if(plan.batchDims, [&](unsigned dim) {
      return llvm::is_contained(plan.wide, dim);
    });
  }

  /// As many dimensions as there are registers for, then as many vectors.
  bool chooseWideBlock() {
    SmallVector<unsigned> dims = wideDims();
    int64_t most = target.vectorRegisters - kOperandRegisters, rows = 1;
    size_t taken = 0;
    while (taken < dims.size()) {
      int64_t extent = mainloop.getTile()[dims[dims.size() - taken - 1]];
      if (rows * extent > most)
        break;
      rows *= extent;
      ++taken;
    }
    if (!taken)
      return false;
    takeWide(ArrayRef(dims).take_back(taken));
    plan.rows = rows;
    plan.vectors = std::min<int64_t>(
        {most / rows, kMostVectors, mainloop.getTile()[plan.n] / plan.lanes});
    return true;
  }

  /// Sums of elements are as many as hide the latency of one.
  void chooseBlock() {
    bool wide = target.hasManyRegisters();
    bool inTiles = plan.dots && plan.dots->amx;
    int64_t registers = plan.lanes == 1 ? 8 : target.accumulators();
    int64_t fitting = mainloop.getTile()[plan.n] / plan.lanes;
    int64_t rows = plan.m ? mainloop.getTile()[*plan.m] : 1;
    // Three vectors of 8 or 4 by four rows: more sums than a product takes
    // time. Beside them and a row of B only an element of A has a register.
    bool inThrees = !wide && !inTiles && fitting % 3 == 0 && !hasTemporaries();
    plan.vectors =
        std::min<int64_t>(wide && !inTiles ? 4 : (inThrees ? 3 : 2), fitting);
    // So many sums hide the latency of one.
    if (!plan.m)
      plan.vectors = std::min<int64_t>(inThrees ? 6 : kMostVectors, fitting);
    // As many as leave no short block at the end.
    auto cost = [&](int64_t r) {
      return llvm::divideCeil(rows, r) * (r * plan.vectors + 1);
    };
    plan.rows = 1;
    for (int64_t r = 2; r <= std::min<int64_t>(rows, registers / plan.vectors);
         ++r)
      if (cost(r) <= cost(plan.rows))
        plan.rows = r;
  }

  /// If sums run over windows, too, the panel of B that a block reads is too
  /// long for the first cache: each of its vectors should meet many rows. Half
  /// cycles of a block are its products, its loads, and what comes from the
  /// second cache, at 24 bytes a cycle.
  void chooseTallBlock() {
    int64_t registers = target.vectorRegisters - 1,
            bytes = target.vectorBits / 8,
            fitting = mainloop.getTile()[plan.n] / plan.lanes,
            rows = plan.m ? mainloop.getTile()[*plan.m] : 1, best = 0;
    for (int64_t v = 1; v <= std::min<int64_t>(4, fitting); ++v)
      for (int64_t r = 1; r <= rows && r * v + v <= registers - 1; ++r) {
        int64_t blocks =
            llvm::divideCeil(rows, r) * llvm::divideCeil(fitting, v);
        int64_t cost = blocks * std::max({r * v, r + v, 2 * v * bytes / 24});
        if (best && cost > best)
          continue;
        best = cost;
        plan.rows = r;
        plan.vectors = v;
      }
  }

  void choosePacking() {
    plan.packA = needsPacking();
    plan.packB = hasWindows(mainloop.getMap(plan.b));
  }

  bool needsPacking() {
    if (plan.lanes == 1)
      return false;
    if (plan.dots || getExtension(mainloop, plan.a) ||
        hasWindows(mainloop.getMap(plan.a)))
      return true;
    // The elements of the only row are used once.
    if (plan.k.empty() || !plan.m)
      return false;
    // Rows that are a power of two apart would share few sets of a cache.
    for (Value subscript : view(plan.a).getSubscripts())
      if (isa<IdsType>(subscript.getType()))
        return true;
    std::optional<unsigned> d = findDim(mainloop.getMap(plan.a), plan.k.back());
    return d && !isContiguous(view(plan.a).getSrc().getType(),
                              view(plan.a).getSubscripts(), *d);
  }

  MainloopOp mainloop;
  const CpuTarget &target;
  AffineMap acc;
  MainloopPlan plan;
};

} // namespace

/// Plans by `plan` for each accumulator; all have to be computed in the same
/// way.
static OrRefusal<MainloopPlan>
planAll(MainloopOp mainloop, const CpuTarget &target,
        function_ref<OrRefusal<MainloopPlan>(Planner &)> plan) {
  Planner planner(mainloop, target, /*accumulator=*/0);
  OrRefusal<MainloopPlan> first = plan(planner);
  for (unsigned i = 1; first && i < mainloop.getNumAccumulators(); ++i) {
    Planner planner(mainloop, target, i);
    OrRefusal<MainloopPlan> found = plan(planner);
    if (!found)
      return found;
    MLIRContext *context = mainloop.getContext();
    bool alike = toAttribute(context, *first) == toAttribute(context, *found);
    for (unsigned operand : {0, 1})
      alike &= mainloop.getOperandView(operand, i).getType() ==
               mainloop.getOperandView(operand).getType();
    if (!alike)
      return refuse("the operands of accumulator ", i,
                    " lie in another way than those of the first one");
  }
  return first;
}

OrRefusal<MainloopPlan> cpu::planMainloop(MainloopOp mainloop,
                                          const CpuTarget &target) {
  return planAll(mainloop, target,
                 [](Planner &planner) { return planner.run(); });
}

Refused cpu::checkSchedule(MainloopOp mainloop, CpuTarget target) {
  auto schedule = mainloop.findSchedule<CpuScheduleAttr>();
  DotScheduleAttr dots = schedule.getDots();
  target.amx = dots && dots.getAmx() && dots.getAmx().getValue();
  if (target.amx && !getFrame(mainloop->getParentOfType<func::FuncOp>()))
    return refuse("the system has to be asked for tile registers, which needs "
                  "a function with a frame: run pit-abi-prepare first");
  OrRefusal<MainloopPlan> plan =
      planAll(mainloop, target,
              [&](Planner &planner) { return planner.take(schedule); });
  if (!plan)
    return plan.refusal();
  CpuScheduleAttr right = toAttribute(mainloop.getContext(), *plan);
  if (right != schedule)
    return refuse("with this n, and these lanes, rows and vectors, it has to "
                  "be ",
                  right);
  return std::nullopt;
}

Refused cpu::checkMainloop(MainloopOp mainloop, const CpuTarget &target) {
  return planMainloop(mainloop, target);
}
