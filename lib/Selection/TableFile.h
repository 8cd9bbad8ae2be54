//===- TableFile.h - The file of a table of tiles and costs -----*- C++ -*-===//
//
// The readers of its two halves share this file: TileTable.h reads the tiles,
// Choice/CostTable.h the costs.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_SELECTION_TABLEFILE_H
#define PIT_LIB_SELECTION_TABLEFILE_H

#include "mlir/IR/Operation.h"
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

/// The element types that an entry is for: its `element` is one, or a list.
/// Empty if it names none.
SmallVector<std::string> getElements(const llvm::json::Object &entry);

/// The kind of CPU that an element names before its type, as "avx2 f32" does;
/// empty if it is for all.
StringRef getCpuKind(StringRef element);

} // namespace mlir::pit

#endif // PIT_LIB_SELECTION_TABLEFILE_H
