//===- Ring.cpp - Expansion of pit.ring -----------------------------------===//
//
// Stages are loaded plan.stages - 1 steps ahead:
//
//   for the first stages - 1 steps: load, commit
//   for each step s:
//     wait until step s is there; barrier
//     load step s + stages - 1 (over the stage of step s - 1), commit
//     multiply the stage of step s
//
//===----------------------------------------------------------------------===//

#include "Ring.h"

#include "RingLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::pit;

std::optional<RingNeeds> mlir::pit::getRingNeeds(RingOp ring) {
  std::optional<RingPlan> plan = planRing(ring);
  if (!plan)
    return std::nullopt;
  return RingNeeds{plan->threads, plan->sharedBytes()};
}

namespace {

class RingExpander {
public:
  RingExpander(OpBuilder &builder, RingOp ring, const RingPlan &plan,
               Value thread, Value shared, ChunkMap &chunks,
               const DenseMap<Value, IndexView> &indices)
      : e(builder, ring.getLoc()), ring(ring), plan(plan), thread(thread),
        shared(shared), chunks(chunks), indices(indices) {}

  void run() {
    countSteps();
    fragment = plan.tensorCores ? tensorCoreFragment(e, plan, thread)
                                : scalarFragment(e, plan, thread);
    locateElements();
    // The tiles of the first steps are on their way while accumulators start.
    for (int64_t s = 0; s < plan.stages - 1; ++s) {
      loadIfAny(e.i32(s), e.i32(s));
      NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
    }
    SmallVector<Value> accumulators = initial();
    accumulators = steps(accumulators);
    NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, 0);
    e.barrier();
    finish(accumulators);
  }

private:
  //===--- Steps ----------------------------------------------------------===//

  void countSteps() {
    total = e.index(plan.subSteps);
    for (auto [lower, upper, step] :
         llvm::zip(ring.getLower(), ring.getUpper(), ring.getSteps())) {
      Value span = e.max(e.sub(upper, lower), e.index(0));
      trips.push_back(e.div(e.add(span, step - 1), step));
      total = e.mul(total, trips.back());
    }
    if (ring.getIndex()) {
      std::tie(count, offset) =
          indices.at(ring.getIndex())
              .countAndOffset(e.b, e.loc, ring.getGroup());
      trips.push_back(
          e.div(e.add(count, ring.getChunk() - 1), ring.getChunk()));
      total = e.mul(total, trips.back());
    }
    total = e.toI32(total);
  }

  /// Maps the load region's arguments to what they are in step `s` (i32).
  IRMapping stepArguments(Value s) {
    IRMapping mapping;
    Value number = e.toIndex(e.div(s, plan.subSteps));
    SmallVector<Value> ivs(trips.size());
    for (size_t i = trips.size(); i-- > 0;) {
      if (i == 0) {
        ivs[i] = number;
        continue;
      }
      Value quotient = arith::DivUIOp::create(e.b, e.loc, number, trips[i]);
      ivs[i] = e.sub(number, e.mul(quotient, trips[i]));
      number = quotient;
    }
    Block &load = ring.getLoad().front();
    size_t dense = ring.getSteps().size();
    for (size_t i = 0; i < dense; ++i)
      mapping.map(load.getArgument(i),
                  e.add(ring.getLower()[i], e.mul(ivs[i], ring.getSteps()[i])));
    if (ring.getIndex()) {
      Value first = e.mul(ivs[dense], ring.getChunk());
      Value start = e.add(offset, first);
      Value live = e.min(e.sub(count, first), e.index(ring.getChunk()));
      // Ids are known by the values that stand for them.
      chunks[load.getArgument(dense)] = {indices.at(ring.getIndex()).ids, start,
                                         live};
      chunks[load.getArgument(dense + 1)] = {Value(), start, live};
    }
    return mapping;
  }

  Value stageAddress(Value stage) {
    return e.add(shared, e.mul(stage, plan.stageBytes()));
  }

  /// Loads step `s` into stage `stage`, if there is such a step.
  void loadIfAny(Value s, Value stage) {
    auto branch = scf::IfOp::create(e.b, e.loc, e.less(s, total),
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    IRMapping mapping = stepArguments(s);
    for (Operation &op : ring.getLoad().front().without_terminator())
      if (!isa<ViewOp>(op))
        e.b.clone(op, mapping);
    Value first = e.mul(e.rem(s, plan.subSteps), plan.depth);
    Value to = stageAddress(stage);
    for (unsigned i = 0; i < 2; ++i) {
      const RingOperand &operand = i ? plan.b : plan.a;
      loadStage(e, plan, operand, access(ring.getLoaded(i), mapping), first,
                i ? e.add(to, plan.a.tile.bytes()) : to, thread);
    }
  }

  TileAccess access(ViewOp view, IRMapping &mapping) {
    SmallVector<Value> subscripts =
        llvm::map_to_vector(view.getSubscripts(), [&](Value v) {
          return mapping.lookupOrDefault(v);
        });
    return accessTile(e, mapping.lookupOrDefault(view.getSrc()), subscripts,
                      cast<VectorType>(view.getResult().getType()).getShape(),
                      view.getPadAttr(), chunks);
  }

  SmallVector<Value> steps(ArrayRef<Value> initial) {
    Value zero = e.i32(0);
    SmallVector<Value> carried(initial);
    carried.push_back(zero); // stage of this step
    auto loop = scf::ForOp::create(e.b, e.loc, zero, total, e.i32(1), carried);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value s = loop.getInductionVar();
    Value stage = loop.getRegionIterArgs().back();
    NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, plan.stages - 2);
    e.barrier();
    auto wrap = [&](Value next) {
      Value past = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sge,
                                         next, e.i32(plan.stages));
      return e.select(past, e.sub(next, e.i32(plan.stages)), next);
    };
    loadIfAny(e.add(s, plan.stages - 1), wrap(e.add(stage, plan.stages - 1)));
    NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
    Value a = stageAddress(stage), b = e.add(a, plan.a.tile.bytes());
    SmallVector<Value> accumulators(loop.getRegionIterArgs().drop_back());
    accumulators =
        plan.tensorCores
            ? multiplyTensorCores(e, plan, ring.getAccumulatorType(), a, b,
                                  thread, accumulators)
            : multiplyScalar(e, ring, plan, a, b, thread, accumulators);
    accumulators.push_back(wrap(e.add(stage, 1)));
    scf::YieldOp::create(e.b, e.loc, accumulators);
    return SmallVector<Value>(loop.getResults().drop_back());
  }

  //===--- Elements of the accumulator's tile ----------------------------===//

  /// Where an element of a tensor is, for each of a thread's rows or columns.
  struct Places {
    SmallVector<Value> offsets; ///< elements
    SmallVector<Value> exist;   ///< null: always
  };
  /// A tensor whose elements go with those of the accumulator's tile.
  struct Elements {
    TileAccess tile;
    Places rows, cols;
  };

  /// Places along one dimension of the accumulator's tile.
  void along(const TileDim &dim, ArrayRef<Value> positions, int64_t extent,
             Places &places) {
    for (auto [i, position] : llvm::enumerate(positions)) {
      auto [at, exists] = locate(e, dim, e.toIndex(position));
      addPlace(places, i, positions.size(), e.mul(at, dim.stride), exists);
    }
  }
  void addPlace(Places &places, size_t i, size_t count, Value offset,
                Value exists) {
    places.offsets.resize(count);
    places.exist.resize(count);
    places.offsets[i] =
        places.offsets[i] ? e.add(places.offsets[i], offset) : offset;
    places.exist[i] =
        places.exist[i] ? e.both(places.exist[i], exists) : exists;
  }

  /// `dims[d]`: the accumulator's dimension that runs along dimension d.
  Elements locateTile(TileAccess tile, ArrayRef<int> dims) {
    Elements elements;
    for (auto [d, dim] : llvm::enumerate(tile.dims)) {
      if (dims[d] == plan.mDim && plan.mDim >= 0) {
        along(dim, fragment.rows, plan.m, elements.rows);
      } else if (dims[d] == plan.nDim && plan.nDim >= 0) {
        along(dim, fragment.cols, plan.n, elements.cols);
      } else {
        auto [at, exists] = locate(e, dim, e.index(0));
        Value offset = e.mul(at, dim.stride);
        for (size_t i = 0; i < fragment.rows.size(); ++i)
          addPlace(elements.rows, i, fragment.rows.size(), offset, exists);
      }
    }
    elements.tile = tile;
    return elements;
  }

  void locateElements() {
    for (auto [extra, map] :
         llvm::zip(ring.getExtras(),
                   ring.getExtraMaps().getAsValueRange<AffineMapAttr>())) {
      SmallVector<int> dims;
      for (AffineExpr result : map.getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(result);
        dims.push_back(dim ? dim.getPosition() : -1);
      }
      IRMapping none;
      extras.push_back(
          locateTile(access(extra.getDefiningOp<ViewOp>(), none), dims));
    }
    SmallVector<int64_t> shape = ring.getAccumulatorShape();
    TileAccess tile = accessTile(e, ring.getDest(), ring.getSubscripts(), shape,
                                 TypedAttr(), chunks);
    SmallVector<int> dims;
    for (size_t d = 0; d < shape.size(); ++d)
      dims.push_back(d);
    dest = locateTile(tile, dims);
  }

  Value address(const Elements &elements, size_t i, size_t j) {
    Value offset;
    if (!elements.rows.offsets.empty())
      offset = elements.rows.offsets[i];
    if (!elements.cols.offsets.empty())
      offset = offset ? e.add(offset, elements.cols.offsets[j])
                      : elements.cols.offsets[j];
    if (!offset)
      offset = e.index(0);
    Value at = arith::IndexCastOp::create(e.b, e.loc, e.b.getI64Type(), offset);
    return LLVM::GEPOp::create(e.b, e.loc, elements.tile.base.getType(),
                               elements.tile.element, elements.tile.base,
                               ArrayRef<LLVM::GEPArg>{at});
  }

  Value exists(const Elements &elements, size_t i, size_t j) {
    Value exist;
    if (!elements.rows.exist.empty())
      exist = elements.rows.exist[i];
    if (!elements.cols.exist.empty())
      exist = exist ? e.both(exist, elements.cols.exist[j])
                    : elements.cols.exist[j];
    return exist;
  }

  int64_t bytesOf(Type type) {
    return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  }

  /// The value of an extra for accumulator (i, j); what does not exist is
  /// padded.
  Value readExtra(const Elements &elements, size_t i, size_t j) {
    auto load = [&]() -> Value {
      return LLVM::LoadOp::create(e.b, e.loc, elements.tile.element,
                                  address(elements, i, j),
                                  bytesOf(elements.tile.element));
    };
    Value exist = exists(elements, i, j);
    if (!exist)
      return load();
    auto branch = scf::IfOp::create(e.b, e.loc, elements.tile.element, exist,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(e.b, e.loc, load());
    e.b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(e.b, e.loc, e.constant(elements.tile.pad));
    return branch.getResult(0);
  }

  Value runRegion(Region &region, ArrayRef<Value> arguments) {
    IRMapping mapping;
    mapping.map(region.front().getArguments(), arguments);
    for (Operation &op : region.front().without_terminator())
      e.b.clone(op, mapping);
    return mapping.lookupOrDefault(
        region.front().getTerminator()->getOperand(0));
  }

  /// The elements of the extras that a region uses.
  SmallVector<Value> extraElements(Region &region, size_t i, size_t j,
                                   unsigned firstArgument) {
    SmallVector<Value> values;
    for (auto [n, extra] : llvm::enumerate(extras)) {
      BlockArgument arg = region.front().getArgument(firstArgument + n);
      values.push_back(arg.use_empty() ? e.constant(extra.tile.pad)
                                       : readExtra(extra, i, j));
    }
    return values;
  }

  SmallVector<Value> initial() {
    SmallVector<Value> accumulators;
    for (size_t i = 0; i < fragment.rows.size(); ++i)
      for (size_t j = 0; j < fragment.cols.size(); ++j)
        accumulators.push_back(
            runRegion(ring.getInit(), extraElements(ring.getInit(), i, j, 0)));
    return accumulators;
  }

  Value convert(Value value, Type to) {
    Type from = value.getType();
    if (from == to)
      return value;
    bool wider = from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
    if (isa<FloatType>(to)) {
      if (wider)
        return arith::ExtFOp::create(e.b, e.loc, to, value);
      return arith::TruncFOp::create(e.b, e.loc, to, value);
    }
    if (wider)
      return arith::ExtSIOp::create(e.b, e.loc, to, value);
    return arith::TruncIOp::create(e.b, e.loc, to, value);
  }

  void store(Value value, size_t i, size_t j) {
    Value to = address(dest, i, j);
    Type element = dest.tile.element;
    int64_t bytes = bytesOf(element);
    std::optional<arith::AtomicRMWKind> kind = ring.getCombine();
    if (!kind) {
      LLVM::StoreOp::create(e.b, e.loc, convert(value, element), to, bytes);
      return;
    }
    if (!ring.getAtomic()) {
      Value old = LLVM::LoadOp::create(e.b, e.loc, element, to, bytes);
      Value sum = arith::getReductionOp(*kind, e.b, e.loc,
                                        convert(old, value.getType()), value);
      LLVM::StoreOp::create(e.b, e.loc, convert(sum, element), to, bytes);
      return;
    }
    // One element, as a memref, for the op that knows how to do this.
    auto type = MemRefType::get({}, element);
    Value generic = LLVM::AddrSpaceCastOp::create(
        e.b, e.loc, LLVM::LLVMPointerType::get(e.b.getContext()), to);
    auto descriptor = LLVM::LLVMStructType::getLiteral(
        e.b.getContext(),
        {generic.getType(), generic.getType(), e.b.getI64Type()});
    Value whole = LLVM::UndefOp::create(e.b, e.loc, descriptor);
    for (int64_t f : {0, 1})
      whole = LLVM::InsertValueOp::create(e.b, e.loc, whole, generic, f);
    Value zero =
        LLVM::ConstantOp::create(e.b, e.loc, e.b.getI64Type(), int64_t(0));
    whole = LLVM::InsertValueOp::create(e.b, e.loc, whole, zero, 2);
    Value memref = UnrealizedConversionCastOp::create(e.b, e.loc, type, whole)
                       .getResult(0);
    memref::AtomicRMWOp::create(e.b, e.loc, *kind, convert(value, element),
                                memref, ValueRange());
  }

  void finish(ArrayRef<Value> accumulators) {
    for (size_t i = 0; i < fragment.rows.size(); ++i)
      for (size_t j = 0; j < fragment.cols.size(); ++j) {
        Value accumulator = accumulators[i * fragment.cols.size() + j];
        Value exist = exists(dest, i, j);
        // What is beyond the tile is no element of anything.
        if (!exist)
          exist = arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
        if (plan.mDim < 0)
          exist = e.both(exist, isFirst(fragment.rows[i]));
        if (plan.nDim < 0)
          exist = e.both(exist, isFirst(fragment.cols[j]));
        auto branch = scf::IfOp::create(e.b, e.loc, exist,
                                        /*withElseRegion=*/false);
        OpBuilder::InsertionGuard guard(e.b);
        e.b.setInsertionPointToStart(branch.thenBlock());
        SmallVector<Value> arguments = {accumulator};
        llvm::append_range(arguments, extraElements(ring.getFinish(), i, j, 1));
        store(runRegion(ring.getFinish(), arguments), i, j);
      }
  }

  Value isFirst(Value position) {
    return e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::eq,
                                           position, e.i32(0));
  }

  Emitter e;
  RingOp ring;
  const RingPlan &plan;
  Value thread, shared;
  ChunkMap &chunks;
  const DenseMap<Value, IndexView> &indices;
  SmallVector<Value> trips; ///< of the dense ranges, then chunks of ids
  Value total;              ///< stages to go through (i32)
  Value count, offset;      ///< of the group, if there is an index
  Fragment fragment;
  SmallVector<Elements, 2> extras;
  Elements dest;
};

} // namespace

LogicalResult mlir::pit::lowerRing(OpBuilder &builder, RingOp ring,
                                   Value thread, Value shared, ChunkMap chunks,
                                   const DenseMap<Value, IndexView> &indices) {
  std::optional<RingPlan> plan = planRing(ring);
  if (!plan)
    return ring.emitOpError("has a tile that no schedule takes: one dimension "
                            "each for m, n and k, and no more accumulators "
                            "than 8 warps can hold");
  RingExpander(builder, ring, *plan, thread, shared, chunks, indices).run();
  return success();
}
