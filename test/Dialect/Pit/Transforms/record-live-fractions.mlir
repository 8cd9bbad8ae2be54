// RUN: pit-opt %s -pit-record-live-fractions -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @values(
func.func @values(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[S:.*]] = pit.sparse %arg0
  // CHECK-NEXT: pit.record %arg0 background(1.000000e+00 : f32) label("x") signature("values of tensor<4x4xf32> for linalg.matmul") location("{{.*}}record-live-fractions.mlir:[[# @LINE + 1]]:8") : tensor<4x4xf32>
  %s = pit.sparse %a background(1.0 : f32) label("x") : tensor<4x4xf32>
  %r = linalg.matmul ins(%s, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @selectors(
func.func @selectors(%a: tensor<?x4xf32>, %m: tensor<?x4xi1>, %l: tensor<?xi32>, %i: !pit.index<micro_tile = [1, 1], axis = 1>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK: pit.record mask %arg1 label("m") signature("mask of tensor<?x4xf32>
  %s = pit.sparse %a mask(%m : tensor<?x4xi1>) label("m") : tensor<?x4xf32>
  // CHECK: %[[N:.*]] = tensor.dim %arg0
  // CHECK: pit.record lengths %arg2 shape(%[[N]], %{{.*}}) label("l")
  %t = pit.sparse %a lengths(%l : tensor<?xi32>) label("l") : tensor<?x4xf32>
  // Neither an index nor a mark without a label.
  // CHECK-NOT: pit.record
  %u = pit.sparse %a index(%i : !pit.index<micro_tile = [1, 1], axis = 1>) label("i") : tensor<?x4xf32>
  %v = pit.sparse %a : tensor<?x4xf32>
  return %s, %t, %u, %v : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}
