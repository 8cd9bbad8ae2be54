//===- AssembleKernels.cpp - From PTX to a cubin --------------------------===//

#include "Images.h"

#include "pit/Codegen/GPU/Host/Passes.h"
#include "pit/Target/Target.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITASSEMBLEKERNELS
#include "pit/Codegen/GPU/Host/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using llvm::Twine;
using pit::DeviceCode;

static llvm::Error fail(const Twine &message) {
  return llvm::createStringError(message);
}

/// The assembler that $PIT_PTXAS names; otherwise that of the PATH, or from
/// where NVIDIA's own packages put it.
static llvm::Expected<std::string> findPtxas() {
  if (const char *given = std::getenv("PIT_PTXAS"); given && *given) {
    if (llvm::sys::fs::can_execute(given))
      return given;
    return fail("there is no ptxas at $PIT_PTXAS, '" + Twine(given) + "'");
  }
  static const char place[] = "/usr/local/cuda/bin";
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas");
  if (!found)
    found = llvm::sys::findProgramByName("ptxas", {place});
  if (found)
    return *found;
  return fail("there is no ptxas of the CUDA toolkit in the PATH or in " +
              Twine(place));
}

/// The text of a file of ptxas, as one line.
static std::string readLine(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  std::string text = file ? (*file)->getBuffer().trim().str() : "";
  llvm::replace(text, '\n', ' ');
  return text;
}

/// Assembles PTX; `said` receives what ptxas has to say of what it made.
static llvm::Expected<std::string> assemble(StringRef ptx, StringRef chip,
                                            std::string &said) {
  llvm::Expected<std::string> ptxas = findPtxas();
  if (!ptxas)
    return ptxas.takeError();
  SmallString<128> from, to, log;
  llvm::scope_exit remove([&] {
    for (StringRef path : {from, to, log})
      if (!path.empty())
        llvm::sys::fs::remove(path);
  });
  int descriptor = -1;
  if (llvm::sys::fs::createTemporaryFile("pit", "ptx", descriptor, from) ||
      llvm::sys::fs::createTemporaryFile("pit", "cubin", to) ||
      llvm::sys::fs::createTemporaryFile("pit", "log", log))
    return fail("cannot create a temporary file");
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << ptx;
  os.close();
  if (os.has_error()) {
    os.clear_error();
    return fail("cannot write '" + from + "'");
  }
  std::string message;
  std::optional<StringRef> redirects[] = {std::nullopt, log, log};
  std::string arch = ("-arch=" + chip).str();
  auto run = [&](ArrayRef<StringRef> more) {
    SmallVector<StringRef> arguments = {*ptxas, arch, from, "-o", to};
    llvm::append_range(arguments, more);
    int code = llvm::sys::ExecuteAndWait(*ptxas, arguments, std::nullopt,
                                         redirects, /*SecondsToWait=*/0,
                                         /*MemoryLimit=*/0, &message);
    said = readLine(log);
    return code;
  };
  // Kernels of one image are assembled at the same time. ptxas before CUDA 12
  // has no such option.
  int code = run(StringRef("--split-compile=0"));
  if (code != 0 && StringRef(said).contains("split-compile")) {
    llvm::sys::fs::remove(log); // which is not cut off where it is written anew
    code = run({});
  }
  if (code != 0)
    return fail("ptxas for " + chip + " ended with " + Twine(code) + ": " +
                message + said);
  auto file = llvm::MemoryBuffer::getFile(to);
  if (!file)
    return fail("cannot read the cubin: " + file.getError().message());
  return (*file)->getBuffer().str();
}

namespace {
struct AssembleKernelsPass
    : pit::impl::PitAssembleKernelsBase<AssembleKernelsPass> {
  using PitAssembleKernelsBase::PitAssembleKernelsBase;

  void runOnOperation() override {
    if (deviceCode == DeviceCode::PTX)
      return;
    for (auto binary : getOperation().getOps<gpu::BinaryOp>()) {
      if (own && binary.getName() != pit::cuda::kKernels &&
          binary.getName() != pit::cuda::kFallbackKernels)
        continue;
      SmallVector<Attribute> objects;
      for (Attribute object : binary.getObjects()) {
        FailureOr<gpu::ObjectAttr> made =
            convert(binary, cast<gpu::ObjectAttr>(object));
        if (failed(made))
          return signalPassFailure();
        objects.push_back(*made);
      }
      binary.setObjectsAttr(ArrayAttr::get(&getContext(), objects));
    }
  }

  FailureOr<gpu::ObjectAttr> convert(gpu::BinaryOp binary,
                                     gpu::ObjectAttr object) {
    auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget());
    if (!target || object.getFormat() != gpu::CompilationTarget::Assembly)
      return object;
    StringRef chip = target.getChip();
    bool chosen = deviceCode == DeviceCode::Cubin;
    std::optional<pit::GpuTarget> known = pit::findGpuTarget(chip);
    bool isFallback = binary.getName() == pit::cuda::kFallbackKernels;
    if (!chosen && (isFallback || !known || !known->isExact))
      return object;
    StringRef ptx = object.getObject().getValue().rtrim('\0');
    std::string said;
    llvm::Expected<std::string> cubin = assemble(ptx, chip, said);
    if (cubin) {
      if (!said.empty())
        binary.emitWarning() << "ptxas for " << chip << ": " << said;
      return gpu::ObjectAttr::get(&getContext(), target,
                                  gpu::CompilationTarget::Binary,
                                  StringAttr::get(&getContext(), *cubin),
                                  object.getProperties(), object.getKernels());
    }
    std::string why = llvm::toString(cubin.takeError());
    if (chosen) {
      binary.emitError() << "cannot make a cubin: " << why;
      return failure();
    }
    // The driver may still know what this ptxas does not.
    binary.emitWarning() << "the kernels for " << chip
                         << " stay PTX, which the driver assembles when they "
                            "are loaded: "
                         << why;
    return object;
  }
};
} // namespace
