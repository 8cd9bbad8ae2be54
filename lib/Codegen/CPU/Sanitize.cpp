//===- Sanitize.cpp - Functions that a sanitizer instruments --------------===//

#include "pit/Codegen/CPU/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITSANITIZE
#include "pit/Codegen/CPU/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {
struct PitSanitize : pit::impl::PitSanitizeBase<PitSanitize> {
  using Base::Base;

  void runOnOperation() override {
    if (sanitizer != "address") {
      getOperation().emitError("sanitizer '")
          << sanitizer << "' is not known; it must be address";
      return signalPassFailure();
    }
    Builder builder(&getContext());
    StringAttr attribute = builder.getStringAttr("sanitize_address");
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      if (function.isExternal())
        continue;
      SmallVector<Attribute> attributes;
      if (ArrayAttr given = function.getPassthroughAttr())
        llvm::append_range(attributes, given);
      attributes.push_back(attribute);
      function.setPassthroughAttr(builder.getArrayAttr(attributes));
    }
  }
};
} // namespace
