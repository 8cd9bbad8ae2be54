// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-form-rings{vector-width=512},canonicalize,cse))' | FileCheck %s
// RUN: pit-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(pit-form-rings{vector-width=512},canonicalize),one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},canonicalize)' | FileCheck %s --check-prefix=BUFFERS

// Micro-tiles of A along k, bias and ReLU: all of it is one ring on tensors,
// which writes in place.

// CHECK-LABEL: func.func @columns
// CHECK: pit.forall {{.*}} iter_args(%[[OUT:.*]] = %
// CHECK:   %[[BIAS:.*]] = pit.view %arg2[{{.*}}] : tensor<?xf32> -> vector<128xf32>
// CHECK:   %[[R:.*]] = pit.ring step [] in %{{.*}} chunk 64 {{.*}} tile [32, 128, 64]
// CHECK-SAME: extras(%[[BIAS]] : vector<128xf32>)
// CHECK-SAME: into %[[OUT]][{{.*}}] : tensor<?x?xf32> -> tensor<?x?xf32> load {
// CHECK:     pit.view %arg0[{{.*}}] {{.*}} -> vector<32x64xbf16>
// CHECK:     pit.view %arg1[{{.*}}] {{.*}} -> vector<64x128xbf16>
// CHECK:   } compute {
// CHECK:     arith.extf
// CHECK:   } finish {
// CHECK:     arith.maximumf
// CHECK:   pit.yield %[[R]]

// BUFFERS-LABEL: func.func @columns
// BUFFERS: %[[O:.*]] = memref.alloc
// BUFFERS-NOT: memref.alloc
// BUFFERS-NOT: memref.copy
// BUFFERS: pit.ring {{.*}} into %[[O]][{{.*}}] : memref<?x?xf32> load
// BUFFERS: pit.view %arg0[{{.*}}] {{.*}} : memref<?x2048xbf16>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
func.func @columns(%a: tensor<?x2048xbf16>, %b: tensor<2048x?xbf16>, %bias: tensor<?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %cst = arith.constant 0.0 : f32
  %i = pit.index %a : tensor<?x2048xbf16> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 128) iter_args(%o = %e) -> (tensor<?x?xf32>) {
    %t = tensor.empty() : tensor<32x128xf32>
    %acc = linalg.fill ins(%cst : f32) outs(%t : tensor<32x128xf32>) -> tensor<32x128xf32>
    %sum = pit.for %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%s = %acc) -> (tensor<32x128xf32>) {
      %at = pit.sread %a[%x, %ids : !pit.ids<64>] pad(0.0 : bf16) : tensor<?x2048xbf16> -> tensor<32x64xbf16>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %y] pad(0.0 : bf16) : tensor<2048x?xbf16> -> tensor<64x128xbf16>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xbf16>, tensor<64x128xbf16>) outs(%s : tensor<32x128xf32>) -> tensor<32x128xf32>
      pit.yield %p : tensor<32x128xf32>
    }
    %bs = pit.sread %bias[%y] : tensor<?xf32> -> tensor<128xf32>
    %g = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%sum, %bs : tensor<32x128xf32>, tensor<128xf32>) outs(%t : tensor<32x128xf32>) {
    ^bb0(%in: f32, %add: f32, %out: f32):
      %1 = arith.addf %in, %add : f32
      %2 = arith.maximumf %1, %cst : f32
      linalg.yield %2 : f32
    } -> tensor<32x128xf32>
    %w = pit.swrite %g into %o[%x, %y] : tensor<32x128xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// Columns of C are gathered: no lanes in one piece, so it stays as it is.

// CHECK-LABEL: func.func @gathered_columns
// CHECK-NOT: pit.ring
// CHECK: linalg.matmul
func.func @gathered_columns(%a: tensor<?x64xf32>, %b: tensor<64x?xf32>, %i: !pit.index<micro_tile = [32, 1], axis = 1>, %x: index, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %r = pit.forall %ids at %pos in %i[%x] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %acc = pit.sread %o[%x, %ids : !pit.ids<64>] : tensor<?x?xf32> -> tensor<32x64xf32>
    %at = pit.sread %a[%x, %c0] pad(0.0 : f32) : tensor<?x64xf32> -> tensor<32x64xf32>
    %bt = pit.sread %b[%c0, %ids : !pit.ids<64>] pad(0.0 : f32) : tensor<64x?xf32> -> tensor<64x64xf32>
    %p = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<32x64xf32>) -> tensor<32x64xf32>
    %w = pit.swrite %p into %o[%x, %ids : !pit.ids<64>] : tensor<32x64xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// A tile that reads beyond the others' range is padded: that takes a tile of
// its own.

// CHECK-LABEL: func.func @shifted
// CHECK-NOT: pit.ring
func.func @shifted(%a: tensor<?x64xf32>, %b: tensor<64x?xf32>, %m: index, %n: index, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 64) iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %next = arith.addi %x, %c1 : index
    %acc = pit.sread %o[%x, %y] : tensor<?x?xf32> -> tensor<32x64xf32>
    %at = pit.sread %a[%next, %c0] pad(0.0 : f32) : tensor<?x64xf32> -> tensor<32x64xf32>
    %bt = pit.sread %b[%c0, %y] pad(0.0 : f32) : tensor<64x?xf32> -> tensor<64x64xf32>
    %p = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<32x64xf32>) -> tensor<32x64xf32>
    %w = pit.swrite %p into %o[%x, %y] : tensor<32x64xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// -----

// An epilogue that reads a mask: its bytes are no vector of i1.

// CHECK-LABEL: func.func @masked
// CHECK-NOT: pit.ring
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @masked(%a: tensor<?x64xf32>, %b: tensor<64x?xf32>, %m: index, %n: index, %c: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %cst = arith.constant 0.0 : f32
  %r = pit.forall (%x, %y) = (%c0, %c0) to (%m, %n) step (32, 64) iter_args(%o = %c) -> (tensor<?x?xf32>) {
    %acc = pit.sread %o[%x, %y] : tensor<?x?xf32> -> tensor<32x64xf32>
    %at = pit.sread %a[%x, %c0] pad(0.0 : f32) : tensor<?x64xf32> -> tensor<32x64xf32>
    %bt = pit.sread %b[%c0, %y] pad(0.0 : f32) : tensor<64x?xf32> -> tensor<64x64xf32>
    %p = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x64xf32>) outs(%acc : tensor<32x64xf32>) -> tensor<32x64xf32>
    %mt = pit.sread %mask[%x, %y] : tensor<?x?xi1> -> tensor<32x64xi1>
    %t = tensor.empty() : tensor<32x64xf32>
    %g = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %mt : tensor<32x64xf32>, tensor<32x64xi1>) outs(%t : tensor<32x64xf32>) {
    ^bb0(%in: f32, %keep: i1, %out: f32):
      %1 = arith.select %keep, %in, %cst : f32
      linalg.yield %1 : f32
    } -> tensor<32x64xf32>
    %w = pit.swrite %g into %o[%x, %y] : tensor<32x64xf32> into tensor<?x?xf32>
    pit.yield %w : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}
