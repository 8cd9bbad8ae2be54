// RUN: pit-opt %s --pit-collapse-sums --split-input-file | FileCheck %s
// RUN: pit-opt %s --pit-collapse-sums --pit-sink-marks --canonicalize --split-input-file | FileCheck %s --check-prefix=SINK
// RUN: pit-opt %s --pit-collapse-sums=longest=3 --split-input-file | FileCheck %s --check-prefix=LONGEST

#bmk = affine_map<(k, n, b, m) -> (b, m, k)>
#bmn = affine_map<(k, n, b, m) -> (b, m, n)>
#kn = affine_map<(k, n, b, m) -> (k, n)>

// A gradient of weights, whose rows a mask selects: one list has those of all batch elements.
// CHECK-LABEL: func.func @masked(
// CHECK: %[[S:.*]] = pit.sparse
// CHECK-DAG: %[[A:.*]] = tensor.collapse_shape %[[S]] {{\[\[}}0, 1], [2]] : tensor<?x8x16xf32> into tensor<?x16xf32>
// CHECK-DAG: %[[G:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<?x8x32xf32> into tensor<?x32xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %[[G]]
// LONGEST-LABEL: func.func @masked(
// LONGEST-NOT: collapse_shape
// SINK-LABEL: func.func @masked(
// SINK: %[[M:.*]] = tensor.collapse_shape {{.*}} : tensor<?x8x16xi8> into tensor<?x16xi8>
// SINK: pit.sparse %{{.*}} mask(%[[M]] : tensor<?x16xi8>) : tensor<?x16xf32>
func.func @masked(%x: tensor<?x8x16xf32>, %mask: tensor<?x8x16xi8>, %g: tensor<?x8x32xf32>, %o: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %s = pit.sparse %x mask(%mask : tensor<?x8x16xi8>) : tensor<?x8x16xf32>
  %y = linalg.generic {indexing_maps = [#bmk, #bmn, #kn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%s, %g : tensor<?x8x16xf32>, tensor<?x8x32xf32>) outs(%o : tensor<16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  return %y : tensor<16x32xf32>
}

// -----

// Three dims, and two of them where another operand lacks the third; values that are not zero
// select. A named op becomes a generic one.
// LONGEST-LABEL: func.func @several(
// LONGEST: tensor<2x3x4x5xf32> into tensor<6x4x5xf32>
// LONGEST: tensor<2x3x5xf32> into tensor<6x5xf32>
// CHECK-LABEL: func.func @several(
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2], [3]] : tensor<2x3x4x5xf32> into tensor<24x5xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<24x5xf32>)
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2], [3]] : tensor<2x3x4x5xf32> into tensor<6x4x5xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<6x4x5xf32>, tensor<4xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%{{.*}} : tensor<6x5xf32>)
func.func @several(%x: tensor<2x3x4x5xf32>, %w: tensor<4xf32>, %z: tensor<2x3x5xf32>, %o: tensor<5xf32>)
    -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %s = pit.sparse %x : tensor<2x3x4x5xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(d, a, b, c) -> (a, b, c, d)>, affine_map<(d, a, b, c) -> (d)>],
      iterator_types = ["parallel", "reduction", "reduction", "reduction"]}
      ins(%s : tensor<2x3x4x5xf32>) outs(%o : tensor<5xf32>) {
  ^bb0(%a: f32, %c: f32):
    %q = arith.addf %c, %a : f32
    linalg.yield %q : f32
  } -> tensor<5xf32>
  %v = linalg.generic {
      indexing_maps = [affine_map<(d, a, b, c) -> (a, b, c, d)>, affine_map<(d, a, b, c) -> (c)>, affine_map<(d, a, b, c) -> (d)>],
      iterator_types = ["parallel", "reduction", "reduction", "reduction"]}
      ins(%s, %w : tensor<2x3x4x5xf32>, tensor<4xf32>) outs(%o : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<5xf32>
  %t = pit.sparse %z : tensor<2x3x5xf32>
  %u = linalg.reduce { arith.addf } ins(%t : tensor<2x3x5xf32>) outs(%o : tensor<5xf32>) dimensions = [0, 1]
  return %y, %v, %u : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

// -----

// What stays: dims that are apart in another operand, a rule, lengths, a slice, and results that
// have the dims.
// CHECK-LABEL: func.func @stays(
// CHECK-NOT: collapse_shape
// CHECK: return
#bmk = affine_map<(k, n, b, m) -> (b, m, k)>
#bmn = affine_map<(k, n, b, m) -> (b, m, n)>
#mbn = affine_map<(k, n, b, m) -> (m, b, n)>
#kn = affine_map<(k, n, b, m) -> (k, n)>
func.func @stays(%x: tensor<4x8x16xf32>, %wide: tensor<4x9x16xf32>, %lengths: tensor<4xi32>, %g: tensor<4x8x32xf32>,
                 %h: tensor<8x4x32xf32>, %o: tensor<16x32xf32>, %w: tensor<16x32xf32>, %r: tensor<4x8x32xf32>)
    -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<4x8x32xf32>) {
  %s = pit.sparse %x : tensor<4x8x16xf32>
  %0 = linalg.generic {indexing_maps = [#bmk, #mbn, #kn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%s, %h : tensor<4x8x16xf32>, tensor<8x4x32xf32>) outs(%o : tensor<16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  %t = pit.sparse %x rule(#pit.rule<axis = 1, micro_tile = [4, 1, 1]>) : tensor<4x8x16xf32>
  %1 = linalg.generic {indexing_maps = [#bmk, #bmn, #kn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%t, %g : tensor<4x8x16xf32>, tensor<4x8x32xf32>) outs(%o : tensor<16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  %l = pit.sparse %x lengths(%lengths : tensor<4xi32>) : tensor<4x8x16xf32>
  %2 = linalg.generic {indexing_maps = [#bmk, #bmn, #kn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%l, %g : tensor<4x8x16xf32>, tensor<4x8x32xf32>) outs(%o : tensor<16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  %part = tensor.extract_slice %wide[0, 1, 0] [4, 8, 16] [1, 1, 1] : tensor<4x9x16xf32> to tensor<4x8x16xf32>
  %u = pit.sparse %part : tensor<4x8x16xf32>
  %3 = linalg.generic {indexing_maps = [#bmk, #bmn, #kn], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%u, %g : tensor<4x8x16xf32>, tensor<4x8x32xf32>) outs(%o : tensor<16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s, %w : tensor<4x8x16xf32>, tensor<16x32xf32>) outs(%r : tensor<4x8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<4x8x32xf32>
  return %0, %1, %2, %3, %4 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<4x8x32xf32>
}
