// RUN: pit-compile %s --target=cuda --chip=sm_90a --emit=ptx | FileCheck %s
// REQUIRES: pit-compile

// What is added to each element comes into the L2 cache while the products are computed. Then
// a warp copies chunks of its rows into shared memory, and takes its matrices from there; only
// where the edge cuts a chunk, or rows are not aligned, elements come one by one, in a loop.
// CHECK: prefetch.global.L2
// CHECK: wgmma.wait_group
// CHECK-NOT: @there
// CHECK-COUNT-4: cp.async.cg.shared.global
// CHECK: cp.async.wait_group 0
// CHECK-COUNT-4: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: stmatrix
// CHECK-NOT: @there
// CHECK: .entry
func.func @add(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %c: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<4096x4096xf32>
  %init = linalg.fill ins(%zero : f32) outs(%wide : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %sum = linalg.matmul ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
           outs(%init : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %empty = tensor.empty() : tensor<4096x4096xbf16>
  %r = linalg.generic {
         indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
         iterator_types = ["parallel", "parallel"]}
         ins(%sum, %c : tensor<4096x4096xf32>, tensor<4096x4096xbf16>) outs(%empty : tensor<4096x4096xbf16>) {
  ^bb0(%x: f32, %y: bf16, %o: bf16):
    %w = arith.extf %y : bf16 to f32
    %s = arith.addf %x, %w : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x4096xbf16>
  return %r : tensor<4096x4096xbf16>
}
