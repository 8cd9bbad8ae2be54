//===- PipelineLowering.h - pit_gpu to nvvm, op by op -----------*- C++ -*-===//
//
// Lowering of ops. Values of the dialect become values of LLVM's and nvvm's:
//
//   tensor_map   !llvm.ptr, a parameter of the kernel
//
//   ring         where its stages and its barriers lie (i32, shared memory); of
//                the block, where its stages lie
//
//   stage        where its tiles lie, and its barriers, full and empty; of the
//                block, where the ring's stages lie, and its number (i32)
//
//   tile         where it lies (i32)
//
//   accumulator  for each 64 rows a struct of a thread's sums; in tensor memory
//                where it lies (i32: the lane in the upper half, the column)
//
//   fragment     a thread's elements; of 16 bits two neighbours in a vector
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_PIPELINE_PIPELINELOWERING_H
#define PIT_LIB_CODEGEN_GPU_PIPELINE_PIPELINELOWERING_H

#include "Codegen/GPU/Common/Emitter.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::pit::pitgpu {

/// The threads of a role that run an op.
enum class Speakers { All, LeaderOfEachWarp, Leader };

/// The numbers of a thread (i32). All but `thread` and `lane` are the
/// same in a warp.
struct ThreadInRole {
  int64_t warps = 0; ///< of the role
  Value thread;      ///< of the role
  Value lane;
  Value warp;      ///< of the role
  Value warpgroup; ///< of the role
  Speakers speakers = Speakers::All;
};

/// The thread of each op of a role.
using ThreadMap = llvm::DenseMap<Operation *, ThreadInRole>;

/// The facts that patterns ask for: found before any op is replaced.
struct PipelineContext {
  ThreadMap threads;
  /// Waits for stages that threads have written: wgmma reads by another proxy.
  llvm::DenseSet<Operation *> waitsForWrites;
  /// Ops that take stages which one thread of the role gives on: the other
  /// warps do not wait. Nothing would keep the ring from going on two phases
  /// before such a warp looks, and a parity cannot tell these from none.
  llvm::DenseSet<Operation *> takesOfOneWarp;
  /// The start of each kernel's tensor memory (i32).
  llvm::DenseMap<Operation *, Value> tensorMemory;
  /// Acquires of rings whose stages nobody releases.
  llvm::DenseSet<Operation *> neverReleased;
  /// The last ring of each kernel, behind which the barriers of all are made.
  llvm::DenseMap<Operation *, SmallVector<RingOp>> ringsUpTo;
};

/// Gives what a kernel has in shared memory its place; gives the bytes of all.
int64_t placeShared(gpu::GPUFuncOp kernel);

/// Blocks of a cluster of the kernel.
int64_t clusterOf(gpu::GPUFuncOp kernel);

/// Waits for the other blocks of the cluster.
void syncCluster(cuda::Emitter &e);

/// Has a block of the kernel allocate tensor memory for its rings, if there are
/// such. `sharedBytes` grows by the word that says where it lies.
LogicalResult allocateTensorMemory(RewriterBase &rewriter,
                                   gpu::GPUFuncOp kernel,
                                   PipelineContext &context,
                                   int64_t &sharedBytes);

/// Makes arithmetic of the order of tiles, and loops of scf of `tiles`.
void lowerTileOrder(RewriterBase &rewriter, gpu::GPUFuncOp kernel);
/// Makes loops of scf of `list_tiles`.
void lowerLists(RewriterBase &rewriter, gpu::GPUFuncOp kernel);
/// Makes arithmetic of parts of tiles.
void lowerSplits(RewriterBase &rewriter, gpu::GPUFuncOp kernel);

/// Makes branches of roles.
LogicalResult lowerRoles(RewriterBase &rewriter, gpu::GPUFuncOp kernel,
                         PipelineContext &context);

void populatePipelineTypes(TypeConverter &converter);
void addFragmentType(TypeConverter &converter);

/// The values in place of each of an op's results.
using Lowered = SmallVector<SmallVector<Value>>;

/// The values in place of an op's operands, several for each.
template <typename OpT>
struct Operands : OpConversionPattern<OpT>::OneToNOpAdaptor {
  using Adaptor = typename OpConversionPattern<OpT>::OneToNOpAdaptor;
  Operands(Adaptor adaptor, PipelineContext &pipeline)
      : Adaptor(adaptor), pipeline(pipeline) {}
  const ThreadInRole &self(OpT op) const { return pipeline.threads.at(op); }

  PipelineContext &pipeline;
};

/// Patterns, each a function that lowers one op.
class PipelinePatterns {
public:
  PipelinePatterns(const TypeConverter &converter, PipelineContext &pipeline,
                   RewritePatternSet &patterns)
      : converter(converter), pipeline(pipeline), patterns(patterns) {}

  template <typename... OpTs>
  void add(Lowered (*...lower)(cuda::Emitter &, OpTs, Operands<OpTs>)) {
    (patterns.add<Pattern<OpTs>>(converter, patterns.getContext(), pipeline,
                                 lower),
     ...);
  }

private:
  template <typename OpT> struct Pattern : OpConversionPattern<OpT> {
    using Lower = Lowered (*)(cuda::Emitter &, OpT, Operands<OpT>);
    Pattern(const TypeConverter &converter, MLIRContext *context,
            PipelineContext &pipeline, Lower lower)
        : OpConversionPattern<OpT>(converter, context), pipeline(pipeline),
          lower(lower) {}

    LogicalResult
    matchAndRewrite(OpT op, typename Operands<OpT>::Adaptor adaptor,
                    ConversionPatternRewriter &rewriter) const override {
      cuda::Emitter e(rewriter, op.getLoc());
      rewriter.replaceOpWithMultiple(op, lower(e, op, {adaptor, pipeline}));
      return success();
    }

    PipelineContext &pipeline;
    Lower lower;
  };

  const TypeConverter &converter;
  PipelineContext &pipeline;
  RewritePatternSet &patterns;
};

/// A file each: what becomes of ops on stages, of copies, of products, of
/// fragments and of partial sums.
void populateStagePatterns(PipelinePatterns &patterns);
void populateCopyPatterns(PipelinePatterns &patterns);
void populateMmaPatterns(PipelinePatterns &patterns);
void populateFragmentPatterns(PipelinePatterns &patterns);
void populateFixupPatterns(PipelinePatterns &patterns);

/// Those of sums in tensor memory.
Lowered lowerTensorMma(cuda::Emitter &e, MmaOp op, Operands<MmaOp> in);
Lowered lowerRead(cuda::Emitter &e, ReadOp op, Operands<ReadOp> in);

/// Runs `body` in one thread of the role.
void inOneThread(cuda::Emitter &e, const ThreadInRole &self,
                 function_ref<void()> body);

/// Runs `body` in one thread of each warp.
void inOneThreadOfEachWarp(cuda::Emitter &e, function_ref<void()> body);

/// The swizzled place of an element of a tile, from the tile's first byte
/// on (i32).
Value offsetOf(cuda::Emitter &e, TileType tile, Value row, Value col);

/// Runs instructions on registers, f32 or i32, and gives these; `others` are
/// what the instructions only read. Code behind them, as of the sums of a
/// product behind the wait for it, reads no register before them.
SmallVector<Value> runAssembly(cuda::Emitter &e, const std::string &text,
                               ArrayRef<Value> registers,
                               ArrayRef<Value> others = {});

/// Fields of the descriptor of a factor, in units of 16 bytes: the distance of
/// blocks (without meaning where k runs along lines: there is one block) and of
/// groups of 8 lines.
int64_t distancesOfFactor(TileType tile, bool kIsCol);

/// A factor in shared memory, as tensor cores read it: `kIsCol` if k runs along
/// lines. `descriptor` says all but where it lies.
class SharedFactor {
public:
  SharedFactor(cuda::Emitter &e, TileType tile, Value place, bool kIsCol,
               int64_t descriptor);

  /// The descriptor of the part from position `outer` along m or n on, a
  /// multiple of 64 or of a line, and number `step` along k, of 32 bytes.
  Value at(cuda::Emitter &e, int64_t outer, int64_t step) const;

private:
  TileType tile;
  bool kIsCol;
  Value first;
};

/// The row of a fragment in which this thread has elements: in part `part` of
/// the warp's rows, of 16, one of the first eight or, with `half`, of the last
/// (i32).
Value rowOf(cuda::Emitter &e, FragmentType type, const ThreadInRole &self,
            int64_t part, int64_t half);

/// The name of the kernels' shared memory, which starts at a multiple of 1024.
constexpr StringLiteral kSharedName = "pit_gpu_shared";

} // namespace mlir::pit::pitgpu

#endif // PIT_LIB_CODEGEN_GPU_PIPELINE_PIPELINELOWERING_H
