//===- Lowering.cpp - From source text to the llvm dialect ----------------===//

#include "Compiler.h"

#include "pit/Analysis/Upstream.h"
#include "pit/Frontend/Passes.h"
#include "pit/Pipelines/RegisterAll.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/SourceMgr.h"
#include <mutex>

using namespace mlir;
using namespace mlir::pit;

void pit::addCompilerDialects(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  pit::registerAllDialects(registry);
  pit::registerAllExtensions(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerOpenMPDialectTranslation(registry);
  // The translations that kernels need.
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  NVVM::registerNVVMTargetInterfaceExternalModels(registry);
}

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  pit::addCompilerDialects(registry);
  return registry;
}

/// The place in a file that a location is about, if any.
static FileLineColLoc findFileLoc(Location loc) {
  FileLineColLoc found;
  loc->walk([&](Location part) {
    found = dyn_cast<FileLineColLoc>(part);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

static StringRef getSeverityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("unknown severity");
}

static void print(const Diagnostic &diagnostic, std::string &text) {
  if (FileLineColLoc loc = findFileLoc(diagnostic.getLocation()))
    text += (loc.getFilename().getValue() + ":" + Twine(loc.getLine()) + ":" +
             Twine(loc.getColumn()) + ": ")
                .str();
  text += (getSeverityName(diagnostic.getSeverity()) + ": ").str();
  // One line each, whatever attributes were printed into it.
  std::string message = diagnostic.str();
  std::replace(message.begin(), message.end(), '\n', ' ');
  text += message + "\n";
}

pit_compiler::pit_compiler()
    : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
  context.printOpOnDiagnostic(false);
  context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Remark && !remarks)
      return;
    print(diagnostic, diagnostics);
    for (Diagnostic &note : diagnostic.getNotes())
      print(note, diagnostics);
  });
}

void pit::registerCompilerPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerAllPasses();
    pit::registerAllPasses();
  });
}

llvm::Expected<OwningOpRef<ModuleOp>> pit::parse(pit_compiler &compiler,
                                                 const SourceText &source) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(source.text, source.name), SMLoc());
  // MLIR's verifiers run behind a look at what they do not take.
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(
      sources, ParserConfig(&compiler.context, /*verifyAfterParse=*/false));
  if (!module)
    return failSilently(PIT_ERROR_INVALID_ARGUMENT);
  WalkResult looked = module->walk(
      [](Operation *op) { return WalkResult(checkVerifiable(op)); });
  if (looked.wasInterrupted() || failed(verify(*module)))
    return failSilently(PIT_ERROR_INVALID_ARGUMENT);
  // So that all functions are found, whatever is made of them.
  PassManager passes(&compiler.context, ModuleOp::getOperationName());
  if (compiler.context.getLoadedDialect<transform::TransformDialect>()) {
    registerCompilerPasses();
    passes.addPass(createPitRunSchedule());
  }
  passes.addPass(createPitFlattenModules());
  if (failed(passes.run(*module)))
    return failSilently(PIT_ERROR_UNSUPPORTED);
  return module;
}

llvm::Error pit::selectEntry(ModuleOp module, StringRef name) {
  if (name.empty())
    return llvm::Error::success();
  std::string known;
  bool found = false;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || !func.isPublic())
      continue;
    if (func.getName() == name) {
      found = true;
      continue;
    }
    known += (known.empty() ? "" : ", ") + func.getName().str();
    func.setPrivate();
  }
  if (found)
    return llvm::Error::success();
  return fail(PIT_ERROR_NOT_FOUND,
              "no public function '" + name + "'; there " +
                  (known.empty() ? "is none" : "are: " + known));
}

bool pit::isForGpu(const pit_compile_options &options) {
  return llvm::is_contained({"cuda", "nvptx"}, StringRef(options.target));
}

std::optional<DeviceCode> pit::parseDeviceCode(StringRef name) {
  return llvm::StringSwitch<std::optional<DeviceCode>>(name)
      .Case("ptx", DeviceCode::PTX)
      .Case("cubin", DeviceCode::Cubin)
      .Case("auto", DeviceCode::Auto)
      .Default(std::nullopt);
}

/// Facts about zeros, whichever machine the program is for.
template <typename Options>
static void setZeroFacts(Options &to, const pit_compile_options &from) {
  SmallVector<std::string> samples;
  for (const char *const *at = from.samples; at && *at; ++at)
    samples.push_back(*at);
  to.samples = ArrayRef<std::string>(samples);
  to.profile = from.profile;
}

static void setDefaults(PitToCpuOptions &to, const pit_compile_options &from,
                        const CpuTarget &host) {
  setZeroFacts(to, from);
  to.vectorWidth = host.vectorBits;
  to.amx = host.amx;
  to.openmp = from.openmp != 0;
  to.explain = from.explain != 0;
}

static void setDefaults(PitToCudaOptions &to, const pit_compile_options &from,
                        const CpuTarget &) {
  setZeroFacts(to, from);
  to.chip = from.chip;
  to.explain = from.explain != 0;
  to.optLevel = from.opt_level;
  // Its name was checked.
  to.deviceCode = *parseDeviceCode(from.device_code);
}

static llvm::Error check(const PitToCpuOptions &) {
  return llvm::Error::success();
}

static llvm::Error check(const PitToCudaOptions &options) {
  if (findGpuTarget(options.chip))
    return llvm::Error::success();
  return fail(PIT_ERROR_INVALID_ARGUMENT, describeUnknownChip(options.chip));
}

/// Runs a pipeline with what the C options and the machine say, over which go
/// the options that are given as text.
template <typename Options>
static llvm::Error run(ModuleOp module, const pit_compile_options &options,
                       const CpuTarget &host, StringRef name,
                       void (*build)(OpPassManager &, const Options &)) {
  Options pipeline;
  setDefaults(pipeline, options, host);
  std::string message;
  llvm::raw_string_ostream os(message);
  if (failed(pipeline.parseFromString(options.pipeline, os))) {
    StringRef line = StringRef(message).trim();
    if (line.empty()) // LLVM has said on stderr which
      line = "a value is wrong";
    return fail(PIT_ERROR_INVALID_ARGUMENT,
                "options of " + name + " \"" + Twine(options.pipeline) +
                    "\": " + line.take_front(line.find('\n')));
  }
  if (llvm::Error error = check(pipeline))
    return error;
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  // The pipelines verify where a stage ends (pit-verify-stage).
  passes.enableVerifier(false);
  build(passes, pipeline);
  if (failed(passes.run(module)))
    return failSilently(PIT_ERROR_UNSUPPORTED);
  return llvm::Error::success();
}

llvm::Error pit::lowerToTiles(ModuleOp module,
                              const pit_compile_options &options,
                              const CpuTarget &host) {
  if (isForGpu(options))
    return run<PitToCudaOptions>(module, options, host, "pit-to-cuda",
                                 buildPitToCudaTiles);
  return run<PitToCpuOptions>(module, options, host, "pit-to-cpu",
                              buildPitToTiles);
}

llvm::Error pit::lowerToLLVM(ModuleOp module,
                             const pit_compile_options &options,
                             const CpuTarget &host) {
  if (isForGpu(options))
    return run<PitToCudaOptions>(module, options, host, "pit-to-cuda",
                                 buildPitToCuda);
  return run<PitToCpuOptions>(module, options, host, "pit-to-cpu",
                              buildPitToCpu);
}

StringRef pit::getDeviceCode(ModuleOp module) {
  auto image = module.lookupSymbol<LLVM::GlobalOp>("pit_image_data");
  if (!image)
    return "";
  return cast<StringAttr>(image.getValueAttr()).getValue();
}
