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

/// Goes through a thread's elements in wgmma's order: of 8 columns two of a
/// row, and two of the one 8 rows later.
static void forElements(RegisterTile &tile, function_ref<void(Value &)> body) {
  for (size_t j = 0; j < tile.cols; j += 2)
    for (size_t i = 0; i < 2; ++i)
      for (size_t c = 0; c < 2; ++c)
        body(tile.at(i, j + c));
}

/// A thread's elements as a fragment.
static Value toFragment(Emitter &e, RegisterTile &tile, Type element) {
  SmallVector<Value> values, pairs;
  forElements(tile, [&](Value &value) { values.push_back(value); });
  if (!element.isF32()) {
    for (size_t i = 0; i < values.size(); i += 2)
      pairs.push_back(e.pair(values[i], values[i + 1]));
    values = pairs;
  }
  auto type = pitgpu::FragmentType::get(e.b.getContext(), kWgmmaRows,
                                        4 * tile.cols, element);
  return UnrealizedConversionCastOp::create(e.b, e.loc, type, values)
      .getResult(0);
}

/// An element before it is rounded.
static Value wideOf(Emitter &e, Value value) {
  auto rounded = value.getDefiningOp<arith::TruncFOp>();
  if (rounded && rounded.getIn().getType().isF32())
    return rounded.getIn();
  return arith::ExtFOp::create(e.b, e.loc, e.b.getF32Type(), value);
}

/// A thread's elements of 8 bits as a fragment, in its order. What is beyond
/// the largest number becomes that.
static Value toSmallFragment(Emitter &e, RegisterTile &tile, Type element) {
  auto pairOf = [&](size_t row, size_t j) -> Value {
    Value pair = NVVM::ConvertF32x2ToF8x2Op::create(
        e.b, e.loc, e.b.getI16Type(), wideOf(e, tile.at(row, j + 1)),
        wideOf(e, tile.at(row, j)), NVVM::FPRoundingMode::RN,
        NVVM::SaturationMode::SATFINITE, /*relu=*/false, element);
    return arith::ExtUIOp::create(e.b, e.loc, e.b.getI32Type(), pair);
  };
  SmallVector<Value> words;
  for (size_t j = 0; j < tile.cols; j += 4)
    for (size_t row : {0, 1})
      words.push_back(e.bitOr(
          pairOf(row, j),
          arith::ShLIOp::create(e.b, e.loc, pairOf(row, j + 2), e.i32(16))));
  auto type = pitgpu::FragmentType::get(e.b.getContext(), kWgmmaRows,
                                        4 * tile.cols, element);
  return UnrealizedConversionCastOp::create(e.b, e.loc, type, words)
      .getResult(0);
}

Value BodyProducts::factor(Value tile, RegisterTile &registers) {
  if (Type element = cast<VectorType>(tile.getType()).getElementType();
      isF8(element))
    return toSmallFragment(e, registers, element);
  return toFragment(e, registers,
                    cast<VectorType>(tile.getType()).getElementType());
}

Value BodyProducts::start(ContractOp op, RegisterTile &sums, Value lhs) {
  const StagedTile &right = plan.stagedOf(op.getRhs());
  Value b = tileOf(right), a = lhs;
  bool transposeA = false;
  if (!lhs) {
    const StagedTile &left = plan.stagedOf(op.getLhs());
    transposeA = !isAlongK(op, 0, left);
    a = rowsOfGroup(tileOf(left), transposeA);
  }
  pitgpu::AccumulatorType type = sumsOf(op);
  Value before;
  if (isZeroTile(op.getAcc()) || addsInThreads(op))
    before = pitgpu::SplatOp::create(
        e.b, e.loc,
        pitgpu::FragmentType::get(e.b.getContext(), type.getRows(),
                                  type.getCols(), type.getElementType()),
        e.constant(e.b.getF32FloatAttr(0)));
  else
    before = toFragment(e, sums, type.getElementType());
  before = pitgpu::AccumulateOp::create(e.b, e.loc, type, before);
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
  Value zero = pitgpu::SplatOp::create(
      e.b, e.loc,
      pitgpu::FragmentType::get(e.b.getContext(), kWgmmaRows, kAddedColumns,
                                e.b.getF32Type()),
      e.constant(e.b.getF32FloatAttr(0)));
  Value before = pitgpu::AccumulateOp::create(e.b, e.loc, type, zero);
  return pitgpu::MmaOp::create(e.b, e.loc, factor, b, before,
                               /*transpose_a=*/true, /*transpose_b=*/false);
}

RegisterTile BodyProducts::shapeOfAdded() const {
  RegisterTile tile;
  tile.hasRows = tile.hasCols = true;
  tile.rows = 2;
  tile.cols = kAddedColumns / 4;
  tile.values.resize(tile.rows * tile.cols);
  return tile;
}

Value BodyProducts::sumsOfAdded(RegisterTile &sums) {
  return toFragment(e, sums, e.b.getF32Type());
}

void BodyProducts::storeAdded(RegisterTile &sums, ValueRange subscripts,
                              Value number, const ChunkMap &chunks) {
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
  MainloopEpilogue::store(e, storeOf(op), subscripts, shape, all,
                          plan.vectorAtomics, chunks,
                          [&](size_t i, size_t j) { return sums.at(i, j); });
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

void BodyProducts::await(ContractOp op, Value accumulators, int64_t later,
                         RegisterTile &sums) {
  auto type = cast<pitgpu::AccumulatorType>(accumulators.getType());
  Type fragment = pitgpu::FragmentType::get(
      e.b.getContext(), type.getRows(), type.getCols(), type.getElementType());
  auto wait = pitgpu::MmaWaitOp::create(e.b, e.loc, TypeRange(fragment),
                                        e.b.getI64IntegerAttr(later),
                                        ValueRange(accumulators), ValueRange());
  SmallVector<Type> types(sums.values.size(), type.getElementType());
  auto values =
      UnrealizedConversionCastOp::create(e.b, e.loc, types, wait.getResult(0));
  size_t next = 0;
  bool adds = addsInThreads(op);
  forElements(sums, [&](Value &value) {
    Value made = values.getResult(next++);
    value = adds ? arith::AddFOp::create(e.b, e.loc, value, made) : made;
  });
}
