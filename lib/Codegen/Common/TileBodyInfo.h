//===- TileBodyInfo.h - What runs along what in a tile body -----*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_COMMON_TILEBODYINFO_H
#define PIT_LIB_CODEGEN_COMMON_TILEBODYINFO_H

#include "pit/Analysis/Refusal.h"
#include "pit/Dialect/Pit/IR/Pit.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::pit {

/// The dim that a dimension of a tile runs along. All tiles of a tile body have
/// the same rows: those of what its contractions give. Their sums run along the
/// columns of the first operand.
enum class TileRole { None, Row, Col };

/// The roles of the dimensions of what a tile body computes, carries, and reads
/// element by element. An operand that only contractions read has none, nor has
/// what a step adds to memory.
struct TileBodyInfo {
  int64_t rows = 1; ///< extent
  llvm::MapVector<Value, SmallVector<TileRole>> roles;

  bool has(Value tile) const { return roles.count(tile); }
  ArrayRef<TileRole> rolesOf(Value tile) const {
    return roles.find(tile)->second;
  }
  /// The extent of a tile along a role; 1 if it does not run along it.
  int64_t extent(Value tile, TileRole role) const;
  /// The roles of the dims of an op's iteration.
  SmallVector<TileRole> dimRoles(PointwiseOp op) const;
};

/// The dims of a contraction that are longer than 1.
struct ContractionDims {
  int m = -1, n = -1, k = -1;
};

/// Refuses if one of them is missing or there are several of a kind.
OrRefusal<ContractionDims> findContractionDims(ContractOp op);

/// The store that alone takes what a contraction of a step gives, which sums up
/// rows; null if there is none.
StoreOp storeOf(ContractOp op);
/// Is a tile what such a contraction begins with, and nothing else?
bool isOfStore(PointwiseOp op);

/// Finds the roles; refuses if a tile has none, or two for one dim.
OrRefusal<TileBodyInfo> describeTileBody(MainloopOp mainloop);

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_COMMON_TILEBODYINFO_H
