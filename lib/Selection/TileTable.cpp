//===- TileTable.cpp - Tile sizes by element type -------------------------===//

#include "TileTable.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::pit;

static StringRef getBuiltInTable(const Target &target) {
  if (target.cpu)
    return
#include "CpuTiles.inc"
        ;
  if (target.gpu->wgmma)
    return
#include "HopperTiles.inc"
        ;
  return
#include "GpuTiles.inc"
      ;
}

static std::optional<TileForm> symbolizeForm(StringRef name) {
  return llvm::StringSwitch<std::optional<TileForm>>(name)
      .Case("dense", TileForm::Dense)
      .Case("parallel", TileForm::Parallel)
      .Case("reduced", TileForm::Reduced)
      .Default(std::nullopt);
}

static FailureOr<ChoiceCosts> parseCosts(const llvm::json::Object *object,
                                         std::string &error) {
  auto fail = [&](const Twine &what) {
    error = what.str();
    return failure();
  };
  std::optional<StringRef> element =
      object ? object->getString("element") : std::nullopt;
  if (!element)
    return fail("they name no element type");
  ChoiceCosts costs;
  costs.element = element->str();
  for (auto [name, cost] : {std::pair("dense", &costs.dense),
                            {"scan", &costs.scan},
                            {"group", &costs.group}}) {
    std::optional<double> given = object->getNumber(name);
    if (!given || !(*given > 0))
      return fail(*element + " needs a positive " + name);
    *cost = *given;
  }
  costs.column = object->getNumber("column").value_or(40 * costs.dense);
  if (costs.column < 0)
    return fail(*element + " needs a positive column");
  for (auto [name, limit] :
       {std::pair("lines", &costs.lines), {"bytes", &costs.bytes}}) {
    *limit = object->getInteger(name).value_or(0);
    if (*limit < 0)
      return fail(*element + " has " + Twine(name) +
                  " of 1 or more, or 0 for any");
  }
  const llvm::json::Array *micro = object->getArray("micro");
  if (!micro || micro->empty())
    return fail(*element + " lists no micro-tiles (micro)");
  for (const llvm::json::Value &value : *micro) {
    const llvm::json::Object *entry = value.getAsObject();
    std::optional<int64_t> rows =
        entry ? entry->getInteger("rows") : std::nullopt;
    std::optional<double> multiply =
        entry ? entry->getNumber("multiply") : std::nullopt;
    if (!rows || *rows < 0 || !multiply || !(*multiply > 0))
      return fail(*element + " has a micro-tile without rows (0 or more) and a "
                             "positive multiply");
    double fixed = entry->getNumber("fixed").value_or(0);
    if (!(fixed >= 0))
      return fail(*element + " has a micro-tile whose fixed costs are not 0 or "
                             "more");
    costs.micro.push_back({*rows, *multiply, fixed});
  }
  return costs;
}

FailureOr<TileTable> mlir::pit::parseTileTable(StringRef json,
                                               const Target &target,
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
  table.elements = root->getInteger("elements").value_or(1 << 16);
  if (table.elements <= 0)
    return fail("a tile has at least 1 element, not " + Twine(table.elements));
  StringRef by = root->getString("by").value_or("marked");
  if (by != "marked" && by != "inputs")
    return fail("entries are chosen by marked or by inputs, not by " + by);
  table.byInputs = by == "inputs";
  table.processors =
      root->getInteger("processors")
          .value_or(target.gpu ? target.gpu->multiprocessors : 0);
  if (table.processors < 0)
    return fail("a machine has at least 1 processor, not " +
                Twine(table.processors));
  bool any = false;
  for (auto [i, value] : llvm::enumerate(*entries)) {
    const llvm::json::Object *entry = value.getAsObject();
    std::optional<StringRef> element =
        entry ? entry->getString("element") : std::nullopt;
    if (!element)
      return fail("entry " + Twine(i) + " names no element type");
    TileSizes sizes;
    sizes.element = element->str();
    if (std::optional<StringRef> form = entry->getString("form")) {
      sizes.form = symbolizeForm(*form);
      if (!sizes.form)
        return fail("entry " + Twine(i) + " (" + *element +
                    ") is of form dense, parallel or reduced, not " + *form);
    }
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
    for (auto [name, size] : {std::pair("group", &sizes.group),
                              {"group_rows", &sizes.groupRows},
                              {"part", &sizes.part},
                              {"row", &sizes.row}}) {
      *size = entry->getInteger(name).value_or(0);
      if (*size < 0 || *size > 4096)
        return fail("entry " + Twine(i) + " (" + *element + ") has a " +
                    Twine(name) + " of 1 to 4096, or 0 for none");
    }
    for (auto [name, cycles] :
         {std::pair("step", &sizes.step), {"fixed", &sizes.fixed}}) {
      *cycles = entry->getInteger(name).value_or(0);
      if (*cycles < 0 || *cycles > 1000000)
        return fail("entry " + Twine(i) + " (" + *element + ") takes " +
                    Twine(*cycles) + " cycles (" + name +
                    "); 1 to 1000000, or 0 for what is not known");
    }
    sizes.elements = entry->getInteger("elements").value_or(table.elements);
    if (sizes.elements <= 0)
      return fail("entry " + Twine(i) + " (" + *element +
                  ") has a tile of at least 1 element, not " +
                  Twine(sizes.elements));
    if (sizes.step && !table.processors)
      return fail("entry " + Twine(i) + " (" + *element +
                  ") is timed, but the table does not say how many processors "
                  "there are");
    any |= *element == "any" && !sizes.form && !sizes.step;
    table.entries.push_back(sizes);
  }
  if (!any)
    return fail("no entry is for element type any and all forms, and not "
                "timed");
  if (const llvm::json::Array *costs = root->getArray("costs"))
    for (auto [i, value] : llvm::enumerate(*costs)) {
      FailureOr<ChoiceCosts> parsed = parseCosts(value.getAsObject(), error);
      if (failed(parsed))
        return fail("costs " + Twine(i) + ": " + error);
      table.costs.push_back(*parsed);
    }
  return table;
}

/// The first entry for a kind of CPU, if there is one.
static const TileSizes *findOfOneCpu(const TileTable &table) {
  for (const TileSizes &sizes : table.entries)
    if (isCpuName(StringRef(sizes.element).split(' ').first))
      return &sizes;
  return nullptr;
}

FailureOr<TileTable> mlir::pit::loadTileTable(Operation *op, StringRef path,
                                              const Target &target, bool tf32) {
  std::string error;
  StringRef json = getBuiltInTable(target);
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  bool isBuiltIn = path.empty();
  if (!isBuiltIn) {
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file) {
      op->emitError() << "tile table " << path << ": "
                      << file.getError().message();
      return failure();
    }
    buffer = std::move(*file);
    json = buffer->getBuffer();
  }
  FailureOr<TileTable> table = parseTileTable(json, target, error);
  if (succeeded(table) && table->costs.empty())
    table->costs =
        parseTileTable(getBuiltInTable(target), target, error)->costs;
  if (succeeded(table) && !isBuiltIn)
    if (const TileSizes *sizes = findOfOneCpu(*table)) {
      error = "entry (" + sizes->element +
              ") is for a kind of CPU, as only entries of the built-in table "
              "are; this table is for one, so leave out the kind";
      table = failure();
    }
  if (failed(table)) {
    op->emitError() << "tile table " << path << ": " << error;
    return failure();
  }
  table->tf32 = tf32;
  table->isForGpu = target.gpu.has_value();
  if (isBuiltIn)
    table->cpu = target.cpu;
  return table;
}

SmallVector<const TileSizes *> TileTable::lookup(Type element, TileForm form,
                                                 bool multiplies, bool dots,
                                                 bool points) const {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  SmallVector<const TileSizes *> fitting;
  bool fitsCpu = cpu && (cpu->amx ? dots : !points);
  for (const TileSizes &sizes : entries)
    if ((sizes.element == name || sizes.element == "any" ||
         (tf32 && multiplies && element.isF32() && sizes.element == "tf32") ||
         (fitsCpu && sizes.element == (cpu->name + " " + name).str())) &&
        (!sizes.form || sizes.form == form))
      fitting.push_back(&sizes);
  return fitting;
}

/// The first of the entries for elements of this name that fits.
static const ChoiceCosts *findEntry(const TileTable &table, StringRef name,
                                    double lines, double bytes) {
  for (const ChoiceCosts &entry : table.costs)
    if ((entry.element == name ||
         (table.cpu &&
          entry.element == (table.cpu->name + " " + name).str())) &&
        (!entry.lines || lines <= entry.lines) &&
        (!entry.bytes || bytes <= entry.bytes))
      return &entry;
  return nullptr;
}

std::optional<ChoiceCosts> TileTable::findCosts(Type element, double lines,
                                                double bytes) const {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  if (tf32 && element.isF32())
    name = "tf32";
  if (const ChoiceCosts *entry = findEntry(*this, name, lines, bytes))
    return *entry;
  // Units of a GPU have rates of their own for each type.
  if (isForGpu)
    return std::nullopt;
  const ChoiceCosts *entry = findEntry(*this, "f32", lines, bytes);
  if (!entry || !element.isIntOrFloat())
    return std::nullopt;
  double width = element.getIntOrFloatBitWidth() / 32.0;
  ChoiceCosts scaled = *entry;
  // Narrow elements are computed in 32 bits; all are looked at as they are.
  scaled.scan *= std::max(width, 0.25);
  width = std::max(width, 1.0);
  scaled.dense *= width;
  scaled.column *= width;
  for (ChoiceCosts::MicroTile &micro : scaled.micro)
    micro.multiply *= width;
  return scaled;
}
