//===- MainloopQueries.cpp - What plans ask of a mainloop -----------------===//

#include "MainloopPlan.h"
#include "PackTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cpu;

std::optional<unsigned> cpu::findDim(AffineMap map, unsigned dim) {
  for (auto [position, result] : llvm::enumerate(map.getResults()))
    if (auto plain = dyn_cast<AffineDimExpr>(result);
        plain && plain.getPosition() == dim)
      return position;
  return std::nullopt;
}

ArrayRef<unsigned> cpu::takeRows(MainloopOp mainloop, ArrayRef<unsigned> dims,
                                 int64_t rows) {
  size_t taken = 0;
  for (int64_t product = 1; product < rows && taken < dims.size();) {
    product *= mainloop.getTile()[dims[dims.size() - ++taken]];
    if (product == rows)
      return dims.take_back(taken);
  }
  return {};
}

AffineMap cpu::getSumsMap(MainloopOp mainloop, const MainloopPlan &plan) {
  AffineMap acc = mainloop.getMap(2);
  SmallVector<AffineExpr> results(acc.getResults());
  moveLast(results, *findDim(acc, plan.n));
  return AffineMap::get(acc.getNumDims(), 0, results, acc.getContext());
}

bool cpu::isContiguous(Type type, OperandRange subscripts, unsigned d) {
  auto shaped = cast<ShapedType>(type);
  if (d + 1 != static_cast<unsigned>(shaped.getRank()))
    return false;
  if (auto memref = dyn_cast<MemRefType>(type)) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(memref.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return false;
  }
  return !isa<IdsType>(subscripts[d].getType());
}

bool cpu::hasVectors(MainloopOp mainloop, unsigned extra, unsigned d) {
  auto source = mainloop.getExtras()[extra].getDefiningOp<ViewOp>();
  auto map = cast<AffineMapAttr>(mainloop.getExtraMaps()[extra]).getValue();
  std::optional<unsigned> lane = findDim(map, d);
  return !lane ||
         isContiguous(source.getSrc().getType(), source.getSubscripts(), *lane);
}

bool cpu::hasWindows(AffineMap map) {
  return !llvm::all_of(map.getResults(),
                       llvm::IsaPred<AffineDimExpr, AffineConstantExpr>);
}

Operation *cpu::getExtension(MainloopOp mainloop, unsigned operand) {
  BlockArgument arg = mainloop.getContraction().getBody().getArgument(operand);
  if (!arg.hasOneUse())
    return nullptr;
  Operation *user = *arg.user_begin();
  return isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(user) ? user
                                                                  : nullptr;
}

int64_t cpu::laneBits(Type type) {
  if (isa<Float8E4M3FNType, Float8E5M2Type, Float16Type, BFloat16Type,
          Float32Type, Float64Type>(type) ||
      type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
      type.isSignlessInteger(32) || type.isSignlessInteger(64))
    return type.getIntOrFloatBitWidth();
  return 0;
}

int64_t cpu::regionBits(Region &region) {
  int64_t bits = 8;
  auto see = [&](Type type) {
    int64_t b = type.isInteger(1) ? 8 : laneBits(type);
    bits = b && bits ? std::max(bits, b) : 0;
  };
  for (Type type : region.getArgumentTypes())
    see(type);
  for (Operation &op : region.front().without_terminator()) {
    if (!op.hasTrait<OpTrait::ConstantLike>() &&
        !OpTrait::hasElementwiseMappableTraits(&op))
      return 0;
    for (Type type : op.getResultTypes())
      see(type);
  }
  return bits;
}
