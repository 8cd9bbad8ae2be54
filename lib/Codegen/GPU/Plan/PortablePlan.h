//===- PortablePlan.h - How a mainloop is computed --------------*- C++ -*-===//
//
// Which dimension of a tile plays which part, how tiles lie in shared memory,
// and how threads share the work. Everything here is known at compile time and
// nothing here makes IR, so that it can be tested by value.
//
// pit-schedule-kernels plans once and writes what is decided into the
// mainloop's schedules. convert-pit-to-gpu reads it from there.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_PLAN_PORTABLEPLAN_H
#define PIT_LIB_CODEGEN_GPU_PLAN_PORTABLEPLAN_H

#include "KernelPlan.h"

#include "Codegen/Common/ContractionInfo.h"
#include "Codegen/GPU/Common/TileAccess.h"
#include "Codegen/GPU/Common/WgmmaLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::pit::cuda {

/// Pieces of a tile that a thread copies without a loop.
constexpr int64_t kUnrolledPieces = 8;

/// A tile in shared memory: rows of whole chunks, one after another. The chunks
/// of a row change places (they are swizzled) so that the same chunk of
/// neighbouring rows lies in different banks. It becomes a pit_gpu.row_tile or,
/// if it has lines, a pit_gpu.tile.
struct SharedTile {
  int64_t rows = 0, cols = 0; ///< elements, padded
  int64_t elementBytes = 0;
  /// Are rows cut into lines of 128 bytes, or of so many? Those of the same
  /// columns are a block, as wgmma takes them (WgmmaLayout.h), and chunks
  /// change places in a line.
  bool hasLines = false;
  int64_t lineBytes = kLineBytes;
  /// Places by which chunks of neighbouring lines of 128 bytes are shifted.
  int64_t swizzleStep = 1;

  int64_t pitch() const { return cols * elementBytes; }
  int64_t bytes() const { return rows * pitch(); }
  int64_t chunks() const { return pitch() / kChunkBytes; }
  int64_t chunkElements() const { return kChunkBytes / elementBytes; }
  int64_t blockBytes() const { return rows * lineBytes; } ///< of lines
  int64_t chunksInLine() const { return lineBytes / kChunkBytes; }
  /// Neighbouring lines whose chunks change places alike.
  int64_t rowsOfSwizzle() const { return kLineBytes / lineBytes; }
  /// Without lines, chunk c of row r lies at place
  /// c ^ ((r / rowsPerLine * swizzleStep) & swizzleMask).
  int64_t swizzleMask() const;
  int64_t rowsPerLine() const;
  /// After so many rows the swizzle repeats.
  int64_t swizzlePeriod() const;
  /// Byte at which an element lies.
  int64_t offsetOf(int64_t row, int64_t col) const;
};

/// One of the two operands, and how a stage's part of it lies in shared memory.
struct PortableOperand : ContractionOperand {
  PortableOperand() = default;
  explicit PortableOperand(const ContractionOperand &operand)
      : ContractionOperand(operand) {
    tile.elementBytes = operand.elementBytes;
  }

  SharedTile tile; ///< of one stage, and of one of the operand's views
  /// Do rows of memory run along k, and those of shared memory along m or n?
  /// Elements are copied one by one then.
  bool isTransposed = false;

  /// Do rows of shared memory run along k?
  bool runsAlongK() const { return kIsCol && !isTransposed; }

  /// Bytes of the tiles of all views.
  int64_t bytes() const { return views.size() * tile.bytes(); }

  /// Tensor cores take blocks of 16 along m or n in two halves. Are those the
  /// even and the odd positions, not the first eight and the last eight? Where
  /// neighbours along m or n come in one register, or one load, they are.
  bool alternates() const { return !kIsCol && tile.elementBytes != 2; }
};

struct PortablePlan : KernelPlan {
  using KernelPlan::KernelPlan;

  PortableOperand a, b;
  int64_t accumulatorBytes = 4; ///< of an element
  /// Do scales multiply elements of an operand, and not each product?
  bool scalesOperands = false;
  bool hasScales = false; ///< of operands or of products

  /// So many columns of a thread follow each other in the accumulator's tile.
  int64_t neighbours() const;
  int64_t stageBytes() const { return a.bytes() + b.bytes(); }
  int64_t sharedBytes() const { return stages * stageBytes(); }
  /// The bytes of the sums of one split.
  int64_t partialBytes() const {
    return m * n * pairs.size() * accumulatorBytes;
  }

  /// The plan that a mainloop's schedule says, unless the mainloop or the
  /// target is not what it is for.
  static OrRefusal<PortablePlan>
  from(GpuScheduleAttr schedule, MainloopOp mainloop, const GpuTarget &target);
  /// The plan as an attribute.
  GpuScheduleAttr toAttribute(MLIRContext *context) const;
};

/// The plan of a mainloop, if this schedule computes it.
OrRefusal<PortablePlan> planPortable(MainloopOp mainloop,
                                     const GpuTarget &target);

/// May blocks share the steps of a kernel's mainloop?
Refused checkSplit(func::FuncOp function, MainloopOp mainloop);

/// The fewest stages of a split that are worth it to share a tile.
int64_t leastStagesOfSplit(MainloopOp mainloop);

/// Decides in how many splits at most a tile's steps are shared.
void chooseSplitK(func::FuncOp function, MainloopOp mainloop,
                  const GpuTarget &target, PortablePlan &plan);

/// Decides how the operands' tiles lie in shared memory, from all the rest of
/// the plan.
void layOutTiles(PortablePlan &plan);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_PLAN_PORTABLEPLAN_H
