//===- Jit.cpp - Programs in this process ---------------------------------===//

#include "Compiler.h"
#include "pit-runtime/Abi.h"

#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"
#include "llvm/Support/DynamicLibrary.h"
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::pit;
using llvm::orc::DynamicLibrarySearchGenerator;
using llvm::orc::LLJIT;

static void *lookup(void *jit, const char *symbol) {
  llvm::Expected<llvm::orc::ExecutorAddr> address =
      static_cast<LLJIT *>(jit)->lookup(symbol);
  if (!address) {
    llvm::consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<void *>();
}

static void close(void *jit) { delete static_cast<LLJIT *>(jit); }

llvm::Expected<pit_program *> pit::loadProgram(StringRef object,
                                               StringRef name) {
  // In place: no threads, and errors are reported before the lookup returns.
  auto self = llvm::orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<llvm::orc::InPlaceTaskDispatcher>());
  if (!self)
    return self.takeError();
  llvm::Expected<std::unique_ptr<LLJIT>> jit =
      llvm::orc::LLJITBuilder()
          .setExecutorProcessControl(std::move(*self))
          // The code has no constructors that a platform would run.
          .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
          .create();
  if (!jit)
    return jit.takeError();
  // The runtime that this library was bound to, even if nothing made it visible
  // to the whole process. Not by llvm::sys::DynamicLibrary, which would make
  // all of it visible. The program needs it as long as the code is there.
  char prefix = (*jit)->getDataLayout().getGlobalPrefix();
  llvm::orc::JITDylib &main = (*jit)->getMainJITDylib();
  const std::string path = findRuntimeLibrary();
  void *library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library)
    return fail(PIT_ERROR_LOAD,
                Twine("cannot open the library '") + path + "': " + dlerror());
  main.addGenerator(std::make_unique<DynamicLibrarySearchGenerator>(
      llvm::sys::DynamicLibrary(library), prefix));
  // The functions that LLVM calls if a processor lacks an instruction, such as
  // one to extend f16. Every process that has LLVM has it, though not always
  // for all to see.
  if (void *builtins = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL))
    main.addGenerator(std::make_unique<DynamicLibrarySearchGenerator>(
        llvm::sys::DynamicLibrary(builtins), prefix));
  // libm, and whatever functions of the process a program declares.
  auto process = DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix);
  if (!process)
    return process.takeError();
  main.addGenerator(std::move(*process));
  if (llvm::Error error = (*jit)->addObjectFile(
          llvm::MemoryBuffer::getMemBufferCopy(object, name)))
    return std::move(error);
  // Links now: a missing symbol is this call's error. The session names it.
  std::string missing;
  (*jit)->getExecutionSession().setErrorReporter(
      [&](llvm::Error error) { missing += toString(std::move(error)); });
  llvm::Error linked = (*jit)->lookup("pit_program_entries").takeError();
  (*jit)->getExecutionSession().setErrorReporter(
      [](llvm::Error error) { llvm::consumeError(std::move(error)); });
  if (linked && !missing.empty()) {
    llvm::consumeError(std::move(linked));
    return fail(PIT_ERROR_LOAD,
                missing + pit_rt_explain_missing(missing.c_str()));
  }
  if (linked)
    return std::move(linked);

  pit_context *context = nullptr;
  pit_program *program = nullptr;
  pit_status status = pit_context_create(nullptr, &context);
  if (status != PIT_OK)
    return fail(status, pit_status_string(status));
  status =
      pit_program_from_lookup(context, lookup, jit->release(), close, &program);
  char message[512] = "";
  pit_context_message(context, message, sizeof(message));
  pit_context_destroy(context);
  if (status != PIT_OK)
    return fail(status, message);
  return program;
}
