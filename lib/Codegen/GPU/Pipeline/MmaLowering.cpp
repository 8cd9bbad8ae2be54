//===- MmaLowering.cpp - Products to wgmma --------------------------------===//

#include "PipelineLowering.h"

#include "Codegen/GPU/Common/WgmmaLayout.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::pitgpu;
using cuda::Emitter;

/// The name that wgmma has for the elements of a factor.
static NVVM::WGMMATypes wgmmaType(Type element) {
  return element.isF32()                  ? NVVM::WGMMATypes::tf32
         : element.isF16()                ? NVVM::WGMMATypes::f16
         : element.isBF16()               ? NVVM::WGMMATypes::bf16
         : isa<Float8E4M3FNType>(element) ? NVVM::WGMMATypes::e4m3
                                          : NVVM::WGMMATypes::e5m2;
}

//===----------------------------------------------------------------------===//
// Factors and sums
//===----------------------------------------------------------------------===//

int64_t pitgpu::distancesOfFactor(TileType tile, bool kIsCol) {
  int64_t leading = (kIsCol ? 16 : tile.getPitch()) >> 4;
  int64_t stride = cuda::kSwizzleLines * tile.getSwizzle() >> 4;
  return leading << 16 | stride << 32;
}

SharedFactor::SharedFactor(Emitter &e, TileType tile, Value place, bool kIsCol,
                           int64_t descriptor)
    : tile(tile), kIsCol(kIsCol) {
  Value low = arith::ExtUIOp::create(
      e.b, e.loc, e.b.getI64Type(),
      arith::ShRUIOp::create(e.b, e.loc, e.bitAnd(place, 0x3FFFF), e.i32(4)));
  first = arith::OrIOp::create(e.b, e.loc, low,
                               e.constant(e.b.getI64IntegerAttr(descriptor)));
}

Value SharedFactor::at(Emitter &e, int64_t outer, int64_t step) const {
  int64_t line = tile.getLineElements();
  int64_t perStep = 32 / tile.getElementBytes();
  int64_t k = step * perStep, bytes;
  if (kIsCol)
    bytes = outer * tile.getSwizzle() + k / line * tile.getPitch() +
            k % line * tile.getElementBytes();
  else
    bytes = outer / line * tile.getPitch() + k * tile.getSwizzle();
  return e.add(first, bytes >> 4);
}

/// PTX, "Matrix descriptor": the kind of swizzle is 1, 2 and 3 for 128, 64 and
/// 32 bytes.
static SharedFactor factorOfWgmma(Emitter &e, TileType tile, Value place,
                                  bool kIsCol) {
  uint64_t swizzle = 1 + llvm::Log2_64(cuda::kLineBytes / tile.getSwizzle());
  return {e, tile, place, kIsCol,
          distancesOfFactor(tile, kIsCol) |
              static_cast<int64_t>(swizzle << 62)};
}

/// Registers of one wgmma's first factor, which a thread has: 16 bytes of the
/// upper rows' columns, of the lower rows', then the next 16 bytes.
static SmallVector<Value> packFactor(Emitter &e, FragmentType type,
                                     ValueRange values, int64_t part,
                                     int64_t step) {
  SmallVector<Value> words;
  int64_t perWord = 32 / type.getElementType().getIntOrFloatBitWidth();
  size_t first = part * type.getElementsPerPart() / perWord + 4 * step;
  for (Value value : values.slice(first, 4))
    words.push_back(e.bitcast(e.b.getI32Type(), value));
  return words;
}

/// Columns of a first factor that one wgmma takes.
static int64_t columnsOfStep(FragmentType type) {
  return 256 / type.getElementType().getIntOrFloatBitWidth();
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

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

SmallVector<Value> pitgpu::runAssembly(Emitter &e, const std::string &text,
                                       ArrayRef<Value> registers,
                                       ArrayRef<Value> others) {
  size_t count = registers.size();
  Type type = count ? registers.front().getType() : e.b.getF32Type();
  // Written before all is read: else what is only read, and has the value with
  // which a sum begins, as a zero may, would share that sum's register.
  SmallVector<std::string> constraints(count, type.isF32() ? "=&f" : "=&r");
  for (size_t i = 0; i < count; ++i)
    constraints.push_back(std::to_string(i));
  for (Value value : others)
    constraints.push_back(value.getType().isInteger(64) ? "l" : "r");
  SmallVector<Value> operands(registers);
  llvm::append_range(operands, others);
  // Without registers it has no result: LLVM takes no empty struct there.
  Type results;
  if (count)
    results = LLVM::LLVMStructType::getLiteral(e.b.getContext(),
                                               SmallVector<Type>(count, type));
  Value made =
      e.assembly(results, text, llvm::join(constraints, ","), operands);
  return count ? unpack(e, made, count) : SmallVector<Value>();
}

namespace {

/// A product of 64 rows and n columns that is added to sums.
struct Wgmma {
  NVVM::WGMMATypes a, b; ///< elements of the factors
  int64_t n, k;
  bool kIsColOfA, kIsColOfB;
};

} // namespace

/// Starts it, with both factors in shared memory; without `adds` it replaces
/// the sums.
static Value startWgmma(Emitter &e, const Wgmma &wgmma, Value a, Value b,
                        Value sums, bool adds) {
  MLIRContext *context = e.b.getContext();
  auto types = [&](NVVM::WGMMATypes type) {
    return NVVM::WGMMATypesAttr::get(context, type);
  };
  auto one = NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one);
  auto scale = adds ? NVVM::WGMMAScaleOut::one : NVVM::WGMMAScaleOut::zero;
  auto layout = [&](bool isRow) {
    return NVVM::MMALayoutAttr::get(context, isRow ? NVVM::MMALayout::row
                                                   : NVVM::MMALayout::col);
  };
  return NVVM::WgmmaMmaAsyncOp::create(
      e.b, e.loc, sums.getType(), sums, a, b,
      NVVM::MMAShapeAttr::get(context, cuda::kWgmmaRows, wgmma.n, wgmma.k),
      types(wgmma.a), types(wgmma.b), types(NVVM::WGMMATypes::f32),
      NVVM::WGMMAScaleOutAttr::get(context, scale), one, one,
      layout(wgmma.kIsColOfA), layout(!wgmma.kIsColOfB),
      NVVM::MMAIntOverflowAttr());
}

/// Starts one for each of the descriptors `b`, behind a fence, and commits them
/// as a group; `a` are four registers (i32) for each. All in one piece: copies
/// of registers that LLVM puts between two of them would read sums that are not
/// there yet. NVVM's op takes both factors from shared memory only, too.
static SmallVector<Value> startWgmmas(Emitter &e, const Wgmma &wgmma,
                                      ArrayRef<Value> a, ArrayRef<Value> b,
                                      ArrayRef<Value> sums) {
  size_t count = sums.size(), firstA = 2 * count, firstB = firstA + a.size();
  auto list = [](size_t first, size_t many) {
    std::string text = "{";
    for (size_t i = 0; i < many; ++i)
      text += (i ? ", $" : "$") + std::to_string(first + i);
    return text + "}";
  };
  std::string name = "wgmma.mma_async.sync.aligned.m64n" +
                     std::to_string(wgmma.n) + "k" + std::to_string(wgmma.k) +
                     ".f32." + NVVM::stringifyWGMMATypes(wgmma.a).str() + "." +
                     NVVM::stringifyWGMMATypes(wgmma.b).str();
  bool isTransposable =
      wgmma.b == NVVM::WGMMATypes::f16 || wgmma.b == NVVM::WGMMATypes::bf16;
  std::string text = "{ .reg .pred adds; setp.ne.b32 adds, 1, 0; "
                     "wgmma.fence.sync.aligned; ";
  for (size_t k = 0; k < b.size(); ++k)
    text += name + " " + list(0, count) + ", " + list(firstA + 4 * k, 4) +
            ", $" + std::to_string(firstB + k) + ", adds, 1, 1" +
            (!isTransposable   ? "; "
             : wgmma.kIsColOfB ? ", 0; "
                               : ", 1; ");
  text += "wgmma.commit_group.sync.aligned; }";
  SmallVector<Value> factors(a);
  llvm::append_range(factors, b);
  return runAssembly(e, text, sums, factors);
}

static void multiplyFragment(Emitter &e, MmaOp op, Operands<MmaOp> in,
                             const Wgmma &wgmma, const SharedFactor &b,
                             int64_t steps, MutableArrayRef<Value> sums) {
  auto type = cast<FragmentType>(op.getA().getType());
  AccumulatorType acc = op.getAcc().getType();
  SmallVector<Value> descriptors, all;
  for (int64_t step = 0; step < steps; ++step)
    descriptors.push_back(b.at(e, 0, step));
  for (auto [part, sum] : llvm::enumerate(sums)) {
    SmallVector<Value> words;
    for (int64_t step = 0; step < steps; ++step)
      llvm::append_range(words, packFactor(e, type, in.getA(), part, step));
    llvm::append_range(all,
                       startWgmmas(e, wgmma, words, descriptors,
                                   unpack(e, sum, acc.getElementsPerPart())));
  }
  llvm::copy(pack(e, acc, all), sums.begin());
}

static Lowered lowerMma(Emitter &e, MmaOp op, Operands<MmaOp> in) {
  AccumulatorType acc = op.getAcc().getType();
  if (acc.getInTensorMemory())
    return lowerTensorMma(e, op, in);
  TileType tileB = op.getB().getType();
  SharedFactor b =
      factorOfWgmma(e, tileB, in.getB().front(), op.getTransposeB());
  int64_t k = op.getTransposeB() ? tileB.getCols() : tileB.getRows();
  int64_t depth = 32 / tileB.getElementBytes(), steps = k / depth;
  auto tileA = dyn_cast<TileType>(op.getA().getType());
  Type elementA =
      tileA ? tileA.getElementType()
            : cast<FragmentType>(op.getA().getType()).getElementType();
  Wgmma wgmma{wgmmaType(elementA),
              wgmmaType(tileB.getElementType()),
              acc.getCols(),
              depth,
              /*kIsColOfA=*/!op.getTransposeA(),
              /*kIsColOfB=*/op.getTransposeB()};
  SmallVector<Value> sums(in.getAcc());
  if (tileA) {
    SharedFactor a =
        factorOfWgmma(e, tileA, in.getA().front(), !op.getTransposeA());
    bool replaces = isZero(op.getAcc());
    if (replaces)
      for (Value &sum : sums)
        sum = LLVM::UndefOp::create(e.b, e.loc, sum.getType());
    NVVM::WgmmaFenceAlignedOp::create(e.b, e.loc);
    for (int64_t step = 0; step < steps; ++step)
      for (auto [part, sum] : llvm::enumerate(sums))
        sum = startWgmma(e, wgmma, a.at(e, 64 * part, step), b.at(e, 0, step),
                         sum, !replaces || step > 0);
    NVVM::WgmmaGroupSyncAlignedOp::create(e.b, e.loc);
  } else {
    multiplyFragment(e, op, in, wgmma, b, steps, sums);
  }
  return {sums};
}

/// The registers go through the wait, so that nothing reads them before it.
static Lowered lowerMmaWait(Emitter &e, MmaWaitOp op, Operands<MmaWaitOp> in) {
  int64_t pending = op.getPending();
  if (op.getSums().empty() && op.getHeld().empty()) {
    NVVM::WgmmaWaitGroupSyncOp::create(e.b, e.loc, pending);
    return {};
  }
  SmallVector<Value> registers;
  SmallVector<size_t> counts;
  for (auto [value, structs] : llvm::zip(op.getSums(), in.getSums())) {
    auto type = cast<AccumulatorType>(value.getType());
    llvm::append_range(registers,
                       unpack(e, structs, type.getElementsPerPart()));
    counts.push_back(type.getParts() * type.getElementsPerPart());
  }
  SmallVector<Value> held;
  for (auto [value, elements] : llvm::zip(op.getHeld(), in.getHeld())) {
    auto type = cast<FragmentType>(value.getType());
    for (int64_t part = 0; part < type.getParts(); ++part)
      for (int64_t step = 0; step < type.getCols() / columnsOfStep(type);
           ++step)
        llvm::append_range(held, packFactor(e, type, elements, part, step));
  }
  SmallVector<Value> read = runAssembly(
      e, "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";",
      registers, held);
  SmallVector<SmallVector<Value>> fragments;
  ArrayRef<Value> rest = read;
  for (size_t count : counts) {
    fragments.push_back(llvm::to_vector(rest.take_front(count)));
    rest = rest.drop_front(count);
  }
  return fragments;
}

/// The name that mma.sync has for the elements of a factor.
static NVVM::MMATypes mmaType(Type element) {
  return element.isInteger(8) ? NVVM::MMATypes::s8
         : element.isF16()    ? NVVM::MMATypes::f16
         : element.isF32()    ? NVVM::MMATypes::tf32
                              : NVVM::MMATypes::bf16;
}

/// An instruction for each 16 rows and 8 columns.
static Lowered lowerMmaSync(Emitter &e, MmaSyncOp op, Operands<MmaSyncOp> in) {
  Type element = op.getElement();
  NVVM::MMATypes type = mmaType(element);
  int64_t k = 256 / element.getIntOrFloatBitWidth();
  auto overflow = element.isInteger(8)
                      ? std::optional(NVVM::MMAIntOverflow::wrapped)
                      : std::nullopt;
  auto four = LLVM::LLVMStructType::getLiteral(
      op.getContext(), SmallVector<Type>(4, op.getResults()[0].getType()));
  // The words of f16 are vectors there.
  auto wordsOf = [&](ArrayRef<ValueRange> words) {
    return llvm::map_to_vector(words, [&](ValueRange word) {
      return element.isF16()
                 ? e.bitcast(VectorType::get(2, element), word.front())
                 : word.front();
    });
  };
  SmallVector<Value> a = wordsOf(in.getA()), b = wordsOf(in.getB());
  auto start = llvm::map_to_vector(in.getSums(),
                                   [](ValueRange sum) { return sum.front(); });
  SmallVector<SmallVector<Value>> sums;
  for (size_t i = 0; i < a.size(); i += 4)
    for (size_t j = 0; j < b.size(); j += 2) {
      ValueRange before = ValueRange(start).slice(sums.size(), 4);
      Value product = NVVM::MmaOp::create(
          e.b, e.loc, four, ValueRange(a).slice(i, 4),
          ValueRange(b).slice(j, 2), before, ArrayRef<int64_t>{16, 8, k},
          std::nullopt, overflow, std::array<NVVM::MMATypes, 2>{type, type},
          std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                         NVVM::MMALayout::col});
      for (int64_t n = 0; n < 4; ++n)
        sums.push_back({LLVM::ExtractValueOp::create(e.b, e.loc, product, n)});
    }
  return sums;
}

static Lowered lowerAccumulate(Emitter &e, AccumulateOp op,
                               Operands<AccumulateOp> in) {
  SmallVector<Value> elements(in.getFragment());
  return {pack(e, op.getType(), elements)};
}

void pitgpu::populateMmaPatterns(PipelinePatterns &patterns) {
  patterns.add(lowerMma, lowerMmaSync, lowerMmaWait, lowerAccumulate,
               lowerRead);
}
