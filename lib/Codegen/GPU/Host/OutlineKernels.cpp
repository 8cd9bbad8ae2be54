//===- OutlineKernels.cpp - What computes on tensors becomes kernels ------===//

#include "Images.h"

#include "Dialect/Pit/IR/Arithmetic.h"

#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Dialect/Pit/IR/Inits.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITOUTLINEKERNELS
#include "pit/Codegen/GPU/Host/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

using cuda::kKernels;

//===----------------------------------------------------------------------===//
// Tiles outside of loops
//===----------------------------------------------------------------------===//

static bool isTileLoop(Operation *op) { return isa<ForallOp, ForOp>(op); }

/// The memory that a kernel writes: inits, or the target of a copy.
static SmallVector<OpOperand *> getDestinations(Operation *op) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return {&copy.getTargetMutable()};
  return getInits(op);
}

/// Ops that compute one tile: the SWrite, and what it needs up to SReads.
static void collectTile(Operation *op, SetVector<Operation *> &ops) {
  SetVector<Value> used;
  for (Value operand : op->getOperands())
    used.insert(operand);
  getUsedValuesDefinedAbove(op->getRegions(), used);
  for (Value value : used) {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != op->getBlock() || ops.contains(def) ||
        !isa<RankedTensorType>(value.getType()) || isTileLoop(def))
      continue;
    if (isa<SReadOp>(def) || isa<linalg::LinalgOp, tensor::EmptyOp>(def))
      collectTile(def, ops);
  }
  ops.insert(op);
}

/// Gives an SWrite outside of any loop a loop of one iteration, and what it
/// computes its tile from, too.
static void wrapTile(SWriteOp write) {
  Location loc = write.getLoc();
  SetVector<Operation *> ops;
  collectTile(write, ops);
  IRRewriter rewriter(write);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  auto loop = ForallOp::create(
      rewriter, loc, zero, one, /*steps=*/{1}, /*index=*/Value(),
      /*group=*/ValueRange(), /*chunk=*/0, write.getDest(),
      [&](OpBuilder &builder, Location loc, ValueRange, Value, Value,
          ValueRange args) {
        IRMapping mapping;
        for (Operation *op : ops) {
          if (op == write)
            mapping.map(write.getDest(), args.front());
          builder.clone(*op, mapping);
        }
        YieldOp::create(builder, loc, mapping.lookup(write.getResult()));
      });
  rewriter.replaceOp(write, loop.getResults());
  for (Operation *op : llvm::reverse(ops))
    if (op != write && isOpTriviallyDead(op))
      rewriter.eraseOp(op);
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

namespace {
class Outliner {
public:
  Outliner(ModuleOp kernels, SymbolTable &symbols)
      : kernels(kernels), symbols(symbols) {}

  void outline(Operation *op, StringRef prefix);

private:
  /// Is `value` better computed in the kernel than handed to it?
  bool belongsInside(Value value);
  void capture(Value value);
  void captureInputs(Operation *op, ArrayRef<Value> outs);
  func::FuncOp createKernel(Operation *op, StringRef prefix,
                            ArrayRef<Value> outs);
  Value iterations(OpBuilder &builder, Operation *op);
  void argument(OpBuilder &builder, func::FuncOp kernel, Value value,
                bool isOut);
  func::FuncOp shareKernel(func::FuncOp kernel, ArrayRef<Value> outs);

  ModuleOp kernels;
  SymbolTable &symbols;
  /// Kernels by their type, and by which kernel made each of their outputs:
  /// a kernel of Hopper's may take over a fill that comes before it.
  using Key = std::pair<Type, Attribute>;
  DenseMap<Key, SmallVector<func::FuncOp>> shared;
  SetVector<Value> inputs;           ///< handed to the kernel
  SetVector<Operation *> clones;     ///< computed in it, in order
  DenseMap<Value, bool> insideCache; ///< of belongsInside
  IRMapping mapping;                 ///< host to kernel
};
} // namespace

/// Only the device knows these.
static bool readsDevice(Operation *op) {
  return isa<CountOp, ExtentOp, LiveFractionOp>(op);
}

bool Outliner::belongsInside(Value value) {
  auto [it, isNew] = insideCache.try_emplace(value, false);
  if (!isNew)
    return it->second;
  Operation *def = value.getDefiningOp();
  if (!def)
    return false;
  bool inside = false;
  // The host's constants are in the host's memory.
  if (readsDevice(def) ||
      isa<arith::ConstantOp, tensor::DimOp, memref::DimOp>(def))
    inside = true;
  else if (!isa<ShapedType>(value.getType()) && isPure(def) &&
           !isa<SparsityIndexType>(value.getType()))
    // Scalars: only if the device knows better what they are.
    inside = llvm::any_of(def->getOperands(), [&](Value operand) {
      Operation *from = operand.getDefiningOp();
      return from && belongsInside(operand) &&
             !from->hasTrait<OpTrait::ConstantLike>() &&
             !isa<tensor::DimOp, memref::DimOp>(from);
    });
  return insideCache[value] = inside;
}

void Outliner::capture(Value value) {
  if (!belongsInside(value)) {
    inputs.insert(value);
    return;
  }
  Operation *def = value.getDefiningOp();
  for (Value operand : def->getOperands())
    capture(operand);
  clones.insert(def);
}

/// How many iterations of its outermost loop, or elements, a kernel has at
/// most.
Value Outliner::iterations(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  ArithEmitter e(builder, loc);
  Value count = e.index(1);
  if (auto loop = dyn_cast<ForallOp>(op)) {
    for (auto [lower, upper, step] :
         llvm::zip(loop.getLower(), loop.getUpper(), loop.getSteps())) {
      Value span = e.max(e.sub(upper, lower), e.index(0));
      count = e.mul(count, e.ceilDiv(span, e.index(step)));
    }
    if (loop.getIndex()) {
      Value ids = CountOp::create(builder, loc, loop.getIndex(), ValueRange());
      count = e.mul(count, e.ceilDiv(ids, e.index(loop.getChunk())));
    }
    return count;
  }
  if (isTileLoop(op))
    return count;
  // Whole tensors: the elements of the first output.
  Value out = getDestinations(op).front()->get();
  for (int64_t d = 0; d < cast<ShapedType>(out.getType()).getRank(); ++d)
    count = e.mul(
        count, isa<MemRefType>(out.getType())
                   ? memref::DimOp::create(builder, loc, out, d).getResult()
                   : tensor::DimOp::create(builder, loc, out, d).getResult());
  return count;
}

/// Gives the kernel an argument for `value`; a tensor as a memref.
void Outliner::argument(OpBuilder &builder, func::FuncOp kernel, Value value,
                        bool isOut) {
  Type type = value.getType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor)
    type = MemRefType::get(tensor.getShape(), tensor.getElementType());
  unsigned number = kernel.getNumArguments();
  (void)kernel.insertArgument(number, type, {}, value.getLoc());
  Value arg = kernel.getArgument(number);
  if (tensor)
    arg = bufferization::ToTensorOp::create(builder, value.getLoc(), tensor,
                                            arg, /*restrict=*/true,
                                            /*writable=*/isOut);
  mapping.map(value, arg);
}

/// An earlier kernel that does the same as `kernel`, which is then erased, or
/// `kernel` itself. Programs repeat their layers, and each kernel takes long to
/// compile.
func::FuncOp Outliner::shareKernel(func::FuncOp kernel, ArrayRef<Value> outs) {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> makers;
  for (Value out : outs) {
    auto launch = out.getDefiningOp<LaunchOp>();
    makers.push_back(launch ? Attribute(launch.getKernel())
                            : builder.getUnitAttr());
  }
  SmallVector<func::FuncOp> &known =
      shared[{kernel.getFunctionType(), builder.getArrayAttr(makers)}];
  for (func::FuncOp earlier : known)
    if (OperationEquivalence::isRegionEquivalentTo(
            &kernel.getBody(), &earlier.getBody(),
            OperationEquivalence::IgnoreLocations)) {
      symbols.erase(kernel);
      return earlier;
    }
  known.push_back(kernel);
  return kernel;
}

/// Decides what is handed to the kernel of `op`, and what is computed in it.
void Outliner::captureInputs(Operation *op, ArrayRef<Value> outs) {
  inputs.clear();
  clones.clear();
  insideCache.clear();
  mapping.clear();
  SmallVector<OpOperand *> destinations = getDestinations(op);
  SetVector<Value> used;
  for (OpOperand &operand : op->getOpOperands())
    used.insert(operand.get());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  // A value that is an output may be used otherwise as well.
  for (Value value : used) {
    bool onlyOut = llvm::is_contained(outs, value) &&
                   llvm::none_of(value.getUses(), [&](OpOperand &use) {
                     return op->isAncestor(use.getOwner()) &&
                            !llvm::is_contained(destinations, &use);
                   });
    if (!onlyOut)
      capture(value);
  }
}

/// The kernel of `op`, which writes `outs`.
func::FuncOp Outliner::createKernel(Operation *op, StringRef prefix,
                                    ArrayRef<Value> outs) {
  Location loc = op->getLoc();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(kernels.getBody());
  auto kernel = func::FuncOp::create(builder, loc, prefix,
                                     builder.getFunctionType({}, {}));
  symbols.insert(kernel);
  Block *body = kernel.addEntryBlock();
  builder.setInsertionPointToStart(body);
  for (Value value : inputs)
    argument(builder, kernel, value, /*isOut=*/false);
  for (Operation *clone : clones)
    builder.clone(*clone, mapping);
  // A value may be both input and output; then it has two arguments.
  IRMapping inside = mapping;
  SmallVector<Value> outArgs;
  for (Value value : outs) {
    argument(builder, kernel, value, /*isOut=*/true);
    outArgs.push_back(mapping.lookup(value));
  }
  Operation *clone = builder.clone(*op, inside);
  for (auto [destination, arg] : llvm::zip(getDestinations(clone), outArgs))
    destination->set(arg);
  unsigned first = kernel.getNumArguments() - outs.size();
  for (auto [i, result] : llvm::enumerate(clone->getResults())) {
    auto write = bufferization::MaterializeInDestinationOp::create(
        builder, loc, Type(), result, kernel.getArgument(first + i));
    write.setRestrict(true);
    write.setWritable(true);
  }
  func::ReturnOp::create(builder, loc);
  return shareKernel(kernel, outs);
}

void Outliner::outline(Operation *op, StringRef prefix) {
  SmallVector<Value> outs = llvm::map_to_vector(
      getDestinations(op), [](OpOperand *operand) { return operand->get(); });
  captureInputs(op, outs);
  func::FuncOp kernel = createKernel(op, prefix, outs);
  OpBuilder builder(op);
  auto symbol = SymbolRefAttr::get(
      op->getContext(), kKernels,
      {FlatSymbolRefAttr::get(op->getContext(), kernel.getName())});
  auto launch =
      LaunchOp::create(builder, op->getLoc(), op->getResultTypes(), symbol,
                       iterations(builder, op), inputs.getArrayRef(), outs,
                       /*elements=*/!isTileLoop(op));
  op->replaceAllUsesWith(launch.getResults());
  op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Does `op` compute on whole tensors, or loop over tiles?
static bool isKernel(Operation *op) {
  if (isTileLoop(op) || isa<linalg::LinalgOp, memref::CopyOp>(op))
    return !op->getParentOfType<ForallOp>() && !op->getParentOfType<ForOp>() &&
           !op->getParentOfType<linalg::LinalgOp>();
  return false;
}

/// Does a kernel read `use`, rather than the host or what a kernel writes into?
static bool isReadByKernel(OpOperand &use) {
  for (Operation *op = use.getOwner(); op; op = op->getParentOp())
    if (isKernel(op))
      return op != use.getOwner() ||
             !llvm::is_contained(getDestinations(op), &use);
  return false;
}

/// Constants of the host are not in the device's memory: what is more than
/// read by kernels, as a result that is constant, is copied there by one.
static void copyConstants(func::FuncOp function) {
  SmallVector<arith::ConstantOp> constants;
  function.walk([&](arith::ConstantOp op) {
    if (isa<RankedTensorType>(op.getType()))
      constants.push_back(op);
  });
  for (arith::ConstantOp constant : constants) {
    SmallVector<OpOperand *> others;
    for (OpOperand &use : constant->getUses())
      // The host may read elements.
      if (!isReadByKernel(use) &&
          !isa<tensor::DimOp, tensor::ExtractOp>(use.getOwner()))
        others.push_back(&use);
    if (others.empty())
      continue;
    OpBuilder builder(constant->getContext());
    builder.setInsertionPointAfter(constant);
    auto type = cast<RankedTensorType>(constant.getType());
    Value empty = tensor::EmptyOp::create(
        builder, constant.getLoc(), type.getShape(), type.getElementType());
    Value copy = linalg::CopyOp::create(builder, constant.getLoc(),
                                        constant.getResult(), empty)
                     .getResult(0);
    for (OpOperand *use : others)
      use->set(copy);
  }
}

/// Refuses ops that a device cannot run.
static LogicalResult checkKernel(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (auto memref = dyn_cast<MemRefType>(type))
      if (Attribute space = memref.getMemorySpace())
        return op->emitOpError()
               << "becomes a kernel, and accesses " << memref
               << " in memory space " << space
               << "; kernels access the device's global memory, of which "
                  "memrefs have no memory space";
  WalkResult calls = op->walk([](CallOpInterface call) {
    InFlightDiagnostic error = call->emitOpError()
                               << "is in a kernel, which calls no functions";
    if (auto callee = dyn_cast<SymbolRefAttr>(call.getCallableForCallee()))
      error << "; give " << callee
            << " a body in this module, and inline the call (--inline)";
    return WalkResult::interrupt();
  });
  return failure(calls.wasInterrupted());
}

namespace {
struct OutlineKernelsPass
    : pit::impl::PitOutlineKernelsBase<OutlineKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto kernels = module.lookupSymbol<ModuleOp>(kKernels);
    if (!kernels) {
      auto builder = OpBuilder::atBlockEnd(module.getBody());
      kernels = ModuleOp::create(builder, module.getLoc(), kKernels);
      kernels->setAttr(kKernelsAttrName, builder.getUnitAttr());
    }
    SymbolTable symbols(kernels);
    Outliner outliner(kernels, symbols);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (claimed && !function->hasAttr(kDeviceAttrName))
        continue;
      SmallVector<SWriteOp> writes;
      function.walk([&](SWriteOp op) {
        if (!op->getParentOfType<ForallOp>() && !op->getParentOfType<ForOp>() &&
            !op.isWhole() && op.getResult())
          writes.push_back(op);
      });
      for (SWriteOp write : writes)
        wrapTile(write);
      copyConstants(function);
      SmallVector<Operation *> ops;
      function.walk([&](Operation *op) {
        if (isKernel(op))
          ops.push_back(op);
      });
      for (Operation *op : ops)
        if (failed(checkKernel(op)))
          return signalPassFailure();
      for (Operation *op : ops)
        outliner.outline(op, (function.getName() + "_kernel").str());
    }
    if (kernels.getBody()->empty())
      kernels.erase();
  }
};
} // namespace
