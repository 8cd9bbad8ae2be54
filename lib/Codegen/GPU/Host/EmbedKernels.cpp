//===- EmbedKernels.cpp - Device code as a constant of the program --------===//

#include "Images.h"

#include "pit/Codegen/GPU/Host/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/xxhash.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITEMBEDKERNELS
#include "pit/Codegen/GPU/Host/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit::cuda;

/// Makes the object of a binary the data of an image.
static LogicalResult embed(gpu::BinaryOp binary, LLVM::GlobalOp image) {
  if (binary.getObjects().size() != 1)
    return binary.emitOpError() << "has " << binary.getObjects().size()
                                << " objects; an image of a program has one";
  auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
  // PTX is a text that ends in a NUL, which counts; the driver reads no more
  // of a cubin than its header announces. So both may end in the line that
  // tells programs apart (PIT_IMAGE_ID of the runtime's Abi.h).
  std::string data = object.getObject().getValue().str();
  if (object.getFormat() == gpu::CompilationTarget::Assembly)
    data.resize(StringRef(data).rtrim('\0').size());
  uint64_t hash = llvm::xxh3_64bits(data);
  llvm::raw_string_ostream(data)
      << "\n// pit " << llvm::format_hex_no_prefix(hash, 16) << '\0';

  Location loc = binary.getLoc();
  OpBuilder builder(image);
  auto bytes = LLVM::GlobalOp::create(
      builder, loc, LLVM::LLVMArrayType::get(builder.getI8Type(), data.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal,
      (image.getName() + "_data").str(), builder.getStringAttr(data),
      /*alignment=*/16);
  Block *block = builder.createBlock(&image.getInitializerRegion());
  builder.setInsertionPointToStart(block);
  auto insert = [&](Value into, Value field, int64_t place) -> Value {
    return LLVM::InsertValueOp::create(builder, loc, into, field, place);
  };
  Value value = LLVM::UndefOp::create(builder, loc, image.getGlobalType());
  value = insert(value, LLVM::AddressOfOp::create(builder, loc, bytes), 0);
  value = insert(value,
                 LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                          static_cast<int64_t>(data.size())),
                 1);
  LLVM::ReturnOp::create(builder, loc, value);
  binary.erase();
  return success();
}

namespace {
struct EmbedKernelsPass : pit::impl::PitEmbedKernelsBase<EmbedKernelsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto [kernels, name] : {std::pair(kKernels, kImage),
                                 std::pair(kFallbackKernels, kFallbackImage)}) {
      auto binary = module.lookupSymbol<gpu::BinaryOp>(kernels);
      auto image = module.lookupSymbol<LLVM::GlobalOp>(name);
      if (binary && image && failed(embed(binary, image)))
        return signalPassFailure();
    }
  }
};
} // namespace
