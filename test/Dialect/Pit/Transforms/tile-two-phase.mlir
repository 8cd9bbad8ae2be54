// RUN: pit-opt %s -pit-tile -canonicalize -cse -split-input-file | FileCheck %s

// Groups that write the same outputs, each into memory of its own first.

!t = tensor<?x?xf32>
!parts = !pit.index<micro_tile = [1, 48], axis = 0>

// First all groups in parallel, by positions; nothing conflicts. Then, for
// narrow tiles of columns in parallel, one group after another.
// CHECK-LABEL: func.func @a_m_parts
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf32>, %[[B:[^:]*]]: tensor<?x?xf32>, %[[C:[^:]*]]: tensor<?x?xf32>, %[[I:[^:]*]]: !pit.index
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[B]], %c1
// CHECK-DAG: %[[K:.*]] = tensor.dim %[[A]], %c1
// CHECK-DAG: %[[COPY:.*]] = linalg.copy ins(%[[C]] :
// CHECK-DAG: %[[X:.*]] = pit.extent %[[I]]
// CHECK-DAG: %[[E:.*]] = tensor.empty(%[[X]], %{{.*}}) : tensor<?x?xf32>
// CHECK: %[[P:.*]] = pit.forall (%[[NI:.*]], %[[KI:.*]]) = (%c0, %c0) to (%[[N]], %[[K]]) step (128, 48) iter_args(%[[O:.*]] = %[[E]])
// CHECK-NEXT: pit.for %[[IDS:.*]] at %[[POS:.*]] in %[[I]][%[[KI]]] : {{.*}} chunk 64 iter_args(%[[O1:.*]] = %[[O]])
// CHECK: %[[ACC:.*]] = linalg.fill
// CHECK: pit.sread %[[A]][%[[IDS]] : !pit.ids<64>, %[[KI]]]
// CHECK: %[[SUM:.*]] = linalg.matmul {{.*}} outs(%[[ACC]]
// CHECK-NEXT: pit.swrite %[[SUM]] into %[[O1]][%[[POS]] : !pit.ids<64>, %[[NI]]] :
// CHECK: %[[R:.*]] = pit.forall (%[[NI:.*]]) = (%c0) to (%[[N]]) step (32) iter_args(%[[O:.*]] = %[[COPY]])
// CHECK-NEXT: pit.for (%[[KI:.*]]) = (%c0) to (%[[K]]) step (48) iter_args(%[[O1:.*]] = %[[O]])
// CHECK-NEXT: pit.for %[[IDS:.*]] at %[[POS:.*]] in %[[I]][%[[KI]]] : {{.*}} chunk 64 iter_args(%[[O2:.*]] = %[[O1]])
// CHECK-NEXT: %[[PART:.*]] = pit.sread %[[P]][%[[POS]] : !pit.ids<64>, %[[NI]]] : tensor<?x?xf32> -> tensor<64x32xf32>
// CHECK-NEXT: %[[OLD:.*]] = pit.sread %[[O2]][%[[IDS]] : !pit.ids<64>, %[[NI]]]
// CHECK-NEXT: %[[NEW:.*]] = linalg.generic {{.*}} ins(%[[PART]] : tensor<64x32xf32>) outs(%[[OLD]] : tensor<64x32xf32>)
// CHECK: arith.addf
// CHECK: pit.swrite %[[NEW]] into %[[O2]][%[[IDS]] : !pit.ids<64>, %[[NI]]] :
// CHECK: return %[[R]]
func.func @a_m_parts(%a: !t, %b: !t, %c: !t, %i: !parts) -> !t {
  %s = pit.sparse %a index(%i : !parts) assume : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 48], tile = [64, 128, 48], conflicts = two_phase>}
      ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// -----

!h = tensor<?x?xf16>
!z = tensor<256x?xf16>
!parts = !pit.index<micro_tile = [8, 1], axis = 1>

// Parts are as wide as sums are. The axis is where the result has it.
// CHECK-LABEL: func.func @narrow
// CHECK: %[[X:.*]] = pit.extent
// CHECK: %[[E:.*]] = tensor.empty(%[[X]]) : tensor<256x?xf32>
// CHECK: pit.forall {{.*}} iter_args(%{{.*}} = %[[E]]) -> (tensor<256x?xf32>)
// CHECK: pit.swrite %{{.*}} into %{{.*}}[%{{.*}}, %{{.*}} : !pit.ids<64>] : tensor<64x64xf32> into tensor<256x?xf32>
// CHECK: pit.forall (%{{.*}}) = {{.*}} step (32) iter_args
// CHECK: pit.sread {{.*}} -> tensor<32x64xf32>
// CHECK: arith.truncf
func.func @narrow(%a: !z, %b: !h, %c: !z, %i: !parts) -> !z {
  %s = pit.sparse %b index(%i : !parts) assume : !h
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 1, axis = 1, tile = [64, 64, 8], conflicts = two_phase>}
      ins(%a, %s : !z, !h) outs(%c : !z) -> !z
  return %r : !z
}

// -----

!t = tensor<?x?xf32>
!v = tensor<?xf32>
!parts = !pit.index<micro_tile = [1, 48], axis = 0>

// A peeled tail would write the parts of the last group again.
// CHECK-LABEL: func.func @peeled
// CHECK-NOT: pit.extent
// CHECK: return
func.func @peeled(%a: !t, %y: !t, %c: !v, %i: !parts) -> !v {
  %s = pit.sparse %a index(%i : !parts) assume : !t
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, j, k) -> (m, k)>, affine_map<(m, j, k) -> (m, j)>, affine_map<(m, j, k) -> (m)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%s, %y : !t, !t) outs(%c : !v) attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [64, 1, 48], conflicts = two_phase>} {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> !v
  return %r : !v
}
