//===- Wgmma.cpp - Hopper's tensor cores ----------------------------------===//

#include "Wgmma.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

int64_t cuda::wgmmaDescriptor(bool kIsCol, int64_t blockBytes,
                              int64_t lineBytes) {
  // PTX, "Matrix descriptor": in units of 16 bytes, the distance of blocks
  // (without meaning where k runs along lines: there is one block) and of
  // groups of 8 lines; then the kind of swizzle: 1, 2 and 3 for 128, 64 and 32
  // bytes.
  int64_t leading = (kIsCol ? 16 : blockBytes) >> 4;
  int64_t stride = kSwizzleLines * lineBytes >> 4;
  uint64_t swizzle = 1 + llvm::Log2_64(kLineBytes / lineBytes);
  return leading << 16 | stride << 32 | static_cast<int64_t>(swizzle << 62);
}

Value cuda::describeInShared(Emitter &e, Value address, int64_t descriptor) {
  Value low = arith::ExtUIOp::create(
      e.b, e.loc, e.b.getI64Type(),
      arith::ShRUIOp::create(e.b, e.loc, e.bitAnd(address, 0x3FFFF), e.i32(4)));
  return arith::OrIOp::create(e.b, e.loc, low,
                              e.constant(e.b.getI64IntegerAttr(descriptor)));
}

Value cuda::advanceDescriptor(Emitter &e, Value descriptor, int64_t bytes) {
  if (bytes == 0)
    return descriptor;
  return arith::AddIOp::create(e.b, e.loc, descriptor,
                               e.constant(e.b.getI64IntegerAttr(bytes >> 4)));
}

Value cuda::startWgmma(Emitter &e, const Wgmma &wgmma, Value a, Value b,
                       Value sums) {
  MLIRContext *context = e.b.getContext();
  auto types = [&](NVVM::WGMMATypes type) {
    return NVVM::WGMMATypesAttr::get(context, type);
  };
  auto one = NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one);
  auto scale =
      wgmma.adds ? NVVM::WGMMAScaleOut::one : NVVM::WGMMAScaleOut::zero;
  auto layout = [&](bool isRow) {
    return NVVM::MMALayoutAttr::get(context, isRow ? NVVM::MMALayout::row
                                                   : NVVM::MMALayout::col);
  };
  return NVVM::WgmmaMmaAsyncOp::create(
      e.b, e.loc, sums.getType(), sums, a, b,
      NVVM::MMAShapeAttr::get(context, kWgmmaRows, wgmma.n, wgmma.k),
      types(wgmma.a), types(wgmma.b), types(NVVM::WGMMATypes::f32),
      NVVM::WGMMAScaleOutAttr::get(context, scale), one, one,
      layout(wgmma.kIsColOfA), layout(!wgmma.kIsColOfB),
      NVVM::MMAIntOverflowAttr());
}

/// Runs instructions on `count` sums (f32 or i32), which begin as `sums` unless
/// these are empty and of f32; `others` are what the instructions only read.
/// Gives the sums.
static SmallVector<Value> runAssembly(Emitter &e, const std::string &text,
                                      size_t count, ArrayRef<Value> sums,
                                      ArrayRef<Value> others) {
  Type type = sums.empty() ? e.b.getF32Type() : sums.front().getType();
  std::string letter = type.isF32() ? "f" : "r";
  // Written before all is read: else what is only read, and has the value with
  // which a sum begins, as a zero may, would share that sum's register.
  SmallVector<std::string> constraints(count, "=&" + letter);
  for (size_t i = 0; i < sums.size(); ++i)
    constraints.push_back(std::to_string(i));
  for (Value value : others)
    constraints.push_back(value.getType().isInteger(64) ? "l" : "r");
  SmallVector<Value> operands(sums);
  llvm::append_range(operands, others);
  // Without sums it has no result: LLVM takes no empty struct there.
  SmallVector<Type> types;
  if (count)
    types.push_back(LLVM::LLVMStructType::getLiteral(
        e.b.getContext(), SmallVector<Type>(count, type)));
  auto assembly = LLVM::InlineAsmOp::create(
      e.b, e.loc, types, operands, text, llvm::join(constraints, ","),
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  SmallVector<Value> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(LLVM::ExtractValueOp::create(
        e.b, e.loc, assembly.getResult(0), static_cast<int64_t>(i)));
  return values;
}

SmallVector<Value> cuda::startWgmmas(Emitter &e, const Wgmma &wgmma,
                                     ArrayRef<Value> a, ArrayRef<Value> b,
                                     ArrayRef<Value> sums, size_t count) {
  // All in one piece: copies of registers that LLVM puts between two of them
  // would read sums that are not there yet. NVVM's op takes both factors from
  // shared memory only, too.
  size_t perProduct = a.size() / b.size();
  size_t firstA = count + sums.size(), firstB = firstA + a.size();
  auto operand = [](size_t number) { return "$" + std::to_string(number); };
  auto list = [&](size_t first, size_t many) {
    std::string text = "{";
    for (size_t i = 0; i < many; ++i)
      text += (i ? ", " : "") + operand(first + i);
    return text + "}";
  };
  std::string name = "wgmma.mma_async.sync.aligned.m64n" +
                     std::to_string(wgmma.n) + "k" + std::to_string(wgmma.k) +
                     ".f32." + NVVM::stringifyWGMMATypes(wgmma.a).str() + "." +
                     NVVM::stringifyWGMMATypes(wgmma.b).str();
  std::string text = "{ .reg .pred first, adds; setp.ne.b32 first, " +
                     std::to_string(sums.empty() ? 0 : 1) +
                     ", 0; setp.ne.b32 adds, 1, 0; wgmma.fence.sync.aligned; ";
  for (size_t k = 0; k < b.size(); ++k) {
    size_t at = firstA + perProduct * k;
    text += name + " " + list(0, count) + ", " +
            (perProduct > 1 ? list(at, perProduct) : operand(at)) + ", " +
            operand(firstB + k) + ", " + (k ? "adds" : "first") + ", 1, 1, ";
    if (perProduct == 1)
      text += wgmma.kIsColOfA ? "0, " : "1, ";
    text += wgmma.kIsColOfB ? "0; " : "1; ";
  }
  text += "wgmma.commit_group.sync.aligned; }";
  SmallVector<Value> factors(a);
  llvm::append_range(factors, b);
  return runAssembly(e, text, count, sums, factors);
}

SmallVector<Value> cuda::waitForWgmmas(Emitter &e, ArrayRef<Value> registers,
                                       int64_t later, ArrayRef<Value> held) {
  std::string text =
      "wgmma.wait_group.sync.aligned " + std::to_string(later) + ";";
  return runAssembly(e, text, registers.size(), registers, held);
}

SmallVector<Value> cuda::waitForTensorLoads(Emitter &e,
                                            ArrayRef<Value> registers) {
  return runAssembly(e, "tcgen05.wait::ld.sync.aligned;", registers.size(),
                     registers, {});
}

void cuda::fenceAsyncProxy(Emitter &e) {
  NVVM::FenceProxyOp::create(
      e.b, e.loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

Value cuda::fromLane(Emitter &e, Value value, Value lane) {
  return NVVM::ShflOp::create(e.b, e.loc, e.b.getI32Type(), e.i32(-1), value,
                              lane, e.i32(31), NVVM::ShflKind::idx, UnitAttr());
}
