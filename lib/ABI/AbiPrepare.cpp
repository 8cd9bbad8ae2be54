//===- AbiPrepare.cpp - Gives functions the signature of entry points -----===//

#include "pit-runtime/Abi.h"
#include "pit/ABI/Manifest.h"
#include "pit/ABI/Passes.h"
#include "pit/ABI/ShapeExpr.h"
#include "pit/Dialect/Pit/IR/DiscardableAttributes.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITABIPREPARE
#include "pit/ABI/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

static constexpr StringLiteral kCheckDim = "pit_rt_check_dim";

static bool isCIdentifier(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// The element type that callers see of an argument or a result, which has
/// these attributes.
static Type getElementForCallers(Type type, DictionaryAttr attrs) {
  if (auto given = attrs ? attrs.getAs<TypeAttr>(kElementAttrName) : TypeAttr())
    return given.getValue();
  return getElementTypeOrSelf(type);
}

/// Checks what arguments and results have in common: that DLPack can describe
/// a value of this type.
static LogicalResult checkType(func::FuncOp func, const Twine &what, Type type,
                               DictionaryAttr attrs) {
  Type element = type;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    element = tensor.getElementType();
    if (tensor.getRank() > PIT_MAX_RANK)
      return func.emitOpError() << what << " has rank " << tensor.getRank()
                                << "; an entry point's tensors have at most "
                                << PIT_MAX_RANK << " dimensions";
    if (tensor.getEncoding())
      return func.emitOpError()
             << what << " has the encoding " << tensor.getEncoding()
             << "; an entry point's tensors are dense and row-major";
  }
  if (Attribute given = attrs ? attrs.get(kElementAttrName) : Attribute()) {
    auto named = dyn_cast<TypeAttr>(given);
    auto integer =
        dyn_cast_or_null<IntegerType>(named ? named.getValue() : Type());
    if (!integer || !getDtypeWord(integer) ||
        element != IntegerType::get(integer.getContext(), integer.getWidth()))
      return func.emitOpError()
             << what << " is of type " << type << ", and has "
             << kElementAttrName << " = " << given
             << "; that is a signed or unsigned integer of the same width";
  }
  if (getDtypeWord(element))
    return success();
  return func.emitOpError()
         << what << " is of type " << type
         << "; an entry point takes and returns ranked tensors and scalars of "
            "f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i16, i8, i1 or "
            "index, and takes !pit.index";
}

namespace {
struct AbiPrepare : pit::impl::PitAbiPrepareBase<AbiPrepare> {
  using Base::Base;
  void runOnOperation() override;

  LogicalResult check(func::FuncOp func);
  void prepare(func::FuncOp func);
  void checkSizes(OpBuilder &builder, Location loc, Value frame, Value value,
                  BlockArgument out, int64_t result,
                  const Manifest::Result &info);
  void copyOut(OpBuilder &builder, func::ReturnOp op, ArrayRef<Value> outs,
               ArrayRef<BlockArgument> buffers, const Manifest &manifest);
};
} // namespace

/// Is a size known only when the result is?
static bool isUnknown(const ShapeProgram &program) {
  return llvm::any_of(program, [](const pit_shape_op &op) {
    return op.op == PIT_SHAPE_UNKNOWN;
  });
}

/// The manifest of a function on tensors.
static Manifest getManifest(func::FuncOp func, ShapeExprs &shapes,
                            ArrayRef<func::ReturnOp> returns) {
  Manifest manifest;
  func::ReturnOp first = returns.front();
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes())) {
    Manifest::Arg &arg = manifest.args.emplace_back();
    if (auto index = dyn_cast<SparsityIndexType>(type)) {
      arg.kind = PIT_KIND_INDEX;
      arg.axis = index.getAxis();
      for (int64_t dim = 0; dim < index.getRank(); ++dim)
        arg.microTile.push_back(index.isWhole(dim) ? 0
                                                   : index.getMicroTile()[dim]);
      for (int64_t dim = 0; dim < index.getRank(); ++dim)
        arg.step.push_back(index.isWhole(dim) ? 0 : index.getStep()[dim]);
    } else if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      arg.kind = PIT_KIND_TENSOR;
      arg.dtype =
          *getDtypeWord(getElementForCallers(type, func.getArgAttrDict(i)));
      for (int64_t size : tensor.getShape())
        arg.dims.push_back(ShapedType::isDynamic(size) ? -1 : size);
    } else {
      arg.kind = PIT_KIND_SCALAR;
      arg.dtype =
          *getDtypeWord(getElementForCallers(type, func.getArgAttrDict(i)));
    }
  }
  for (auto [i, type] : llvm::enumerate(func.getResultTypes())) {
    Manifest::Result &result = manifest.results.emplace_back();
    result.dtype =
        *getDtypeWord(getElementForCallers(type, func.getResultAttrDict(i)));
    auto tensor = dyn_cast<RankedTensorType>(type);
    for (int64_t dim = 0; tensor && dim < tensor.getRank(); ++dim) {
      // A function that returns in several places has a size only if they
      // agree.
      AffineExpr size = shapes.ofDim(first.getOperand(i), dim);
      for (func::ReturnOp other : returns.drop_front())
        if (shapes.ofDim(other.getOperand(i), dim) != size)
          size = {};
      result.dims.push_back(shapes.toProgram(size));
    }
  }
  return manifest;
}

LogicalResult AbiPrepare::check(func::FuncOp func) {
  if (!isCIdentifier(func.getName()))
    return func.emitOpError() << "is an entry point; its name has to be a C "
                                 "identifier, not \""
                              << func.getName() << "\"";
  for (StringRef prefix : {"pit_rt_", "omp_"})
    if (func.getName().starts_with(prefix))
      return func.emitOpError()
             << "is an entry point; its name must not begin with " << prefix
             << ", as those of functions that programs call do";
  if (Attribute words = func->getAttr(kRequireAttr)) {
    auto array = dyn_cast<DenseI64ArrayAttr>(words);
    if (!array || !decodeRequirements(array.asArrayRef()))
      return func.emitOpError()
             << "has a " << kRequireAttr << " that is no list of requirements";
  }
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (!isa<SparsityIndexType>(type) &&
        failed(checkType(func, "argument " + Twine(i), type,
                         func.getArgAttrDict(i))))
      return failure();
  for (auto [i, type] : llvm::enumerate(func.getResultTypes())) {
    if (isa<SparsityIndexType>(type))
      return func.emitOpError() << "result " << i
                                << " is an index; an index lives only until "
                                   "the function returns";
    if (failed(checkType(func, "result " + Twine(i), type,
                         func.getResultAttrDict(i))))
      return failure();
    if (device == "cuda" && !isa<RankedTensorType>(type))
      return func.emitOpError()
             << "result " << i << " is of type " << type
             << "; results of a CUDA program are in device memory, which the "
                "host does not write: return a tensor of rank 0";
  }
  return success();
}

/// Checks the sizes of the caller's buffer that only the computed value tells.
void AbiPrepare::checkSizes(OpBuilder &builder, Location loc, Value frame,
                            Value value, BlockArgument out, int64_t result,
                            const Manifest::Result &info) {
  for (auto [dim, program] : llvm::enumerate(info.dims)) {
    if (!isUnknown(program))
      continue;
    Value computed = tensor::DimOp::create(builder, loc, value, dim);
    Value given = memref::DimOp::create(builder, loc, out, dim);
    SmallVector<Value> operands = {frame};
    for (int64_t number : {result, int64_t(dim)})
      operands.push_back(
          arith::ConstantIntOp::create(builder, loc, number, 32));
    for (Value size : {computed, given})
      operands.push_back(
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), size));
    auto call = func::CallOp::create(builder, loc, kCheckDim,
                                     builder.getI32Type(), operands);
    CheckStatusOp::create(builder, loc, call.getResult(0));
  }
}

/// Writes the results into the caller's buffers. `outs` has, for each, the
/// tensor in which it may be computed, or null.
void AbiPrepare::copyOut(OpBuilder &builder, func::ReturnOp op,
                         ArrayRef<Value> outs, ArrayRef<BlockArgument> buffers,
                         const Manifest &manifest) {
  Location loc = op.getLoc();
  Value frame = op->getParentOfType<func::FuncOp>().getArgument(0);
  // On tensors first, for all results: bufferization knows what a write to a
  // tensor overwrites, but not what a write to a memref does.
  SmallVector<Value> values(op.getOperands());
  for (auto [value, out] : llvm::zip(values, outs))
    if (out)
      value = bufferization::MaterializeInDestinationOp::create(
                  builder, loc, value.getType(), value, out)
                  .getResult();
  for (auto [i, value, buffer] : llvm::enumerate(values, buffers)) {
    if (!isa<RankedTensorType>(value.getType())) {
      memref::StoreOp::create(builder, loc, value, buffer, ValueRange());
      continue;
    }
    checkSizes(builder, loc, frame, value, buffer, i, manifest.results[i]);
    // No more than a copy of the buffer to itself where the value was computed
    // in it.
    auto copy = bufferization::MaterializeInDestinationOp::create(
        builder, loc, Type(), value, buffer);
    copy.setWritable(true);
  }
}

/// The tensor that `value` is a part of, as far as can be seen.
static Value getWhole(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    if (!isa<tensor::CastOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Arguments and constants are values that no program overwrites: what is to be
/// materialized in their memory stays where it is.
static void keepArguments(func::FuncOp func) {
  SmallVector<bufferization::MaterializeInDestinationOp> dropped;
  func.walk([&](bufferization::MaterializeInDestinationOp op) {
    if (op->getNumResults() == 0)
      return;
    Value whole = getWhole(op.getDest());
    if (llvm::is_contained(func.getArguments(), whole) ||
        matchPattern(whole, m_Constant()))
      dropped.push_back(op);
  });
  for (bufferization::MaterializeInDestinationOp op : dropped) {
    Value source = op.getSource();
    OpBuilder builder(op);
    if (source.getType() != op.getResult().getType())
      source = tensor::CastOp::create(builder, op.getLoc(),
                                      op.getResult().getType(), source);
    op.getResult().replaceAllUsesWith(source);
    op.erase();
  }
}

void AbiPrepare::prepare(func::FuncOp func) {
  keepArguments(func);
  SmallVector<func::ReturnOp> returns;
  for (Block &block : func.getBody())
    if (auto op = dyn_cast<func::ReturnOp>(block.getTerminator()))
      returns.push_back(op);
  Manifest manifest;
  {
    ShapeExprs shapes(func);
    manifest = getManifest(func, shapes, returns);
  }
  manifest.device = device == "cuda" ? kDLCUDA : kDLCPU;
  if (auto words = func->getAttrOfType<DenseI64ArrayAttr>(kRequireAttr)) {
    manifest.requirements = *decodeRequirements(words.asArrayRef());
    func->removeAttr(kRequireAttr);
  }

  OpBuilder builder(&getContext());
  unsigned numArgs = func.getNumArguments();
  for (unsigned i = 0; i < numArgs; ++i)
    if (isa<RankedTensorType>(func.getArgument(i).getType()))
      func.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                      builder.getBoolAttr(false));
  for (unsigned i = 0; i < numArgs; ++i)
    func.removeArgAttr(i, kElementAttrName);
  (void)func.insertArgument(0, LLVM::LLVMPointerType::get(&getContext()),
                            builder.getDictionaryAttr(builder.getNamedAttr(
                                kFrameAttr, builder.getUnitAttr())),
                            func.getLoc());
  SmallVector<Type> results(func.getResultTypes());
  for (Type type : results) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto memref =
        MemRefType::get(tensor ? tensor.getShape() : ArrayRef<int64_t>(),
                        getElementTypeOrSelf(type));
    (void)func.insertArgument(func.getNumArguments(), memref,
                              builder.getDictionaryAttr({}), func.getLoc());
  }
  func.removeResAttrsAttr();
  func->removeAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName());
  func.setFunctionType(
      builder.getFunctionType(func.getArgumentTypes(), builder.getI32Type()));
  func->setAttr(kManifestAttr, builder.getDenseI64ArrayAttr(manifest.encode()));

  // A result may be computed in the caller's buffer, unless its size has to be
  // checked before the buffer is written.
  SmallVector<Value> outs;
  SmallVector<BlockArgument> buffers;
  builder.setInsertionPointToStart(&func.front());
  for (auto [i, type] : llvm::enumerate(results)) {
    buffers.push_back(func.getArgument(1 + numArgs + i));
    outs.push_back(isa<RankedTensorType>(type) &&
                           llvm::none_of(manifest.results[i].dims, isUnknown)
                       ? bufferization::ToTensorOp::create(
                             builder, func.getLoc(), type, buffers.back(),
                             /*restrict=*/true, /*writable=*/true)
                             .getResult()
                       : Value());
  }
  for (func::ReturnOp op : returns) {
    builder.setInsertionPoint(op);
    copyOut(builder, op, outs, buffers, manifest);
    Value ok = arith::ConstantIntOp::create(builder, op.getLoc(), PIT_OK, 32);
    op.getOperandsMutable().assign(ok);
  }
}

void AbiPrepare::runOnOperation() {
  ModuleOp module = getOperation();
  if (device != "cpu" && device != "cuda") {
    module.emitOpError() << "is to run on device '" << device
                         << "'; it must be cpu or cuda";
    return signalPassFailure();
  }
  SymbolTable symbols(module);
  WalkResult calls = module.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return WalkResult::advance();
    call.emitOpError() << "calls @" << call.getCallee()
                       << ", which this module defines: inline it first "
                          "(--inline); recursion is not supported";
    return WalkResult::interrupt();
  });
  if (calls.wasInterrupted())
    return signalPassFailure();

  SmallVector<func::FuncOp> entries;
  for (auto func : module.getOps<func::FuncOp>())
    if (func.isPublic() && !func.isExternal())
      entries.push_back(func);
  for (func::FuncOp func : entries)
    if (failed(check(func)))
      return signalPassFailure();
  for (func::FuncOp func : entries)
    prepare(func);

  bool callsCheck = false;
  module.walk(
      [&](func::CallOp call) { callsCheck |= call.getCallee() == kCheckDim; });
  if (!callsCheck || symbols.lookup(kCheckDim))
    return;
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Type frame = LLVM::LLVMPointerType::get(&getContext());
  func::FuncOp::create(
      builder, module.getLoc(), kCheckDim,
      builder.getFunctionType({frame, i32, i32, i64, i64}, i32))
      .setPrivate();
}
