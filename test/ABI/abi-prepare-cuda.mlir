// RUN: pit-opt %s --pit-abi-prepare=device=cuda --split-input-file --verify-diagnostics | FileCheck %s
// RUN: not pit-opt %s --pit-abi-prepare=device=tpu 2>&1 | FileCheck %s --check-prefix=DEVICE

// DEVICE: is to run on device 'tpu'; it must be cpu or cuda

// The device is the fifth word of the manifest: kDLCUDA, 2.
// CHECK-LABEL: func.func @copy
// CHECK-SAME: pit.manifest = array<i64: 27067173200, 2, 1, 0, 2,
func.func @copy(%a: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{result 0 is of type 'f32'; results of a CUDA program are in device memory, which the host does not write: return a tensor of rank 0}}
func.func @scalar(%s: f32) -> f32 {
  return %s : f32
}
