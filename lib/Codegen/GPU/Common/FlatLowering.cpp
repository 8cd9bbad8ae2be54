//===- FlatLowering.cpp - Element-wise ops over whole memory --------------===//
//
// If all operands of an op have one element for each point, one after
// another, there are no coordinates to compute: threads run through memory 16
// bytes at a time.
//
//===----------------------------------------------------------------------===//

#include "LinalgLowering.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Bytes of the widest elements that one thread moves at once.
static constexpr int64_t kAccessBytes = 16;

static MemRefType typeOf(Value memref) {
  return cast<MemRefType>(memref.getType());
}

/// Do its elements lie one after another?
static bool isFlat(Value memref) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  return type && type.areTrailingDimsContiguous(type.getRank());
}

namespace {
/// Computes outputs from inputs, element by element.
class FlatLowering {
public:
  using Body = function_ref<SmallVector<Value>(ValueRange)>;

  /// The computation: the elements of the outputs from those of the inputs.
  struct Task {
    ArrayRef<Value> inputs, outputs;
    Body body;
  };

  FlatLowering(OpBuilder &builder, Location loc, const Workers &workers,
               const Task &task)
      : builder(builder), loc(loc), e(builder, loc), workers(workers),
        body(task.body) {
    OpFoldResult size =
        volume(builder, loc,
               memref::getMixedSizes(builder, loc, task.outputs.front()));
    total = getValueOrCreateConstantIndexOp(builder, loc, size);
    lanes = kAccessBytes;
    for (auto [memrefs, flat] :
         {std::pair(task.inputs, &inputs), std::pair(task.outputs, &outputs)})
      for (Value memref : memrefs) {
        flat->push_back(flatten(memref));
        Type element = typeOf(memref).getElementType();
        lanes = hasVectors(element)
                    ? std::min(lanes, kAccessBytes / elementBytes(element))
                    : 1;
      }
  }

  void run() {
    Value vectors = e.index(0);
    if (lanes > 1) {
      vectors = e.div(total, lanes);
      vectors = e.select(isAligned(), vectors, e.index(0));
      workers.share(builder, loc, vectors,
                    [&](Value number) { moveVectors(e.mul(number, lanes)); });
    }
    Value done = e.mul(vectors, lanes);
    Value rest = e.sub(total, done);
    workers.share(builder, loc, rest,
                  [&](Value number) { moveElements(e.add(done, number)); });
  }

private:
  /// The same memory with one dimension.
  Value flatten(Value memref) {
    Type element = typeOf(memref).getElementType();
    Value first = pointerOf(builder, loc, memref);
    if (!typeOf(memref).getLayout().isIdentity()) {
      Value offset =
          memref::ExtractStridedMetadataOp::create(builder, loc, memref)
              .getOffset();
      offset = e.mul(offset, elementBytes(element));
      offset = e.toI64(offset);
      first = LLVM::GEPOp::create(builder, loc, first.getType(),
                                  builder.getI8Type(), first,
                                  ArrayRef<LLVM::GEPArg>{offset});
    }
    auto type = MemRefType::get(ShapedType::kDynamic, element);
    return memrefAt(builder, loc, first, type, total);
  }

  int64_t runBytes(Value memref) {
    return lanes * elementBytes(typeOf(memref).getElementType());
  }

  Value isAligned() {
    Value misaligned = e.index(0);
    for (ArrayRef<Value> memrefs : {ArrayRef(inputs), ArrayRef(outputs)})
      for (Value memref : memrefs) {
        Value address = e.addressOf(memref);
        address = e.bitAnd(address, runBytes(memref) - 1);
        misaligned = e.bitOr(misaligned, address);
      }
    return e.equal(misaligned, e.index(0));
  }

  void moveElements(Value at) {
    SmallVector<Value> elements;
    for (Value memref : inputs)
      elements.push_back(e.loadAt(memref, at));
    for (auto [value, memref] : llvm::zip_equal(body(elements), outputs))
      e.storeAt(value, memref, at);
  }

  void moveVectors(Value at) {
    SmallVector<Value> loaded;
    for (Value memref : inputs) {
      auto type = VectorType::get(lanes, typeOf(memref).getElementType());
      loaded.push_back(e.loadVector(type, memref, at, runBytes(memref)));
    }
    SmallVector<SmallVector<Value>> results(outputs.size());
    for (int64_t lane = 0; lane < lanes; ++lane) {
      SmallVector<Value> elements;
      for (Value vector : loaded)
        elements.push_back(
            vector::ExtractOp::create(builder, loc, vector, lane));
      for (auto [values, value] : llvm::zip_equal(results, body(elements)))
        values.push_back(value);
    }
    for (auto [values, memref] : llvm::zip_equal(results, outputs)) {
      auto type = VectorType::get(lanes, typeOf(memref).getElementType());
      Value vector = vector::FromElementsOp::create(builder, loc, type, values);
      e.storeVector(vector, memref, at, runBytes(memref));
    }
  }

  OpBuilder &builder;
  Location loc;
  Emitter e;
  const Workers &workers;
  SmallVector<Value> inputs, outputs;
  Body body;
  Value total;
  int64_t lanes; ///< elements that a thread moves at once
};
} // namespace

bool cuda::lowerFlat(RewriterBase &builder, linalg::LinalgOp op,
                     const Workers &workers) {
  Block *block = op.getBlock();
  SmallVector<Value> inputs;
  SmallVector<BlockArgument> arguments;
  IRMapping scalars;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument arg = block->getArgument(operand.getOperandNumber());
    if (op.isScalar(&operand)) {
      scalars.map(arg, operand.get());
      continue;
    }
    if (!op.getMatchingIndexingMap(&operand).isIdentity() ||
        !isFlat(operand.get()))
      return false;
    if (arg.use_empty())
      continue;
    inputs.push_back(operand.get());
    arguments.push_back(arg);
  }
  bool hasIndices =
      block->walk([](linalg::IndexOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (op.getNumReductionLoops() || hasIndices)
    return false;
  auto body = [&](ValueRange elements) {
    IRMapping mapping = scalars;
    mapping.map(arguments, elements);
    for (Operation &inner : block->without_terminator())
      cloneBodyOp(builder, inner, mapping);
    return llvm::map_to_vector(
        block->getTerminator()->getOperands(),
        [&](Value value) { return mapping.lookupOrDefault(value); });
  };
  SmallVector<Value> outputs(op.getDpsInits());
  FlatLowering(builder, op.getLoc(), workers, {inputs, outputs, body}).run();
  return true;
}

void cuda::lowerCopy(RewriterBase &builder, memref::CopyOp op,
                     const Workers &workers) {
  Location loc = op.getLoc();
  if (isFlat(op.getSource()) && isFlat(op.getTarget())) {
    auto body = [](ValueRange elements) {
      return llvm::to_vector_of<Value>(elements);
    };
    Value source = op.getSource(), target = op.getTarget();
    return FlatLowering(builder, loc, workers, {source, target, body}).run();
  }
  SmallVector<OpFoldResult> extents =
      memref::getMixedSizes(builder, loc, op.getTarget());
  Value total = getValueOrCreateConstantIndexOp(builder, loc,
                                                volume(builder, loc, extents));
  workers.share(builder, loc, total, [&](Value number) {
    SmallVector<Value> at = delinearize(builder, loc, number, extents);
    Emitter e(builder, loc);
    e.storeAt(e.loadAt(op.getSource(), at), op.getTarget(), at);
  });
}
