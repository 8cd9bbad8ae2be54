//===- TableFile.h - The file of a table of tiles and costs -----*- C++ -*-===//
//
// The readers of its two halves share this file: TileTable.h reads the tiles,
// Choice/CostTable.h the costs.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_SELECTION_TABLEFILE_H
#define PIT_LIB_SELECTION_TABLEFILE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/JSON.h"

namespace mlir::pit {

/// The form of a table, for errors.
constexpr StringLiteral kTableShape =
    "a tile table is an object with a live fraction in (0, 1] and a list of "
    "entries, "
    "or with costs alone";

/// The object that a table's text is; on failure `error` says what is wrong.
FailureOr<llvm::json::Object> parseTableFile(StringRef text,
                                             std::string &error);

/// The same of a file. Reports what is wrong on `op`.
FailureOr<llvm::json::Object> readTableFile(Operation *op, StringRef path);

/// An object of a table. It knows the keys that were asked for, so that a key
/// that is misspelt is an error, and no default.
class TableObject {
public:
  explicit TableObject(const llvm::json::Object &object) : object(object) {}

  std::optional<double> getNumber(StringRef key) {
    return object.getNumber(know(key));
  }
  std::optional<int64_t> getInteger(StringRef key) {
    return object.getInteger(know(key));
  }
  std::optional<bool> getBoolean(StringRef key) {
    return object.getBoolean(know(key));
  }
  std::optional<StringRef> getString(StringRef key) {
    return object.getString(know(key));
  }
  const llvm::json::Array *getArray(StringRef key) {
    return object.getArray(know(key));
  }
  /// The object of that key; an empty one if there is none.
  TableObject getObject(StringRef key);
  /// The element types that it is for: `element` is one, or a list. Empty if it
  /// names none.
  SmallVector<std::string> getElements();

  /// The error of a key that was not asked for, as the end of a sentence: "has
  /// "x"; it may have a, b"; empty if there is none.
  std::string findUnknown() const;

private:
  StringRef know(StringRef key) {
    known.insert(key);
    return key;
  }

  const llvm::json::Object &object;
  llvm::SetVector<StringRef> known;
};

/// The kind of CPU that an element names before its type, as "avx2 f32" does;
/// empty if it is for all.
StringRef getCpuKind(StringRef element);

} // namespace mlir::pit

#endif // PIT_LIB_SELECTION_TABLEFILE_H
