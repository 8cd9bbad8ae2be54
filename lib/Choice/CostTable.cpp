//===- CostTable.cpp - What choosing among micro-tiles weighs -------------===//

#include "CostTable.h"

#include "Selection/TableFile.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::pit;
namespace json = llvm::json;

static StringRef getBuiltInTable(const Target &target) {
  if (target.cpu)
    return
#include "CpuCosts.inc"
        ;
  if (target.gpu->wgmma)
    return
#include "HopperCosts.inc"
        ;
  return
#include "GpuCosts.inc"
      ;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
/// Reads a table over what `table` holds already. The first mistake is in
/// `error`.
class Parser {
public:
  Parser(CostTable &table, std::string &error) : table(table), error(error) {}

  LogicalResult parse(const json::Object &root) {
    MicroTileSizes &sizes = table.microTiles;
    VariantLimits &limits = table.variants;
    ShapeFactors &shapes = table.shapes;
    TableObject table(root), micro = table.getObject("micro_tiles"),
                             runTime = micro.getObject("run_time"),
                             compileTime = micro.getObject("compile_time"),
                             variants = table.getObject("variants"),
                             factors = table.getObject("shapes");
    if (failed(readSizes(runTime, {{"columns", &sizes.columns},
                                   {"wanted_columns", &sizes.wantedColumns}})))
      return failure();
    if (failed(readSizes(compileTime, {{"rows", &sizes.allRows},
                                       {"columns", &sizes.allColumns},
                                       {"partials", &sizes.allPartials}})))
      return failure();
    if (failed(readPositive<int64_t>(
            runTime, {{"least_wanted_rows", &sizes.leastWantedRows}})) ||
        failed(readPositive<double>(
            variants, {{"least_scan_gain", &limits.leastScanGain},
                       {"least_saving", &limits.leastSaving},
                       {"least_saving_beside", &limits.leastSavingBeside},
                       {"least_window_uses", &limits.leastWindowUses},
                       {"least_ids", &limits.leastIds}})))
      return failure();
    if (failed(readPositive<double>(
            factors, {{"step_columns", &shapes.stepColumns},
                      {"transposed", &shapes.transposed},
                      {"strided", &shapes.strided},
                      {"packing_rows", &shapes.packingRows},
                      {"add_partial", &shapes.addPartial},
                      {"measured_partial", &shapes.measuredPartial},
                      {"next_list", &shapes.nextList},
                      {"assumed_live", &shapes.assumedLive},
                      {"wanted_lists", &shapes.wantedLists},
                      {"read_bytes", &shapes.readBytes}})) ||
        failed(readPositive<int64_t>(factors,
                                     {{"list_columns", &shapes.listColumns},
                                      {"in_place_rows", &shapes.inPlaceRows}})))
      return failure();
    for (auto [name, object] : {std::pair("micro_tiles", &micro),
                                {"micro_tiles.run_time", &runTime},
                                {"micro_tiles.compile_time", &compileTime},
                                {"variants", &variants},
                                {"shapes", &factors}})
      if (failed(refuseUnknown(*object, name)))
        return failure();
    if (const json::Array *costs = root.getArray("costs"))
      for (auto [i, value] : llvm::enumerate(*costs))
        if (failed(parseCosts(value.getAsObject())))
          return fail("costs " + Twine(i) + ": " + error);
    return success();
  }

private:
  LogicalResult fail(const Twine &what) {
    error = what.str();
    return failure();
  }

  LogicalResult refuseUnknown(const TableObject &object, const Twine &name) {
    std::string unknown = object.findUnknown();
    return unknown.empty() ? success() : fail(name + " " + unknown);
  }

  LogicalResult
  readSizes(TableObject &object,
            ArrayRef<std::pair<StringRef, SmallVector<int64_t> *>> lists) {
    for (auto [name, sizes] : lists) {
      const json::Array *given = object.getArray(name);
      if (!given)
        continue;
      sizes->clear();
      for (const json::Value &value : *given) {
        std::optional<int64_t> size = value.getAsInteger();
        if (!size || *size <= 0)
          return fail("micro_tiles: " + name + " are extents of 1 or more");
        sizes->push_back(*size);
      }
    }
    return success();
  }

  template <typename T>
  LogicalResult readPositive(TableObject &object,
                             ArrayRef<std::pair<StringRef, T *>> numbers) {
    for (auto [name, number] : numbers) {
      std::optional<double> given = object.getNumber(name);
      if (!given)
        continue;
      if (!(*given > 0))
        return fail(name + " is " + llvm::formatv("{0}", *given).str() +
                    "; it must be more than 0");
      *number = static_cast<T>(*given);
    }
    return success();
  }

  /// Appends an entry for each element type that it names.
  LogicalResult parseCosts(const json::Object *object) {
    SmallVector<std::string> elements;
    if (object)
      elements = TableObject(*object).getElements();
    if (elements.empty())
      return fail("they name no element type");
    for (const std::string &element : elements) {
      ChoiceCosts costs;
      costs.element = element;
      TableObject entry(*object);
      (void)entry.getElements();
      if (failed(parseCostsOf(entry, costs)) ||
          failed(refuseUnknown(entry, element)))
        return failure();
      table.costs.push_back(std::move(costs));
    }
    return success();
  }

  LogicalResult parseCostsOf(TableObject &object, ChoiceCosts &costs) {
    StringRef element = costs.element, kind = getCpuKind(element);
    if (!kind.empty() && !findCpuTarget(kind))
      return fail(element + " is for a kind of CPU, " + kind +
                  ", that is not known; known are " + listCpuNames());
    for (auto [name, cost] : {std::pair("dense", &costs.dense),
                              {"scan", &costs.scan},
                              {"group", &costs.group}}) {
      std::optional<double> given = object.getNumber(name);
      if (!given || !(*given > 0))
        return fail(element + " needs a positive " + name);
      *cost = *given;
    }
    StringRef layout = object.getString("layout").value_or("left");
    std::optional<CostLayout> symbol =
        llvm::StringSwitch<std::optional<CostLayout>>(layout)
            .Case("left", CostLayout::Left)
            .Case("left-bt", CostLayout::LeftBT)
            .Case("right", CostLayout::Right)
            .Case("result", CostLayout::Result)
            .Default(std::nullopt);
    if (!symbol)
      return fail(element + " has a layout " + layout +
                  "; it must be left, left-bt, right or result");
    costs.layout = *symbol;
    costs.column = 40 * costs.dense;
    for (auto [name, cost] : {std::pair("column", &costs.column),
                              {"read", &costs.read},
                              {"step", &costs.step},
                              {"partial", &costs.partial},
                              {"wanted", &costs.wanted},
                              {"ask", &costs.ask}}) {
      *cost = object.getNumber(name).value_or(*cost);
      if (!(*cost >= 0))
        return fail(element + "'s " + name + " is " +
                    llvm::formatv("{0}", *cost).str() +
                    "; it must be 0 or more");
    }
    for (auto [name, limit] : {std::pair("lines", &costs.lines),
                               {"bytes", &costs.bytes},
                               {"partials", &costs.partials}}) {
      *limit = object.getInteger(name).value_or(0);
      if (*limit < 0)
        return fail(element + " has " + Twine(name) +
                    " of 1 or more, or 0 for any, or none");
    }
    const json::Array *micro = object.getArray("micro");
    if (!micro || micro->empty())
      return fail(element + " lists no micro-tiles (micro)");
    for (const json::Value &value : *micro)
      if (failed(parseMicroTile(value.getAsObject(), costs)))
        return failure();
    return success();
  }

  LogicalResult parseMicroTile(const json::Object *given, ChoiceCosts &costs) {
    StringRef element = costs.element;
    const json::Object none;
    TableObject object(given ? *given : none);
    ChoiceCosts::MicroTile micro;
    std::optional<int64_t> rows = object.getInteger("rows");
    std::optional<double> multiply = object.getNumber("multiply");
    if (!rows || *rows < 0 || !multiply || !(*multiply > 0))
      return fail(element + " has a micro-tile without rows (0 or more) and a "
                            "positive multiply");
    micro.rows = *rows;
    micro.multiply = *multiply;
    for (auto [name, cost] : {std::pair("fixed", &micro.fixed),
                              {"pack", &micro.pack},
                              {"group", &micro.group},
                              {"leave", &micro.leave}}) {
      *cost = object.getNumber(name).value_or(0);
      if (!(*cost >= 0))
        return fail(element + " has a micro-tile whose fixed, pack, group and "
                              "leave are not 0 or more");
    }
    if (micro.group == 0)
      micro.group = costs.group;
    micro.compileTimeOnly =
        object.getBoolean("compile_time_only").value_or(false);
    costs.micro.push_back(micro);
    return refuseUnknown(object, "a micro-tile of " + element);
  }

  CostTable &table;
  std::string &error;
};
} // namespace

FailureOr<CostTable> mlir::pit::loadCostTable(Operation *op, StringRef path,
                                              const Target &target, bool tf32) {
  CostTable table;
  table.cpu = target.cpu;
  table.isForGpu = target.gpu.has_value();
  table.tf32 = tf32;
  std::string error;
  FailureOr<json::Object> builtIn =
      parseTableFile(getBuiltInTable(target), error);
  if (failed(builtIn) || failed(Parser(table, error).parse(*builtIn))) {
    op->emitError() << "built-in costs: " << error;
    return failure();
  }
  if (path.empty())
    return table;
  FailureOr<json::Object> root = readTableFile(op, path);
  if (failed(root))
    return failure();
  SmallVector<ChoiceCosts> builtInCosts = std::move(table.costs);
  table.costs.clear();
  if (failed(Parser(table, error).parse(*root))) {
    op->emitError() << "tile table " << path << ": " << error;
    return failure();
  }
  if (table.costs.empty() || !root->get("entries"))
    llvm::append_range(table.costs, builtInCosts);
  return table;
}

//===----------------------------------------------------------------------===//
// Finding costs
//===----------------------------------------------------------------------===//

/// The costs of elements of this name. Costs of another kind of CPU are scaled
/// by the width of vectors: memory is as fast, and scanning as dear.
static std::optional<ChoiceCosts> findByName(const CostTable &table,
                                             StringRef name, double lines,
                                             double bytes, CostLayout layout) {
  const ChoiceCosts *nearest = nullptr;
  double ratio = 1; // of a vector's bits, that entry's over ours
  for (const ChoiceCosts &entry : table.costs) {
    if ((entry.lines && lines > entry.lines) ||
        (entry.bytes && bytes > entry.bytes) || entry.layout != layout)
      continue;
    StringRef kind = getCpuKind(entry.element);
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

std::optional<ChoiceCosts> CostTable::findCosts(Type element, double lines,
                                                double bytes,
                                                CostLayout layout) const {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  if (tf32 && element.isF32())
    name = "tf32";
  std::optional<ChoiceCosts> costs =
      findByName(*this, name, lines, bytes, layout);
  if (!costs && layout != CostLayout::Left)
    costs = findByName(*this, name, lines, bytes, CostLayout::Left);
  // Units of a GPU have rates of their own for each type.
  if (costs || isForGpu || !element.isIntOrFloat())
    return costs;
  costs = findByName(*this, "f32", lines, bytes, CostLayout::Left);
  if (!costs)
    return std::nullopt;
  double width = element.getIntOrFloatBitWidth() / 32.0;
  // Narrow elements are computed in 32 bits; all are scanned as they are.
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
