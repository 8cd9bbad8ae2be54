// RUN: pit-opt %s --pit-form-matrices --canonicalize --cse --split-input-file | FileCheck %s

// The element-wise op after the product has the row, too.
// CHECK: #map = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: #map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @matvec(
// CHECK-SAME: %[[A:.*]]: tensor<?x16xf16>, %[[V:.*]]: tensor<16xf16>, %[[BIAS:.*]]: tensor<?xf16>)
// CHECK: %[[XE:.*]] = tensor.expand_shape %[[V]] {{\[\[}}0, 1]] output_shape [1, 16]
// CHECK: %[[F:.*]] = linalg.fill {{.*}} -> tensor<1x?xf32>
// CHECK: %[[P:.*]] = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: ins(%[[A]], %[[XE]] : tensor<?x16xf16>, tensor<1x16xf16>) outs(%[[F]] : tensor<1x?xf32>)
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[BIAS]] : tensor<1x?xf32>, tensor<?xf16>)
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[S]] {{\[\[}}0, 1]] : tensor<1x?xf16> into tensor<?xf16>
// CHECK: return %[[C]]
#n = affine_map<(n) -> (n)>
func.func @matvec(%w: tensor<?x16xf16>, %x: tensor<16xf16>, %bias: tensor<?xf16>) -> tensor<?xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %w, %c0 : tensor<?x16xf16>
  %e = tensor.empty(%d) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %y = linalg.matvec ins(%w, %x : tensor<?x16xf16>, tensor<16xf16>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %e2 = tensor.empty(%d) : tensor<?xf16>
  %r = linalg.generic {indexing_maps = [#n, #n, #n], iterator_types = ["parallel"]}
    ins(%y, %bias : tensor<?xf32>, tensor<?xf16>) outs(%e2 : tensor<?xf16>) {
  ^bb0(%a: f32, %b: f16, %c: f16):
    %t = arith.truncf %a : f32 to f16
    %s = arith.addf %t, %b : f16
    linalg.yield %s : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>
}

// -----

// Of a batch, each vector gets a row.
// CHECK-LABEL: func.func @batch(
// CHECK-DAG: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [4, 1, 16] : tensor<4x16xbf16> into tensor<4x1x16xbf16>
// CHECK-DAG: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [4, 1, 32] : tensor<4x32xf32> into tensor<4x1x32xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x1x16xbf16>, tensor<4x16x32xbf16>) outs(%{{.*}} : tensor<4x1x32xf32>)
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<4x1x32xf32> into tensor<4x32xf32>
func.func @batch(%x: tensor<4x16xbf16>, %w: tensor<4x16x32xbf16>, %o: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %y = linalg.batch_vecmat ins(%x, %w : tensor<4x16xbf16>, tensor<4x16x32xbf16>) outs(%o : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// Two vectors, two matrices, and elements that no tensor core takes as they are.
// CHECK-LABEL: func.func @others(
// CHECK: linalg.dot
// CHECK: linalg.matmul
// CHECK: linalg.matvec
// CHECK-NOT: tensor.expand_shape
func.func @others(%x: tensor<16xf16>, %w: tensor<16x16xf16>, %v: tensor<16xf32>, %a: tensor<16x16xf32>,
                  %s: tensor<f32>, %o: tensor<16x16xf32>, %p: tensor<16xf32>) -> (tensor<f32>, tensor<16x16xf32>, tensor<16xf32>) {
  %0 = linalg.dot ins(%x, %x : tensor<16xf16>, tensor<16xf16>) outs(%s : tensor<f32>) -> tensor<f32>
  %1 = linalg.matmul ins(%w, %w : tensor<16x16xf16>, tensor<16x16xf16>) outs(%o : tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = linalg.matvec ins(%a, %v : tensor<16x16xf32>, tensor<16xf32>) outs(%p : tensor<16xf32>) -> tensor<16xf32>
  return %0, %1, %2 : tensor<f32>, tensor<16x16xf32>, tensor<16xf32>
}
