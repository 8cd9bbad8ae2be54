// RUN: pit-opt %s -pit-name-generics | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
#none = affine_map<(i, j) -> ()>

// CHECK-LABEL: func.func @named
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: linalg.fill ins(%[[ONE]] : f32) outs(%arg0
// CHECK: linalg.fill ins(%arg2 : f32) outs(%arg0
// CHECK: linalg.transpose ins(%arg0 : tensor<4x8xf32>) outs(%arg1 : tensor<8x4xf32>) permutation = [1, 0]
// CHECK-NOT: linalg.generic
func.func @named(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>, %f: f32) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x4xf32>) {
  %one = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : tensor<4x8xf32>) {
  ^bb0(%o: f32):
    linalg.yield %one : f32
  } -> tensor<4x8xf32>
  %1 = linalg.generic {indexing_maps = [#none, #id], iterator_types = ["parallel", "parallel"]} ins(%f : f32) outs(%x : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  %2 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%y : tensor<8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x4xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8x4xf32>
}

// Other ops, planned ones and those on memory stay.
// CHECK-LABEL: func.func @other
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT: linalg.{{fill|transpose}}
func.func @other(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>, %m: memref<4x8xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %one = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%y : tensor<8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  } -> tensor<8x4xf32>
  %1 = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%y : tensor<8x4xf32>)
      attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, *], tile = [8, 4]>} {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x4xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%m : memref<4x8xf32>) {
  ^bb0(%o: f32):
    linalg.yield %one : f32
  }
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}

// There is nothing to transpose in one element, and MLIR's op takes no empty
// permutation.
// CHECK-LABEL: func.func @one_element
// CHECK: linalg.generic
// CHECK-NOT: linalg.transpose
func.func @one_element(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%x : tensor<f32>) outs(%y : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
