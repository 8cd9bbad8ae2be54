//===- HopperMultiply.cpp - A consumer of a ring of wgmma -----------------===//
//
// For each step: wait until its stage is full, start its wgmmas, wait for those
// of the step before and hand back that stage. Then the results, 64 columns at
// a time: turned around in shared memory (stmatrix), so that 16 bytes at once
// go to each row, where the result's elements and strides allow.
//
//===----------------------------------------------------------------------===//

#include "HopperLowering.h"
#include "HopperPartials.h"
#include "Ring.h"
#include "RingEpilogue.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;

/// Columns of results that are stored together, and rows of a warp.
static constexpr int64_t kStoreColumns = 64;
static constexpr int64_t kWarpRows = 16;

namespace {

class Consumer {
public:
  Consumer(Emitter &e, RingOp ring, const HopperPlan &plan,
           const HopperThread &self, Value done, ChunkMap &chunks,
           const DenseMap<Value, IndexView> &indices)
      : e(e), ring(ring), plan(plan), self(self), done(done), chunks(chunks),
        steps(e, ring, plan.subSteps, chunks, indices),
        stages(e, plan, self.shared) {
    std::tie(begin, end) = stepsOfPart(e, self.parts, steps.total());
  }

  Value run() {
    describeOperands();
    // What depends on rows alone is loaded while the first stages come.
    locateRows();
    SmallVector<Value> accumulators = initial();
    accumulators = multiplySteps(accumulators);
    if (self.parts.count)
      shareTile(accumulators);
    else
      store(accumulators);
    return e.add(done, e.sub(end, begin));
  }

private:
  //===--- Multiplication -------------------------------------------------===//

  Type accumulatorType() {
    return LLVM::LLVMStructType::getLiteral(
        e.b.getContext(),
        SmallVector<Type>(plan.accumulators(), e.b.getF32Type()));
  }

  /// The descriptor of an operand's part in the first stage, `offset` bytes
  /// into it. The same for all steps: descriptors of stages differ by a
  /// constant, and so they stay in uniform registers, from where wgmma takes
  /// them.
  Value descriptor(const HopperOperand &operand, Value offset) {
    Value address = e.add(self.shared, offset);
    Value low = arith::ExtUIOp::create(
        e.b, e.loc, e.b.getI64Type(),
        arith::ShRUIOp::create(e.b, e.loc, e.bitAnd(address, 0x3FFFF),
                               e.i32(4)));
    return arith::OrIOp::create(
        e.b, e.loc, low,
        e.constant(e.b.getI64IntegerAttr(operand.descriptor())));
  }
  /// This consumer's parts of both operands.
  void describeOperands() {
    Value a = e.i32(0), b = e.i32(plan.a.bytes());
    if (plan.splitN)
      b = e.add(b, e.mul(self.consumer, plan.b.outerOffset(plan.perN())));
    else
      a = e.add(a, e.mul(self.consumer, plan.a.outerOffset(plan.perM())));
    descriptors[0] = descriptor(plan.a, a);
    descriptors[1] = descriptor(plan.b, b);
  }
  Value advance(Value descriptor, int64_t bytes) {
    if (bytes == 0)
      return descriptor;
    return arith::AddIOp::create(e.b, e.loc, descriptor,
                                 e.constant(e.b.getI64IntegerAttr(bytes >> 4)));
  }

  /// Starts the wgmmas of a stage.
  SmallVector<Value> multiply(Value stage, ValueRange accumulators) {
    Value offset =
        e.mul(arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), stage),
              plan.stageBytes() >> 4);
    Value descriptorA = e.add(descriptors[0], offset);
    Value descriptorB = e.add(descriptors[1], offset);
    Type element =
        getElementTypeOrSelf(ring.getLoaded(0).getResult().getType());
    NVVM::WGMMATypes type = element.isF32()   ? NVVM::WGMMATypes::tf32
                            : element.isF16() ? NVVM::WGMMATypes::f16
                                              : NVVM::WGMMATypes::bf16;
    auto *context = e.b.getContext();
    auto shape = NVVM::MMAShapeAttr::get(context, kWgmmaRows, plan.perN(),
                                         plan.wgmmaDepth());
    SmallVector<Value> sums(accumulators);
    NVVM::WgmmaFenceAlignedOp::create(e.b, e.loc);
    for (int64_t k = 0; k < plan.depth / plan.wgmmaDepth(); ++k)
      for (auto [i, sum] : llvm::enumerate(sums))
        sum = NVVM::WgmmaMmaAsyncOp::create(
            e.b, e.loc, sum.getType(), sum,
            advance(descriptorA, k * plan.a.kStepBytes() +
                                     plan.a.outerOffset(i * kWgmmaRows)),
            advance(descriptorB, k * plan.b.kStepBytes()), shape,
            NVVM::WGMMATypesAttr::get(context, type),
            NVVM::WGMMATypesAttr::get(context, type),
            NVVM::WGMMATypesAttr::get(context, NVVM::WGMMATypes::f32),
            NVVM::WGMMAScaleOutAttr::get(context, NVVM::WGMMAScaleOut::one),
            NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one),
            NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one),
            NVVM::MMALayoutAttr::get(context, plan.a.kIsCol
                                                  ? NVVM::MMALayout::row
                                                  : NVVM::MMALayout::col),
            NVVM::MMALayoutAttr::get(context, plan.b.kIsCol
                                                  ? NVVM::MMALayout::col
                                                  : NVVM::MMALayout::row),
            NVVM::MMAIntOverflowAttr());
    NVVM::WgmmaGroupSyncAlignedOp::create(e.b, e.loc);
    return sums;
  }

  /// Hands a stage back, in all blocks of the cluster: what they load of b goes
  /// to this block, too. A thread of each warpgroup speaks for all.
  void release(Value stage, Value condition) {
    Value mine = e.less(self.thread, e.i32(plan.cluster));
    auto branch = scf::IfOp::create(e.b, e.loc, e.both(mine, condition),
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    Value barrier = e.sharedPointer(stages.empty(stage));
    if (plan.cluster == 1) {
      NVVM::MBarrierArriveOp::create(e.b, e.loc, Type(), barrier, Value(),
                                     NVVM::MemScopeKind::CTA);
      return;
    }
    auto remote = LLVM::LLVMPointerType::get(e.b.getContext(), 7);
    barrier = NVVM::MapaOp::create(e.b, e.loc, remote, barrier, self.thread);
    // What was read is not written before the wait for it: a release would
    // only put a fence into every step.
    NVVM::MBarrierArriveOp::create(e.b, e.loc, Type(), barrier, Value(),
                                   NVVM::MemScopeKind::CLUSTER,
                                   /*relaxed=*/true);
  }

  /// Goes through the steps, if there are any. The wait for the last of them is
  /// within the branch: where it ends, ptxas may have to move registers.
  SmallVector<Value> multiplySteps(ArrayRef<Value> initial) {
    SmallVector<Type> types(plan.wgmmas() * plan.accumulators(),
                            e.b.getF32Type());
    auto branch = scf::IfOp::create(e.b, e.loc, types, e.less(begin, end),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(e.b, e.loc, registersOf(initial));
    e.b.setInsertionPointToStart(branch.thenBlock());
    auto loop = scf::ForOp::create(e.b, e.loc, begin, end, e.i32(1), initial);
    e.keep(loop);
    {
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(loop.getBody());
      Value s = loop.getInductionVar();
      Value number = e.add(done, e.sub(s, begin));
      Value stage = stages.stage(number);
      stages.waitFull(number, stage);
      if (plan.has(Loader::Chunks))
        fenceChunks();
      SmallVector<Value> sums = multiply(stage, loop.getRegionIterArgs());
      NVVM::WgmmaWaitGroupSyncOp::create(e.b, e.loc, 1);
      release(stages.stage(e.sub(number, e.i32(1))), e.less(begin, s));
      scf::YieldOp::create(e.b, e.loc, sums);
    }
    SmallVector<Value> sums = waitForAll(loop.getResults());
    Value last = e.sub(e.add(done, e.sub(end, begin)), e.i32(1));
    release(stages.stage(last), e.constant(e.b.getBoolAttr(true)));
    scf::YieldOp::create(e.b, e.loc, sums);
    return SmallVector<Value>(branch.getResults());
  }

  SmallVector<Value> registersOf(ValueRange sums) {
    SmallVector<Value> registers;
    for (Value sum : sums)
      for (int64_t i = 0; i < plan.accumulators(); ++i)
        registers.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, sum, i));
    return registers;
  }

  /// What cp.async wrote is to be seen by wgmma.
  void fenceChunks() {
    NVVM::FenceProxyOp::create(
        e.b, e.loc, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                   NVVM::SharedSpace::shared_cta));
  }

  /// Waits for all wgmmas. The registers go through the wait, so that nothing
  /// reads them before it.
  SmallVector<Value> waitForAll(ValueRange sums) {
    SmallVector<Value> registers = registersOf(sums);
    std::string outputs, inputs;
    for (size_t i = 0; i < registers.size(); ++i) {
      outputs += "=f,";
      inputs += (i ? "," : "") + std::to_string(i);
    }
    auto type = LLVM::LLVMStructType::getLiteral(
        e.b.getContext(),
        SmallVector<Type>(registers.size(), e.b.getF32Type()));
    Value waited =
        LLVM::InlineAsmOp::create(
            e.b, e.loc, type, registers, "wgmma.wait_group.sync.aligned 0;",
            outputs + inputs, /*has_side_effects=*/true,
            /*is_align_stack=*/false, LLVM::TailCallKind::None,
            LLVM::AsmDialectAttr(), ArrayAttr())
            .getResult(0);
    SmallVector<Value> values;
    for (size_t i = 0; i < registers.size(); ++i)
      values.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, waited, i));
    return values;
  }

  //===--- Results --------------------------------------------------------===//

  Value lane() { return e.rem(self.thread, 32); }

  /// First row of the warp in wgmma `i`.
  Value firstRow(int64_t i) {
    Value row = e.add(e.mul(self.warp, kWarpRows), i * kWgmmaRows);
    return plan.splitN ? row : e.add(row, e.mul(self.consumer, plan.perM()));
  }
  Value firstColumn(int64_t column) {
    Value first = e.i32(column);
    return plan.splitN ? e.add(first, e.mul(self.consumer, plan.perN()))
                       : first;
  }

  /// The thread's rows of wgmma `i`, and `count` of its columns, from `column`
  /// on.
  SmallVector<Value> rowsOf(int64_t i) {
    Value row = e.add(firstRow(i), e.div(lane(), 4));
    return {row, e.add(row, 8)};
  }
  SmallVector<Value> colsOf(int64_t column, int64_t count) {
    Value col = e.add(firstColumn(column), e.mul(e.rem(lane(), 4), 2));
    SmallVector<Value> cols;
    for (int64_t j = 0; j < count; j += 8)
      for (int64_t pair = 0; pair < 2; ++pair)
        cols.push_back(e.add(col, j + pair));
    return cols;
  }
  /// Which accumulator of a wgmma the fragment's element is, counted from the
  /// first column's on.
  static size_t place(size_t row, size_t col) {
    return col / 2 * 4 + row * 2 + col % 2;
  }

  /// Calls `body` for pieces of up to kStoreColumns columns: the wgmma, the
  /// first column, how many there are.
  void forPieces(function_ref<void(int64_t, int64_t, int64_t)> body) {
    for (int64_t i = 0; i < plan.wgmmas(); ++i)
      for (int64_t column = 0; column < plan.perN(); column += kStoreColumns)
        body(i, column, std::min(kStoreColumns, plan.perN() - column));
  }

  void locateRows() {
    dest = accessTile(e, ring.getDest(), ring.getSubscripts(),
                      ring.getAccumulatorShape(), TypedAttr(), chunks);
    turned = canTurnAround();
    for (int64_t i = 0; i < plan.wgmmas(); ++i) {
      epilogues.emplace_back(
          e, ring, AccumulatorTile{plan.mDim, plan.nDim, /*neighbours=*/2},
          /*capability=*/90, chunks);
      epilogues[i].setRows(rowsOf(i), /*withDest=*/!turned);
      if (turned)
        storedRows.push_back(locateStoredRows(i));
    }
  }

  SmallVector<Value> initial() {
    SmallVector<SmallVector<Value>> registers(plan.wgmmas());
    forPieces([&](int64_t i, int64_t column, int64_t count) {
      epilogues[i].setCols(colsOf(column, count));
      SmallVector<Value> values = epilogues[i].initial();
      // One of the parts has the first values.
      if (self.parts.count)
        for (Value &value : values)
          value = e.select(e.less(self.parts.part, e.i32(1)), value,
                           e.constant(e.b.getF32FloatAttr(0)));
      registers[i].resize(registers[i].size() + count / 2);
      MutableArrayRef<Value> out =
          MutableArrayRef<Value>(registers[i]).take_back(count / 2);
      size_t cols = count / 4;
      for (size_t row = 0; row < 2; ++row)
        for (size_t col = 0; col < cols; ++col)
          out[place(row, col)] = values[row * cols + col];
    });
    SmallVector<Value> sums;
    for (ArrayRef<Value> values : registers) {
      Value sum = LLVM::UndefOp::create(e.b, e.loc, accumulatorType());
      for (auto [j, value] : llvm::enumerate(values))
        sum = LLVM::InsertValueOp::create(e.b, e.loc, sum, value,
                                          static_cast<int64_t>(j));
      sums.push_back(sum);
    }
    return sums;
  }

  /// Can results go to memory 16 bytes at a time?
  bool canTurnAround() {
    APInt stride;
    return !ring.getCombine() && elementBytes(dest.element) == 2 &&
           isa<FloatType>(dest.element) && plan.nDim >= 0 && plan.mDim >= 0 &&
           !dest.dims[plan.nDim].ids &&
           matchPattern(dest.dims[plan.nDim].stride, m_ConstantInt(&stride)) &&
           stride.isOne() && plan.perN() % kStoreColumns == 0;
  }

  void store(ArrayRef<Value> accumulators) {
    forPieces([&](int64_t i, int64_t column, int64_t count) {
      ArrayRef<Value> mine =
          accumulators.slice(i * plan.accumulators() + column / 2, count / 2);
      size_t cols = count / 4;
      SmallVector<Value> values(mine.size());
      for (size_t row = 0; row < 2; ++row)
        for (size_t col = 0; col < cols; ++col)
          values[row * cols + col] = mine[place(row, col)];
      epilogues[i].setCols(colsOf(column, count));
      if (turned)
        storeTurned(i, values, column);
      else
        epilogues[i].finish(values);
    });
  }

  //===--- Tiles that blocks share ----------------------------------------===//

  /// Of each wgmma, whether the result has any of the warp's rows; null: it
  /// has.
  SmallVector<Value> existingRows() {
    SmallVector<Value> exist(plan.wgmmas());
    if (plan.mDim >= 0)
      for (auto [i, value] : llvm::enumerate(exist))
        value = e.less(e.toIndex(firstRow(i)), dest.dims[plan.mDim].limit);
    return exist;
  }

  /// If the tile is this block's alone, stores it; otherwise writes the sums of
  /// this part, and stores the tile if all others have come.
  void shareTile(ArrayRef<Value> sums) {
    SmallVector<Type> types(sums.size(), e.b.getF32Type());
    types.push_back(e.b.getI1Type());
    auto isTrue = [&](bool value) {
      return e.constant(e.b.getBoolAttr(value));
    };
    auto shared =
        scf::IfOp::create(e.b, e.loc, types, e.less(e.i32(1), self.parts.count),
                          /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(shared.elseBlock());
      SmallVector<Value> own(sums);
      own.push_back(isTrue(true));
      scf::YieldOp::create(e.b, e.loc, own);
      e.b.setInsertionPointToStart(shared.thenBlock());
      SmallVector<Value> exist = existingRows();
      HopperPartials partials(e, plan, self, exist);
      partials.write(sums);
      Value last = partials.countIn();
      auto adding =
          scf::IfOp::create(e.b, e.loc, TypeRange(types).drop_back(), last,
                            /*withElseRegion=*/true);
      e.b.setInsertionPointToStart(adding.elseBlock());
      scf::YieldOp::create(e.b, e.loc, sums);
      e.b.setInsertionPointToStart(adding.thenBlock());
      scf::YieldOp::create(e.b, e.loc, partials.add());
      e.b.setInsertionPointAfter(adding);
      SmallVector<Value> added(adding.getResults());
      added.push_back(last);
      scf::YieldOp::create(e.b, e.loc, added);
    }
    e.ifThen(shared.getResults().back(), [&] {
      // Once more: kept so long, places of rows would be spilled.
      self.thread = e.opaque(self.thread);
      epilogues.clear();
      storedRows.clear();
      locateRows();
      store(SmallVector<Value>(shared.getResults().drop_back()));
    });
  }

  //===--- Results, turned around -----------------------------------------===//

  /// The rows to which a lane stores, four of its warp's 16, and whether chunks
  /// of them are aligned.
  struct Rows {
    SmallVector<Value> offsets, exist;
    Value aligned;
  };

  Rows locateStoredRows(int64_t i) {
    Rows rows;
    Value fixed = e.index(0), exists;
    Value address =
        arith::IndexCastOp::create(e.b, e.loc, e.b.getIndexType(), dest.start);
    const TileDim &colDim = dest.dims[plan.nDim];
    int64_t bytes = elementBytes(dest.element);
    address =
        arith::OrIOp::create(e.b, e.loc, address, e.mul(colDim.start, bytes));
    for (auto [d, dim] : llvm::enumerate(dest.dims)) {
      if (static_cast<int>(d) == plan.nDim)
        continue;
      address =
          arith::OrIOp::create(e.b, e.loc, address, e.mul(dim.stride, bytes));
      if (static_cast<int>(d) == plan.mDim)
        continue;
      auto [at, there] = locate(e, dim, e.index(0));
      fixed = e.add(fixed, e.mul(at, dim.stride));
      exists = exists ? e.both(exists, there) : there;
    }
    rows.aligned =
        arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq,
                              e.bitAnd(address, kChunkBytes - 1), e.index(0));
    const TileDim &rowDim = dest.dims[plan.mDim];
    for (int64_t r = 0; r < kWarpRows; r += 4) {
      Value row = e.add(firstRow(i), e.add(e.div(lane(), 8), r));
      auto [at, there] = locate(e, rowDim, e.toIndex(row));
      rows.offsets.push_back(e.add(fixed, e.mul(at, rowDim.stride)));
      rows.exist.push_back(exists ? e.both(exists, there) : there);
    }
    return rows;
  }

  /// Two results in a register, as they lie in memory.
  Value pack(Value low, Value high, Type element) {
    auto type = VectorType::get(2, low.getType());
    Value pair = LLVM::UndefOp::create(e.b, e.loc, type);
    pair = LLVM::InsertElementOp::create(e.b, e.loc, pair, low, e.i32(0));
    pair = LLVM::InsertElementOp::create(e.b, e.loc, pair, high, e.i32(1));
    if (low.getType() != element)
      pair = arith::TruncFOp::create(e.b, e.loc, type.clone(element), pair);
    return LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), pair);
  }

  void syncWarp() { NVVM::SyncWarpOp::create(e.b, e.loc, e.i32(-1)); }

  void storeTurned(int64_t i, ArrayRef<Value> values, int64_t column) {
    RingEpilogue &epilogue = epilogues[i];
    const Rows &rows = storedRows[i];
    size_t cols = kStoreColumns / 4;
    Value number = e.add(e.mul(self.consumer, kWarpgroup / 32), self.warp);
    Value base = e.add(e.add(self.shared, plan.storeOffset()),
                       e.mul(number, kStoreBytes));
    // The four 8 x 8 matrices of 16 columns; each lane says where one row of
    // one of them goes.
    Value row = e.rem(lane(), kWarpRows), half = e.div(lane(), kWarpRows);
    Value chunk = e.bitXor(half, e.bitAnd(row, kSwizzleLines - 1));
    Value to =
        e.add(e.add(base, e.mul(row, kLineBytes)), e.mul(chunk, kChunkBytes));
    syncWarp(); // the last piece has been read
    for (int64_t q = 0; q < kStoreColumns / 16; ++q) {
      SmallVector<Value> registers;
      for (size_t matrix = 0; matrix < 4; ++matrix) {
        size_t row = matrix % 2, col = 4 * q + 2 * (matrix / 2);
        const Value *pair = &values[row * cols + col];
        registers.push_back(pack(epilogue.result(pair[0], row, col),
                                 epilogue.result(pair[1], row, col + 1),
                                 dest.element));
      }
      NVVM::StMatrixOp::create(
          e.b, e.loc, e.sharedPointer(e.bitXor(to, e.i32(2 * q * kChunkBytes))),
          registers, NVVM::MMALayout::row,
          NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8),
          NVVM::LdStMatrixEltType::B16);
    }
    syncWarp();
    const TileDim &colDim = dest.dims[plan.nDim];
    int64_t perChunk = kChunkBytes / elementBytes(dest.element);
    Value laneRow = e.div(lane(), 8), laneChunk = e.rem(lane(), 8);
    Value col =
        e.toIndex(e.add(firstColumn(column), e.mul(laneChunk, perChunk)));
    Value whole =
        e.both(rows.aligned, e.less(e.add(col, perChunk - 1), colDim.limit));
    auto type = VectorType::get(perChunk, dest.element);
    for (int64_t r = 0; r < kWarpRows; r += 4) {
      Value line = e.add(laneRow, r);
      Value from = e.bitXor(laneChunk, e.bitAnd(line, kSwizzleLines - 1));
      from =
          e.add(e.add(base, e.mul(line, kLineBytes)), e.mul(from, kChunkBytes));
      Value chunkOf = LLVM::LoadOp::create(e.b, e.loc, type,
                                           e.sharedPointer(from), kChunkBytes);
      storeChunk(chunkOf, rows.offsets[r / 4], rows.exist[r / 4], col, whole);
    }
  }

  void storeChunk(Value chunk, Value rowOffset, Value exists, Value col,
                  Value whole) {
    const TileDim &colDim = dest.dims[plan.nDim];
    Value offset = e.add(rowOffset, e.add(colDim.start, col));
    e.ifThen(e.both(exists, whole), [&] {
      LLVM::StoreOp::create(e.b, e.loc, chunk, elementAddress(e, dest, offset),
                            kChunkBytes);
    });
    // The edge, and results that are not aligned: by elements, in a loop that
    // is not entered otherwise.
    auto type = cast<VectorType>(chunk.getType());
    Value left = e.sub(colDim.limit, col);
    left = e.min(e.max(left, e.index(0)), e.index(type.getNumElements()));
    Value none = arith::OrIOp::create(
        e.b, e.loc, whole,
        arith::XOrIOp::create(
            e.b, e.loc, exists,
            arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true))));
    left = e.select(none, e.index(0), left);
    auto loop = scf::ForOp::create(e.b, e.loc, e.index(0), left, e.index(1));
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value i = loop.getInductionVar();
    Value element =
        LLVM::ExtractElementOp::create(e.b, e.loc, chunk, e.toI32(i));
    LLVM::StoreOp::create(e.b, e.loc, element,
                          elementAddress(e, dest, e.add(offset, i)),
                          elementBytes(dest.element));
  }

  Emitter &e;
  RingOp ring;
  const HopperPlan &plan;
  HopperThread self;
  Value done;
  ChunkMap &chunks;
  RingSteps steps;
  HopperStages stages;
  Value begin, end;     ///< steps that this block multiplies (i32)
  Value descriptors[2]; ///< of a and b in the first stage (i64)
  TileAccess dest;
  bool turned = false; ///< results are stored 16 bytes at a time
  SmallVector<RingEpilogue, 2> epilogues; ///< by wgmma
  SmallVector<Rows, 2> storedRows;
};

} // namespace

Value mlir::pit::consumeTile(Emitter &e, RingOp ring, const HopperPlan &plan,
                             const HopperThread &self, Value done,
                             ChunkMap &chunks,
                             const DenseMap<Value, IndexView> &indices) {
  return Consumer(e, ring, plan, self, done, chunks, indices).run();
}
