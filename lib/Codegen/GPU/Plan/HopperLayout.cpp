//===- HopperLayout.cpp - Where a plan has what in shared memory ----------===//

#include "HopperPlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

/// Rows that a box may cover.
static constexpr int64_t kMaxBoxRows = 256;

int64_t HopperOperand::boxRows() const {
  if (loader != Loader::TmaTile)
    return 1;
  // Boxes do not overlap.
  int64_t boxes = llvm::divideCeil(rows, kMaxBoxRows);
  while (rows % boxes != 0)
    ++boxes;
  return rows / boxes;
}

int64_t HopperPlan::producerRegisters() const {
  // The ids of the next steps, or rows that are known for all steps.
  // The registers for filling rows come on top of these.
  if (a.kIsGathered || b.kIsGathered || (rows && fillsBetweenSteps()))
    return 88;
  if (has(Loader::TmaRowGather) && !scales.empty())
    return 88;
  if (has(Loader::TmaRowGather) || has(Loader::CpAsync))
    return 72;
  return copiesByLanes() || rows ? 56 : 40;
}

int64_t HopperPlan::storeBytes() const {
  int64_t columns =
      isTransposed() ? std::min(perN(), kStoreColumns) : kStoreColumns;
  return kWarpRows * columns * 2;
}

int64_t HopperPlan::barrierBytes() const {
  // The rows' bits have barriers, and so have the ids of even and odd tiles'
  // first steps.
  return 16 * stages + (rows ? 8 : 0) + (streamsIds() ? 16 : 0);
}

int64_t HopperPlan::idBytes() const {
  return streamsIds() ? (idSlots() + 2 * firstIdSlots()) * idSlotBytes() : 0;
}

int64_t HopperPlan::rowBytes() const {
  return llvm::alignTo(llvm::divideCeil(rows, 8), 4); // whole words
}

int64_t HopperPlan::elementSlotBytes() const {
  if (!streamsIds() || !b.isGatheredByElement())
    return 0;
  // Two words of each thread, for rows at a distance.
  int64_t rowsAtOnce = kWarpgroup / (depth / 2);
  return llvm::divideCeil(b.rows, rowsAtOnce) * kWarpgroup * 8;
}

int64_t HopperPlan::scalesBytes() const {
  if (scales.empty())
    return 0;
  const HopperScales &last = scales.back();
  return llvm::alignTo(last.offset + last.count * kScaleBytes, kChunkBytes);
}

int64_t HopperPlan::sharedBytes() const {
  // As the lowering of the pipeline places them.
  int64_t end = stages * stageBytes() + barrierBytes();
  for (int64_t bytes : {resultBytes(), idBytes(), gatheredBytes(),
                        allScalesBytes(), rowBytes(), fillBytes})
    if (bytes)
      end = llvm::alignTo(end, kLineBytes) + bytes;
  return end;
}

int64_t HopperPlan::fullCount() const {
  int64_t threads = copiesByLanes() ? kWarpgroup : 0;
  // A thread arrives once more when it has stored its elements.
  for (const HopperOperand *operand : {&a, &b})
    if (operand->isGatheredByElement())
      threads += kWarpgroup;
  if (has(Loader::TmaRowGather))
    return threads + kRowWarps; // a leader of each
  return threads + (has(Loader::TmaTile) ? 1 : 0);
}
