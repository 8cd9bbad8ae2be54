//===- TensorMemoryLowering.cpp - Products into tensor memory to tcgen05 --===//
//
// Tensor cores of sm_100a: PTX, "TensorCore 5th Generation Family
// Instructions". A block allocates columns of 128 lanes. One thread starts
// products, and a warpgroup reads what they have left, each warp its own 32
// lanes.
//
//===----------------------------------------------------------------------===//

#include "PipelineLowering.h"

#include "Codegen/Common/Index.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::Emitter;

/// The fewest columns that a block allocates; more are a power of two.
static constexpr int64_t kFewestColumns = 32;

static Value tensorPointer(Emitter &e, Value address) {
  auto type = LLVM::LLVMPointerType::get(
      e.b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Tensor));
  return LLVM::IntToPtrOp::create(e.b, e.loc, type, address);
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

/// Runs `body` in the first warp of the block.
static void inFirstWarp(Emitter &e, function_ref<void()> body) {
  Value thread = e.threadId();
  e.ifThen(e.lessThan(thread, e.i32(32)), body);
}

/// A barrier of all threads, to which tensor cores keep.
static void syncThreads(Emitter &e) {
  using Kind = NVVM::Tcgen05FenceKind;
  NVVM::Tcgen05FenceOp::create(e.b, e.loc, Kind::BEFORE_THREAD_SYNC);
  e.barrier();
  NVVM::Tcgen05FenceOp::create(e.b, e.loc, Kind::AFTER_THREAD_SYNC);
}

LogicalResult pitgpu::allocateTensorMemory(RewriterBase &rewriter,
                                           gpu::GPUFuncOp kernel,
                                           PipelineContext &context,
                                           int64_t &sharedBytes) {
  int64_t used = 0;
  kernel.walk([&](RingOp ring) {
    RingType type = ring.getType();
    int64_t begin = *ring.getOffset();
    if (type.isInTensorMemory())
      used = std::max(used, begin + type.getStages() * type.getStageSize());
  });
  if (!used)
    return success();
  int64_t columns = std::max<int64_t>(kFewestColumns, llvm::PowerOf2Ceil(used));
  if (columns > kTensorColumns)
    return kernel.emitOpError()
           << "has rings of " << used
           << " columns of tensor memory; a block has at most "
           << kTensorColumns;
  Location loc = kernel.getLoc();
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
  Emitter e(rewriter, loc);
  auto pointer = LLVM::LLVMPointerType::get(
      kernel.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  Value shared = LLVM::AddressOfOp::create(rewriter, loc, pointer, kSharedName);
  Value word = addressAt(rewriter, loc, shared, sharedBytes);
  sharedBytes += 8;
  inFirstWarp(e, [&] {
    NVVM::Tcgen05AllocOp::create(rewriter, loc, word, e.i32(columns));
    NVVM::Tcgen05RelinquishAllocPermitOp::create(rewriter, loc);
  });
  syncThreads(e);
  Value begin = e.load(rewriter.getI32Type(), word, 4);
  context.tensorMemory[kernel] = begin;
  kernel.walk([&](gpu::ReturnOp end) {
    rewriter.setInsertionPoint(end);
    Emitter e(rewriter, end.getLoc());
    syncThreads(e);
    inFirstWarp(e, [&] {
      NVVM::Tcgen05DeallocOp::create(rewriter, end.getLoc(),
                                     tensorPointer(e, begin), e.i32(columns));
    });
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// How an instruction descriptor names elements of factors (PTX, "Instruction
/// descriptor"), and the kind of the instruction.
struct Elements {
  NVVM::Tcgen05MMAKind kind;
  int64_t number;
};
} // namespace

static Elements describe(Type element) {
  using Kind = NVVM::Tcgen05MMAKind;
  if (element.isF16())
    return {Kind::F16, 0};
  if (element.isBF16())
    return {Kind::F16, 1};
  if (element.isF32())
    return {Kind::TF32, 2};
  return {Kind::F8F6F4, isa<Float8E4M3FNType>(element) ? 0 : 1};
}

/// The instruction descriptor: sums of f32, elements of the factors, which of
/// them k does not run along lines of, and the extents.
static int64_t describeProduct(MmaOp op) {
  AccumulatorType acc = op.getAcc().getType();
  auto a = cast<TileType>(op.getA().getType());
  TileType b = op.getB().getType();
  constexpr int64_t kSumsOfF32 = 1;
  return kSumsOfF32 << 4 | describe(a.getElementType()).number << 7 |
         describe(b.getElementType()).number << 10 |
         int64_t(op.getTransposeA()) << 15 |
         int64_t(!op.getTransposeB()) << 16 | acc.getCols() / 8 << 17 |
         acc.getRows() / 16 << 24;
}

/// PTX, "Shared memory descriptor": distances as wgmma has them, a constant,
/// and the kind of swizzle: 2, 4 and 6 for 128, 64 and 32 bytes.
static SharedFactor factor(Emitter &e, TileType tile, Value place,
                           bool kIsCol) {
  uint64_t swizzle = 2 * (1 + llvm::Log2_64(128 / tile.getSwizzle()));
  return {e, tile, place, kIsCol,
          distancesOfFactor(tile, kIsCol) | int64_t(1) << 46 |
              static_cast<int64_t>(swizzle << 61)};
}

/// A descriptor (i64) in a register of its own. LLVM takes the operand of
/// tcgen05.mma for an address, and would write a sum of a register and a number
/// there, which PTX does not know.
static Value inRegister(Emitter &e, Value descriptor) {
  return e.assembly(descriptor.getType(), "mov.b64 $0, $1;", "=l,l", descriptor,
                    /*hasSideEffects=*/false);
}

Lowered pitgpu::lowerTensorMma(Emitter &e, MmaOp op, Operands<MmaOp> in) {
  auto tileA = cast<TileType>(op.getA().getType());
  TileType tileB = op.getB().getType();
  Value place = in.getAcc().front();
  inOneThread(e, in.self(op), [&] {
    SharedFactor a = factor(e, tileA, in.getA().front(), !op.getTransposeA());
    SharedFactor b = factor(e, tileB, in.getB().front(), op.getTransposeB());
    int64_t k = op.getTransposeB() ? tileB.getCols() : tileB.getRows();
    Value always = e.constant(e.b.getBoolAttr(true));
    Value sums = tensorPointer(e, place), extents = e.i32(describeProduct(op));
    for (int64_t step = 0; step < k * tileB.getElementBytes() / 32; ++step)
      NVVM::Tcgen05MMAOp::create(
          e.b, e.loc, describe(tileA.getElementType()).kind,
          NVVM::CTAGroupKind::CTA_1, NVVM::Tcgen05MMACollectorOp::DISCARD,
          /*aShift=*/false, sums, a.at(e, 0, step),
          inRegister(e, b.at(e, 0, step)), extents,
          step == 0 && op.getAdds() ? op.getAdds() : always,
          /*scaleInputD=*/Value(), /*disableOutputLane=*/Value());
  });
  return {{place}};
}

/// Sixteen rows at a time, as a fragment has them: in each eight columns two
/// neighbours of one row, then of the row eight below.
Lowered pitgpu::lowerRead(Emitter &e, ReadOp op, Operands<ReadOp> in) {
  FragmentType type = op.getType();
  const ThreadInRole &self = in.self(op);
  // The upper half of an address is the lane.
  constexpr int64_t kLane = 1 << 16;
  Value begin = e.add(in.getAcc().front(), op.getCol());
  begin = e.add(begin, e.mul(e.rem(self.warp, 4), 32 * kLane));
  auto shape = NVVM::Tcgen05LdStShapeAttr::get(
      e.b.getContext(), NVVM::Tcgen05LdStShape::SHAPE_16X256B);
  SmallVector<Value> words;
  for (int64_t part = 0; part < type.getParts(); ++part)
    for (int64_t col = 0, cols = 0; col < type.getCols(); col += cols) {
      // One load is of a power of two.
      cols = llvm::bit_floor<uint64_t>(type.getCols() - col);
      Value address = e.add(begin, 16 * kLane * part + col);
      auto vector = VectorType::get(cols / 2, e.b.getI32Type());
      Value loaded = NVVM::Tcgen05LdOp::create(e.b, e.loc, vector,
                                               /*pack=*/UnitAttr(), shape,
                                               tensorPointer(e, address),
                                               /*offset=*/Value());
      for (int64_t i = 0; i < cols / 2; ++i)
        words.push_back(e.extract(loaded, i));
    }
  SmallVector<Value> sums;
  for (Value word : runAssembly(e, "tcgen05.wait::ld.sync.aligned;", words))
    sums.push_back(e.bitcast(e.b.getF32Type(), word));
  return {sums};
}
