//===- AbiNameBodies.cpp - Names that no library's function has -----------===//

#include "pit/ABI/Manifest.h"
#include "pit/ABI/Passes.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::pit {
#define GEN_PASS_DEF_PITABINAMEBODIES
#include "pit/ABI/Passes.h.inc"
} // namespace mlir::pit

using namespace mlir;
using namespace mlir::pit;

namespace {
struct AbiNameBodies : pit::impl::PitAbiNameBodiesBase<AbiNameBodies> {
  void runOnOperation() override {
    SymbolTableCollection tables;
    SymbolTable &symbols = tables.getSymbolTable(getOperation());
    // SymbolTable::rename would search the module once for each entry.
    SymbolUserMap users(tables, getOperation());
    SmallVector<SymbolOpInterface> entries;
    for (auto symbol : getOperation().getOps<SymbolOpInterface>())
      if (symbol->hasAttr(kManifestAttr))
        entries.push_back(symbol);
    for (SymbolOpInterface symbol : entries) {
      auto name =
          StringAttr::get(&getContext(), "pit_" + symbol.getName() + ".body");
      if (Operation *other = symbols.lookup(name)) {
        other->emitOpError() << "has the name of the body of '"
                             << symbol.getName() << "'; give it another one";
        return signalPassFailure();
      }
      users.replaceAllUsesWith(symbol, name);
      symbols.remove(symbol);
      symbol.setName(name);
      symbols.insert(symbol);
    }
  }
};
} // namespace
