//===- Manifest.h - What an entry point takes and gives ---------*- C++ -*-===//
//
// The manifest of pit-runtime/Abi.h while a function is compiled, and the words
// of the attribute that keeps it (pit.manifest):
//
//   PIT_MANIFEST_WORD0, number of arguments, number of results,
//   workspace, device,
//   for each argument one of
//     PIT_KIND_TENSOR, dtype, rank, dims (-1: dynamic)
//     PIT_KIND_INDEX, rank, axis, micro_tile[rank], step[rank]
//     PIT_KIND_SCALAR, dtype
//   the number of requirements, and for each
//     PIT_REQUIRE_*, and twice a program
//   for each result
//     dtype, rank, then for each dim a program
//
// A program is n, and n words: of each operation PIT_SHAPE_*, then what it has
// of arg and value.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_ABI_MANIFEST_H
#define PIT_ABI_MANIFEST_H

#include "pit-runtime/Abi.h"
#include "pit/Dialect/Pit/IR/DiscardableAttributes.h"

#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <dlpack/dlpack.h>
#include <optional>

namespace mlir::pit {

/// A postfix program for one size.
using ShapeProgram = SmallVector<pit_shape_op, 2>;

/// The size that a program always leaves; -1 if calls differ in it.
int64_t getStaticSize(const ShapeProgram &program);

struct Manifest {
  struct Arg {
    int64_t kind;              ///< PIT_KIND_*
    int64_t dtype = 0;         ///< of a tensor or scalar
    SmallVector<int64_t> dims; ///< of a tensor, -1: dynamic
    int64_t axis = 0;          ///< of an index, as the following
    SmallVector<int64_t> microTile, step;
  };
  struct Result {
    int64_t dtype;
    SmallVector<ShapeProgram> dims;
  };

  struct Requirement {
    int64_t relation; ///< PIT_REQUIRE_*
    ShapeProgram lhs, rhs;
  };

  int64_t workspace = 0;   ///< bytes per worker
  int64_t device = kDLCPU; ///< or kDLCUDA: where it runs
  SmallVector<Arg> args;
  SmallVector<Result> results;
  SmallVector<Requirement> requirements;

  SmallVector<int64_t> encode() const;
  /// Nothing if the words are no manifest.
  static std::optional<Manifest> decode(ArrayRef<int64_t> words);
};

/// Writes and reads the words of requirements as they stand in a manifest.
SmallVector<int64_t>
encodeRequirements(ArrayRef<Manifest::Requirement> requirements);
std::optional<SmallVector<Manifest::Requirement>>
decodeRequirements(ArrayRef<int64_t> words);

/// The dtype word of an element type; nothing if DLPack has none for it or the
/// runtime does not take it.
std::optional<int64_t> getDtypeWord(Type type);

} // namespace mlir::pit

#endif // PIT_ABI_MANIFEST_H
