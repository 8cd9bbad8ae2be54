// RUN: pit-opt %s -pit-tile-dense=target=sm_80 -canonicalize -cse | FileCheck %s
// RUN: pit-opt %s -pit-tile-dense="target=sm_80 explain" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// WHY: remark: linalg.generic is not tiled: d1 is no PIT axis [C4]: every iteration overwrites the accumulator of result 0
// WHY-NOT: remark:

// RUN: pit-opt %s -pit-tile-dense="tile-table=%S/Inputs/tiles.json" -canonicalize -cse | FileCheck %s --check-prefix=TABLE

!t = tensor<?x?xf32>
!h = tensor<?x?xf16>
!b = tensor<?x?x?xbf16>

// One loop over the parallel dims, one over the reduction. The initial output
// is where the sum starts.
// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf32>, %[[B:[^:]*]]: tensor<?x?xf32>, %[[C:[^:]*]]: tensor<?x?xf32>
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[A]], %c0
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[B]], %c1
// CHECK-DAG: %[[K:.*]] = tensor.dim %[[A]], %c1
// CHECK: %[[E:.*]] = tensor.empty(
// CHECK-NEXT: %[[R:.*]] = pit.forall (%[[MI:.*]], %[[NI:.*]]) = (%c0, %c0) to (%[[M]], %[[N]]) step (64, 64) iter_args(%[[O:.*]] = %[[E]]) -> (tensor<?x?xf32>) {
// CHECK-NEXT: %[[ACC:.*]] = pit.sread %[[C]][%[[MI]], %[[NI]]] : tensor<?x?xf32> -> tensor<64x64xf32>
// CHECK-NEXT: %[[SUM:.*]] = pit.for (%[[KI:.*]]) = (%c0) to (%[[K]]) step (32) iter_args(%[[CARRIED:.*]] = %[[ACC]]) -> (tensor<64x64xf32>) {
// CHECK-NEXT: %[[AT:.*]] = pit.sread %[[A]][%[[MI]], %[[KI]]] pad(0.000000e+00 : f32) : tensor<?x?xf32> -> tensor<64x32xf32>
// CHECK-NEXT: %[[BT:.*]] = pit.sread %[[B]][%[[KI]], %[[NI]]] pad(0.000000e+00 : f32) : tensor<?x?xf32> -> tensor<32x64xf32>
// CHECK-NEXT: %[[P:.*]] = linalg.matmul ins(%[[AT]], %[[BT]] : {{.*}}) outs(%[[CARRIED]] :
// CHECK-NEXT: pit.yield %[[P]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[W:.*]] = pit.swrite %[[SUM]] into %[[O]][%[[MI]], %[[NI]]]
// CHECK-NEXT: pit.yield %[[W]]
// CHECK: return %[[R]]
// TABLE-LABEL: func.func @matmul(
// TABLE: pit.forall {{.*}} step (6, 24)
// TABLE: pit.for {{.*}} step (14)
func.func @matmul(%a: !t, %b: !t, %c: !t) -> !t {
  %r = linalg.matmul ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// Narrow floats are summed in f32; a filled output is not read.
// CHECK-LABEL: func.func @f16(
// CHECK: pit.forall {{.*}} step (128, 256)
// CHECK: linalg.fill {{.*}} tensor<128x256xf32>
// CHECK: pit.for {{.*}} step (32)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<128x32xf16>, tensor<32x256xf16>) outs({{.*}} : tensor<128x256xf32>)
// CHECK: pit.swrite {{.*}} : tensor<128x256xf32> into tensor<?x?xf16>
func.func @f16(%a: !h, %b: !h, %e: !h) -> !h {
  %zero = arith.constant 0.0 : f16
  %c = linalg.fill ins(%zero : f16) outs(%e : !h) -> !h
  %r = linalg.matmul ins(%a, %b : !h, !h) outs(%c : !h) -> !h
  return %r : !h
}

// Batches are taken one by one.
// CHECK-LABEL: func.func @batch(
// CHECK: pit.forall {{.*}} step (1, 128, 256)
// CHECK: pit.for {{.*}} step (32)
func.func @batch(%a: !b, %b: !b, %c: !b) -> !b {
  %r = linalg.batch_matmul ins(%a, %b : !b, !b) outs(%c : !b) -> !b
  return %r : !b
}

// What fits in one tile is a loop of one iteration.
// CHECK-LABEL: func.func @small(
// CHECK: pit.forall (%{{.*}}) = (%c0) to (%c1) step (1)
// CHECK-NOT: pit.for
// CHECK: pit.sread %arg0[%c0, %c0] {{.*}} -> tensor<7x9xf32>
// CHECK: linalg.matmul
// CHECK: pit.swrite
func.func @small(%a: tensor<7x9xf32>, %b: tensor<9x5xf32>, %c: tensor<7x5xf32>) -> tensor<7x5xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<7x9xf32>, tensor<9x5xf32>) outs(%c : tensor<7x5xf32>) -> tensor<7x5xf32>
  return %r : tensor<7x5xf32>
}

// Of two reduced dims one is a tile. A factor without them leaves the sum.
// CHECK-LABEL: func.func @two_reductions(
// CHECK: pit.forall (%{{.*}}, %{{.*}}) = {{.*}} step (64, 64)
// CHECK: pit.for (%[[E:.*]], %[[F:.*]]) = {{.*}} step (1, 32)
// CHECK-NEXT: pit.sread %arg1[%{{.*}}, %[[E]], %[[F]]] {{.*}} -> tensor<64x1x32xf32>
// CHECK-NEXT: pit.sread %arg2[%[[E]], %[[F]], %{{.*}}] {{.*}} -> tensor<1x32x64xf32>
// CHECK: pit.yield
// CHECK: pit.sread %arg0[{{.*}}] {{.*}} -> tensor<64xf32>
// CHECK: pit.swrite
func.func @two_reductions(%g: tensor<?xf32>, %x: tensor<?x?x?xf32>, %y: tensor<?x?x?xf32>, %c: !t) -> !t {
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n, e, f) -> (m)>, affine_map<(m, n, e, f) -> (m, e, f)>,
                       affine_map<(m, n, e, f) -> (e, f, n)>, affine_map<(m, n, e, f) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%g, %x, %y : tensor<?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%c : !t) {
  ^bb0(%v: f32, %a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %v, %p : f32
    %z = arith.addf %o, %q : f32
    linalg.yield %z : f32
  } -> !t
  return %r : !t
}

// A tile knows where it is, and a max of sums is as good as a sum of products.
// CHECK-LABEL: func.func @where(
// CHECK: pit.forall (%[[MI:.*]], %[[NI:.*]]) =
// CHECK: pit.for (%[[KI:.*]]) =
// CHECK: %[[I:.*]] = linalg.index 2
// CHECK-NEXT: arith.addi %[[I]], %[[KI]]
// CHECK: arith.maxsi
func.func @where(%a: tensor<?x?xi32>, %b: tensor<?x?xi32>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<?x?xi32>, tensor<?x?xi32>) outs(%c : tensor<?x?xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %k = linalg.index 2 : index
    %k32 = arith.index_cast %k : index to i32
    %s = arith.minsi %x, %y : i32
    %t = arith.addi %s, %k32 : i32
    %q = arith.maxsi %o, %t : i32
    linalg.yield %q : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// A scalar product: no parallel dim at all.
// CHECK-LABEL: func.func @dot(
// CHECK: pit.forall (%{{.*}}) = (%c0) to (%c1) step (1)
// CHECK: pit.for (%{{.*}}) = {{.*}} step (32)
// CHECK: linalg.dot
func.func @dot(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<f32>) -> tensor<f32> {
  %r = linalg.dot ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%c : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// No contractions, and one whose last iteration wins.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: pit.forall
// CHECK: return
func.func @others(%a: !t, %b: !t, %v: tensor<?xf32>, %x: tensor<?x?x?x?xf32>, %w: tensor<?x?x3x3xf32>, %c: tensor<?x?x?x?xf32>)
    -> (!t, tensor<?xf32>, tensor<?x?x?x?xf32>, tensor<?xf32>) {
  %0 = linalg.add ins(%a, %b : !t, !t) outs(%a : !t) -> !t
  %1 = linalg.reduce ins(%a : !t) outs(%v : tensor<?xf32>) dimensions = [1] (%p: f32, %o: f32) {
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  }
  %2 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<?x?x?x?xf32>, tensor<?x?x3x3xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%a, %v : !t, tensor<?xf32>) outs(%v : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %0, %1, %2, %3 : !t, tensor<?xf32>, tensor<?x?x?x?xf32>, tensor<?xf32>
}

// Nothing is shared by outputs: each has its own row of both.
// CHECK-LABEL: func.func @own_rows(
// CHECK-NOT: pit.forall
// CHECK: return
func.func @own_rows(%a: !t, %b: !t, %v: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%a, %b : !t, !t) outs(%v : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %q : f32
    %t = arith.addf %o, %s : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// The tiles of a loop that is there already stay what they are.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK-COUNT-1: pit.forall
// CHECK-NOT: pit.forall
func.func @in_a_loop(%a: !t, %b: !t, %c: !t, %m: index) -> !t {
  %c0 = arith.constant 0 : index
  %r = pit.forall (%i) = (%c0) to (%m) step (8) iter_args(%o = %c) -> (!t) {
    %x = pit.sread %a[%i, %c0] : !t -> tensor<8x64xf32>
    %y = pit.sread %b[%c0, %c0] : !t -> tensor<64x8xf32>
    %z = pit.sread %c[%i, %c0] : !t -> tensor<8x8xf32>
    %s = linalg.matmul ins(%x, %y : tensor<8x64xf32>, tensor<64x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
    %w = pit.swrite %s into %o[%i, %c0] : tensor<8x8xf32> into !t
    pit.yield %w : !t
  }
  return %r : !t
}
