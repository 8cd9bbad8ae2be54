//===- PortableMultiply.cpp - Tiles in shared memory, multiplied ----------===//

#include "PortableLowering.h"

#include "Codegen/Common/TileInput.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

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
    Value at = chunk ? e.add(chunk, constantChunk) : e.i32(constantChunk);
    at = e.mul(e.bitXor(at, swizzleOf(e, tile, swizzled)), kChunkBytes);
    return e.add(e.add(e.add(from, e.mul(swizzled, tile.pitch())), at),
                 whole * tile.pitch());
  }

  /// The elements of one chunk.
  SmallVector<Value> chunk(Type element, Value row, int64_t constantRow,
                           Value chunk, int64_t constantChunk) {
    auto type =
        VectorType::get(tile.chunkElements(), Emitter::storedType(element));
    Value vector = e.load(
        type, e.sharedPointer(address(row, constantRow, chunk, constantChunk)),
        kChunkBytes);
    SmallVector<Value> elements;
    for (int64_t i = 0; i < tile.chunkElements(); ++i)
      elements.push_back(e.fromStored(e.extract(vector, i), element));
    return elements;
  }

private:
  Emitter &e;
  const SharedTile &tile;
  Value from;
};

/// A thread's coordinates among the threads of scalar code. Warps are 4 x 8.
std::pair<Value, Value> threadCoordinates(const ProductThread &self) {
  Emitter &e = self.e;
  Value lane = e.rem(self.number, 32), warp = e.div(self.number, 32);
  int64_t warpsN = self.plan.workersN / 8;
  Value y = e.add(e.mul(e.div(warp, warpsN), 4), e.div(lane, 8));
  Value x = e.add(e.mul(e.rem(warp, warpsN), 8), e.rem(lane, 8));
  return {y, x};
}

/// The rows or columns of a thread of scalar code, along m or n.
struct ScalarPart {
  Value thread;           ///< number of this one along it (i32)
  int64_t threads, count; ///< how many there are, and positions of each
};

/// Position i of a thread along m or n. Where rows of shared memory run along
/// it, neighbouring threads take neighbouring rows; where columns do, whole
/// chunks.
Value scalarPosition(Emitter &e, const PortableOperand &operand,
                     const ScalarPart &part, int64_t i) {
  if (operand.runsAlongK())
    return e.add(part.thread, i * part.threads);
  int64_t unit = operand.tile.chunkElements();
  return e.add(e.mul(e.add(part.thread, i / unit * part.threads), unit),
               i % unit);
}

/// A thread's elements of an operand. Chunks that run along k hold several
/// steps of it; others are loaded when their step comes, so that few registers
/// hold what waits.
class ScalarOperand {
public:
  ScalarOperand(Emitter &e, const PortableOperand &operand, Value from,
                const ScalarPart &part)
      : reader(e, operand.tile, from), e(e), operand(operand), part(part),
        unit(operand.tile.chunkElements()) {}

  /// The elements of step `first` + k of the stage. Where there is a `first`
  /// (i32), it is of whole chunks.
  SmallVector<Value> at(Value first, int64_t k) {
    SmallVector<Value> elements;
    if (!operand.runsAlongK()) {
      Value row = first ? first : e.i32(0);
      for (int64_t g = 0; g < part.count / unit; ++g)
        llvm::append_range(elements,
                           reader.chunk(operand.element, row, k, part.thread,
                                        g * part.threads));
      return elements;
    }
    if (k % unit == 0) {
      chunks.clear();
      Value chunk = first ? e.div(first, unit) : Value();
      for (int64_t i = 0; i < part.count; ++i)
        chunks.push_back(reader.chunk(operand.element, part.thread,
                                      i * part.threads, chunk, k / unit));
    }
    for (int64_t i = 0; i < part.count; ++i)
      elements.push_back(chunks[i][k % unit]);
    return elements;
  }

private:
  TileReader reader;
  Emitter &e;
  const PortableOperand &operand;
  ScalarPart part;
  int64_t unit;
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

/// The part of a thread along m and along n.
static std::pair<ScalarPart, ScalarPart>
scalarParts(const ProductThread &self) {
  const PortablePlan &plan = self.plan;
  auto [y, x] = threadCoordinates(self);
  return {{y, plan.workersM, plan.perWorkerM()},
          {x, plan.workersN, plan.perWorkerN()}};
}

Fragment cuda::scalarFragment(const ProductThread &self) {
  auto [alongM, alongN] = scalarParts(self);
  Fragment fragment;
  for (int64_t i = 0; i < alongM.count; ++i)
    fragment.rows.push_back(scalarPosition(self.e, self.plan.a, alongM, i));
  for (int64_t j = 0; j < alongN.count; ++j)
    fragment.cols.push_back(scalarPosition(self.e, self.plan.b, alongN, j));
  return fragment;
}

/// Multiplies a thread's elements of an operand by the scales that go with
/// them, so that products need no more than a multiply-add.
static void scaleElements(Emitter &e, MutableArrayRef<Value> elements,
                          Scales &scales, bool alongN) {
  for (auto [i, element] : llvm::enumerate(elements)) {
    element = convertElements(e.b, e.loc, element, e.b.getF32Type());
    if (Value factor = scales.productOf(e, i, alongN))
      element = arith::MulFOp::create(e.b, e.loc, element, factor);
  }
}

/// Multiply-adds of a thread that are straight code. What LLVM and ptxas take
/// for such code grows faster than its length.
static constexpr int64_t kMostUnrolled = 1024;

/// How many steps along k of a stage are straight code: all, or a part that
/// divides them and is of whole chunks.
static int64_t unrolledSteps(const PortablePlan &plan) {
  int64_t unit = 1;
  for (const PortableOperand *operand : {&plan.a, &plan.b})
    if (operand->runsAlongK())
      unit = std::max(unit, operand->tile.chunkElements());
  int64_t products = plan.perWorkerM() * plan.perWorkerN();
  if (plan.depth % unit)
    return plan.depth;
  for (int64_t parts = 1; parts < plan.depth / unit; ++parts) {
    int64_t steps = plan.depth / parts;
    if (plan.depth % parts == 0 && steps % unit == 0 &&
        steps * products <= kMostUnrolled)
      return steps;
  }
  return unit;
}

SmallVector<Value> cuda::multiplyScalar(const ProductThread &self,
                                        MainloopOp mainloop, Value a, Value b,
                                        Scales &scales,
                                        ArrayRef<Value> accumulators) {
  Emitter &e = self.e;
  ScalarPart alongM, alongN;
  std::tie(alongM, alongN) = scalarParts(self);
  ScalarOperand as(e, self.plan.a, a, alongM);
  ScalarOperand bs(e, self.plan.b, b, alongN);
  int64_t unrolled = unrolledSteps(self.plan);
  // Adds the products of the steps from `first` on.
  auto multiply = [&](Value first, MutableArrayRef<Value> sums) {
    for (int64_t k = 0; k < unrolled; ++k) {
      SmallVector<Value> av = as.at(first, k), bv = bs.at(first, k);
      if (self.plan.scalesOperands) {
        scaleElements(e, av, scales, /*alongN=*/false);
        scaleElements(e, bv, scales, /*alongN=*/true);
      }
      for (int64_t i = 0; i < alongM.count; ++i)
        for (int64_t j = 0; j < alongN.count; ++j) {
          Value &sum = sums[i * alongN.count + j];
          if (self.plan.scalesOperands) {
            sum = LLVM::FMAOp::create(e.b, e.loc, av[i], bv[j], sum);
            continue;
          }
          SmallVector<Value> elements = {av[i], bv[j], sum};
          llvm::append_range(elements, scales.at(i, j));
          sum = runScalar(e.b, mainloop.getContraction().getBody().front(),
                          elements);
        }
    }
  };
  SmallVector<Value> sums(accumulators);
  if (unrolled == self.plan.depth) {
    multiply(Value(), sums);
    return sums;
  }
  auto some = [&](Value first, ValueRange before) {
    SmallVector<Value> sums(before);
    multiply(first, sums);
    return sums;
  };
  return SmallVector<Value>(
      e.loop(e.i32(0), e.i32(self.plan.depth), e.i32(unrolled), sums, some)
          .getResults());
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

/// First row and column of a warp's part.
static std::pair<Value, Value> warpOrigin(const ProductThread &self) {
  Emitter &e = self.e;
  const PortablePlan &plan = self.plan;
  Value warp = e.div(self.number, 32);
  return {e.mul(e.div(warp, plan.workersN), plan.perWorkerM()),
          e.mul(e.rem(warp, plan.workersN), plan.perWorkerN())};
}

/// Four 8x8 matrices of 16-bit elements (or 8 rows of 16 bytes).
static SmallVector<Value> loadMatrices(Emitter &e, Value address,
                                       bool transposed) {
  return SmallVector<Value>(
      pitgpu::LoadMatricesOp::create(e.b, e.loc, address, transposed)
          ->getResults());
}

/// Registers (outer low, k low), (outer high, k low), (outer low, k high),
/// (outer high, k high) of a block, as A has them, in the order of B's pairs.
static SmallVector<Value> kFirstOrder(ArrayRef<Value> block) {
  return {block[0], block[2], block[1], block[3]};
}

namespace {

/// Loads an operand's blocks of 16 x 32 bytes. Blocks along m or n are `outer`,
/// the warp's part, and a constant.
class BlockReader {
public:
  /// `kFirst`: in the order that B's pairs have, not in that of A.
  BlockReader(const PortableThread &self, const PortableOperand &operand,
              Value from, Value outer, bool kFirst)
      : e(self.e), operand(operand), reader(e, operand.tile, from),
        outer(outer), kFirst(kFirst) {
    lane = e.rem(self.number, 32);
  }

  /// The block at chunk pair `k`: registers in the order (outer low, k low),
  /// (outer high, k low), (outer low, k high), (outer high, k high) of A, or
  /// the one of B. Of bytes whose rows run along k they are not fragments yet.
  SmallVector<Value> load(int64_t constantOuter, int64_t k) {
    if (operand.alternates() && operand.tile.elementBytes == 1)
      return loadBytes(constantOuter, k);
    if (operand.alternates()) {
      SmallVector<Value> block = loadWords(constantOuter, k);
      return kFirst ? kFirstOrder(block) : block;
    }
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

private:
  /// A block of bytes whose rows run along k. Matrices are transposed in pairs
  /// of bytes, (position 2q, 2q + 1) of two rows: formFragments makes registers
  /// of four rows out of two matrices. Lane t of four takes the rows from 4t
  /// on; the upper two begin with the latter two of them, so that the eight
  /// rows of a matrix lie in different banks.
  SmallVector<Value> loadBytes(int64_t constantOuter, int64_t k) {
    Value row = e.rem(lane, 8), matrix = e.div(lane, 8);
    Value latter = e.bitXor(e.rem(matrix, 2), e.div(row, 4));
    Value r = e.add(e.mul(e.div(row, 2), 4), e.rem(row, 2));
    r = e.add(r, e.add(e.mul(latter, 2), e.mul(e.div(matrix, 2), 16)));
    return loadMatrices(e,
                        reader.address(r, 32 * k, e.div(outer, kChunkBytes),
                                       constantOuter / kChunkBytes),
                        /*transposed=*/true);
  }

  /// A block of four-byte elements whose rows run along k: there is no
  /// transposing load of these, but a lane's positions 2q and 2q + 1 are two
  /// registers.
  SmallVector<Value> loadWords(int64_t constantOuter, int64_t k) {
    auto type = VectorType::get(2, e.b.getI32Type());
    Value pair = e.div(lane, 4);
    Value chunk = e.add(e.div(outer, 4), e.div(pair, 2));
    SmallVector<Value> registers;
    for (int64_t half = 0; half < 2; ++half) {
      Value address = e.add(reader.address(e.rem(lane, 4), 8 * k + 4 * half,
                                           chunk, constantOuter / 4),
                            e.mul(e.rem(pair, 2), 8));
      Value two = e.load(type, e.sharedPointer(address), 8);
      for (int64_t i = 0; i < 2; ++i)
        registers.push_back(e.extract(two, i));
    }
    return registers;
  }

  Emitter &e;
  const PortableOperand &operand;
  TileReader reader;
  Value outer, lane;
  bool kFirst;
};

} // namespace

SmallVector<Value> cuda::formFragments(const PortableThread &self,
                                       const PortableOperand &operand,
                                       ArrayRef<Value> blocks, bool kFirst) {
  Emitter &e = self.e;
  auto map = [&](function_ref<Value(Value)> convert) {
    return llvm::map_to_vector(blocks, convert);
  };
  if (operand.element.isF32()) {
    // From sm_90 on there is one instruction that rounds to nearest, ties to
    // even; before, one that rounds ties away.
    auto rounding = self.common.tf32Nearest ? NVVM::FPRoundingMode::RN
                                            : NVVM::FPRoundingMode::RNA;
    return map([&](Value word) -> Value {
      Value value = e.bitcast(e.b.getF32Type(), word);
      return NVVM::ConvertFloatToTF32Op::create(e.b, e.loc, e.b.getI32Type(),
                                                value, rounding);
    });
  }
  if (!operand.alternates())
    return SmallVector<Value>(blocks);
  // Bytes: the even ones of two registers, or the odd ones, in the order of
  // rows, see loadBytes.
  Value former = e.lessThan(e.rem(self.number, 4), e.i32(2));
  Value even = e.select(former, e.i32(0x6420), e.i32(0x2064));
  Value odd = e.select(former, e.i32(0x7531), e.i32(0x3175));
  SmallVector<Value> fragments;
  for (size_t first = 0; first < blocks.size(); first += 4) {
    SmallVector<Value> block;
    for (size_t pair = first; pair < first + 4; pair += 2)
      for (Value selector : {even, odd})
        block.push_back(NVVM::PermuteOp::create(
            e.b, e.loc, e.b.getI32Type(), blocks[pair], blocks[pair + 1],
            selector, NVVM::PermuteMode::DEFAULT));
    llvm::append_range(fragments, kFirst ? kFirstOrder(block) : block);
  }
  return fragments;
}

Fragment cuda::tensorCoreFragment(const ProductThread &self) {
  Emitter &e = self.e;
  const PortablePlan &plan = self.plan;
  auto [m, n] = warpOrigin(self);
  Value lane = e.rem(self.number, 32);
  Value row = e.div(lane, 4), col = e.mul(e.rem(lane, 4), 2);
  Fragment fragment;
  // One in each half of 16 rows.
  for (int64_t i = 0; i < plan.perWorkerM(); i += 16)
    for (int64_t half = 0; half < 2; ++half)
      fragment.rows.push_back(plan.a.alternates()
                                  ? e.add(e.add(m, e.mul(row, 2)), i + half)
                                  : e.add(e.add(m, row), i + 8 * half));
  // Two neighbours in each half of 16 columns; all four are in ascending order.
  for (int64_t j = 0; j < plan.perWorkerN(); j += 16)
    for (int64_t c = 0; c < 4; ++c)
      fragment.cols.push_back(
          plan.b.alternates() ? e.add(e.add(n, e.mul(col, 2)), j + c)
                              : e.add(e.add(n, col), j + c / 2 * 8 + c % 2));
  return fragment;
}

SmallVector<Value> cuda::loadTensorCoreBlocks(const PortableThread &self,
                                              const PortableOperand &operand,
                                              const BlockPlace &place,
                                              int64_t count, int64_t k) {
  BlockReader reader(self, operand, place.from, place.outer, place.isB);
  SmallVector<Value> blocks;
  for (int64_t i = 0; i < count; i += 16)
    llvm::append_range(blocks, reader.load(place.first + i, k));
  return blocks;
}

SmallVector<Value> cuda::loadTensorCoreBlocks(const ProductThread &self,
                                              bool isB, Value from, int64_t k) {
  const PortablePlan &plan = self.plan;
  auto [m, n] = warpOrigin(self);
  return loadTensorCoreBlocks(self, isB ? plan.b : plan.a,
                              {from, isB ? n : m, /*first=*/0, isB},
                              isB ? plan.perWorkerN() : plan.perWorkerM(), k);
}

SmallVector<Value> cuda::multiplyTensorCores(const ProductThread &self,
                                             ArrayRef<Value> a,
                                             ArrayRef<Value> b,
                                             ArrayRef<Value> accumulators) {
  Emitter &e = self.e;
  const PortablePlan &plan = self.plan;
  int64_t columns = plan.perWorkerN() / 4;
  SmallVector<Value> as = formFragments(self, plan.a, a, /*kFirst=*/false);
  SmallVector<Value> bs = formFragments(self, plan.b, b, /*kFirst=*/true);
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < plan.perWorkerM() / 16; ++i)
    for (int64_t j = 0; j < plan.perWorkerN() / 8; ++j) {
      // Accumulators of a 16 x 8 block: two rows of two columns, which in the
      // order of tensorCoreFragment may have one of the other half in between.
      bool alternates = plan.b.alternates();
      int64_t at = 2 * i * columns + j / 2 * 4 + j % 2 * (alternates ? 1 : 2);
      int64_t next = at + (alternates ? 2 : 1);
      places.append({at, next, at + columns, next + columns});
    }
  auto before = llvm::map_to_vector(
      places, [&](int64_t place) { return accumulators[place]; });
  auto product =
      pitgpu::MmaSyncOp::create(e.b, e.loc, as, bs, before, plan.a.element);
  SmallVector<Value> sums(accumulators.size());
  for (auto [sum, place] : llvm::zip_equal(product.getResults(), places))
    sums[place] = sum;
  return sums;
}
