// RUN: pit-opt %s -pit-tile -canonicalize -cse -split-input-file | FileCheck %s

// What is computed on a tile: padding, factors, precision, several results.

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

!t = tensor<?x?xf32>
!v = tensor<?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>

// Absent ids read the background: exp(-inf) is 0.
// CHECK-LABEL: func.func @background
// CHECK: pit.sread %{{.*}}[%{{.*}}, %{{.*}} : !pit.ids<64>] pad(0xFF800000 : f32)
// CHECK-NEXT: linalg.generic
// CHECK: math.exp
func.func @background(%a: !t, %c: !v, %i: !cols) -> !v {
  %s = pit.sparse %a index(%i : !cols) background(0xFF800000 : f32) assume : !t
  %r = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%s : !t) outs(%c : !v) attrs = {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 64]>} {
  ^bb0(%x: f32, %o: f32):
    %e = math.exp %x : f32
    %q = arith.addf %o, %e : f32
    linalg.yield %q : f32
  } -> !v
  return %r : !v
}

// -----

!t = tensor<?x?xf32>
!v = tensor<?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>

// No pad of y makes x * cos(y) vanish, but x reads 0 along k only: the tail along
// j is summed element by element.
// CHECK: #[[$FULL:.*]] = affine_map<()[s0] -> ((s0 floordiv 16) * 16)>
// CHECK-LABEL: func.func @peeled(
// CHECK: %[[J:.*]] = tensor.dim %arg1, %c0
// CHECK: %[[FULL:.*]] = affine.apply #[[$FULL]]()[%[[J]]]
// CHECK-NEXT: %[[S:.*]] = pit.for (%[[J0:.*]]) = (%c0) to (%[[FULL]]) step (16)
// CHECK: pit.sread %arg1[%[[J0]], %{{.*}} : !pit.ids<64>] {{.*}} -> tensor<16x64xf32>
// CHECK: pit.for (%[[J1:.*]]) = (%[[FULL]]) to (%[[J]]) step (1) iter_args(%{{.*}} = %[[S]])
// CHECK: pit.sread %arg1[%[[J1]], %{{.*}} : !pit.ids<64>] {{.*}} -> tensor<1x64xf32>
func.func @peeled(%a: !t, %y: !t, %c: !v, %i: !cols) -> !v {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, j, k) -> (m, k)>, affine_map<(m, j, k) -> (j, k)>, affine_map<(m, j, k) -> (m)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%s, %y : !t, !t) outs(%c : !v) attrs = {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 16, 64]>} {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %e = math.cos %z : f32
    %p = arith.mulf %x, %e : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> !v
  return %r : !v
}

// -----

!t = tensor<?x?xf32>
!v = tensor<?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>

// y does not vary along k, so it may be infinite where an absent id would be
// multiplied with it: ids come one at a time.
// CHECK-LABEL: func.func @one_id
// CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}} chunk 1 iter_args
// CHECK-NEXT: pit.sread %arg0[%{{.*}}, %[[IDS]] : !pit.ids<1>] {{.*}} -> tensor<32x1xf32>
// CHECK-NEXT: pit.sread %arg1[%{{.*}}, %{{.*}}] {{.*}} -> tensor<32x16xf32>
func.func @one_id(%a: !t, %y: !t, %c: !v, %i: !cols) -> !v {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, j, k) -> (m, k)>, affine_map<(m, j, k) -> (m, j)>, affine_map<(m, j, k) -> (m)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%s, %y : !t, !t) outs(%c : !v) attrs = {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 16, 64]>} {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> !v
  return %r : !v
}

// -----

!t = tensor<?x?xf32>
!v = tensor<?xf32>
!parts = !pit.index<micro_tile = [1, 48], axis = 0>

// The same where k numbers the groups: what is left of the last one is taken
// element by element, by that group's ids.
// CHECK: #[[$FULL:.*]] = affine_map<()[s0] -> ((s0 floordiv 48) * 48)>
// CHECK-LABEL: func.func @peeled_group
// CHECK: %[[K:.*]] = tensor.dim %arg0, %c1
// CHECK: %[[FULL:.*]] = affine.apply #[[$FULL]]()[%[[K]]]
// CHECK-NEXT: %[[O:.*]] = pit.for (%[[K0:.*]]) = (%c0) to (%[[FULL]]) step (48)
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %arg3[%[[K0]]] :
// CHECK: pit.sread %arg0[%[[IDS]] : !pit.ids<64>, %[[K0]]] {{.*}} -> tensor<64x48xf32>
// CHECK: pit.for (%[[K1:.*]]) = (%[[FULL]]) to (%[[K]]) step (1) iter_args(%{{.*}} = %[[O]])
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %arg3[%[[FULL]]] :
// CHECK: pit.sread %arg0[%[[IDS]] : !pit.ids<64>, %[[K1]]] {{.*}} -> tensor<64x1xf32>
func.func @peeled_group(%a: !t, %y: !t, %c: !v, %i: !parts) -> !v {
  %s = pit.sparse %a index(%i : !parts) assume : !t
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, j, k) -> (m, k)>, affine_map<(m, j, k) -> (m, j)>, affine_map<(m, j, k) -> (m)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%s, %y : !t, !t) outs(%c : !v) attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [64, 1, 48], conflicts = sequential>} {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> !v
  return %r : !v
}

// -----

!t = tensor<?x?xi32>
!rows = !pit.index<micro_tile = [1, *], axis = 0>

// A divisor is not padded by 0.
// CHECK-LABEL: func.func @divisor
// CHECK: pit.sread %arg0[{{.*}}] pad(0 : i32)
// CHECK-NEXT: pit.sread %arg1[{{.*}}] pad(1 : i32)
// CHECK: arith.divsi
func.func @divisor(%a: !t, %y: !t, %c: !t, %i: !rows) -> !t {
  %s = pit.sparse %a index(%i : !rows) assume : !t
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%s, %y : !t, !t) outs(%c : !t) attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [32, 64]>} {
  ^bb0(%x: i32, %z: i32, %o: i32):
    %p = arith.divsi %x, %z : i32
    linalg.yield %p : i32
  } -> !t
  return %r : !t
}

// -----

!t = tensor<?x?xi32>
!v = tensor<?xi32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>

// A factor that leaves the sum is padded along the dims that it has.
// CHECK-LABEL: func.func @hoisted_divisor
// CHECK: pit.for
// CHECK: pit.yield
// CHECK: %[[U:.*]] = pit.sread %arg2[{{.*}}] pad(0 : i32)
// CHECK-NEXT: %[[W:.*]] = pit.sread %arg3[{{.*}}] pad(1 : i32)
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[U]], %[[W]], %{{.*}} :
// CHECK: arith.divsi
func.func @hoisted_divisor(%a: !t, %b: !t, %x: !v, %z: !v, %c: !t, %i: !cols) -> !t {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m)>,
                       affine_map<(m, n, k) -> (m)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s, %b, %x, %z : !t, !t, !v, !v) outs(%c : !t) attrs = {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 64, 64]>} {
  ^bb0(%p: i32, %q: i32, %u: i32, %w: i32, %o: i32):
    %d = arith.divsi %u, %w : i32
    %e = arith.muli %p, %q : i32
    %f = arith.muli %d, %e : i32
    %g = arith.addi %o, %f : i32
    linalg.yield %g : i32
  } -> !t
  return %r : !t
}

// -----

//===----------------------------------------------------------------------===//
// What is not reduced
//===----------------------------------------------------------------------===//

!t = tensor<?x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>

// exp(0) is 1 where nothing is live.
// CHECK-LABEL: func.func @constant
// CHECK: %[[ONE:.*]] = linalg.fill ins(%cst : f32)
// CHECK: pit.forall {{.*}} iter_args(%[[O:.*]] = %[[ONE]])
// CHECK-NEXT: pit.for {{.*}} iter_args(%[[O1:.*]] = %[[O]])
// CHECK: %[[E:.*]] = linalg.exp ins(%{{.*}} : tensor<32x64xf32>)
// CHECK-NEXT: pit.swrite %[[E]] into %[[O1]]
func.func @constant(%a: !t, %c: !t, %i: !cols) -> !t {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  %r = linalg.exp {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 64]>} ins(%s : !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!t = tensor<?x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>

// 0 + b is b.
// CHECK-LABEL: func.func @copy
// CHECK: pit.forall {{.*}} iter_args(%{{.*}} = %arg1)
// CHECK: linalg.add
func.func @copy(%a: !t, %b: !t, %c: !t, %i: !cols) -> !t {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  %r = linalg.add {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 64]>} ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!t = tensor<?x?xf32>
!rows = !pit.index<micro_tile = [1, *], axis = 0>

// The body may ask where it is along other dims, and use scalars.
// CHECK-LABEL: func.func @where
// CHECK: pit.forall (%[[N:.*]]) = (%c0) to (%{{.*}}) step (64),
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg1 : tensor<32x64xf32>, f32)
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK-NEXT: arith.addi %[[I]], %[[N]] : index
func.func @where(%a: !t, %f: f32, %c: !t, %i: !rows) -> !t {
  %s = pit.sparse %a index(%i : !rows) assume : !t
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> ()>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%s, %f : !t, f32) outs(%c : !t) attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [32, 64]>} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %n = linalg.index 1 : index
    %n64 = arith.index_cast %n : index to i64
    %w = arith.sitofp %n64 : i64 to f32
    %p = arith.mulf %x, %w : f32
    %q = arith.mulf %p, %y : f32
    linalg.yield %q : f32
  } -> !t
  return %r : !t
}

// -----

//===----------------------------------------------------------------------===//
// Precision, several results
//===----------------------------------------------------------------------===//

!h = tensor<?x?xf16>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>

// CHECK-LABEL: func.func @f16
// CHECK: %[[ACC:.*]] = pit.sread %{{.*}} : tensor<?x?xf16> -> tensor<32x128xf32>
// CHECK: %[[SUM:.*]] = pit.for {{.*}} iter_args(%{{.*}} = %[[ACC]]) -> (tensor<32x128xf32>)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<32x64xf16>, tensor<64x128xf16>) outs({{.*}} : tensor<32x128xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f16, %[[Y:.*]]: f16, %[[O:.*]]: f32):
// CHECK-NEXT: %[[XW:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK-NEXT: %[[YW:.*]] = arith.extf %[[Y]] : f16 to f32
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[XW]], %[[YW]] : f32
// CHECK-NEXT: arith.addf %[[O]], %[[P]] : f32
// CHECK: pit.swrite %[[SUM]] into %{{.*}} : tensor<32x128xf32> into tensor<?x?xf16>
func.func @f16(%a: !h, %b: !h, %c: !h, %i: !cols) -> !h {
  %s = pit.sparse %a index(%i : !cols) assume : !h
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 128, 64]>} ins(%s, %b : !h, !h) outs(%c : !h) -> !h
  return %r : !h
}

// -----

!h = tensor<?x?xbf16>
!parts = !pit.index<micro_tile = [1, 48], axis = 0>

// Several groups add to one output: it stays in f32 until all have.
// CHECK-LABEL: func.func @bf16_conflicts
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<?x?xbf16>) outs(%{{.*}} : tensor<?x?xf32>)
// CHECK: arith.extf
// CHECK: %[[R:.*]] = pit.forall {{.*}} iter_args(%{{.*}} = %[[WIDE]]) -> (tensor<?x?xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[R]] : tensor<?x?xf32>) outs(%{{.*}} : tensor<?x?xbf16>)
// CHECK: arith.truncf
func.func @bf16_conflicts(%a: !h, %b: !h, %c: !h, %i: !parts) -> !h {
  %s = pit.sparse %a index(%i : !parts) assume : !h
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [64, 128, 48], conflicts = sequential>} ins(%s, %b : !h, !h) outs(%c : !h) -> !h
  return %r : !h
}

// -----

!h = tensor<?x?xbf16>
!parts = !pit.index<micro_tile = [1, 48], axis = 0>

// A fill is one of f32 from the start.
// CHECK-LABEL: func.func @bf16_conflicts_filled
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NOT: linalg.generic
// CHECK: %[[WIDE:.*]] = linalg.fill ins(%[[ONE]] : f32) outs(%{{.*}} : tensor<?x?xf32>)
// CHECK-NOT: linalg.fill
// CHECK: pit.forall {{.*}} iter_args(%{{.*}} = %[[WIDE]]) -> (tensor<?x?xf32>)
func.func @bf16_conflicts_filled(%a: !h, %b: !h, %c: !h, %i: !parts) -> !h {
  %one = arith.constant 1.0 : bf16
  %f = linalg.fill ins(%one : bf16) outs(%c : !h) -> !h
  %s = pit.sparse %a index(%i : !parts) assume : !h
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [64, 128, 48], conflicts = sequential>} ins(%s, %b : !h, !h) outs(%f : !h) -> !h
  return %r : !h
}

// -----

!t = tensor<?x?xi8>
!o = tensor<?x?xi32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>

// CHECK-LABEL: func.func @i8
// CHECK: linalg.matmul ins({{.*}} : tensor<32x64xi8>, tensor<64x128xi8>) outs({{.*}} : tensor<32x128xi32>)
func.func @i8(%a: !t, %b: !t, %c: !o, %i: !cols) -> !o {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 128, 64]>} ins(%s, %b : !t, !t) outs(%c : !o) -> !o
  return %r : !o
}

// -----

!t = tensor<?x?xf32>
!v = tensor<?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>

// CHECK-LABEL: func.func @two_results
// CHECK: %[[R:.*]]:2 = pit.forall {{.*}} -> (tensor<?xf32>, tensor<?xf16>)
// CHECK: %[[C:.*]] = pit.sread %arg1[{{.*}}] : tensor<?xf32> -> tensor<32xf32>
// CHECK: %[[D:.*]] = pit.sread %arg2[{{.*}}] : tensor<?xf16> -> tensor<32xf32>
// CHECK: %[[S:.*]]:2 = pit.for {{.*}} iter_args(%{{.*}} = %[[C]], %{{.*}} = %[[D]]) -> (tensor<32xf32>, tensor<32xf32>)
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<32xf32>, tensor<32xf32>)
// CHECK: %[[W0:.*]] = pit.swrite %[[S]]#0 into
// CHECK-NEXT: %[[W1:.*]] = pit.swrite %[[S]]#1 into {{.*}} : tensor<32xf32> into tensor<?xf16>
// CHECK-NEXT: pit.yield %[[W0]], %[[W1]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @two_results(%a: !t, %c: !v, %d: tensor<?xf16>, %i: !cols) -> (!v, tensor<?xf16>) {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  %r:2 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%s : !t) outs(%c, %d : !v, tensor<?xf16>) attrs = {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 64]>} {
  ^bb0(%x: f32, %o: f32, %p: f16):
    %xx = arith.mulf %x, %x : f32
    %h = arith.truncf %xx : f32 to f16
    %o1 = arith.addf %o, %x : f32
    %p1 = arith.addf %p, %h : f16
    linalg.yield %o1, %p1 : f32, f16
  } -> (!v, tensor<?xf16>)
  return %r#0, %r#1 : !v, tensor<?xf16>
}

// -----

!t = tensor<?x?xf32>
!rows = !pit.index<micro_tile = [1, *], axis = 0>

// CHECK-LABEL: func.func @transposed
// CHECK: %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<64x32xf32>) outs(%{{.*}} : tensor<32x64xf32>) permutation = [1, 0]
// CHECK-NEXT: pit.swrite %[[T]] into %{{.*}}[%{{.*}}, %{{.*}} : !pit.ids<64>]
func.func @transposed(%a: !t, %c: !t, %i: !rows) -> !t {
  %s = pit.sparse %a index(%i : !rows) assume : !t
  %r = linalg.transpose ins(%s : !t) outs(%c : !t) permutation = [1, 0] {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [32, 64]>}
  return %r : !t
}

// -----

!t = tensor<?x?xi32>
!v = tensor<?xi32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>

// Sums in another order may wrap on the way; products are what they were.
// CHECK-LABEL: func.func @overflow_flags
// CHECK: arith.muli %{{.*}} overflow<nsw> : i32
// CHECK-NEXT: arith.addi %{{[^ ]*}}, %{{[^ ]*}} : i32
func.func @overflow_flags(%a: !t, %c: !v, %i: !cols) -> !v {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  %r = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%s : !t) outs(%c : !v) attrs = {pit.rule = #pit.rule<operand = 0, axis = 1, tile = [32, 64]>} {
  ^bb0(%x: i32, %o: i32):
    %p = arith.muli %x, %x overflow<nsw> : i32
    %q = arith.addi %o, %p overflow<nsw, nuw> : i32
    linalg.yield %q : i32
  } -> !v
  return %r : !v
}

// -----

// A factor that is 1 where the index selects is left out [F4].
#te = affine_map<(t, e, f, k) -> (t, e)>
#tk = affine_map<(t, e, f, k) -> (t, k)>
#ekf = affine_map<(t, e, f, k) -> (e, k, f)>
#tef = affine_map<(t, e, f, k) -> (t, e, f)>
// CHECK-LABEL: func.func @ones
// CHECK-SAME: %[[I:[^:]*]]: !pit.index
// CHECK: pit.for {{.*}} in %[[I]]
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[O:.*]]: f32):
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[O]], %[[P]]
// CHECK-NEXT: linalg.yield %[[S]]
// CHECK-NOT: linalg.generic
// CHECK-LABEL: func.func @twos
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @ones(%x: tensor<?x32xf32>, %w: tensor<8x32x64xf32>, %n: index, %o: tensor<?x8x64xf32>,
                %i: !pit.index<micro_tile = [1, 1], axis = 0>) -> tensor<?x8x64xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s = pit.sparse %f index(%i : !pit.index<micro_tile = [1, 1], axis = 0>) : tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [#te, #tk, #ekf, #tef], iterator_types = ["parallel", "parallel", "parallel", "reduction"],
         pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 1], tile = [64, 1, 64, 32]>}
         ins(%s, %x, %w : tensor<?x8xf32>, tensor<?x32xf32>, tensor<8x32x64xf32>) outs(%o : tensor<?x8x64xf32>) {
  ^bb0(%h: f32, %a: f32, %b: f32, %c: f32):
    %p = arith.mulf %h, %a : f32
    %q = arith.mulf %p, %b : f32
    %t = arith.addf %c, %q : f32
    linalg.yield %t : f32
  } -> tensor<?x8x64xf32>
  return %r : tensor<?x8x64xf32>
}
func.func @twos(%x: tensor<?x32xf32>, %w: tensor<8x32x64xf32>, %n: index, %o: tensor<?x8x64xf32>,
                %i: !pit.index<micro_tile = [1, 1], axis = 0>) -> tensor<?x8x64xf32> {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %f = linalg.fill ins(%two : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s = pit.sparse %f index(%i : !pit.index<micro_tile = [1, 1], axis = 0>) : tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [#te, #tk, #ekf, #tef], iterator_types = ["parallel", "parallel", "parallel", "reduction"],
         pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 1], tile = [64, 1, 64, 32]>}
         ins(%s, %x, %w : tensor<?x8xf32>, tensor<?x32xf32>, tensor<8x32x64xf32>) outs(%o : tensor<?x8x64xf32>) {
  ^bb0(%h: f32, %a: f32, %b: f32, %c: f32):
    %p = arith.mulf %h, %a : f32
    %q = arith.mulf %p, %b : f32
    %t = arith.addf %c, %q : f32
    linalg.yield %t : f32
  } -> tensor<?x8x64xf32>
  return %r : tensor<?x8x64xf32>
}
