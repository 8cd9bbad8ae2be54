// REQUIRES: pit-run
// Marks, and the indices of planned ops, are used behind the reshapes and slices by
// which linalg-fold-unit-extent-dims drops dims.

// DEFINE: %{fold} = -linalg-generalize-named-ops -linalg-fuse-elementwise-ops -linalg-fold-unit-extent-dims
// DEFINE: %{run} = --arg='random(1x64x128,f32,sparsity=0.95,micro=1x32x1,seed=1)' --arg='random(1x128x96,f32,seed=2)' --pipeline=choice=now --stats --check=%s

// RUN: pit-opt %s %{fold} -canonicalize -cse -o %t.1.mlir
// RUN: FileCheck %s --check-prefix=RESHAPE < %t.1.mlir
// RUN: pit-run %t.1.mlir %{run} | FileCheck %s
// RUN: pit-opt %s %{fold}=use-rank-reducing-slices -canonicalize -cse -o %t.2.mlir
// RUN: FileCheck %s --check-prefix=SLICE < %t.2.mlir
// RUN: pit-run %t.2.mlir %{run} | FileCheck %s
// RUN: pit-opt %s -pit-plan %{fold} -canonicalize -cse -o %t.3.mlir
// RUN: FileCheck %s --check-prefix=PLANNED < %t.3.mlir
// RUN: pit-run %t.3.mlir %{run} | FileCheck %s
// RUN: pit-opt %s -pit-plan %{fold}=use-rank-reducing-slices -canonicalize -cse -o %t.4.mlir
// RUN: pit-run %t.4.mlir %{run} | FileCheck %s

// RESHAPE: %[[S:.*]] = pit.sparse %arg0 : tensor<1x64x128xf32>
// RESHAPE: tensor.collapse_shape %[[S]]
// SLICE: %[[S:.*]] = pit.sparse %arg0 : tensor<1x64x128xf32>
// SLICE: tensor.extract_slice %[[S]]
// PLANNED: %[[S:.*]] = pit.sparse %arg0 index
// PLANNED: tensor.collapse_shape %[[S]]

// CHECK: index 0: values of argument 0, 64x128 along axis 1 in micro-tiles of 32x1
// CHECK: rule: {{.*}} micro_tile = [32, 1]
// CHECK: check: result 0: {{.*}}: ok

func.func @unit(%x: tensor<1x64x128xf32>, %w: tensor<1x128x96xf32>) -> tensor<1x64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x96xf32>) -> tensor<1x64x96xf32>
  %s = pit.sparse %x : tensor<1x64x128xf32>
  %y = linalg.batch_matmul ins(%s, %w : tensor<1x64x128xf32>, tensor<1x128x96xf32>) outs(%z : tensor<1x64x96xf32>) -> tensor<1x64x96xf32>
  return %y : tensor<1x64x96xf32>
}
