//===- Emitter.h - Arithmetic in kernels ------------------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_EMITTER_H
#define PIT_LIB_CODEGEN_GPU_COMMON_EMITTER_H

#include "Dialect/Pit/IR/Arithmetic.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::pit::cuda {

/// Arithmetic on i32, in which everything within a tile is counted, and on
/// index, in which coordinates and addresses are; memory, lanes, branches and
/// loops.
class Emitter : public ArithEmitter {
public:
  using ArithEmitter::ArithEmitter;

  Value i32(int64_t value);
  Value toI64(Value x); ///< an index
  /// Numbers of this thread and block, and how many blocks there are (i32).
  Value threadId();
  Value blockId(gpu::Dimension dimension = gpu::Dimension::x);
  Value gridDim(gpu::Dimension dimension = gpu::Dimension::x);
  std::pair<Value, Value> divRem(Value x, Value y); ///< x / y and the rest
  /// Are vectors of so many bytes aligned that lie `first` elements along the
  /// last dimension of a memref, and any number of them, or of elements along
  /// another dimension, on? `limit`, if there is one, is a multiple, too.
  Value isAligned(Value memref, Value first, Value limit, int64_t bytes);
  /// A pointer into shared memory, of a byte address in i32.
  Value sharedPointer(Value address);
  /// A pointer into global memory, of an address (i64), or so many bytes (i32)
  /// after it.
  Value globalPointer(Value address);
  Value globalPointer(Value start, Value byte);
  /// A pointer so many elements (index) after another one.
  Value elementAfter(Value pointer, Type element, Value count);
  Value addressOf(Value memref); ///< of its memory (index)
  /// The type that a type has in memory and in LLVM's vectors: LLVM has no
  /// floats of 8 bits.
  static Type storedType(Type type);
  /// A value as its storedType(), and back.
  Value toStored(Value value);
  Value fromStored(Value value, Type type);
  /// A vector of two.
  Value pair(Value first, Value second);
  Value extract(Value vector, Value number); ///< an element
  Value extract(Value vector, int64_t number);
  Value bitcast(Type type, Value value);
  Value load(Type type, Value pointer, int64_t alignment,
             bool isVolatile = false);
  void store(Value value, Value pointer, int64_t alignment);
  Value loadAt(Value memref, ValueRange at);
  void storeAt(Value value, Value memref, ValueRange at);
  Value loadVector(Type type, Value memref, ValueRange at, int64_t alignment);
  void storeVector(Value vector, Value memref, ValueRange at,
                   int64_t alignment);
  /// Changes memory for all threads of the device; gives what was there.
  Value atomic(LLVM::AtomicBinOp op, Value pointer, Value value);
  /// Instructions of PTX; a null type: without a result.
  Value assembly(Type type, StringRef text, StringRef constraints,
                 ValueRange operands, bool hasSideEffects = true);
  void barrier();
  /// Orders memory accesses for all threads of the device.
  void deviceFence();
  /// Writes of this thread to shared memory are there for wgmma and TMA.
  void asyncProxyFence();
  /// The value (i32) that a lane has. Where `lane` is the same in a warp, so is
  /// what depends on it, and ptxas knows it.
  Value fromLane(Value value, Value lane);
  /// Has LLVM keep a loop as it is, neither unrolled nor peeled.
  void keepLoop(Operation *loop);
  /// An i32, of which compilers know nothing, so that what is computed from it
  /// stays where it is: out of loops it would only take up registers.
  Value hideFromOptimizer(Value x);
};

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_EMITTER_H
