//===- BufferizableOpInterfaceImpl.cpp - Bufferization of pit -------------===//
//
// External models of BufferizableOpInterface for the ops of level 3.
//
//===----------------------------------------------------------------------===//

#include "pit/Dialect/Pit/Transforms/BufferizableOpInterfaceImpl.h"

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::pit;

namespace {

/// The buffers of tensors; values of other types are themselves.
FailureOr<SmallVector<Value>> getBuffers(RewriterBase &rewriter,
                                         ValueRange values,
                                         const BufferizationOptions &options,
                                         BufferizationState &state) {
  SmallVector<Value> buffers;
  for (Value value : values) {
    if (!isa<TensorType>(value.getType())) {
      buffers.push_back(value);
      continue;
    }
    FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  return buffers;
}

/// An op that reads its tensors and hands on none of their buffers.
template <typename Model, typename OpTy>
struct ReaderModel : BufferizableOpInterface::ExternalModel<Model, OpTy> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
};

/// pit.sread: reads its source and allocates the tile.
struct SReadModel : ReaderModel<SReadModel, SReadOp> {
  bool bufferizesToAllocation(Operation *, Value) const { return true; }
  FailureOr<BufferLikeType> getBufferType(Operation *op, Value value,
                                          const BufferizationOptions &,
                                          const BufferizationState &,
                                          SmallVector<Value> &) const {
    return cast<BufferLikeType>(getMemRefTypeWithStaticIdentityLayout(
        cast<TensorType>(value.getType())));
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto read = cast<SReadOp>(op);
    FailureOr<Value> src = getBuffer(rewriter, read.getSrc(), options, state);
    ReifiedRankedShapedTypeDims shape;
    if (failed(src) || failed(read.reifyResultShapes(rewriter, shape)))
      return failure();
    auto type = cast<RankedTensorType>(read.getResult().getType());
    SmallVector<Value> dynamic;
    for (auto [d, extent] : llvm::enumerate(shape.front()))
      if (type.isDynamicDim(d))
        dynamic.push_back(
            getValueOrCreateConstantIndexOp(rewriter, op->getLoc(), extent));
    FailureOr<Value> tile = options.createAlloc(
        rewriter, op->getLoc(),
        cast<MemRefType>(getMemRefTypeWithStaticIdentityLayout(type)), dynamic);
    if (failed(tile))
      return failure();
    SReadOp::create(rewriter, op->getLoc(), /*result=*/Type(), *src,
                    read.getSubscripts(), *tile, read.getPadAttr(),
                    read.getDimsAttr());
    replaceOpWithBufferizedValues(rewriter, op, *tile);
    return success();
  }
};

/// pit.swrite, pit.scan and pit.launch: read their inputs, write their outputs
/// in place. Whether these count as read does not matter for correctness; they
/// are not all overwritten, so they do.
template <typename OpTy>
struct InPlaceModel
    : DstBufferizableOpInterfaceExternalModel<InPlaceModel<OpTy>, OpTy> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    FailureOr<SmallVector<Value>> buffers =
        getBuffers(rewriter, op->getOperands(), options, state);
    if (failed(buffers))
      return failure();
    mlir::clone(rewriter, op, TypeRange(), *buffers);
    SmallVector<Value> results;
    for (OpOperand &init : cast<OpTy>(op).getDpsInitsMutable())
      results.push_back((*buffers)[init.getOperandNumber()]);
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};

/// pit.index, pit.ids, pit.choose and pit.record: read all tensors that they
/// take.
template <typename OpTy>
struct InputModel : ReaderModel<InputModel<OpTy>, OpTy> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<TensorType>(operand.get().getType()))
        continue;
      FailureOr<Value> buffer =
          getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      rewriter.modifyOpInPlace(op, [&] { operand.set(*buffer); });
    }
    return success();
  }
};

/// pit.packed_index: reads the input, writes the destination in place.
struct PackedIndexModel
    : BufferizableOpInterface::ExternalModel<PackedIndexModel, PackedIndexOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true; // what is not written stays
  }
  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const AnalysisState &) const {
    return operand.get() == cast<PackedIndexOp>(op).getDest();
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    auto index = cast<PackedIndexOp>(op);
    if (operand.get() != index.getDest())
      return {};
    return {{index.getPacked(), BufferRelation::Equivalent}};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto index = cast<PackedIndexOp>(op);
    FailureOr<SmallVector<Value>> buffers = getBuffers(
        rewriter, {index.getInput(), index.getDest()}, options, state);
    if (failed(buffers))
      return failure();
    Value input = (*buffers)[0], dest = (*buffers)[1];
    auto flat = PackedIndexOp::create(
        rewriter, op->getLoc(), index.getIndex().getType(),
        rewriter.getI1Type(),
        /*packed=*/Type(), input, dest, index.getBackgroundAttr());
    replaceOpWithBufferizedValues(
        rewriter, op, ValueRange{flat.getIndex(), flat.getDone(), dest});
    return success();
  }
};

/// pit.coords: a tile of its own, filled by the conversion.
struct CoordsModel
    : BufferizableOpInterface::ExternalModel<CoordsModel, CoordsOp> {
  bool bufferizesToAllocation(Operation *, Value) const { return true; }
  FailureOr<BufferLikeType> getBufferType(Operation *, Value value,
                                          const BufferizationOptions &,
                                          const BufferizationState &,
                                          SmallVector<Value> &) const {
    return cast<BufferLikeType>(getMemRefTypeWithStaticIdentityLayout(
        cast<TensorType>(value.getType())));
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &) const {
    auto coords = cast<CoordsOp>(op);
    FailureOr<Value> buffer = options.createAlloc(
        rewriter, op->getLoc(),
        cast<MemRefType>(getMemRefTypeWithStaticIdentityLayout(
            cast<TensorType>(coords.getResult().getType()))),
        {});
    if (failed(buffer))
      return failure();
    CoordsOp::create(rewriter, op->getLoc(), TypeRange(), coords.getIds(),
                     *buffer);
    replaceOpWithBufferizedValues(rewriter, op, *buffer);
    return success();
  }
};

/// AnalysisState::isValueRead asks each user twice whether it reads. A loop
/// asks its body, so that loops in loops would be asked 2^depth times.
static bool isRead(Value value, const AnalysisState &state) {
  SmallVector<Value> values = {value};
  DenseSet<Value> seen = {value};
  while (!values.empty())
    for (OpOperand &use : values.pop_back_val().getUses()) {
      if (state.bufferizesToMemoryRead(use))
        return true;
      if (state.bufferizesToMemoryWrite(use))
        continue;
      for (const AliasingValue &alias : state.getAliasingValues(use))
        if (seen.insert(alias.value).second)
          values.push_back(alias.value);
    }
  return false;
}

/// The loops: iter_args are destinations, so a result's buffer is its init's.
template <typename LoopTy>
struct LoopModel
    : BufferizableOpInterface::ExternalModel<LoopModel<LoopTy>, LoopTy> {
  /// Number of the iter_arg that `operand` initializes.
  static unsigned initNumber(LoopTy loop, OpOperand &operand) {
    return operand.getOperandNumber() -
           loop.getInitArgs().getBeginOperandIndex();
  }
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &state) const {
    // The loop itself does not read; uses of the iter_arg in its body may.
    auto loop = cast<LoopTy>(op);
    return isRead(loop.getRegionIterArgs()[initNumber(loop, operand)], state);
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return true;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    auto loop = cast<LoopTy>(op);
    unsigned i = initNumber(loop, operand);
    return {{loop->getOpResult(i), BufferRelation::Equivalent}};
  }
  bool isRepetitiveRegion(Operation *, unsigned) const { return true; }
  bool isParallelRegion(Operation *, unsigned) const {
    return std::is_same_v<LoopTy, ForallOp>;
  }
  bool isWritable(Operation *, Value, const AnalysisState &) const {
    return true;
  }

  /// A yielded value has to be computed in its iter_arg's buffer; where it is
  /// not, a copy into a fresh tensor keeps several iter_args from overwriting
  /// each other when they are stored at the end of an iteration.
  LogicalResult resolveConflicts(Operation *op, RewriterBase &rewriter,
                                 const AnalysisState &analysisState,
                                 const BufferizationState &state) const {
    auto bufferizable = cast<BufferizableOpInterface>(op);
    if (failed(bufferizable.resolveTensorOpOperandConflicts(
            rewriter, analysisState, state)))
      return failure();
    auto loop = cast<LoopTy>(op);
    if (loop.getInitArgs().size() < 2 ||
        analysisState.getOptions().copyBeforeWrite)
      return success();
    YieldOp yield = loop.getYield();
    rewriter.setInsertionPoint(yield);
    for (OpOperand &operand : yield->getOpOperands()) {
      Value arg = loop.getRegionIterArgs()[operand.getOperandNumber()];
      if (static_cast<const OneShotAnalysisState &>(analysisState)
              .areEquivalentBufferizedValues(arg, operand.get()))
        continue;
      FailureOr<Value> copy =
          allocateTensorForShapedValue(rewriter, yield.getLoc(), operand.get(),
                                       analysisState.getOptions(), state);
      if (failed(copy))
        return failure();
      rewriter.modifyOpInPlace(yield, [&] { operand.set(*copy); });
    }
    return success();
  }

  FailureOr<BufferLikeType>
  getBufferType(Operation *op, Value value, const BufferizationOptions &options,
                const BufferizationState &state,
                SmallVector<Value> &invocationStack) const {
    auto loop = cast<LoopTy>(op);
    unsigned i;
    if (auto arg = dyn_cast<BlockArgument>(value))
      i = arg.getArgNumber() -
          (loop.getBody()->getNumArguments() - loop.getInitArgs().size());
    else
      i = cast<OpResult>(value).getResultNumber();
    Value init = loop.getInitArgs()[i];
    if (auto buffer = dyn_cast<BufferLikeType>(init.getType()))
      return buffer;
    return bufferization::getBufferType(init, options, state, invocationStack);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto loop = cast<LoopTy>(op);
    FailureOr<SmallVector<Value>> found =
        getBuffers(rewriter, loop.getInitArgs(), options, state);
    if (failed(found))
      return failure();
    SmallVector<Value> buffers = *found;
    auto flat = LoopTy::create(
        rewriter, loop.getLoc(), loop.getLower(), loop.getUpper(),
        loop.getSteps(), loop.getIndex(), loop.getGroup(), loop.getChunk(),
        /*inits=*/ValueRange(),
        [](OpBuilder &, Location, ValueRange, Value, Value, ValueRange) {});
    flat.setConflicts(loop.getConflicts());

    // Body: iter_args stand for the inits' buffers.
    Block *body = flat.getBody();
    rewriter.setInsertionPointToEnd(body);
    SmallVector<Value> arguments(body->getArguments());
    for (auto [buffer, arg] : llvm::zip(buffers, loop.getRegionIterArgs()))
      arguments.push_back(
          ToTensorOp::create(rewriter, loop.getLoc(), arg.getType(), buffer));
    YieldOp yield = loop.getYield();
    rewriter.mergeBlocks(loop.getBody(), body, arguments);

    // End of an iteration: what was not computed in place is copied there.
    rewriter.setInsertionPoint(yield);
    for (auto [value, buffer] : llvm::zip(yield.getOperands(), buffers)) {
      FailureOr<Value> yielded = getBuffer(rewriter, value, options, state);
      if (failed(yielded))
        return failure();
      if (*yielded != buffer &&
          failed(
              options.createMemCpy(rewriter, yield.getLoc(), *yielded, buffer)))
        return failure();
    }
    rewriter.replaceOpWithNewOp<YieldOp>(yield, ValueRange());
    replaceOpWithBufferizedValues(rewriter, op, buffers);
    return success();
  }
};

/// pit.yield: bufferized with its loop. The loop's result is the init's buffer,
/// whatever is yielded.
struct YieldModel : ReaderModel<YieldModel, YieldOp> {
  bool mustBufferizeInPlace(Operation *, OpOperand &,
                            const AnalysisState &) const {
    // A yield is no copy by itself: its loop copies where it has to.
    return true;
  }
  LogicalResult bufferize(Operation *, RewriterBase &,
                          const BufferizationOptions &,
                          BufferizationState &) const {
    return success();
  }
};

/// pit.view: reads its source; what it gives is no tensor.
struct ViewModel : ReaderModel<ViewModel, ViewOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto view = cast<ViewOp>(op);
    FailureOr<Value> src = getBuffer(rewriter, view.getSrc(), options, state);
    if (failed(src))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { view.getSrcMutable().assign(*src); });
    return success();
  }
};

/// pit.mainloop: writes the destination in place, too. Its other
/// operands are views.
struct MainloopModel
    : DstBufferizableOpInterfaceExternalModel<MainloopModel, MainloopOp> {
  bool isRepetitiveRegion(Operation *, unsigned) const { return false; }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto mainloop = cast<MainloopOp>(op);
    FailureOr<Value> dest =
        getBuffer(rewriter, mainloop.getDest(), options, state);
    if (failed(dest))
      return failure();
    auto flat = MainloopOp::create(
        rewriter, mainloop.getLoc(), /*result=*/Type(), mainloop.getLower(),
        mainloop.getUpper(), mainloop.getIndex(), mainloop.getGroup(),
        mainloop.getInvariants(), mainloop.getExtras(), *dest,
        mainloop.getSubscripts(),
        /*bitmap=*/Value(), /*background=*/TypedAttr(), mainloop.getSteps(),
        mainloop.getChunk(), mainloop.getExtraMapsAttr(),
        mainloop.getResultTileAttr(), mainloop.getSumMapsAttr(),
        mainloop.getCombineAttr(), mainloop.getAtomic(),
        mainloop.getSchedulesAttr());
    flat->setDiscardableAttrs(mainloop->getDiscardableAttrDictionary());
    for (auto [from, to] :
         llvm::zip(mainloop->getRegions(), flat->getRegions()))
      to.takeBody(from);
    replaceOpWithBufferizedValues(rewriter, op, *dest);
    return success();
  }
};

/// pit.sparse: says what has to run before bufferization.
struct SparseModel : ReaderModel<SparseModel, SparseOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &,
                          const BufferizationOptions &,
                          BufferizationState &) const {
    InFlightDiagnostic diag = op->emitOpError("is a mark");
    if (std::optional<StringRef> label = cast<SparseOp>(op).getLabel())
      diag << ", '" << *label << "',";
    return diag << " and marks are of tensors only: before bufferization run "
                   "pit-to-tiles or pit-functions-to-tiles, which tile the ops "
                   "that it is for, or pit-lower-marks, which makes the dense "
                   "program";
  }
};

} // namespace

void mlir::pit::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, PitDialect *) {
    context->loadDialect<bufferization::BufferizationDialect>();
    SReadOp::attachInterface<SReadModel>(*context);
    SWriteOp::attachInterface<InPlaceModel<SWriteOp>>(*context);
    ScanOp::attachInterface<InPlaceModel<ScanOp>>(*context);
    ChooseOp::attachInterface<InputModel<ChooseOp>>(*context);
    IndexOp::attachInterface<InputModel<IndexOp>>(*context);
    PackedIndexOp::attachInterface<PackedIndexModel>(*context);
    RecordOp::attachInterface<InputModel<RecordOp>>(*context);
    IdsOp::attachInterface<InputModel<IdsOp>>(*context);
    CoordsOp::attachInterface<CoordsModel>(*context);
    ForallOp::attachInterface<LoopModel<ForallOp>>(*context);
    ForOp::attachInterface<LoopModel<ForOp>>(*context);
    YieldOp::attachInterface<YieldModel>(*context);
    ViewOp::attachInterface<ViewModel>(*context);
    MainloopOp::attachInterface<MainloopModel>(*context);
    LaunchOp::attachInterface<InPlaceModel<LaunchOp>>(*context);
    SparseOp::attachInterface<SparseModel>(*context);
  });
}
