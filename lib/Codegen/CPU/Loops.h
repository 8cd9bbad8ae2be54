//===- Loops.h - Which loops could be one function? -------------*- C++ -*-===//

#ifndef PIT_LIB_CODEGEN_CPU_LOOPS_H
#define PIT_LIB_CODEGEN_CPU_LOOPS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::pit {

/// A static size in a loop: a constant of type index, or an offset, a size or a
/// stride of a memref.subview, counted in this order.
struct StaticSize {
  Operation *op;
  unsigned place;
  int64_t value;
};

/// A loop, and all of it that an equal or similar loop may have otherwise, in
/// the order in which the loop has it.
struct Loop {
  Operation *op;
  SmallVector<OpOperand *> outside; ///< operands whose values it does not make
  SmallVector<StaticSize> sizes;
  int64_t ops; ///< with those in its regions
};

Loop describeLoop(Operation *op);

/// Is this value the same wherever it is computed?
bool isConstant(Value value);

/// The same for similar loops, and so for equal ones.
size_t hashLoop(const Loop &loop);

/// Are these loops the same up to the values that they take from outside?
/// Constants are not values.
bool areEqual(const Loop &a, const Loop &b);

/// Are these loops the same up to the values that they take from outside, the
/// static sizes, and the sizes, strides and offsets of memrefs?
bool areSimilar(const Loop &a, const Loop &b);

/// The type to which memrefs of both types can be cast, of which it has the
/// sizes, strides and offset that both have. Equal types of any kind are that
/// type. Otherwise none.
Type mergeTypes(Type a, Type b);

/// Makes a loop take other values of `outside` and of `sizes`, where there is
/// one. Their types may differ from those before as types do that are merged.
void replaceParts(const Loop &loop, ArrayRef<Value> outside,
                  ArrayRef<Value> sizes);

} // namespace mlir::pit

#endif // PIT_LIB_CODEGEN_CPU_LOOPS_H
