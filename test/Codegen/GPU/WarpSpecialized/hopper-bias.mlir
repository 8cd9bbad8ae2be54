// RUN: pit-compile %s --target=cuda --chip=sm_90a --emit=ptx | FileCheck %s
// REQUIRES: pit-compile

// Before any results are stored, a thread loads its 64 elements of the bias, once for both
// of its rows, two at a time. One branch is for a bias that is not aligned so, or ends
// within the tile. No loads or branches are between what is stored of 64 columns.
// CHECK: wgmma.wait_group
// CHECK-NOT: st.global
// CHECK: bra
// CHECK-COUNT-64: @there ld.global.b16
// CHECK-NOT: @there
// CHECK: bra
// CHECK-COUNT-32: ld.global.b32
// CHECK-NOT: ld.global
// CHECK: stmatrix
// CHECK-NOT: bra
// CHECK: stmatrix
func.func @linear(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %bias: tensor<4096xf16>) -> tensor<4096x4096xf16> {
  %zero = arith.constant 0.0 : f32
  %wide = tensor.empty() : tensor<4096x4096xf32>
  %init = linalg.fill ins(%zero : f32) outs(%wide : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %sum = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>)
           outs(%init : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %empty = tensor.empty() : tensor<4096x4096xf16>
  %r = linalg.generic {
         indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
         iterator_types = ["parallel", "parallel"]}
         ins(%sum, %bias : tensor<4096x4096xf32>, tensor<4096xf16>) outs(%empty : tensor<4096x4096xf16>) {
  ^bb0(%x: f32, %y: f16, %o: f16):
    %w = arith.extf %y : f16 to f32
    %s = arith.addf %x, %w : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}
