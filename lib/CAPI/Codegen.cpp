//===- Codegen.cpp - From the llvm dialect to an object -------------------===//

#include "Compiler.h"
#include "pit-runtime/Abi.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/IPO/MergeFunctions.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"

using namespace mlir;
using namespace mlir::pit;

/// The features of this machine, which its name alone does not tell.
static std::string getNativeFeatures() {
  llvm::SubtargetFeatures features;
  for (auto &[name, on] : llvm::sys::getHostCPUFeatures())
    features.AddFeature(name, on);
  return features.getString();
}

/// LLVM prints a warning of its own and goes on where a name is unknown.
static llvm::Error checkNames(const llvm::Target &target,
                              const llvm::Triple &triple, StringRef cpu,
                              StringRef features) {
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target.createMCSubtargetInfo(triple, "", ""));
  if (!info->isCPUStringValid(cpu))
    return fail(PIT_ERROR_INVALID_ARGUMENT,
                "cpu '" + cpu + "' is not known for " + triple.str() +
                    "; llc-" + Twine(LLVM_VERSION_MAJOR) +
                    " -mcpu=help lists them");
  SmallVector<StringRef> names;
  features.split(names, ',', -1, /*KeepEmpty=*/false);
  for (StringRef name : names) {
    StringRef bare = name.drop_front();
    bool known = llvm::any_of(
        info->getAllProcessorFeatures(),
        [&](const llvm::SubtargetFeatureKV &f) { return bare == f.Key; });
    if ((name[0] != '+' && name[0] != '-') || !known)
      return fail(PIT_ERROR_INVALID_ARGUMENT,
                  "feature '" + name + "' is not known for " + triple.str() +
                      "; it must be + or - and a name of llc-" +
                      Twine(LLVM_VERSION_MAJOR) + " -mattr=help");
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
pit::createTargetMachine(const pit_compile_options &options) {
  // A program for GPUs has a part that runs on the host.
  if (StringRef(options.target) != "cpu" && !isForGpu(options))
    return fail(PIT_ERROR_UNSUPPORTED,
                "target '" + Twine(options.target) +
                    "' is not supported; it must be cpu or cuda");
  if (options.opt_level < 0 || options.opt_level > 3)
    return fail(PIT_ERROR_INVALID_ARGUMENT, "the optimization level is " +
                                                Twine(options.opt_level) +
                                                "; it must be 0, 1, 2 or 3");
  // Both may be called again, from several threads.
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();

  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return fail(PIT_ERROR_UNSUPPORTED, message);
  bool native = StringRef(options.cpu) == "native";
  std::string cpu = native ? llvm::sys::getHostCPUName().str() : options.cpu;
  if (llvm::Error error = checkNames(*target, triple, cpu, options.features))
    return std::move(error);
  std::string features = native ? getNativeFeatures() : "";
  if (options.features[0])
    features += (features.empty() ? "" : ",") + std::string(options.features);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu, features, llvm::TargetOptions(), llvm::Reloc::PIC_,
      std::nullopt, static_cast<llvm::CodeGenOptLevel>(options.opt_level)));
  if (!machine)
    return fail(PIT_ERROR_UNSUPPORTED,
                "LLVM cannot generate code for " + triple.str());
  return machine;
}

CpuTarget pit::getHostTarget(const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo &info = *machine.getMCSubtargetInfo();
  if (!machine.getTargetTriple().isX86())
    return *findCpuTarget(128);
  if (!info.checkFeatures("+avx512f"))
    return *findCpuTarget(info.checkFeatures("+avx") ? 256 : 128);
  // LLVM's code for tile registers is wrong if it does not optimize.
  bool optimizes = machine.getOptLevel() != llvm::CodeGenOptLevel::None;
  return *findCpuTarget(
      512, optimizes && info.checkFeatures("+amx-bf16,+amx-int8,+avx512bw"));
}

/// Lists what the program needs of the CPU, for who loads it. Weak as the list
/// of entries is.
static void listFeatures(llvm::Module &module,
                         const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo &info = *machine.getMCSubtargetInfo();
  std::string names;
  for (const llvm::SubtargetFeatureKV &feature : info.getAllProcessorFeatures())
    if (info.getFeatureBits().test(feature.Value) &&
        pit_rt_lists_cpu_feature(feature.Key))
      names.append(feature.Key).push_back('\0');
  // The string's own NUL ends the list.
  auto *list = llvm::ConstantDataArray::getString(module.getContext(), names);
  new llvm::GlobalVariable(module, list->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::WeakAnyLinkage, list,
                           "pit_program_features");
}

/// The only element that `store`, a masked store, is known to write, if there
/// is one.
static std::optional<unsigned> getSingleElement(llvm::IntrinsicInst *store) {
  auto *mask = dyn_cast<llvm::Constant>(store->getArgOperand(2));
  auto *type =
      dyn_cast<llvm::FixedVectorType>(store->getArgOperand(2)->getType());
  if (!mask || !type)
    return std::nullopt;
  std::optional<unsigned> single;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    llvm::Constant *lane = mask->getAggregateElement(i);
    if (lane && lane->isNullValue())
      continue;
    if (!lane || !lane->isOneValue() || single)
      return std::nullopt;
    single = i;
  }
  return single;
}

/// Makes masked stores of a single element plain stores. LLVM 22 combines them
/// with a truncation before them on x86, and then writes the element as wide as
/// it was before (llvm/llvm-project issue 179489).
static void storeSingleElements(llvm::Module &module) {
  SmallVector<std::pair<llvm::IntrinsicInst *, unsigned>> stores;
  for (llvm::Function &function : module)
    for (llvm::Instruction &op : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::IntrinsicInst>(&op);
          call && call->getIntrinsicID() == llvm::Intrinsic::masked_store)
        if (std::optional<unsigned> single = getSingleElement(call))
          stores.push_back({call, *single});
  for (auto [store, i] : stores) {
    llvm::IRBuilder<> builder(store);
    llvm::Value *value =
        builder.CreateExtractElement(store->getArgOperand(0), uint64_t(i));
    llvm::Value *pointer = builder.CreateConstGEP1_64(
        value->getType(), store->getArgOperand(1), i);
    uint64_t offset =
        i * module.getDataLayout().getTypeStoreSize(value->getType());
    builder.CreateAlignedStore(
        value, pointer,
        llvm::commonAlignment(store->getParamAlign(1).valueOrOne(), offset));
    store->eraseFromParent();
  }
}

/// Runs AddressSanitizer's pass after the others if functions ask for it.
static void addSanitizer(llvm::PassBuilder &builder,
                         const llvm::Module &module) {
  if (llvm::none_of(module, [](const llvm::Function &function) {
        return function.hasFnAttribute(llvm::Attribute::SanitizeAddress);
      }))
    return;
  builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager &passes,
                                             llvm::OptimizationLevel,
                                             llvm::ThinOrFullLTOPhase) {
    // Without what only a linker knows: a JIT reads the objects as well.
    passes.addPass(llvm::AddressSanitizerPass(llvm::AddressSanitizerOptions(),
                                              /*UseGlobalGC=*/false,
                                              /*UseOdrIndicator=*/false));
  });
}

/// Lets the program call the runtime where it would call LLVM's OpenMP library:
/// the runtime knows whose threads there are in the process (Core/Team.c).
static llvm::Error callRuntimeForOpenMP(llvm::Module &module) {
  static constexpr StringLiteral known[] = {
      "__kmpc_fork_call",          "__kmpc_fork_call_if",
      "__kmpc_global_thread_num",  "__kmpc_barrier",
      "__kmpc_for_static_init_8u", "__kmpc_for_static_fini",
      "__kmpc_dispatch_init_8u",   "__kmpc_dispatch_next_8u",
      "omp_get_thread_num"};
  for (llvm::Function &function : module) {
    StringRef name = function.getName();
    if (!function.isDeclaration() || function.use_empty() ||
        (!name.starts_with("__kmpc_") && !name.starts_with("omp_")))
      continue;
    if (!llvm::is_contained(known, name))
      return fail(PIT_ERROR_UNSUPPORTED,
                  "an op of the omp dialect calls '" + name +
                      "', which the runtime does not have; it has parallel "
                      "regions with loops over 64-bit integers");
    if (!name.consume_front("__kmpc_"))
      name.consume_front("omp_");
    function.setName("pit_rt_omp_" + name.str());
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<llvm::Module>>
pit::translate(ModuleOp module, llvm::LLVMContext &context,
               llvm::TargetMachine &machine,
               const pit_compile_options &options) {
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(module, context);
  if (!ir)
    return failSilently(PIT_ERROR_UNSUPPORTED);
  ir->setDataLayout(machine.createDataLayout());
  ir->setTargetTriple(machine.getTargetTriple());
  listFeatures(*ir, machine);
  unsigned width = getHostTarget(machine).vectorBits;
  for (llvm::Function &function : *ir) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    // Otherwise LLVM keeps to 256 bits on some machines with AVX-512.
    function.addFnAttr("prefer-vector-width", llvm::utostr(width));
  }

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  addSanitizer(builder, *ir);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  static const llvm::OptimizationLevel levels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::OptimizationLevel level = levels[options.opt_level];
  llvm::ModulePassManager passes;
  // Programs repeat their layers: parallel loops that are the same become one
  // function before it takes time to optimize them.
  passes.addPass(llvm::MergeFunctionsPass());
  passes.addPass(level == llvm::OptimizationLevel::O0
                     ? builder.buildO0DefaultPipeline(level)
                     : builder.buildPerModuleDefaultPipeline(level));
  passes.run(*ir, modules);
  storeSingleElements(*ir);
  if (llvm::Error error = callRuntimeForOpenMP(*ir))
    return std::move(error);
  return ir;
}

llvm::Expected<SmallVector<char, 0>>
pit::emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  SmallVector<char, 0> object;
  llvm::raw_svector_ostream os(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, os, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return fail(PIT_ERROR_UNSUPPORTED, "LLVM cannot write object files for " +
                                           machine.getTargetTriple().str());
  passes.run(module);
  return object;
}
