//===- HopperFill.cpp - Rows that no tile writes --------------------------===//

#include "HopperFill.h"

#include "Codegen/Common/Index.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// The most rows that a result may have of which each block reads the list of
/// all.
static constexpr int64_t kMaxRows = 1 << 16;
/// Rows that a block can fill of a result whose groups have lists of their own.
static constexpr int64_t kRowsOfBlock = 1 << 14;
/// Copies that a warp which does nothing else has on their way: so few leave
/// the memory to the loads.
static constexpr int64_t kCopiesOfWarp = 2;
/// Ids that a thread has on their way at once.
static constexpr int64_t kIdsAtOnce = 8;
static constexpr int64_t kFilledWordBits = 32;
/// Bits after the point in numbers of copies a step.
static constexpr int64_t kFraction = 12;

//===----------------------------------------------------------------------===//
// Which plans fit
//===----------------------------------------------------------------------===//

/// The value that a kernel fills its only argument with, if it does nothing
/// else.
static TypedAttr filledWith(func::FuncOp kernel) {
  if (!kernel || kernel.isExternal() || kernel.getNumArguments() != 1 ||
      !kernel.getBody().hasOneBlock())
    return {};
  TypedAttr value;
  for (Operation &op : kernel.front().without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    auto fill = dyn_cast<linalg::FillOp>(op);
    if (!fill || value || fill.getOutputs()[0] != kernel.getArgument(0) ||
        !matchPattern(fill.getInputs()[0], m_Constant(&value)))
      return {};
  }
  return value;
}

/// Is `memref` a view of memory that is also used in another way?
static bool isSharedView(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
    memref = view.getViewSource();
    if (!memref.hasOneUse())
      return true;
  }
  return false;
}

/// The fill of one of the outputs of `launch`, a launch of one of `kernels`.
static std::optional<LaunchedFill> findFillBefore(LaunchOp launch,
                                                  ModuleOp kernels) {
  for (auto [i, out] : llvm::enumerate(launch.getOuts())) {
    // Only launches touch it, and this one does not read it.
    if (llvm::any_of(out.getUsers(), [](Operation *user) {
          return !isa<LaunchOp, memref::DimOp>(user);
        }))
      continue;
    if (llvm::count(launch->getOperands(), out) != 1 || isSharedView(out))
      continue;
    for (Operation *op = launch->getPrevNode(); op; op = op->getPrevNode()) {
      if (op->getNumRegions() != 0)
        break;
      if (!llvm::is_contained(op->getOperands(), out) || isa<memref::DimOp>(op))
        continue;
      auto before = cast<LaunchOp>(op);
      auto function = kernels.lookupSymbol<func::FuncOp>(
          before.getKernel().getLeafReference());
      if (before.getOuts().size() != 1 || !before.getInputs().empty() ||
          !before.getElements())
        break;
      // Both run, or neither does.
      if (before.getChoice() != launch.getChoice() ||
          before.getVariant() != launch.getVariant())
        break;
      if (TypedAttr value = filledWith(function))
        return LaunchedFill{
            {{before, launch}},
            static_cast<unsigned>(launch.getInputs().size() + i),
            value};
      break;
    }
  }
  return std::nullopt;
}

std::optional<LaunchedFill> cuda::findFill(func::FuncOp kernel) {
  auto kernels = kernel->getParentOfType<ModuleOp>();
  std::optional<LaunchedFill> common;
  WalkResult result =
      kernels->getParentOfType<ModuleOp>().walk([&](LaunchOp launch) {
        if (launch.getKernel().getLeafReference() != kernel.getSymNameAttr())
          return WalkResult::advance();
        std::optional<LaunchedFill> fill = findFillBefore(launch, kernels);
        if (!fill || (common && (common->argument != fill->argument ||
                                 common->value != fill->value)))
          return WalkResult::interrupt();
        if (common)
          common->launches.append(fill->launches);
        else
          common = fill;
        return WalkResult::advance();
      });
  return result.wasInterrupted() ? std::nullopt : common;
}

/// Dimensions of the groups whose ids select rows.
static unsigned groupDimsOf(MainloopNest nest) {
  return nest.chunks ? nest.chunks.getGroup().size() : 0;
}

/// Elements of a row of a result, which lies behind the dimensions of groups
/// and ids; 0 if they are not known.
static int64_t elementsOfRow(MemRefType type, unsigned groupDims) {
  int64_t elements = 1;
  for (int64_t extent : type.getShape().drop_front(groupDims + 1))
    elements *= ShapedType::isDynamic(extent) ? 0 : extent;
  return elements;
}
static int64_t bytesOfRow(MemRefType type, unsigned groupDims) {
  return elementsOfRow(type, groupDims) * elementBytes(type.getElementType());
}

/// Rows of a result; none if they are not known.
static std::optional<int64_t> rowsOf(MemRefType type, unsigned groupDims) {
  int64_t rows = 1;
  for (int64_t extent : type.getShape().take_front(groupDims + 1)) {
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    rows *= extent;
  }
  return rows;
}

/// Do groups of an index, each with the ids of a loop of its own, select all
/// dimensions of the result before its rows, in order?
static bool isByGroups(MainloopNest nest) {
  ForOp chunks = nest.chunks;
  auto index = cast<SparsityIndexType>(chunks.getIndex().getType());
  OperandRange subscripts = nest.mainloop.getSubscripts();
  if (index.getMicroTile()[index.getAxis()] != 1 ||
      chunks.getGroup().size() >= subscripts.size())
    return false;
  for (auto [group, subscript] : llvm::zip(chunks.getGroup(), subscripts)) {
    auto argument = cast<BlockArgument>(group);
    unsigned i = argument.getArgNumber();
    if (group != subscript || nest.forall.getSteps()[i] != 1 ||
        getConstantIntValue(nest.forall.getLower()[i]) != 0 ||
        llvm::count(chunks.getGroup(), group) != 1)
      return false;
  }
  return true;
}

/// Do ids of an index without groups select rows?
static bool isOfOneGroup(ForallOp forall) {
  if (!forall.getIndex() || !forall.getGroup().empty())
    return false;
  auto index = cast<SparsityIndexType>(forall.getIndex().getType());
  return index.getMicroTile()[index.getAxis()] == 1 &&
         index.getGroupDims().empty();
}

OrRefusal<int64_t> cuda::rowsToFill(const std::optional<LaunchedFill> &fill,
                                    MainloopNest nest) {
  MainloopOp mainloop = nest.mainloop;
  ForallOp forall = nest.forall;
  auto dest = dyn_cast<BlockArgument>(mainloop.getDest());
  if (!fill)
    return refuse("no launch before it fills its result");
  if (!dest || dest.getArgNumber() != fill->argument || mainloop.getCombine())
    return refuse("the mainloop does not write what was filled");
  auto type = cast<MemRefType>(dest.getType());
  if (!type.getLayout().isIdentity())
    return refuse("it is a part of another tensor");
  if (nest.chunks ? !isByGroups(nest) : !isOfOneGroup(forall))
    return refuse("its rows are not those of groups of an index");
  unsigned groupDims = groupDimsOf(nest);
  if (type.getRank() < groupDims + 2)
    return refuse("its rows are single elements");
  int64_t bytes = bytesOfRow(type, groupDims);
  std::optional<int64_t> rows = rowsOf(type, groupDims);
  if (bytes == 0 || bytes % kChunkBytes != 0 ||
      elementBytes(type.getElementType()) > kChunkBytes ||
      (!nest.chunks && rows.value_or(kMaxRows) > kMaxRows))
    return refuse("its rows are too many or no known multiple of 16 bytes");
  // A listed row is written as a whole.
  Value ids = nest.chunks ? nest.chunks.getIds() : forall.getIds();
  for (auto [d, subscript] : llvm::enumerate(mainloop.getSubscripts())) {
    if (d < groupDims)
      continue;
    if (d == groupDims) {
      if (subscript != ids)
        return refuse("ids do not select its rows");
      continue;
    }
    // One tile may be all there is.
    ArrayRef<int64_t> extents = mainloop.getAccumulatorShape();
    int64_t ofTile = d + extents.size() - type.getRank();
    if (getConstantIntValue(subscript) == 0 && ofTile >= 0 &&
        extents[ofTile] >= type.getDimSize(d))
      continue;
    auto argument = dyn_cast<BlockArgument>(subscript);
    if (!argument || argument.getOwner() != forall.getBody() ||
        argument.getArgNumber() >= forall.getSteps().size())
      return refuse("the tiles of a row are not known");
    unsigned i = argument.getArgNumber();
    if (getConstantIntValue(forall.getLower()[i]) != 0 ||
        getConstantIntValue(forall.getUpper()[i]) != type.getDimSize(d))
      return refuse("tiles cover a part of each row");
  }
  return nest.chunks ? std::min(rows.value_or(kRowsOfBlock), kRowsOfBlock)
                     : rows.value_or(kRowsOfBlock);
}

int64_t cuda::elementsToFill(MainloopNest nest, int64_t rows) {
  MainloopOp mainloop = nest.mainloop;
  auto type = cast<MemRefType>(mainloop.getDest().getType());
  unsigned groupDims = groupDimsOf(nest);
  return rowsOf(type, groupDims) == rows
             ? 0
             : rows * elementsOfRow(type, groupDims);
}

//===----------------------------------------------------------------------===//
// The code
//===----------------------------------------------------------------------===//

/// 16 bytes of elements.
static Value filledChunk(Emitter &e, TypedAttr value) {
  auto floating = dyn_cast<FloatAttr>(value);
  APInt element = floating ? floating.getValue().bitcastToAPInt()
                           : cast<IntegerAttr>(value).getValue();
  unsigned bits = 8 * elementBytes(value.getType());
  APInt chunk = APInt::getSplat(8 * kChunkBytes, element.zextOrTrunc(bits));
  SmallVector<int32_t> words;
  for (int64_t byte = 0; byte < kChunkBytes; byte += 4)
    words.push_back(chunk.extractBitsAsZExtValue(32, 8 * byte));
  return arith::ConstantOp::create(e.b, e.loc, e.b.getI32VectorAttr(words));
}

static void forEach(Emitter &e, Value begin, Value end, int64_t step,
                    function_ref<void(Value)> body) {
  e.keepLoop(e.forEach(begin, end, e.i32(step), body));
}

/// The word that has the bit of a row (i32).
static Value wordAt(Emitter &e, Value bits, Value row) {
  return e.sharedPointer(e.add(bits, e.mul(e.div(row, kFilledWordBits), 4)));
}
static Value bitOf(Emitter &e, Value row) {
  return e.b.createOrFold<arith::ShLIOp>(e.loc, e.i32(1),
                                         e.rem(row, kFilledWordBits));
}

void cuda::prepareFill(Emitter &e, const HopperPlan &plan,
                       const HopperShared &shared, TypedAttr value) {
  Value thread = e.threadId();
  Value words = e.i32(llvm::divideCeil(plan.rows, kFilledWordBits));
  forEach(e, thread, words, kHopperThreads, [&](Value word) {
    LLVM::StoreOp::create(e.b, e.loc, e.i32(0),
                          e.sharedPointer(e.add(shared.rows, e.mul(word, 4))));
  });
  Value chunk = filledChunk(e, value);
  forEach(e, e.mul(thread, kChunkBytes), e.i32(plan.fillBytes),
          kHopperThreads * kChunkBytes, [&](Value byte) {
            e.store(chunk, e.sharedPointer(e.add(shared.fill, byte)),
                    kChunkBytes);
          });
  e.asyncProxyFence(); // it is to be seen by the copies
}

HopperFill::HopperFill(Emitter &e, const HopperPlan &plan,
                       const HopperThread &self, Value dest, unsigned groupDims)
    : e(e), plan(plan), self(self), dest(dest), groupDims(groupDims),
      rowBytes(bytesOfRow(cast<MemRefType>(dest.getType()), groupDims)) {
  bool alone = !plan.fillsBetweenSteps();
  warps = alone ? kWarps - 1 : kWarps;
  warp = alone ? e.sub(self.warp, e.i32(1)) : self.warp;
  Value rows = extent(0);
  for (unsigned d = 1; d <= groupDims; ++d)
    rows = e.mul(rows, extent(d));
  // As many rows for each block, but for one.
  Value block = e.blockId();
  Value blocks = e.gridDim();
  auto upTo = [&](Value number) { return e.div(e.mul(number, rows), blocks); };
  first = upTo(block);
  count = e.sub(upTo(e.add(block, 1)), first);
}

/// Extent of the output along a dimension (i32).
Value HopperFill::extent(unsigned dim) {
  return e.toI32(e.b.createOrFold<memref::DimOp>(e.loc, dest, dim));
}

void HopperFill::mark(Value ids, Value offset, Value listed) {
  markList(ids, offset, listed, e.i32(0));
  arrive();
}

void HopperFill::markGroups(const IndexView &index, ValueRange upTo) {
  // The groups that have some of this block's rows.
  Value rows = e.max(extent(groupDims), e.i32(1));
  Value from = e.div(first, rows);
  Value to = e.div(e.add(e.add(first, count), e.sub(rows, e.i32(1))), rows);
  forEach(e, from, to, 1, [&](Value number) {
    SmallVector<Value> group(groupDims);
    Value left = number, exists;
    for (unsigned d = groupDims; d-- > 0;) {
      Value subscript = left;
      if (d > 0)
        std::tie(left, subscript) = e.divRem(left, e.max(extent(d), e.i32(1)));
      group[d] = e.toIndex(subscript);
      Value is = e.lessThan(subscript, e.toI32(upTo[d]));
      exists = exists ? e.logicalAnd(exists, is) : is;
    }
    auto [listed, offset] = index.countAndOffset(e.b, e.loc, group);
    listed = e.select(exists, listed, e.index(0));
    markList(index.ids, offset, listed, e.mul(number, rows));
  });
  arrive();
}

/// Marks rows of a list; what it counts from is row `origin`.
void HopperFill::markList(Value ids, Value offset, Value listed, Value origin) {
  Value thread = e.add(e.mul(self.consumer, kWarpgroup), self.thread);
  constexpr int64_t threads = kConsumers * kWarpgroup;
  Value last = e.sub(listed, e.index(1));
  forEach(e, e.i32(0), e.toI32(listed), threads * kIdsAtOnce, [&](Value at) {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < kIdsAtOnce; ++i) {
      Value number = e.add(e.add(at, thread), i * threads);
      // The last one once more does no harm.
      Value place = e.add(offset, e.min(e.toIndex(number), last));
      rows.push_back(e.loadAt(ids, place));
    }
    for (Value row : rows) {
      row = e.sub(e.add(origin, row), first);
      e.ifThen(e.inRange(row, count), [&] {
        LLVM::AtomicRMWOp::create(e.b, e.loc, LLVM::AtomicBinOp::_or,
                                  wordAt(e, self.shared.rows, row),
                                  bitOf(e, row),
                                  LLVM::AtomicOrdering::monotonic);
      });
    }
  });
}

void HopperFill::arrive() {
  Value stage =
      pitgpu::AcquireOp::create(e.b, e.loc, self.shared.listed, e.i32(0));
  pitgpu::CommitOp::create(e.b, e.loc, stage, pitgpu::CommitKind::Writes);
}

void HopperFill::start(Value steps) {
  Value dest = this->dest;
  base = e.toI64(e.addressOf(dest));
  // Each warp has as many, the next row is the next one's.
  copies = e.mul(e.div(e.add(count, warps - 1), warps), copiesOfRow());
  // In the first steps the consumers find out what is listed,
  // and for what they wait for to come first.
  spread = e.max(e.sub(steps ? steps : copies, e.i32(plan.stages)), e.i32(1));
  rate = e.add(e.div(e.mul(copies, 1 << kFraction), spread), 1);
}

Value HopperFill::copiesAfter(Value steps) {
  Value counted = e.max(e.sub(steps, e.i32(plan.stages)), e.i32(0));
  counted = e.min(counted, spread);
  // Warps take turns: loads wait behind copies that come together.
  Value early = e.mul(warp, (1 << kFraction) / warps);
  Value due = e.add(e.mul(counted, rate), early);
  return e.min(e.div(due, 1 << kFraction), copies);
}

void HopperFill::afterStep(Value number) {
  auto fillShare = [&] {
    fill(copiesAfter(number), copiesAfter(e.add(number, 1)));
  };
  // If threads copy chunks or scales, all are here.
  if (plan.copiesByLanes())
    inLeader(e, /*ofWarps=*/true, fillShare);
  else
    fillShare();
}

/// Ends a group of copies, and waits until all but so many groups are done, or
/// have read what they copy.
static void awaitCopies(Emitter &e, int32_t left, UnitAttr read) {
  NVVM::CpAsyncBulkCommitGroupOp::create(e.b, e.loc);
  NVVM::CpAsyncBulkWaitGroupOp::create(e.b, e.loc, e.b.getI32IntegerAttr(left),
                                       read);
}

void HopperFill::finish(Value steps) {
  inLeader(e, /*ofWarps=*/true, [&] {
    fill(copiesAfter(steps), copies);
    awaitCopies(e, 0, e.b.getUnitAttr());
  });
}

void HopperFill::fillAlone() {
  e.ifThen(e.lessThan(e.i32(0), self.warp), [&] {
    inLeader(e, /*ofWarps=*/true, [&] {
      start(Value());
      forEach(e, e.i32(0), copies, 1, [&](Value number) {
        fill(number, e.add(number, 1));
        awaitCopies(e, kCopiesOfWarp - 1, /*read=*/UnitAttr());
      });
      awaitCopies(e, 0, e.b.getUnitAttr());
    });
  });
}

int64_t HopperFill::copiesOfRow() const {
  return llvm::divideCeil(rowBytes, plan.fillBytes);
}

void HopperFill::fill(Value from, Value to) {
  forEach(e, from, to, 1, [&](Value number) {
    Value row = e.add(e.mul(e.div(number, copiesOfRow()), warps), warp);
    e.ifThen(e.lessThan(row, count), [&] {
      pitgpu::WaitOp::create(e.b, e.loc, self.shared.listed, e.i32(0));
      Value word = LLVM::LoadOp::create(e.b, e.loc, e.b.getI32Type(),
                                        wordAt(e, self.shared.rows, row));
      Value isOther = e.equal(e.logicalAnd(word, bitOf(e, row)), e.i32(0));
      e.ifThen(isOther, [&] { copy(row, e.rem(number, copiesOfRow())); });
    });
  });
}

/// Copies part `number` of a row.
void HopperFill::copy(Value row, Value number) {
  auto toI64 = [&](Value value) -> Value {
    return arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), value);
  };
  Value byte = e.mul(number, plan.fillBytes);
  Value left = e.sub(e.i32(rowBytes), byte);
  Value start = e.add(base, e.mul(toI64(e.add(first, row)), rowBytes));
  Value to = e.globalPointer(e.add(start, toI64(byte)));
  Value tile = e.sharedPointer(self.shared.fill);
  NVVM::CpAsyncBulkSharedCTAToGlobalOp::create(
      e.b, e.loc, to, tile, e.min(left, e.i32(plan.fillBytes)),
      /*l2CacheHint=*/Value(), /*byteMask=*/Value());
}
