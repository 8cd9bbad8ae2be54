//===- ShapeExpr.cpp - Sizes as functions of the arguments' sizes ---------===//

#include "pit/ABI/ShapeExpr.h"
#include "pit-runtime/Abi.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::pit;

/// How many ops may be looked at for one size, and how long a chain of them may
/// be. A size that takes more counts as not known.
static constexpr unsigned kMaxSteps = 16384;
static constexpr unsigned kMaxDepth = 512;

ShapeExprs::ShapeExprs(FunctionOpInterface func)
    : func(func), context(func->getContext()) {}

ShapeExprs::~ShapeExprs() {
  for (Operation *op : llvm::reverse(inserted))
    op->erase();
}

void ShapeExprs::notifyOperationInserted(Operation *op,
                                         OpBuilder::InsertPoint previous) {
  inserted.push_back(op);
}

bool ShapeExprs::enter() {
  if (depth == 0)
    steps = 0;
  if (depth == kMaxDepth || steps == kMaxSteps)
    return false;
  ++depth;
  ++steps;
  return true;
}

/// True for the function's own arguments.
bool ShapeExprs::isArgument(BlockArgument arg) {
  return arg.getOwner()->isEntryBlock() &&
         arg.getOwner()->getParentOp() == func;
}

AffineExpr ShapeExprs::ofArgument(int64_t arg, int64_t dim) {
  std::pair<int64_t, int64_t> symbol(arg, dim);
  auto *it = llvm::find(symbols, symbol);
  unsigned position = it - symbols.begin();
  if (it == symbols.end())
    symbols.push_back(symbol);
  return getAffineSymbolExpr(position, context);
}

AffineExpr ShapeExprs::ofDim(Value tensor, int64_t dim) {
  if (isa<SparsityIndexType>(tensor.getType())) {
    auto arg = dyn_cast<BlockArgument>(tensor);
    return arg && isArgument(arg) ? ofArgument(arg.getArgNumber(), dim)
                                  : AffineExpr();
  }
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || dim < 0 || dim >= type.getRank())
    return {};
  if (!type.isDynamicDim(dim))
    return getAffineConstantExpr(type.getDimSize(dim), context);
  if (auto it = assumed.find({tensor, dim}); it != assumed.end())
    return it->second;
  if (!enter())
    return {};
  llvm::scope_exit leave([&] { --depth; });
  if (auto result = dyn_cast<OpResult>(tensor))
    return ofResult(result, dim);
  auto arg = cast<BlockArgument>(tensor);
  if (isArgument(arg))
    return ofArgument(arg.getArgNumber(), dim);
  Operation *parent = arg.getOwner()->getParentOp();
  if (auto loop = dyn_cast<LoopLikeOpInterface>(parent))
    if (OpOperand *init = loop.getTiedLoopInit(arg))
      return ofLoop(loop, init->getOperandNumber(), dim);
  return {};
}

/// The size of a tensor that a loop carries: the initial one, if the body
/// yields that size when it is given it.
AffineExpr ShapeExprs::ofLoop(Operation *op, unsigned init, int64_t dim) {
  auto loop = cast<LoopLikeOpInterface>(op);
  OpOperand &operand = op->getOpOperand(init);
  AffineExpr initial = ofDim(operand.get(), dim);
  if (!initial || op->hasTrait<OpTrait::HasParallelRegion>())
    return initial; // tensors shared by parallel iterations keep their shape
  BlockArgument arg = loop.getTiedLoopRegionIterArg(&operand);
  OpOperand *yielded = arg ? loop.getTiedLoopYieldedValue(arg) : nullptr;
  if (!yielded)
    return {};
  assumed[{arg, dim}] = initial;
  AffineExpr next = ofDim(yielded->get(), dim);
  assumed.erase({arg, dim});
  return next == initial ? initial : AffineExpr();
}

AffineExpr ShapeExprs::ofResult(OpResult result, int64_t dim) {
  Operation *op = result.getOwner();
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    if (OpOperand *init = dps.getTiedOpOperand(result))
      return ofDim(init->get(), dim);
  if (auto sparse = dyn_cast<SparseOp>(op))
    return ofDim(sparse.getInput(), dim);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return ofDim(cast.getSource(), dim);
  auto same = [&](Value a, Value b) {
    AffineExpr size = ofDim(a, dim);
    return size == ofDim(b, dim) ? size : AffineExpr();
  };
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return same(select.getTrueValue(), select.getFalseValue());
  if (auto select = dyn_cast<scf::IfOp>(op))
    return same(select.thenYield().getOperand(result.getResultNumber()),
                select.elseYield().getOperand(result.getResultNumber()));
  if (OpTrait::hasElementwiseMappableTraits(op))
    return ofDim(op->getOperands().back(), dim);
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    // The results of scf.while are those of its condition, tied to nothing.
    OpOperand *init =
        isa<scf::WhileOp>(op) ? nullptr : loop.getTiedLoopInit(result);
    return init ? ofLoop(op, init->getOperandNumber(), dim) : AffineExpr();
  }
  if (!isa<ReifyRankedShapedTypeOpInterface>(op))
    return {};
  OpBuilder builder(context, this);
  builder.setInsertionPointAfter(op);
  FailureOr<OpFoldResult> size =
      reifyDimOfResult(builder, op, result.getResultNumber(), dim);
  return succeeded(size) ? of(*size) : AffineExpr();
}

AffineExpr ShapeExprs::of(OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return getAffineConstantExpr(*constant, context);
  Value value = cast<Value>(size);
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    bool exact = arg.getType().isIndex() || arg.getType().isInteger(64);
    return exact && isArgument(arg) ? ofArgument(arg.getArgNumber(), kScalar)
                                    : AffineExpr();
  }
  Operation *op = value.getDefiningOp();
  if (!enter())
    return {};
  llvm::scope_exit leave([&] { --depth; });
  return ofIndexOp(op);
}

bool ShapeExprs::isNonNegative(AffineExpr expr) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()].second != kScalar;
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr))
    return isNonNegative(binary.getLHS()) && isNonNegative(binary.getRHS());
  return false;
}

/// True if each division is by a positive constant. Programs have no other.
static bool dividesByConstants(AffineExpr expr) {
  bool ok = true;
  expr.walk([&](AffineExpr e) {
    if (llvm::is_contained({AffineExprKind::Mod, AffineExprKind::FloorDiv,
                            AffineExprKind::CeilDiv},
                           e.getKind())) {
      auto divisor =
          dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(e).getRHS());
      ok &= divisor && divisor.getValue() > 0;
    }
  });
  return ok;
}

AffineExpr ShapeExprs::ofIndexOp(Operation *op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    return index ? ofDim(dim.getSource(), *index) : AffineExpr();
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<AffineExpr> operands;
    for (Value operand : apply.getMapOperands()) {
      operands.push_back(of(operand));
      if (!operands.back())
        return {};
    }
    ArrayRef<AffineExpr> all = operands;
    unsigned dims = apply.getAffineMap().getNumDims();
    AffineExpr expr = apply.getAffineMap().getResult(0).replaceDimsAndSymbols(
        all.take_front(dims), all.drop_front(dims));
    return dividesByConstants(expr) ? expr : AffineExpr();
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
    if (from.isInteger(64) || to.isInteger(64))
      return of(op->getOperand(0));
    // The only narrower integers that are known are arguments: arithmetic on
    // them wraps.
    auto arg = dyn_cast<BlockArgument>(op->getOperand(0));
    return arg && !from.isInteger(1) && to.isIndex() &&
                   isa<arith::IndexCastOp>(op) && isArgument(arg)
               ? ofArgument(arg.getArgNumber(), kScalar)
               : AffineExpr();
  }
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 ||
      !op->getResult(0).getType().isIntOrIndex())
    return {};
  AffineExpr lhs = of(op->getOperand(0)), rhs = of(op->getOperand(1));
  if (!lhs || !rhs)
    return {};
  if (isa<arith::AddIOp>(op))
    return lhs + rhs;
  if (isa<arith::SubIOp>(op))
    return lhs - rhs;
  if (isa<arith::MulIOp>(op))
    return lhs * rhs;
  auto divisor = dyn_cast<AffineConstantExpr>(rhs);
  if (!divisor || divisor.getValue() <= 0)
    return {};
  if (isa<arith::FloorDivSIOp>(op))
    return lhs.floorDiv(rhs);
  if (isa<arith::CeilDivSIOp>(op))
    return lhs.ceilDiv(rhs);
  // The others round towards zero or take the dividend as unsigned.
  if (!isNonNegative(lhs))
    return {};
  if (isa<arith::DivUIOp, arith::DivSIOp>(op))
    return lhs.floorDiv(rhs);
  if (isa<arith::CeilDivUIOp>(op))
    return lhs.ceilDiv(rhs);
  if (isa<arith::RemUIOp, arith::RemSIOp>(op))
    return lhs % rhs;
  return {};
}

/// Appends the program of `expr`; returns how deep the stack gets, or nothing
/// if the program is too long.
static std::optional<int64_t>
append(AffineExpr expr, ArrayRef<std::pair<int64_t, int64_t>> symbols,
       ShapeProgram &program) {
  if (program.size() > PIT_SHAPE_MAX_OPS)
    return std::nullopt;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    program.push_back({PIT_SHAPE_CONST, 0, constant.getValue()});
    return 1;
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    auto [argument, dim] = symbols[symbol.getPosition()];
    auto arg = static_cast<int32_t>(argument);
    if (dim == ShapeExprs::kScalar)
      program.push_back({PIT_SHAPE_SCALAR, arg, 0});
    else
      program.push_back({PIT_SHAPE_DIM, arg, dim});
    return 1;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> lhs = append(binary.getLHS(), symbols, program);
  std::optional<int64_t> rhs;
  if (lhs)
    rhs = append(binary.getRHS(), symbols, program);
  if (!rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    program.push_back({PIT_SHAPE_ADD, 0, 0});
    break;
  case AffineExprKind::Mul:
    program.push_back({PIT_SHAPE_MUL, 0, 0});
    break;
  case AffineExprKind::FloorDiv:
    program.push_back({PIT_SHAPE_FLOORDIV, 0, 0});
    break;
  case AffineExprKind::CeilDiv:
    program.push_back({PIT_SHAPE_CEILDIV, 0, 0});
    break;
  default:
    program.push_back({PIT_SHAPE_MOD, 0, 0});
    break;
  }
  return std::max(*lhs, *rhs + 1);
}

ShapeProgram ShapeExprs::toProgram(AffineExpr expr) const {
  ShapeProgram program;
  std::optional<int64_t> stack;
  if (expr)
    stack = append(expr, symbols, program);
  if (!stack || *stack > PIT_SHAPE_MAX_DEPTH ||
      program.size() > PIT_SHAPE_MAX_OPS)
    return {{PIT_SHAPE_UNKNOWN, 0, 0}};
  return program;
}
