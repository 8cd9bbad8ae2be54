// REQUIRES: pit-run
// A function as StableHLO's stablehlo-legalize-to-linalg writes it: broadcasts as
// generic ops, a reshape by a constant shape, behind which the mark is used, and
// a constant in a resource.

// DEFINE: %{run} = --arg='random(128x64,f32,sparsity=0.9,micro=32x1,seed=1)' --arg='random(4x64x48,f32,seed=2)' --pipeline=choice=now --stats --check=%s
// RUN: pit-run %s %{run} | FileCheck %s
// RUN: pit-opt %s -linalg-generalize-named-ops -linalg-fuse-elementwise-ops -linalg-fold-unit-extent-dims -canonicalize -cse -o %t.mlir
// RUN: pit-run %t.mlir %{run} | FileCheck %s

// CHECK: index 0: values of argument 0, 4x32x64 along axis 2 in micro-tiles of 1x32x1
// CHECK: rule: {{.*}} micro_tile = [1, 32, 1]
// CHECK: check: result 0: {{.*}}: ok

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d2)>
module @jit_f {
  func.func public @main(%arg0: tensor<128x64xf32>, %arg1: tensor<4x64x48xf32>) -> (tensor<4x32x48xf32> {jax.result_info = ""}) {
    %cst = arith.constant dense_resource<bias> : tensor<48xf32>
    %shape = arith.constant dense<[4, 32, 64]> : tensor<3xi64>
    %s = pit.sparse %arg0 : tensor<128x64xf32>
    %r = tensor.reshape %s(%shape) : (tensor<128x64xf32>, tensor<3xi64>) -> tensor<4x32x64xf32>
    %e1 = tensor.empty() : tensor<4x32x48xf32>
    %c0 = arith.constant 0.000000e+00 : f32
    %f = linalg.fill ins(%c0 : f32) outs(%e1 : tensor<4x32x48xf32>) -> tensor<4x32x48xf32>
    %d = linalg.batch_matmul ins(%r, %arg1 : tensor<4x32x64xf32>, tensor<4x64x48xf32>) outs(%f : tensor<4x32x48xf32>) -> tensor<4x32x48xf32>
    %bb = linalg.generic {indexing_maps = [#row, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%cst : tensor<48xf32>) outs(%e1 : tensor<4x32x48xf32>) attrs =  {broadcastDimensions = array<i64: 2>} {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x32x48xf32>
    %o = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d, %bb : tensor<4x32x48xf32>, tensor<4x32x48xf32>) outs(%e1 : tensor<4x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %1 = arith.addf %x, %y : f32
      linalg.yield %1 : f32
    } -> tensor<4x32x48xf32>
    return %o : tensor<4x32x48xf32>
  }
}
{-#
  dialect_resources: {
    builtin: {
      bias: "0x04000000000040C0000020C0000000C00000C0BF000080BF000000BF000000000000003F0000803F0000C03F0000004000002040000040400000604000008040000090400000A0400000B0400000C0400000D0400000E0400000F0400000004100000841000010410000184100002041000028410000304100003841000040410000484100005041000058410000604100006841000070410000784100008041000084410000884100008C4100009041000094410000984100009C410000A0410000A441"
    }
  }
#-}
