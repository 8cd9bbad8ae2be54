//===- TileTable.cpp - Tile sizes by element type -------------------------===//

#include "TileTable.h"

#include "TableFile.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::pit;
namespace json = llvm::json;

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

namespace {
/// Reads the tiles of a table into `table`, which holds what is left out. The
/// first mistake is in `error`.
class Parser {
public:
  Parser(TileTable &table, std::string &error) : table(table), error(error) {}

  /// The table has entries, and not costs alone.
  LogicalResult parse(const json::Object &given) {
    TableObject root(given);
    const json::Array *entries = root.getArray("entries");
    std::optional<double> liveFraction = root.getNumber("live_fraction");
    if (!entries || !liveFraction || !(*liveFraction > 0 && *liveFraction <= 1))
      return fail(kTableShape);
    table.liveFraction = *liveFraction;
    table.elements = root.getInteger("elements").value_or(1 << 16);
    if (table.elements <= 0)
      return fail("a tile has at least 1 element, not " +
                  Twine(table.elements));
    StringRef by = root.getString("by").value_or("marked");
    if (by != "marked" && by != "inputs")
      return fail("entries are chosen by marked or by inputs, not by " + by);
    table.byInputs = by == "inputs";
    table.processors = root.getInteger("processors").value_or(table.processors);
    if (table.processors < 0)
      return fail("a machine has at least 1 processor, not " +
                  Twine(table.processors));
    TileSharing &sharing = table.sharing;
    TileVersionLimits &limits = table.versions;
    if (failed(readPositive(root.getObject("sharing"), "sharing",
                            {{"memory_bytes", &sharing.memoryBytes},
                             {"sum_bytes", &sharing.sumBytes},
                             {"await", &sharing.await},
                             {"reading", &sharing.reading},
                             {"least_gain", &sharing.leastGain}})) ||
        failed(readPositive(root.getObject("versions"), "versions",
                            {{"least_gain", &limits.leastGain},
                             {"least_gain_of_large", &limits.leastGainOfLarge},
                             {"alike", &limits.alike},
                             {"least_weights", &limits.leastWeights}})))
      return failure();
    for (auto [i, value] : llvm::enumerate(*entries))
      if (failed(parseEntry(value.getAsObject())))
        return fail("entry " + Twine(i) + error);
    bool any = llvm::any_of(table.entries, [](const TileSizes &sizes) {
      return sizes.element == "any" && !sizes.form && !sizes.step;
    });
    if (!any)
      return fail("no entry is for element type any and all forms, and not "
                  "timed");
    return success();
  }

private:
  LogicalResult fail(const Twine &what) {
    error = what.str();
    return failure();
  }

  /// Numbers that a table may leave as they are.
  LogicalResult readPositive(TableObject object, StringRef what,
                             ArrayRef<std::pair<StringRef, double *>> numbers) {
    for (auto [name, number] : numbers) {
      std::optional<double> given = object.getNumber(name);
      if (given && !(*given > 0))
        return fail(what + " needs a positive " + name);
      *number = given.value_or(*number);
    }
    std::string unknown = object.findUnknown();
    return unknown.empty() ? success() : fail(what + " " + unknown);
  }

  /// Appends the sizes of an entry for each element type that it names.
  LogicalResult parseEntry(const json::Object *entry) {
    SmallVector<std::string> elements;
    if (entry)
      elements = TableObject(*entry).getElements();
    if (elements.empty())
      return fail(" names no element type");
    for (const std::string &element : elements) {
      TileSizes sizes;
      sizes.element = element;
      TableObject object(*entry);
      (void)object.getElements();
      if (failed(parseSizes(object, sizes)))
        return failure();
      std::string unknown = object.findUnknown();
      if (!unknown.empty())
        return fail(" (" + element + ") " + unknown);
      table.entries.push_back(std::move(sizes));
    }
    return success();
  }

  LogicalResult parseSizes(TableObject &entry, TileSizes &sizes) {
    std::string name = " (" + sizes.element + ")";
    if (std::optional<StringRef> form = entry.getString("form")) {
      sizes.form = symbolizeForm(*form);
      if (!sizes.form)
        return fail(name +
                    " is of form dense, parallel, reduced or parts, not " +
                    *form);
    }
    for (auto [role, size] : {std::pair("vector", &sizes.vector),
                              {"rows", &sizes.rows},
                              {"chunk", &sizes.chunk},
                              {"reduced", &sizes.reduced},
                              {"window", &sizes.window}}) {
      std::optional<int64_t> given = entry.getInteger(role);
      if (!given || *given <= 0 || *given > 4096)
        return fail(name + " needs a " + role + " of 1 to 4096");
      *size = *given;
    }
    for (auto [role, size] : {std::pair("group", &sizes.group),
                              {"group_rows", &sizes.groupRows},
                              {"part", &sizes.part},
                              {"row", &sizes.row}}) {
      *size = entry.getInteger(role).value_or(0);
      if (*size < 0 || *size > 4096)
        return fail(name + " has a " + role + " of 1 to 4096, or 0 for none");
    }
    for (auto [what, cycles] :
         {std::pair("step", &sizes.step), {"fixed", &sizes.fixed}}) {
      *cycles = entry.getInteger(what).value_or(0);
      if (*cycles < 0 || *cycles > 1000000)
        return fail(name + " takes " + Twine(*cycles) + " cycles (" + what +
                    "); 1 to 1000000, or 0 for what is not known");
    }
    sizes.elements = entry.getInteger("elements").value_or(table.elements);
    if (sizes.elements <= 0)
      return fail(name + " has a tile of at least 1 element, not " +
                  Twine(sizes.elements));
    sizes.byRows = entry.getBoolean("by_rows").value_or(false);
    if (sizes.step && !table.processors)
      return fail(name + " is timed, but the table does not say how many "
                         "processors there are");
    return success();
  }

  TileTable &table;
  std::string &error;
};
} // namespace

/// The first entry for a kind of CPU, if there is one.
static const TileSizes *findOfOneCpu(const TileTable &table) {
  for (const TileSizes &sizes : table.entries)
    if (findCpuTarget(getCpuKind(sizes.element)))
      return &sizes;
  return nullptr;
}

FailureOr<TileTable> mlir::pit::loadTileTable(Operation *op, StringRef path,
                                              const Target &target, bool tf32) {
  TileTable table;
  table.processors = target.gpu ? target.gpu->multiprocessors : 0;
  table.cpu = target.cpu;
  table.isForGpu = target.gpu.has_value();
  table.tf32 = tf32;
  std::string error;
  TileTable builtIn = table;
  FailureOr<json::Object> root = parseTableFile(getBuiltInTable(target), error);
  if (failed(root) || failed(Parser(builtIn, error).parse(*root))) {
    op->emitError() << "built-in tile table: " << error;
    return failure();
  }
  if (path.empty())
    return builtIn;
  root = readTableFile(op, path);
  if (failed(root))
    return failure();
  bool hasCostsAlone = root->getArray("costs") &&
                       !root->getNumber("live_fraction") &&
                       !root->get("entries");
  if (hasCostsAlone)
    return builtIn;
  table.sharing = builtIn.sharing;
  table.versions = builtIn.versions;
  if (failed(Parser(table, error).parse(*root))) {
    op->emitError() << "tile table " << path << ": " << error;
    return failure();
  }
  if (const TileSizes *sizes = findOfOneCpu(table)) {
    op->emitError() << "tile table " << path << ": entry (" << sizes->element
                    << ") is for a kind of CPU, as only entries of the "
                       "built-in table are; this table is for one, so leave "
                       "out the kind";
    return failure();
  }
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
