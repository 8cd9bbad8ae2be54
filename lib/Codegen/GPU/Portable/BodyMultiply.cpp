//===- BodyMultiply.cpp - Contractions of a tile body by mma.sync ---------===//
//
// The second factor lies in shared memory; the first one does, too, or it was
// computed. Then its elements are where tensor cores take them from: sums of a
// product, rounded to 16 bits, are a factor of the next one.
//
//===----------------------------------------------------------------------===//

#include "PortableBody.h"

#include "pit/Dialect/Pit/IR/TileExtents.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Products that one instruction sums up.
static constexpr int64_t kDepth = 16;

namespace {

/// A factor in shared memory: how it lies, and where (i32, bytes).
struct SharedFactor {
  PortableOperand operand;
  Value at;
};

class BodyMultiplier {
public:
  BodyMultiplier(const BodyStep &step, ContractOp op, Value sums, Value lhs)
      : step(step), self(step.self), e(self.e), op(op), sums(e, sums),
        b(findFactor(1)) {
    if (lhs)
      this->lhs.emplace(e, lhs);
    else
      a = findFactor(0);
  }

  Value multiply() {
    ContractionDims dims = *findContractionDims(op);
    for (int64_t k = 0; k < op.getTile()[dims.k] / kDepth; ++k) {
      SmallVector<Value> as = lhs ? factorInRegisters(k)
                                  : loadFragments(a, {a.at, step.origin},
                                                  step.plan.perWorkerM(), k);
      // Blocks of b have 16 columns, those of an instruction 8.
      for (int64_t j = 0; j < op.getTile()[dims.n]; j += 16) {
        SmallVector<Value> bs = loadFragments(
            b, {b.at, e.i32(0), /*first=*/j, /*isB=*/true}, 16, k);
        for (int64_t half = 0; half < 2; ++half)
          addColumns(j / 4 + 2 * half, as,
                     ArrayRef<Value>(bs).slice(2 * half, 2));
      }
    }
    return sums.toFragment(e);
  }

private:
  SharedFactor findFactor(unsigned number) {
    const StagedTile &staged = step.plan.stagedOf(op->getOperand(number));
    PortableOperand operand = staged.operand;
    operand.kIsCol = isAlongK(op, number, staged);
    return {operand, step.addressOf(staged)};
  }

  size_t rowsOfThread() const { return sums.type.getThreadRows(); }

  /// The fragments of products `k` of all of a warp's rows, of the factor in
  /// registers.
  SmallVector<Value> factorInRegisters(int64_t k) {
    SmallVector<Value> fragments;
    for (size_t i = 0; i < rowsOfThread(); i += 2)
      for (size_t half = 0; half < 4; half += 2)
        for (size_t row : {i, i + 1}) {
          Value pair = e.pair(lhs->at(row, 4 * k + half),
                              lhs->at(row, 4 * k + half + 1));
          fragments.push_back(e.bitcast(e.b.getI32Type(), pair));
        }
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

  /// Adds the products of all of a warp's rows and of 8 columns to two of a
  /// lane's columns of sums.
  void addColumns(size_t j, ArrayRef<Value> left, ArrayRef<Value> right) {
    SmallVector<Value> before;
    for (size_t i = 0; i < rowsOfThread(); ++i)
      before.append({sums.at(i, j), sums.at(i, j + 1)});
    auto after = pitgpu::MmaSyncOp::create(e.b, e.loc, left, right, before,
                                           b.operand.element);
    for (size_t p = 0; p < before.size(); ++p)
      sums.at(p / 2, j + p % 2) = after.getResult(p);
  }

  const BodyStep &step;
  const PortableThread &self;
  Emitter &e;
  ContractOp op;
  ThreadElements sums;
  std::optional<ThreadElements> lhs;
  SharedFactor b, a; ///< the latter, if it lies in shared memory
};

} // namespace

Value cuda::multiplyInBody(const BodyStep &step, ContractOp op, Value sums,
                           Value lhs) {
  return BodyMultiplier(step, op, sums, lhs).multiply();
}
