//===- KernelLayouts.cpp - Kernels take the views they are launched on ----===//

#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITKERNELLAYOUTS
#include "pit/Codegen/GPU/Host/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// `shape` with the strides and the offset that `layouts` have in common; those
/// that differ are found out when the kernel runs. Null if one of them has no
/// strides.
static MemRefType withLayouts(MemRefType shape, ArrayRef<MemRefType> layouts) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  for (auto [i, type] : llvm::enumerate(layouts)) {
    SmallVector<int64_t> others;
    int64_t otherOffset;
    if (failed(type.getStridesAndOffset(others, otherOffset)))
      return {};
    if (i == 0) {
      strides = others;
      offset = otherOffset;
      continue;
    }
    for (auto [stride, other] : llvm::zip_equal(strides, others))
      stride = stride == other ? stride : ShapedType::kDynamic;
    offset = offset == otherOffset ? offset : ShapedType::kDynamic;
  }
  return MemRefType::get(
      shape.getShape(), shape.getElementType(),
      StridedLayoutAttr::get(shape.getContext(), offset, strides),
      shape.getMemorySpace());
}

namespace {
using Types = llvm::MapVector<Value, MemRefType>;
} // namespace

/// The type of a view's result if its source is of type `source`; null if such
/// a source has no such view.
static MemRefType viewType(Operation *view, MemRefType source) {
  auto result = cast<MemRefType>(view->getResult(0).getType());
  if (auto op = dyn_cast<memref::SubViewOp>(view))
    return memref::SubViewOp::inferRankReducedResultType(
        result.getShape(), source, op.getMixedOffsets(), op.getMixedSizes(),
        op.getMixedStrides());
  if (auto op = dyn_cast<memref::CastOp>(view)) {
    if (!result.getLayout().isIdentity())
      return memref::CastOp::areCastCompatible(source, result) ? result
                                                               : MemRefType();
    return MemRefType::get(result.getShape(), result.getElementType(),
                           source.getLayout(), source.getMemorySpace());
  }
  if (auto op = dyn_cast<memref::ExpandShapeOp>(view))
    return memref::ExpandShapeOp::computeExpandedType(
               source, result.getShape(), op.getReassociationIndices())
        .value_or(MemRefType());
  if (auto op = dyn_cast<memref::CollapseShapeOp>(view)) {
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(
            source, op.getReassociationIndices()))
      return {};
    return memref::CollapseShapeOp::computeCollapsedType(
        source, op.getReassociationIndices());
  }
  return {};
}

/// Finds the types that `value` and its views get if it is of type `type`;
/// fails where an op of the kernel does not take that.
static LogicalResult collectTypes(Value value, MemRefType type, Types &types) {
  types[value] = type;
  for (Operation *user : value.getUsers()) {
    if (user->hasTrait<OpTrait::IsTerminator>())
      return failure();
    // Vectors of one load or store have to be in one piece.
    if (isa<vector::LoadOp, vector::StoreOp>(user) &&
        !type.isLastDimUnitStride())
      return failure();
    if (llvm::none_of(user->getResultTypes(), llvm::IsaPred<MemRefType>))
      continue;
    MemRefType view =
        user->getNumResults() == 1 ? viewType(user, type) : MemRefType();
    if (!view || failed(collectTypes(user->getResult(0), view, types)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The launches of one kernel, and the operand of each that is the argument.
static SmallVector<OpOperand *> operandsOf(ArrayRef<LaunchOp> launches,
                                           unsigned argument) {
  return llvm::map_to_vector(launches, [&](LaunchOp launch) {
    unsigned first = launch.getInputs().getBeginOperandIndex();
    return &launch->getOpOperand(first + argument);
  });
}

/// Hands over a copy without gaps, and copies back what the kernel wrote.
static void passCopy(OpOperand &operand) {
  auto launch = cast<LaunchOp>(operand.getOwner());
  OpBuilder builder(launch);
  Location loc = launch.getLoc();
  Value view = operand.get();
  auto type = cast<MemRefType>(view.getType());
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      sizes.push_back(memref::DimOp::create(builder, loc, view, d));
  Value copy = memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      sizes);
  memref::CopyOp::create(builder, loc, view, copy);
  operand.set(copy);
  if (operand.getOperandNumber() < launch.getOuts().getBeginOperandIndex())
    return;
  builder.setInsertionPointAfter(launch);
  memref::CopyOp::create(builder, loc, copy, view);
}

/// Gives argument `number` the layout of what it is launched on.
static LogicalResult matchArgument(func::FuncOp kernel,
                                   ArrayRef<LaunchOp> launches,
                                   unsigned number) {
  Value argument = kernel.getArgument(number);
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!type)
    return success();
  SmallVector<OpOperand *> operands = operandsOf(launches, number);
  SmallVector<MemRefType> layouts;
  for (OpOperand *operand : operands) {
    auto given = dyn_cast<MemRefType>(operand->get().getType());
    if (!given || given.getRank() != type.getRank())
      return operand->getOwner()->emitOpError()
             << "hands " << operand->get().getType() << " to argument "
             << number << " of its kernel, " << type;
    if (Attribute space = given.getMemorySpace())
      return operand->getOwner()->emitOpError()
             << "hands " << given << " to a kernel, in memory space " << space
             << "; kernels take the device's global memory, of which memrefs "
                "have no memory space";
    layouts.push_back(given);
  }
  if (llvm::all_of(layouts, [&](MemRefType given) {
        return given.getLayout().isIdentity() && type.getLayout().isIdentity();
      }))
    return success();
  Types types;
  MemRefType wanted = withLayouts(type, layouts);
  if (wanted && succeeded(collectTypes(argument, wanted, types))) {
    for (auto &[value, newType] : types)
      value.setType(newType);
    return success();
  }
  for (OpOperand *operand : operands)
    passCopy(*operand);
  return success();
}

namespace {
struct KernelLayoutsPass : pit::impl::PitKernelLayoutsBase<KernelLayoutsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::MapVector<Operation *, SmallVector<LaunchOp>> kernels;
    WalkResult walk = module.walk([&](LaunchOp launch) {
      auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
          launch, launch.getKernelAttr());
      unsigned operands = launch.getInputs().size() + launch.getOuts().size();
      if (!kernel || kernel.isExternal() ||
          kernel.getNumArguments() != operands) {
        launch.emitOpError()
            << "hands " << operands << " operands to " << launch.getKernel()
            << ", which is no function that takes them";
        return WalkResult::interrupt();
      }
      kernels[kernel].push_back(launch);
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    for (auto &[op, launches] : kernels) {
      auto kernel = cast<func::FuncOp>(op);
      for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
        if (failed(matchArgument(kernel, launches, i)))
          return signalPassFailure();
      kernel.setFunctionType(FunctionType::get(
          &getContext(), kernel.front().getArgumentTypes(), {}));
    }
  }
};
} // namespace
