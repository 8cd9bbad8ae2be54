// RUN: pit-opt %s --pit-drop-unit-results --canonicalize --split-input-file | FileCheck %s
// RUN: pit-opt %s --pit-to-tiles --split-input-file | FileCheck %s --check-prefix=TILES

#ij = affine_map<(i, j) -> (i, j)>
#i0 = affine_map<(i, j) -> (i, 0)>

// The softmax of torch: a maximum and a sum that keep their dim. No reshape is left
// between them and what reads them.
// CHECK-DAG: #[[$IJ:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$I:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: @kept
// CHECK: %[[S:.*]] = pit.sparse %{{.*}} background(0xFF800000 : f32) : tensor<?x32xf32>
// CHECK: %[[FILL:.*]] = linalg.fill {{.*}} outs(%{{.*}} : tensor<?xf32>)
// CHECK: %[[MAX:.*]] = linalg.generic {indexing_maps = [#[[$IJ]], #[[$I]]]
// CHECK-SAME: ins(%[[S]] : tensor<?x32xf32>) outs(%[[FILL]] : tensor<?xf32>)
// CHECK: %[[R:.*]] = tensor.expand_shape %[[MAX]] {{\[}}[0, 1]] output_shape [%{{.*}}, 1]
// CHECK: return %[[R]] : tensor<?x1xf32>

// The mark's work is done by tiles.
// TILES-LABEL: @kept
// TILES: pit.index
// TILES: pit.for
func.func @kept(%x: tensor<?x32xf32>) -> tensor<?x1xf32> {
  %c0 = arith.constant 0 : index
  %low = arith.constant 0xFF800000 : f32
  %d = tensor.dim %x, %c0 : tensor<?x32xf32>
  %e = tensor.empty(%d) : tensor<?x1xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<?x1xf32>) -> tensor<?x1xf32>
  %s = pit.sparse %x background(0xFF800000 : f32) : tensor<?x32xf32>
  %m = linalg.generic {indexing_maps = [#ij, #i0], iterator_types = ["parallel", "reduction"]}
      ins(%s : tensor<?x32xf32>) outs(%f : tensor<?x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<?x1xf32>
  return %m : tensor<?x1xf32>
}

// -----

#ijk = affine_map<(i, j, k) -> (i, j, k)>
#i00 = affine_map<(i, j, k) -> (i, 0, 0)>
#i0_of_3 = affine_map<(i, j, k) -> (i, 0)>

// Two results, and an operand that is broadcast along a dim that a result lacks. What the
// rule says of the op's dims still holds.
// CHECK-LABEL: @several
// CHECK-DAG: %[[B:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1, 2]] : tensor<8x1x1xf32> into tensor<8xf32>
// CHECK-DAG: %[[S:.*]] = pit.sparse %{{.*}} rule(<axis = 1, micro_tile = [8, 1, 4], tile = [8, 16, 4]>)
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction", "reduction"]
// CHECK-SAME: ins(%[[S]], %[[B]] : tensor<8x16x4xf32>, tensor<8xf32>)
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>)
// CHECK-DAG: tensor.expand_shape %[[R]]#0 {{\[}}[0, 1, 2]] output_shape [8, 1, 1]
// CHECK-DAG: tensor.expand_shape %[[R]]#1 {{\[}}[0, 1]] output_shape [8, 1]
func.func @several(%x: tensor<8x16x4xf32>, %y: tensor<8x1x1xf32>, %o: tensor<8x1x1xf32>, %p: tensor<8x1xf32>) -> (tensor<8x1x1xf32>, tensor<8x1xf32>) {
  %s = pit.sparse %x rule(#pit.rule<axis = 1, micro_tile = [8, 1, 4], tile = [8, 16, 4]>) : tensor<8x16x4xf32>
  %r:2 = linalg.generic {indexing_maps = [#ijk, #i00, #i00, #i0_of_3],
                         iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%s, %y : tensor<8x16x4xf32>, tensor<8x1x1xf32>)
      outs(%o, %p : tensor<8x1x1xf32>, tensor<8x1xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    %2 = arith.addf %d, %0 : f32
    linalg.yield %1, %2 : f32, f32
  } -> (tensor<8x1x1xf32>, tensor<8x1xf32>)
  return %r#0, %r#1 : tensor<8x1x1xf32>, tensor<8x1xf32>
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#x0 = affine_map<(i, j) -> (i, 0)>

// Results without such a dim stay, whatever the operands are.
// CHECK-LABEL: @plain
// CHECK-NOT: _shape
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<8x16xf32>, tensor<8x1xf32>)
func.func @plain(%x: tensor<8x16xf32>, %y: tensor<8x1xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [#ij, #x0, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<8x16xf32>, tensor<8x1xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
