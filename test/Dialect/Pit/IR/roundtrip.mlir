// RUN: pit-opt %s | pit-opt | FileCheck %s
// RUN: pit-opt --mlir-print-op-generic %s | pit-opt | FileCheck %s

!rows = !pit.index<micro_tile = [1, *], axis = 0>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
!windows = !pit.index<micro_tile = [1, 1, 10, 10], axis = 1, step = [1, 1, 8, 8]>

// CHECK-LABEL: func.func @marks
func.func @marks(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>, %l: tensor<?xi32>,
                 %a: tensor<?x4xi64>, %i: !rows) {
  // CHECK: pit.sparse %{{.*}} : tensor<?x?xf32>
  %0 = pit.sparse %x : tensor<?x?xf32>
  // CHECK: pit.sparse %{{.*}} mask(%{{.*}} : tensor<?x?xi1>) background(0xFF800000 : f32) assume : tensor<?x?xf32>
  %1 = pit.sparse %x mask(%m : tensor<?x?xi1>) background(0xFF800000 : f32) assume : tensor<?x?xf32>
  // CHECK: pit.sparse %{{.*}} density(1.000000e-01 in [32, 1]) label("x") : tensor<?x?xf32>
  %known = pit.sparse %x density(0.1 in [32, 1]) label("x") : tensor<?x?xf32>
  // CHECK: pit.sparse %{{.*}} density(2.500000e-01) : tensor<?x?xf32>
  %elements = pit.sparse %x density(0.25) : tensor<?x?xf32>
  // CHECK: pit.sparse %{{.*}} lengths(%{{.*}} : tensor<?xi32>) rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xf32>
  %2 = pit.sparse %x lengths(%l : tensor<?xi32>) rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xf32>
  // CHECK: pit.sparse %{{.*}} assignment(%{{.*}} : tensor<?x4xi64>) : tensor<?x?xf32>
  %3 = pit.sparse %x assignment(%a : tensor<?x4xi64>) : tensor<?x?xf32>
  // CHECK: pit.sparse %{{.*}} index(%{{.*}} : !pit.index<micro_tile = [1, *], axis = 0>) : tensor<?x?xf32>
  %4 = pit.sparse %x index(%i : !rows) : tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @indices
func.func @indices(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>, %l: tensor<?xi32>,
                   %a: tensor<?x4xi64>, %img: tensor<1x8x34x34xf16>, %d: index) {
  // CHECK: %[[I:.*]] = pit.index %{{.*}} : tensor<?x?xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %0 = pit.index %x : tensor<?x?xf32> -> !cols
  // CHECK: pit.index %{{.*}} background(1.000000e+00 : f32) unordered : tensor<?x?xf32> -> !pit.index<micro_tile = [1, *], axis = 0>
  %1 = pit.index %x background(1.0 : f32) unordered : tensor<?x?xf32> -> !rows
  // CHECK: pit.index mask %{{.*}} : tensor<?x?xi1> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %2 = pit.index mask %m : tensor<?x?xi1> -> !cols
  // CHECK: pit.index lengths %{{.*}} shape(%{{.*}}, %{{.*}}) : tensor<?xi32>
  %3 = pit.index lengths %l shape(%d, %d) : tensor<?xi32> -> !pit.index<micro_tile = [1, 1], axis = 1>
  // CHECK: pit.index assignment %{{.*}} shape(%{{.*}}, %{{.*}}) : tensor<?x4xi64>
  %4 = pit.index assignment %a shape(%d, %d) : tensor<?x4xi64> -> !pit.index<micro_tile = [1, 1], axis = 0>
  // CHECK: pit.index %{{.*}} : tensor<1x8x34x34xf16> -> !pit.index<micro_tile = [1, 1, 10, 10], axis = 1, step = [1, 1, 8, 8]>
  %5 = pit.index %img : tensor<1x8x34x34xf16> -> !windows
  // CHECK: pit.count %[[I]] : !pit.index
  %6 = pit.count %0 : !cols
  // CHECK: pit.count %[[I]][%{{.*}}] : !pit.index
  %7 = pit.count %0[%d] : !cols
  // CHECK: pit.coverage %[[I]] : !pit.index
  %8 = pit.coverage %0 : !cols
  // CHECK: pit.extent %{{.*}} : !pit.index
  %9 = pit.extent %1 : !rows
  return
}

// CHECK-LABEL: func.func @whole
func.func @whole(%x: tensor<?x512xf32>, %i: !rows) -> tensor<?x512xf32> {
  // CHECK: pit.sread %{{.*}}[%{{.*}} : !pit.index<micro_tile = [1, *], axis = 0>] : tensor<?x512xf32> -> tensor<?x512xf32>
  %p = pit.sread %x[%i : !rows] : tensor<?x512xf32> -> tensor<?x512xf32>
  %e = math.exp %p : tensor<?x512xf32>
  // CHECK: pit.swrite %{{.*}} into %{{.*}}[%{{.*}} : !pit.index<micro_tile = [1, *], axis = 0>] dims[0, 1] : tensor<?x512xf32> into tensor<?x512xf32>
  %u = pit.swrite %e into %x[%i : !rows] dims[0, 1] : tensor<?x512xf32> into tensor<?x512xf32>
  return %u : tensor<?x512xf32>
}

// A tensor with rows, but nothing in them.
// CHECK-LABEL: func.func @whole_lacking
func.func @whole_lacking(%x: tensor<?xf32>, %i: !rows) -> tensor<?xf32> {
  // CHECK: pit.sread %{{.*}}[%{{.*}}] dims[0, -1] : tensor<?xf32> -> tensor<?xf32>
  %p = pit.sread %x[%i : !rows] dims[0, -1] : tensor<?xf32> -> tensor<?xf32>
  return %p : tensor<?xf32>
}

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %init: tensor<?x?xf32>,
                  %M: index, %N: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %i = pit.index %a : tensor<?x?xf32> -> !cols
  // CHECK: pit.forall (%[[M:.*]], %[[N:.*]]) = (%{{.*}}, %{{.*}}) to (%{{.*}}, %{{.*}}) step (32, 128) iter_args(%[[O:.*]] = %{{.*}}) -> (tensor<?x?xf32>) {
  %c = pit.forall (%m, %n) = (%c0, %c0) to (%M, %N) step (32, 128) iter_args(%o = %init) -> (tensor<?x?xf32>) {
    // CHECK: pit.sread %[[O]][%[[M]], %[[N]]] : tensor<?x?xf32> -> tensor<32x128xf32>
    %acc0 = pit.sread %o[%m, %n] : tensor<?x?xf32> -> tensor<32x128xf32>
    // CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[M]]] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args
    %sum = pit.for %ids at %pos in %i[%m] : !cols chunk 64 iter_args(%acc = %acc0) -> (tensor<32x128xf32>) {
      // CHECK: pit.sread %{{.*}}[%[[M]], %[[IDS]] : !pit.ids<64>] : tensor<?x?xf32> -> tensor<32x64xf32>
      %at = pit.sread %a[%m, %ids : !pit.ids<64>] : tensor<?x?xf32> -> tensor<32x64xf32>
      // CHECK: pit.sread %{{.*}}[%[[IDS]] : !pit.ids<64>, %[[N]]] pad(0.000000e+00 : f32) : tensor<?x?xf32> -> tensor<64x128xf32>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %n] pad(0.0 : f32) : tensor<?x?xf32> -> tensor<64x128xf32>
      // CHECK: pit.coords %[[IDS]] : !pit.ids<64> -> tensor<64xindex>
      %at2 = pit.coords %ids : !pit.ids<64> -> tensor<64xindex>
      %s = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x128xf32>)
             outs(%acc : tensor<32x128xf32>) -> tensor<32x128xf32>
      // CHECK: pit.yield %{{.*}} : tensor<32x128xf32>
      pit.yield %s : tensor<32x128xf32>
    }
    // CHECK: pit.swrite %{{.*}} into %[[O]][%[[M]], %[[N]]] combine(addf) : tensor<32x128xf32> into tensor<?x?xf32>
    %o1 = pit.swrite %sum into %o[%m, %n] combine(addf) : tensor<32x128xf32> into tensor<?x?xf32>
    pit.yield %o1 : tensor<?x?xf32>
  }
  return %c : tensor<?x?xf32>
}

// Loops one after another update an iter_arg, as where a tail is peeled.
// CHECK-LABEL: func.func @peeled
func.func @peeled(%x: tensor<?xf32>, %t: tensor<4xf32>, %u: tensor<1xf32>, %a: index, %b: index, %c: index) -> tensor<?xf32> {
  // CHECK: pit.forall {{.*}} iter_args(%[[O:.*]] = %{{.*}}) -> (tensor<?xf32>) {
  // CHECK-NEXT: %[[P:.*]] = pit.for {{.*}} iter_args(%{{.*}} = %[[O]])
  // CHECK: %[[Q:.*]] = pit.for {{.*}} iter_args(%{{.*}} = %[[P]])
  // CHECK: pit.yield %[[Q]]
  %r = pit.forall (%i) = (%a) to (%b) step (4) iter_args(%o = %x) -> (tensor<?xf32>) {
    %p = pit.for (%j) = (%a) to (%b) step (4) iter_args(%q = %o) -> (tensor<?xf32>) {
      %w = pit.swrite %t into %q[%j] : tensor<4xf32> into tensor<?xf32>
      pit.yield %w : tensor<?xf32>
    }
    %s = pit.for (%j) = (%b) to (%c) step (1) iter_args(%q = %p) -> (tensor<?xf32>) {
      %w = pit.swrite %u into %q[%j] : tensor<1xf32> into tensor<?xf32>
      pit.yield %w : tensor<?xf32>
    }
    pit.yield %s : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @both
func.func @both(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %t: memref<64x128xf32>, %i: !rows, %N: index) {
  %c0 = arith.constant 0 : index
  // CHECK: pit.forall (%{{.*}}) = (%{{.*}}) to (%{{.*}}) step (128), %{{.*}} at %{{.*}} in %{{.*}} : !pit.index<micro_tile = [1, *], axis = 0> chunk 64 conflicts(atomic) {
  pit.forall (%n) = (%c0) to (%N) step (128), %ids at %pos in %i : !rows chunk 64 conflicts(atomic) {
    // CHECK: pit.sread %{{.*}}[%{{.*}} : !pit.ids<64>, %{{.*}}] into %{{.*}} : memref<?x?xf32> -> memref<64x128xf32>
    pit.sread %x[%ids : !pit.ids<64>, %n] into %t : memref<?x?xf32> -> memref<64x128xf32>
    // CHECK: pit.swrite %{{.*}} into %{{.*}}[%{{.*}} : !pit.ids<64>, %{{.*}}] : memref<64x128xf32> into memref<?x?xf32>
    pit.swrite %t into %y[%ids : !pit.ids<64>, %n] : memref<64x128xf32> into memref<?x?xf32>
  }
  return
}

// CHECK-LABEL: func.func @choose(
func.func @choose(%a: tensor<?x?xf32>, %t: f64) -> index {
  // CHECK: %[[V:.*]], %[[B:.*]] = pit.choose %{{.*}} of [!pit.index<micro_tile = [1, *], axis = 0>, !pit.index<micro_tile = [32, 1], axis = 1>] dense(%{{.*}}) fixed(%{{.*}}, %{{.*}}) live(%{{.*}}, %{{.*}}) background(1.000000e+00 : f32) deterministic : tensor<?x?xf32>
  %v, %b = pit.choose %a of [!rows, !cols] dense(%t) fixed(%t, %t) live(%t, %t)
             background(1.0 : f32) deterministic : tensor<?x?xf32>
  // CHECK: pit.index %{{.*}} seen(%[[B]]) background(1.000000e+00 : f32) : tensor<?x?xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %i = pit.index %a seen(%b) background(1.0 : f32) : tensor<?x?xf32> -> !cols
  // CHECK: pit.transpose_index %{{.*}} : !pit.index<micro_tile = [32, 1], axis = 1> -> !pit.index<micro_tile = [1, 1], axis = 1>
  %0 = pit.transpose_index %i : !cols -> !pit.index<micro_tile = [1, 1], axis = 1>
  // CHECK: pit.transpose_index %{{.*}} if(%[[B]] is 2) : !pit.index<micro_tile = [32, 1], axis = 1> -> !pit.index<micro_tile = [1, 1], axis = 1>
  %1 = pit.transpose_index %i if(%b is 2) : !cols -> !pit.index<micro_tile = [1, 1], axis = 1>
  return %v : index
}
