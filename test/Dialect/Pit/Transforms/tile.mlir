// RUN: pit-opt %s -pit-tile -canonicalize -cse | FileCheck %s
// RUN: pit-opt %s -pit-tile=kernels -canonicalize -cse | FileCheck %s --check-prefix=FORALL

!t = tensor<?x?xf32>
!b = tensor<?x?x?xf32>
!m = tensor<?x?xi1>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>
!rows = !pit.index<micro_tile = [1, *], axis = 0>
!parts = !pit.index<micro_tile = [1, 48], axis = 0>
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

//===----------------------------------------------------------------------===//
// Sparse left operand
//===----------------------------------------------------------------------===//

// The axis is reduced: its loop, over the ids of the row block's group, is the
// innermost one. The initial output is where the sum starts; every tile is
// written, so a new tensor takes the results.
// CHECK-LABEL: func.func @a_k(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf32>, %[[B:[^:]*]]: tensor<?x?xf32>, %[[C:[^:]*]]: tensor<?x?xf32>, %[[I:[^:]*]]: !pit.index
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[A]], %c0
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[B]], %c1
// CHECK: %[[E:.*]] = tensor.empty(
// CHECK-NEXT: %[[R:.*]] = pit.forall (%[[MI:.*]], %[[NI:.*]]) = (%c0, %c0) to (%[[M]], %[[N]]) step (32, 128) iter_args(%[[O:.*]] = %[[E]]) -> (tensor<?x?xf32>) {
// CHECK-NEXT: %[[ACC:.*]] = pit.sread %[[C]][%[[MI]], %[[NI]]] : tensor<?x?xf32> -> tensor<32x128xf32>
// CHECK-NEXT: %[[SUM:.*]] = pit.for %[[IDS:.*]] at %{{.*}} in %[[I]][%[[MI]]] : !pit.index<micro_tile = [32, 1], axis = 1> chunk 64 iter_args(%[[CARRIED:.*]] = %[[ACC]]) -> (tensor<32x128xf32>) {
// CHECK-NEXT: %[[AT:.*]] = pit.sread %[[A]][%[[MI]], %[[IDS]] : !pit.ids<64>] pad(0.000000e+00 : f32) : tensor<?x?xf32> -> tensor<32x64xf32>
// CHECK-NEXT: %[[BT:.*]] = pit.sread %[[B]][%[[IDS]] : !pit.ids<64>, %[[NI]]] pad(0.000000e+00 : f32) : tensor<?x?xf32> -> tensor<64x128xf32>
// CHECK-NEXT: %[[P:.*]] = linalg.matmul ins(%[[AT]], %[[BT]] : tensor<32x64xf32>, tensor<64x128xf32>) outs(%[[CARRIED]] : tensor<32x128xf32>)
// CHECK-NEXT: pit.yield %[[P]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[W:.*]] = pit.swrite %[[SUM]] into %[[O]][%[[MI]], %[[NI]]] : tensor<32x128xf32> into tensor<?x?xf32>
// CHECK-NEXT: pit.yield %[[W]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]
func.func @a_k(%a: !t, %b: !t, %c: !t, %i: !cols) -> !t {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>}
      ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// What a loop around carries, or a slice of it, is updated tile by tile.
// CHECK-LABEL: func.func @a_k_carried(
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}})
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]]
// CHECK: pit.forall {{.*}} iter_args(%[[O:.*]] = %[[S]])
// CHECK: pit.sread %[[O]]
func.func @a_k_carried(%a: !t, %b: !t, %c: !t, %i: !cols, %m: index, %n: index) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = pit.sparse %a index(%i : !cols) assume : !t
  %r = scf.for %p = %c0 to %m step %c1 iter_args(%x = %c) -> (!t) {
    %old = tensor.extract_slice %x[%p, 0] [%m, %n] [1, 1] : !t to !t
    %new = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>}
        ins(%s, %b : !t, !t) outs(%old : !t) -> !t
    %y = tensor.insert_slice %new into %x[%p, 0] [%m, %n] [1, 1] : !t into !t
    scf.yield %y : !t
  }
  return %r : !t
}

// Whole rows are one group: its chunks are tiles like any other. Results that
// no id names keep their initial value.
// CHECK-LABEL: func.func @a_m_whole
// CHECK-SAME: %[[C:[^:]*]]: tensor<?x?xf32>, %[[I:[^:]*]]: !pit.index
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[C]] :
// CHECK-NEXT: pit.forall (%[[NI:.*]]) = (%c0) to (%{{.*}}) step (128), %[[IDS:.*]] at %{{.*}} in %[[I]] : !pit.index<micro_tile = [1, *], axis = 0> chunk 64 iter_args(%[[O:.*]] = %[[COPY]])
// CHECK-NEXT: %[[ACC:.*]] = pit.sread %[[C]][%[[IDS]] : !pit.ids<64>, %[[NI]]] : {{.*}} -> tensor<64x128xf32>
// CHECK-NEXT: pit.for (%[[KI:.*]]) = (%c0) to (%{{.*}}) step (32) iter_args(%{{.*}} = %[[ACC]])
// CHECK-NEXT: pit.sread %{{.*}}[%[[IDS]] : !pit.ids<64>, %[[KI]]] pad(0.000000e+00 : f32) : {{.*}} -> tensor<64x32xf32>
// CHECK-NEXT: pit.sread %{{.*}}[%[[KI]], %[[NI]]] pad(0.000000e+00 : f32) : {{.*}} -> tensor<32x128xf32>
// CHECK-NEXT: linalg.matmul
// CHECK: pit.swrite %{{.*}} into %[[O]][%[[IDS]] : !pit.ids<64>, %[[NI]]]
func.func @a_m_whole(%a: !t, %b: !t, %c: !t, %i: !rows) -> !t {
  %s = pit.sparse %a index(%i : !rows) assume : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, *], tile = [64, 128, 32]>}
      ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// Parts of rows conflict: groups, along k, run one after another inside of the
// parallel loop, and each adds to what is there.
// CHECK-LABEL: func.func @a_m_parts
// CHECK: pit.forall (%[[NI:.*]]) = (%c0) to (%{{.*}}) step (128) iter_args(%[[O:.*]] =
// CHECK-NEXT: pit.for (%[[KI:.*]]) = (%c0) to (%{{.*}}) step (48) iter_args(%[[O1:.*]] = %[[O]]) -> (tensor<?x?xf32>)
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[KI]]] : {{.*}} chunk 64 iter_args(%[[O2:.*]] = %[[O1]]) -> (tensor<?x?xf32>)
// CHECK-NEXT: %[[ACC:.*]] = pit.sread %[[O2]][%[[IDS]] : !pit.ids<64>, %[[NI]]]
// CHECK-NEXT: pit.sread %{{.*}}[%[[IDS]] : !pit.ids<64>, %[[KI]]] pad(0.000000e+00 : f32) : {{.*}} -> tensor<64x48xf32>
// CHECK-NEXT: pit.sread %{{.*}}[%[[KI]], %[[NI]]] pad(0.000000e+00 : f32) : {{.*}} -> tensor<48x128xf32>
// CHECK-NEXT: %[[SUM:.*]] = linalg.matmul {{.*}} outs(%[[ACC]]
// CHECK-NEXT: %[[W:.*]] = pit.swrite %[[SUM]] into %[[O2]][%[[IDS]] : !pit.ids<64>, %[[NI]]]
// CHECK-NEXT: pit.yield %[[W]]
func.func @a_m_parts(%a: !t, %b: !t, %c: !t, %i: !parts) -> !t {
  %s = pit.sparse %a index(%i : !parts) assume : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 48], tile = [64, 128, 48], conflicts = sequential>}
      ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// An index may cover more than is selected, and a mark without `assume` selects
// by it: what it covers is all that is read.
// CHECK-LABEL: func.func @no_assume
// CHECK-NOT: pit.sparse
// CHECK: pit.forall
// CHECK: pit.sread %arg0[%{{.*}}, %{{.*}} : !pit.ids<64>]
func.func @no_assume(%a: !t, %b: !t, %c: !t, %i: !cols) -> !t {
  %s = pit.sparse %a index(%i : !cols) : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>}
      ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// A mask before the index is applied to the tiles that are read, if each is read once:
// there is one tile of columns.
// CHECK-LABEL: func.func @mask(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf32>, {{.*}}, %[[MASK:[^:]*]]: tensor<?x?xi1>
// CHECK: %[[AT:.*]] = pit.sread %[[A]][%[[MI:.*]], %[[IDS:.*]] : !pit.ids<64>] pad(2.000000e+00 : f32)
// CHECK-NEXT: %[[MT:.*]] = pit.sread %[[MASK]][%[[MI]], %[[IDS]] : !pit.ids<64>] : tensor<?x?xi1> -> tensor<32x64xi8>
// CHECK: %[[ST:.*]] = linalg.generic {{.*}} ins(%[[MT]], %[[AT]] : tensor<32x64xi8>, tensor<32x64xf32>)
// CHECK-NEXT: ^bb0(%[[B:.*]]: i8, %[[V:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[S:.*]] = arith.cmpi ne, %[[B]], %c0{{.*}} : i8
// CHECK-NEXT: arith.select %[[S]], %[[V]], %cst{{.*}} : f32
// CHECK: linalg.generic {{.*}} ins(%[[ST]], %{{.*}} : tensor<32x64xf32>, tensor<64x128xf32>)
func.func @mask(%a: !t, %b: tensor<?x128xf32>, %c: tensor<?x128xf32>, %m: !m, %i: !cols) -> tensor<?x128xf32> {
  %v = pit.sparse %a mask(%m : !m) background(2.0 : f32) : !t
  %s = pit.sparse %v index(%i : !cols) background(2.0 : f32) assume : !t
  %two = arith.constant 2.0 : f32
  %r = linalg.generic {indexing_maps = [#mk, affine_map<(m, n, k) -> (k, n)>, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s, %b : !t, tensor<?x128xf32>) outs(%c : tensor<?x128xf32>)
      attrs = {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %two : f32
    %p = arith.mulf %d, %y : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x128xf32>
  return %r : tensor<?x128xf32>
}

// Else what it selects is written out before: in the loops each tile of columns would
// select again, and a mainloop takes tiles as they are.
// CHECK-LABEL: func.func @mask_of_what_is_read_often(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf32>, {{.*}}, %[[MASK:[^:]*]]: tensor<?x?xi1>
// CHECK: %[[V:.*]] = pit.sparse %[[A]] mask(%[[MASK]] : tensor<?x?xi1>) : tensor<?x?xf32>
// CHECK: pit.forall
// CHECK-NOT: pit.sread %[[MASK]]
// CHECK: %[[VT:.*]] = pit.sread %[[V]][{{.*}} : !pit.ids<64>] pad(0.000000e+00 : f32)
// CHECK-NOT: pit.sread %[[MASK]]
// CHECK: linalg.matmul ins(%[[VT]], %{{.*}} : tensor<32x64xf32>, tensor<64x128xf32>)
func.func @mask_of_what_is_read_often(%a: !t, %b: !t, %c: !t, %m: !m, %i: !cols) -> !t {
  %v = pit.sparse %a mask(%m : !m) : !t
  %s = pit.sparse %v index(%i : !cols) assume : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>}
      ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// What a mask with another background leaves out is live: its elements are those of
// the mark, not of the tile's padding.
// CHECK-LABEL: func.func @mask_of_another_background(
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x?xf32>, {{.*}}, %[[MASK:[^:]*]]: tensor<?x?xi1>
// CHECK: %[[V:.*]] = pit.sparse %[[A]] mask(%[[MASK]] : tensor<?x?xi1>) background(1.000000e+00 : f32)
// CHECK: %[[VT:.*]] = pit.sread %[[V]][{{.*}}] pad(0.000000e+00 : f32)
// CHECK-NOT: pit.sread %[[MASK]]
// CHECK: linalg.matmul ins(%[[VT]], %{{.*}} : tensor<32x64xf32>, tensor<64x128xf32>)
func.func @mask_of_another_background(%a: !t, %b: !t, %c: !t, %m: !m, %i: !cols) -> !t {
  %v = pit.sparse %a mask(%m : !m) background(1.0 : f32) : !t
  %s = pit.sparse %v index(%i : !cols) assume : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>}
      ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

//===----------------------------------------------------------------------===//
// Sparse right operand, sparse result
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @b_k
// CHECK: pit.forall (%[[MI:.*]], %[[NI:.*]]) = {{.*}} step (32, 128)
// CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[NI]]] : !pit.index<micro_tile = [1, 128], axis = 0> chunk 16
// CHECK-NEXT: pit.sread %arg0[%[[MI]], %[[IDS]] : !pit.ids<16>] pad(0.000000e+00 : f32) : {{.*}} -> tensor<32x16xf32>
// CHECK-NEXT: pit.sread %arg1[%[[IDS]] : !pit.ids<16>, %[[NI]]] pad(0.000000e+00 : f32) : {{.*}} -> tensor<16x128xf32>
func.func @b_k(%a: !t, %b: !t, %c: !t, %i: !pit.index<micro_tile = [1, 128], axis = 0>) -> !t {
  %s = pit.sparse %b index(%i : !pit.index<micro_tile = [1, 128], axis = 0>) assume : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 1, axis = 0, micro_tile = [1, 128], tile = [32, 128, 16]>}
      ins(%a, %s : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// Columns of B in parts conflict as rows of A do.
// CHECK-LABEL: func.func @b_n
// CHECK: pit.forall (%[[MI:.*]]) = {{.*}} step (32)
// CHECK-NEXT: pit.for (%[[KI:.*]]) = {{.*}} step (8)
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[KI]]]
// CHECK-NEXT: %[[ACC:.*]] = pit.sread %[[O:.*]][%[[MI]], %[[IDS]] : !pit.ids<64>] : {{.*}} -> tensor<32x64xf32>
// CHECK: linalg.matmul {{.*}} outs(%[[ACC]]
// CHECK-NEXT: pit.swrite %{{.*}} into %[[O]][%[[MI]], %[[IDS]] : !pit.ids<64>]
func.func @b_n(%a: !t, %b: !t, %c: !t, %i: !pit.index<micro_tile = [8, 1], axis = 1>) -> !t {
  %s = pit.sparse %b index(%i : !pit.index<micro_tile = [8, 1], axis = 1>) assume : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 1, axis = 1, micro_tile = [8, 1], tile = [32, 64, 8], conflicts = sequential>}
      ins(%a, %s : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// A sparse result starts as background; only wanted tiles read the initial
// output.
// CHECK-LABEL: func.func @c_n
// CHECK-SAME: %[[C:[^:]*]]: tensor<?x?xf32>, %[[I:[^:]*]]: !pit.index
// CHECK: %[[BG:.*]] = linalg.fill ins(%cst : f32)
// CHECK: %[[R:.*]] = pit.forall (%[[MI:.*]]) = {{.*}} step (32) iter_args(%[[O:.*]] = %[[BG]])
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %[[I]][%[[MI]]] : {{.*}} chunk 64 iter_args(%[[O1:.*]] = %[[O]])
// CHECK-NEXT: %[[ACC:.*]] = pit.sread %[[C]][%[[MI]], %[[IDS]] : !pit.ids<64>]
// CHECK-NEXT: pit.for (%[[KI:.*]]) = {{.*}} iter_args(%{{.*}} = %[[ACC]])
// CHECK: pit.swrite %{{.*}} into %[[O1]][%[[MI]], %[[IDS]] : !pit.ids<64>]
// CHECK: return %[[R]]
func.func @c_n(%a: !t, %b: !t, %c: !t, %i: !cols) -> !t {
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 2, axis = 1, micro_tile = [32, 1], tile = [32, 64, 64]>}
      ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  %s = pit.sparse %r index(%i : !cols) background(1.0 : f32) : !t
  return %s : !t
}

// What is wanted of one op, another one gathers by the same mark.
// CHECK-LABEL: func.func @c_n_gathered
// CHECK: %[[R:.*]] = pit.forall (%{{.*}}) = {{.*}} step (32) iter_args
// CHECK: %[[Q:.*]] = pit.forall (%[[MI:.*]]) = {{.*}} step (32) iter_args
// CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %arg3[%[[MI]]] :
// CHECK: pit.sread %[[R]][%[[MI]], %[[IDS]] : !pit.ids<64>]
// CHECK: return %[[Q]]
func.func @c_n_gathered(%a: !t, %b: !t, %c: !t, %i: !cols) -> !t {
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 2, axis = 1, micro_tile = [32, 1], tile = [32, 64, 64]>}
      ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  %s = pit.sparse %r index(%i : !cols) : !t
  %q = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"],
                       pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 64]>} ins(%s : !t) outs(%c : !t) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.mulf %x, %x : f32
    linalg.yield %p : f32
  } -> !t
  return %q : !t
}

// CHECK-LABEL: func.func @c_m
// CHECK: pit.forall (%[[NI:.*]]) = {{.*}} step (128), %[[IDS:.*]] at %{{.*}} in %{{.*}} : !pit.index<micro_tile = [1, *], axis = 0> chunk 64
// CHECK: pit.swrite %{{.*}} into %{{.*}}[%[[IDS]] : !pit.ids<64>, %[[NI]]]
func.func @c_m(%a: !t, %b: !t, %c: !t, %i: !rows) -> !t {
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 2, axis = 0, micro_tile = [1, *], tile = [64, 128, 64]>}
      ins(%a, %b : !t, !t) outs(%c : !t) -> !t
  %s = pit.sparse %r index(%i : !rows) : !t
  return %s : !t
}

//===----------------------------------------------------------------------===//
// Batches, routing
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @batch
// CHECK: pit.forall (%[[B:.*]], %[[MI:.*]], %[[NI:.*]]) = {{.*}} step (1, 32, 128)
// CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[B]], %[[MI]]] :
// CHECK-NEXT: pit.sread %{{.*}}[%[[B]], %[[MI]], %[[IDS]] : !pit.ids<64>] {{.*}} -> tensor<1x32x64xf32>
// CHECK-NEXT: pit.sread %{{.*}}[%[[B]], %[[IDS]] : !pit.ids<64>, %[[NI]]] {{.*}} -> tensor<1x64x128xf32>
// CHECK-NEXT: linalg.batch_matmul
func.func @batch(%a: !b, %b: !b, %c: !b, %i: !pit.index<micro_tile = [1, 32, 1], axis = 2>) -> !b {
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [1, 32, 1], axis = 2>) assume : !b
  %r = linalg.batch_matmul {pit.rule = #pit.rule<operand = 0, axis = 2, micro_tile = [1, 32, 1], tile = [1, 32, 128, 64]>}
      ins(%s, %b : !b, !b) outs(%c : !b) -> !b
  return %r : !b
}

// The batch is the axis: batches that live gather.
// CHECK-LABEL: func.func @batch_axis
// CHECK: pit.forall (%[[MI:.*]], %[[NI:.*]]) = {{.*}} step (32, 128)
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[MI]]] :
// CHECK: pit.sread %{{.*}}[%[[IDS]] : !pit.ids<8>, %[[MI]], %[[KI:.*]]] {{.*}} -> tensor<8x32x64xf32>
// CHECK-NEXT: pit.sread %{{.*}}[%[[IDS]] : !pit.ids<8>, %[[KI]], %[[NI]]] {{.*}} -> tensor<8x64x128xf32>
func.func @batch_axis(%a: !b, %b: !b, %c: !b, %i: !pit.index<micro_tile = [1, 32, *], axis = 0>) -> !b {
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [1, 32, *], axis = 0>) assume : !b
  %r = linalg.batch_matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 32, *], tile = [8, 32, 128, 64]>}
      ins(%s, %b : !b, !b) outs(%c : !b) -> !b
  return %r : !b
}

// Ragged batches: a group of positions for each.
// CHECK-LABEL: func.func @lengths
// CHECK: pit.forall (%[[B:.*]], %[[NI:.*]]) = {{.*}} step (1, 128)
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[B]]] :
// CHECK: pit.for (%[[KI:.*]]) = {{.*}} step (64)
// CHECK-NEXT: pit.sread %{{.*}}[%[[B]], %[[IDS]] : !pit.ids<64>, %[[KI]]]
// CHECK-NEXT: pit.sread %{{.*}}[%[[B]], %[[KI]], %[[NI]]]
func.func @lengths(%a: !b, %b: !b, %c: !b, %i: !pit.index<micro_tile = [1, 1, *], axis = 1>) -> !b {
  %s = pit.sparse %a index(%i : !pit.index<micro_tile = [1, 1, *], axis = 1>) : !b
  %r = linalg.batch_matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [1, 1, *], tile = [1, 64, 128, 64]>}
      ins(%s, %b : !b, !b) outs(%c : !b) -> !b
  return %r : !b
}

// Top-k experts add to the same token: one expert after another. What does not
// depend on the inner sum, the routing weight, is applied after it.
// CHECK-LABEL: func.func @experts_down
// CHECK: pit.forall (%[[NI:.*]]) = (%c0) to (%c256) step (128) iter_args(%[[O:.*]] =
// CHECK-NEXT: pit.for (%[[E:.*]]) = (%c0) to (%c8) step (1) iter_args(%[[O1:.*]] = %[[O]])
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[E]]] : {{.*}} chunk 64 iter_args(%[[O2:.*]] = %[[O1]])
// CHECK-NEXT: %[[OLD:.*]] = pit.sread %[[O2]][%[[IDS]] : !pit.ids<64>, %[[NI]]]
// CHECK: %[[ZERO:.*]] = linalg.fill
// CHECK-NEXT: %[[SUM:.*]] = pit.for (%[[F:.*]]) = (%c0) to (%c96) step (32) iter_args(%{{.*}} = %[[ZERO]])
// CHECK-NEXT: %[[H:.*]] = pit.sread %{{.*}}[%[[IDS]] : !pit.ids<64>, %[[E]], %[[F]]] {{.*}} -> tensor<64x1x32xf32>
// CHECK-NEXT: %[[W:.*]] = pit.sread %{{.*}}[%[[E]], %[[F]], %[[NI]]] {{.*}} -> tensor<1x32x128xf32>
// CHECK-NEXT: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%[[H]], %[[W]] :
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK: %[[G:.*]] = pit.sread %{{.*}}[%[[IDS]] : !pit.ids<64>, %[[E]]] {{.*}} -> tensor<64x1xf32>
// CHECK-NEXT: %[[NEW:.*]] = linalg.generic {{.*}} ins(%[[G]], %[[SUM]] : {{.*}}) outs(%[[OLD]] :
// CHECK: pit.swrite %[[NEW]] into %[[O2]][%[[IDS]] : !pit.ids<64>, %[[NI]]]
func.func @experts_down(%g: tensor<?x8xf32>, %h: tensor<?x8x96xf32>, %w: tensor<8x96x256xf32>, %y: tensor<?x256xf32>,
                        %i: !pit.index<micro_tile = [1, 1], axis = 0>) -> tensor<?x256xf32> {
  %s = pit.sparse %g index(%i : !pit.index<micro_tile = [1, 1], axis = 0>) : tensor<?x8xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(t, n, e, f) -> (t, e)>, affine_map<(t, n, e, f) -> (t, e, f)>,
                       affine_map<(t, n, e, f) -> (e, f, n)>, affine_map<(t, n, e, f) -> (t, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%s, %h, %w : tensor<?x8xf32>, tensor<?x8x96xf32>, tensor<8x96x256xf32>) outs(%y : tensor<?x256xf32>)
      attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 1], tile = [64, 128, 1, 32], conflicts = sequential>} {
  ^bb0(%v: f32, %a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %v, %p : f32
    %z = arith.addf %o, %q : f32
    linalg.yield %z : f32
  } -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}

//===----------------------------------------------------------------------===//
// Shapes, initial outputs
//===----------------------------------------------------------------------===//

// Dims that fit in one tile take no loop; those of one element none either.
// Tiles are as large as the dims, so nothing but the last chunk is padded.
// CHECK-LABEL: func.func @static
// CHECK-NOT: pit.forall
// CHECK: %[[ACC:.*]] = pit.sread %{{.*}}[%c0, %c0] : tensor<7x1xf32> -> tensor<7x1xf32>
// CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%c0] : {{.*}} chunk 64 iter_args(%{{.*}} = %[[ACC]])
// CHECK-NEXT: pit.sread %{{.*}}[%c0, %[[IDS]] : !pit.ids<64>] {{.*}} : tensor<7x100xf32> -> tensor<7x64xf32>
// CHECK-NEXT: pit.sread %{{.*}}[%[[IDS]] : !pit.ids<64>, %c0] {{.*}} : tensor<100x1xf32> -> tensor<64x1xf32>
// CHECK: pit.swrite %{{.*}} into %{{.*}}[%c0, %c0] : tensor<7x1xf32> into tensor<7x1xf32>
// FORALL-LABEL: func.func @static
// FORALL: pit.forall (%{{.*}}) = (%c0) to (%c1) step (1) iter_args(%[[O:.*]] =
// FORALL: pit.for
// FORALL: pit.swrite %{{.*}} into %[[O]][%c0, %c0]
func.func @static(%a: tensor<7x100xf32>, %b: tensor<100x1xf32>, %c: tensor<7x1xf32>, %i: !cols) -> tensor<7x1xf32> {
  %s = pit.sparse %a index(%i : !cols) assume : tensor<7x100xf32>
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>}
      ins(%s, %b : tensor<7x100xf32>, tensor<100x1xf32>) outs(%c : tensor<7x1xf32>) -> tensor<7x1xf32>
  return %r : tensor<7x1xf32>
}

// A filled output is not read: every tile is written, from accumulators that
// are filled themselves.
// CHECK-LABEL: func.func @filled
// CHECK-NOT: linalg.fill {{.*}} tensor<?x?xf32>
// CHECK: %[[E:.*]] = tensor.empty(
// CHECK-NEXT: pit.forall {{.*}} iter_args(%{{.*}} = %[[E]])
// CHECK: %[[ACC:.*]] = linalg.fill ins(%cst{{.*}} : f32) outs(%{{.*}} : tensor<32x128xf32>)
// CHECK: pit.for {{.*}} iter_args(%{{.*}} = %[[ACC]])
func.func @filled(%a: !t, %b: !t, %e: !t, %i: !cols) -> !t {
  %three = arith.constant 3.0 : f32
  %c = linalg.fill ins(%three : f32) outs(%e : !t) -> !t
  %s = pit.sparse %a index(%i : !cols) assume : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>}
      ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// A single group conflicts with no other: what it adds up starts from the fill,
// too, and rows that are not listed keep it.
// CHECK-LABEL: func.func @filled_group
// CHECK: %[[F:.*]] = linalg.fill {{.*}} -> tensor<?x?xf32>
// CHECK: pit.forall {{.*}} iter_args(%{{.*}} = %[[F]])
// CHECK: pit.for {{.*}}<micro_tile = [1, 48]
// CHECK-NOT: pit.sread %{{.*}} -> tensor<32x128xf32>
// CHECK: %[[T:.*]] = linalg.fill {{.*}} -> tensor<32x128xf32>
// CHECK: linalg.matmul {{.*}} outs(%[[T]] :
func.func @filled_group(%a: tensor<?x48xf32>, %b: tensor<48x?xf32>, %e: !t, %i: !parts) -> !t {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %s = pit.sparse %a index(%i : !parts) assume : tensor<?x48xf32>
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, 48], tile = [32, 128, 48]>}
         ins(%s, %b : tensor<?x48xf32>, tensor<48x?xf32>) outs(%f : !t) -> !t
  return %r : !t
}

// With ids along a parallel dim not every tile is: the fill stays.
// CHECK-LABEL: func.func @filled_rows
// CHECK: %[[C:.*]] = linalg.fill ins(%cst{{.*}} : f32) outs(%{{.*}} : tensor<?x?xf32>)
// CHECK: pit.forall {{.*}} iter_args(%{{.*}} = %[[C]])
// CHECK: linalg.fill {{.*}} tensor<64x128xf32>
func.func @filled_rows(%a: !t, %b: !t, %e: !t, %i: !rows) -> !t {
  %three = arith.constant 3.0 : f32
  %c = linalg.fill ins(%three : f32) outs(%e : !t) -> !t
  %s = pit.sparse %a index(%i : !rows) assume : !t
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, micro_tile = [1, *], tile = [64, 128, 64]>}
      ins(%s, %b : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}

// A value used twice: by the ids in one place, whole in the other.
// CHECK-LABEL: func.func @twice
// CHECK: pit.forall (%[[MI:.*]], %[[NI:.*]]) =
// CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[MI]]]
// CHECK-NEXT: pit.sread %arg0[%[[MI]], %[[IDS]] : !pit.ids<64>] {{.*}} -> tensor<32x64xf32>
// CHECK-NEXT: pit.sread %arg0[%[[NI]], %[[IDS]] : !pit.ids<64>] {{.*}} -> tensor<128x64xf32>
func.func @twice(%a: !t, %c: !t, %i: !cols) -> !t {
  %s = pit.sparse %a index(%i : !cols) assume : !t
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn]
      {pit.rule = #pit.rule<operand = 0, axis = 1, micro_tile = [32, 1], tile = [32, 128, 64]>}
      ins(%s, %a : !t, !t) outs(%c : !t) -> !t
  return %r : !t
}
