//===- ShareScans.cpp - A value is scanned once ---------------------------===//
//
// An index of values, or a choice by them, reads bits in place of the values if
// a tile loop computes these: the loop scans each tile that it has written
// (pit.scan), and the bits are one more of its results. Variants that a call
// chooses from do so alike.
//
// Elements that the loop does not write have to be known to be background,
// since their bits are 0: the loop starts from a tensor that is filled with
// that, or from a new one, of which nothing is promised.
//
// Choices by the same values decide each for itself, but what one has seen
// serves the others. A device counts only the micro-tiles that the scan was
// for. So the one that looks for most comes first, if the times of its variants
// are known there.
//
//===----------------------------------------------------------------------===//

#include "pit/Dialect/Pit/IR/Pit.h"
#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITSHARESCANS
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

/// The elements that a scan compares with their background.
static bool isTaken(Type element) {
  if (isa<IntegerType>(element))
    return element.isSignlessInteger() && !element.isInteger(1);
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type,
             Float8E4M3FNType, Float8E5M2Type>(element);
}

/// The variable of one of the loop's dense ranges; none: `subscript` is none.
static std::optional<unsigned> getRange(ForallOp loop, Value subscript) {
  auto arg = dyn_cast<BlockArgument>(subscript);
  if (!arg || arg.getOwner() != loop.getBody() ||
      arg.getArgNumber() >= loop.getNumDense())
    return std::nullopt;
  return arg.getArgNumber();
}

static std::optional<int64_t> getConstant(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

/// Does every tile start at a multiple of `unit` along this subscript?
static bool isMultiple(ForallOp loop, Value subscript, int64_t unit) {
  std::optional<unsigned> range = getRange(loop, subscript);
  std::optional<int64_t> start =
      getConstant(range ? loop.getLower()[*range] : subscript);
  return start && *start % unit == 0 &&
         (!range || loop.getSteps()[*range] % unit == 0);
}

/// Is `value` the extent of dimension `d` of `tensor`?
static bool isExtent(Value value, Value tensor, int64_t d) {
  FailureOr<bool> equal = ValueBoundsConstraintSet::areEqual(
      ValueBoundsConstraintSet::Variable(value),
      ValueBoundsConstraintSet::Variable(tensor, d));
  return succeeded(equal) && *equal;
}

/// Do the tiles of the loop cover all that it writes to, which starts as
/// `init`?
static bool writesAll(ForallOp loop, SWriteOp write, Value init) {
  ArrayRef<int64_t> tile = write.getTileType().getShape();
  llvm::SmallDenseSet<unsigned> ranges;
  for (auto [d, subscript] : llvm::enumerate(write.getSubscripts())) {
    std::optional<unsigned> range = getRange(loop, subscript);
    if (!range) {
      ShapedType dest = write.getDestType();
      if (getConstant(subscript) != 0 || dest.isDynamicDim(d) ||
          dest.getDimSize(d) > tile[d])
        return false;
    } else if (!ranges.insert(*range).second ||
               getConstant(loop.getLower()[*range]) != 0 ||
               loop.getSteps()[*range] > tile[d] ||
               !isExtent(loop.getUpper()[*range], init, d)) {
      return false;
    }
  }
  return !loop.getIndex();
}

/// Is what `init` holds background, or nothing that anybody may rely on?
static bool isBackground(Value init, TypedAttr background) {
  if (init.getDefiningOp<tensor::EmptyOp>())
    return true;
  auto fill = init.getDefiningOp<linalg::FillOp>();
  Attribute value;
  if (!fill || !matchPattern(fill.getInputs()[0], m_Constant(&value)))
    return false;
  if (auto number = dyn_cast<FloatAttr>(background))
    return number.getValue().compare(cast<FloatAttr>(value).getValue()) ==
           APFloat::cmpEqual;
  return value == background;
}

namespace {
/// Has what computes values write bits.
class BitmapWriter {
public:
  explicit BitmapWriter(RewriterBase &rewriter) : b(rewriter) {}

  /// The bits of what in `value` is not the background; null if what computes
  /// it cannot write them.
  Value run(Value value, TypedAttr background) {
    element = getElementTypeOrSelf(value);
    given = background;
    this->background =
        background ? background : cast<TypedAttr>(b.getZeroAttr(element));
    return isTaken(element) && canWrite(value) ? write(value) : Value();
  }

private:
  static SWriteOp findWrite(OpResult value) {
    auto loop = cast<ForallOp>(value.getOwner());
    unsigned number = value.getResultNumber();
    auto write = loop.getYield().getOperand(number).getDefiningOp<SWriteOp>();
    bool plain = write && write->getBlock() == loop.getBody() &&
                 write.getDest() == loop.getRegionIterArgs()[number] &&
                 !write.isWhole() && !write.getCombine();
    return plain ? write : SWriteOp();
  }

  bool canWrite(Value value) {
    Operation *op = value.getDefiningOp();
    if (auto to =
            dyn_cast_or_null<bufferization::MaterializeInDestinationOp>(op))
      return canWrite(to.getSource());
    if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
      return expand.getReassociationIndices().back().size() == 1 &&
             canWrite(expand.getSrc());
    if (auto branch = dyn_cast_or_null<scf::IfOp>(op)) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      return canWrite(branch.thenYield().getOperand(number)) &&
             canWrite(branch.elseYield().getOperand(number));
    }
    auto loop = dyn_cast_or_null<ForallOp>(op);
    if (!loop)
      return false;
    auto result = cast<OpResult>(value);
    SWriteOp write = findWrite(result);
    if (!write || write.getTileType().getRank() == 0)
      return false;
    int64_t extent = write.getTileType().getShape().back();
    Value init = loop.getInitArgs()[result.getResultNumber()];
    return extent % 8 == 0 &&
           isMultiple(loop, write.getSubscripts().back(), extent) &&
           (writesAll(loop, write, init) || isBackground(init, background));
  }

  Value write(Value value) {
    Operation *op = value.getDefiningOp();
    if (auto to = dyn_cast<bufferization::MaterializeInDestinationOp>(op))
      return write(to.getSource());
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      return expandBits(expand, write(expand.getSrc()));
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return writeInBranches(branch, cast<OpResult>(value).getResultNumber());
    return writeInLoop(cast<OpResult>(value));
  }

  /// The bits of what `expand` gives, of those of what it takes. Bits run along
  /// the last dim, which it leaves alone.
  Value expandBits(tensor::ExpandShapeOp expand, Value bits) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(expand);
    Location loc = expand.getLoc();
    SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
    sizes.back() = tensor::getMixedSizes(b, loc, bits).back();
    SmallVector<int64_t> shape(expand.getResultType().getShape());
    shape.back() = cast<RankedTensorType>(bits.getType()).getShape().back();
    return tensor::ExpandShapeOp::create(
        b, loc, RankedTensorType::get(shape, b.getI8Type()), bits,
        expand.getReassociationIndices(), sizes);
  }

  Value writeInBranches(scf::IfOp branch, unsigned number) {
    SmallVector<scf::YieldOp> yields = {branch.thenYield(), branch.elseYield()};
    SmallVector<Value> bits;
    for (scf::YieldOp yield : yields)
      bits.push_back(write(yield.getOperand(number)));
    for (unsigned i = 0; i < branch.getNumResults(); ++i)
      if (yields[0].getOperand(i) == bits[0] &&
          yields[1].getOperand(i) == bits[1])
        return branch.getResult(i);
    OpBuilder::InsertionGuard guard(b);
    for (unsigned i = 0; i < 2; ++i)
      b.modifyOpInPlace(yields[i], [&] {
        yields[i]->insertOperands(yields[i].getNumOperands(), bits[i]);
      });
    b.setInsertionPoint(branch);
    SmallVector<Type> types(branch.getResultTypes());
    types.push_back(bits.front().getType());
    auto wider =
        scf::IfOp::create(b, branch.getLoc(), types, branch.getCondition());
    wider.getThenRegion().takeBody(branch.getThenRegion());
    wider.getElseRegion().takeBody(branch.getElseRegion());
    b.replaceOp(branch, wider.getResults().drop_back());
    return wider.getResults().back();
  }

  Value writeInLoop(OpResult value) {
    auto loop = cast<ForallOp>(value.getOwner());
    SWriteOp write = findWrite(value);
    for (Operation *user : write->getUsers())
      if (auto scan = dyn_cast<ScanOp>(user);
          scan && scan.getBackgroundAttr() == given)
        for (auto [i, yielded] : llvm::enumerate(loop.getYield().getOperands()))
          if (yielded == scan.getResult())
            return loop.getResult(i);

    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop);
    Location loc = loop.getLoc();
    Value init = loop.getInitArgs()[value.getResultNumber()];
    SmallVector<Value> inits(loop.getInitArgs());
    inits.push_back(createBitmap(loc, init, writesAll(loop, write, init)));
    auto wider = ForallOp::create(
        b, loc, loop.getLower(), loop.getUpper(), loop.getSteps(),
        loop.getIndex(), loop.getGroup(), loop.getChunk(), inits,
        [](OpBuilder &, Location, ValueRange, Value, Value, ValueRange) {});
    wider.setConflicts(loop.getConflicts());
    wider->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    Block *body = wider.getBody();
    b.mergeBlocks(loop.getBody(), body, body->getArguments().drop_back());
    YieldOp yield = wider.getYield();
    b.setInsertionPoint(yield);
    Value bits = body->getArguments().back();
    auto scan = ScanOp::create(b, write.getLoc(), bits.getType(),
                               write.getResult(), bits, write.getSubscripts(),
                               write.getTileType().getShape(), given);
    b.modifyOpInPlace(yield, [&] {
      yield->insertOperands(yield->getNumOperands(), scan.getResult());
    });
    b.replaceOp(loop, wider.getResults().drop_back());
    return wider.getResults().back();
  }

  /// A tensor for the bits of one like `values`.
  Value createBitmap(Location loc, Value values, bool allWritten) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, values);
    OpFoldResult &last = sizes.back();
    if (std::optional<int64_t> known = getConstantIntValue(last)) {
      last = b.getIndexAttr(getBitsBytes(*known));
    } else {
      auto index = [&](int64_t value) -> Value {
        return arith::ConstantIndexOp::create(b, loc, value);
      };
      Value words =
          arith::CeilDivUIOp::create(b, loc, cast<Value>(last), index(64));
      last = arith::MulIOp::create(b, loc, words, index(8)).getResult();
    }
    Value bits = tensor::EmptyOp::create(b, loc, sizes, b.getI8Type());
    if (allWritten)
      return bits;
    Value zero = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
    return linalg::FillOp::create(b, loc, zero, bits).getResult(0);
  }

  RewriterBase &b;
  Type element;
  TypedAttr given, background; ///< null if it is 0, and the number itself
};

} // namespace

/// Do both scan the same values for the same?
static bool isSameScan(ChooseOp a, ChooseOp b) {
  return a.getInput() == b.getInput() && a.getMask() == b.getMask() &&
         a.getBackgroundAttr() == b.getBackgroundAttr();
}

/// Does `one` look for all that `other` asks about?
static bool coversAll(ChooseOp one, ChooseOp other) {
  return llvm::all_of(other.getCandidates(), [&](Attribute candidate) {
    return llvm::is_contained(one.getCandidates(), candidate);
  });
}

/// The choice whose scan serves most of the others; the first one of equal
/// ones.
static ChooseOp findLeader(ArrayRef<ChooseOp> choices) {
  return *llvm::max_element(choices, [&](ChooseOp a, ChooseOp b) {
    auto countServed = [&](ChooseOp one) {
      return llvm::count_if(
          choices, [&](ChooseOp other) { return coversAll(one, other); });
    };
    return countServed(a) < countServed(b);
  });
}

/// Has the choices of a block, in their order, scan once.
static void share(RewriterBase &rewriter, ArrayRef<ChooseOp> choices) {
  ChooseOp first = choices.front(), leader = findLeader(choices);
  if (leader != first) {
    if (succeeded(moveOperationDependencies(rewriter, leader, first)))
      rewriter.moveOpBefore(leader, first);
    else
      leader = first;
  }
  for (ChooseOp other : choices)
    if (other != leader)
      rewriter.modifyOpInPlace(
          other, [&] { other.getSeenMutable().assign(leader.getBitmap()); });
}

namespace {
struct ShareScansPass : pit::impl::PitShareScansBase<ShareScansPass> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    writeBitmaps(rewriter);
    getOperation().walk([&](Block *block) {
      SmallVector<SmallVector<ChooseOp>> groups;
      for (ChooseOp choose : block->getOps<ChooseOp>()) {
        // Tensors are values; memory may be written to in between.
        if (!isa<TensorType>(choose.getInput().getType()) ||
            choose.getWritten() || choose.getSeen() || choose.getAfter())
          continue;
        auto *group = llvm::find_if(groups, [&](ArrayRef<ChooseOp> others) {
          return isSameScan(others.front(), choose);
        });
        if (group == groups.end())
          groups.push_back({choose});
        else
          group->push_back(choose);
      }
      for (ArrayRef<ChooseOp> group : groups)
        if (group.size() > 1)
          share(rewriter, group);
    });
  }

  void writeBitmaps(RewriterBase &rewriter) {
    BitmapWriter writer(rewriter);
    auto take = [&](auto op) {
      if (Value bits = writer.run(op.getInput(), op.getBackgroundAttr()))
        rewriter.modifyOpInPlace(op,
                                 [&] { op.getWrittenMutable().assign(bits); });
    };
    SmallVector<Operation *> readers;
    getOperation().walk([&](Operation *op) {
      if (isa<ChooseOp, IndexOp>(op))
        readers.push_back(op);
    });
    for (Operation *op : readers) {
      if (auto choose = dyn_cast<ChooseOp>(op)) {
        if (!choose.getMask() && !choose.getWritten())
          take(choose);
        continue;
      }
      // A choice tells by bits, too, which elements it has seen.
      auto index = cast<IndexOp>(op);
      if (index.getSource() == Source::Values && !index.getWritten() &&
          !index.getSeen())
        take(index);
    }
  }
};
} // namespace
