//===- HopperPlan.h - A mainloop on Hopper's tensor cores -------*- C++ -*-===//
//
// The schedule of sm_90a: one warpgroup copies tiles into a ring of stages in
// shared memory, two multiply them from there by wgmma; stages change hands
// through mbarriers. Everything here is known at compile time and nothing here
// makes IR, so that it can be tested by value.
//
// pit-schedule-kernels plans once and writes what is decided into the
// mainloop's schedules. convert-pit-to-gpu reads it from there.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_PLAN_HOPPERPLAN_H
#define PIT_LIB_CODEGEN_GPU_PLAN_HOPPERPLAN_H

#include "KernelPlan.h"

#include "Codegen/Common/ContractionInfo.h"
#include "Codegen/GPU/Common/TileAccess.h"
#include "Codegen/GPU/Common/WgmmaLayout.h"

namespace mlir::pit::cuda {

constexpr int64_t kConsumers = 2;
constexpr int64_t kHopperThreads = kWarpgroup * (1 + kConsumers);
/// Warps of a warpgroup.
constexpr int64_t kWarps = kWarpgroup / 32;
/// Bytes of the shortest line.
constexpr int64_t kShortestLine = 32;
/// Warps that issue boxes of rows.
constexpr int64_t kRowWarps = 4;
/// Elements of a thread's accumulators: in all, and with those of a stage that
/// are added to others.
constexpr int64_t kMaxAccumulators = 128;
constexpr int64_t kMaxAddedAccumulators = 192;
/// The bytes of a scale in shared memory.
constexpr int64_t kScaleBytes = 4;

/// An operand in shared memory: a tile for each of its views, one after
/// another. A tile is blocks of a line's width, and in each of them one line
/// for every row.
struct HopperOperand : ContractionOperand {
  HopperOperand() = default;
  HopperOperand(const ContractionOperand &operand, unsigned number)
      : ContractionOperand(operand), number(number) {}

  unsigned number = 0; ///< among the contractions' operands
  Loader loader = Loader::TmaTile;
  /// Does the kernel read a copy that has rows along k, where the source does
  /// not? Then colDim is not the last dimension.
  bool isTransposed = false;
  bool isGathered = false;  ///< ids select the rows, or kIsPacked
  bool kIsGathered = false; ///< those of the steps
  bool kIsPacked = false;   ///< positions of the steps select the rows
  int64_t rows = 0, blocks = 0;
  int64_t lineBytes = kLineBytes;

  int64_t lineElements() const { return lineBytes / elementBytes; }
  int64_t lineChunks() const { return lineBytes / kChunkBytes; }
  int64_t blockBytes() const { return rows * lineBytes; }
  /// Tiles start where the swizzle does.
  int64_t tileBytes() const {
    return llvm::alignTo(blocks * blockBytes(), kSwizzleBytes);
  }
  int64_t bytes() const { return views.size() * tileBytes(); }
  int kDim() const { return kIsCol ? colDim : rowDim; }
  int outerDim() const { return kIsCol ? rowDim : colDim; }
  /// The values for each dimension of the source, in the order in which the
  /// kernel's descriptor has them.
  template <typename T> SmallVector<T> inOrder(ArrayRef<T> bySource) const {
    if (!isTransposed)
      return llvm::to_vector(bySource);
    SmallVector<T> ordered;
    for (auto [d, value] : llvm::enumerate(bySource))
      if (static_cast<int>(d) != rowDim && static_cast<int>(d) != colDim)
        ordered.push_back(value);
    ordered.append({bySource[rowDim], bySource[colDim]});
    return ordered;
  }
  /// Do ids of the steps select elements within rows? Threads then load them
  /// one by one, and store them along k.
  bool isGatheredByElement() const { return kIsCol && kIsGathered; }
  /// By which number a row's chunks are exclusive-ored: 128 bytes, of however
  /// many lines, have a number of their own.
  int64_t swizzleOf(int64_t row) const {
    return row * lineBytes / kLineBytes % lineChunks();
  }
  /// So many rows one box covers, of one block.
  int64_t boxRows() const;
};

/// Scales of a step that lie beside its stage in shared memory, in f32.
struct HopperScales {
  unsigned view = 0;  ///< of the mainloop
  int64_t count = 1;  ///< along m or n, with padding, or one for all
  int64_t offset = 0; ///< bytes from the stage's first one
};

struct MainloopNest;

struct HopperPlan : KernelPlan {
  using KernelPlan::KernelPlan;

  HopperOperand a, b; ///< along m and along n
  /// The scales that are copied with each stage; empty: there are none, or they
  /// are of types that cp.async does not copy, and consumers load them.
  SmallVector<HopperScales> scales;
  int64_t cluster = 1;      ///< blocks that share what they load of b
  int64_t columnBlocks = 1; ///< of the result, that groups add to, at most
  int64_t rows = 0;      ///< of the result, of which a block keeps a bit each
  int64_t fillBytes = 0; ///< of what is copied to rows that no tile writes
  /// Are the sums of a stage added to the others in f32? Sums that wgmma makes
  /// of 8-bit floats have 14 bits, and scales are those of a step.
  bool addsStages = false;

  /// Is the tile one of few columns along n, those of a group of micro-tiles,
  /// and of as many along m as a stage has room for? Lines along n may be
  /// shorter then.
  bool isSkinny = false;

  /// The consumers share the tile along m, or along n.
  void setSplitN(bool isAlongN) {
    workersM = isAlongN ? kWarps : kConsumers * kWarps;
    workersN = isAlongN ? kConsumers : 1;
  }
  bool splitN() const { return workersN > 1; }
  int64_t perM() const { return perWorkerM() * kWarps; }
  int64_t perN() const { return perWorkerN(); }
  /// wgmmas of a consumer for an accumulator, one below the other, and elements
  /// of a thread in each of them.
  int64_t wgmmas() const { return perM() / kWgmmaRows; }
  int64_t accumulators() const { return perN() / 2; }
  /// Elements of a thread in all of them.
  int64_t elements() const { return pairs.size() * wgmmas() * accumulators(); }
  /// Is the result's tile computed transposed, with its rows along n?
  bool isTransposed() const { return mDim > nDim; }
  /// Elements along k that one wgmma takes.
  int64_t wgmmaDepth() const { return 32 / a.elementBytes; }

  /// Registers of a thread, after the roles are known.
  int64_t producerRegisters() const;
  int64_t workerRegisters() const {
    return KernelPlan::workerRegisters(producerRegisters());
  }

  int64_t stageBytes() const { return a.bytes() + b.bytes(); }
  /// Bytes in which a consumer's warp stages the results that it stores at
  /// once.
  int64_t storeBytes() const;

  /// Are ids of the steps, and elements that they select, loaded so far ahead
  /// that they do not wait behind copies? Then they lie in shared memory.
  bool streamsIds() const { return isSkinny && a.kIsGathered; }
  /// Steps that elements come ahead; their ids come twice as far.
  int64_t stepsAhead() const { return stages; }
  /// Places for the ids of a step. One is written, the ids of the steps
  /// ahead are on their way, and others are still read: of steps whose stages
  /// are not known to be full.
  int64_t idSlots() const { return llvm::PowerOf2Ceil(3 * stepsAhead()); }
  int64_t idSlotBytes() const { return depth * 4; }
  /// The slots for ids of the first steps, of this tile and of the next one.
  int64_t firstIdSlots() const { return 2 * stepsAhead(); }
  /// Places for the words that hold a step's elements of b. A thread reads what
  /// it has copied itself.
  int64_t elementSlots() const { return stepsAhead() + stepsBehind() + 1; }
  /// Elements are stored so many steps after the step's chunks have been
  /// started. Consumers hand a stage back when the next one is full, so one of
  /// the stages has to be, and another one is waited for.
  int64_t stepsBehind() const { return std::clamp<int64_t>(stages - 2, 0, 2); }
  int64_t elementSlotBytes() const;
  /// Bytes of the scales of a stage.
  int64_t scalesBytes() const;

  /// Bytes of what lies beside the ring of the stages, in this order.
  int64_t barrierBytes() const;
  int64_t resultBytes() const { return kConsumers * kWarps * storeBytes(); }
  int64_t idBytes() const;
  int64_t gatheredBytes() const { return elementSlots() * elementSlotBytes(); }
  int64_t allScalesBytes() const { return stages * scalesBytes(); }
  int64_t rowBytes() const;
  /// All together, each at a multiple of 128.
  int64_t sharedBytes() const;
  /// Arrivals that fill a stage, beside the bytes.
  int64_t fullCount() const;
  /// Arrivals that hand it back. A warp's wgmmas are over when those of its
  /// warpgroup are, but each warp reads scales by itself.
  int64_t emptyCount() const {
    return kConsumers * cluster * (scales.empty() ? 1 : kWarpgroup / 32);
  }
  bool has(Loader loader) const {
    return a.loader == loader || b.loader == loader;
  }
  /// Do all lanes of the producers copy something of each stage?
  bool copiesByLanes() const { return has(Loader::CpAsync) || !scales.empty(); }
  /// Do all warps of the producers load? Then they fill rows between the steps;
  /// otherwise those do that load nothing.
  bool fillsBetweenSteps() const {
    return copiesByLanes() || has(Loader::TmaRowGather);
  }

  /// The plan that a mainloop's schedule says, unless its kernel or the target
  /// is not what it is for.
  static OrRefusal<HopperPlan> from(GpuScheduleAttr schedule,
                                    const MainloopNest &nest,
                                    const GpuTarget &target);
  /// The plan as an attribute.
  GpuScheduleAttr toAttribute(MLIRContext *context) const;
};

/// Columns of results that a consumer's warp stores together, and its rows.
constexpr int64_t kStoreColumns = 64;
constexpr int64_t kWarpRows = 16;

/// The plan of a kernel's mainloop on a GPU with wgmma. The kernel may fill the
/// rows of its result that no tile writes, of `rows` rows; 0 if it may not.
OrRefusal<HopperPlan> planHopper(const MainloopNest &nest, int64_t rows,
                                 const GpuTarget &target);

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_PLAN_HOPPERPLAN_H
