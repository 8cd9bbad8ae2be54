//===- TensorCores.cpp - What tensor cores take ---------------------------===//

#include "TensorCores.h"

using namespace mlir;
using namespace mlir::pit;
using namespace mlir::pit::cuda;

bool cuda::fitsTensorCores(const ContractionInfo &info, bool tf32) {
  Type element = info.a.element;
  if (element != info.b.element || !info.isMultiplyAdd || !info.padsZero)
    return false;
  if (element.isF16() || element.isBF16())
    return info.accumulator.isF32();
  if (element.isF32())
    return tf32;
  return element.isInteger(8) && info.accumulator.isInteger(32);
}
