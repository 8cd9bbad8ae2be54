//===- Selection.cpp - What a mark selects, as dense tensors --------------===//

#include "Selection.h"

#include "Dialect/Pit/IR/Arithmetic.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::pit;

/// `value`, a 32- or 64-bit integer, as i64.
static Value toI64(OpBuilder &builder, Location loc, Value value) {
  Type i64 = builder.getI64Type();
  if (value.getType() == i64)
    return value;
  return arith::ExtSIOp::create(builder, loc, i64, value);
}

/// The coordinate along `dim` in the body of a linalg op, as i64.
static Value coordinate(OpBuilder &builder, Location loc, int64_t dim) {
  return ArithEmitter(builder, loc)
      .toI64(linalg::IndexOp::create(builder, loc, dim));
}

/// A T x E tensor of i1: is e among routing[t, :]?
static Value createMembership(OpBuilder &builder, SparseOp mark) {
  Location loc = mark.getLoc();
  Value no =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, mark.getInput()),
      builder.getI1Type());
  Value init = linalg::FillOp::create(builder, loc, no, empty).getResult(0);
  AffineExpr t, e, k;
  bindDims(builder.getContext(), t, e, k);
  SmallVector<AffineMap> maps = AffineMap::inferFromExprList(
      SmallVector<SmallVector<AffineExpr, 4>>{{t, k}, {t, e}},
      builder.getContext());
  auto parallel = utils::IteratorType::parallel;
  return linalg::GenericOp::create(
             builder, loc, init.getType(), mark.getSelector(), init, maps,
             {parallel, parallel, utils::IteratorType::reduction},
             [](OpBuilder &builder, Location loc, ValueRange args) {
               ArithEmitter e(builder, loc);
               Value same = e.equal(toI64(builder, loc, args[0]),
                                    coordinate(builder, loc, 1));
               e.make<linalg::YieldOp>(e.bitOr(args[1], same));
             })
      .getResult(0);
}

Value pit::isNotZero(OpBuilder &builder, Location loc, Value element) {
  Type type = element.getType();
  if (type.isInteger(1))
    return element;
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  if (isa<FloatType>(type))
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE,
                                 element, zero);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, element,
                               zero);
}

/// In the body of an elementwise op: is the element selected, given the
/// selector's element?
static Value isSelected(OpBuilder &builder, Location loc, Source source,
                        int64_t selectorRank, Value element) {
  if (source == Source::Lengths)
    return ArithEmitter(builder, loc)
        .lessThan(coordinate(builder, loc, selectorRank),
                  toI64(builder, loc, element));
  return isNotZero(builder, loc, element);
}

/// One elementwise op over the mark's shape. Its body yields what `yield` makes
/// of the inputs' elements and whether the element is selected.
static Value createElementwise(
    OpBuilder &builder, SparseOp mark, ValueRange inputs, Type elementType,
    function_ref<Value(OpBuilder &, Location, ValueRange, Value)> yield) {
  Location loc = mark.getLoc();
  Value selector = mark.getSelector();
  Source source = mark.getSource();
  if (source == Source::Routing) {
    selector = createMembership(builder, mark);
    source = Source::Mask;
  }
  RankedTensorType type = mark.getInput().getType();
  int64_t rank = type.getRank();
  int64_t selectorRank = cast<RankedTensorType>(selector.getType()).getRank();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps(inputs.size(), identity);
  maps.push_back(AffineMap::get(rank, 0,
                                identity.getResults().take_front(selectorRank),
                                builder.getContext()));
  maps.push_back(identity);
  SmallVector<Value> operands(inputs);
  operands.push_back(selector);
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, mark.getInput()),
      elementType, type.getEncoding());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), operands, empty, maps, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange args) {
               Value selected = isSelected(builder, loc, source, selectorRank,
                                           args[inputs.size()]);
               linalg::YieldOp::create(builder, loc,
                                       yield(builder, loc,
                                             args.take_front(inputs.size()),
                                             selected));
             })
      .getResult(0);
}

Value pit::createMask(OpBuilder &builder, SparseOp mark) {
  if (mark.getSource() == Source::Mask)
    return mark.getSelector();
  if (mark.getSource() == Source::Routing)
    return createMembership(builder, mark);
  return createElementwise(builder, mark, /*inputs=*/{}, builder.getI1Type(),
                           [](OpBuilder &, Location, ValueRange,
                              Value selected) { return selected; });
}

Value pit::createSelection(OpBuilder &builder, SparseOp mark) {
  Value background = arith::ConstantOp::create(builder, mark.getLoc(),
                                               mark.getBackgroundOrZero());
  return createElementwise(
      builder, mark, mark.getInput(), mark.getType().getElementType(),
      [&](OpBuilder &builder, Location loc, ValueRange args, Value selected) {
        return arith::SelectOp::create(builder, loc, selected, args[0],
                                       background);
      });
}
