//===- RuntimeCalls.h - Calls of the runtime in generated code --*- C++ -*-===//
//
// Shared by the passes that lower to calls of include/pit-runtime/Abi.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_COMMON_RUNTIMECALLS_H
#define PIT_LIB_CODEGEN_COMMON_RUNTIMECALLS_H

#include "Index.h"
#include "pit-runtime/Abi.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::pit {

/// The frame of a function prepared by pit-abi-prepare: its argument marked
/// `pit.frame`. Null if it has none.
Value getFrame(func::FuncOp function);

/// Calls the runtime function `name`, declared on first use. With `status` the
/// call's i32 result is checked by a pit.check_status.
func::CallOp callRuntime(OpBuilder &builder, Location loc, StringRef name,
                         TypeRange results, ValueRange operands,
                         bool status = false);

/// Room for `count` values of `type` on the stack, in the entry block; aligned
/// as the type is, or to so many bytes.
Value entryAlloca(OpBuilder &builder, Location loc, func::FuncOp function,
                  Type type, int64_t count = 1, unsigned alignment = 0);

/// Values of 8 bytes one after another on the stack; returns where.
Value storeWords(OpBuilder &builder, Location loc, func::FuncOp function,
                 ValueRange words);

/// The address of a text, with a NUL behind it, that is a constant of the
/// module; equal ones are one. `name` begins its symbol.
Value constantText(OpBuilder &builder, Location loc, StringRef name,
                   StringRef text);

/// As constantText, of a struct that the runtime shares (Abi.h).
Value constantWords(OpBuilder &builder, Location loc, StringRef name,
                    ArrayRef<int32_t> words);
template <typename Struct>
Value constantStruct(OpBuilder &builder, Location loc, StringRef name,
                     const Struct &value) {
  int32_t words[sizeof(Struct) / sizeof(int32_t)];
  static_assert(sizeof(words) == sizeof(Struct));
  std::memcpy(words, &value, sizeof(words));
  return constantWords(builder, loc, name, words);
}

/// A pit_view of the runtime on the stack; sizes and strides are indices or
/// words.
Value storeView(OpBuilder &builder, Location loc, func::FuncOp function,
                Value address, ArrayRef<OpFoldResult> sizes,
                ArrayRef<OpFoldResult> strides);

/// The runtime's type of an element, and its type code and width as one word.
DLDataType runtimeType(Type type);
int64_t dtypeWord(Type type);

/// The address of a memref's first element, an i64.
Value firstElementAddress(OpBuilder &builder, Location loc, Value memref);

/// May what stands in this block run several times in a call?
bool mayRepeat(Block *block);

/// A pit_place of the runtime on the stack, all 0 when the function is entered.
Value entryPlace(OpBuilder &builder, Location loc, func::FuncOp function);

/// The reuse of memory that is allocated in a loop.
enum class Reuse {
  Next,      ///< the next time it is allocated anew, it is not used any more
  AfterNext, ///< the time after that
  Never      ///< it may be used until the function returns
};

/// `bytes` (an index) of the frame's memory, as a pointer.
Value allocateBytes(OpBuilder &builder, Location loc, func::FuncOp function,
                    Value bytes, Reuse reuse = Reuse::Next);

/// The packed form of an operand that pit_rt_keep finds.
struct KeptBytes {
  Value pointer;
  Value isKept;  ///< i1: kept from one call to the next
  Value isReady; ///< i1: packed already
};

/// Could the caller have promised that this memory does not change? Then it is
/// an argument's, or a part of one.
bool mayBeConstant(Value memref);

/// `bytes` (an index) for what is made of a memref in one piece. `layout` (of
/// i64) says how: who makes the same of the same memory may find it there. If
/// it is not kept, it is memory of the frame where `needed` (i1), else null.
/// publishBytes tells that it has been packed.
KeptBytes keepBytes(OpBuilder &builder, Location loc, func::FuncOp function,
                    Value memref, ArrayRef<Value> layout, Value bytes,
                    Value needed);
void publishBytes(OpBuilder &builder, Location loc, func::FuncOp function,
                  const KeptBytes &kept);

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_COMMON_RUNTIMECALLS_H
