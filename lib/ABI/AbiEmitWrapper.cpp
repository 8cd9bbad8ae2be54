//===- AbiEmitWrapper.cpp - Exports entry points --------------------------===//

#include "ManifestGlobal.h"
#include "pit-runtime/Abi.h"
#include "pit/ABI/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITABIEMITWRAPPER
#include "pit/ABI/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

static constexpr StringLiteral kEntries = "pit_program_entries";
static constexpr StringLiteral kPrefix = "pit_";

namespace {
struct AbiEmitWrapper : pit::impl::PitAbiEmitWrapperBase<AbiEmitWrapper> {
  using Base::Base;
  void runOnOperation() override;

  LogicalResult exportEntry(LLVM::LLVMFuncOp func, OpBuilder &builder,
                            SymbolTable &symbols);
  void emitWrapper(LLVM::LLVMFuncOp wrapper, LLVM::LLVMFuncOp func,
                   LLVM::GlobalOp manifest, const Manifest &decoded,
                   SymbolTable &symbols);
  LLVM::LLVMFuncOp declare(StringRef name, ArrayRef<Type> params,
                           OpBuilder &builder, SymbolTable &symbols);

  bool isParallel = false; ///< the module has parallel regions
};

/// Turns the views that pit_rt_enter fills in into the arguments of a lowered
/// function: per tensor the parts of its memref descriptor.
class Unpacker {
public:
  Unpacker(OpBuilder &builder, Location loc, Value views)
      : b(builder), loc(loc), views(views), pointer(views.getType()),
        i64(builder.getI64Type()) {}

  void tensor(ArrayRef<int64_t> dims) {
    Value data = next(pointer);
    args.append({data, data, constant(0)});
    SmallVector<Value> sizes, strides(dims.size());
    for (int64_t size : dims) {
      Value given = next(i64);
      sizes.push_back(size < 0 ? given : constant(size));
    }
    Value stride = dims.empty() ? Value() : constant(1);
    for (size_t dim = dims.size(); dim-- > 0;) {
      strides[dim] = stride;
      if (dim > 0)
        stride = LLVM::MulOp::create(b, loc, stride, sizes[dim]);
    }
    args.append(sizes);
    args.append(strides);
  }

  /// A scalar of the caller's, to which the view points. A bool takes a byte.
  void scalar(Type type) {
    Value data = next(pointer);
    if (!type.isInteger(1)) {
      args.push_back(LLVM::LoadOp::create(b, loc, type, data));
      return;
    }
    Type i8 = b.getI8Type();
    Value byte = LLVM::LoadOp::create(b, loc, i8, data);
    Value zero = LLVM::ConstantOp::create(b, loc, i8, 0);
    args.push_back(
        LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, byte, zero));
  }

  void index() { args.push_back(next(pointer)); }

  SmallVector<Value> args;

private:
  Value constant(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, i64, value);
  }
  Value next(Type type) {
    Value word = LLVM::GEPOp::create(b, loc, pointer, i64, views,
                                     ArrayRef<LLVM::GEPArg>{int32_t(used++)});
    return LLVM::LoadOp::create(b, loc, type, word);
  }

  OpBuilder &b;
  Location loc;
  Value views;
  Type pointer, i64;
  int64_t used = 0;
};
} // namespace

/// Words of `views` that an entry point needs.
static int64_t countViews(const Manifest &manifest) {
  int64_t words = 0;
  for (const Manifest::Arg &arg : manifest.args)
    words += 1 + arg.dims.size();
  for (const Manifest::Result &result : manifest.results)
    words += 1 + result.dims.size();
  return words;
}

/// Parameters of the lowered function: the frame, one for each index or scalar,
/// and per tensor two pointers, an offset, sizes and strides.
static unsigned countParams(const Manifest &manifest) {
  unsigned params = 1;
  for (const Manifest::Arg &arg : manifest.args)
    params += arg.kind == PIT_KIND_TENSOR ? 3 + 2 * arg.dims.size() : 1;
  for (const Manifest::Result &result : manifest.results)
    params += 3 + 2 * result.dims.size();
  return params;
}

/// The arguments of a lowered function of `type`, read from `views`.
static SmallVector<Value> unpackViews(OpBuilder &builder, Location loc,
                                      Value frame, Value views,
                                      const Manifest &manifest,
                                      LLVM::LLVMFunctionType type) {
  Unpacker unpacker(builder, loc, views);
  unpacker.args.push_back(frame);
  for (const Manifest::Arg &arg : manifest.args) {
    if (arg.kind == PIT_KIND_TENSOR)
      unpacker.tensor(arg.dims);
    else if (arg.kind == PIT_KIND_INDEX)
      unpacker.index();
    else
      unpacker.scalar(type.getParamType(unpacker.args.size()));
  }
  for (const Manifest::Result &result : manifest.results)
    unpacker.tensor(llvm::map_to_vector(result.dims, getStaticSize));
  return std::move(unpacker.args);
}

/// The name that an entry point is exported by; empty if pit-abi-name-bodies
/// has not named it.
static StringRef exportedName(LLVM::LLVMFuncOp func) {
  StringRef name = func.getName();
  return name.starts_with(kPrefix) && name.consume_back(".body") ? name
                                                                 : StringRef();
}

LLVM::LLVMFuncOp AbiEmitWrapper::declare(StringRef name, ArrayRef<Type> params,
                                         OpBuilder &builder,
                                         SymbolTable &symbols) {
  if (auto func = symbols.lookup<LLVM::LLVMFuncOp>(name))
    return func;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(getOperation().getBody());
  auto func = LLVM::LLVMFuncOp::create(
      builder, getOperation().getLoc(), name,
      LLVM::LLVMFunctionType::get(builder.getI32Type(), params));
  symbols.insert(func);
  return func;
}

/// The manifest of an entry point, checked against its parameters.
static FailureOr<Manifest> readManifest(LLVM::LLVMFuncOp func) {
  auto words = func->getAttrOfType<DenseI64ArrayAttr>(kManifestAttr);
  std::optional<Manifest> manifest;
  if (words)
    manifest = Manifest::decode(words.asArrayRef());
  if (!manifest)
    return func.emitOpError()
           << "has a " << kManifestAttr << " that is no manifest of version "
           << PIT_MANIFEST_VERSION;
  LLVM::LLVMFunctionType type = func.getFunctionType();
  if (unsigned params = countParams(*manifest);
      type.getNumParams() != params || !type.getReturnType().isInteger(32))
    return func.emitOpError()
           << "has " << type.getNumParams() << " parameters and returns "
           << type.getReturnType() << "; its manifest asks for " << params
           << " parameters and i32";
  return *manifest;
}

/// The names that an entry point is exported by: its own and its manifest's.
static FailureOr<std::pair<std::string, std::string>>
nameExports(LLVM::LLVMFuncOp func, SymbolTable &symbols) {
  std::string name = exportedName(func).str();
  if (name.empty())
    return func.emitOpError() << "has a " << kManifestAttr
                              << ", but no name like pit_f.body; run "
                                 "pit-abi-name-bodies first";
  std::string manifestName = name + "_manifest";
  for (const std::string &exported : {name, manifestName})
    if (exported == kEntries || symbols.lookup(exported))
      return func.emitOpError()
             << "is exported as '" << exported << "', but that name is taken";
  return std::pair(name, manifestName);
}

LogicalResult AbiEmitWrapper::exportEntry(LLVM::LLVMFuncOp func,
                                          OpBuilder &builder,
                                          SymbolTable &symbols) {
  FailureOr<Manifest> manifest = readManifest(func);
  if (failed(manifest))
    return failure();
  auto names = nameExports(func, symbols);
  if (failed(names))
    return failure();

  func.setLinkage(LLVM::Linkage::Internal);
  func.setVisibility(SymbolTable::Visibility::Private);
  func->removeAttr(kManifestAttr);
  func.removeArgAttr(0, kFrameAttr); // nothing below the llvm dialect knows it

  Location loc = func.getLoc();
  builder.setInsertionPoint(func);
  LLVM::GlobalOp global = emitManifest(builder, loc, names->second, *manifest);
  symbols.insert(global);
  Type pointer = LLVM::LLVMPointerType::get(&getContext());
  auto wrapper = LLVM::LLVMFuncOp::create(
      builder, loc, names->first,
      LLVM::LLVMFunctionType::get(builder.getI32Type(),
                                  SmallVector<Type>(4, pointer)));
  symbols.insert(wrapper);
  emitWrapper(wrapper, func, global, *manifest, symbols);
  return success();
}

/// int wrapper(context, args, results, stream): pit_rt_enter checks them and
/// fills `views` and the frame; the function runs on these; pit_rt_leave hands
/// over the results.
void AbiEmitWrapper::emitWrapper(LLVM::LLVMFuncOp wrapper,
                                 LLVM::LLVMFuncOp func, LLVM::GlobalOp manifest,
                                 const Manifest &decoded,
                                 SymbolTable &symbols) {
  OpBuilder builder(&getContext());
  Location loc = func.getLoc();
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(&getContext());
  LLVM::LLVMFuncOp enter =
      declare("pit_rt_enter", SmallVector<Type>(7, pointer), builder, symbols);
  LLVM::LLVMFuncOp leave =
      declare("pit_rt_leave", {pointer, i32}, builder, symbols);

  Block *entry = wrapper.addEntryBlock(builder);
  Block *run = builder.createBlock(&wrapper.getBody());
  Block *refuse = builder.createBlock(&wrapper.getBody());
  builder.setInsertionPointToEnd(entry);
  // At least one word, so that the pointer is good.
  Value count = LLVM::ConstantOp::create(
      builder, loc, i64, std::max<int64_t>(1, countViews(decoded)));
  Value views = LLVM::AllocaOp::create(builder, loc, pointer, i64, count);
  Value one = LLVM::ConstantOp::create(builder, loc, i64, 1);
  Value slot = LLVM::AllocaOp::create(builder, loc, pointer, pointer, one);
  Value constant = LLVM::AddressOfOp::create(builder, loc, manifest);
  Value status =
      LLVM::CallOp::create(builder, loc, enter,
                           {wrapper.getArgument(0), constant,
                            wrapper.getArgument(1), wrapper.getArgument(2),
                            wrapper.getArgument(3), views, slot})
          .getResult();
  Value ok = LLVM::ConstantOp::create(builder, loc, i32, PIT_OK);
  Value entered =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, status, ok);
  LLVM::CondBrOp::create(builder, loc, entered, run, refuse);

  builder.setInsertionPointToEnd(run);
  Value frame = LLVM::LoadOp::create(builder, loc, pointer, slot);
  SmallVector<Value> args =
      unpackViews(builder, loc, frame, views, decoded, func.getFunctionType());
  // Before the first parallel region: it sees to it that there are threads.
  if (isParallel)
    LLVM::CallOp::create(builder, loc,
                         declare("pit_rt_workers", {pointer}, builder, symbols),
                         ValueRange(frame));
  Value result = LLVM::CallOp::create(builder, loc, func, args).getResult();
  Value left =
      LLVM::CallOp::create(builder, loc, leave, {frame, result}).getResult();
  LLVM::ReturnOp::create(builder, loc, left);
  builder.setInsertionPointToEnd(refuse);
  LLVM::ReturnOp::create(builder, loc, status);
}

void AbiEmitWrapper::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  OpBuilder builder(&getContext());
  SmallVector<LLVM::LLVMFuncOp> entries;
  for (auto func : module.getOps<LLVM::LLVMFuncOp>()) {
    if (func->hasAttr(kManifestAttr))
      entries.push_back(func);
    else if (!func.isExternal() && func.getLinkage() == LLVM::Linkage::External)
      func.setLinkage(LLVM::Linkage::Internal);
  }

  isParallel =
      module.walk([](omp::ParallelOp) { return WalkResult::interrupt(); })
          .wasInterrupted();

  // Names end in a NUL each, the list in one more.
  std::string names;
  for (LLVM::LLVMFuncOp func : entries) {
    if (failed(exportEntry(func, builder, symbols)))
      return signalPassFailure();
    names.append(exportedName(func).drop_front(kPrefix.size())).push_back('\0');
  }
  names.push_back('\0');

  if (symbols.lookup(kEntries)) {
    module.emitOpError() << "defines '" << kEntries
                         << "' already; run this pass once";
    return signalPassFailure();
  }
  builder.setInsertionPointToEnd(module.getBody());
  // Weak: several programs may be linked into one binary, whose functions are
  // then called by their names.
  LLVM::GlobalOp::create(
      builder, module.getLoc(),
      LLVM::LLVMArrayType::get(builder.getI8Type(), names.size()),
      /*isConstant=*/true, LLVM::Linkage::Weak, kEntries,
      builder.getStringAttr(names));
}
