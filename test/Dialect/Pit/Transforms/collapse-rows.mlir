// RUN: pit-opt %s -pit-plan=target=sm_80 -cse | FileCheck %s
// RUN: pit-opt %s -pit-plan -cse | FileCheck %s --check-prefix=CPU

// A sum over a batch and its rows: one list has the numbers of all rows. On a CPU a
// product keeps its groups.
// CHECK-LABEL: func.func @lengths_summed
// CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0, 1], [2]]
// CHECK-DAG: %[[N:.*]] = tensor.dim %arg2, %{{.*}} : tensor<?xi32>
// CHECK: %[[I:.*]] = pit.index lengths %arg2 shape(%[[N]], %{{.*}}, %{{.*}}) : tensor<?xi32> -> !pit.index<micro_tile = [1, *], axis = 0>
// CHECK: %[[Y:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]]
// CHECK: %[[S:.*]] = pit.sparse %[[Y]] index(%[[I]] : {{.*}}) : tensor<?x64xf32>
// CHECK: linalg.generic {{.*}} ins(%[[S]], %[[X]] : tensor<?x64xf32>, tensor<?x32xf32>) {{.*}} attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, *], tile = [{{.*}}, {{.*}}, {{[0-9]+}}]>}
// CPU-LABEL: func.func @lengths_summed
// CPU: pit.index lengths %{{.*}} -> !pit.index<micro_tile = [1, 1, *], axis = 1>
func.func @lengths_summed(%y: tensor<?x?x64xf32>, %x: tensor<?x?x32xf32>, %l: tensor<?xi32>, %o: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %s = pit.sparse %y lengths(%l : tensor<?xi32>) : tensor<?x?x64xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(n, k, b, s) -> (b, s, n)>, affine_map<(n, k, b, s) -> (b, s, k)>,
                       affine_map<(n, k, b, s) -> (n, k)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%s, %x : tensor<?x?x64xf32>, tensor<?x?x32xf32>) outs(%o : tensor<64x32xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.addf %w, %p : f32
    linalg.yield %q : f32
  } -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// Lengths of two dims are a vector first.
// CPU-LABEL: func.func @lengths_of_two_dims
// CPU: pit.index lengths %{{.*}} -> !pit.index<micro_tile = [1, *], axis = 0>
// CHECK-LABEL: func.func @lengths_of_two_dims
// CHECK: %[[L:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0, 1]] : tensor<2x?xi64> into tensor<?xi64>
// CHECK: pit.index lengths %[[L]] shape({{.*}}) : tensor<?xi64> -> !pit.index<micro_tile = [1, *], axis = 0>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
func.func @lengths_of_two_dims(%y: tensor<2x?x?x64xf32>, %l: tensor<2x?xi64>, %o: tensor<64xf32>) -> tensor<64xf32> {
  %s = pit.sparse %y lengths(%l : tensor<2x?xi64>) : tensor<2x?x?x64xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(n, a, b, s) -> (a, b, s, n)>, affine_map<(n, a, b, s) -> (n)>],
      iterator_types = ["parallel", "reduction", "reduction", "reduction"]}
      ins(%s : tensor<2x?x?x64xf32>) outs(%o : tensor<64xf32>) {
  ^bb0(%u: f32, %w: f32):
    %q = arith.addf %w, %u : f32
    linalg.yield %q : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// The other operand has batch and rows the other way round: they stay two dims.
// CHECK-LABEL: func.func @lengths_apart
// CHECK: pit.index lengths %{{.*}} -> !pit.index<micro_tile = [1, 1, *], axis = 1>
func.func @lengths_apart(%y: tensor<?x?x64xf32>, %x: tensor<?x?x32xf32>, %l: tensor<?xi32>, %o: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %s = pit.sparse %y lengths(%l : tensor<?xi32>) : tensor<?x?x64xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(n, k, b, s) -> (b, s, n)>, affine_map<(n, k, b, s) -> (s, b, k)>,
                       affine_map<(n, k, b, s) -> (n, k)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%s, %x : tensor<?x?x64xf32>, tensor<?x?x32xf32>) outs(%o : tensor<64x32xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.addf %w, %p : f32
    linalg.yield %q : f32
  } -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}
