//===- LinalgLowering.cpp - linalg ops by a block of threads --------------===//
//
// Outputs are shared out over the threads; a thread runs through the reduction
// of its outputs with the sums in registers. In a contraction it has a small
// box of outputs, so that what it loads serves several of them.
//
//===----------------------------------------------------------------------===//

#include "LinalgLowering.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

namespace {

/// Elements that a thread of the grid takes at once.
constexpr int64_t kVector = 8;

/// One op whose outputs are shared out over threads.
class OutputLowering {
public:
  OutputLowering(RewriterBase &builder, PointEmitter &emitter,
                 const Workers &workers)
      : builder(builder), emitter(emitter), loc(emitter.op.getLoc()),
        e(builder, loc), workers(workers),
        factors(emitter.op.getNumLoops(), 1) {}

  void run() {
    if (Value done = runVectors()) {
      // There are no other points, or only such.
      auto branch = scf::IfOp::create(builder, loc, done,
                                      /*withElseRegion=*/true);
      builder.setInsertionPointToStart(branch.elseBlock());
      runOutputs();
      builder.setInsertionPointAfter(branch);
      return;
    }
    runOutputs();
  }

private:
  /// Element-wise ops over the whole grid take neighbours along the last
  /// dimension at once, if rows are multiples of vectors and aligned: whether
  /// they are. Null if there are no vectors.
  Value runVectors() {
    if (!workers.isGrid() || !emitter.serial.empty() ||
        emitter.parallel.empty())
      return {};
    unsigned along = emitter.parallel.back();
    linalg::LinalgOp op = emitter.op;
    bool readsVectors =
        llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
          return op.getMatchingIndexingMap(input).isFunctionOfDim(along);
        });
    // If the body reads at places of its own, lanes had better be
    // neighbours.
    bool readsAnywhere = llvm::any_of(*op.getBlock(), [](Operation &inner) {
      return !inner.hasTrait<OpTrait::IsTerminator>() &&
             !isMemoryEffectFree(&inner);
    });
    if (!readsVectors || readsAnywhere)
      return {};
    Value aligned = emitter.haveVectors(along, kVector);
    if (!aligned)
      return {};
    Value extent =
        getValueOrCreateConstantIndexOp(builder, loc, emitter.extents[along]);
    Value perRow = e.div(extent, kVector);
    Value whole = e.equal(extent, e.mul(perRow, kVector));
    whole = e.logicalAnd(whole, aligned);
    SmallVector<OpFoldResult> boxes = emitter.extentsOf(emitter.parallel);
    boxes.back() = getAsOpFoldResult(perRow);
    Value total = getValueOrCreateConstantIndexOp(builder, loc,
                                                  volume(builder, loc, boxes));
    total = e.select(whole, total, e.index(0));
    workers.share(builder, loc, total, [&](Value number) {
      SmallVector<Value> box = delinearize(builder, loc, number, boxes);
      box.back() = e.mul(box.back(), kVector);
      points.assign(kVector, {SmallVector<Value>(factors.size()),
                              SmallVector<int64_t>(factors.size(), 0)});
      for (auto [i, point] : llvm::enumerate(points)) {
        for (auto [d, at] : llvm::zip_equal(emitter.parallel, box))
          point.ivs[d] = at;
        point.inBlock[along] = i;
        if (i > 0)
          point.ivs[along] = e.add(box.back(), i);
      }
      SmallVector<SmallVector<Value>> carried(
          points.size(), SmallVector<Value>(emitter.op.getNumDpsInits()));
      emitter.run(points, carried, along);
    });
    return whole;
  }

  void runOutputs() {
    chooseFactors();
    SmallVector<OpFoldResult> boxes;
    for (unsigned d : emitter.parallel) {
      std::optional<int64_t> extent = getConstantIntValue(emitter.extents[d]);
      boxes.push_back(extent ? builder.getIndexAttr(*extent / factors[d])
                             : emitter.extents[d]);
    }
    Value total = getValueOrCreateConstantIndexOp(builder, loc,
                                                  volume(builder, loc, boxes));
    workers.share(builder, loc, total, [&](Value number) {
      makePoints(delinearize(builder, loc, number, boxes));
      SmallVector<SmallVector<Value>> carried;
      for (const Point &point : points) {
        auto &values = carried.emplace_back(emitter.op.getNumDpsInits());
        for (auto [output, value] : llvm::enumerate(values))
          if (emitter.isCarried(output))
            value = emitter.loadOutput(point, output);
      }
      serialLoops(emitter.serial, carried);
      for (auto [point, values] : llvm::zip_equal(points, carried))
        for (auto [output, value] : llvm::enumerate(values))
          if (value)
            emitter.storeOutput(point, output, value);
    });
  }

  /// As many outputs a thread as keep all threads busy, along the two innermost
  /// parallel loops.
  void chooseFactors() {
    if (emitter.serial.empty() || workers.isGrid())
      return;
    int64_t outputs = 1;
    for (unsigned d : emitter.parallel) {
      std::optional<int64_t> extent = getConstantIntValue(emitter.extents[d]);
      if (!extent)
        return;
      outputs *= *extent;
    }
    constexpr int64_t maxFactor = 8, maxPoints = 32;
    int64_t each = std::min(outputs / workers.threads, maxPoints);
    SmallVector<unsigned> loops(llvm::reverse(emitter.parallel));
    if (loops.size() > 2)
      loops.resize(2);
    std::reverse(loops.begin(), loops.end());
    for (bool grew = true; grew;) {
      grew = false;
      for (unsigned d : loops) {
        int64_t extent = *getConstantIntValue(emitter.extents[d]);
        if (each < 2 || factors[d] == maxFactor || extent % (2 * factors[d]))
          continue;
        factors[d] *= 2;
        each /= 2;
        grew = true;
      }
    }
  }

  /// The points of one thread are as far apart as there are boxes, so that
  /// neighbours in a warp have neighbouring points.
  void makePoints(ArrayRef<Value> box) {
    points.assign(1, {SmallVector<Value>(factors.size()),
                      SmallVector<int64_t>(factors.size(), 0)});
    for (auto [d, start] : llvm::zip_equal(emitter.parallel, box)) {
      SmallVector<Point> next;
      for (const Point &point : points)
        for (int64_t i = 0; i < factors[d]; ++i) {
          Point &copy = next.emplace_back(point);
          copy.inBlock[d] = i;
          copy.ivs[d] = start;
          if (i == 0)
            continue;
          int64_t apart = *getConstantIntValue(emitter.extents[d]) / factors[d];
          copy.ivs[d] = e.add(start, i * apart);
        }
      points = std::move(next);
    }
  }

  void serialLoops(ArrayRef<unsigned> loops,
                   SmallVector<SmallVector<Value>> &carried) {
    if (loops.empty())
      return emitter.run(points, carried);
    SmallVector<Value> inits;
    for (ArrayRef<Value> values : carried)
      llvm::copy_if(values, std::back_inserter(inits),
                    [](Value value) { return static_cast<bool>(value); });
    Value upper = getValueOrCreateConstantIndexOp(builder, loc,
                                                  emitter.extents[loops[0]]);
    auto loop =
        scf::ForOp::create(builder, loc, e.index(0), upper, e.index(1), inits);
    auto replace = [&](ValueRange values) {
      auto next = values.begin();
      for (SmallVector<Value> &row : carried)
        for (Value &value : row)
          if (value)
            value = *next++;
    };
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      for (Point &point : points)
        point.ivs[loops[0]] = loop.getInductionVar();
      replace(loop.getRegionIterArgs());
      serialLoops(loops.drop_front(), carried);
      if (!inits.empty()) {
        SmallVector<Value> yielded;
        for (ArrayRef<Value> values : carried)
          llvm::copy_if(values, std::back_inserter(yielded),
                        [](Value value) { return static_cast<bool>(value); });
        scf::YieldOp::create(builder, loc, yielded);
      }
    }
    replace(loop.getResults());
  }

  RewriterBase &builder;
  PointEmitter &emitter;
  Location loc;
  Emitter e;
  const Workers &workers;
  SmallVector<int64_t> factors; ///< by loop: points of one thread
  SmallVector<Point> points;
};

} // namespace

LogicalResult cuda::lowerLinalg(RewriterBase &builder, linalg::LinalgOp op,
                                const Workers &workers, Staging staging,
                                TypedAttr start) {
  if (!op.hasPureBufferSemantics())
    return op.emitOpError("works on tensors: bufferize it first");
  if (!start && lowerFlat(builder, op, workers))
    return success();
  PointEmitter emitter(builder, op, start);
  if (!lowerLaneReduction(builder, emitter, workers, staging))
    OutputLowering(builder, emitter, workers).run();
  return success();
}
