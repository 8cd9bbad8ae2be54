//===- TableFile.cpp - The file of a table of tiles and costs -------------===//

#include "TableFile.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::pit;
namespace json = llvm::json;

FailureOr<json::Object> mlir::pit::parseTableFile(StringRef text,
                                                  std::string &error) {
  llvm::Expected<json::Value> parsed = json::parse(text);
  if (!parsed) {
    error = "not JSON: " + llvm::toString(parsed.takeError());
    return failure();
  }
  if (json::Object *root = parsed->getAsObject())
    return std::move(*root);
  error = kTableShape;
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

SmallVector<std::string> mlir::pit::getElements(const json::Object &entry) {
  if (std::optional<StringRef> one = entry.getString("element"))
    return {one->str()};
  SmallVector<std::string> elements;
  if (const json::Array *several = entry.getArray("element"))
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
