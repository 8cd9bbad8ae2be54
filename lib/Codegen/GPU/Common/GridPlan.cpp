//===- GridPlan.cpp - How blocks share a kernel ---------------------------===//

#include "KernelLowering.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

namespace {
/// The accesses of a kernel's op to global memory, by argument. Null is a
/// memref of unknown origin.
struct GlobalAccesses {
  llvm::SmallDenseSet<Value> reads, writes;
};
} // namespace

static bool isBuffer(Value root) {
  return root && root.getDefiningOp<memref::AllocOp>();
}

static FailureOr<GlobalAccesses> globalAccesses(Operation *op) {
  SetVector<Value> reads, writes;
  if (failed(collectAccesses(op, reads, writes)))
    return failure();
  GlobalAccesses result;
  for (auto [from, to] :
       {std::pair(&reads, &result.reads), std::pair(&writes, &result.writes)})
    for (Value memref : *from)
      if (Value root = rootOf(memref); !isBuffer(root))
        to->insert(root);
  return result;
}

static bool intersect(const llvm::SmallDenseSet<Value> &a,
                      const llvm::SmallDenseSet<Value> &b) {
  if (a.empty() || b.empty())
    return false;
  return a.contains(Value()) || b.contains(Value()) ||
         llvm::any_of(a, [&](Value value) { return b.contains(value); });
}

/// Is subscript `number` of an access the chunk's ids or positions?
static bool isOfChunk(ForOp loop, Value subscript) {
  return subscript == loop.getIds() || subscript == loop.getPositions();
}

namespace {
/// Which elements of a tensor an op writes.
struct Written {
  ValueRange subscripts;
  bool combines = false;
};
} // namespace

static Written writtenBy(Operation *op) {
  if (auto write = dyn_cast<SWriteOp>(op))
    return {write.getSubscripts(), write.getCombine().has_value()};
  if (auto store = dyn_cast<StoreOp>(op))
    return {store.getSubscripts(), store.getCombine().has_value()};
  if (auto mainloop = dyn_cast<MainloopOp>(op))
    return {mainloop.getSubscripts(), mainloop.getCombine().has_value()};
  return {};
}

/// Do different chunks of `loop` touch different elements of all that it
/// writes?
static bool hasIndependentChunks(ForOp loop, bool atomic) {
  llvm::SmallDenseMap<Value, SmallVector<Value>> written;
  auto isLocal = [&](Value memref) {
    Value root = rootOf(memref);
    return isBuffer(root) && loop->isAncestor(root.getDefiningOp());
  };
  auto walk = loop.getBody()->walk([&](Operation *op) {
    SetVector<Value> reads, writes;
    if (op->getNumRegions() && !isa<linalg::LinalgOp, MainloopOp>(op))
      return WalkResult::advance();
    if (failed(collectAccesses(op, reads, writes)))
      return WalkResult::interrupt();
    Written write = writtenBy(op);
    for (Value memref : writes) {
      if (isLocal(memref))
        continue;
      bool ordered = write.combines && atomic;
      bool disjoint = llvm::any_of(write.subscripts,
                                   [&](Value s) { return isOfChunk(loop, s); });
      // Rows that are read back have to be the chunk's own.
      bool readBack = false;
      loop.getBody()->walk([&](Operation *other) {
        SetVector<Value> otherReads, otherWrites;
        if (other == op || other->getNumRegions() ||
            failed(collectAccesses(other, otherReads, otherWrites)))
          return;
        for (Value from : otherReads) {
          Value root = rootOf(from);
          if (root && root != rootOf(memref))
            continue;
          ValueRange subscripts;
          if (auto read = dyn_cast<SReadOp>(other);
              read && from == read.getSrc())
            subscripts = read.getSubscripts();
          else if (auto view = dyn_cast<ViewOp>(other))
            subscripts = view.getSubscripts();
          readBack |=
              subscripts.empty() || !llvm::equal(subscripts, write.subscripts);
        }
      });
      if (!(ordered || disjoint) || readBack)
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return !walk.wasInterrupted();
}

/// The loop over chunks that is all that `forall` does, if blocks may share it.
static ForOp findSplit(ForallOp forall) {
  ForOp loop;
  for (Operation &op : forall.getBody()->without_terminator()) {
    if (isMemoryEffectFree(&op))
      continue;
    auto only = dyn_cast<ForOp>(op);
    if (loop || !only)
      return {};
    loop = only;
  }
  auto isFree = [](Conflicts conflicts) {
    return conflicts == Conflicts::None || conflicts == Conflicts::Atomic;
  };
  if (!loop || !loop.getIndex() || !loop.getSteps().empty() ||
      !isFree(loop.getConflicts()) || !isFree(forall.getConflicts()))
    return {};
  bool atomic = forall.getConflicts() == Conflicts::Atomic ||
                loop.getConflicts() == Conflicts::Atomic;
  return hasIndependentChunks(loop, atomic) ? loop : ForOp();
}

FailureOr<GridPlan> cuda::planGrid(func::FuncOp function) {
  GridPlan plan;
  SmallVector<GlobalAccesses> earlier;
  for (Operation &op : function.front().without_terminator()) {
    FailureOr<GlobalAccesses> accesses = globalAccesses(&op);
    if (failed(accesses))
      return op.emitOpError("has effects on a device that are not known; a "
                            "kernel takes pit's ops, linalg on memrefs, scf, "
                            "arith and math");
    if (!accesses->writes.empty() &&
        !isa<ForallOp, linalg::LinalgOp, memref::CopyOp>(op))
      plan.oneBlock = true;
    for (const GlobalAccesses &other : earlier)
      plan.oneBlock |= intersect(accesses->writes, other.reads) ||
                       intersect(accesses->writes, other.writes) ||
                       intersect(accesses->reads, other.writes);
    auto forall = dyn_cast<ForallOp>(op);
    if (forall && forall.getConflicts() == Conflicts::Sequential)
      plan.oneBlock = true;
    if (forall && !plan.split)
      plan.split = findSplit(forall);
    earlier.push_back(std::move(*accesses));
  }
  // A second loop would run once for each block that shares the first.
  if (plan.oneBlock ||
      llvm::count_if(earlier, [](const GlobalAccesses &accesses) {
        return !accesses.writes.empty();
      }) > 1)
    plan.split = {};
  return plan;
}

/// Does a number grow, or stay as it is, where loop variables grow? `depends`
/// is set if it depends on them.
static bool growsWith(ForallOp loop, Value value, bool &depends) {
  if (llvm::is_contained(loop.getInductionVars(), value)) {
    depends = true;
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isAncestor(op))
    return true;
  return isa<arith::AddIOp, arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp,
             arith::MaxUIOp, arith::IndexCastOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return growsWith(loop, operand, depends);
         });
}

LaterSteps cuda::compareLaterSteps(ForallOp loop) {
  bool depends = false, lowerDepends = false, grows = true;
  loop.walk([&](MainloopOp mainloop) {
    for (auto [lower, upper] :
         llvm::zip(mainloop.getLower(), mainloop.getUpper())) {
      grows &= growsWith(loop, lower, lowerDepends);
      // An end that is the begin where there are no steps.
      Value end = upper;
      if (auto most = end.getDefiningOp<arith::MaxSIOp>();
          most && most.getRhs() == lower)
        end = most.getLhs();
      grows &= growsWith(loop, end, depends);
    }
  });
  if (!grows || depends == lowerDepends)
    return LaterSteps::Same;
  return depends ? LaterSteps::More : LaterSteps::Fewer;
}

bool cuda::stepsDiffer(ForallOp loop) {
  auto isOwn = [&](Value bound) {
    return loop->isAncestor(bound.getParentRegion()->getParentOp());
  };
  WalkResult walk = loop.walk([&](MainloopOp mainloop) {
    bool differ = mainloop.getIndex() ||
                  llvm::any_of(mainloop.getLower(), isOwn) ||
                  llvm::any_of(mainloop.getUpper(), isOwn);
    return differ ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

bool cuda::dependsOn(ForallOp loop, Value value, Value variable) {
  Operation *op = value.getDefiningOp();
  return value == variable ||
         (op && loop->isAncestor(op) &&
          llvm::any_of(op->getOperands(), [&](Value operand) {
            return dependsOn(loop, operand, variable);
          }));
}

bool cuda::readDisjointRows(ForallOp loop) {
  auto variables = loop.getInductionVars();
  if (variables.size() < 2 || loop.getIndex())
    return false;
  Value row = variables.drop_back().back();
  WalkResult walk = loop.walk([&](MainloopOp mainloop) -> WalkResult {
    for (int64_t i = 0; i < mainloop.getNumLoaded(); ++i) {
      Operation *source = mainloop.getLoad()
                              .front()
                              .getTerminator()
                              ->getOperand(i)
                              .getDefiningOp();
      auto view = dyn_cast_or_null<ViewOp>(source);
      if (view && llvm::none_of(view.getSubscripts(), [&](Value subscript) {
            return dependsOn(loop, subscript, row);
          }))
        return failure();
    }
    return success();
  });
  return !walk.wasInterrupted();
}
