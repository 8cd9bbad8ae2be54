//===- EliminateEmpties.cpp - Tensors are computed where they will lie ----===//

#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SubsetOpInterface.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITELIMINATEEMPTIES
#include "pit/Dialect/Pit/Transforms/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

/// Does `a` run before `b` whenever both do?
static bool happensBefore(Operation *a, Operation *b,
                          const DominanceInfo &dominance) {
  for (; a && !a->isProperAncestor(b); a = a->getParentOp())
    if (dominance.properlyDominates(a, b))
      return true;
  return false;
}

/// Is it known only when bufferization has decided about other ops whether
/// `value` lies where what it comes from does?
static bool isOfBranches(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<RegionBranchOpInterface>(op) &&
         !isa<LoopLikeOpInterface, DestinationStyleOpInterface>(op);
}

/// May what `insert` inserts be computed in the memory that it goes to, from
/// `empty`, an operand of `user`, on? Not if this memory comes from an op
/// around `user`, if an op between them starts in new memory, or if something
/// that lies in this memory is read after `insert`, unless it is what was
/// inserted.
static bool mayShareMemory(SubsetInsertionOpInterface insert,
                           tensor::EmptyOp empty, Operation *user,
                           const bufferization::OneShotAnalysisState &state,
                           const DominanceInfo &dominance) {
  // Upstream takes an op around `user` for one before it.
  for (Value needed : insert.getValuesNeededToBuildSubsetExtraction())
    if (Operation *op = needed.getDefiningOp(); op && op->isAncestor(user))
      return false;
  Value source = insert.getSourceOperand().get();
  if (!state.areAliasingBufferizedValues(source, empty))
    return false;
  bool becomesDest = state.areEquivalentBufferizedValues(source, empty);
  state.applyOnAliases(
      source, [&](Value alias) { becomesDest &= !isOfBranches(alias); });
  bool may = true;
  state.applyOnAliases(source, [&](Value alias) {
    if (becomesDest && state.areEquivalentBufferizedValues(source, alias))
      return;
    for (OpOperand &use : alias.getUses())
      may &= use.getOwner() == insert || !state.bufferizesToMemoryRead(use) ||
             happensBefore(use.getOwner(), insert, dominance);
  });
  return may;
}

/// The tensor.empty that all branches of which `value` is a result materialize
/// in; null if they do not.
static tensor::EmptyOp findSharedMemory(Value value) {
  if (auto inserted =
          value.getDefiningOp<bufferization::MaterializeInDestinationOp>())
    return inserted.getDest().getDefiningOp<tensor::EmptyOp>();
  auto branch = value.getDefiningOp<scf::IfOp>();
  if (!branch)
    return {};
  unsigned number = cast<OpResult>(value).getResultNumber();
  tensor::EmptyOp then =
      findSharedMemory(branch.thenYield()->getOperand(number));
  tensor::EmptyOp otherwise =
      findSharedMemory(branch.elseYield()->getOperand(number));
  return then == otherwise ? then : tensor::EmptyOp();
}

/// Do branches share this memory, or materialize in it at all?
static bool isSharedMemory(tensor::EmptyOp memory) {
  return llvm::any_of(memory->getUsers(),
                      llvm::IsaPred<bufferization::MaterializeInDestinationOp>);
}

/// The result of branches that `value` is, or is an update of and nothing else
/// uses; null if there is none.
static scf::IfOp findBranch(Value &value) {
  while (auto style = value.getDefiningOp<DestinationStyleOpInterface>()) {
    value = style.getTiedOpOperand(cast<OpResult>(value))->get();
    if (!value.hasOneUse())
      return {};
  }
  return value.getDefiningOp<scf::IfOp>();
}

/// If branches materialize in memory that they share (pit-plan), and the result
/// goes into a tensor that nothing else uses, they materialize there.
static void forwardMemory(ModuleOp module, const DominanceInfo &dominance) {
  module.walk([&](bufferization::MaterializeInDestinationOp insert) {
    Value dest = insert.getDest(), value = insert.getSource();
    scf::IfOp branch = findBranch(value);
    tensor::EmptyOp memory =
        branch ? findSharedMemory(value) : tensor::EmptyOp();
    if (!memory || !isa<TensorType>(dest.getType()) || !dest.hasOneUse() ||
        !dominance.properlyDominates(dest, branch) ||
        !llvm::all_of(memory->getUsers(), [&](Operation *user) {
          return isa<bufferization::MaterializeInDestinationOp>(user) &&
                 branch->isProperAncestor(user);
        }))
      return;
    memory.getResult().replaceAllUsesWith(dest);
  });
}

/// The memref without gaps that `dest`, which nothing else uses, is the memory
/// of; null if there is none. It can be reshaped in any way without a copy.
static Value findContiguous(Value dest) {
  auto memory = dest.getDefiningOp<bufferization::ToTensorOp>();
  if (!memory || !dest.hasOneUse() || !memory.getRestrict() ||
      !memory.getWritable())
    return {};
  auto type = dyn_cast<MemRefType>(memory.getBuffer().getType());
  return type && type.getLayout().isIdentity() ? memory.getBuffer() : Value();
}

/// The empty tensor from which `operand` is computed, of its own shape with
/// `sameShape`; null if there is none.
static tensor::EmptyOp findEmpty(OpOperand &operand, bool sameShape) {
  bufferization::BufferizationOptions options;
  bufferization::AnalysisState state(options);
  bufferization::TraversalConfig config;
  config.followEquivalentOnly = true;
  config.followSameTypeOrCastsOnly = sameShape;
  config.alwaysIncludeLeaves = false;
  SetVector<Value> found = state.findValueInReverseUseDefChain(
      &operand,
      [](Value value) {
        return value.getDefiningOp<tensor::EmptyOp>() != nullptr;
      },
      config);
  return found.empty() ? tensor::EmptyOp()
                       : found.front().getDefiningOp<tensor::EmptyOp>();
}

/// Gives `buffer` the shape of what `reshape` expands or collapses, early
/// enough for the empty tensor from which that is computed. Null if the sizes
/// are not known there.
static Value undoReshape(RewriterBase &rewriter, Operation *reshape,
                         Value buffer, const DominanceInfo &dominance) {
  Location loc = reshape->getLoc();
  rewriter.setInsertionPointAfterValue(buffer);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape))
    return memref::CollapseShapeOp::create(rewriter, loc, buffer,
                                           expand.getReassociationIndices());
  auto collapse = cast<tensor::CollapseShapeOp>(reshape);
  RankedTensorType type = collapse.getSrcType();
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  auto isDynamic = [&](int64_t dim) { return type.isDynamicDim(dim); };
  if (llvm::any_of(groups, [&](const ReassociationIndices &group) {
        return llvm::count_if(group, isDynamic) > 1;
      })) {
    tensor::EmptyOp empty =
        findEmpty(reshape->getOpOperand(0), /*sameShape=*/true);
    if (!empty || empty.getType() != type ||
        !dominance.properlyDominates(buffer, empty) ||
        !dominance.properlyDominates(empty.getOperation(), reshape))
      return {};
    rewriter.setInsertionPoint(empty);
    return memref::ExpandShapeOp::create(rewriter, loc, type.getShape(), buffer,
                                         groups, empty.getMixedSizes());
  }
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());
  for (auto [dim, group] : llvm::enumerate(groups)) {
    const int64_t *open = llvm::find_if(group, isDynamic);
    if (open == group.end())
      continue;
    int64_t others = 1;
    for (int64_t inner : group)
      others *= inner == *open ? 1 : type.getDimSize(inner);
    Value size = memref::DimOp::create(rewriter, loc, buffer, dim);
    // Nothing is known of a tensor without elements, but nothing is written.
    if (others != 1)
      size = arith::DivUIOp::create(
          rewriter, loc, size,
          arith::ConstantIndexOp::create(rewriter, loc,
                                         std::max<int64_t>(others, 1)));
    sizes[*open] = size;
  }
  return memref::ExpandShapeOp::create(rewriter, loc, type.getShape(), buffer,
                                       groups, sizes);
}

/// If a reshaped tensor materializes in contiguous memory, its source
/// materializes there: upstream looks for an empty tensor of the memory's own
/// shape.
static void materializeBeforeReshapes(ModuleOp module, RewriterBase &rewriter,
                                      const DominanceInfo &dominance) {
  SmallVector<bufferization::MaterializeInDestinationOp> inserts;
  module.walk([&](bufferization::MaterializeInDestinationOp insert) {
    if (findContiguous(insert.getDest()))
      inserts.push_back(insert);
  });
  for (bufferization::MaterializeInDestinationOp insert : inserts) {
    if (!findEmpty(insert.getSourceMutable(), /*sameShape=*/false))
      continue;
    SmallVector<Operation *> undone;
    Value source = insert.getSource();
    Value whole = findContiguous(insert.getDest()), buffer = whole;
    while (Operation *reshape = source.getDefiningOp()) {
      if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reshape))
        break;
      Value before = undoReshape(rewriter, reshape, buffer, dominance);
      if (!before)
        break;
      undone.push_back(reshape);
      source = reshape->getOperand(0);
      buffer = before;
    }
    if (undone.empty())
      continue;
    rewriter.setInsertionPointAfterValue(buffer);
    Value dest = bufferization::ToTensorOp::create(
        rewriter, insert.getLoc(), source.getType(), buffer, /*restrict=*/true,
        /*writable=*/true);
    rewriter.setInsertionPoint(insert);
    Value result =
        bufferization::MaterializeInDestinationOp::create(
            rewriter, insert.getLoc(), source.getType(), source, dest)
            .getResult();
    // A copy of the memory to itself is seen to be none if its shape is one.
    for (Operation *user : llvm::make_early_inc_range(insert->getUsers()))
      if (auto copy = dyn_cast<bufferization::MaterializeInDestinationOp>(user);
          copy && copy.getDest() == whole)
        rewriter.modifyOpInPlace(copy, [&] {
          copy.getSourceMutable().assign(result);
          copy.getDestMutable().assign(buffer);
        });
    for (Operation *reshape : llvm::reverse(undone)) {
      IRMapping mapping;
      mapping.map(reshape->getOperand(0), result);
      result = rewriter.clone(*reshape, mapping)->getResult(0);
    }
    rewriter.replaceOp(insert, result);
  }
}

namespace {
struct EliminateEmptiesPass
    : pit::impl::PitEliminateEmptiesBase<EliminateEmptiesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // The analysis takes long, so that it is left out where there is nothing to
    // move.
    if (!module.walk([](tensor::EmptyOp) { return WalkResult::interrupt(); })
             .wasInterrupted())
      return;
    DominanceInfo dominance(module);
    IRRewriter rewriter(&getContext());
    materializeBeforeReshapes(module, rewriter, dominance);
    forwardMemory(module, dominance);
    bufferization::OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true;
    options.bufferizeFunctionBoundaries = true;
    bufferization::OneShotAnalysisState state(module, options);
    if (failed(bufferization::analyzeModuleOp(module, state)))
      return signalPassFailure();
    if (failed(bufferization::eliminateEmptyTensors(
            rewriter, module, state,
            [&](RewriterBase &rewriter, SubsetInsertionOpInterface insert,
                tensor::EmptyOp empty, Operation *user) -> Value {
              // Some branches would move, and others not.
              if (isSharedMemory(empty) ||
                  !mayShareMemory(insert, empty, user, state, dominance))
                return {};
              return bufferization::buildSubsetExtraction(rewriter, insert,
                                                          empty, user);
            })))
      signalPassFailure();
  }
};
} // namespace
