//===- Buffers.cpp - Places of a block's buffers, and barriers ------------===//

#include "Lowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Every buffer starts where a 16-byte access may.
static constexpr int64_t kAlignment = 16;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {
/// When a buffer is alive, in numbers of the ops in order.
struct Lifetime {
  int64_t first, last;
  bool overlaps(const Lifetime &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// The function's ops by number: an op, then the ops in it.
class Numbering {
public:
  explicit Numbering(func::FuncOp function) {
    number(function);
    end = next;
  }
  int64_t first(Operation *op) const { return numbers.at(op).first; }
  int64_t last(Operation *op) const { return numbers.at(op).last; }

  /// From the allocation to the last use, by ops of its block. A buffer that
  /// leaves its block or is carried by a loop lives all the time.
  Lifetime lifetime(Operation *alloc) const {
    Lifetime life{first(alloc), last(alloc)};
    SmallVector<Value> aliases(alloc->getResults());
    while (!aliases.empty())
      for (Operation *user : aliases.pop_back_val().getUsers()) {
        Operation *inBlock = alloc->getBlock()->findAncestorOpInBlock(*user);
        if (!inBlock || user->hasTrait<OpTrait::IsTerminator>())
          return {0, end};
        life.last = std::max(life.last, last(inBlock));
        for (Value result : user->getResults())
          if (isa<MemRefType>(result.getType())) {
            if (user->getNumRegions())
              return {0, end};
            aliases.push_back(result);
          }
      }
    return life;
  }

private:
  void number(Operation *op) {
    int64_t mine = next++;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        number(&inner);
    numbers[op] = {mine, next - 1};
  }

  DenseMap<Operation *, Lifetime> numbers;
  int64_t next = 0, end = 0;
};

struct Request {
  Operation *alloc;
  int64_t bytes;
  Lifetime life;
  size_t order; ///< in the function
};
} // namespace

/// Gives each request the lowest offset that is free during its life. Returns
/// how many bytes that takes.
static int64_t placeAll(ArrayRef<Request> requests, bool shared,
                        llvm::MapVector<Operation *, Placement> &places) {
  SmallVector<std::pair<const Request *, Placement>> placed;
  int64_t total = 0;
  for (const Request &request : requests) {
    SmallVector<Placement> taken;
    for (auto &[other, place] : placed)
      if (other->life.overlaps(request.life))
        taken.push_back(place);
    llvm::sort(taken, [](const Placement &a, const Placement &b) {
      return a.offset < b.offset;
    });
    int64_t offset = 0;
    for (const Placement &place : taken) {
      if (offset + request.bytes <= place.offset)
        break;
      offset = std::max(offset, place.offset + place.bytes);
    }
    Placement place{shared, offset, request.bytes};
    placed.push_back({&request, place});
    places[request.alloc] = place;
    total = std::max(total, offset + request.bytes);
  }
  return total;
}

LogicalResult BufferPlan::plan(func::FuncOp function, int64_t maxShared) {
  Numbering numbering(function);
  SmallVector<Request> requests;
  WalkResult walk = function.walk([&](Operation *op) {
    if (!isa<memref::AllocOp, memref::AllocaOp>(op))
      return WalkResult::advance();
    auto type = cast<MemRefType>(op->getResult(0).getType());
    if (!type.hasStaticShape() || !type.getLayout().isIdentity()) {
      op->emitError() << "buffer of type " << type
                      << " in a kernel; a block has room for buffers of static "
                         "shape without gaps only";
      return WalkResult::interrupt();
    }
    int64_t bytes = llvm::alignTo(type.getNumElements() *
                                      elementBytes(type.getElementType()),
                                  kAlignment);
    requests.push_back({op, bytes, numbering.lifetime(op), requests.size()});
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  // Largest first: it packs well, and what has to leave is at the front.
  llvm::sort(requests, [](const Request &a, const Request &b) {
    return a.bytes == b.bytes ? a.order < b.order : a.bytes > b.bytes;
  });
  for (unsigned moved = 0;; ++moved) {
    places.clear();
    ArrayRef<Request> all = requests;
    scratchBytes = placeAll(all.take_front(moved), /*shared=*/false, places);
    sharedBytes = placeAll(all.drop_front(moved), /*shared=*/true, places);
    if (sharedBytes <= maxShared)
      return success();
  }
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

Value cuda::rootOf(Value memref) {
  while (Operation *def = memref.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(def)) {
      memref = view.getViewSource();
      continue;
    }
    bool isBuffer =
        isa<memref::AllocOp, memref::AllocaOp, UnrealizedConversionCastOp>(def);
    return isBuffer ? memref : Value();
  }
  auto arg = cast<BlockArgument>(memref);
  return isa<FunctionOpInterface>(arg.getOwner()->getParentOp()) ? memref
                                                                 : Value();
}

LogicalResult cuda::collectAccesses(Operation *op, SetVector<Value> &reads,
                                    SetVector<Value> &writes) {
  WalkResult walk = op->walk([&](Operation *inner) {
    if (isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp>(inner))
      return WalkResult::advance();
    if (auto effects = dyn_cast<MemoryEffectOpInterface>(inner)) {
      SmallVector<MemoryEffects::EffectInstance> instances;
      effects.getEffects(instances);
      for (const MemoryEffects::EffectInstance &effect : instances) {
        Value value = effect.getValue();
        if (!value)
          return WalkResult::interrupt();
        if (!isa<MemRefType>(value.getType()))
          continue; // an index is only read
        if (isa<MemoryEffects::Read>(effect.getEffect()))
          reads.insert(value);
        else if (isa<MemoryEffects::Write>(effect.getEffect()))
          writes.insert(value);
        else
          return WalkResult::interrupt();
      }
      return WalkResult::advance();
    }
    if (inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

bool Barriers::isLocal(Value memref) const {
  Value root = rootOf(memref);
  return root && places.contains(root);
}

Barriers::Access Barriers::accessOf(Value memref, bool isWrite) const {
  auto it = places.find(rootOf(memref));
  if (it == places.end())
    return {std::nullopt, isWrite};
  return {it->second, isWrite};
}

/// Arguments may be the same memory: all of global memory is one place. So is
/// what an unknown memref refers to, which may be a buffer as well.
static bool depends(const Barriers::Access &a, const Barriers::Access &b) {
  if (!a.isWrite && !b.isWrite)
    return false;
  if (!a.place || !b.place)
    return !a.place && !b.place;
  return a.place->shared == b.place->shared &&
         a.place->offset < b.place->offset + b.place->bytes &&
         b.place->offset < a.place->offset + a.place->bytes;
}

void Barriers::access(OpBuilder &builder, Location loc, ArrayRef<Value> reads,
                      ArrayRef<Value> writes) {
  State accesses;
  bool unknown = false;
  for (auto [memrefs, isWrite] :
       {std::pair(reads, false), std::pair(writes, true)})
    for (Value memref : memrefs) {
      unknown |= !rootOf(memref);
      accesses.push_back(accessOf(memref, isWrite));
    }
  bool wait = unknown && !pending.empty();
  for (const Access &access : accesses)
    wait |= llvm::any_of(pending, [&](const Access &earlier) {
      return depends(access, earlier);
    });
  if (wait)
    flush(builder, loc);
  if (unknown) {
    // Nothing may come near it.
    for (auto &[buffer, place] : places)
      pending.push_back({place, true});
    pending.push_back({std::nullopt, true});
    return;
  }
  pending.append(accesses);
}

void Barriers::flush(OpBuilder &builder, Location loc) {
  if (!pending.empty())
    gpu::BarrierOp::create(builder, loc);
  pending.clear();
}
