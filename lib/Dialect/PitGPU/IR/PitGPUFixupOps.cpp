//===- PitGPUFixupOps.cpp - Sums of tiles with k-splits -------------------===//

#include "Verify.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;

/// Threads of a slot, splits that are loaded at once, pieces of a tile, and
/// reads of a counter.
static constexpr int64_t kMostThreads = 65536, kMostSplitsAtOnce = 64,
                         kMostPieces = 65536, kMostPolls = 1000000;
/// Sums and bytes that a thread stores at once.
static constexpr int64_t kMostBytes = 16;

Type pitgpu::elementOfSums(Type type) {
  auto fragment = dyn_cast<FragmentType>(type);
  return fragment ? fragment.getElementType() : type;
}

int64_t pitgpu::countSums(TypeRange types) {
  int64_t count = 0;
  for (Type type : types) {
    auto fragment = dyn_cast<FragmentType>(type);
    count += fragment ? fragment.getParts() * fragment.getElementsPerPart() : 1;
  }
  return count;
}

/// Are these sums, and their places in memory, right? `constraints` are those
/// of types, of the slot, and of vectors.
template <typename OpT>
static LogicalResult verifySums(OpT op, TypeRange types,
                                const std::array<StringRef, 3> &constraints) {
  auto elements = llvm::map_range(types, elementOfSums);
  int64_t bits =
      types.empty() ? 0 : (*elements.begin()).getIntOrFloatBitWidth();
  if (!llvm::all_equal(elements) || !llvm::is_contained({8, 16, 32, 64}, bits))
    return violates(op, constraints[0])
           << types.size() << " sums, the first one of " << bits
           << " bits; one at least, and one type of 8, 16, 32 or 64 are right";
  int64_t threads = op.getThreads(), count = countSums(types);
  int64_t all = op.getOf().value_or(count);
  if (threads < 1 || threads > kMostThreads || all < count)
    return violates(op, constraints[1])
           << count << " of " << all << " sums of " << threads
           << " threads; a slot of as many sums at least, and 1 to "
           << kMostThreads << " threads are right";
  int64_t vector = op.getVector();
  if (!llvm::is_contained({1, 2, 4, 8, 16}, vector) ||
      vector * bits > 8 * kMostBytes || count % vector || all % vector)
    return violates(op, constraints[2])
           << count << " of " << all << " sums of " << bits
           << " bits, in vectors of " << vector
           << "; 1, 2, 4, 8 or 16 that divide both, and 16 bytes at most are "
              "right";
  return success();
}

LogicalResult StorePartialsOp::verify() {
  return verifySums(
      *this, getSums().getTypes(),
      {"store_partials 1", "store_partials 2", "store_partials 3"});
}

LogicalResult AddPartialsOp::verifyRegions() {
  if (failed(
          verifySums(*this, getSums().getTypes(),
                     {"add_partials 1", "add_partials 2", "add_partials 3"})))
    return failure();
  Type element = elementOfSums(getSums().front().getType());
  if (getStart() && getStart()->getType() != element)
    return violates(*this, "add_partials 1")
           << "a start of type " << getStart()->getType() << "; " << element
           << " is right";
  int64_t splits = getSplitsAtOnce().value_or(1);
  int64_t sums = getSumsAtOnce().value_or(getVector());
  if (splits < 1 || splits > kMostSplitsAtOnce || sums < 1 ||
      sums % static_cast<int64_t>(getVector()))
    return violates(*this, "add_partials 4")
           << sums << " sums of " << splits << " splits at once; 1 to "
           << kMostSplitsAtOnce << " splits, and whole vectors of "
           << getVector() << " are right";
  if (getCombine().empty())
    return success();
  if (!hasSignature(getCombine(), {element, element}, element))
    return violates(*this, "add_partials 5")
           << "the region has to take two " << element << " and to yield one";
  return verifyElementwise(*this, "add_partials 6");
}

LogicalResult LastSplitOp::verify() {
  if (RolesOp::of(*this).first)
    return violates(*this, "last_split 1")
           << "it is in a role; all threads of a block run it";
  return success();
}

LogicalResult AwaitSplitsOp::verify() {
  if (failed(verifyInWarps(*this, "await_splits 1")))
    return failure();
  int64_t pieces = getPieces(), polls = getPolls();
  if (pieces < 1 || pieces > kMostPieces || polls < 1 || polls > kMostPolls)
    return violates(*this, "await_splits 2")
           << pieces << " pieces, and " << polls << " polls; 1 to "
           << kMostPieces << ", and 1 to " << kMostPolls << " are right";
  return success();
}
