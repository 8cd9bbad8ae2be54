//===- Libdevice.cpp - NVIDIA's library of device functions ---------------===//

#include "Libdevice.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>

using namespace mlir;

llvm::Expected<std::string> pit::cuda::findLibdevice() {
  if (const char *given = std::getenv("PIT_LIBDEVICE"); given && *given) {
    if (llvm::sys::fs::exists(given))
      return given;
    return llvm::createStringError(
        "there is no libdevice at $PIT_LIBDEVICE, '" + llvm::Twine(given) +
        "'");
  }
  SmallVector<std::string> toolkits;
  for (const char *name : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
    if (const char *given = std::getenv(name); given && *given)
      toolkits.push_back(given);
  // pip's package of nvcc has both in one folder, as the toolkit has.
  if (auto ptxas = llvm::sys::findProgramByName("ptxas")) {
    StringRef bin = llvm::sys::path::parent_path(*ptxas);
    toolkits.push_back(llvm::sys::path::parent_path(bin).str());
  }
  toolkits.push_back("/usr/local/cuda");
  for (const std::string &toolkit : toolkits) {
    SmallString<128> path(toolkit);
    llvm::sys::path::append(path, "nvvm", "libdevice", "libdevice.10.bc");
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  return llvm::createStringError(
      "there is no nvvm/libdevice/libdevice.10.bc in " +
      llvm::join(toolkits, " or ") +
      "; set $PIT_LIBDEVICE to the path of libdevice.10.bc");
}
