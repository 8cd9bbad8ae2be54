//===- EliminateEmpties.cpp - Tensors are computed where they will lie ----===//

#include "pit/Dialect/Pit/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
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

/// Where branches materialize in memory that they share (pit-plan), and the
/// result goes into a tensor that nothing else uses, they materialize there.
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

namespace {
struct EliminateEmptiesPass
    : pit::impl::PitEliminateEmptiesBase<EliminateEmptiesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    DominanceInfo dominance(module);
    forwardMemory(module, dominance);
    bufferization::OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true;
    options.bufferizeFunctionBoundaries = true;
    bufferization::OneShotAnalysisState state(module, options);
    if (failed(bufferization::analyzeModuleOp(module, state)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
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
