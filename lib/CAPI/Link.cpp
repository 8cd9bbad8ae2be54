//===- Link.cpp - Shared libraries ----------------------------------------===//

#include "Compiler.h"
#include "pit-runtime/Status.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::pit;

/// The file that holds `address` in this process.
static std::string findFile(const void *address) {
  Dl_info info;
  return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

std::string pit::findRuntimeLibrary() {
  // By a constant: in a program that is not position-independent a function's
  // address may be one of the program's own.
  return findFile(pit_status_string(PIT_OK));
}

static std::string realPath(const std::string &path) {
  SmallString<128> real;
  return llvm::sys::fs::real_path(path, real) ? path : real.str().str();
}

llvm::Error pit::writeFile(StringRef path, StringRef data) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    os << data;
    os.close();
    error = os.error();
    os.clear_error();
    if (error) // for example, no space: leave no half file
      llvm::sys::fs::remove(path);
  }
  return error ? fail(PIT_ERROR_NOT_FOUND,
                      "cannot write '" + path + "': " + error.message())
               : llvm::Error::success();
}

llvm::Error pit::linkShared(StringRef object, StringRef path) {
  const std::string versioned = "clang-" + llvm::utostr(LLVM_VERSION_MAJOR);
  std::string driver;
  for (const std::string &name : {std::string("cc"), versioned})
    if (auto found = llvm::sys::findProgramByName(name)) {
      driver = *found;
      break;
    }
  if (driver.empty())
    return fail(PIT_ERROR_NOT_FOUND,
                "no linker: neither cc nor " + versioned + " is in PATH");

  SmallString<128> objectPath, log;
  if (llvm::sys::fs::createTemporaryFile("pit", "o", objectPath) ||
      llvm::sys::fs::createTemporaryFile("pit", "log", log))
    return fail(PIT_ERROR_NOT_FOUND, "cannot create temporary files");
  llvm::scope_exit remove([&] {
    llvm::sys::fs::remove(objectPath);
    llvm::sys::fs::remove(log);
  });
  if (llvm::Error error = writeFile(objectPath, object))
    return error;

  // The runtime of this process, so that it is not met twice, and where to find
  // it again.
  const std::string runtime = realPath(findRuntimeLibrary());
  const std::string rpath =
      ("-Wl,-rpath," + llvm::sys::path::parent_path(runtime)).str();
  SmallVector<StringRef> args = {driver,     "-shared", "-o",  path,
                                 objectPath, runtime,   rpath, "-lm"};
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log),
                                          StringRef(log)};
  std::string message;
  int rc = llvm::sys::ExecuteAndWait(driver, args, std::nullopt, redirects,
                                     /*SecondsToWait=*/0, /*MemoryLimit=*/0,
                                     &message);
  if (rc == 0)
    return llvm::Error::success();
  if (auto text = llvm::MemoryBuffer::getFile(log); text && message.empty())
    message = (*text)->getBuffer().split('\n').first.str();
  return fail(PIT_ERROR_NOT_FOUND,
              "cannot link '" + path + "' with " + driver + ": " + message);
}
