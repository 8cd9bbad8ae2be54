//===- TileTable.cpp - Tile sizes by element type -------------------------===//

#include "TileTable.h"

#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::pit;

StringRef mlir::pit::getCpuTileTable() {
  return
#include "CpuTiles.inc"
      ;
}

FailureOr<TileTable> mlir::pit::parseTileTable(StringRef json,
                                               std::string &error) {
  auto fail = [&](const Twine &what) {
    error = what.str();
    return failure();
  };
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(json);
  if (!parsed)
    return fail("not JSON: " + llvm::toString(parsed.takeError()));
  const llvm::json::Object *root = parsed->getAsObject();
  const llvm::json::Array *entries = root ? root->getArray("entries") : nullptr;
  std::optional<double> density =
      root ? root->getNumber("density") : std::nullopt;
  if (!entries || !density || !(*density > 0 && *density <= 1))
    return fail("a tile table is an object with a density in (0, 1] and a list "
                "of entries");
  TileTable table;
  table.density = *density;
  bool any = false;
  for (auto [i, value] : llvm::enumerate(*entries)) {
    const llvm::json::Object *entry = value.getAsObject();
    std::optional<StringRef> element =
        entry ? entry->getString("element") : std::nullopt;
    if (!element)
      return fail("entry " + Twine(i) + " names no element type");
    TileSizes sizes;
    sizes.element = element->str();
    any |= *element == "any";
    for (auto [name, size] : {std::pair("vector", &sizes.vector),
                              {"rows", &sizes.rows},
                              {"chunk", &sizes.chunk},
                              {"reduced", &sizes.reduced},
                              {"window", &sizes.window}}) {
      std::optional<int64_t> given = entry->getInteger(name);
      if (!given || *given <= 0 || *given > 4096)
        return fail("entry " + Twine(i) + " (" + *element + ") needs a " +
                    Twine(name) + " of 1 to 4096");
      *size = *given;
    }
    table.entries.push_back(sizes);
  }
  if (!any)
    return fail("no entry is for element type any");
  return table;
}

const TileSizes &TileTable::lookup(Type element) const {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  for (const TileSizes &sizes : entries)
    if (sizes.element == name || sizes.element == "any")
      return sizes;
  llvm_unreachable("a table has an entry for any element type");
}
