//===- Compiler.h - Steps of a compilation ----------------------*- C++ -*-===//
//
// Each step returns an llvm::Error whose message is one line; what MLIR has to
// say goes to the compiler's diagnostics.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CAPI_COMPILER_H
#define PIT_LIB_CAPI_COMPILER_H

#include "pit-c/Compile.h"
#include "pit/Pipelines/Pipelines.h"
#include "pit/Pipelines/PitToCuda.h"
#include "pit/Target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>

/// Creates a compiler: the context of all compilations and what they said.
struct pit_compiler {
  pit_compiler();

  mlir::MLIRContext context;
  std::string diagnostics;
  bool remarks = false; ///< keep remarks, too
};

namespace mlir::pit {

/// Adds all that a program may hold or become. That costs about a millisecond:
/// dialects are loaded when they are first met.
void addCompilerDialects(DialectRegistry &registry);

/// Makes passes and pipelines known by name, which schedules of the transform
/// dialect and textual pipelines use. Only the first call of a process does
/// something.
void registerCompilerPasses();

/// One program to compile.
struct SourceText {
  StringRef text;
  std::string name;
};

/// An error that a status code other than PIT_ERROR_INVALID_ARGUMENT names.
class CompileError : public llvm::ErrorInfo<CompileError> {
public:
  CompileError(pit_status status, const Twine &message)
      : status(status), message(message.str()) {}
  void log(raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
  static char ID;

  pit_status status;
  std::string message;
};

/// An error with a message.
llvm::Error fail(pit_status status, const Twine &message);
/// An error that the diagnostics already tell.
llvm::Error failSilently(pit_status status);

//===----------------------------------------------------------------------===//
// Lowering.cpp: MLIR
//===----------------------------------------------------------------------===//

/// Parses text or bytecode.
llvm::Expected<OwningOpRef<ModuleOp>> parse(pit_compiler &compiler,
                                            const SourceText &source);
/// Makes all functions but this one private, unless the name is empty.
llvm::Error selectEntry(ModuleOp module, StringRef name);
/// Are these options of a program for GPUs?
bool isForGpu(const pit_compile_options &options);
/// The form of device code of this name.
std::optional<DeviceCode> parseDeviceCode(StringRef name);
/// To level 3.
llvm::Error lowerToTiles(ModuleOp module, const pit_compile_options &options,
                         const CpuTarget &host);
/// To the llvm dialect.
llvm::Error lowerToLLVM(ModuleOp module, const pit_compile_options &options,
                        const CpuTarget &host);
/// The device code of a module in the llvm dialect, PTX or a cubin; empty if it
/// has no kernels.
StringRef getDeviceCode(ModuleOp module);

//===----------------------------------------------------------------------===//
// Codegen.cpp: LLVM
//===----------------------------------------------------------------------===//

/// The machine that the options describe.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const pit_compile_options &options);
/// The kind of CPU that the machine is, by its widest useful vector register.
CpuTarget getHostTarget(const llvm::TargetMachine &machine);
/// Translates and optimizes a module of the llvm dialect.
llvm::Expected<std::unique_ptr<llvm::Module>>
translate(ModuleOp module, llvm::LLVMContext &context,
          llvm::TargetMachine &machine, const pit_compile_options &options);
llvm::Expected<SmallVector<char, 0>> emitObject(llvm::Module &module,
                                                llvm::TargetMachine &machine);

//===----------------------------------------------------------------------===//
// Link.cpp, Jit.cpp, Header.cpp
//===----------------------------------------------------------------------===//

llvm::Error writeFile(StringRef path, StringRef data);
/// The file of the runtime that this library calls, which programs have to
/// call, too.
std::string findRuntimeLibrary();

/// Links an object to a shared library at `path`.
llvm::Error linkShared(StringRef object, StringRef path);

/// Loads an object into this process.
llvm::Expected<pit_program *> loadProgram(StringRef object, StringRef name);

/// Writes a C header for the module's entry points; lowers the module until
/// they have manifests.
llvm::Error emitHeader(ModuleOp module, StringRef name, raw_ostream &os);

} // namespace mlir::pit

#endif // PIT_LIB_CAPI_COMPILER_H
