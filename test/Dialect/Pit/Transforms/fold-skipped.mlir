// RUN: pit-opt %s -pit-plan -cse -pit-fold -cse -pit-tile -split-input-file | FileCheck %s

// What folding packs must not change what is known of points that are skipped.

#id = affine_map<(d0, d1) -> (d0, d1)>

// If x is 0 the result is exp(b) [S3c], so exp(b) is needed everywhere.
// CHECK-LABEL: func.func @copied
// CHECK: %[[EXP:.*]] = linalg.exp
// CHECK-NOT: pit.swrite
// CHECK: pit.for{{.*}} iter_args(%{{.*}} = %[[EXP]])
func.func @copied(%x: tensor<64xf64>, %b: tensor<64xf64>) -> tensor<64xf64> {
  %e = tensor.empty() : tensor<64xf64>
  %o = linalg.exp ins(%b : tensor<64xf64>) outs(%e : tensor<64xf64>) -> tensor<64xf64>
  %s = pit.sparse %x : tensor<64xf64>
  %r = linalg.add ins(%s, %o : tensor<64xf64>, tensor<64xf64>) outs(%e : tensor<64xf64>) -> tensor<64xf64>
  return %r : tensor<64xf64>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Skipping is legal because 1 / 0 is a constant: the fill has to stay one.
// CHECK-LABEL: func.func @constant
// CHECK: %[[INF:.*]] = arith.constant 0x7F800000
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[INF]]
// CHECK: pit.for{{.*}} iter_args(%{{.*}} = %[[FILL]])
func.func @constant(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x1xf32>
  %i = linalg.fill ins(%one : f32) outs(%e : tensor<4x1xf32>) -> tensor<4x1xf32>
  %s = pit.sparse %x : tensor<4x1xf32>
  %p = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%i, %s : tensor<4x1xf32>, tensor<4x1xf32>) outs(%e : tensor<4x1xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<4x1xf32>
  return %p : tensor<4x1xf32>
}

// -----

// Skipping is legal because both inputs are the marked tensor.
// CHECK-LABEL: func.func @twice
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK: pit.for{{.*}} iter_args(%{{.*}} = %[[FILL]])
// CHECK: linalg.max
func.func @twice(%a: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %x = linalg.exp ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = pit.sparse %x : tensor<64xf32>
  %r = linalg.max ins(%s, %s : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}
