// RUN: pit-opt %s -pit-tile -canonicalize -cse -split-input-file | FileCheck %s

// Groups that write the same outputs, each into memory of its own first.

!t = tensor<?x?xf32>
!parts = !pit.index<micro_tile = [1, 48], axis = 0>

// First all groups in parallel, by positions; nothing conflicts. Then each id adds
// up what it has: its positions are those that the transpose lists.
// CHECK-LABEL: func.func @a_m_parts
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf32>, %[[B:[^:]*]]: tensor<?x?xf32>, %[[C:[^:]*]]: tensor<?x?xf32>, %[[I:[^:]*]]: !pit.index
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[B]], %c1
// CHECK-DAG: %[[K:.*]] = tensor.dim %[[A]], %c1
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[A]], %c0
// CHECK-DAG: %[[NEW:.*]] = tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?xf32>
// CHECK-DAG: %[[X:.*]] = pit.extent %[[I]]
// CHECK-DAG: %[[E:.*]] = tensor.empty(%[[X]], %{{.*}}) : tensor<?x?xf32>
// CHECK: %[[P:.*]] = pit.forall (%[[NI:.*]], %[[KI:.*]]) = (%c0, %c0) to (%[[N]], %[[K]]) step (128, 48) iter_args(%[[O:.*]] = %[[E]])
// CHECK-NEXT: pit.for %[[IDS:.*]] at %[[POS:.*]] in %[[I]][%[[KI]]] : {{.*}} chunk 64 iter_args(%[[O1:.*]] = %[[O]])
// CHECK: %[[ACC:.*]] = linalg.fill
// CHECK: pit.sread %[[A]][%[[IDS]] : !pit.ids<64>, %[[KI]]]
// CHECK: %[[SUM:.*]] = linalg.matmul {{.*}} outs(%[[ACC]]
// CHECK-NEXT: pit.swrite %[[SUM]] into %[[O1]][%[[POS]] : !pit.ids<64>, %[[NI]]] :
// CHECK: %[[T:.*]] = pit.transpose_index %[[I]]
// CHECK: %[[R:.*]] = pit.forall (%[[MI:.*]], %[[NI:.*]]) = (%c0, %c0) to (%[[M]], %[[N]]) step (1, 128) iter_args(%[[O:.*]] = %{{.*}})
// CHECK-NEXT: %[[OLD:.*]] = pit.sread %[[C]][%[[MI]], %[[NI]]]
// CHECK-NEXT: %[[ALL:.*]] = pit.for %[[AT:.*]] at %{{.*}} in %[[T]][%[[MI]]] : {{.*}} chunk 4 iter_args(%[[S:.*]] = %[[OLD]])
// CHECK-NEXT: %[[PART:.*]] = pit.sread %[[P]][%[[AT]] : !pit.ids<4>, %[[NI]]] pad(0.000000e+00 : f32) : tensor<?x?xf32> -> tensor<4x128xf32>
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[PART]] : tensor<4x128xf32>) outs(%[[S]] : tensor<1x128xf32>)
// CHECK: arith.addf
// CHECK: pit.swrite %[[ALL]] into %[[O]][%[[MI]], %[[NI]]] :
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

// Parts are as wide as sums are; the result is rounded when it is written. The
// axis is where the result has it.
// CHECK-LABEL: func.func @narrow
// CHECK: %[[X:.*]] = pit.extent
// CHECK: %[[E:.*]] = tensor.empty(%[[X]]) : tensor<256x?xf32>
// CHECK: pit.forall {{.*}} iter_args(%{{.*}} = %[[E]]) -> (tensor<256x?xf32>)
// CHECK: pit.swrite %{{.*}} into %{{.*}}[%{{.*}}, %{{.*}} : !pit.ids<64>] : tensor<64x64xf32> into tensor<256x?xf32>
// CHECK: pit.forall (%{{.*}}) = {{.*}} step (1) iter_args
// CHECK: pit.sread {{.*}} -> tensor<256x4xf32>
// CHECK: pit.swrite {{.*}} : tensor<256x1xf32> into tensor<256x?xf16>
// CHECK-NOT: arith.truncf
func.func @narrow(%a: !z, %b: !h, %c: !z, %i: !parts) -> !z {
  %s = pit.sparse %b index(%i : !parts) assume : !h
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 1, axis = 1, tile = [64, 64, 8], conflicts = two_phase>}
      ins(%a, %s : !z, !h) outs(%c : !z) -> !z
  return %r : !z
}

// -----

!h = tensor<?x?xf16>
!z = tensor<256x?xf16>
!parts = !pit.index<micro_tile = [8, 1], axis = 1>

// Parts that are rounded have the result's type, and are added in f32.
// CHECK-LABEL: func.func @rounded
// CHECK: %[[X:.*]] = pit.extent
// CHECK: %[[E:.*]] = tensor.empty(%[[X]]) : tensor<256x?xf16>
// CHECK: pit.forall {{.*}} iter_args(%{{.*}} = %[[E]]) -> (tensor<256x?xf16>)
// CHECK: pit.swrite %{{.*}} into %{{.*}}[%{{.*}}, %{{.*}} : !pit.ids<64>] : tensor<64x64xf32> into tensor<256x?xf16>
// CHECK: pit.forall (%{{.*}}) = {{.*}} step (1) iter_args
// CHECK: %[[PART:.*]] = pit.sread {{.*}} pad(0.000000e+00 : f16) {{.*}} -> tensor<256x4xf16>
// CHECK: linalg.generic {{.*}} ins(%[[PART]] : tensor<256x4xf16>) outs(%{{.*}} : tensor<256x1xf32>)
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK-NEXT: arith.addf {{.*}} : f32
// CHECK: pit.swrite {{.*}} : tensor<256x1xf32> into tensor<256x?xf16>
func.func @rounded(%a: !z, %b: !h, %c: !z, %i: !parts) -> !z {
  %s = pit.sparse %b index(%i : !parts) assume : !h
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 1, axis = 1, tile = [64, 64, 8], conflicts = two_phase_rounded>}
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

// -----

!routing = !pit.index<micro_tile = [1, 1], axis = 0>

// Groups that share no id: each writes its own rows, which start from what is there.
// CHECK-LABEL: func.func @disjoint
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x64xf16>, %[[W:[^:]*]]: tensor<8x64x128xf16>, %[[C:[^:]*]]: tensor<?x128xf16>
// CHECK-NOT: conflicts
// CHECK: pit.forall (%[[EI:.*]]) = {{.*}} step (1) iter_args(%[[O:.*]] = %{{.*}}) -> (tensor<?x128xf16>)
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[EI]]] : {{.*}} iter_args(%[[O1:.*]] = %[[O]])
// CHECK: pit.sread %[[C]][%[[IDS]] : !pit.ids<32>, {{.*}}] : tensor<?x128xf16> -> tensor<32x128xf32>
// CHECK: pit.swrite %{{.*}} into %[[O1]][%[[IDS]] : !pit.ids<32>, {{.*}}] : tensor<32x128xf32> into tensor<?x128xf16>
func.func @disjoint(%x: tensor<?x64xf16>, %w: tensor<8x64x128xf16>, %c: tensor<?x128xf16>, %r: tensor<?x8xf16>, %i: !routing) -> tensor<?x128xf16> {
  %s = pit.sparse %r index(%i : !routing) assume : tensor<?x8xf16>
  %o = linalg.generic {
      indexing_maps = [affine_map<(t, e, k, n) -> (t, e)>, affine_map<(t, e, k, n) -> (t, k)>,
                       affine_map<(t, e, k, n) -> (e, k, n)>, affine_map<(t, e, k, n) -> (t, n)>],
      iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%s, %x, %w : tensor<?x8xf16>, tensor<?x64xf16>, tensor<8x64x128xf16>) outs(%c : tensor<?x128xf16>)
      attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [32, 1, 64, 128], conflicts = disjoint>} {
  ^bb0(%g: f16, %a: f16, %b: f16, %v: f16):
    %p = arith.mulf %a, %b : f16
    %q = arith.mulf %g, %p : f16
    %z = arith.addf %v, %q : f16
    linalg.yield %z : f16
  } -> tensor<?x128xf16>
  return %o : tensor<?x128xf16>
}
