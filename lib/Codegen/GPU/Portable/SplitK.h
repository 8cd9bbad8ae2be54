//===- SplitK.h - Tiles whose steps blocks share ----------------*- C++ -*-===//
//
// A product of few rows has fewer tiles than the machine has room for. Then
// several blocks go through splits of a tile's steps. Each writes its sums to
// memory, and the one that comes last adds them up, in the order of the splits:
// the same bits every time. No block waits for another one.
//
// The launch says in how many splits (blocks along y of the grid); a tile of
// few steps, as one of a short list of ids, has fewer.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_PORTABLE_SPLITK_H
#define PIT_LIB_CODEGEN_GPU_PORTABLE_SPLITK_H

#include "PortableMainloop.h"

namespace mlir::pit::cuda {

class SplitK {
public:
  /// The state of a block with `steps` (i32) of the mainloop in its tile, at
  /// the emitter's place.
  SplitK(const ProductThread &self, MainloopOp mainloop, Value steps);

  /// Has this block a part of the tile? (i1)
  Value hasSplit();
  /// How many steps it has (i32).
  Value steps() const { return e.sub(end, begin); }
  /// Its step `s` (i32) among the tile's, `total`.
  Value stepOfTile(Value s, Value total) const;
  /// The first values of sums: zeros in all splits but the first.
  SmallVector<Value> startOf(ArrayRef<Value> initial);
  /// Runs `finish` with the sums of all splits in the block that comes last, if
  /// blocks share the tile, or else with those that the block has.
  void finish(ArrayRef<Value> sums, function_ref<void(ArrayRef<Value>)> finish);

private:
  SmallVector<Value> addPartials(ArrayRef<Value> sums);

  ProductThread self;
  Emitter &e;
  Value part, splits; ///< this block's, and how many the tile has (i32)
  Value begin, end;   ///< of the tile's steps, those of this block (i32)
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_PORTABLE_SPLITK_H
