//===- Compile.cpp - The C interface of the compiler ----------------------===//

#include "Compiler.h"

#include "pit-runtime/Abi.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include <cstring>
#include <new>

using namespace mlir;
using namespace mlir::pit;

char CompileError::ID;

llvm::Error pit::fail(pit_status status, const Twine &message) {
  return llvm::make_error<CompileError>(status, message);
}

llvm::Error pit::failSilently(pit_status status) { return fail(status, ""); }

/// Adds an error to the diagnostics and says which status it is.
static pit_status report(pit_compiler &compiler, llvm::Error error) {
  pit_status status = PIT_OK;
  // One line each, whatever names are in it.
  auto add = [&](std::string message) {
    std::replace(message.begin(), message.end(), '\n', ' ');
    if (!message.empty())
      compiler.diagnostics += "error: " + message + "\n";
  };
  llvm::handleAllErrors(
      std::move(error),
      [&](const CompileError &e) {
        status = e.status;
        add(e.message);
      },
      [&](const llvm::ErrorInfoBase &e) {
        status = PIT_ERROR_LOAD;
        add(e.message());
      });
  return status;
}

static pit_status reportNull(pit_compiler &compiler, StringRef argument) {
  return report(compiler, fail(PIT_ERROR_INVALID_ARGUMENT,
                               "the argument " + argument + " is NULL"));
}

namespace {
/// A call's arguments, checked, with the defaults filled in.
struct Request {
  SourceText source;
  pit_compile_options options = PIT_COMPILE_OPTIONS;
};
} // namespace

static llvm::Expected<Request> check(const void *source, size_t size,
                                     const char *name,
                                     const pit_compile_options *options) {
  if (!source && size > 0)
    return fail(PIT_ERROR_INVALID_ARGUMENT,
                "the source is NULL but has " + Twine(size) + " bytes");
  Request request;
  request.source.text =
      size ? StringRef(static_cast<const char *>(source), size) : "";
  request.source.name = name ? name : "source";
  if (!options)
    return request;
  // A caller of an earlier version knows fewer members.
  static const size_t sizes[] = {
      offsetof(pit_compile_options, entry), offsetof(pit_compile_options, chip),
      offsetof(pit_compile_options, device_code),
      offsetof(pit_compile_options, samples), sizeof(pit_compile_options)};
  if (!llvm::is_contained(sizes, options->struct_size))
    return fail(PIT_ERROR_INVALID_ARGUMENT,
                "options of " + Twine(options->struct_size) +
                    " bytes; begin with PIT_COMPILE_OPTIONS (" +
                    Twine(sizeof(*options)) + " bytes)");
  std::memcpy(&request.options, options, options->struct_size);
  const pit_compile_options defaults = PIT_COMPILE_OPTIONS;
  for (auto member :
       {&pit_compile_options::target, &pit_compile_options::cpu,
        &pit_compile_options::features, &pit_compile_options::pipeline,
        &pit_compile_options::entry, &pit_compile_options::chip,
        &pit_compile_options::device_code, &pit_compile_options::profile})
    if (!(request.options.*member))
      request.options.*member = defaults.*member;
  if (!parseDeviceCode(request.options.device_code))
    return fail(PIT_ERROR_INVALID_ARGUMENT,
                "device code '" + Twine(request.options.device_code) +
                    "' is not known; it must be auto, ptx or cubin");
  return request;
}

/// The kernels of a module in the llvm dialect, as an artifact.
static llvm::Expected<SmallVector<char, 0>> getKernels(ModuleOp module,
                                                       pit_emit emit) {
  StringRef code = getDeviceCode(module);
  if (emit == PIT_EMIT_CUBIN && code.empty())
    return fail(PIT_ERROR_NOT_FOUND, "the program has no kernels");
  bool isCubin = code.starts_with("\177ELF");
  if (!code.empty() && (isCubin != (emit == PIT_EMIT_CUBIN) ||
                        module.lookupSymbol("pit_fallback_image_data")))
    return fail(PIT_ERROR_INVALID_ARGUMENT,
                "the pipeline's device-code is not what is to be emitted");
  // The runtime's line is no part of a cubin, and the NUL none of a text.
  code = emit == PIT_EMIT_CUBIN ? code.take_front(code.rfind("\n" PIT_IMAGE_ID))
                                : code.rtrim('\0');
  return SmallVector<char, 0>(code.begin(), code.end());
}

/// Compiles to an object, or to text of the forms before it.
static llvm::Expected<SmallVector<char, 0>>
compile(pit_compiler &compiler, const Request &request, pit_emit emit) {
  pit_compile_options options = request.options;
  if (emit < PIT_EMIT_MLIR || emit > PIT_EMIT_CUBIN)
    return fail(PIT_ERROR_INVALID_ARGUMENT,
                "emit is " + Twine(int(emit)) + "; it must be one of pit_emit");
  if ((emit == PIT_EMIT_PTX || emit == PIT_EMIT_CUBIN) && !isForGpu(options))
    return fail(PIT_ERROR_INVALID_ARGUMENT,
                "PTX and cubins are of target cuda, not of '" +
                    Twine(options.target) + "'");
  if (emit == PIT_EMIT_PTX || emit == PIT_EMIT_CUBIN)
    options.device_code = emit == PIT_EMIT_PTX ? "ptx" : "cubin";
  compiler.remarks = options.explain != 0;
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  CpuTarget host = getHostTarget(**machine);
  auto module = parse(compiler, request.source);
  if (!module)
    return module.takeError();

  if (llvm::Error error = selectEntry(**module, options.entry))
    return std::move(error);

  SmallVector<char, 0> text;
  llvm::raw_svector_ostream os(text);
  if (emit == PIT_EMIT_HEADER) {
    if (llvm::Error error = emitHeader(**module, request.source.name, os))
      return std::move(error);
    return text;
  }
  llvm::Error error = emit == PIT_EMIT_MLIR
                          ? lowerToTiles(**module, options, host)
                          : lowerToLLVM(**module, options, host);
  if (error)
    return std::move(error);
  if (emit == PIT_EMIT_MLIR || emit == PIT_EMIT_MLIR_LLVM) {
    os << **module << "\n";
    return text;
  }
  if (emit == PIT_EMIT_PTX || emit == PIT_EMIT_CUBIN)
    return getKernels(**module, emit);
  llvm::LLVMContext context;
  auto ir = translate(**module, context, **machine, options);
  if (!ir)
    return ir.takeError();
  if (emit == PIT_EMIT_LLVM) {
    os << **ir;
    return text;
  }
  return emitObject(**ir, **machine);
}

static llvm::Error compileToFile(pit_compiler &compiler, const Request &request,
                                 pit_emit emit, StringRef path) {
  auto artifact = compile(compiler, request, emit);
  if (!artifact)
    return artifact.takeError();
  StringRef data(artifact->data(), artifact->size());
  if (emit == PIT_EMIT_SHARED)
    return linkShared(data, path);
  return writeFile(path, data);
}

static llvm::Expected<SmallVector<char, 0>>
compileShared(pit_compiler &compiler, const Request &request) {
  SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("pit", "so", path))
    return fail(PIT_ERROR_NOT_FOUND, "cannot create a temporary file");
  llvm::scope_exit remove([&] { llvm::sys::fs::remove(path); });
  if (llvm::Error error =
          compileToFile(compiler, request, PIT_EMIT_SHARED, path))
    return std::move(error);
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return fail(PIT_ERROR_NOT_FOUND,
                "cannot read the linked library: " + file.getError().message());
  StringRef data = (*file)->getBuffer();
  return SmallVector<char, 0>(data.begin(), data.end());
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

pit_status pit_compiler_create(pit_compiler **compiler) {
  if (!compiler)
    return PIT_ERROR_INVALID_ARGUMENT;
  *compiler = new (std::nothrow) pit_compiler;
  return *compiler ? PIT_OK : PIT_ERROR_OUT_OF_MEMORY;
}

void pit_compiler_destroy(pit_compiler *compiler) { delete compiler; }

const char *pit_compiler_diagnostics(const pit_compiler *compiler) {
  return compiler ? compiler->diagnostics.c_str() : "";
}

pit_status pit_compile_to_memory(pit_compiler *compiler, const void *source,
                                 size_t size, const char *name,
                                 const pit_compile_options *options,
                                 pit_emit emit, void **artifact,
                                 size_t *artifact_size) {
  if (artifact)
    *artifact = nullptr;
  if (artifact_size)
    *artifact_size = 0;
  if (!compiler)
    return PIT_ERROR_INVALID_ARGUMENT;
  compiler->diagnostics.clear();
  if (!artifact || !artifact_size)
    return reportNull(*compiler, artifact ? "artifact_size" : "artifact");
  auto request = check(source, size, name, options);
  if (!request)
    return report(*compiler, request.takeError());
  auto data = emit == PIT_EMIT_SHARED ? compileShared(*compiler, *request)
                                      : compile(*compiler, *request, emit);
  if (!data)
    return report(*compiler, data.takeError());
  char *memory = static_cast<char *>(std::malloc(data->size() + 1));
  if (!memory)
    return report(*compiler, fail(PIT_ERROR_OUT_OF_MEMORY,
                                  "out of memory for an artifact of " +
                                      Twine(data->size()) + " bytes"));
  std::memcpy(memory, data->data(), data->size());
  memory[data->size()] = '\0';
  *artifact = memory;
  *artifact_size = data->size();
  return PIT_OK;
}

pit_status pit_compile_to_file(pit_compiler *compiler, const void *source,
                               size_t size, const char *name,
                               const pit_compile_options *options,
                               pit_emit emit, const char *path) {
  if (!compiler)
    return PIT_ERROR_INVALID_ARGUMENT;
  compiler->diagnostics.clear();
  if (!path)
    return reportNull(*compiler, "path");
  auto request = check(source, size, name, options);
  if (!request)
    return report(*compiler, request.takeError());
  return report(*compiler, compileToFile(*compiler, *request, emit, path));
}

pit_status pit_compile_program(pit_compiler *compiler, const void *source,
                               size_t size, const char *name,
                               const pit_compile_options *options,
                               pit_program **program) {
  if (program)
    *program = nullptr;
  if (!compiler)
    return PIT_ERROR_INVALID_ARGUMENT;
  compiler->diagnostics.clear();
  if (!program)
    return reportNull(*compiler, "program");
  auto request = check(source, size, name, options);
  if (!request)
    return report(*compiler, request.takeError());
  auto object = compile(*compiler, *request, PIT_EMIT_OBJECT);
  if (!object)
    return report(*compiler, object.takeError());
  auto loaded = loadProgram(StringRef(object->data(), object->size()),
                            request->source.name);
  if (!loaded)
    return report(*compiler, loaded.takeError());
  *program = *loaded;
  return PIT_OK;
}

void pit_free(void *memory) { std::free(memory); }
