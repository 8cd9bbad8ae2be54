//===- MmaLowering.cpp - Products to wgmma --------------------------------===//

#include "PipelineLowering.h"

#include "Codegen/GPU/Common/Wgmma.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::Emitter;

/// What wgmma calls the elements of a factor.
static NVVM::WGMMATypes wgmmaType(Type element) {
  return element.isF32()                  ? NVVM::WGMMATypes::tf32
         : element.isF16()                ? NVVM::WGMMATypes::f16
         : element.isBF16()               ? NVVM::WGMMATypes::bf16
         : isa<Float8E4M3FNType>(element) ? NVVM::WGMMATypes::e4m3
                                          : NVVM::WGMMATypes::e5m2;
}

SharedFactor::SharedFactor(Emitter &e, TileType tile, Value place, bool kIsCol,
                           int64_t descriptor)
    : tile(tile), kIsCol(kIsCol),
      first(cuda::describeInShared(e, place, descriptor)) {}

Value SharedFactor::at(Emitter &e, int64_t outer, int64_t step) const {
  int64_t line = tile.getLineElements();
  int64_t perStep = 32 / tile.getElementBytes();
  int64_t k = step * perStep, bytes;
  if (kIsCol)
    bytes = outer * tile.getSwizzle() + k / line * tile.getPitch() +
            k % line * tile.getElementBytes();
  else
    bytes = outer / line * tile.getPitch() + k * tile.getSwizzle();
  return cuda::advanceDescriptor(e, first, bytes);
}

static SharedFactor factorOfWgmma(Emitter &e, TileType tile, Value place,
                                  bool kIsCol) {
  return {e, tile, place, kIsCol,
          cuda::wgmmaDescriptor(kIsCol, tile.getPitch(), tile.getSwizzle())};
}

/// Registers of one wgmma's first factor, which a thread has: columns 0 to 7 of
/// the upper rows, of the lower ones, then columns 8 to 15.
static SmallVector<Value> packFactor(Emitter &e, FragmentType type,
                                     ValueRange pairs, int64_t part,
                                     int64_t step) {
  SmallVector<Value> words;
  size_t first = part * type.getElementsPerPart() / 2 + 4 * step;
  for (Value pair : pairs.slice(first, 4))
    words.push_back(
        LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), pair));
  return words;
}

static SmallVector<Value> unpack(Emitter &e, ValueRange structs,
                                 int64_t perPart) {
  SmallVector<Value> values;
  for (Value sums : structs)
    for (int64_t i = 0; i < perPart; ++i)
      values.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, sums, i));
  return values;
}

static SmallVector<Value> pack(Emitter &e, AccumulatorType type,
                               ArrayRef<Value> values) {
  SmallVector<Value> structs;
  int64_t perPart = type.getElementsPerPart();
  auto structType = LLVM::LLVMStructType::getLiteral(
      e.b.getContext(), SmallVector<Type>(perPart, e.b.getF32Type()));
  for (int64_t part = 0; part < type.getParts(); ++part) {
    Value sums = LLVM::UndefOp::create(e.b, e.loc, structType);
    for (int64_t i = 0; i < perPart; ++i)
      sums = LLVM::InsertValueOp::create(e.b, e.loc, sums,
                                         values[part * perPart + i], i);
    structs.push_back(sums);
  }
  return structs;
}

/// Are all elements 0? Then the first of the products replaces them.
static bool isZero(Value acc) {
  auto accumulate = acc.getDefiningOp<AccumulateOp>();
  auto splat = accumulate ? accumulate.getFragment().getDefiningOp<SplatOp>()
                          : SplatOp();
  return splat && matchPattern(splat.getValue(), m_PosZeroFloat());
}

namespace {

struct MmaPattern : PipelinePattern<MmaOp> {
  using PipelinePattern::PipelinePattern;

  LogicalResult
  matchAndRewrite(MmaOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    AccumulatorType acc = op.getAcc().getType();
    if (acc.getInTensorMemory())
      return failure();
    TileType tileB = op.getB().getType();
    SharedFactor b =
        factorOfWgmma(e, tileB, adaptor.getB().front(), op.getTransposeB());
    int64_t k = op.getTransposeB() ? tileB.getCols() : tileB.getRows();
    int64_t depth = 32 / tileB.getElementBytes(), steps = k / depth;
    auto tileA = dyn_cast<TileType>(op.getA().getType());
    Type elementA =
        tileA ? tileA.getElementType()
              : cast<FragmentType>(op.getA().getType()).getElementType();
    cuda::Wgmma wgmma{wgmmaType(elementA),
                      wgmmaType(tileB.getElementType()),
                      acc.getCols(),
                      depth,
                      /*kIsColOfA=*/!op.getTransposeA(),
                      /*kIsColOfB=*/op.getTransposeB(),
                      /*adds=*/true};
    SmallVector<Value> sums(adaptor.getAcc());
    bool replaces = isZero(op.getAcc());
    if (tileA) {
      SharedFactor a =
          factorOfWgmma(e, tileA, adaptor.getA().front(), !op.getTransposeA());
      if (replaces)
        for (Value &sum : sums)
          sum = LLVM::UndefOp::create(e.b, e.loc, sum.getType());
      NVVM::WgmmaFenceAlignedOp::create(e.b, e.loc);
      for (int64_t step = 0; step < steps; ++step)
        for (auto [part, sum] : llvm::enumerate(sums)) {
          wgmma.adds = !replaces || step > 0;
          sum = cuda::startWgmma(e, wgmma, a.at(e, 64 * part, step),
                                 b.at(e, 0, step), sum);
        }
      NVVM::WgmmaGroupSyncAlignedOp::create(e.b, e.loc);
    } else {
      multiplyFragment(e, op, adaptor, wgmma, b, steps, sums);
    }
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }

private:
  static void multiplyFragment(Emitter &e, MmaOp op, Adaptor adaptor,
                               const cuda::Wgmma &wgmma, const SharedFactor &b,
                               int64_t steps, MutableArrayRef<Value> sums) {
    auto type = cast<FragmentType>(op.getA().getType());
    AccumulatorType acc = op.getAcc().getType();
    int64_t perPart = acc.getElementsPerPart();
    SmallVector<Value> descriptors, all;
    for (int64_t step = 0; step < steps; ++step)
      descriptors.push_back(b.at(e, 0, step));
    for (auto [part, sum] : llvm::enumerate(sums)) {
      SmallVector<Value> words;
      for (int64_t step = 0; step < steps; ++step)
        llvm::append_range(words,
                           packFactor(e, type, adaptor.getA(), part, step));
      llvm::append_range(all,
                         cuda::startWgmmas(e, wgmma, words, descriptors,
                                           unpack(e, sum, perPart), perPart));
    }
    llvm::copy(pack(e, acc, all), sums.begin());
  }
};

/// The registers go through the wait, so that nothing reads them before it.
struct MmaWaitPattern : PipelinePattern<MmaWaitOp> {
  using PipelinePattern::PipelinePattern;

  LogicalResult
  matchAndRewrite(MmaWaitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    int64_t pending = op.getPending();
    if (op.getSums().empty() && op.getHeld().empty()) {
      NVVM::WgmmaWaitGroupSyncOp::create(e.b, e.loc, pending);
      rewriter.eraseOp(op);
      return success();
    }
    SmallVector<Value> registers;
    SmallVector<size_t> counts;
    for (auto [value, structs] : llvm::zip(op.getSums(), adaptor.getSums())) {
      auto type = cast<AccumulatorType>(value.getType());
      llvm::append_range(registers,
                         unpack(e, structs, type.getElementsPerPart()));
      counts.push_back(type.getParts() * type.getElementsPerPart());
    }
    SmallVector<Value> held;
    for (auto [value, elements] : llvm::zip(op.getHeld(), adaptor.getHeld())) {
      auto type = cast<FragmentType>(value.getType());
      for (int64_t part = 0; part < type.getParts(); ++part)
        for (int64_t step = 0; step < type.getCols() / 16; ++step)
          llvm::append_range(held, packFactor(e, type, elements, part, step));
    }
    SmallVector<Value> read = cuda::waitForWgmmas(e, registers, pending, held);
    SmallVector<SmallVector<Value>> fragments;
    ArrayRef<Value> rest = read;
    for (size_t count : counts) {
      fragments.push_back(llvm::to_vector(rest.take_front(count)));
      rest = rest.drop_front(count);
    }
    rewriter.replaceOpWithMultiple(op, std::move(fragments));
    return success();
  }
};

struct AccumulatePattern : PipelinePattern<AccumulateOp> {
  using PipelinePattern::PipelinePattern;

  LogicalResult
  matchAndRewrite(AccumulateOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(rewriter, op.getLoc());
    SmallVector<Value> elements(adaptor.getFragment());
    rewriter.replaceOpWithMultiple(op, {pack(e, op.getType(), elements)});
    return success();
  }
};

} // namespace

void pitgpu::populateMmaPatterns(const TypeConverter &converter,
                                 PipelineContext &pipeline,
                                 RewritePatternSet &patterns) {
  patterns.add<MmaPattern, MmaWaitPattern, AccumulatePattern>(
      converter, patterns.getContext(), pipeline);
}
