//===- HopperStream.h - Ids and elements, some steps ahead ------*- C++ -*-===//
//
// If ids of the steps select the loaded rows, a load of ids would wait behind
// the copies that are on their way, and until it is back no others start. So
// ids come by copies, too, into a ring in shared memory, twice as many steps
// ahead as there are stages. So do elements of rows that they select, as words
// of two, half as far. A thread then takes out what it needs of a word, and
// stores elements as they lie along k.
//
// No barrier is needed for the rings. When a stage is empty again, what the
// producers copied in its last step has come, since the stage was full; and so
// they have read all before it. Elements are read by the thread that copied
// them. The ids of a tile's first steps come while the block works on the tile
// before it, and have a barrier.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERSTREAM_H
#define PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERSTREAM_H

#include "HopperLowering.h"

namespace mlir::pit::cuda {

/// A thread's share of the first rows of an operand that threads copy.
struct HopperThreadPlace {
  HopperThreadPlace() = default;
  HopperThreadPlace(Emitter &e, const HopperOperand &operand, Value thread);

  int64_t rowsAtOnce = 0; ///< that the warpgroup copies
  Value row, col;         ///< this thread's first ones (i32)
};

class HopperStream {
public:
  HopperStream(Emitter &e, const HopperTile &tile, MainloopSteps &steps);

  /// Do ids select elements of b's rows?
  bool hasElements() const { return plan.b.isGatheredByElement(); }

  /// Copies what the first steps of the tile need, and ids of the next tile's.
  /// All producers come here for each tile.
  void start();
  /// The id number `number` (i32) of step `s`'s stage; 0 if there is none.
  Value id(Value s, Value number);
  /// Starts copies for steps after `s`, before the thread says that what it has
  /// copied in the step fills a stage.
  void copyAhead(Value s);
  /// Comes after each step, and then as many times as elements are stored
  /// behind: the copies since the last time belong together.
  void endStep();
  /// Stores the elements of step `s` into b's tile.
  void storeElements(Value s, Value tile);

private:
  Value idPlace(Value s, Value number, Value wave);
  Value elementPlace(Value s);
  Value firstOf(Value s) {
    return e.mul(e.rem(s, plan.subSteps()), plan.depth);
  }
  void copyId(MainloopSteps &steps, Value s, Value number, Value wave);
  void copyFirstIds(MainloopSteps &steps, Value wave);
  void copyElements(Value s);

  Emitter &e;
  const HopperTile &tile;
  const HopperPlan &plan;
  const HopperThread &self;
  MainloopSteps &steps;
  Value wave;
  HopperThreadPlace place; ///< of b
  SmallVector<Value> rows; ///< of this thread's elements (index)
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_WARPSPECIALIZED_HOPPERSTREAM_H
