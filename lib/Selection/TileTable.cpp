//===- TileTable.cpp - Tile sizes by element type -------------------------===//

#include "TileTable.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

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
      .Case("parts", TileForm::Parts)
      .Default(std::nullopt);
}

/// The kind of CPU that an element names before its type, as "avx2 f32" does;
/// empty if it is for all.
static StringRef getKind(StringRef element) {
  auto [kind, type] = element.split(' ');
  return type.empty() ? StringRef() : kind;
}

/// What a micro-tile of an entry of costs takes.
static FailureOr<ChoiceCosts::MicroTile>
parseMicroTile(StringRef element, const llvm::json::Object *object,
               std::string &error) {
  std::optional<int64_t> rows =
      object ? object->getInteger("rows") : std::nullopt;
  std::optional<double> multiply =
      object ? object->getNumber("multiply") : std::nullopt;
  auto get = [&](StringRef name) {
    return object ? object->getNumber(name).value_or(0) : 0;
  };
  if (!rows || *rows < 0 || !multiply || !(*multiply > 0))
    error = (element + " has a micro-tile without rows (0 or more) and a "
                       "positive multiply")
                .str();
  else if (!(get("fixed") >= 0) || !(get("pack") >= 0) ||
           !(get("group") >= 0) || !(get("leave") >= 0))
    error = (element + " has a micro-tile whose fixed, pack, group and leave "
                       "are not 0 or more")
                .str();
  else
    return ChoiceCosts::MicroTile{*rows,
                                  *multiply,
                                  get("fixed"),
                                  get("pack"),
                                  get("group"),
                                  get("leave"),
                                  object->getBoolean("known").value_or(false)};
  return failure();
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
  StringRef kind = getKind(*element);
  if (!kind.empty() && !findCpuTarget(kind))
    return fail(*element + " is for a kind of CPU, " + kind +
                ", that is not known; known are " + listCpuNames());
  for (auto [name, cost] : {std::pair("dense", &costs.dense),
                            {"scan", &costs.scan},
                            {"group", &costs.group}}) {
    std::optional<double> given = object->getNumber(name);
    if (!given || !(*given > 0))
      return fail(*element + " needs a positive " + name);
    *cost = *given;
  }
  StringRef layout = object->getString("layout").value_or("rows");
  if (layout == "apart")
    costs.layout = CostLayout::Apart;
  else if (layout == "right")
    costs.layout = CostLayout::Right;
  else if (layout == "wanted")
    costs.layout = CostLayout::Wanted;
  else if (layout != "rows")
    return fail(*element + " has a layout " + layout +
                "; it must be rows, apart, right or wanted");
  costs.column = 40 * costs.dense;
  for (auto [name, cost] : {std::pair("column", &costs.column),
                            {"read", &costs.read},
                            {"step", &costs.step},
                            {"part", &costs.part},
                            {"wanted", &costs.wanted},
                            {"ask", &costs.ask}}) {
    *cost = object->getNumber(name).value_or(*cost);
    if (!(*cost >= 0))
      return fail(*element + "'s " + name + " is " +
                  llvm::formatv("{0}", *cost).str() + "; it must be 0 or more");
  }
  for (auto [name, limit] : {std::pair("lines", &costs.lines),
                             {"bytes", &costs.bytes},
                             {"parts", &costs.parts}}) {
    *limit = object->getInteger(name).value_or(0);
    if (*limit < 0)
      return fail(*element + " has " + Twine(name) +
                  " of 1 or more, or 0 for any, or none");
  }
  const llvm::json::Array *micro = object->getArray("micro");
  if (!micro || micro->empty())
    return fail(*element + " lists no micro-tiles (micro)");
  for (const llvm::json::Value &value : *micro) {
    FailureOr<ChoiceCosts::MicroTile> parsed =
        parseMicroTile(*element, value.getAsObject(), error);
    if (failed(parsed))
      return failure();
    if (parsed->group == 0)
      parsed->group = costs.group;
    costs.micro.push_back(*parsed);
  }
  return costs;
}

/// An entry of tiles. `table` has what holds for all.
static FailureOr<TileSizes> parseSizes(const llvm::json::Object *entry,
                                       const TileTable &table,
                                       std::string &error) {
  auto fail = [&](const Twine &what) {
    error = what.str();
    return failure();
  };
  std::optional<StringRef> element =
      entry ? entry->getString("element") : std::nullopt;
  if (!element)
    return fail(" names no element type");
  TileSizes sizes;
  sizes.element = element->str();
  std::string name = (" (" + *element + ")").str();
  if (std::optional<StringRef> form = entry->getString("form")) {
    sizes.form = symbolizeForm(*form);
    if (!sizes.form)
      return fail(name + " is of form dense, parallel, reduced or parts, not " +
                  *form);
  }
  for (auto [role, size] : {std::pair("vector", &sizes.vector),
                            {"rows", &sizes.rows},
                            {"chunk", &sizes.chunk},
                            {"reduced", &sizes.reduced},
                            {"window", &sizes.window}}) {
    std::optional<int64_t> given = entry->getInteger(role);
    if (!given || *given <= 0 || *given > 4096)
      return fail(name + " needs a " + role + " of 1 to 4096");
    *size = *given;
  }
  for (auto [role, size] : {std::pair("group", &sizes.group),
                            {"group_rows", &sizes.groupRows},
                            {"part", &sizes.part},
                            {"row", &sizes.row}}) {
    *size = entry->getInteger(role).value_or(0);
    if (*size < 0 || *size > 4096)
      return fail(name + " has a " + role + " of 1 to 4096, or 0 for none");
  }
  for (auto [what, cycles] :
       {std::pair("step", &sizes.step), {"fixed", &sizes.fixed}}) {
    *cycles = entry->getInteger(what).value_or(0);
    if (*cycles < 0 || *cycles > 1000000)
      return fail(name + " takes " + Twine(*cycles) + " cycles (" + what +
                  "); 1 to 1000000, or 0 for what is not known");
  }
  sizes.elements = entry->getInteger("elements").value_or(table.elements);
  if (sizes.elements <= 0)
    return fail(name + " has a tile of at least 1 element, not " +
                Twine(sizes.elements));
  sizes.byRows = entry->getBoolean("by_rows").value_or(false);
  if (sizes.step && !table.processors)
    return fail(name + " is timed, but the table does not say how many "
                       "processors there are");
  return sizes;
}

/// The tiles of a table, and what holds for all.
static LogicalResult parseTiles(const llvm::json::Object &root,
                                const llvm::json::Array &entries,
                                TileTable &table, std::string &error) {
  auto fail = [&](const Twine &what) {
    error = what.str();
    return failure();
  };
  table.elements = root.getInteger("elements").value_or(1 << 16);
  if (table.elements <= 0)
    return fail("a tile has at least 1 element, not " + Twine(table.elements));
  StringRef by = root.getString("by").value_or("marked");
  if (by != "marked" && by != "inputs")
    return fail("entries are chosen by marked or by inputs, not by " + by);
  table.byInputs = by == "inputs";
  table.processors = root.getInteger("processors").value_or(table.processors);
  if (table.processors < 0)
    return fail("a machine has at least 1 processor, not " +
                Twine(table.processors));
  bool any = false;
  for (auto [i, value] : llvm::enumerate(entries)) {
    FailureOr<TileSizes> sizes = parseSizes(value.getAsObject(), table, error);
    if (failed(sizes))
      return fail("entry " + Twine(i) + error);
    any |= sizes->element == "any" && !sizes->form && !sizes->step;
    table.entries.push_back(*sizes);
  }
  if (!any)
    return fail("no entry is for element type any and all forms, and not "
                "timed");
  return success();
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
  TileTable table;
  table.processors = target.gpu ? target.gpu->multiprocessors : 0;
  table.cpu = target.cpu;
  const llvm::json::Object *root = parsed->getAsObject();
  const llvm::json::Array *entries = root ? root->getArray("entries") : nullptr;
  const llvm::json::Array *costs = root ? root->getArray("costs") : nullptr;
  std::optional<double> density =
      root ? root->getNumber("density") : std::nullopt;
  bool costsAlone = costs && !density && !root->get("entries");
  if (!costsAlone && (!entries || !density || !(*density > 0 && *density <= 1)))
    return fail("a tile table is an object with a density in (0, 1] and a list "
                "of entries, or with costs alone");
  table.density = density.value_or(0);
  if (!costsAlone && failed(parseTiles(*root, *entries, table, error)))
    return failure();
  if (costs)
    for (auto [i, value] : llvm::enumerate(*costs)) {
      FailureOr<ChoiceCosts> one = parseCosts(value.getAsObject(), error);
      if (failed(one))
        return fail("costs " + Twine(i) + ": " + error);
      table.costs.push_back(*one);
    }
  return table;
}

/// The first entry for a kind of CPU, if there is one.
static const TileSizes *findOfOneCpu(const TileTable &table) {
  for (const TileSizes &sizes : table.entries)
    if (findCpuTarget(getKind(sizes.element)))
      return &sizes;
  return nullptr;
}

/// What a table of the user's leaves out is as in the built-in one. One of
/// costs alone also has the built-in costs, behind its own.
static void takeMissing(const TileTable &builtIn, TileTable &table) {
  if (!table.entries.empty()) {
    if (table.costs.empty())
      table.costs = builtIn.costs;
    return;
  }
  SmallVector<ChoiceCosts> costs = std::move(table.costs);
  table = builtIn;
  table.costs.insert(table.costs.begin(), costs.begin(), costs.end());
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
  if (succeeded(table) && !isBuiltIn) {
    if (const TileSizes *sizes = findOfOneCpu(*table)) {
      error = "entry (" + sizes->element +
              ") is for a kind of CPU, as only entries of the built-in table "
              "are; this table is for one, so leave out the kind";
      table = failure();
    } else {
      takeMissing(*parseTileTable(getBuiltInTable(target), target, error),
                  *table);
    }
  }
  if (failed(table)) {
    op->emitError() << "tile table " << path << ": " << error;
    return failure();
  }
  table->tf32 = tf32;
  table->isForGpu = target.gpu.has_value();
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
        (!sizes.form || sizes.form == form ||
         (form == TileForm::Parts && sizes.form == TileForm::Parallel)))
      fitting.push_back(&sizes);
  return fitting;
}

/// The costs of elements of this name. Those of another kind of CPU are scaled
/// by the width of vectors: memory is as fast, and looking as dear.
static std::optional<ChoiceCosts> findByName(const TileTable &table,
                                             StringRef name, double lines,
                                             double bytes, CostLayout layout) {
  const ChoiceCosts *nearest = nullptr;
  double ratio = 1; // of a vector's bits, that entry's over ours
  for (const ChoiceCosts &entry : table.costs) {
    if ((entry.lines && lines > entry.lines) ||
        (entry.bytes && bytes > entry.bytes) || entry.layout != layout)
      continue;
    StringRef kind = getKind(entry.element);
    if (entry.element == name ||
        (table.cpu && entry.element == (table.cpu->name + " " + name).str()))
      return entry;
    std::optional<CpuTarget> other = findCpuTarget(kind);
    // Tile registers compare with nothing.
    if (!table.cpu || !other || other->amx ||
        entry.element != (kind + " " + name).str())
      continue;
    double found = double(other->vectorBits) / table.cpu->vectorBits;
    if (nearest && std::abs(std::log2(found)) >= std::abs(std::log2(ratio)))
      continue;
    nearest = &entry;
    ratio = found;
  }
  if (!nearest)
    return std::nullopt;
  ChoiceCosts scaled = *nearest;
  scaled.dense *= ratio;
  for (ChoiceCosts::MicroTile &micro : scaled.micro)
    micro.multiply *= ratio;
  return scaled;
}

std::optional<ChoiceCosts> TileTable::findCosts(Type element, double lines,
                                                double bytes,
                                                CostLayout layout) const {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  if (tf32 && element.isF32())
    name = "tf32";
  std::optional<ChoiceCosts> costs =
      findByName(*this, name, lines, bytes, layout);
  if (!costs && layout != CostLayout::Rows)
    costs = findByName(*this, name, lines, bytes, CostLayout::Rows);
  // Units of a GPU have rates of their own for each type.
  if (costs || isForGpu || !element.isIntOrFloat())
    return costs;
  costs = findByName(*this, "f32", lines, bytes, CostLayout::Rows);
  if (!costs)
    return std::nullopt;
  double width = element.getIntOrFloatBitWidth() / 32.0;
  // Narrow elements are computed in 32 bits; all are looked at as they are.
  costs->scan *= std::max(width, 0.25);
  costs->read *= std::max(width, 0.25);
  width = std::max(width, 1.0);
  costs->dense *= width;
  costs->column *= width;
  for (ChoiceCosts::MicroTile &micro : costs->micro) {
    micro.multiply *= width;
    micro.pack *= width;
  }
  return costs;
}
