//===- Ptx.cpp - Device code as an artifact -------------------------------===//

#include "Compiler.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace mlir::pit;

StringRef pit::getPtx(ModuleOp module) {
  auto data = module.lookupSymbol<LLVM::GlobalOp>("pit_image_data");
  if (!data)
    return "";
  return cast<StringAttr>(data.getValueAttr()).getValue().rtrim('\0');
}

/// Runs ptxas; `log` receives what it has to say.
static llvm::Error runPtxas(StringRef chip, StringRef from, StringRef to,
                            StringRef log) {
  // Where NVIDIA's own packages put it, if it is not in the PATH.
  llvm::ErrorOr<std::string> ptxas = llvm::sys::findProgramByName("ptxas");
  if (!ptxas)
    ptxas = llvm::sys::findProgramByName("ptxas", {"/usr/local/cuda/bin"});
  if (!ptxas)
    return fail(PIT_ERROR_NOT_FOUND,
                "a cubin needs ptxas of the CUDA toolkit in the PATH");
  std::string arch = ("-arch=" + chip).str();
  std::string message;
  std::optional<StringRef> redirects[] = {std::nullopt, log, log};
  int code = llvm::sys::ExecuteAndWait(*ptxas, {*ptxas, arch, from, "-o", to},
                                       std::nullopt, redirects, 0, 0, &message);
  if (code == 0)
    return llvm::Error::success();
  if (auto file = llvm::MemoryBuffer::getFile(log))
    message += (*file)->getBuffer().str();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return fail(PIT_ERROR_UNSUPPORTED, "ptxas for " + chip + " ended with " +
                                         Twine(code) + ": " + message);
}

llvm::Expected<SmallVector<char, 0>> pit::assemble(StringRef ptx,
                                                   StringRef chip) {
  if (ptx.empty())
    return fail(PIT_ERROR_NOT_FOUND, "the program has no kernels");
  SmallString<128> paths[3];
  for (auto [i, ending] :
       llvm::enumerate(ArrayRef<StringRef>{"ptx", "cubin", "log"}))
    if (llvm::sys::fs::createTemporaryFile("pit", ending, paths[i]))
      return fail(PIT_ERROR_NOT_FOUND, "cannot create a temporary file");
  llvm::scope_exit remove([&] {
    for (SmallString<128> &path : paths)
      llvm::sys::fs::remove(path);
  });
  if (llvm::Error error = writeFile(paths[0], ptx))
    return std::move(error);
  if (llvm::Error error = runPtxas(chip, paths[0], paths[1], paths[2]))
    return std::move(error);
  auto file = llvm::MemoryBuffer::getFile(paths[1]);
  if (!file)
    return fail(PIT_ERROR_NOT_FOUND,
                "cannot read the cubin: " + file.getError().message());
  StringRef data = (*file)->getBuffer();
  return SmallVector<char, 0>(data.begin(), data.end());
}
