//===- PitGPUFragmentOps.cpp - Products and fragments ---------------------===//

#include "Verify.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;

static bool isF8(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8;
}

LogicalResult pitgpu::verifyElementwise(Operation *op, StringRef constraint) {
  Operation *wrong = nullptr;
  op->getRegion(0).walk([&](Operation *inner) {
    if (isa_and_nonnull<PitGPUDialect>(inner->getDialect()) &&
        !isa<YieldOp>(inner))
      wrong = inner;
  });
  if (!wrong)
    return success();
  return violates(op, constraint)
         << "there is a " << wrong->getName()
         << " in the region, which computes single elements";
}

LogicalResult MmaOp::verify() {
  TileType b = getB().getType();
  AccumulatorType acc = getAcc().getType();
  auto tile = dyn_cast<TileType>(getA().getType());
  auto fragment = dyn_cast<FragmentType>(getA().getType());
  int64_t rows = tile ? tile.getRows() : fragment.getRows();
  int64_t cols = tile ? tile.getCols() : fragment.getCols();
  Type element = tile ? tile.getElementType() : fragment.getElementType();
  auto [m, kOfA] =
      getTransposeA() ? std::pair(cols, rows) : std::pair(rows, cols);
  auto [kOfB, n] = getTransposeB() ? std::pair(b.getCols(), b.getRows())
                                   : std::pair(b.getRows(), b.getCols());
  if (m != acc.getRows() || n != acc.getCols() || kOfA != kOfB)
    return violates(*this, "mma 1")
           << m << "x" << kOfA << " times " << kOfB << "x" << n << " gives no "
           << acc.getRows() << "x" << acc.getCols();
  bool isNarrow = element.isF16() || element.isBF16();
  bool isSame = element == b.getElementType() ||
                (isF8(element) && isF8(b.getElementType()));
  if (!isSame || (!isNarrow && (getTransposeA() || !getTransposeB())))
    return violates(*this, "mma 2")
           << element << " times " << b.getElementType()
           << (isNarrow
                   ? "; one type is right"
                   : "; a of m x k and b of n x k, and one type are right");
  if (kOfA * element.getIntOrFloatBitWidth() % 256)
    return violates(*this, "mma 3")
           << "k of " << kOfA << " elements of " << element
           << "; a multiple of 32 bytes is right";
  if (fragment && ((!isNarrow && !isF8(element)) || getTransposeA() ||
                   !fragment.isOfWarpgroup()))
    return violates(*this, "mma 4")
           << "a fragment of " << element << " with " << fragment.getWarpRows()
           << " rows in a warp" << (getTransposeA() ? ", transposed" : "")
           << "; one of 8 or 16 bits with 16, as it is, is right";
  if (acc.getInTensorMemory() ? !tile : static_cast<bool>(getAdds()))
    return violates(*this, "mma 5")
           << "sums in "
           << (acc.getInTensorMemory() ? "tensor memory with a fragment"
                                       : "registers with a condition")
           << "; both factors of sums in tensor memory lie in shared memory, "
              "and they alone have a condition";
  return acc.getInTensorMemory() ? verifyInRole(*this) : success();
}

/// How many products start between the one that gives `sums` and the wait, if
/// both are in one block but for turns, and so are all products between them.
static std::optional<int64_t> productsAfter(MmaWaitOp wait, Value sums) {
  while (auto turn = sums.getDefiningOp<HandOverOp>()) {
    // It may not have been verified yet.
    if (turn->getNumRegions() != 1 || turn.getBody().empty() ||
        turn.getBody().front().empty())
      return std::nullopt;
    Operation *yield = &turn.getBody().front().back();
    unsigned number = cast<OpResult>(sums).getResultNumber();
    if (yield->getNumOperands() <= number)
      return std::nullopt;
    sums = yield->getOperand(number);
  }
  auto product = sums.getDefiningOp<MmaOp>();
  if (!product)
    return std::nullopt;
  auto outside = [](Operation *op) {
    while (isa<HandOverOp>(op->getParentOp()))
      op = op->getParentOp();
    return op;
  };
  Operation *from = outside(product), *to = outside(wait);
  if (from->getBlock() != to->getBlock())
    return std::nullopt;
  int64_t later = 0;
  bool isAfter = false, isKnown = true;
  for (Operation *op = from; op; op = op->getNextNode()) {
    WalkResult end = op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      if (inner == wait)
        return WalkResult::interrupt();
      if (isAfter && isa<MmaOp>(inner)) {
        ++later;
        isKnown &= outside(inner)->getBlock() == to->getBlock();
      }
      isAfter |= inner == product;
      return WalkResult::advance();
    });
    if (end.wasInterrupted())
      return isKnown ? std::optional(later) : std::nullopt;
  }
  return std::nullopt; // the wait stands before the product
}

LogicalResult MmaSyncOp::verify() {
  Type element = getElement();
  if (!element.isF16() && !element.isBF16() && !element.isF32() &&
      !element.isInteger(8))
    return violates(*this, "mma_sync 1") << "the elements are " << element
                                         << "; f16, bf16, f32 or i8 are right";
  size_t a = getA().size(), b = getB().size(), sums = getSums().size();
  if (!a || !b || a % 4 || b % 2 || sums != a / 4 * (b / 2) * 4)
    return violates(*this, "mma_sync 2")
           << a << " words of a, " << b << " of b and " << sums
           << " sums; 4 m, 2 n and 4 m n are right for some m and n";
  for (TypeRange types : {TypeRange(getSums()), TypeRange(getResults())})
    if (types.size() != sums || llvm::any_of(types, [&](Type type) {
          return type.isF32() == element.isInteger(8);
        }))
      return violates(*this, "mma_sync 3")
             << "products of " << element << " have sums of "
             << (element.isInteger(8) ? "i32" : "f32")
             << ", and as many results";
  return success();
}

LogicalResult MmaWaitOp::verify() {
  if (int64_t pending = getPending(); pending < 0 || pending > 7)
    return violates(*this, "mma_wait 1")
           << pending << " products pending; 0 to 7 is right";
  bool isRight = getSums().size() == getFragments().size();
  for (auto [sums, fragment] : llvm::zip(getSums(), getFragments())) {
    auto from = cast<AccumulatorType>(sums.getType());
    auto to = cast<FragmentType>(fragment.getType());
    isRight &= from.getRows() == to.getRows() &&
               from.getCols() == to.getCols() && to.getElementType().isF32() &&
               to.getWarpRows() == 16;
  }
  if (!isRight)
    return violates(*this, "mma_wait 2")
           << "a fragment of f32 with the same extents for each accumulator, "
              "and 16 rows in a warp, is right";
  for (Value sums : getSums())
    if (cast<AccumulatorType>(sums.getType()).getInTensorMemory())
      return violates(*this, "mma_wait 4")
             << "sums in tensor memory; a role waits for their stage";
  for (Value sums : getSums())
    if (std::optional<int64_t> later = productsAfter(*this, sums);
        later && *later < static_cast<int64_t>(getPending()))
      return violates(*this, "mma_wait 3")
             << getPending() << " products may be pending, and " << *later
             << " were started after the one that gives the sums";
  return success();
}

LogicalResult ReadOp::verify() {
  AccumulatorType acc = getAcc().getType();
  FragmentType to = getType();
  if (!acc.getInTensorMemory())
    return violates(*this, "read 1")
           << "sums in registers; a mma_wait gives them as a fragment";
  if (to.getRows() != acc.getRows() || to.getWarpRows() != 32 ||
      !to.getElementType().isF32() || to.getCols() < 8 ||
      to.getCols() > acc.getCols())
    return violates(*this, "read 2")
           << to << " of " << acc
           << "; as many rows, 32 of them in a warp, f32 and 8 to "
           << acc.getCols() << " columns are right";
  return verifyInRole(*this);
}

LogicalResult AccumulateOp::verify() {
  FragmentType from = getFragment().getType();
  AccumulatorType to = getType();
  if (from.getRows() != to.getRows() || from.getCols() != to.getCols() ||
      !from.getElementType().isF32() || from.getWarpRows() != 16 ||
      to.getInTensorMemory())
    return violates(*this, "accumulate 1")
           << from << " as " << to
           << "; the same extents, of f32 in registers, with 16 rows in a warp "
              "are right";
  return success();
}

LogicalResult SplatOp::verify() {
  if (getValue().getType() != getType().getElementType())
    return violates(*this, "splat 1")
           << getValue().getType() << " as element of " << getType();
  return success();
}

bool pitgpu::hasSignature(Region &region, ArrayRef<Type> arguments, Type type) {
  auto yield = cast<YieldOp>(region.front().getTerminator());
  return llvm::equal(region.getArgumentTypes(), arguments) &&
         yield.getValues().size() == 1 &&
         yield.getValues()[0].getType() == type;
}

/// Floats of 8 bits lie in an order of their own.
static constexpr StringLiteral kNoF8 =
    "elements of more than 8 bits, or integers, are right";

LogicalResult MapOp::verifyRegions() {
  FragmentType result = getType();
  Type number = IntegerType::get(getContext(), 32);
  SmallVector<Type> arguments = {number, number};
  for (Value input : getInputs()) {
    auto type = cast<FragmentType>(input.getType());
    arguments.push_back(type.getElementType());
    bool isRight =
        (!type.hasRows() || (type.getRows() == result.getRows() &&
                             type.getWarpRows() == result.getWarpRows())) &&
        (!type.hasCols() || type.getCols() == result.getCols()) &&
        (!result.getSpread() || type.getSpread() || !type.hasCols());
    if (!isRight)
      return violates(*this, "map 1")
             << "an input " << type << " of " << result
             << "; the same rows, as many in a warp, or one, as many columns "
                "or one, and columns of a spread result that are spread, are "
                "right";
    if (isF8(type.getElementType()))
      return violates(*this, "map 4") << "an input " << type << "; " << kNoF8;
  }
  if (isF8(result.getElementType()))
    return violates(*this, "map 4") << "gives " << result << "; " << kNoF8;
  if (!hasSignature(getBody(), arguments, result.getElementType()))
    return violates(*this, "map 2")
           << "the region has to take two i32 and an element of each of "
           << getInputs().size() << " inputs, and to yield one "
           << result.getElementType();
  return verifyElementwise(*this, "map 3");
}

LogicalResult ReduceRowsOp::verifyRegions() {
  FragmentType input = getInput().getType(), result = getType();
  Type element = input.getElementType();
  if (result.getCols() != 1 || result.getRows() != input.getRows() ||
      result.getWarpRows() != input.getWarpRows() || input.getSpread() ||
      result.getElementType() != element || isF8(element))
    return violates(*this, "reduce_rows 1")
           << input << " to " << result
           << "; one column, and the same rows and elements, neither spread "
              "nor of 8 bits, are right";
  if (!hasSignature(getBody(), {element, element}, element))
    return violates(*this, "reduce_rows 2")
           << "the region has to take two " << element << " and to yield one";
  return verifyElementwise(*this, "reduce_rows 3");
}
