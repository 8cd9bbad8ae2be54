//===- IndexLowering.cpp - pit.index to calls of the runtime --------------===//

#include "Lowering.h"
#include "RuntimeCalls.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pit;

namespace {
// `pit_source` of the runtime.
int64_t runtimeSource(Source source) {
  switch (source) {
  case Source::Values:
    return 0;
  case Source::Mask:
    return 1;
  case Source::Lengths:
    return 3;
  case Source::Assignment:
    return 4;
  case Source::Index:
    break;
  }
  llvm_unreachable("an index is not built from an index");
}
} // namespace

//===----------------------------------------------------------------------===//
// Building an index
//===----------------------------------------------------------------------===//

/// The runtime's PIT_INDEX_*.
static int64_t indexFlags(IndexOp op) {
  constexpr int64_t kUnordered = 1, kDense = 4;
  // What is packed has room for the index's extent. A device knows a bound of
  // it: groups times ids where groups lie apart, but the number of slots where
  // those of an assignment follow each other, which costs nothing.
  bool dense = op.getSource() == Source::Assignment &&
               llvm::any_of(op->getUsers(), llvm::IsaPred<ExtentOp>);
  return (op.getUnordered() ? kUnordered : 0) | (dense ? kDense : 0);
}

static int64_t backgroundBits(TypedAttr background) {
  if (auto value = dyn_cast_or_null<FloatAttr>(background))
    return value.getValue().bitcastToAPInt().getZExtValue();
  if (auto value = dyn_cast_or_null<IntegerAttr>(background))
    return value.getValue().getZExtValue();
  return 0;
}

Value mlir::pit::buildIndex(OpBuilder &builder, IndexOp op,
                            func::FuncOp function) {
  Location loc = op.getLoc();
  SparsityIndexType type = op.getType();
  Type i64 = builder.getI64Type();
  auto input = cast<MemRefType>(op.getInput().getType());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI64IntegerAttr(value));
  };
  auto cast64 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, loc, i64, index);
  };

  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, op.getInput());
  SmallVector<Value> words = {constant(dtypeWord(input.getElementType())),
                              constant(backgroundBits(op.getBackgroundAttr())),
                              constant(indexFlags(op)), constant(0),
                              constant(input.getRank())};
  SmallVector<Value> shape(op.getShape());
  for (Value size : metadata.getSizes())
    words.push_back(cast64(size));
  if (shape.empty())
    shape.assign(metadata.getSizes().begin(), metadata.getSizes().end());
  for (Value stride : metadata.getStrides())
    words.push_back(cast64(stride));
  words.push_back(constant(type.getRank()));
  words.push_back(constant(type.getAxis()));
  for (Value extent : shape)
    words.push_back(cast64(extent));
  // The runtime writes a whole dimension as 0.
  for (ArrayRef<int64_t> extents : {type.getMicroTile(), type.getStep()})
    for (int64_t extent : extents)
      words.push_back(constant(ShapedType::isDynamic(extent) ? 0 : extent));

  Value description = storeWords(builder, loc, function, words);
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value data = LLVM::IntToPtrOp::create(
      builder, loc, pointerType,
      firstElementAddress(builder, loc, op.getInput()));
  Value source = arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(runtimeSource(op.getSource())));
  Value slot = entryAlloca(builder, loc, function, pointerType);
  SmallVector<Value> operands = {getFrame(function), source, data, description};
  StringRef callee = "pit_rt_build_index";
  if (mayRepeat(op->getBlock())) {
    callee = "pit_rt_rebuild_index";
    operands.push_back(entryPlace(builder, loc, function));
  }
  operands.push_back(slot);
  callRuntime(builder, loc, callee, builder.getI32Type(), operands,
              /*status=*/true);
  return LLVM::LoadOp::create(builder, loc, pointerType, slot);
}
