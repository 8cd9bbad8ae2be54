// RUN: pit-opt %s -pit-plan="target=sm_80 conflicts=atomic" | FileCheck %s

// Tile sizes for a GPU: by element type, and by whether the axis is reduced.

!t = tensor<?x?xf32>
!h = tensor<?x?xf16>
!m = tensor<?x?xi1>

// CHECK-LABEL: func.func @a_k(
// CHECK: micro_tile = [32, 1], tile = [32, 256, 32]>
// CHECK: micro_tile = [32, 1], tile = [32, 256, 64]>
// CHECK: micro_tile = [32, 1], tile = [32, 64, 32]>
// CHECK: micro_tile = [32, 1], tile = [32, 256, 64]>
func.func @a_k(%a: !t, %b: !t, %c: !t, %x: !h, %y: !h, %z: !h, %p: tensor<?x?xf64>, %q: tensor<?x?xi8>, %r: tensor<?x?xi32>)
    -> (!t, !h, tensor<?x?xf64>, tensor<?x?xi32>) {
  %s = pit.sparse %a : !t
  %0 = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  %u = pit.sparse %x : !h
  %1 = linalg.matmul ins(%u, %y : !h, !h) outs(%z : !h) -> !h
  %v = pit.sparse %p : tensor<?x?xf64>
  %2 = linalg.matmul ins(%v, %p : tensor<?x?xf64>, tensor<?x?xf64>) outs(%p : tensor<?x?xf64>) -> tensor<?x?xf64>
  %w = pit.sparse %q : tensor<?x?xi8>
  %3 = linalg.matmul ins(%w, %q : tensor<?x?xi8>, tensor<?x?xi8>) outs(%r : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %0, %1, %2, %3 : !t, !h, tensor<?x?xf64>, tensor<?x?xi32>
}

// CHECK-LABEL: func.func @rows(
// CHECK: micro_tile = [1, *], tile = [128, 128, 16]>
// CHECK: micro_tile = [1, *], tile = [128, 256, 32]>
func.func @rows(%a: !t, %b: !t, %c: !t, %x: !h, %y: !h, %z: !h) -> (!t, !h) {
  %s = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : !t
  %0 = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  %u = pit.sparse %x rule(#pit.rule<axis = 0, micro_tile = [1, *]>) : !h
  %1 = linalg.matmul ins(%u, %y : !h, !h) outs(%z : !h) -> !h
  return %0, %1 : !t, !h
}

// Parts of rows, as many elements as the table says, or the user.
// CHECK-LABEL: func.func @parts(
// CHECK: micro_tile = [1, 64], tile = [128, 128, 64], conflicts = atomic>
// CHECK: micro_tile = [1, 64], tile = [128, 256, 64], conflicts = atomic>
// CHECK: micro_tile = [1, 48], tile = [128, 128, 48], conflicts = atomic>
func.func @parts(%a: !t, %b: !t, %c: !t, %x: !h, %y: !h, %z: !h) -> (!t, !h, !t) {
  %s = pit.sparse %a rule(#pit.rule<axis = 0>) : !t
  %0 = linalg.matmul ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  %u = pit.sparse %x rule(#pit.rule<axis = 0, micro_tile = [1, 64]>) : !h
  %1 = linalg.matmul ins(%u, %y : !h, !h) outs(%z : !h) -> !h
  %v = pit.sparse %a rule(#pit.rule<axis = 0, micro_tile = [1, 48]>) : !t
  %2 = linalg.matmul ins(%v, %b : !t, !t) outs(%c : !t) -> !t
  return %0, %1, %2 : !t, !h, !t
}

// The right operand, and wanted outputs.
// CHECK-LABEL: func.func @b_and_c(
// CHECK: operand = 1, axis = 0, micro_tile = [1, 32], tile = [128, 32, 32]>
// CHECK: operand = 2, axis = 0, micro_tile = [1, 32], tile = [128, 32, 16]>
func.func @b_and_c(%a: !t, %b: !t, %c: !t, %m: !m) -> (!t, !t) {
  %s = pit.sparse %b : !t
  %0 = linalg.matmul ins(%a, %s : !t, !t) outs(%c : !t) -> !t
  %1 = linalg.matmul ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  %u = pit.sparse %1 mask(%m : !m) : !t
  return %0, %u : !t, !t
}

// Routing weights are f32; what is multiplied is f16, and that counts.
// CHECK-LABEL: func.func @experts(
// CHECK: micro_tile = [1, 1], tile = [128, 1, 256, 32]>
// CHECK: micro_tile = [1, 1], tile = [128, 256, 1, 32], conflicts = atomic>
func.func @experts(%g: tensor<?x8xf32>, %x: tensor<?x512xf16>, %up: tensor<8x512x2048xf16>, %down: tensor<8x2048x512xf16>,
                   %h0: tensor<?x8x2048xf16>, %y0: tensor<?x512xf32>, %to: tensor<?x2xi32>) -> tensor<?x512xf32> {
  %r = pit.sparse %g routing(%to : tensor<?x2xi32>) : tensor<?x8xf32>
  %h = linalg.generic {
      indexing_maps = [affine_map<(t, e, f, k) -> (t, e)>, affine_map<(t, e, f, k) -> (t, k)>,
                       affine_map<(t, e, f, k) -> (e, k, f)>, affine_map<(t, e, f, k) -> (t, e, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%r, %x, %up : tensor<?x8xf32>, tensor<?x512xf16>, tensor<8x512x2048xf16>) outs(%h0 : tensor<?x8x2048xf16>) {
  ^bb0(%w: f32, %a: f16, %b: f16, %o: f16):
    %v = arith.truncf %w : f32 to f16
    %p = arith.mulf %a, %b : f16
    %q = arith.mulf %v, %p : f16
    %s = arith.addf %o, %q : f16
    linalg.yield %s : f16
  } -> tensor<?x8x2048xf16>
  %y = linalg.generic {
      indexing_maps = [affine_map<(t, n, e, f) -> (t, e)>, affine_map<(t, n, e, f) -> (t, e, f)>,
                       affine_map<(t, n, e, f) -> (e, f, n)>, affine_map<(t, n, e, f) -> (t, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%r, %h, %down : tensor<?x8xf32>, tensor<?x8x2048xf16>, tensor<8x2048x512xf16>) outs(%y0 : tensor<?x512xf32>) {
  ^bb0(%w: f32, %a: f16, %b: f16, %o: f32):
    %a32 = arith.extf %a : f16 to f32
    %b32 = arith.extf %b : f16 to f32
    %p = arith.mulf %a32, %b32 : f32
    %q = arith.mulf %w, %p : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}
