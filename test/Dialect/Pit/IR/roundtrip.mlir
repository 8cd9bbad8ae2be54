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
  // CHECK: pit.sparse %{{.*}} live_fraction(1.000000e-01 in [32, 1]) label("x") : tensor<?x?xf32>
  %known = pit.sparse %x live_fraction(0.1 in [32, 1]) label("x") : tensor<?x?xf32>
  // CHECK: pit.sparse %{{.*}} live_fraction(2.500000e-01) : tensor<?x?xf32>
  %elements = pit.sparse %x live_fraction(0.25) : tensor<?x?xf32>
  // CHECK: pit.sparse %{{.*}} lengths(%{{.*}} : tensor<?xi32>) rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xf32>
  %2 = pit.sparse %x lengths(%l : tensor<?xi32>) rule(<axis = 1, micro_tile = [32, 1]>) : tensor<?x?xf32>
  // CHECK: pit.sparse %{{.*}} routing(%{{.*}} : tensor<?x4xi64>) : tensor<?x?xf32>
  %3 = pit.sparse %x routing(%a : tensor<?x4xi64>) : tensor<?x?xf32>
  // CHECK: pit.sparse %{{.*}} index(%{{.*}} : !pit.index<micro_tile = [1, *], axis = 0>) : tensor<?x?xf32>
  %4 = pit.sparse %x index(%i : !rows) : tensor<?x?xf32>
  return
}

// CHECK-LABEL: func.func @indices
func.func @indices(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>, %l: tensor<?xi32>,
                   %a: tensor<?x4xi64>, %img: tensor<1x8x34x34xf16>, %d: index,
                   %half: tensor<?x128xf16>, %packed: tensor<?x32xf16>,
                   %memory: memref<?x128xf16>, %room: memref<?x32xf16>) {
  // CHECK: %[[I:.*]] = pit.index %{{.*}} : tensor<?x?xf32> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %0 = pit.index %x : tensor<?x?xf32> -> !cols
  // CHECK: pit.index %{{.*}} background(1.000000e+00 : f32) unordered : tensor<?x?xf32> -> !pit.index<micro_tile = [1, *], axis = 0>
  %1 = pit.index %x background(1.0 : f32) unordered : tensor<?x?xf32> -> !rows
  // CHECK: pit.index mask %{{.*}} : tensor<?x?xi1> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %2 = pit.index mask %m : tensor<?x?xi1> -> !cols
  // CHECK: pit.index lengths %{{.*}} shape(%{{.*}}, %{{.*}}) : tensor<?xi32>
  %3 = pit.index lengths %l shape(%d, %d) : tensor<?xi32> -> !pit.index<micro_tile = [1, 1], axis = 1>
  // CHECK: pit.index lengths %{{.*}} shape(%{{.*}}, %{{.*}}, %{{.*}}) : tensor<?xi32> -> !pit.index<micro_tile = [1, *], axis = 0>
  %rows = pit.index lengths %l shape(%d, %d, %d) : tensor<?xi32> -> !pit.index<micro_tile = [1, *], axis = 0>
  // CHECK: pit.index routing %{{.*}} shape(%{{.*}}, %{{.*}}) : tensor<?x4xi64>
  %4 = pit.index routing %a shape(%d, %d) : tensor<?x4xi64> -> !pit.index<micro_tile = [1, 1], axis = 0>
  // CHECK: pit.index %{{.*}} : tensor<1x8x34x34xf16> -> !pit.index<micro_tile = [1, 1, 10, 10], axis = 1, step = [1, 1, 8, 8]>
  %5 = pit.index %img : tensor<1x8x34x34xf16> -> !windows
  // CHECK: pit.packed_index %{{.*}} into %{{.*}} : tensor<?x128xf16> into tensor<?x32xf16> -> !pit.index<micro_tile = [32, 1], axis = 1>, tensor<?x32xf16>
  %p:3 = pit.packed_index %half into %packed : tensor<?x128xf16> into tensor<?x32xf16> -> !cols, tensor<?x32xf16>
  // CHECK: pit.packed_index %{{.*}} into %{{.*}} background(1.000000e+00 : f16) : memref<?x128xf16> into memref<?x32xf16> -> !pit.index<micro_tile = [32, 1], axis = 1>
  %q:2 = pit.packed_index %memory into %room background(1.0 : f16) : memref<?x128xf16> into memref<?x32xf16> -> !cols
  // CHECK: pit.count %[[I]] : !pit.index
  %6 = pit.count %0 : !cols
  // CHECK: pit.count %[[I]][%{{.*}}] : !pit.index
  %7 = pit.count %0[%d] : !cols
  // CHECK: pit.live_fraction %[[I]] : !pit.index
  %8 = pit.live_fraction %0 : !cols
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

// An attention: what is read once, numbers of steps, tiles that are computed.
// CHECK-LABEL: func.func @tile_body
#rows = affine_map<(e, m, n) -> (m)>
func.func @tile_body(%qs: memref<?x?x?xf16>, %k: memref<?x?x?xf16>, %v: memref<?x?x?xf16>, %o: memref<?x?x?xf16>, %e: index, %m: index, %k1: index) {
  %k0 = arith.constant 0 : index
  %q = pit.view %qs[%e, %m, %k0 : index, index, index] : memref<?x?x?xf16> -> vector<1x64x32xf16>
  // CHECK: pit.mainloop %{{.*}} to %{{.*}} step [32] invariants(%{{.*}} : vector<1x64x32xf16>) extra_maps []
  // CHECK-SAME: into %{{.*}}[{{.*}}] body [1, 64, 32] sums [#[[ACC:.*]], #[[ROWS:.*]], #[[ROWS]]] : memref<?x?x?xf16> load {
  pit.mainloop %k0 to %k1 step [32] invariants(%q : vector<1x64x32xf16>) extra_maps []
      into %o[%e, %m, %k0 : index, index, index]
      body [1, 64, 32] sums [affine_map<(e, m, n) -> (m, n)>, #rows, #rows] : memref<?x?x?xf16>
  load {
  ^bb0(%j: index):
    %kt = pit.view %k[%e, %j, %k0 : index, index, index] : memref<?x?x?xf16> -> vector<1x32x32xf16>
    %vt = pit.view %v[%e, %j, %k0 : index, index, index] : memref<?x?x?xf16> -> vector<1x32x32xf16>
    // CHECK: pit.yield %{{.*}}, %{{.*}}, %{{.*}} : vector<1x32x32xf16>, vector<1x32x32xf16>, index
    pit.yield %kt, %vt, %j : vector<1x32x32xf16>, vector<1x32x32xf16>, index
  } compute {
  // CHECK: ^bb0(%[[K:.*]]: vector<1x32x32xf16>, %[[V:.*]]: vector<1x32x32xf16>, %[[Q:.*]]: vector<1x64x32xf16>, %{{.*}}: index, %[[SUM:.*]]: vector<64x32xf32>, %[[TOP:.*]]: vector<64xf32>, %{{.*}}: vector<64xf32>):
  ^bb0(%kt: vector<1x32x32xf16>, %vt: vector<1x32x32xf16>, %qt: vector<1x64x32xf16>, %j: index,
       %acc: vector<64x32xf32>, %top: vector<64xf32>, %total: vector<64xf32>):
    // CHECK: %[[ZERO:.*]] = pit.pointwise() tile [64, 32] maps [#{{.*}}] : () -> vector<64x32xf32> {
    // CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index):
    %zero = pit.pointwise() tile [64, 32] maps [affine_map<(m, n) -> (m, n)>] : () -> vector<64x32xf32> {
    ^bb0(%m0: index, %n0: index):
      %z = arith.constant 0.0 : f32
      pit.yield %z : f32
    }
    // CHECK: %[[S:.*]] = pit.contract %[[Q]], %[[K]], %[[ZERO]] tile [64, 32, 32]
    %s = pit.contract %qt, %kt, %zero tile [64, 32, 32]
           maps [affine_map<(m, n, k) -> (0, m, k)>, affine_map<(m, n, k) -> (0, n, k)>, affine_map<(m, n, k) -> (m, n)>]
           : vector<1x64x32xf16>, vector<1x32x32xf16>, vector<64x32xf32> {
    ^bb0(%x: f16, %y: f16, %sum: f32):
      %xw = arith.extf %x : f16 to f32
      %yw = arith.extf %y : f16 to f32
      %p = arith.mulf %xw, %yw : f32
      %t = arith.addf %sum, %p : f32
      pit.yield %t : f32
    }
    // CHECK: %[[INSIDE:.*]] = pit.pointwise(%[[S]]) tile [64, 32] maps [#{{.*}}, #{{.*}}] : (vector<64x32xf32>) -> vector<64x32xf32> {
    %inside = pit.pointwise(%s) tile [64, 32]
                maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>]
                : (vector<64x32xf32>) -> vector<64x32xf32> {
    ^bb0(%m0: index, %n0: index, %x: f32):
      %low = arith.constant 0xFF800000 : f32
      %at = arith.addi %j, %n0 : index
      %is = arith.cmpi slt, %at, %k1 : index
      %y = arith.select %is, %x, %low : f32
      pit.yield %y : f32
    }
    // CHECK: pit.pointwise(%[[INSIDE]]) reduces %[[TOP]] tile [64, 32] maps [#{{.*}}, #{{.*}}] : (vector<64x32xf32>, vector<64xf32>) -> vector<64xf32> {
    // CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: f32, %{{.*}}: f32):
    %higher = pit.pointwise(%inside) reduces %top tile [64, 32]
                maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>]
                : (vector<64x32xf32>, vector<64xf32>) -> vector<64xf32> {
    ^bb0(%m0: index, %n0: index, %x: f32, %most: f32):
      %y = arith.maximumf %most, %x : f32
      pit.yield %y : f32
    }
    %powers = pit.pointwise(%inside, %higher) tile [64, 32]
                maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>]
                : (vector<64x32xf32>, vector<64xf32>) -> vector<64x32xf32> {
    ^bb0(%m0: index, %n0: index, %x: f32, %y: f32):
      %d = arith.subf %x, %y : f32
      %p = math.exp2 %d : f32
      pit.yield %p : f32
    }
    %scale = pit.pointwise(%top, %higher) tile [64]
               maps [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>, affine_map<(m) -> (m)>]
               : (vector<64xf32>, vector<64xf32>) -> vector<64xf32> {
    ^bb0(%m0: index, %x: f32, %y: f32):
      %d = arith.subf %x, %y : f32
      %p = math.exp2 %d : f32
      pit.yield %p : f32
    }
    %less = pit.pointwise(%total, %scale) tile [64]
              maps [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>, affine_map<(m) -> (m)>]
              : (vector<64xf32>, vector<64xf32>) -> vector<64xf32> {
    ^bb0(%m0: index, %x: f32, %y: f32):
      %p = arith.mulf %x, %y : f32
      pit.yield %p : f32
    }
    %total1 = pit.pointwise(%powers) reduces %less tile [64, 32]
                maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>]
                : (vector<64x32xf32>, vector<64xf32>) -> vector<64xf32> {
    ^bb0(%m0: index, %n0: index, %x: f32, %sum: f32):
      %y = arith.addf %sum, %x : f32
      pit.yield %y : f32
    }
    // CHECK: %[[P16:.*]] = pit.pointwise(%{{.*}}) {{.*}} : (vector<64x32xf32>) -> vector<64x32xf16> {
    %p16 = pit.pointwise(%powers) tile [64, 32]
             maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>]
             : (vector<64x32xf32>) -> vector<64x32xf16> {
    ^bb0(%m0: index, %n0: index, %x: f32):
      %y = arith.truncf %x : f32 to f16
      pit.yield %y : f16
    }
    // CHECK: %[[SCALED:.*]] = pit.pointwise(%[[SUM]], %{{.*}})
    %scaled = pit.pointwise(%acc, %scale) tile [64, 32]
                maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>]
                : (vector<64x32xf32>, vector<64xf32>) -> vector<64x32xf32> {
    ^bb0(%m0: index, %n0: index, %x: f32, %y: f32):
      %p = arith.mulf %x, %y : f32
      pit.yield %p : f32
    }
    // CHECK: pit.contract %[[P16]], %[[V]], %[[SCALED]] tile [64, 32, 32]
    %acc1 = pit.contract %p16, %vt, %scaled tile [64, 32, 32]
              maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (0, k, n)>, affine_map<(m, n, k) -> (m, n)>]
              : vector<64x32xf16>, vector<1x32x32xf16>, vector<64x32xf32> {
    ^bb0(%x: f16, %y: f16, %sum: f32):
      %xw = arith.extf %x : f16 to f32
      %yw = arith.extf %y : f16 to f32
      %p = arith.mulf %xw, %yw : f32
      %t = arith.addf %sum, %p : f32
      pit.yield %t : f32
    }
    // CHECK: pit.yield %{{.*}} : vector<64x32xf32>, vector<64xf32>, vector<64xf32>
    pit.yield %acc1, %higher, %total1 : vector<64x32xf32>, vector<64xf32>, vector<64xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    pit.yield %zero, %low, %zero : f32, f32, f32
  } epilogue {
  ^bb0(%sum: f32, %most: f32, %all: f32):
    %y = arith.divf %sum, %all : f32
    pit.yield %y : f32
  }
  return
}

// Steps are chunks of ids; a tile body takes their coordinates.
// CHECK-LABEL: func.func @tile_body_of_ids
#id = affine_map<(m) -> (m)>
func.func @tile_body_of_ids(%x: memref<?xf32>, %o: memref<?xf32>, %i: index, %ix: !pit.index<micro_tile = [1], axis = 0>) {
  // CHECK: pit.mainloop step [] in %{{.*}}[] chunk 4
  pit.mainloop step [] in %ix[] chunk 4 : !pit.index<micro_tile = [1], axis = 0> extra_maps []
      into %o[%i : index] body [4] sums [#id] : memref<?xf32> load {
  // CHECK: ^bb0(%[[IDS:.*]]: !pit.ids<4>, %{{.*}}: !pit.ids<4>):
  ^bb0(%ids: !pit.ids<4>, %pos: !pit.ids<4>):
    %y = pit.view %x[%ids : !pit.ids<4>] : memref<?xf32> -> vector<4xf32>
    // CHECK: %[[AT:.*]] = pit.coords %[[IDS]] : !pit.ids<4> -> vector<4xindex>
    %at = pit.coords %ids : !pit.ids<4> -> vector<4xindex>
    // CHECK: pit.yield %{{.*}}, %[[AT]] : vector<4xf32>, vector<4xindex>
    pit.yield %y, %at : vector<4xf32>, vector<4xindex>
  } compute {
  ^bb0(%y: vector<4xf32>, %at: vector<4xindex>, %acc: vector<4xf32>):
    // CHECK: pit.pointwise(%{{.*}}, %{{.*}}, %{{.*}}) tile [4] {{.*}} : (vector<4xf32>, vector<4xindex>, vector<4xf32>) -> vector<4xf32>
    %new = pit.pointwise(%y, %at, %acc) tile [4] maps [#id, #id, #id, #id] : (vector<4xf32>, vector<4xindex>, vector<4xf32>) -> vector<4xf32> {
    ^bb0(%n: index, %u: f32, %c: index, %old: f32):
      %is = arith.cmpi slt, %c, %i : index
      %most = arith.maximumf %u, %old : f32
      %next = arith.select %is, %most, %old : f32
      pit.yield %next : f32
    }
    pit.yield %new : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// Without a 'body' the tile has the accumulator's shape.
// CHECK-LABEL: func.func @tile_body_without_a_shape
func.func @tile_body_without_a_shape(%x: memref<?xf32>, %o: memref<?xf32>, %i: index) {
  %t = pit.view %x[%i : index] : memref<?xf32> -> vector<4xf32>
  // CHECK: pit.mainloop %{{.*}} to %{{.*}} step [4] invariants(%{{.*}} : vector<4xf32>) extra_maps []
  // CHECK-SAME: into %{{.*}}[{{.*}}] : memref<?xf32> load {
  pit.mainloop %i to %i step [4] invariants(%t : vector<4xf32>) extra_maps [] into %o[%i : index] : memref<?xf32> load {
  ^bb0(%at: index):
    %y = pit.view %x[%at : index] : memref<?xf32> -> vector<4xf32>
    pit.yield %y : vector<4xf32>
  } compute {
  ^bb0(%y: vector<4xf32>, %z: vector<4xf32>, %acc: vector<4xf32>):
    %new = pit.pointwise(%y, %z, %acc) tile [4] maps [#id, #id, #id, #id] : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32> {
    ^bb0(%n: index, %u: f32, %v: f32, %old: f32):
      %p = arith.mulf %u, %v : f32
      %next = arith.addf %p, %old : f32
      pit.yield %next : f32
    }
    pit.yield %new : vector<4xf32>
  } prologue {
    %zero = arith.constant 0.0 : f32
    pit.yield %zero : f32
  } epilogue {
  ^bb0(%sum: f32):
    pit.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @orders
// CHECK-SAME: %[[X:.*]]: tensor<8x?x?xi1>, %[[ORDER:.*]]: tensor<8x?xi32>, %[[I:.*]]: index
func.func @orders(%x: tensor<8x?x?xi1>, %order: tensor<8x?xi32>, %i: index) -> tensor<8x?x?xi1> {
  // CHECK: pit.ids %[[ORDER]][%[[I]], %[[I]]] : tensor<8x?xi32> -> !pit.ids<64>
  %ids = pit.ids %order[%i, %i] : tensor<8x?xi32> -> !pit.ids<64>
  %at = pit.coords %ids : !pit.ids<64> -> tensor<64xindex>
  // CHECK: pit.reorder %[[X]] by %[[ORDER]] dims [0, 2] : tensor<8x?x?xi1>, tensor<8x?xi32>
  %r = pit.reorder %x by %order dims [0, 2] : tensor<8x?x?xi1>, tensor<8x?xi32>
  return %r : tensor<8x?x?xi1>
}
