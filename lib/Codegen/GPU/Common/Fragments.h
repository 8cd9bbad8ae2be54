//===- Fragments.h - Elements of fragments in threads -----------*- C++ -*-===//
//
// A thread's values of a fragment are its elements in the order that
// FragmentType::getNumberOf() says; of floats of 16 bits two in a vector, of 8
// bits four in a word.
//
//===----------------------------------------------------------------------===//

#ifndef PIT_LIB_CODEGEN_GPU_COMMON_FRAGMENTS_H
#define PIT_LIB_CODEGEN_GPU_COMMON_FRAGMENTS_H

#include "Emitter.h"

#include "pit/Dialect/PitGPU/IR/PitGPU.h"

namespace mlir::pit::cuda {

/// The types of a thread's values.
SmallVector<Type> valueTypes(pitgpu::FragmentType type);
/// The elements that a thread has, of its values, and back.
SmallVector<Value> elementsOf(Emitter &e, pitgpu::FragmentType type,
                              ValueRange values);
SmallVector<Value> valuesOf(Emitter &e, pitgpu::FragmentType type,
                            ArrayRef<Value> elements);

/// A thread's elements of a fragment, for code that computes them one by one.
struct ThreadElements {
  explicit ThreadElements(pitgpu::FragmentType type)
      : type(type), values(type.getElements()) {}
  ThreadElements(Emitter &e, Value fragment);

  /// That in the thread's row i and its column j.
  Value &at(size_t i, size_t j) {
    return values[type.getNumberOf(static_cast<int64_t>(i),
                                   static_cast<int64_t>(j))];
  }
  Value toFragment(Emitter &e) const;

  pitgpu::FragmentType type;
  SmallVector<Value> values;
};

/// A `pit_gpu.map`; `element` gives an element of the row, the column, and an
/// element of each input.
Value mapFragments(Emitter &e, pitgpu::FragmentType type, ValueRange inputs,
                   function_ref<Value(ValueRange)> element,
                   Value firstRow = {});

} // namespace mlir::pit::cuda

#endif // PIT_LIB_CODEGEN_GPU_COMMON_FRAGMENTS_H
