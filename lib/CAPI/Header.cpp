//===- Header.cpp - C headers for compiled programs -----------------------===//

#include "Compiler.h"
#include "pit-runtime/Abi.h"
#include "pit/ABI/Manifest.h"
#include "pit/ABI/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::pit;

static void printDtype(int64_t dtype, raw_ostream &os) {
  int64_t bits = dtype >> 8;
  switch (dtype & 0xFF) {
  case PIT_DTYPE_INT:
    os << "i" << bits;
    return;
  case PIT_DTYPE_UINT:
    os << "u" << bits;
    return;
  case PIT_DTYPE_BFLOAT:
    os << "bf" << bits;
    return;
  case PIT_DTYPE_BOOL:
    os << "bool";
    return;
  case PIT_DTYPE_FLOAT8_E4M3FN:
    os << "f8E4M3FN";
    return;
  case PIT_DTYPE_FLOAT8_E5M2:
    os << "f8E5M2";
    return;
  default:
    os << "f" << bits;
  }
}

/// Prints a program as a formula of the arguments' dimensions.
static std::string toFormula(const ShapeProgram &program) {
  SmallVector<std::string> stack;
  for (auto [op, arg, value] : program) {
    if (op == PIT_SHAPE_CONST) {
      stack.push_back(llvm::itostr(value));
    } else if (op == PIT_SHAPE_DIM) {
      stack.push_back("dim " + llvm::itostr(value) + " of arg " +
                      llvm::itostr(arg));
    } else if (op == PIT_SHAPE_SCALAR) {
      stack.push_back("arg " + llvm::itostr(arg));
    } else if (op == PIT_SHAPE_UNKNOWN) {
      stack.push_back("?");
    } else {
      static const char *const signs[] = {" + ", " * ", " floordiv ",
                                          " ceildiv ", " mod "};
      std::string rhs = stack.pop_back_val();
      stack.back() = "(" + stack.back() + signs[op - PIT_SHAPE_ADD] + rhs + ")";
    }
  }
  return stack.back();
}

static void printArg(const Manifest::Arg &arg, raw_ostream &os) {
  auto printSize = [&](int64_t size, int64_t special, StringRef text) {
    if (size == special)
      os << text;
    else
      os << size;
  };
  if (arg.kind == PIT_KIND_SCALAR) {
    printDtype(arg.dtype, os);
    os << ", a tensor of rank 0";
  } else if (arg.kind == PIT_KIND_TENSOR) {
    printDtype(arg.dtype, os);
    os << "[";
    llvm::interleaveComma(arg.dims, os,
                          [&](int64_t size) { printSize(size, -1, "?"); });
    os << "]";
  } else {
    os << "const pit_index * of axis " << arg.axis << ", micro_tile = [";
    llvm::interleaveComma(arg.microTile, os,
                          [&](int64_t size) { printSize(size, 0, "whole"); });
    os << "]";
    if (arg.step != arg.microTile) {
      os << ", step = [";
      llvm::interleaveComma(arg.step, os,
                            [&](int64_t size) { printSize(size, 0, "whole"); });
      os << "]";
    }
  }
}

static void printEntry(StringRef name, const Manifest &manifest,
                       raw_ostream &os) {
  os << "// " << name << "\n";
  for (auto [i, arg] : llvm::enumerate(manifest.args)) {
    os << "//   ins[" << i << "]: ";
    printArg(arg, os);
    os << "\n";
  }
  for (auto [i, result] : llvm::enumerate(manifest.results)) {
    os << "//   outs[" << i << "]: ";
    printDtype(result.dtype, os);
    os << "[";
    llvm::interleaveComma(result.dims, os, [&](const ShapeProgram &program) {
      os << toFormula(program);
    });
    os << "]\n";
  }
  for (const Manifest::Requirement &requirement : manifest.requirements)
    os << "//   requires " << toFormula(requirement.lhs)
       << (requirement.relation == PIT_REQUIRE_EQUAL ? " == " : " >= ")
       << toFormula(requirement.rhs) << "\n";
  os << "int32_t pit_" << name
     << "(pit_context *context, const pit_value *ins,\n"
     << "    DLTensor *const *outs, pit_stream stream);\n"
     << "extern const struct pit_manifest pit_" << name << "_manifest;\n\n";
}

llvm::Error pit::emitHeader(ModuleOp module, StringRef name, raw_ostream &os) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  passes.addPass(createInlinerPass());
  passes.addPass(createSymbolDCEPass());
  passes.addNestedPass<func::FuncOp>(createPitAbiRequireShapes());
  passes.addPass(createPitAbiPrepare());
  if (failed(passes.run(module)))
    return failSilently(PIT_ERROR_UNSUPPORTED);

  StringRef stem = llvm::sys::path::stem(name);
  std::string guard = "PIT_PROGRAM_";
  for (char c : stem)
    guard += llvm::isAlnum(c) ? llvm::toUpper(c) : '_';
  guard += "_H";
  os << "// Entry points of a program compiled by pit, to be linked with it "
        "and\n// libpit_runtime. pit-runtime/Abi.h describes the call.\n\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#include <pit-runtime/Runtime.h>\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  for (auto func : module.getOps<func::FuncOp>())
    if (auto words = func->getAttrOfType<DenseI64ArrayAttr>(kManifestAttr))
      if (auto manifest = Manifest::decode(words.asArrayRef()))
        printEntry(func.getName(), *manifest, os);
  os << "#ifdef __cplusplus\n}\n#endif\n\n#endif // " << guard << "\n";
  return llvm::Error::success();
}
