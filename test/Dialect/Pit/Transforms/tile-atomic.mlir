// RUN: pit-opt %s -pit-tile -canonicalize -cse -split-input-file | FileCheck %s

// Groups that write the same outputs at the same time: each tile starts from
// the combiner's identity, and its SWrite combines.

!t = tensor<?x?xf32>
!parts = !pit.index<micro_tile = [1, 48], axis = 0>

// Groups, along k, are part of the parallel loop. What they add to is a copy of
// the initial output.
// CHECK-LABEL: func.func @a_m_parts
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf32>, %[[B:[^:]*]]: tensor<?x?xf32>, %[[C:[^:]*]]: tensor<?x?xf32>, %[[I:[^:]*]]: !pit.index
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[B]], %c1
// CHECK-DAG: %[[K:.*]] = tensor.dim %[[A]], %c1
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[C]] :
// CHECK: pit.forall (%[[NI:.*]], %[[KI:.*]]) = (%c0, %c0) to (%[[N]], %[[K]]) step (128, 48) conflicts(atomic) iter_args(%[[O:.*]] = %[[COPY]])
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %[[I]][%[[KI]]] : {{.*}} chunk 64 iter_args(%[[O1:.*]] = %[[O]])
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<64x128xf32>
// CHECK-NEXT: %[[ACC:.*]] = linalg.fill ins(%cst{{.*}} : f32) outs(%[[E]] :
// CHECK-NEXT: pit.sread %[[A]][%[[IDS]] : !pit.ids<64>, %[[KI]]] pad(0.000000e+00 : f32) : {{.*}} -> tensor<64x48xf32>
// CHECK-NEXT: pit.sread %[[B]][%[[KI]], %[[NI]]] pad(0.000000e+00 : f32) : {{.*}} -> tensor<48x128xf32>
// CHECK-NEXT: %[[SUM:.*]] = linalg.matmul {{.*}} outs(%[[ACC]]
// CHECK-NEXT: %[[W:.*]] = pit.swrite %[[SUM]] into %[[O1]][%[[IDS]] : !pit.ids<64>, %[[NI]]] combine(addf)
// CHECK-NEXT: pit.yield %[[W]]
func.func @a_m_parts(%a: !t, %b: !t, %c: !t, %i: !parts) -> !t {
  %s = pit.sparse %a index(%i : !parts) assume : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 48], tile = [64, 128, 48], conflicts = atomic>}
      ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

// Top-k experts: the routing weight is applied to what one expert sums, before
// that is added to the token's output.
// CHECK-LABEL: func.func @experts_down
// CHECK: pit.forall (%[[NI:.*]], %[[E:.*]]) = (%c0, %c0) to (%c256, %c8) step (128, 1) conflicts(atomic) iter_args(%[[O:.*]] =
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[E]]] : {{.*}} chunk 64 iter_args(%[[O1:.*]] = %[[O]])
// CHECK-NOT: pit.sread
// CHECK: %[[ZERO:.*]] = linalg.fill
// CHECK-NEXT: %[[SUM:.*]] = pit.for (%[[F:.*]]) = (%c0) to (%c96) step (32) iter_args(%{{.*}} = %[[ZERO]])
// CHECK: %[[G:.*]] = pit.sread %{{.*}}[%[[IDS]] : !pit.ids<64>, %[[E]]] {{.*}} -> tensor<64x1xf32>
// CHECK-NEXT: %[[PART:.*]] = linalg.generic {{.*}} ins(%[[G]], %[[SUM]] : {{.*}}) outs(%[[ZERO]] :
// CHECK: pit.swrite %[[PART]] into %[[O1]][%[[IDS]] : !pit.ids<64>, %[[NI]]] combine(addf)
func.func @experts_down(%g: tensor<?x8xf32>, %h: tensor<?x8x96xf32>, %w: tensor<8x96x256xf32>, %y: tensor<?x256xf32>,
                        %i: !pit.index<micro_tile = [1, 1], axis = 0>) -> tensor<?x256xf32> {
  %s = pit.sparse %g index(%i : !pit.index<micro_tile = [1, 1], axis = 0>) : tensor<?x8xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(t, n, e, f) -> (t, e)>, affine_map<(t, n, e, f) -> (t, e, f)>,
                       affine_map<(t, n, e, f) -> (e, f, n)>, affine_map<(t, n, e, f) -> (t, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%s, %h, %w : tensor<?x8xf32>, tensor<?x8x96xf32>, tensor<8x96x256xf32>) outs(%y : tensor<?x256xf32>)
      attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 1], tile = [64, 128, 1, 32], conflicts = atomic>} {
  ^bb0(%v: f32, %a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %v, %p : f32
    %z = arith.addf %o, %q : f32
    linalg.yield %z : f32
  } -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}

// -----

!t = tensor<?x?xf32>
!parts = !pit.index<micro_tile = [1, 48], axis = 0>

// A filled output is filled before, as rows that no id names keep it.
// CHECK-LABEL: func.func @filled
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3.0
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[C:.*]] = linalg.fill ins(%[[THREE]] : f32) outs(%{{.*}} : tensor<?x?xf32>)
// CHECK: pit.forall {{.*}} conflicts(atomic) iter_args(%{{.*}} = %[[C]])
// CHECK: linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<64x128xf32>)
func.func @filled(%a: !t, %b: !t, %e: !t, %i: !parts) -> !t {
  %three = arith.constant 3.0 : f32
  %c = linalg.fill ins(%three : f32) outs(%e : !t) -> !t
  %s = pit.sparse %a index(%i : !parts) assume : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [64, 128, 48], conflicts = atomic>}
      ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!h = tensor<?x?xf16>
!parts = !pit.index<micro_tile = [1, 48], axis = 0>

// Narrow outputs are added up in f32 and rounded once.
// CHECK-LABEL: func.func @f16
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<?x?xf16>) outs(%{{.*}} : tensor<?x?xf32>)
// CHECK: %[[R:.*]] = pit.forall {{.*}} conflicts(atomic) iter_args(%{{.*}} = %[[WIDE]]) -> (tensor<?x?xf32>)
// CHECK: pit.swrite %{{.*}} combine(addf) : tensor<64x128xf32> into tensor<?x?xf32>
// CHECK: linalg.generic {{.*}} ins(%[[R]] : tensor<?x?xf32>) outs(%{{.*}} : tensor<?x?xf16>)
func.func @f16(%a: !h, %b: !h, %c: !h, %i: !parts) -> !h {
  %s = pit.sparse %a index(%i : !parts) assume : !h
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [64, 128, 48], conflicts = atomic>} ins(%s, %b : !h, !h) outs(%c : !h) -> !h
  return %r : !h
}

// -----

!t = tensor<?x?xf32>
!v = tensor<?xf32>
!w = tensor<?xi32>
!parts = !pit.index<micro_tile = [1, 48], axis = 0>

// Each result by its own combiner, from its own identity.
// CHECK-LABEL: func.func @combiners
// CHECK-DAG: %[[LOW:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[ONES:.*]] = arith.constant -1 : i32
// CHECK-DAG: linalg.fill ins(%[[LOW]] : f32) outs(%{{.*}} : tensor<64xf32>)
// CHECK-DAG: linalg.fill ins(%[[ONES]] : i32) outs(%{{.*}} : tensor<64xi32>)
// CHECK: pit.swrite %{{.*}} combine(maximumf)
// CHECK-NEXT: pit.swrite %{{.*}} combine(minu)
func.func @combiners(%a: !t, %c: !v, %d: !w, %i: !parts) -> (!v, !w) {
  %s = pit.sparse %a index(%i : !parts) background(0xFF800000 : f32) assume : !t
  %r:2 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%s : !t) outs(%c, %d : !v, !w)
      attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [64, 48], conflicts = atomic>} {
  ^bb0(%x: f32, %o: f32, %p: i32):
    %low = arith.constant 0xFF800000 : f32
    %big = arith.constant -1 : i32
    %one = arith.constant 1 : i32
    %is = arith.cmpf oeq, %x, %low : f32
    %y = arith.select %is, %big, %one : i32
    %o1 = arith.maximumf %o, %x : f32
    %p1 = arith.minui %p, %y : i32
    linalg.yield %o1, %p1 : f32, i32
  } -> (!v, !w)
  return %r#0, %r#1 : !v, !w
}

// -----

!t = tensor<?x?xf32>
!v = tensor<?xf32>
!parts = !pit.index<micro_tile = [1, 48], axis = 0>

// If the tail of the conflicting dim is peeled, its groups are sequential.
// CHECK-LABEL: func.func @peeled
// CHECK-NOT: pit.forall
// CHECK: pit.for {{.*}} step (48) iter_args(%{{.*}} = %{{.*}}) -> (tensor<?xf32>)
// CHECK: pit.for {{.*}} step (1) iter_args(%{{.*}} = %{{.*}}) -> (tensor<?xf32>)
// CHECK-NOT: combine
// CHECK: return
func.func @peeled(%a: !t, %y: !t, %c: !v, %i: !parts) -> !v {
  %s = pit.sparse %a index(%i : !parts) assume : !t
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, j, k) -> (m, k)>, affine_map<(m, j, k) -> (m, j)>, affine_map<(m, j, k) -> (m)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%s, %y : !t, !t) outs(%c : !v) attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [64, 1, 48], conflicts = atomic>} {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> !v
  return %r : !v
}

// -----

!parts = !pit.index<micro_tile = [1, 48], axis = 0>

// One group has nobody to conflict with.
// CHECK-LABEL: func.func @one_group
// CHECK-NOT: conflicts
// CHECK-NOT: combine
// CHECK: return
func.func @one_group(%a: tensor<?x40xf32>, %b: tensor<40x256xf32>, %c: tensor<?x256xf32>, %i: !parts) -> tensor<?x256xf32> {
  %s = pit.sparse %a index(%i : !parts) assume : tensor<?x40xf32>
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [64, 128, 48], conflicts = atomic>}
      ins(%s, %b : tensor<?x40xf32>, tensor<40x256xf32>) outs(%c : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}
