//===- CloseGaps.cpp - Rows of mainloops whose elements are neighbours ----===//

#include "MainloopPlan.h"

#include "pit/Codegen/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITCLOSEGAPS
#include "pit/Codegen/CPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

namespace {

/// How far the elements of a row are apart.
enum class Gaps { None, Some, Unknown };

/// The accesses of a loop to a memref.
struct Access {
  bool reads = false, writes = false;
};

/// The memrefs of the mainloops in one nest of tile loops.
class NestRows {
public:
  NestRows(Operation *nest, const CpuTarget &target)
      : nest(nest), target(target), b(nest) {}

  void run() {
    cloneViews();
    replace(Gaps::Unknown);
    // Gaps that are known are read in place where that is planned.
    bool isPlanned = true;
    nest->walk([&](MainloopOp mainloop) {
      isPlanned &= bool(mainloop.findSchedule<CpuScheduleAttr>()) ||
                   bool(planMainloop(mainloop, target));
    });
    if (!isPlanned)
      replace(Gaps::Some);
  }

private:
  bool isInside(Value value) {
    return nest->isAncestor(value.getParentBlock()->getParentOp());
  }

  static Gaps gapsOf(MemRefType type) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (type.getRank() == 0 || type.getMemorySpace() ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        strides.back() == 1)
      return Gaps::None;
    return ShapedType::isDynamic(strides.back()) ? Gaps::Unknown : Gaps::Some;
  }

  /// Views before the nest may stand before what their memrefs become.
  void cloneViews() {
    nest->walk([&](MainloopOp mainloop) {
      for (OpOperand &extra : mainloop.getExtrasMutable())
        if (!isInside(extra.get())) {
          Operation *view = extra.get().getDefiningOp();
          views.push_back(b.clone(*view));
          extra.set(views.back()->getResult(0));
          if (view->use_empty())
            view->erase();
        }
    });
  }

  SetVector<Value> memrefs(Gaps gaps) {
    SetVector<Value> found;
    auto add = [&](Value value) {
      auto type = dyn_cast<MemRefType>(value.getType());
      if (type && gapsOf(type) == gaps && !isInside(value))
        found.insert(value);
    };
    nest->walk([&](MainloopOp mainloop) {
      add(mainloop.getDest());
      for (Value extra : mainloop.getExtras())
        add(extra.getDefiningOp<ViewOp>().getSrc());
      for (unsigned i = 0; i < mainloop.getNumLoaded(); ++i)
        add(mainloop.getLoaded(i).getSrc());
    });
    return found;
  }

  void replace(Gaps gaps) {
    for (Value memref : memrefs(gaps))
      if (std::optional<Access> access = accessOf(memref))
        closeGaps(memref, *access);
  }

  static Value rootOf(Value memref) {
    while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
      memref = view.getViewSource();
    return memref;
  }

  /// The accesses of the op to the operand's memory; nothing if there may be
  /// some by another name.
  static std::optional<Access> accessOf(OpOperand &operand) {
    Operation *op = operand.getOwner();
    if (isa<memref::DimOp, memref::ExtractStridedMetadataOp>(op))
      return Access();
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects ||
        (!isa<ViewOp>(op) &&
         llvm::any_of(op->getResultTypes(), llvm::IsaPred<BaseMemRefType>)))
      return std::nullopt;
    return Access{
        bool(effects.getEffectOnValue<MemoryEffects::Read>(operand.get())),
        bool(effects.getEffectOnValue<MemoryEffects::Write>(operand.get()))};
  }

  /// The accesses of the nest to `memref`; nothing if it may come by the same
  /// memory in another way, and one of both writes.
  std::optional<Access> accessOf(Value memref) {
    std::optional<Access> all = Access();
    bool others = false;
    Value root = rootOf(memref);
    nest->walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands()) {
        if (!isa<BaseMemRefType>(operand.get().getType()) ||
            rootOf(operand.get()) != root)
          continue;
        std::optional<Access> access = accessOf(operand);
        if (!access || !all) {
          all = std::nullopt;
          continue;
        }
        others |= operand.get() != memref;
        all->reads |= access->reads;
        all->writes |= access->writes;
      }
    });
    if (all && all->writes && others)
      return std::nullopt;
    return all;
  }

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  /// Has the nest access a memref whose rows have no gaps: the same memory if
  /// it turns out to have none, a copy otherwise.
  void closeGaps(Value memref, Access access) {
    auto type = cast<MemRefType>(memref.getType());
    int64_t rank = type.getRank();
    b.setInsertionPoint(views.empty() ? nest : views.front());
    auto from = memref::ExtractStridedMetadataOp::create(b, loc, memref);
    Value isGapless = b.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::eq, from.getStrides().back(), index(1));
    SmallVector<OpFoldResult> sizes, inPlace, inCopy(rank);
    Value elements = index(1);
    for (int64_t d = rank - 1; d >= 0; --d) {
      inCopy[d] = d == rank - 1 ? b.getIndexAttr(1) : OpFoldResult(elements);
      elements =
          b.createOrFold<arith::MulIOp>(loc, elements, from.getSizes()[d]);
    }
    for (int64_t d = 0; d < rank; ++d) {
      sizes.push_back(type.isDynamicDim(d)
                          ? OpFoldResult(from.getSizes()[d])
                          : b.getIndexAttr(type.getDimSize(d)));
      inPlace.push_back(d == rank - 1 ? b.getIndexAttr(1)
                                      : OpFoldResult(from.getStrides()[d]));
    }
    SmallVector<int64_t> strides(rank, ShapedType::kDynamic);
    strides.back() = 1;
    auto rows = MemRefType::get(
        type.getShape(), type.getElementType(),
        StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides));
    Value room = memref::AllocOp::create(
        b, loc, MemRefType::get(ShapedType::kDynamic, type.getElementType()),
        b.createOrFold<arith::SelectOp>(loc, isGapless, index(0), elements));
    Value copy = memref::ReinterpretCastOp::create(
        b, loc, rows, room, OpFoldResult(b.getIndexAttr(0)), sizes, inCopy);
    Value place = memref::ReinterpretCastOp::create(
        b, loc, rows, from.getBaseBuffer(), OpFoldResult(from.getOffset()),
        sizes, inPlace);
    Value closed = arith::SelectOp::create(b, loc, isGapless, place, copy);
    Value hasGaps = arith::XOrIOp::create(
        b, loc, isGapless, arith::ConstantIntOp::create(b, loc, 1, 1));
    copyIf(hasGaps, memref, copy);
    nest->walk([&](Operation *op) { op->replaceUsesOfWith(memref, closed); });
    for (Operation *view : views)
      view->replaceUsesOfWith(memref, closed);
    if (!access.writes)
      return;
    b.setInsertionPointAfter(nest);
    copyIf(hasGaps, copy, memref);
  }

  void copyIf(Value condition, Value from, Value to) {
    auto branch =
        scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    linalg::CopyOp::create(b, loc, from, to);
  }

  Operation *nest;
  const CpuTarget &target;
  OpBuilder b;
  SmallVector<Operation *> views; ///< of the nest, right before it
  Location loc = nest->getLoc();
};

struct CloseGapsPass : pit::impl::PitCloseGapsBase<CloseGapsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    FailureOr<CpuTarget> target = getCpuTarget(function.getLoc(), vectorWidth);
    if (failed(target))
      return signalPassFailure();
    SetVector<Operation *> nests;
    function.walk([&](MainloopOp mainloop) {
      Operation *nest = mainloop;
      for (Operation *op = nest; op; op = op->getParentOp())
        if (isa<ForallOp, ForOp>(op))
          nest = op;
      nests.insert(nest);
    });
    for (Operation *nest : nests)
      NestRows(nest, *target).run();
  }
};

} // namespace
