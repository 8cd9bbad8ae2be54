//===- TranslateKernels.cpp - From the nvvm dialect to PTX ----------------===//

#include "Libdevice.h"

#include "pit/Codegen/GPU/Host/Passes.h"

#include "pit/Dialect/Pit/IR/DiscardableAttributes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVM/ModuleToObject.h"
#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITTRANSLATEKERNELS
#include "pit/Codegen/GPU/Host/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;

namespace {

/// Leaves out straight-line strength reduction in kernels with many of its
/// candidates, each of which it compares with all others: LLVM 22 took up to
/// nine tenths of its time for that, and it saved two or three of 5,000
/// instructions.
class LongKernelGate : public llvm::OptPassGate {
public:
  static constexpr int64_t kMostCandidates = 500;

  explicit LongKernelGate(const llvm::Module &module) {
    auto isCandidate = [](const llvm::Instruction &op) {
      return op.getOpcode() == llvm::Instruction::Add ||
             op.getOpcode() == llvm::Instruction::Mul ||
             op.getOpcode() == llvm::Instruction::GetElementPtr;
    };
    for (const llvm::Function &function : module)
      if (llvm::count_if(llvm::instructions(function), isCandidate) >
          kMostCandidates)
        longKernels.insert(("function (" + function.getName() + ")").str());
  }

  bool isEnabled() const override { return !longKernels.empty(); }
  bool shouldRunPass(StringRef pass, StringRef unit) const override {
    return pass != "slsr" || !longKernels.contains(unit);
  }

private:
  llvm::StringSet<> longKernels;
};

/// Whether a kernel has products that run on while others begin (wgmma).
bool hasAsyncProducts(llvm::Function &function) {
  return llvm::any_of(llvm::instructions(function), [](llvm::Instruction &op) {
    auto *call = dyn_cast<llvm::CallInst>(&op);
    if (!call)
      return false;
    if (auto *code = dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
      return code->getAsmString().find("wgmma.") != StringRef::npos;
    llvm::Function *callee = call->getCalledFunction();
    return callee && callee->getName().starts_with("llvm.nvvm.wgmma.");
  });
}

/// Lets LLVM generate code for kernels without optimizing, in a module of which
/// it optimizes the code. Not where products run on: their registers may not be
/// read before they have ended, and code that is not optimized copies them.
void leaveAsTheyAre(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration() || hasAsyncProducts(function) ||
        function.hasFnAttribute(llvm::Attribute::AlwaysInline))
      continue;
    function.addFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::OptimizeNone);
  }
}

/// One module on its way. The steps that use MLIR's context, which may be of
/// one thread, are apart.
class Translation : public LLVM::ModuleToObject {
public:
  Translation(gpu::GPUModuleOp module, NVVM::NVVMTargetAttr target)
      : ModuleToObject(*module, target.getTriple(), target.getChip(),
                       target.getFeatures(), target.getO()),
        target(target) {}

  /// To LLVM IR.
  LogicalResult translate() {
    ir = translateToLLVMIR(context);
    if (!ir)
      return module.emitError("cannot be translated to LLVM IR");
    setDataLayoutAndTriple(*ir);
    machine = getOrCreateTargetMachine();
    return success(succeeded(machine) && succeeded(linkFunctions()));
  }

  /// To PTX, on any thread.
  void emit() {
    if (failed(optimizeModule(*ir, target.getO())))
      return;
    if (target.getO() == 0) {
      leaveAsTheyAre(*ir);
      (*machine)->setOptLevel(llvm::CodeGenOptLevel::Less);
    }
    LongKernelGate gate(*ir);
    context.setOptPassGate(gate);
    FailureOr<SmallString<0>> text = translateModuleToISA(
        *ir, **machine, [] { return InFlightDiagnostic(); });
    context.setOptPassGate(llvm::getGlobalPassGate());
    if (succeeded(text))
      ptx = text->str().str();
  }

  /// The binary in the module's place.
  LogicalResult replace() {
    if (ptx.empty())
      return module.emitError("cannot be translated to PTX");
    auto kernels = cast<gpu::GPUModuleOp>(module);
    OpBuilder builder(kernels);
    auto object = gpu::ObjectAttr::get(
        builder.getContext(), target, gpu::CompilationTarget::Assembly,
        builder.getStringAttr(ptx),
        builder.getDictionaryAttr(builder.getNamedAttr(
            "O", builder.getI32IntegerAttr(target.getO()))),
        /*kernels=*/nullptr);
    gpu::BinaryOp::create(builder, kernels.getLoc(), kernels.getName(),
                          /*offloadingHandler=*/nullptr,
                          builder.getArrayAttr(object));
    kernels.erase();
    return success();
  }

private:
  /// Links what the kernels call of libdevice, if they call it.
  LogicalResult linkFunctions() {
    SmallVector<std::string> names;
    for (const llvm::Function &function : *ir)
      if (function.isDeclaration() &&
          function.getName().starts_with(pit::cuda::kLibdevicePrefix))
        names.push_back(function.getName().str());
    if (names.empty())
      return success();
    llvm::Expected<std::string> path = pit::cuda::findLibdevice();
    if (!path)
      return refuse(names.front(), llvm::toString(path.takeError()));
    llvm::StringSet<> own;
    for (const llvm::Function &function : *ir)
      if (!function.isDeclaration())
        own.insert(function.getName());
    SmallVector<std::unique_ptr<llvm::Module>> libraries;
    libraries.push_back(loadBitcodeFile(context, *path));
    if (!libraries.front() || failed(linkFiles(*ir, std::move(libraries))))
      return refuse(names.front(), "'" + *path + "' cannot be linked");
    for (const std::string &name : names)
      if (ir->getFunction(name)->isDeclaration())
        return refuse(name, "'" + *path + "' has no such function");
    // A call in a kernel takes registers of all of it.
    for (llvm::Function &function : *ir)
      if (!function.isDeclaration() && !own.contains(function.getName())) {
        function.removeFnAttr(llvm::Attribute::NoInline);
        function.addFnAttr(llvm::Attribute::AlwaysInline);
      }
    return success();
  }

  /// An error where the kernels call a function first.
  LogicalResult refuse(StringRef name, const Twine &why) {
    Location loc = module.getLoc();
    module.walk([&](LLVM::CallOp call) {
      if (call.getCallee() != name)
        return WalkResult::advance();
      loc = call.getLoc();
      return WalkResult::interrupt();
    });
    return emitError(loc) << "a kernel needs the function '" << name
                          << "' of libdevice: " << why << " [U6]";
  }

  NVVM::NVVMTargetAttr target;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir;
  FailureOr<llvm::TargetMachine *> machine = failure();
  std::string ptx;
};

struct TranslateKernels : pit::impl::PitTranslateKernelsBase<TranslateKernels> {
  using Base::Base;

  void runOnOperation() override {
    NVVM::SerializeGPUModuleBase::init();
    SmallVector<std::unique_ptr<Translation>> translations;
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>()) {
      if (own && !module->hasAttr(pit::kKernelsAttrName))
        continue;
      ArrayAttr targets = module.getTargetsAttr();
      auto target = targets && targets.size() == 1
                        ? dyn_cast<NVVM::NVVMTargetAttr>(targets[0])
                        : NVVM::NVVMTargetAttr();
      if (!target) {
        module.emitOpError("needs one target, of the nvvm dialect");
        return signalPassFailure();
      }
      translations.push_back(std::make_unique<Translation>(module, target));
      if (failed(translations.back()->translate()))
        return signalPassFailure();
    }
    if (translations.size() == 1) {
      translations.front()->emit();
    } else {
      llvm::DefaultThreadPool threads;
      for (auto &translation : translations)
        threads.async([&translation] { translation->emit(); });
      threads.wait();
    }
    for (auto &translation : translations)
      if (failed(translation->replace()))
        return signalPassFailure();
  }
};

} // namespace
