//===- PitDialect.cpp - Registration of the pit dialect -------------------===//

#include "pit/Dialect/Pit/IR/Pit.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::pit;

#include "pit/Dialect/Pit/IR/PitDialect.cpp.inc"
#include "pit/Dialect/Pit/IR/PitEnums.cpp.inc"

namespace {
/// Functions with ops of the dialect may be inlined, also into its loops: none
/// of them depends on the function that it stands in.
struct PitInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};

/// The version of the dialect in bytecode: another one for each change of an
/// op, an attribute or a type that makes a file mean something else.
struct PitVersion : DialectVersion {
  static constexpr uint64_t kCurrent = 2;

  explicit PitVersion(uint64_t number) : number(number) {}
  uint64_t number;
};

/// Attributes and types are written as text; the version says how to read it.
struct PitBytecodeInterface : BytecodeDialectInterface {
  PitBytecodeInterface(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const final {
    writer.writeVarInt(PitVersion::kCurrent);
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const final {
    uint64_t number;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number == PitVersion::kCurrent)
      return std::make_unique<PitVersion>(number);
    reader.emitError() << "the file has version " << number
                       << " of the pit dialect; this pit reads version "
                       << PitVersion::kCurrent << ": "
                       << (number > PitVersion::kCurrent
                               ? "read it by the newer pit that wrote it"
                               : "write it again, from the program's text");
    return nullptr;
  }
};
} // namespace

void PitDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "pit/Dialect/Pit/IR/PitOps.cpp.inc"
      >();
  addInterfaces<PitInlinerInterface, PitBytecodeInterface>();
}
