//===- CheckBounds.cpp - Bounds of every access, checked in the program ---===//
//
// An access runs only where it stays inside of its memref. Otherwise the
// runtime is told (pit_rt_check_bounds), which makes the call fail, and what
// would have been read is 0. So a wrong program does no harm, also in parallel
// loops, from which there is no way to return. (What upstream makes of its
// RuntimeVerifiableOpInterface are assertions, which end the process.)
//
//===----------------------------------------------------------------------===//

#include "Codegen/Common/RuntimeCalls.h"

#include "pit/Codegen/CPU/Passes.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCHECKBOUNDS
#include "pit/Codegen/CPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {

/// Elements [first, first + count) of `size`, all of index type. None at all
/// are inside wherever they are.
struct Reach {
  Value first, count, size;
  bool linear = false; ///< counted in memory, not along a dimension
};

/// What messages call the ops of a module, as constants.
class Texts {
public:
  explicit Texts(ModuleOp module) : module(module), symbols(module) {}

  /// The address of a text that ends in a NUL.
  Value at(OpBuilder &b, Location loc, StringRef text) {
    LLVM::GlobalOp &global = globals[text];
    if (!global) {
      OpBuilder atStart(module.getBodyRegion());
      std::string ended = (text + Twine('\0')).str();
      global = LLVM::GlobalOp::create(
          atStart, loc, LLVM::LLVMArrayType::get(b.getI8Type(), ended.size()),
          /*isConstant=*/true, LLVM::Linkage::Internal, "pit_access",
          b.getStringAttr(ended));
      symbols.insert(global);
    }
    return LLVM::AddressOfOp::create(b, loc, global);
  }

private:
  ModuleOp module;
  SymbolTable symbols;
  llvm::StringMap<LLVM::GlobalOp> globals;
};

/// Adds the checks of one function.
class Checker {
public:
  Checker(func::FuncOp function, Value frame, Texts &texts)
      : function(function), frame(frame), texts(texts),
        b(function.getContext()) {}

  LogicalResult run();

private:
  LogicalResult check(Operation *op);
  LogicalResult checkTransfer(VectorTransferOpInterface op);
  void checkPlain(Operation *op, Value memref, ValueRange indices, Type type);
  void checkMasked(Operation *op, Value memref, ValueRange indices, Value mask);
  void checkGathered(Operation *op, Value memref, ValueRange indices,
                     Value offsets, Value mask);
  void checkLinear(Operation *op, Value memref, Value first, Value count);
  void checkTile(Operation *op, Value memref, ValueRange indices, Value stride,
                 amx::TileType tile);
  void checkCopy(memref::CopyOp op);
  SmallVector<Reach> viewRanges(Operation *op);
  void checkView(Operation *op);

  /// Lets `op` run only where all of `ranges` are inside, and the views that it
  /// goes through.
  void guard(Operation *op, ArrayRef<Reach> ranges);
  /// The same for the dimensions of one memref.
  void guard(Operation *op, Value memref, SmallVector<Reach> ranges);
  /// The dimension along which consecutive elements of memory lie.
  Reach &consecutive(Value memref, MutableArrayRef<Reach> ranges);
  /// Adds what elements in memory, counted as `linear` does, are of the memory
  /// that memref is a free view of (memref.reinterpret_cast). Such a view may
  /// promise more than there is, where accesses are masked.
  void addSources(Value memref, Value first, Value count,
                  SmallVector<Reach> &ranges);
  /// Tells the runtime of each reach, of which some are not inside.
  void report(Operation *op, ArrayRef<Reach> ranges);
  Value isInside(const Reach &range);
  /// A view, and whether it is inside of what it is a view of.
  struct View {
    Operation *op;
    SmallVector<Reach> ranges;
    Value isSound;
  };
  /// The views through which an op accesses memory.
  SmallVector<const View *> viewsOf(Operation *access) const;
  Value both(Value a, Value c);
  /// What an op that did not run results in.
  Value zero(Type type);

  /// The ranges of an op that takes one element along each dimension.
  SmallVector<Reach> points(Value memref, ValueRange indices);
  /// The lanes that a mask selects: the first one, and how many up to the last.
  std::pair<Value, Value> lanes(Value mask, Value offsets = {});
  /// Where a memref begins in the memory that it is a view of, and how many
  /// elements later it ends.
  std::pair<Value, Value> span(Value memref);
  Value linear(Value memref, ValueRange indices);

  Value index(int64_t value) { return constantIndex(b, loc, value); }
  Value add(Value a, Value c) { return arith::AddIOp::create(b, loc, a, c); }
  Value sub(Value a, Value c) { return arith::SubIOp::create(b, loc, a, c); }
  Value mul(Value a, Value c) { return arith::MulIOp::create(b, loc, a, c); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value c) {
    return arith::CmpIOp::create(b, loc, predicate, a, c);
  }
  Value sizeOf(Value memref, int64_t dim) {
    return memref::DimOp::create(b, loc, memref, dim);
  }

  func::FuncOp function;
  Value frame;
  Texts &texts;
  OpBuilder b;
  Location loc = UnknownLoc::get(function.getContext());
  DenseMap<Value, View> views; ///< those that may be outside of their source
};

} // namespace

//===----------------------------------------------------------------------===//
// What is inside
//===----------------------------------------------------------------------===//

Value Checker::both(Value a, Value c) {
  if (!a || !c)
    return a ? a : c;
  return arith::AndIOp::create(b, loc, a, c);
}

Value Checker::isInside(const Reach &range) {
  using P = arith::CmpIPredicate;
  Value from = compare(P::sge, range.first, index(0));
  Value to = compare(P::sle, range.first, sub(range.size, range.count));
  Value none = compare(P::sle, range.count, index(0));
  return arith::OrIOp::create(b, loc, none, both(from, to));
}

SmallVector<const Checker::View *> Checker::viewsOf(Operation *access) const {
  SmallVector<const View *> found;
  for (Value memref : access->getOperands()) {
    if (!isa<MemRefType>(memref.getType()))
      continue;
    while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
      if (auto it = views.find(memref); it != views.end())
        found.push_back(&it->second);
      memref = view.getViewSource();
    }
  }
  return found;
}

std::pair<Value, Value> Checker::span(Value memref) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  Value length = index(1), empty;
  for (auto [size, stride] :
       llvm::zip_equal(metadata.getSizes(), metadata.getStrides())) {
    length = add(length, mul(sub(size, index(1)), stride));
    Value none = compare(arith::CmpIPredicate::sle, size, index(0));
    empty =
        empty ? arith::OrIOp::create(b, loc, empty, none).getResult() : none;
  }
  if (empty)
    length = arith::SelectOp::create(b, loc, empty, index(0), length);
  return {metadata.getOffset(), length};
}

Value Checker::linear(Value memref, ValueRange indices) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  Value place = index(0);
  for (auto [at, stride] : llvm::zip_equal(indices, metadata.getStrides()))
    place = add(place, mul(at, stride));
  return place;
}

SmallVector<Reach> Checker::points(Value memref, ValueRange indices) {
  SmallVector<Reach> ranges;
  for (auto [dim, at] : llvm::enumerate(indices))
    ranges.push_back({at, index(1), sizeOf(memref, dim)});
  return ranges;
}

std::pair<Value, Value> Checker::lanes(Value mask, Value offsets) {
  int64_t count = cast<VectorType>(mask.getType()).getNumElements();
  auto type = VectorType::get(count, b.getI64Type());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, b.getI64IntegerAttr(value)));
  };
  if (!offsets) {
    offsets = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(
            type, ArrayRef<int64_t>(llvm::to_vector(llvm::seq(count)))));
  } else if (offsets.getType() != type) {
    bool isIndex =
        cast<VectorType>(offsets.getType()).getElementType().isIndex();
    offsets =
        isIndex ? arith::IndexCastOp::create(b, loc, type, offsets).getResult()
                : arith::ExtSIOp::create(b, loc, type, offsets);
  }
  // Wild ones stay far outside, but do not overflow.
  constexpr int64_t far = INT64_MAX / 4;
  offsets = arith::MaxSIOp::create(b, loc, offsets, constant(-far));
  offsets = arith::MinSIOp::create(b, loc, offsets, constant(far));
  auto reduce = [&](vector::CombiningKind kind, int64_t neutral) -> Value {
    Value active =
        arith::SelectOp::create(b, loc, mask, offsets, constant(neutral));
    Value found = vector::ReductionOp::create(b, loc, kind, active);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), found);
  };
  // Without lanes the first comes behind the last.
  Value first = reduce(vector::CombiningKind::MINSI, far);
  Value last = reduce(vector::CombiningKind::MAXSI, -far);
  return {first, add(sub(last, first), index(1))};
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

Value Checker::zero(Type type) {
  if (auto tile = dyn_cast<amx::TileType>(type))
    return amx::TileZeroOp::create(b, loc, tile);
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

void Checker::report(Operation *op, ArrayRef<Reach> ranges) {
  std::string what;
  llvm::raw_string_ostream os(what);
  bool placed = false;
  op->getLoc()->walk([&](Location part) {
    if (auto file = dyn_cast<FileLineColLoc>(part)) {
      os << file.getFilename().getValue() << ":" << file.getLine() << ":"
         << file.getColumn() << ": ";
      placed = true;
    }
    return placed ? WalkResult::interrupt() : WalkResult::advance();
  });
  os << op->getName();
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType())) {
      os << " of " << operand.getType();
      break;
    }
  Value text = texts.at(b, loc, what);
  auto i64 = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
  };
  for (auto [dim, range] : llvm::enumerate(ranges))
    callRuntime(b, loc, "pit_rt_check_bounds", {},
                {frame, text,
                 arith::ConstantIntOp::create(b, loc, b.getI32Type(),
                                              range.linear ? -1 : dim),
                 i64(range.first), i64(range.count), i64(range.size)});
}

void Checker::guard(Operation *op, ArrayRef<Reach> ranges) {
  Value good, nothing, sound;
  for (const Reach &range : ranges) {
    good = both(good, isInside(range));
    Value none = compare(arith::CmpIPredicate::sle, range.count, index(0));
    nothing = nothing ? arith::OrIOp::create(b, loc, nothing, none).getResult()
                      : none;
  }
  SmallVector<const View *> views = viewsOf(op);
  for (const View *view : views)
    sound = both(sound, view->isSound);
  if (sound && nothing)
    sound = arith::OrIOp::create(b, loc, sound, nothing);
  good = both(good, sound);
  if (!good)
    return;
  auto branch = scf::IfOp::create(b, loc, op->getResultTypes(), good,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  op->replaceAllUsesWith(branch);
  op->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, op->getResults());
  b.setInsertionPointToEnd(branch.elseBlock());
  for (const View *view : views)
    report(view->op, view->ranges);
  report(op, ranges);
  SmallVector<Value> zeros;
  for (Type type : op->getResultTypes())
    zeros.push_back(zero(type));
  scf::YieldOp::create(b, loc, zeros);
}

void Checker::addSources(Value memref, Value first, Value count,
                         SmallVector<Reach> &ranges) {
  for (Value at = memref; Operation *op = at.getDefiningOp();) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    // memref.view counts anew.
    if (!view || isa<memref::ViewOp>(op))
      return;
    at = view.getViewSource();
    if (!isa<memref::ReinterpretCastOp>(op))
      continue;
    auto [offset, length] = span(at);
    Value from = add(first, sub(span(memref).first, offset));
    ranges.push_back({from, count, length, /*linear=*/true});
  }
}

void Checker::guard(Operation *op, Value memref, SmallVector<Reach> ranges) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  Value first = index(0), count = index(1), least = index(1);
  for (auto [range, stride] : llvm::zip_equal(ranges, metadata.getStrides())) {
    first = add(first, mul(range.first, stride));
    count = add(count, mul(sub(range.count, index(1)), stride));
    least = arith::MinSIOp::create(b, loc, least, range.count);
  }
  // Nothing along one dimension is nothing at all.
  Value some = compare(arith::CmpIPredicate::sgt, least, index(0));
  count = arith::SelectOp::create(b, loc, some, count, index(0));
  addSources(memref, first, count, ranges);
  guard(op, ranges);
}

Reach &Checker::consecutive(Value memref, MutableArrayRef<Reach> ranges) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t dim = type.getRank() - 1;
  // Behind the one element of a row comes the next row.
  while (dim > 0 && type.getDimSize(dim) == 1 && type.getLayout().isIdentity())
    --dim;
  return ranges[dim];
}

/// A scalar, or all of a vector along the last dimensions.
void Checker::checkPlain(Operation *op, Value memref, ValueRange indices,
                         Type type) {
  SmallVector<Reach> ranges = points(memref, indices);
  auto vector = dyn_cast<VectorType>(type);
  bool isElement = cast<MemRefType>(memref.getType()).getElementType() == type;
  if (vector && !isElement && vector.getRank() == 1)
    consecutive(memref, ranges).count = index(vector.getDimSize(0));
  else if (vector && !isElement)
    for (int64_t d = 1; d <= vector.getRank(); ++d)
      ranges.end()[-d].count = index(vector.getShape().end()[-d]);
  guard(op, memref, ranges);
}

void Checker::checkMasked(Operation *op, Value memref, ValueRange indices,
                          Value mask) {
  auto [first, count] = lanes(mask);
  SmallVector<Reach> ranges = points(memref, indices);
  // Without lanes it does not matter where they are not.
  Value any = arith::MinSIOp::create(b, loc, count, index(1));
  for (Reach &range : ranges)
    range.count = any;
  Reach &along = consecutive(memref, ranges);
  along.first = add(along.first, first);
  along.count = count;
  guard(op, memref, ranges);
}

void Checker::checkLinear(Operation *op, Value memref, Value first,
                          Value count) {
  SmallVector<Reach> ranges = {
      {first, count, span(memref).second, /*linear=*/true}};
  addSources(memref, first, count, ranges);
  guard(op, ranges);
}

void Checker::checkGathered(Operation *op, Value memref, ValueRange indices,
                            Value offsets, Value mask) {
  auto [first, count] = lanes(mask, offsets);
  checkLinear(op, memref, add(linear(memref, indices), first), count);
}

/// Rows of a tile register, `stride` elements apart.
void Checker::checkTile(Operation *op, Value memref, ValueRange indices,
                        Value stride, amx::TileType tile) {
  Value rows = index(tile.getDimSize(0) - 1),
        columns = index(tile.getDimSize(1));
  if (!stride) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
    stride = metadata.getStrides().drop_back().back();
  }
  checkLinear(op, memref, linear(memref, indices),
              add(mul(rows, stride), columns));
}

void Checker::checkCopy(memref::CopyOp op) {
  SmallVector<Reach> ranges;
  for (int64_t d = 0; d < op.getSource().getType().getRank(); ++d)
    ranges.push_back(
        {index(0), sizeOf(op.getSource(), d), sizeOf(op.getTarget(), d)});
  guard(op, ranges);
}

LogicalResult Checker::checkTransfer(VectorTransferOpInterface op) {
  if (!isa<MemRefType>(op.getBase().getType()))
    return success();
  AffineMap map = op.getPermutationMap();
  SmallVector<Reach> ranges = points(op.getBase(), op.getIndices());
  std::pair<Value, Value> active;
  if (Value mask = op.getMask()) {
    if (map.getNumResults() != 1)
      return op.emitOpError(
          "has a mask of several dimensions, and cannot be checked");
    active = lanes(mask);
    // Without lanes it does not matter where they are not.
    Value any = arith::MinSIOp::create(b, loc, active.second, index(1));
    for (Reach &range : ranges)
      range.count = any;
  }
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      continue; // broadcast
    Reach &range = ranges[dim.getPosition()];
    if (!op.isDimInBounds(d)) {
      // It takes what there is from here on, but nothing before the start.
      Value start = arith::MaxSIOp::create(b, loc, index(0), range.first);
      Value behind =
          arith::MaxSIOp::create(b, loc, index(0), sub(range.size, start));
      Value lanes = index(op.getVectorType().getDimSize(d));
      range.count = arith::MinSIOp::create(b, loc, lanes, behind);
    } else if (active.first) {
      range.first = add(range.first, active.first);
      range.count = active.second;
    } else {
      range.count = index(op.getVectorType().getDimSize(d));
    }
  }
  guard(op, op.getBase(), ranges);
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// What a view takes of its source, by ranges that have to be inside. Sizes
/// that must be equal are inside of each other.
SmallVector<Reach> Checker::viewRanges(Operation *op) {
  Value result = op->getResult(0), zero = index(0);
  SmallVector<Reach> ranges;
  auto equal = [&](Value a, Value c) {
    ranges.push_back({zero, a, c});
    ranges.push_back({zero, c, a});
  };
  TypeSwitch<Operation *>(op)
      .Case([&](memref::ViewOp view) {
        Value bytes = index(elementBytes(view.getType().getElementType()));
        for (int64_t d = 0; d < view.getType().getRank(); ++d)
          bytes = mul(bytes, sizeOf(result, d));
        ranges.push_back(
            {view.getByteShift(), bytes, sizeOf(view.getSource(), 0)});
      })
      .Case([&](memref::SubViewOp view) {
        auto value = [&](OpFoldResult size) {
          return getValueOrCreateConstantIndexOp(b, loc, size);
        };
        for (auto [d, offset, size, stride] :
             llvm::enumerate(view.getMixedOffsets(), view.getMixedSizes(),
                             view.getMixedStrides())) {
          Value last = mul(sub(value(size), index(1)), value(stride));
          ranges.push_back({value(offset), add(last, index(1)),
                            sizeOf(view.getSource(), d)});
        }
      })
      .Case([&](memref::CastOp cast) {
        auto from = dyn_cast<MemRefType>(cast.getSource().getType());
        auto to = dyn_cast<MemRefType>(cast.getType());
        for (int64_t d = 0; from && to && d < to.getRank(); ++d)
          if (from.isDynamicDim(d) && !to.isDynamicDim(d))
            equal(sizeOf(cast.getSource(), d), index(to.getDimSize(d)));
      })
      .Case([&](memref::ExpandShapeOp expand) {
        for (auto [d, parts] :
             llvm::enumerate(expand.getReassociationIndices())) {
          Value product = index(1);
          for (int64_t part : parts)
            product = mul(product, sizeOf(result, part));
          equal(sizeOf(expand.getSrc(), d), product);
        }
      });
  return ranges;
}

/// Finds out whether a view lies inside of its source, when it is made. Only an
/// access can be wrong, and later depends on that.
void Checker::checkView(Operation *op) {
  b.setInsertionPointAfter(op);
  SmallVector<Reach> ranges = viewRanges(op);
  Value good;
  for (const Reach &range : ranges)
    good = both(good, isInside(range));
  if (!good)
    return;
  views[op->getResult(0)] = {op, std::move(ranges), good};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult Checker::check(Operation *op) {
  loc = op->getLoc();
  b.setInsertionPoint(op);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<memref::ViewOp, memref::SubViewOp, memref::CastOp,
            memref::ExpandShapeOp>([&](Operation *op) {
        checkView(op);
        return success();
      })
      .Case([&](memref::LoadOp op) {
        checkPlain(op, op.getMemRef(), op.getIndices(), op.getType());
        return success();
      })
      .Case([&](memref::StoreOp op) {
        checkPlain(op, op.getMemRef(), op.getIndices(),
                   op.getValue().getType());
        return success();
      })
      .Case<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>([&](auto op) {
        checkPlain(op, op.getMemref(), op.getIndices(), op.getType());
        return success();
      })
      .Case([&](vector::LoadOp op) {
        checkPlain(op, op.getBase(), op.getIndices(), op.getType());
        return success();
      })
      .Case([&](vector::StoreOp op) {
        checkPlain(op, op.getBase(), op.getIndices(),
                   op.getValueToStore().getType());
        return success();
      })
      .Case<vector::MaskedLoadOp, vector::MaskedStoreOp>([&](auto op) {
        checkMasked(op, op.getBase(), op.getIndices(), op.getMask());
        return success();
      })
      .Case<vector::GatherOp, vector::ScatterOp>([&](auto op) {
        checkGathered(op, op.getBase(), op.getOffsets(), op.getIndices(),
                      op.getMask());
        return success();
      })
      .Case([&](VectorTransferOpInterface op) { return checkTransfer(op); })
      .Case([&](amx::TileLoadOp op) {
        checkTile(op, op.getBase(), op.getIndices(), op.getStride(),
                  op.getTileType());
        return success();
      })
      .Case([&](amx::TileStoreOp op) {
        checkTile(op, op.getBase(), op.getIndices(), op.getStride(),
                  op.getTileType());
        return success();
      })
      .Case([&](memref::CopyOp op) {
        checkCopy(op);
        return success();
      })
      // A hint: nothing is read.
      .Case([&](memref::PrefetchOp) { return success(); })
      .Default([&](Operation *op) -> LogicalResult {
        auto effects = dyn_cast<MemoryEffectOpInterface>(op);
        bool call = isa<CallOpInterface>(op);
        for (Value operand : op->getOperands())
          if (isa<BaseMemRefType>(operand.getType()) &&
              (call ||
               (effects &&
                (effects.getEffectOnValue<MemoryEffects::Read>(operand) ||
                 effects.getEffectOnValue<MemoryEffects::Write>(operand)))))
            return op->emitOpError(
                "accesses memory, and its bounds cannot be checked");
        return success();
      });
}

LogicalResult Checker::run() {
  SmallVector<Operation *> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(check(op)))
      return failure();
  return success();
}

namespace {
struct PitCheckBounds : pit::impl::PitCheckBoundsBase<PitCheckBounds> {
  using Base::Base;
  void runOnOperation() override {
    Texts texts(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      Value frame = function.isExternal() ? Value() : getFrame(function);
      if (frame && failed(Checker(function, frame, texts).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
