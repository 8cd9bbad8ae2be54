//===- BodyMultiply.cpp - The contractions of a tile body -----------------===//
//
// The second factor lies in shared memory; the first one does, too, or it was
// computed. Then its elements are where tensor cores take them from: sums of a
// product, rounded to 16 bits, are a factor of the next one.
//
//===----------------------------------------------------------------------===//

#include "PortableBody.h"

#include "Codegen/GPU/Common/Wgmma.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Products that one instruction sums up.
static constexpr int64_t kDepth = 16;

void cuda::forSums(RegisterTile &sums, function_ref<void(Value &)> body) {
  for (size_t j = 0; j < sums.cols; j += 2)
    for (size_t i = 0; i < 2; ++i)
      for (size_t c = 0; c < 2; ++c)
        body(sums.at(i, j + c));
}

bool cuda::isZeroTile(Value tile) {
  auto op = tile.getDefiningOp<PointwiseOp>();
  return op && op.getInputs().empty() && !op.getAcc() &&
         matchPattern(op.getBody().front().getTerminator()->getOperand(0),
                      m_PosZeroFloat());
}

namespace {

/// A factor in shared memory: how it lies, and where (i32, bytes).
struct SharedFactor {
  PortableOperand operand;
  Value at;
};

class BodyMultiplier {
public:
  BodyMultiplier(const BodyStep &step, ContractOp op, RegisterTile sums,
                 RegisterTile *lhs = nullptr)
      : step(step), self(step.self), e(self.e), plan(step.plan), op(op),
        sums(std::move(sums)), lhs(lhs) {
    std::string why;
    dims = *findContractionDims(op, why);
    depth = op.getTile()[dims.k] / kDepth;
    b = findFactor(1);
    if (isa<BlockArgument>(op.getLhs()))
      a = findFactor(0);
  }

  RegisterTile multiply() {
    multiplyByWarps();
    return sums;
  }

  RegisterTile start(ArrayRef<Value> words) {
    startWgmmas(words);
    return sums;
  }

  /// The factor in registers as wgmma takes it.
  SmallVector<Value> pack() {
    SmallVector<Value> words;
    for (int64_t k = 0; k < depth; ++k)
      for (Value pair : fragmentsOfLhs(k))
        words.push_back(asWord(pair));
    return words;
  }

private:
  SharedFactor findFactor(unsigned number) {
    const StagedTile &staged = plan.stagedOf(op->getOperand(number));
    PortableOperand operand = staged.operand;
    AffineExpr along =
        op.getMap(number).getResult(static_cast<unsigned>(operand.colDim));
    operand.kIsCol = along == getAffineDimExpr(dims.k, op.getContext());
    return {operand,
            e.add(staged.once ? self.shared : step.stage, staged.offset)};
  }

  /// The fragments of products `k` of all of a warp's rows, of the factor in
  /// registers.
  SmallVector<Value> fragmentsOfLhs(int64_t k) {
    SmallVector<Value> fragments;
    for (size_t i = 0; i < lhs->rows; i += 2)
      for (size_t half = 0; half < 4; half += 2)
        for (size_t row : {i, i + 1})
          fragments.push_back(e.pair(lhs->at(row, 4 * k + half),
                                     lhs->at(row, 4 * k + half + 1)));
    return fragments;
  }
  Value asWord(Value pair) {
    return LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), pair);
  }

  //===--- wgmma ----------------------------------------------------------===//

  /// The descriptor of a factor's products `k`, of the part that begins `first`
  /// bytes after the tile.
  Value describe(const SharedFactor &factor, Value first, int64_t k) {
    const SharedTile &tile = factor.operand.tile;
    int64_t line = kLineBytes / tile.elementBytes, p = kDepth * k;
    int64_t bytes = factor.operand.kIsCol ? p / line * tile.blockBytes() +
                                                p % line * tile.elementBytes
                                          : p * kLineBytes;
    Value base = describeInShared(
        e, e.add(factor.at, first),
        wgmmaDescriptor(factor.operand.kIsCol, tile.blockBytes(), kLineBytes));
    return advanceDescriptor(e, base, bytes);
  }

  /// Where the rows of this warpgroup begin in the first factor (bytes).
  Value rowsOfWarpgroup() {
    Value warp = fromLane(e, e.div(self.number, 32), e.i32(0));
    return e.mul(e.div(warp, kWarpgroup / 32),
                 a.operand.kIsCol ? kWgmmaRows * kLineBytes
                                  : a.operand.tile.blockBytes());
  }

  /// Starts the wgmmas; `words` are the factor in registers, if one is.
  void startWgmmas(ArrayRef<Value> words) {
    auto type = b.operand.element.isF16() ? NVVM::WGMMATypes::f16
                                          : NVVM::WGMMATypes::bf16;
    Wgmma wgmma{type, type, op.getTile()[dims.n], kDepth};
    wgmma.kIsColOfB = b.operand.kIsCol;
    SmallVector<Value> before, left, right;
    if (!isZeroTile(op.getAcc()))
      forSums(sums, [&](Value &sum) { before.push_back(sum); });
    wgmma.kIsColOfA = words.empty() && a.operand.kIsCol;
    Value first = words.empty() ? rowsOfWarpgroup() : Value();
    for (int64_t k = 0; k < depth; ++k) {
      right.push_back(describe(b, e.i32(0), k));
      if (words.empty())
        left.push_back(describe(a, first, k));
    }
    SmallVector<Value> started =
        cuda::startWgmmas(e, wgmma, words.empty() ? ArrayRef(left) : words,
                          right, before, sums.values.size());
    const Value *next = started.begin();
    forSums(sums, [&](Value &sum) { sum = *next++; });
  }

  //===--- mma.sync -------------------------------------------------------===//

  /// What mma.sync takes: f16 in pairs, bf16 in words.
  SmallVector<Value> factorInRegisters(int64_t k) {
    SmallVector<Value> fragments = fragmentsOfLhs(k);
    if (!b.operand.element.isF16())
      for (Value &pair : fragments)
        pair = asWord(pair);
    return fragments;
  }

  SmallVector<Value> loadFragments(const SharedFactor &factor,
                                   const BlockPlace &place, int64_t count,
                                   int64_t k) {
    return formFragments(
        self, factor.operand,
        loadTensorCoreBlocks(self, factor.operand, place, count, k),
        /*kFirst=*/place.isB);
  }

  void multiplyByWarps() {
    int64_t n = op.getTile()[dims.n];
    for (int64_t k = 0; k < depth; ++k) {
      SmallVector<Value> as =
          lhs ? factorInRegisters(k)
              : loadFragments(a, {a.at, step.origin}, plan.rowsPerWarp, k);
      // Blocks of b have 16 columns, those of an instruction 8.
      for (int64_t j = 0; j < n; j += 16) {
        SmallVector<Value> bs = loadFragments(
            b, {b.at, e.i32(0), /*first=*/j, /*isB=*/true}, 16, k);
        for (int64_t half = 0; half < 2; ++half)
          for (size_t i = 0; i < sums.rows; i += 2)
            addBlock(i, j / 4 + 2 * half, ArrayRef<Value>(as).slice(2 * i, 4),
                     ArrayRef<Value>(bs).slice(2 * half, 2));
      }
    }
  }

  void addBlock(size_t i, size_t j, ArrayRef<Value> left,
                ArrayRef<Value> right) {
    SmallVector<Value> before = {sums.at(i, j), sums.at(i, j + 1),
                                 sums.at(i + 1, j), sums.at(i + 1, j + 1)};
    SmallVector<Value> after =
        multiplyBlock(e, b.operand.element, left, right, before);
    for (size_t p = 0; p < 4; ++p)
      sums.at(i + p / 2, j + p % 2) = after[p];
  }

  const BodyStep &step;
  const PortableThread &self;
  Emitter &e;
  const BodyPlan &plan;
  ContractOp op;
  RegisterTile sums;
  RegisterTile *lhs;
  ContractionDims dims;
  int64_t depth; ///< instructions along k
  SharedFactor a, b;
};

} // namespace

RegisterTile cuda::multiplyInBody(const BodyStep &step, ContractOp op,
                                  RegisterTile sums, RegisterTile *lhs) {
  if (!step.plan.wgmma)
    return BodyMultiplier(step, op, std::move(sums), lhs).multiply();
  SmallVector<Value> words;
  if (lhs)
    words = packFactor(step, op, *lhs);
  return awaitInBody(step.self.e, startInBody(step, op, std::move(sums), words),
                     /*later=*/0, words);
}

SmallVector<Value> cuda::packFactor(const BodyStep &step, ContractOp op,
                                    RegisterTile &lhs) {
  return BodyMultiplier(step, op, RegisterTile(), &lhs).pack();
}

RegisterTile cuda::startInBody(const BodyStep &step, ContractOp op,
                               RegisterTile sums, ArrayRef<Value> lhs) {
  return BodyMultiplier(step, op, std::move(sums)).start(lhs);
}

RegisterTile cuda::awaitInBody(Emitter &e, RegisterTile sums, int64_t later,
                               ArrayRef<Value> held) {
  SmallVector<Value> started;
  forSums(sums, [&](Value &sum) { started.push_back(sum); });
  SmallVector<Value> done = waitForWgmmas(e, started, later, held);
  const Value *next = done.begin();
  forSums(sums, [&](Value &sum) { sum = *next++; });
  return sums;
}
