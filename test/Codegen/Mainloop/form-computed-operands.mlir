// RUN: pit-opt %s --pass-pipeline='builtin.module(func.func(pit-form-mainloops{chip=sm_90a},canonicalize))' | FileCheck %s

// A factor that is computed from elements which its body reads at places that it computes. It was the second
// factor and is the first one; the sums have its rows.

#w = affine_map<(m, n, k) -> (n, k)>
#x = affine_map<(m, n, k) -> (m, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#row = affine_map<(n, k) -> (n)>
#nk = affine_map<(n, k) -> (n, k)>

// CHECK-LABEL: func.func @computed(
// CHECK-SAME: %[[X:.*]]: memref<16x128xf16>, %[[S:.*]]: memref<64xi32>, %[[V:.*]]: memref<?xf16>
// CHECK: %[[VALUES:.*]] = bufferization.to_tensor %[[V]]
// CHECK: ^bb0(%[[XT:.*]]: vector<16x64xf16>, %[[ST:.*]]: vector<64xi32>, %[[STEP:.*]]: index, %[[ACC:.*]]: vector<16x64xf32>):
// CHECK: %[[W:.*]] = pit.pointwise(%[[ST]]) tile [64, 64]
// CHECK: ^bb0(%{{.*}}: index, %[[K:.*]]: index, %[[START:.*]]: i32):
// CHECK: %[[IN:.*]] = arith.addi %[[K]], %[[STEP]]
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[IN]]
// CHECK: tensor.extract %[[VALUES]][%[[AT]]] : tensor<?xf16>
// CHECK: pit.contract %[[W]], %[[XT]], %[[ACC]] tile [16, 64, 64]
// CHECK: ^bb0(%[[A:.*]]: f16, %[[B:.*]]: f16, %{{.*}}: f32):
// CHECK: %[[FIRST:.*]] = arith.extf %[[B]]
// CHECK: %[[SECOND:.*]] = arith.extf %[[A]]
// CHECK: arith.mulf %[[FIRST]], %[[SECOND]]
func.func @computed(%xm: memref<16x128xf16>, %sm: memref<64xi32>, %vm: memref<?xf16>, %out: memref<16x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %x = bufferization.to_tensor %xm restrict : memref<16x128xf16> to tensor<16x128xf16>
  %s = bufferization.to_tensor %sm restrict : memref<64xi32> to tensor<64xi32>
  %v = bufferization.to_tensor %vm restrict : memref<?xf16> to tensor<?xf16>
  %o = bufferization.to_tensor %out restrict writable : memref<16x64xf32> to tensor<16x64xf32>
  %r = pit.forall (%i) = (%c0) to (%c1) step (1) iter_args(%to = %o) -> (tensor<16x64xf32>) {
    %e = tensor.empty() : tensor<16x64xf32>
    %start = linalg.fill ins(%zero : f32) outs(%e : tensor<16x64xf32>) -> tensor<16x64xf32>
    %sum = pit.for (%k) = (%c0) to (%c128) step (64) iter_args(%acc = %start) -> (tensor<16x64xf32>) {
      %xt = pit.sread %x[%c0, %k] : tensor<16x128xf16> -> tensor<16x64xf16>
      %st = pit.sread %s[%c0] : tensor<64xi32> -> tensor<64xi32>
      %we = tensor.empty() : tensor<64x64xf16>
      %w = linalg.generic {indexing_maps = [#row, #nk], iterator_types = ["parallel", "parallel"]}
          ins(%st : tensor<64xi32>) outs(%we : tensor<64x64xf16>) {
      ^bb0(%from: i32, %old: f16):
        %first = arith.index_cast %from : i32 to index
        %column = linalg.index 1 : index
        %in = arith.addi %column, %k : index
        %at = arith.addi %first, %in : index
        %f = tensor.extract %v[%at] : tensor<?xf16>
        linalg.yield %f : f16
      } -> tensor<64x64xf16>
      %p = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%xt, %w : tensor<16x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<16x64xf32>) {
      ^bb0(%a: f16, %b: f16, %c: f32):
        %aw = arith.extf %a : f16 to f32
        %bw = arith.extf %b : f16 to f32
        %t = arith.mulf %aw, %bw : f32
        %u = arith.addf %c, %t : f32
        linalg.yield %u : f32
      } -> tensor<16x64xf32>
      pit.yield %p : tensor<16x64xf32>
    }
    %done = pit.swrite %sum into %to[%c0, %c0] : tensor<16x64xf32> into tensor<16x64xf32>
    pit.yield %done : tensor<16x64xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<16x64xf32>, memref<16x64xf32>) -> ()
  return
}
