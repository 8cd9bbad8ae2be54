//===- LaneReduction.cpp - One reduction by several threads ---------------===//
//
// If there are fewer outputs than threads, or if a reduction runs along
// contiguous memory, the lanes of a group share out one output's reduction:
// each starts from the combiner's identity, and their results are combined by
// shuffles and, in groups of a whole block, through shared memory. The lane
// that has an element stores what else the op gives for it.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "LinalgLowering.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Can values of this type go through a shuffle?
static bool isShuffled(Type type) {
  return isa<IndexType>(type) ||
         (type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64);
}

static Value shuffleWord(Emitter &e, Value word, int64_t apart) {
  return gpu::ShuffleOp::create(e.b, e.loc, word, e.i32(apart), e.i32(kWarp),
                                gpu::ShuffleMode::XOR)
      .getShuffleResult();
}

Value cuda::shuffleLanes(OpBuilder &b, Location loc, Value value,
                         int64_t apart) {
  Emitter e(b, loc);
  auto shuffle = [&](Value part) { return shuffleLanes(b, loc, part, apart); };
  Type type = value.getType(), i32 = b.getI32Type(), i64 = b.getI64Type();
  if (isa<IndexType>(type)) {
    value = arith::IndexCastOp::create(b, loc, i64, value);
    return arith::IndexCastOp::create(b, loc, type, shuffle(value));
  }
  int64_t bits = type.getIntOrFloatBitWidth();
  Type word = b.getIntegerType(bits);
  if (isa<FloatType>(type)) {
    value = arith::BitcastOp::create(b, loc, word, value);
    return arith::BitcastOp::create(b, loc, type, shuffle(value));
  }
  if (bits == 32)
    return shuffleWord(e, value, apart);
  if (bits < 64) {
    value = arith::ExtUIOp::create(b, loc, bits < 32 ? i32 : i64, value);
    return arith::TruncIOp::create(b, loc, word, shuffle(value));
  }
  Value half = e.constant(b.getI64IntegerAttr(32));
  Value high = arith::ShRUIOp::create(b, loc, value, half);
  auto move = [&](Value part) -> Value {
    part = shuffleWord(e, arith::TruncIOp::create(b, loc, i32, part), apart);
    return arith::ExtUIOp::create(b, loc, i64, part);
  };
  Value low = move(value);
  return e.bitOr(low, arith::ShLIOp::create(b, loc, move(high), half));
}

/// Elements that a lane reads at once.
static constexpr int64_t kAtOnce = 8;

namespace {
class LaneReduction {
public:
  LaneReduction(RewriterBase &builder, PointEmitter &emitter,
                const Workers &workers, Staging staging)
      : builder(builder), emitter(emitter), loc(emitter.op.getLoc()),
        e(builder, loc), workers(workers), staging(staging) {}

  bool run() {
    if (emitter.serial.empty() || !matchCombiners())
      return false;
    if (!workers.isGrid()) {
      int64_t lanes = lanesInBlock();
      if (lanes < 2)
        return false;
      emit(lanes);
      return true;
    }
    if (!runsAlongMemory())
      return false;
    // A warp each or less, unless that leaves many of the grid's warps without
    // work.
    Value warps = e.mul(workers.blocks, workers.threads / kWarp);
    Value isFew = e.inRange(size(emitter.extentsOf(emitter.parallel)), warps);
    e.ifThen(
        isFew, [&] { emit(workers.threads); }, [&] { emit(lanesInGrid()); });
    return true;
  }

private:
  Value size(ArrayRef<OpFoldResult> extents) {
    return getValueOrCreateConstantIndexOp(builder, loc,
                                           volume(builder, loc, extents));
  }

  /// Is an output computed once for each point, whatever is there before?
  bool isOfPoints(unsigned output) {
    OpOperand *init = emitter.op.getDpsInitOperand(output);
    return emitter.op.getMatchingIndexingMap(init).isPermutation() &&
           !emitter.op.payloadUsesValueFromOperand(init);
  }

  bool matchCombiners() {
    for (auto [output, combiner] : llvm::enumerate(emitter.combiners)) {
      if (isOfPoints(output))
        continue;
      if (!combiner || !emitter.isCarried(output))
        return false;
      reduced.push_back(output);
      Type type = emitter.op.getDpsInits()[output].getType();
      type = cast<MemRefType>(type).getElementType();
      TypedAttr identity = identityOf(combiner->ops.front(), type);
      if (!identity || !isShuffled(type))
        return false;
      identities.push_back(identity);
    }
    return !reduced.empty();
  }

  /// How many lanes of a warp one output gets so that the block has work.
  int64_t lanesInBlock() {
    int64_t outputs = 1, inputs = 1;
    for (auto [d, extent] : llvm::enumerate(emitter.extents)) {
      std::optional<int64_t> value = getConstantIntValue(extent);
      if (!value || *value == 0)
        return 1;
      (llvm::is_contained(emitter.parallel, d) ? outputs : inputs) *= *value;
    }
    int64_t lanes = std::min({kWarp, workers.threads / outputs, inputs / 2});
    return lanes < 2 ? 1 : llvm::bit_floor(static_cast<uint64_t>(lanes));
  }

  /// How many lanes of a warp one output gets of a grid: not more than have a
  /// vector of a short row.
  int64_t lanesInGrid() {
    std::optional<int64_t> row =
        getConstantIntValue(emitter.extents[emitter.serial.back()]);
    if (emitter.serial.size() != 1 || !row)
      return kWarp;
    int64_t vectors = std::clamp<int64_t>(*row / kAtOnce, 1, kWarp);
    return llvm::bit_floor(static_cast<uint64_t>(vectors));
  }

  /// Do the largest inputs lie in memory along the reduction?
  bool runsAlongMemory() {
    int64_t rank = 1;
    for (OpOperand *input : emitter.op.getDpsInputOperands())
      rank = std::max(rank, emitter.op.getRank(input));
    bool any = false;
    for (OpOperand *input : emitter.op.getDpsInputOperands()) {
      if (emitter.op.getRank(input) < rank)
        continue;
      AffineMap map = emitter.op.getMatchingIndexingMap(input);
      AffineExpr inner = map.getResults().back();
      auto moves = [&](unsigned d) { return inner.isFunctionOfDim(d); };
      if (llvm::any_of(emitter.parallel, moves) ||
          !llvm::any_of(emitter.serial, moves))
        return false;
      any = true;
    }
    return any;
  }

  /// Gives each output to a group of `lanes` threads.
  void emit(int64_t lanes) {
    bool isBlock = lanes > kWarp;
    Value width = e.index(lanes), lane = e.rem(workers.thread, lanes);
    Value group = e.div(workers.id(builder, loc), lanes);
    Value groups = e.div(workers.count(builder, loc), lanes);
    SmallVector<OpFoldResult> outputs = emitter.extentsOf(emitter.parallel);
    Value total = size(outputs);
    // All threads of a block go round equally often, for shuffles and barriers.
    e.forEach(e.index(0), total, groups, [&](Value first) {
      Value number = e.add(first, group);
      Value exists = e.inRange(number, total);
      Point point{SmallVector<Value>(emitter.extents.size()),
                  SmallVector<int64_t>(emitter.extents.size(), 0)};
      for (auto [d, at] : llvm::zip_equal(
               emitter.parallel, delinearize(builder, loc, number, outputs)))
        point.ivs[d] = at;

      SmallVector<Value> partial = reduceLane(point, lane, width, exists);
      for (int64_t apart = std::min(lanes, kWarp) / 2; apart; apart /= 2)
        for (auto [i, value] : llvm::enumerate(partial))
          value = combine(i, value, shuffleLanes(builder, loc, value, apart));

      Value writes = e.logicalAnd(e.equal(lane, e.index(0)), exists);
      SmallVector<Value> staged;
      if (isBlock)
        staged = stage(partial);
      e.ifThen(writes, [&] {
        for (auto [i, value] : llvm::enumerate(partial)) {
          for (int64_t warp = 1; isBlock && warp < lanes / kWarp; ++warp)
            value = combine(i, value, e.loadAt(staged[i], e.index(warp)));
          if (!emitter.start || emitter.start != identities[i])
            value = combine(i, emitter.loadOutput(point, reduced[i]), value);
          emitter.storeOutput(point, reduced[i], value);
        }
      });
      if (isBlock) // the next round stages, too
        gpu::BarrierOp::create(builder, loc);
    });
  }

  /// One lane's contribution to the output at `point`. Over memory it reads
  /// several elements at once, each with a sum of its own, so that enough is on
  /// its way.
  SmallVector<Value> reduceLane(Point point, Value lane, Value width,
                                Value exists) {
    SmallVector<OpFoldResult> extents = emitter.extentsOf(emitter.serial);
    Value upper = e.select(exists, size(extents), e.index(0));
    SmallVector<Value> values;
    for (TypedAttr identity : identities)
      values.push_back(e.constant(identity));
    Value one = e.index(1);
    if (!workers.isGrid())
      return reducePoints(point, {lane, upper, width, one, 1}, values);
    // Whole rounds of all lanes first.
    Value round = e.mul(width, kAtOnce);
    Value whole =
        e.mul(arith::DivUIOp::create(builder, loc, upper, round), round);
    auto apart = [&] {
      return reducePoints(point, {lane, whole, width, width, kAtOnce}, values);
    };
    auto together = [&] {
      return reducePoints(
          point, {e.mul(lane, kAtOnce), whole, width, one, kAtOnce}, values,
          /*isVector=*/true);
    };
    Value aligned;
    if (emitter.serial.size() == 1)
      aligned = emitter.haveVectors(emitter.serial.front(), kAtOnce);
    values = aligned ? e.choose(aligned, together, apart) : apart();
    return reducePoints(point, {e.add(whole, lane), upper, width, one, 1},
                        values);
  }

  /// Points that a lane goes through: `count` at once that are `apart`, from
  /// `begin` on in steps of `width` times that.
  struct Round {
    Value begin, upper, width, apart;
    int64_t count;
  };

  /// Reduces these points, to which `inits` are added. `isVector`: those at
  /// once are loaded and stored as vectors.
  SmallVector<Value> reducePoints(const Point &point, const Round &round,
                                  ArrayRef<Value> inits,
                                  bool isVector = false) {
    auto [begin, upper, width, apart, count] = round;
    SmallVector<Value> all(inits);
    for (int64_t i = 1; i < count; ++i)
      for (TypedAttr identity : identities)
        all.push_back(e.constant(identity));
    size_t outputs = inits.size();
    auto of = [&](ValueRange values, int64_t i) {
      return llvm::to_vector_of<Value>(values.slice(i * outputs, outputs));
    };
    auto reduce = [&, apart = apart, count = count](Value at,
                                                    ValueRange carriedOn) {
      SmallVector<OpFoldResult> extents = emitter.extentsOf(emitter.serial);
      SmallVector<Point> points(count, point);
      SmallVector<SmallVector<Value>> carried;
      for (auto [i, each] : llvm::enumerate(points)) {
        if (i > 0)
          at = e.add(at, apart);
        for (auto [d, iv] : llvm::zip_equal(
                 emitter.serial, delinearize(builder, loc, at, extents))) {
          each.ivs[d] = iv;
          each.inBlock[d] = i;
        }
        // Null: stored for each point.
        auto &values = carried.emplace_back(emitter.op.getNumDpsInits());
        for (auto [output, value] : llvm::zip_equal(reduced, of(carriedOn, i)))
          values[output] = value;
      }
      std::optional<unsigned> along;
      if (isVector)
        along = emitter.serial.front();
      emitter.run(points, carried, along);
      SmallVector<Value> yielded;
      for (const SmallVector<Value> &values : carried)
        for (unsigned output : reduced)
          yielded.push_back(values[output]);
      return yielded;
    };
    scf::ForOp loop = e.loop(begin, upper, e.mul(width, count), all, reduce);
    SmallVector<Value> results = of(loop.getResults(), 0);
    for (int64_t i = 1; i < count; ++i)
      for (auto [n, value] : llvm::enumerate(of(loop.getResults(), i)))
        results[n] = combine(n, results[n], value);
    return results;
  }

  /// Leaves each warp's result where the first thread of the block finds it.
  SmallVector<Value> stage(ArrayRef<Value> partial) {
    Value warp = e.div(workers.thread, kWarp);
    Value isFirst = e.equal(e.rem(workers.thread, kWarp), e.index(0));
    SmallVector<Value> staged;
    int64_t warps = workers.threads / kWarp;
    for (auto [i, value] : llvm::enumerate(partial))
      staged.push_back(
          staging(builder, loc, i, MemRefType::get(warps, value.getType())));
    e.ifThen(isFirst, [&] {
      for (auto [memref, value] : llvm::zip_equal(staged, partial))
        e.storeAt(value, memref, warp);
    });
    gpu::BarrierOp::create(builder, loc);
    return staged;
  }

  /// Combines two values of reduced output number `i`.
  Value combine(unsigned i, Value a, Value b) {
    Operation *combiner = emitter.combiners[reduced[i]]->ops.front();
    Operation *clone = builder.clone(*combiner);
    clone->setOperands({a, b});
    return clone->getResult(0);
  }

  RewriterBase &builder;
  PointEmitter &emitter;
  Location loc;
  Emitter e;
  const Workers &workers;
  Staging staging;
  SmallVector<unsigned> reduced;     ///< outputs that lanes combine
  SmallVector<TypedAttr> identities; ///< of these
};
} // namespace

bool cuda::lowerLaneReduction(RewriterBase &builder, PointEmitter &emitter,
                              const Workers &workers, Staging staging) {
  return LaneReduction(builder, emitter, workers, staging).run();
}
