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

#include "../Conversion/Common/Atomics.h"
#include "RingLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;

std::optional<RingNeeds> mlir::pit::getRingNeeds(RingOp ring,
                                                 int64_t capability) {
  std::optional<RingPlan> plan = planRing(ring, capability);
  if (!plan)
    return std::nullopt;
  // Scalar code with few accumulators leaves registers for a second block,
  // which works while the first one waits.
  int64_t accumulators = plan->perThreadM * plan->perThreadN;
  bool two = !plan->tensorCores && plan->threads <= 256 &&
             accumulators * plan->a.tile.elementBytes <= 128 &&
             plan->sharedBytes() <= 100 * 1024;
  return RingNeeds{plan->threads, plan->sharedBytes(), two ? 2 : 1};
}

namespace {

class RingExpander {
public:
  RingExpander(OpBuilder &builder, RingOp ring, const RingPlan &plan,
               int64_t capability, Value thread, Value shared, ChunkMap &chunks,
               const DenseMap<Value, IndexView> &indices)
      : e(builder, ring.getLoc()), ring(ring), plan(plan),
        capability(capability), thread(thread), shared(shared), chunks(chunks),
        indices(indices) {}

  void run() {
    countSteps();
    locateOperandRows();
    // The tiles of the first steps are on their way while accumulators start.
    for (int64_t s = 0; s < plan.stages - 1; ++s) {
      loadIfAny(e.i32(s), e.i32(s));
      NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
    }
    locateFragment();
    SmallVector<Value> accumulators = initial();
    accumulators = plan.tensorCores ? tensorCoreSteps(accumulators)
                                    : scalarSteps(accumulators);
    NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, 0);
    e.barrier();
    // Once more: kept over the steps, places would take the registers that
    // accumulators need.
    thread = e.opaque(thread);
    locateFragment();
    locateDest();
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
      loadStage(e, plan, operand, access(ring.getLoaded(i), mapping), rows[i],
                first, i ? e.add(to, plan.a.tile.bytes()) : to, thread);
    }
  }

  /// Rows of a tile that are gathered by ids of the loop around are the same in
  /// all steps: their ids are loaded once.
  void locateOperandRows() {
    for (unsigned i = 0; i < 2; ++i) {
      const RingOperand &operand = i ? plan.b : plan.a;
      ViewOp view = ring.getLoaded(i);
      if (operand.rowDim < 0 || !operand.kIsCol)
        continue;
      Value subscript = view.getSubscripts()[operand.rowDim];
      if (!isa<IdsType>(subscript.getType()) ||
          ring.getLoad().isAncestor(subscript.getParentRegion()))
        continue;
      TileDim row = tileDim(e, view.getSrc(), operand.rowDim, subscript,
                            operand.outer, chunks);
      rows[i] = locateRows(e, plan, operand, row, thread);
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

  Value nextStage(Value stage, int64_t by) {
    Value next = e.add(stage, by);
    Value past = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sge,
                                       next, e.i32(plan.stages));
    return e.select(past, e.sub(next, e.i32(plan.stages)), next);
  }

  /// Starts the copies of the step that is `plan.stages - 1` after step `s`.
  void loadAhead(Value s, Value stage) {
    loadIfAny(e.add(s, plan.stages - 1), nextStage(stage, plan.stages - 1));
    NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
  }

  /// Waits for the oldest stage that is under way.
  void waitForStage() {
    NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, plan.stages - 2);
    e.barrier();
  }

  /// Runs the loop over steps; `body` gets the step, its stage, and what is
  /// carried, and gives the latter's next values.
  SmallVector<Value>
  loop(ArrayRef<Value> initial,
       function_ref<SmallVector<Value>(Value, Value, ValueRange)> body) {
    Value zero = e.i32(0);
    SmallVector<Value> carried(initial);
    carried.push_back(zero);
    auto loop = scf::ForOp::create(e.b, e.loc, zero, total, e.i32(1), carried);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value stage = loop.getRegionIterArgs().back();
    SmallVector<Value> next = body(loop.getInductionVar(), stage,
                                   loop.getRegionIterArgs().drop_back());
    next.push_back(nextStage(stage, 1));
    scf::YieldOp::create(e.b, e.loc, next);
    return SmallVector<Value>(loop.getResults().drop_back());
  }

  SmallVector<Value> scalarSteps(ArrayRef<Value> initial) {
    return loop(initial, [&](Value s, Value stage, ValueRange carried) {
      waitForStage();
      loadAhead(s, stage);
      Value a = stageAddress(stage), b = e.add(a, plan.a.tile.bytes());
      return multiplyScalar(e, ring, plan, a, b, thread,
                            SmallVector<Value>(carried));
    });
  }

  /// Registers are loaded one block along k ahead, over the end of a stage, so
  /// that tensor cores need not wait for shared memory after each barrier.
  SmallVector<Value> tensorCoreSteps(ArrayRef<Value> initial) {
    size_t count = initial.size();
    auto load = [&](Value stage, int64_t k) {
      Value a = stageAddress(stage), b = e.add(a, plan.a.tile.bytes());
      return loadTensorCoreBlocks(e, plan, a, b, thread, k);
    };
    waitForStage();
    SmallVector<Value> carried(initial);
    llvm::append_range(carried, load(e.i32(0), 0));
    carried = loop(carried, [&](Value s, Value stage, ValueRange values) {
      SmallVector<Value> accumulators(values.take_front(count));
      SmallVector<Value> blocks(values.drop_front(count));
      int64_t last = plan.depth / (2 * plan.a.tile.chunkElements()) - 1;
      for (int64_t k = 0; k <= last; ++k) {
        if (k == 0)
          loadAhead(s, stage);
        if (k == last)
          waitForStage();
        SmallVector<Value> next =
            k == last ? load(nextStage(stage, 1), 0) : load(stage, k + 1);
        accumulators = multiplyTensorCores(e, plan, ring.getAccumulatorType(),
                                           blocks, accumulators);
        blocks = next;
      }
      llvm::append_range(accumulators, blocks);
      return accumulators;
    });
    carried.resize(count);
    return carried;
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

  /// A thread's rows and columns, and where the extras' elements are for them.
  void locateFragment() {
    fragment = plan.tensorCores ? tensorCoreFragment(e, plan, thread)
                                : scalarFragment(e, plan, thread);
    extras.clear();
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
  }

  void locateDest() {
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

  /// The value of an extra for accumulator (i, j); what does not exist is
  /// padded.
  Value readExtra(const Elements &elements, size_t i, size_t j) {
    auto load = [&]() -> Value {
      return LLVM::LoadOp::create(e.b, e.loc, elements.tile.element,
                                  address(elements, i, j),
                                  elementBytes(elements.tile.element));
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

  /// How many neighbouring columns are neighbours in memory, too, and are
  /// stored at once if they all exist and the first one's place allows.
  size_t storeWidth() {
    size_t width = plan.tensorCores ? 2
                   : plan.b.kIsCol  ? 1
                                    : plan.b.tile.chunkElements();
    APInt stride;
    bool contiguous = plan.nDim >= 0 && !dest.tile.dims[plan.nDim].ids &&
                      matchPattern(dest.tile.dims[plan.nDim].stride,
                                   m_ConstantInt(&stride)) &&
                      stride.isOne();
    int64_t bytes = elementBytes(dest.tile.element);
    while (width > 1 && width * bytes > kChunkBytes)
      width /= 2;
    if (std::optional<arith::AtomicRMWKind> kind = ring.getCombine())
      if (!ring.getAtomic() || *kind != arith::AtomicRMWKind::addf ||
          !dest.tile.element.isF32() || capability < 90)
        return 1;
    return contiguous ? width : 1;
  }

  /// Does every group of `width` columns start at a multiple of its size?
  Value alignedGroups(size_t width) {
    int64_t bytes = elementBytes(dest.tile.element);
    Value address = arith::IndexCastOp::create(e.b, e.loc, e.b.getIndexType(),
                                               dest.tile.start);
    for (auto [d, dim] : llvm::enumerate(dest.tile.dims)) {
      Value offset = static_cast<int>(d) == plan.nDim ? dim.start : dim.stride;
      address = arith::OrIOp::create(e.b, e.loc, address, e.mul(offset, bytes));
    }
    // The last dimension's stride is 1.
    return isZero(e.bitAnd(address, width * bytes - 1));
  }

  void storeGroup(ArrayRef<Value> values, size_t i, size_t j) {
    auto type = VectorType::get(values.size(), dest.tile.element);
    Value to = address(dest, i, j);
    int64_t bytes = values.size() * elementBytes(dest.tile.element);
    if (!ring.getCombine()) {
      Value vector = LLVM::UndefOp::create(e.b, e.loc, type);
      for (auto [n, value] : llvm::enumerate(values))
        vector = LLVM::InsertElementOp::create(
            e.b, e.loc, vector, convert(value, dest.tile.element), e.i32(n));
      LLVM::StoreOp::create(e.b, e.loc, vector, to, bytes);
      return;
    }
    // One step for each element, but one message for all of them; LLVM has no
    // op for that.
    std::string text =
        "red.global.add.v" + std::to_string(values.size()) + ".f32 [$0], {";
    std::string constraints = "l";
    SmallVector<Value> operands = {to};
    for (auto [n, value] : llvm::enumerate(values)) {
      text += (n ? ", $" : "$") + std::to_string(n + 1);
      constraints += ",f";
      operands.push_back(convert(value, dest.tile.element));
    }
    LLVM::InlineAsmOp::create(
        e.b, e.loc, LLVM::LLVMVoidType::get(e.b.getContext()), operands,
        text + "};", constraints + ",~{memory}", /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::TailCallKind::None,
        LLVM::AsmDialectAttr(), ArrayAttr());
  }

  void store(Value value, size_t i, size_t j) {
    Value to = address(dest, i, j);
    Type element = dest.tile.element;
    int64_t bytes = elementBytes(element);
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
    atomicCombine(e.b, e.loc, *kind, convert(value, element),
                  memrefAt(e.b, e.loc, generic, type, {}), {});
  }

  /// Does the destination have a place for accumulator (i, j)?
  Value isStored(size_t i, size_t j) {
    Value exist = exists(dest, i, j);
    if (!exist)
      exist = arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
    if (plan.mDim < 0)
      exist = e.both(exist, isZero(fragment.rows[i]));
    if (plan.nDim < 0)
      exist = e.both(exist, isZero(fragment.cols[j]));
    return exist;
  }

  void ifThenElse(Value condition, function_ref<void()> then,
                  function_ref<void()> otherwise) {
    auto branch = scf::IfOp::create(e.b, e.loc, condition,
                                    /*withElseRegion=*/bool(otherwise));
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    then();
    if (!otherwise)
      return;
    e.b.setInsertionPointToStart(branch.elseBlock());
    otherwise();
  }

  void finish(ArrayRef<Value> accumulators) {
    size_t columns = fragment.cols.size(), width = storeWidth();
    Value aligned = width > 1 ? alignedGroups(width) : Value();
    for (size_t i = 0; i < fragment.rows.size(); ++i)
      for (size_t first = 0; first < columns; first += width) {
        SmallVector<Value> values;
        for (size_t j = first; j < first + width; ++j) {
          SmallVector<Value> arguments = {accumulators[i * columns + j]};
          llvm::append_range(arguments,
                             extraElements(ring.getFinish(), i, j, 1));
          values.push_back(runRegion(ring.getFinish(), arguments));
        }
        auto storeEach = [&] {
          for (size_t j = first; j < first + width; ++j)
            ifThenElse(
                isStored(i, j), [&] { store(values[j - first], i, j); },
                nullptr);
        };
        if (width == 1) {
          storeEach();
          continue;
        }
        // If the last one of them exists, all do.
        Value all = e.both(aligned, isStored(i, first + width - 1));
        ifThenElse(all, [&] { storeGroup(values, i, first); }, storeEach);
      }
  }

  Value isZero(Value number) {
    Value zero = number.getType().isIndex() ? e.index(0) : e.i32(0);
    return e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::eq,
                                           number, zero);
  }

  Emitter e;
  RingOp ring;
  const RingPlan &plan;
  int64_t capability;
  Value thread, shared;
  ChunkMap &chunks;
  const DenseMap<Value, IndexView> &indices;
  SmallVector<Value> trips; ///< of the dense ranges, then chunks of ids
  Value total;              ///< stages to go through (i32)
  Value count, offset;      ///< of the group, if there is an index
  LocatedRows rows[2];      ///< of the operands, if steps share them
  Fragment fragment;
  SmallVector<Elements, 2> extras;
  Elements dest;
};

} // namespace

LogicalResult mlir::pit::lowerRing(OpBuilder &builder, RingOp ring,
                                   int64_t capability, Value thread,
                                   Value shared, ChunkMap chunks,
                                   const DenseMap<Value, IndexView> &indices) {
  std::optional<RingPlan> plan = planRing(ring, capability);
  if (!plan)
    return ring.emitOpError("has a tile that no schedule takes: one dimension "
                            "each for m, n and k, and no more accumulators "
                            "than 8 warps can hold");
  RingExpander(builder, ring, *plan, capability, thread, shared, chunks,
               indices)
      .run();
  return success();
}
