//===- ContractionInfo.cpp - What contraction a mainloop computes ---------===//

#include "ContractionInfo.h"

#include "Index.h"

#include "pit/Analysis/Refusal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::pit;

/// `x`, or what it was converted from.
static Value skipExtension(Value x) {
  while (Operation *op = x.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp>(op))
      break;
    x = op->getOperand(0);
  }
  return x;
}

bool mlir::pit::isMultiplyAdd(Block &compute) {
  Value sum = compute.getTerminator()->getOperand(0);
  Operation *add = sum.getDefiningOp();
  if (!add || !isa<arith::AddFOp, arith::AddIOp>(add))
    return false;
  Value acc = compute.getArgument(2);
  Value product = add->getOperand(add->getOperand(0) == acc ? 1 : 0);
  if (add->getOperand(0) != acc && add->getOperand(1) != acc)
    return false;
  SmallVector<Value> factors = {product};
  for (size_t i = 0; i < factors.size();) {
    Value factor = skipExtension(factors[i]);
    Operation *mul = factor.getDefiningOp();
    if (mul && isa<arith::MulFOp, arith::MulIOp>(mul)) {
      factors[i] = mul->getOperand(0);
      factors.push_back(mul->getOperand(1));
    } else {
      factors[i++] = factor;
    }
  }
  return factors.size() + 1 == compute.getNumArguments() &&
         llvm::all_of(compute.getArguments(), [&](Value argument) {
           return llvm::count(factors, argument) == (argument != acc);
         });
}

static bool isZeroOrNone(TypedAttr pad) {
  if (auto value = dyn_cast_or_null<FloatAttr>(pad))
    return value.getValue().isPosZero();
  if (auto value = dyn_cast_or_null<IntegerAttr>(pad))
    return value.getValue().isZero();
  return true;
}

/// Finds the parts of an operand's dimensions. `outer` and `k` are iteration
/// dimensions, -1 if there is none.
static void describeOperand(ViewOp view, AffineMap map, int outer, int k,
                            ContractionOperand &operand) {
  operand.element =
      cast<VectorType>(view.getResult().getType()).getElementType();
  operand.elementBytes = elementBytes(operand.element);
  int outerDim = -1, kDim = -1;
  for (auto [d, result] : llvm::enumerate(map.getResults())) {
    int dim = cast<AffineDimExpr>(result).getPosition();
    if (dim == outer)
      outerDim = d;
    else if (dim == k)
      kDim = d;
  }
  // The last dimension of the source is contiguous.
  int last = map.getNumResults() - 1;
  operand.kIsCol = kDim > outerDim || (kDim < 0 && outerDim != last);
  operand.colDim = operand.kIsCol ? kDim : outerDim;
  operand.rowDim = operand.kIsCol ? outerDim : kDim;
}

/// Finds the views of both operands, and which of them each contraction reads.
static void findViews(MainloopOp mainloop, ContractionInfo &info) {
  for (unsigned i = 0; i < mainloop.getNumAccumulators(); ++i) {
    std::array<unsigned, 2> pair;
    for (unsigned operand = 0; operand < 2; ++operand) {
      SmallVector<unsigned> &views = (operand ? info.b : info.a).views;
      unsigned view = mainloop.getViewOf(i, operand);
      pair[operand] = llvm::find(views, view) - views.begin();
      if (pair[operand] == views.size())
        views.push_back(view);
    }
    info.pairs.push_back(pair);
  }
}

OrRefusal<ContractionInfo> mlir::pit::describeContraction(MainloopOp mainloop) {
  ContractionInfo info;
  if (!mainloop.isProduct())
    return refuse("its steps compute more than contractions");
  auto maps = llvm::to_vector(
      mainloop.getContraction().getMaps().getAsValueRange<AffineMapAttr>());
  // Windows are the CPU's.
  for (AffineMap map : maps)
    if (!map.isProjectedPermutation())
      return refuse("an operand is read by windows");
  int m = -1, n = -1, k = -1;
  auto partOf = [&](unsigned d) -> int * {
    bool inA = maps[0].isFunctionOfDim(d), inB = maps[1].isFunctionOfDim(d);
    bool inAcc = maps[2].isFunctionOfDim(d);
    return inA && inB && !inAcc   ? &k
           : inA && !inB && inAcc ? &m
           : !inA && inB && inAcc ? &n
                                  : nullptr;
  };
  ArrayRef<int64_t> tile = mainloop.getTile();
  for (auto [d, extent] : llvm::enumerate(tile)) {
    if (extent == 1)
      continue;
    if (extent < 1)
      return refuse("dimension ", d, " of its tile is of ", extent,
                    " elements");
    int *part = partOf(d);
    if (!part || *part >= 0)
      return refuse("its tile has several dimensions for one of m, n "
                    "and k, or one for none of them");
    *part = d;
    (part == &m ? info.m : part == &n ? info.n : info.k) = extent;
  }
  // One row is a row, too.
  for (int d = tile.size() - 1; d >= 0; --d)
    if (int *part = tile[d] == 1 ? partOf(d) : nullptr; part && *part < 0)
      *part = d;
  for (auto [d, result] : llvm::enumerate(maps[2].getResults())) {
    int dim = cast<AffineDimExpr>(result).getPosition();
    if (dim == m)
      info.mDim = d;
    else if (dim == n)
      info.nDim = d;
  }
  describeOperand(mainloop.getOperandView(0), maps[0], m, k, info.a);
  describeOperand(mainloop.getOperandView(1), maps[1], n, k, info.b);
  findViews(mainloop, info);
  info.a.outer = info.m;
  info.b.outer = info.n;
  for (ContractionOperand *operand : {&info.a, &info.b})
    if (operand->element.isInteger(1) || operand->elementBytes > 8 ||
        !isa<FloatType, IntegerType>(operand->element))
      return refuse(
          "the elements of an operand are no numbers of 1 to 8 bytes");
  info.accumulator = mainloop.getAccumulatorType();
  if (!info.accumulator.isIntOrFloat() || info.accumulator.isInteger(1))
    return refuse("its sums are no numbers of 1 byte or more");
  info.isMultiplyAdd = isMultiplyAdd(mainloop);
  info.padsZero = llvm::all_of(
      llvm::seq<unsigned>(0, mainloop.getNumLoaded()), [&](unsigned view) {
        return isZeroOrNone(mainloop.getLoaded(view).getPadAttr());
      });
  return info;
}
