//===- BodyProducts.cpp - Contractions of a tile body by wgmma ------------===//

#include "PortableBody.h"

#include "pit/Codegen/Common/MathExpansions.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

pitgpu::TileType BodyProducts::typeOf(const StagedTile &staged) {
  return cast<pitgpu::TileType>(tileType(staged.operand));
}

pitgpu::TileType BodyProducts::typeOfFactor(const BodyPlan &plan) {
  Type element = cast<VectorType>(ContractOp(plan.added).getLhs().getType())
                     .getElementType();
  return pitgpu::TileType::get(plan.info.rows, kWgmmaRows, element, kLineBytes);
}

pitgpu::TileType BodyProducts::typeOfSums(const BodyPlan &plan) {
  return pitgpu::TileType::get(
      kWgmmaRows, kAddedColumns,
      Float32Type::get(ContractOp(plan.added).getContext()), kLineBytes);
}

pitgpu::AccumulatorType BodyProducts::sumsOf(ContractOp op) {
  return pitgpu::AccumulatorType::get(op.getContext(), kWgmmaRows,
                                      op.getTile()[findContractionDims(op)->n],
                                      Float32Type::get(op.getContext()));
}

/// A fragment of f32 whose sums are all 0, as those that begin.
static Value beginSums(Emitter &e, pitgpu::AccumulatorType type) {
  Value zero = pitgpu::SplatOp::create(
      e.b, e.loc,
      pitgpu::FragmentType::get(e.b.getContext(), type.getRows(),
                                type.getCols(), type.getElementType()),
      e.constant(e.b.getF32FloatAttr(0)));
  return pitgpu::AccumulateOp::create(e.b, e.loc, type, zero);
}

/// Elements of 8 bits are rounded as a thread has them: the order of a factor's
/// columns is that of a fragment. What is beyond the largest number becomes
/// that.
Value BodyProducts::factor(Value tile, Value fragment) {
  Type element = getElementTypeOrSelf(tile.getType());
  if (!isF8(element))
    return fragment;
  ThreadElements wide(e, fragment);
  auto pairOf = [&](size_t row, size_t j) -> Value {
    Value pair = NVVM::ConvertF32x2ToF8x2Op::create(
        e.b, e.loc, e.b.getI16Type(), wide.at(row, j + 1), wide.at(row, j),
        NVVM::FPRoundingMode::RN, NVVM::SaturationMode::SATFINITE,
        /*relu=*/false, element);
    return arith::ExtUIOp::create(e.b, e.loc, e.b.getI32Type(), pair);
  };
  SmallVector<Value> words;
  for (int64_t j = 0; j < wide.type.getThreadCols(); j += 4)
    for (size_t row : {0, 1})
      words.push_back(e.bitOr(
          pairOf(row, j),
          arith::ShLIOp::create(e.b, e.loc, pairOf(row, j + 2), e.i32(16))));
  return UnrealizedConversionCastOp::create(e.b, e.loc, wide.type.of(element),
                                            words)
      .getResult(0);
}

Value BodyProducts::start(ContractOp op, Value sums, Value lhs) {
  const StagedTile &right = plan.stagedOf(op.getRhs());
  Value b = tileOf(right), a = lhs;
  bool transposeA = false;
  if (!lhs) {
    const StagedTile &left = plan.stagedOf(op.getLhs());
    transposeA = !isAlongK(op, 0, left);
    a = rowsOfGroup(tileOf(left), transposeA);
  }
  pitgpu::AccumulatorType type = sumsOf(op);
  Value before =
      isZeroTile(op.getAcc()) || addsInThreads(op)
          ? beginSums(e, type)
          : Value(pitgpu::AccumulateOp::create(e.b, e.loc, type, sums));
  return pitgpu::MmaOp::create(e.b, e.loc, a, b, before, transposeA,
                               isAlongK(op, 1, right));
}

Value BodyProducts::ownFactor(Value tile) {
  return rowsOfGroup(tile, /*transposed=*/false);
}

/// A computed factor's rows are summed up: it is read transposed. The other one
/// is a tile of as many rows.
Value BodyProducts::startAdded(Value factor) {
  Value b = tileOf(plan.stagedOf(ContractOp(plan.added).getRhs()));
  auto whole = cast<pitgpu::TileType>(b.getType());
  auto part = pitgpu::TileType::get(e.b.getContext(), whole.getRows(),
                                    kAddedColumns, whole.getElementType(),
                                    whole.getSwizzle(), whole.getPitch());
  b = pitgpu::SubtileOp::create(e.b, e.loc, part, b, e.i32(0),
                                e.mul(group, kAddedColumns));
  auto type = pitgpu::AccumulatorType::get(e.b.getContext(), kWgmmaRows,
                                           kAddedColumns, e.b.getF32Type());
  return pitgpu::MmaOp::create(e.b, e.loc, factor, b, beginSums(e, type),
                               /*transpose_a=*/true, /*transpose_b=*/false);
}

void BodyProducts::storeAdded(Value sums, ValueRange subscripts, Value number,
                              const ChunkMap &chunks) {
  ThreadElements elements(e, sums);
  ContractOp op = plan.added;
  AccumulatorTile shape;
  shape.neighbours = 2;
  shape.mDim = plan.addedRowDim();
  shape.nDim = op.getMap(2).getNumResults() - 1;
  Value lane = e.rem(number, 32);
  Value row = e.add(e.mul(e.rem(e.div(number, 32), kWarpgroup / 32), 16),
                    e.div(lane, 4));
  Value col = e.add(e.mul(e.rem(lane, 4), 2), e.mul(group, kAddedColumns));
  Fragment all{{row, e.add(row, 8)}, {}};
  for (int64_t j = 0; j < kAddedColumns; j += 8)
    for (int64_t c = 0; c < 2; ++c)
      all.cols.push_back(e.add(col, j + c));
  MainloopEpilogue::store(
      e, storeOf(op), subscripts, shape, all, plan.vectorAtomics, chunks,
      [&](size_t i, size_t j) { return elements.at(i, j); });
}

/// The part of a first factor that this warpgroup multiplies.
Value BodyProducts::rowsOfGroup(Value tile, bool transposed) {
  auto type = cast<pitgpu::TileType>(tile.getType());
  Value first = e.mul(group, kWgmmaRows), zero = e.i32(0);
  auto part = pitgpu::TileType::get(
      e.b.getContext(), transposed ? type.getRows() : kWgmmaRows,
      transposed ? kWgmmaRows : type.getCols(), type.getElementType(),
      type.getSwizzle(), type.getPitch());
  return pitgpu::SubtileOp::create(e.b, e.loc, part, tile,
                                   transposed ? zero : first,
                                   transposed ? first : zero);
}

Value BodyProducts::await(ContractOp op, Value accumulators, int64_t later,
                          Value before) {
  auto type = cast<pitgpu::AccumulatorType>(accumulators.getType());
  auto fragment = pitgpu::FragmentType::get(
      e.b.getContext(), type.getRows(), type.getCols(), type.getElementType());
  Value sums = pitgpu::MmaWaitOp::create(e.b, e.loc, TypeRange(fragment),
                                         e.b.getI64IntegerAttr(later),
                                         ValueRange(accumulators), ValueRange())
                   .getResult(0);
  if (!addsInThreads(op))
    return sums;
  return mapFragments(e, fragment, {before, sums}, [&](ValueRange at) {
    return arith::AddFOp::create(e.b, e.loc, at[2], at[3]);
  });
}
