//===- TableFile.cpp - The file of a table of tiles and costs -------------===//

#include "TableFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::pit;
namespace json = llvm::json;

/// Of the tiles, then of the costs; `target` says for whom a table was made.
static constexpr StringLiteral kTableKeys[] = {
    "target",      "live_fraction", "elements", "by",
    "processors",  "sharing",       "versions", "entries",
    "micro_tiles", "variants",      "shapes",   "costs"};

FailureOr<json::Object> mlir::pit::parseTableFile(StringRef text,
                                                  std::string &error) {
  llvm::Expected<json::Value> parsed = json::parse(text);
  if (!parsed) {
    error = "not JSON: " + llvm::toString(parsed.takeError());
    return failure();
  }
  json::Object *root = parsed->getAsObject();
  if (!root) {
    error = kTableShape;
    return failure();
  }
  // Each of the two readers asks for a half of them.
  TableObject keys(*root);
  for (StringRef key : kTableKeys)
    (void)keys.getNumber(key);
  error = keys.findUnknown();
  if (error.empty())
    return std::move(*root);
  return failure();
}

FailureOr<json::Object> mlir::pit::readTableFile(Operation *op,
                                                 StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) {
    op->emitError() << "tile table " << path << ": "
                    << file.getError().message();
    return failure();
  }
  std::string error;
  FailureOr<json::Object> root = parseTableFile((*file)->getBuffer(), error);
  if (failed(root))
    op->emitError() << "tile table " << path << ": " << error;
  return root;
}

TableObject TableObject::getObject(StringRef key) {
  static const json::Object none;
  const json::Object *found = object.getObject(know(key));
  return TableObject(found ? *found : none);
}

std::string TableObject::findUnknown() const {
  for (const auto &entry : object)
    if (!known.contains(entry.first))
      return ("has \"" + entry.first.str() + "\"; it may have " +
              llvm::join(known, ", "));
  return {};
}

SmallVector<std::string> TableObject::getElements() {
  if (std::optional<StringRef> one = getString("element"))
    return {one->str()};
  SmallVector<std::string> elements;
  if (const json::Array *several = getArray("element"))
    for (const json::Value &value : *several) {
      std::optional<StringRef> element = value.getAsString();
      if (!element)
        return {};
      elements.push_back(element->str());
    }
  return elements;
}

StringRef mlir::pit::getCpuKind(StringRef element) {
  auto [kind, type] = element.split(' ');
  return type.empty() ? StringRef() : kind;
}
