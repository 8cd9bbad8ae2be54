//===- Fragments.cpp - Elements of fragments in threads -------------------===//

#include "Fragments.h"

#include "pit/Codegen/Common/MathExpansions.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;
using pitgpu::FragmentType;

/// Have two elements a register?
static bool isPacked(FragmentType type) {
  Type element = type.getElementType();
  return (element.isF16() || element.isBF16()) && type.getElements() > 1;
}

SmallVector<Type> cuda::valueTypes(FragmentType type) {
  int64_t count = type.getElements();
  Type element = type.getElementType();
  if (isF8(element))
    return SmallVector<Type>(count / 4,
                             IntegerType::get(type.getContext(), 32));
  if (isPacked(type))
    return SmallVector<Type>(count / 2, VectorType::get(2, element));
  return SmallVector<Type>(count, element);
}

SmallVector<Value> cuda::elementsOf(Emitter &e, FragmentType type,
                                    ValueRange values) {
  if (!isPacked(type))
    return llvm::to_vector(values);
  SmallVector<Value> elements;
  for (Value pair : values)
    for (int64_t i = 0; i < 2; ++i)
      elements.push_back(e.extract(pair, i));
  return elements;
}

SmallVector<Value> cuda::valuesOf(Emitter &e, FragmentType type,
                                  ArrayRef<Value> elements) {
  if (!isPacked(type))
    return llvm::to_vector(elements);
  SmallVector<Value> values;
  for (size_t i = 0; i < elements.size(); i += 2)
    values.push_back(e.pair(elements[i], elements[i + 1]));
  return values;
}

ThreadElements::ThreadElements(Emitter &e, Value fragment)
    : type(cast<FragmentType>(fragment.getType())) {
  auto cast = UnrealizedConversionCastOp::create(e.b, e.loc, valueTypes(type),
                                                 fragment);
  values = elementsOf(e, type, cast.getResults());
}

Value ThreadElements::toFragment(Emitter &e) const {
  return UnrealizedConversionCastOp::create(e.b, e.loc, type,
                                            valuesOf(e, type, values))
      .getResult(0);
}

Value cuda::mapFragments(Emitter &e, FragmentType type, ValueRange inputs,
                         function_ref<Value(ValueRange)> element,
                         Value firstRow) {
  auto map = pitgpu::MapOp::create(e.b, e.loc, type, inputs, firstRow);
  OpBuilder::InsertionGuard guard(e.b);
  SmallVector<Type> arguments(2, e.b.getI32Type());
  for (Value input : inputs)
    arguments.push_back(cast<FragmentType>(input.getType()).getElementType());
  Block *body = e.b.createBlock(&map.getBody(), {}, arguments,
                                SmallVector<Location>(arguments.size(), e.loc));
  pitgpu::YieldOp::create(e.b, e.loc, element(body->getArguments()));
  return map;
}
