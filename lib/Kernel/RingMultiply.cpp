//===- RingMultiply.cpp - Tiles in shared memory, multiplied --------------===//

#include "RingLowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::pit;

namespace {

/// Reads an operand's tile. Positions along rows are a thread's own part, in
/// i32, and a constant part: where the constant is whole periods of the
/// swizzle, addresses differ by constants only.
class TileReader {
public:
  TileReader(Emitter &e, const SharedTile &tile, Value from)
      : e(e), tile(tile), from(from) {}

  /// Address of chunk `chunk + constantChunk` of row `row + constantRow`.
  Value address(Value row, int64_t constantRow, Value chunk,
                int64_t constantChunk) {
    int64_t whole = constantRow / tile.swizzlePeriod() * tile.swizzlePeriod();
    Value swizzled = e.add(row, constantRow - whole);
    Value swizzle =
        e.bitAnd(e.div(swizzled, tile.rowsPerLine()), tile.swizzleMask());
    Value at = chunk ? e.add(chunk, constantChunk) : e.i32(constantChunk);
    at = e.mul(e.bitXor(at, swizzle), kChunkBytes);
    return e.add(e.add(e.add(from, e.mul(swizzled, tile.pitch())), at),
                 whole * tile.pitch());
  }

  /// The elements of one chunk.
  SmallVector<Value> chunk(Type element, Value row, int64_t constantRow,
                           Value chunk, int64_t constantChunk) {
    auto type = VectorType::get(tile.chunkElements(), element);
    Value vector = LLVM::LoadOp::create(
        e.b, e.loc, type,
        e.sharedPointer(address(row, constantRow, chunk, constantChunk)),
        kChunkBytes);
    SmallVector<Value> elements;
    for (int64_t i = 0; i < tile.chunkElements(); ++i)
      elements.push_back(
          LLVM::ExtractElementOp::create(e.b, e.loc, vector, e.i32(i)));
    return elements;
  }

private:
  Emitter &e;
  const SharedTile &tile;
  Value from;
};

/// A thread's coordinates among the threads of scalar code. Warps are 4 x 8.
std::pair<Value, Value> threadCoordinates(Emitter &e, const RingPlan &plan,
                                          Value thread) {
  Value lane = e.rem(thread, 32), warp = e.div(thread, 32);
  int64_t warpsN = plan.threadsN / 8;
  Value y = e.add(e.mul(e.div(warp, warpsN), 4), e.div(lane, 8));
  Value x = e.add(e.mul(e.rem(warp, warpsN), 8), e.rem(lane, 8));
  return {y, x};
}

/// Position i of a thread along m or n. Where rows of shared memory run along
/// it, neighbouring threads take neighbouring rows; where columns do, whole
/// chunks.
Value scalarPosition(Emitter &e, const RingOperand &operand, Value thread,
                     int64_t threads, int64_t i) {
  if (operand.kIsCol)
    return e.add(thread, i * threads);
  int64_t unit = operand.tile.chunkElements();
  return e.add(e.mul(e.add(thread, i / unit * threads), unit), i % unit);
}

/// A thread's elements of an operand. Chunks that run along k hold several
/// steps of it; others are loaded when their step comes, so that few registers
/// hold what waits.
class ScalarOperand {
public:
  ScalarOperand(Emitter &e, const RingOperand &operand, Value from,
                Value thread, int64_t threads, int64_t count)
      : reader(e, operand.tile, from), e(e), operand(operand), thread(thread),
        threads(threads), count(count), unit(operand.tile.chunkElements()) {}

  /// The elements of step k of the stage.
  SmallVector<Value> at(int64_t k) {
    SmallVector<Value> elements;
    if (!operand.kIsCol) {
      for (int64_t g = 0; g < count / unit; ++g)
        llvm::append_range(elements, reader.chunk(operand.element, e.i32(0), k,
                                                  thread, g * threads));
      return elements;
    }
    if (k % unit == 0) {
      chunks.clear();
      for (int64_t i = 0; i < count; ++i)
        chunks.push_back(reader.chunk(operand.element, thread, i * threads,
                                      Value(), k / unit));
    }
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(chunks[i][k % unit]);
    return elements;
  }

private:
  TileReader reader;
  Emitter &e;
  const RingOperand &operand;
  Value thread;
  int64_t threads, count, unit;
  SmallVector<SmallVector<Value>> chunks; ///< [position][step of the chunk]
};

/// Runs the scalar code of a region.
Value runScalar(OpBuilder &b, Block &block, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator()) {
    Operation *clone = b.clone(op, mapping);
    // A sum of products is fused: more exact, and what the hardware does.
    if (auto fast = dyn_cast<arith::ArithFastMathInterface>(clone)) {
      auto flags = arith::FastMathFlags::contract;
      if (arith::FastMathFlagsAttr given = fast.getFastMathFlagsAttr())
        flags = flags | given.getValue();
      clone->setAttr(fast.getFastMathAttrName(),
                     arith::FastMathFlagsAttr::get(b.getContext(), flags));
    }
  }
  return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
}

} // namespace

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

Fragment mlir::pit::scalarFragment(Emitter &e, const RingPlan &plan,
                                   Value thread) {
  auto [y, x] = threadCoordinates(e, plan, thread);
  Fragment fragment;
  for (int64_t i = 0; i < plan.perThreadM; ++i)
    fragment.rows.push_back(scalarPosition(e, plan.a, y, plan.threadsM, i));
  for (int64_t j = 0; j < plan.perThreadN; ++j)
    fragment.cols.push_back(scalarPosition(e, plan.b, x, plan.threadsN, j));
  return fragment;
}

SmallVector<Value> mlir::pit::multiplyScalar(Emitter &e, RingOp ring,
                                             const RingPlan &plan, Value a,
                                             Value b, Value thread,
                                             ArrayRef<Value> accumulators) {
  auto [y, x] = threadCoordinates(e, plan, thread);
  ScalarOperand as(e, plan.a, a, y, plan.threadsM, plan.perThreadM);
  ScalarOperand bs(e, plan.b, b, x, plan.threadsN, plan.perThreadN);
  SmallVector<Value> acc(accumulators);
  for (int64_t k = 0; k < plan.depth; ++k) {
    SmallVector<Value> av = as.at(k), bv = bs.at(k);
    for (int64_t i = 0; i < plan.perThreadM; ++i)
      for (int64_t j = 0; j < plan.perThreadN; ++j) {
        Value &sum = acc[i * plan.perThreadN + j];
        sum = runScalar(e.b, ring.getCompute().front(), {av[i], bv[j], sum});
      }
  }
  return acc;
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

/// First row and column of a warp's part.
static std::pair<Value, Value> warpOrigin(Emitter &e, const RingPlan &plan,
                                          Value thread) {
  Value warp = e.div(thread, 32);
  return {e.mul(e.div(warp, plan.warpsN), plan.perWarpM),
          e.mul(e.rem(warp, plan.warpsN), plan.perWarpN)};
}

/// Four 8x8 matrices of 16-bit elements (or 8 rows of 16 bytes).
static SmallVector<Value> loadMatrices(Emitter &e, Value address,
                                       bool transposed) {
  Type i32 = e.b.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(e.b.getContext(),
                                               SmallVector<Type>(4, i32));
  Value four = NVVM::LdMatrixOp::create(
      e.b, e.loc, type, e.sharedPointer(address), /*num=*/4,
      transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> registers;
  for (int64_t i = 0; i < 4; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, four, i));
  return registers;
}

/// The 16 x 32-byte block at (`outer`, chunk pair `k`) of an operand: registers
/// in the order (outer low, k low), (outer high, k low), (outer low, k high),
/// (outer high, k high) of A, or with `kFirst` the order that B's pairs have.
static SmallVector<Value> loadBlock(Emitter &e, const RingOperand &operand,
                                    Value from, Value outer,
                                    int64_t constantOuter, int64_t k,
                                    Value lane, bool kFirst) {
  TileReader reader(e, operand.tile, from);
  // Which matrix of the four a lane addresses a row of.
  Value row = e.rem(lane, 8);
  Value first = e.bitAnd(e.div(lane, 8), 1), second = e.div(lane, 16);
  Value high = kFirst ? second : first;  // half along m or n
  Value kHigh = kFirst ? first : second; // half along k
  if (operand.kIsCol) {
    Value r = e.add(outer, e.add(row, e.mul(high, 8)));
    return loadMatrices(e, reader.address(r, constantOuter, kHigh, 2 * k),
                        /*transposed=*/false);
  }
  Value r = e.add(row, e.mul(kHigh, 8));
  Value chunk = e.add(e.div(outer, 8), high);
  return loadMatrices(e, reader.address(r, 16 * k, chunk, constantOuter / 8),
                      /*transposed=*/true);
}

Fragment mlir::pit::tensorCoreFragment(Emitter &e, const RingPlan &plan,
                                       Value thread) {
  auto [m, n] = warpOrigin(e, plan, thread);
  Value lane = e.rem(thread, 32);
  Value row = e.add(m, e.div(lane, 4));
  Value col = e.add(n, e.mul(e.rem(lane, 4), 2));
  Fragment fragment;
  for (int64_t i = 0; i < plan.perWarpM; i += 8)
    fragment.rows.push_back(e.add(row, i));
  for (int64_t j = 0; j < plan.perWarpN; j += 8)
    for (int64_t pair = 0; pair < 2; ++pair)
      fragment.cols.push_back(e.add(col, j + pair));
  return fragment;
}

SmallVector<Value> mlir::pit::loadTensorCoreBlocks(Emitter &e,
                                                   const RingPlan &plan,
                                                   Value a, Value b,
                                                   Value thread, int64_t k) {
  auto [m, n] = warpOrigin(e, plan, thread);
  Value lane = e.rem(thread, 32);
  SmallVector<Value> blocks;
  for (int64_t i = 0; i < plan.perWarpM; i += 16)
    llvm::append_range(
        blocks, loadBlock(e, plan.a, a, m, i, k, lane, /*kFirst=*/false));
  for (int64_t j = 0; j < plan.perWarpN; j += 16)
    llvm::append_range(blocks,
                       loadBlock(e, plan.b, b, n, j, k, lane, /*kFirst=*/true));
  return blocks;
}

SmallVector<Value>
mlir::pit::multiplyTensorCores(Emitter &e, const RingPlan &plan,
                               Type accumulator, ArrayRef<Value> blocks,
                               ArrayRef<Value> accumulators) {
  SmallVector<Value> acc(accumulators);
  int64_t columns = plan.perWarpN / 4;
  int64_t kPerMma = 2 * plan.a.tile.chunkElements();
  bool integer = plan.a.element.isInteger(8), half = plan.a.element.isF16();
  auto pack = [&](Value value) -> Value {
    if (!half)
      return value;
    return LLVM::BitcastOp::create(e.b, e.loc,
                                   VectorType::get(2, e.b.getF16Type()), value);
  };
  NVVM::MMATypes type = integer ? NVVM::MMATypes::s8
                        : half  ? NVVM::MMATypes::f16
                                : NVVM::MMATypes::bf16;
  auto result = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(), SmallVector<Type>(4, accumulator));
  ArrayRef<Value> as = blocks.take_front(plan.perWarpM / 4);
  ArrayRef<Value> bs = blocks.drop_front(plan.perWarpM / 4);
  for (int64_t i = 0; i < plan.perWarpM / 16; ++i)
    for (int64_t j = 0; j < plan.perWarpN / 8; ++j) {
      // Accumulators of a 16 x 8 block: two rows of two columns.
      int64_t at = 2 * i * columns + 2 * j;
      int64_t places[4] = {at, at + 1, at + columns, at + columns + 1};
      SmallVector<Value> av, bv, cv;
      for (int64_t r = 0; r < 4; ++r)
        av.push_back(pack(as[4 * i + r]));
      for (int64_t r = 0; r < 2; ++r)
        bv.push_back(pack(bs[4 * (j / 2) + 2 * (j % 2) + r]));
      for (int64_t place : places)
        cv.push_back(acc[place]);
      Value product = NVVM::MmaOp::create(
          e.b, e.loc, result, av, bv, cv, ArrayRef<int64_t>{16, 8, kPerMma},
          std::nullopt,
          integer ? std::optional(NVVM::MMAIntOverflow::wrapped) : std::nullopt,
          std::array<NVVM::MMATypes, 2>{type, type},
          std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                         NVVM::MMALayout::col});
      for (auto [p, place] : llvm::enumerate(places))
        acc[place] = LLVM::ExtractValueOp::create(e.b, e.loc, product, p);
    }
  return acc;
}
