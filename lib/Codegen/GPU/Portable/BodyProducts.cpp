//===- BodyProducts.cpp - Contractions of a tile body by wgmma ------------===//

#include "PortableBody.h"

#include "pit/Codegen/Common/MathExpansions.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

pitgpu::TileType BodyProducts::typeOf(const StagedTile &staged) {
  const SharedTile &tile = staged.operand.tile;
  return pitgpu::TileType::get(tile.rows, tile.cols, staged.operand.element,
                               tile.lineBytes);
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

namespace {

/// Makes words of floats of 8 bits that wgmma takes as a first factor. Of each
/// 16 columns a thread has 2 t and the next one, and both 8 columns later; it
/// is to have 4 t to 4 t + 3, where t is its place among four lanes.
class SmallFactor {
public:
  SmallFactor(Emitter &e, Type element) : e(e), element(element) {
    Value t = e.rem(NVVM::LaneIdOp::create(e.b, e.loc, e.b.getI32Type()), 4);
    Value isOdd = e.equal(e.rem(t, 2), e.i32(1));
    Value isUpper = e.lessThan(e.i32(1), t);
    given = e.select(isOdd, e.i32(kUpperHalves), e.i32(kLowerHalves));
    taken = e.select(isUpper, e.i32(0x1054), e.i32(kLowerHalves));
    from = e.add(e.mul(e.rem(t, 2), 2), e.div(t, 2));
  }

  /// Four neighbours in each row of two words, of four elements that a thread
  /// has in each.
  std::array<Value, 2> exchange(Value upper, Value lower) {
    // Of the words' first halves, and of their second ones, the four lanes send
    // one at once: lanes with even places their first halves, those with odd
    // ones their second, and then the other way round.
    Value first = shuffle(permute(upper, lower, given), from);
    Value second =
        shuffle(permute(upper, lower, other(given)), e.bitXor(from, e.i32(1)));
    return {permute(first, second, taken),
            permute(first, second, other(taken))};
  }

  /// Four elements as a word. What is beyond the largest number becomes that.
  Value word(ArrayRef<Value> elements) {
    SmallVector<Value> halves;
    for (size_t i : {0, 2})
      halves.push_back(arith::ExtUIOp::create(
          e.b, e.loc, e.b.getI32Type(),
          NVVM::ConvertF32x2ToF8x2Op::create(
              e.b, e.loc, e.b.getI16Type(), wide(elements[i + 1]),
              wide(elements[i]), NVVM::FPRoundingMode::RN,
              NVVM::SaturationMode::SATFINITE, /*relu=*/false, element)));
    return e.bitOr(halves[0],
                   arith::ShLIOp::create(e.b, e.loc, halves[1], e.i32(16)));
  }

private:
  /// Selectors of the words' first and second halves; those of the others
  /// differ by kOther.
  static constexpr int64_t kLowerHalves = 0x5410, kUpperHalves = 0x7632,
                           kOther = 0x2222;
  /// The last lane of four, and that lanes are in fours.
  static constexpr int64_t kFours = 0x1C03;

  Value other(Value selector) { return e.bitXor(selector, e.i32(kOther)); }
  Value permute(Value low, Value high, Value selector) {
    return NVVM::PermuteOp::create(e.b, e.loc, e.b.getI32Type(), low, high,
                                   selector, NVVM::PermuteMode::DEFAULT);
  }
  Value shuffle(Value word, Value lane) {
    return NVVM::ShflOp::create(e.b, e.loc, e.b.getI32Type(), e.i32(-1), word,
                                lane, e.i32(kFours), NVVM::ShflKind::idx,
                                UnitAttr());
  }
  /// An element before it is rounded.
  Value wide(Value value) {
    auto rounded = value.getDefiningOp<arith::TruncFOp>();
    if (rounded && rounded.getIn().getType().isF32())
      return rounded.getIn();
    return arith::ExtFOp::create(e.b, e.loc, e.b.getF32Type(), value);
  }

  Emitter &e;
  Type element;
  Value given, taken, from;
};

} // namespace

/// A thread's elements of 8 bits as a fragment.
static Value toSmallFragment(Emitter &e, RegisterTile &tile, Type element) {
  SmallFactor factor(e, element);
  SmallVector<Value> words;
  for (size_t j = 0; j < tile.cols; j += 4) {
    auto wordOf = [&](size_t row) {
      return factor.word({tile.at(row, j), tile.at(row, j + 1),
                          tile.at(row, j + 2), tile.at(row, j + 3)});
    };
    llvm::append_range(words, factor.exchange(wordOf(0), wordOf(1)));
  }
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
  if (isZeroTile(op.getAcc()))
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

void BodyProducts::await(Value accumulators, int64_t later,
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
  forElements(sums, [&](Value &value) { value = values.getResult(next++); });
}
