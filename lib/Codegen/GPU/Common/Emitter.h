//===- Emitter.h - Arithmetic in kernels ------------------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_EMITTER_H
#define PIT_LIB_CODEGEN_GPU_COMMON_EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace mlir::pit::cuda {

/// Arithmetic on i32, in which everything within a tile is counted, and on
/// index, in which coordinates and addresses are.
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  Value i32(int64_t value);
  Value index(int64_t value);
  Value add(Value x, Value y);
  Value add(Value x, int64_t y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value mul(Value x, int64_t y);
  Value div(Value x, int64_t y);
  Value rem(Value x, int64_t y);
  std::pair<Value, Value> divRem(Value x, Value y); ///< x / y and the rest
  Value bitAnd(Value x, int64_t y);
  Value bitOr(Value x, Value y);
  Value bitXor(Value x, Value y);
  Value min(Value x, Value y);
  Value max(Value x, Value y);
  Value logicalAnd(Value x, Value y);
  Value logicalNot(Value x);
  Value equal(Value x, Value y);
  Value lessThan(Value x, Value y);   ///< signed
  Value inRange(Value x, Value size); ///< 0 <= x < size
  Value select(Value condition, Value x, Value y);
  Value toIndex(Value x);
  Value toI32(Value x);
  Value constant(TypedAttr value);
  /// A pointer into shared memory, of a byte address in i32.
  Value sharedPointer(Value address);
  /// A pointer into global memory, so many bytes (i32) after `start` (i64).
  Value globalPointer(Value start, Value byte);
  /// The type that a type has in memory and in LLVM's vectors: LLVM has no
  /// floats of 8 bits.
  static Type storedType(Type type);
  /// A value as its storedType(), and back.
  Value toStored(Value value);
  Value fromStored(Value value, Type type);
  /// A vector of two.
  Value pair(Value first, Value second);
  Value load(Type type, Value pointer, int64_t alignment);
  void store(Value value, Value pointer, int64_t alignment);
  void barrier();
  /// Orders memory accesses for all threads of the device.
  void deviceFence();
  /// Writes of this thread to shared memory are there for wgmma and TMA.
  void asyncProxyFence();
  /// The value (i32) that a lane has, for all: what depends on it is the same
  /// in a warp, and ptxas knows it.
  Value fromLane(Value value, Value lane);
  /// Runs `then` where the condition holds, `otherwise` where it does not.
  void ifThen(Value condition, function_ref<void()> then,
              function_ref<void()> otherwise = nullptr);
  /// The same, of branches that give values.
  SmallVector<Value> choose(Value condition,
                            function_ref<SmallVector<Value>()> then,
                            function_ref<SmallVector<Value>()> otherwise);
  Value choose(Value condition, function_ref<Value()> then,
               function_ref<Value()> otherwise);
  /// A loop, whose iterations take what the one before carries, and give it.
  scf::ForOp loop(Value begin, Value end, Value step, ValueRange carried,
                  function_ref<SmallVector<Value>(Value, ValueRange)> body);
  scf::ForOp forEach(Value begin, Value end, Value step,
                     function_ref<void(Value)> body);
  /// Has LLVM keep a loop as it is, neither unrolled nor peeled.
  void keepLoop(Operation *loop);
  /// An i32, of which compilers know nothing, so that what is computed from it
  /// stays where it is: out of loops it would only take up registers.
  Value hideFromOptimizer(Value x);

  OpBuilder &b;
  Location loc;

private:
  Value number(Type type, int64_t value);
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_EMITTER_H
