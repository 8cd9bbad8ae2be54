// RUN: pit-opt %s -pit-compute-live-rows -split-input-file | FileCheck %s

!m = tensor<?x64xf32>
!index = !pit.index<micro_tile = [1], axis = 0>
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
#col = affine_map<(r, c) -> (c)>

// All that reads the results are loops over the index, by positions. An operand without rows is read
// as a whole.
// CHECK-LABEL: func.func @read_by_positions(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[S:.*]]: tensor<?xf32>, %[[B:.*]]: tensor<64xf32>, %[[I:.*]]: !pit.index
// CHECK: %[[H:.*]]:2 = pit.forall %{{.*}} at %[[POS:.*]] in %[[I]] {{.*}} chunk 8 iter_args(%[[O:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
// CHECK-DAG: %[[XT:.*]] = pit.sread %[[X]][%[[POS]] : !pit.ids<8>, %{{.*}}] : tensor<?x64xf32> -> tensor<8x64xf32>
// CHECK-DAG: %[[ST:.*]] = pit.sread %[[S]][%[[POS]] : !pit.ids<8>] : tensor<?xf32> -> tensor<8xf32>
// CHECK-DAG: %[[BT:.*]] = pit.sread %[[B]][%{{.*}}] : tensor<64xf32> -> tensor<64xf32>
// CHECK: %[[T:.*]]:2 = linalg.generic {{.*}} ins(%[[XT]], %[[ST]], %[[BT]] :
// CHECK: pit.swrite %[[T]]#0 into %[[O]][%[[POS]]
// CHECK: pit.swrite %[[T]]#1 into %[[Q]][%[[POS]]
// CHECK: pit.sread %[[H]]#0[
// CHECK: pit.sread %[[H]]#1[
func.func @read_by_positions(%x: !m, %s: tensor<?xf32>, %b: tensor<64xf32>, %i: !index, %e: !m, %z: !m) -> !m {
  %c0 = arith.constant 0 : index
  %h:2 = linalg.generic {indexing_maps = [#id, #row, #col, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %b : !m, tensor<?xf32>, tensor<64xf32>) outs(%e, %e : !m, !m) {
  ^bb0(%u: f32, %v: f32, %w: f32, %o: f32, %q: f32):
    %t = arith.mulf %u, %v : f32
    %r = arith.addf %t, %w : f32
    linalg.yield %t, %r : f32, f32
  } -> (!m, !m)
  %y = pit.forall %ids at %pos in %i : !index chunk 16 iter_args(%o = %z) -> (!m) {
    %t = pit.sread %h#0[%pos : !pit.ids<16>, %c0] : !m -> tensor<16x64xf32>
    %u = pit.sread %h#1[%pos : !pit.ids<16>, %c0] : !m -> tensor<16x64xf32>
    %e2 = tensor.empty() : tensor<16x64xf32>
    %v = linalg.add ins(%t, %u : tensor<16x64xf32>, tensor<16x64xf32>) outs(%e2 : tensor<16x64xf32>) -> tensor<16x64xf32>
    %w = pit.swrite %v into %o[%ids : !pit.ids<16>, %c0] : tensor<16x64xf32> into !m
    pit.yield %w : !m
  }
  return %y : !m
}

// -----

!m = tensor<?x64xf32>
!index = !pit.index<micro_tile = [1], axis = 0>

// Rows of an operand that no position has are nothing, so whoever reads the result gets nothing there.
// CHECK-LABEL: func.func @written_by_positions(
// CHECK: %[[P:.*]] = pit.forall
// CHECK: %[[H:.*]] = pit.forall
// CHECK: pit.sread %[[P]][
// CHECK: %[[G:.*]] = pit.forall
// CHECK: pit.sread %[[H]][
// CHECK: return %[[H]], %[[G]]
func.func @written_by_positions(%x: !m, %i: !index, %n: index) -> (!m, !m) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty(%n) : !m
  %p = pit.forall %ids at %pos in %i : !index chunk 16 iter_args(%o = %e) -> (!m) {
    %t = pit.sread %x[%ids : !pit.ids<16>, %c0] : !m -> tensor<16x64xf32>
    %w = pit.swrite %t into %o[%pos : !pit.ids<16>, %c0] : tensor<16x64xf32> into !m
    pit.yield %w : !m
  }
  %h = linalg.exp ins(%p : !m) outs(%e : !m) -> !m
  %g = linalg.tanh ins(%h : !m) outs(%e : !m) -> !m
  return %h, %g : !m, !m
}

// -----

!m = tensor<?x64xf32>
!index = !pit.index<micro_tile = [1], axis = 0>

// Rows of the operand that no position has are known: those of the loop's init.
// CHECK-LABEL: func.func @filled(
// CHECK: pit.forall
// CHECK: linalg.exp
// CHECK-NOT: pit.forall
func.func @filled(%x: !m, %i: !index, %z: !m, %e: !m) -> !m {
  %c0 = arith.constant 0 : index
  %p = pit.forall %ids at %pos in %i : !index chunk 16 iter_args(%o = %z) -> (!m) {
    %t = pit.sread %x[%ids : !pit.ids<16>, %c0] : !m -> tensor<16x64xf32>
    %w = pit.swrite %t into %o[%pos : !pit.ids<16>, %c0] : tensor<16x64xf32> into !m
    pit.yield %w : !m
  }
  %h = linalg.exp ins(%p : !m) outs(%e : !m) -> !m
  return %h : !m
}

// -----

!m = tensor<?x64xf32>
!index = !pit.index<micro_tile = [1], axis = 0>

// Rows are read by ids, too: all of them may be.
// CHECK-LABEL: func.func @read_by_ids(
// CHECK: linalg.exp
// CHECK: pit.forall
// CHECK-NOT: pit.forall
func.func @read_by_ids(%x: !m, %i: !index, %e: !m, %z: !m) -> !m {
  %c0 = arith.constant 0 : index
  %h = linalg.exp ins(%x : !m) outs(%e : !m) -> !m
  %y = pit.forall %ids at %pos in %i : !index chunk 16 iter_args(%o = %z) -> (!m) {
    %t = pit.sread %h[%ids : !pit.ids<16>, %c0] : !m -> tensor<16x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<16>, %c0] : tensor<16x64xf32> into !m
    pit.yield %w : !m
  }
  return %y : !m
}

// -----

!m = tensor<?x?xf32>
!index = !pit.index<micro_tile = [1], axis = 0>

// A row's length is not known, and a tile has to be as long.
// CHECK-LABEL: func.func @long_rows(
// CHECK: linalg.exp
// CHECK: pit.forall
// CHECK-NOT: pit.forall
func.func @long_rows(%x: !m, %i: !index, %e: !m, %z: !m) -> !m {
  %c0 = arith.constant 0 : index
  %h = linalg.exp ins(%x : !m) outs(%e : !m) -> !m
  %y = pit.forall %ids at %pos in %i : !index chunk 16 iter_args(%o = %z) -> (!m) {
    %t = pit.sread %h[%pos : !pit.ids<16>, %c0] : !m -> tensor<16x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<16>, %c0] : tensor<16x64xf32> into !m
    pit.yield %w : !m
  }
  return %y : !m
}

// -----

!m = tensor<?x64xf32>
!index = !pit.index<micro_tile = [1], axis = 0>
#id = affine_map<(r, c) -> (r, c)>

// The body reads a table where it likes.
// CHECK-LABEL: func.func @looks_up(
// CHECK: linalg.generic
// CHECK: pit.forall
// CHECK-NOT: pit.forall
func.func @looks_up(%x: !m, %table: tensor<8xf32>, %i: !index, %e: !m, %z: !m) -> !m {
  %c0 = arith.constant 0 : index
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : !m) outs(%e : !m) {
  ^bb0(%u: f32, %o: f32):
    %at = arith.fptosi %u : f32 to i64
    %n = arith.index_cast %at : i64 to index
    %v = tensor.extract %table[%n] : tensor<8xf32>
    linalg.yield %v : f32
  } -> !m
  %y = pit.forall %ids at %pos in %i : !index chunk 16 iter_args(%o = %z) -> (!m) {
    %t = pit.sread %h[%pos : !pit.ids<16>, %c0] : !m -> tensor<16x64xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<16>, %c0] : tensor<16x64xf32> into !m
    pit.yield %w : !m
  }
  return %y : !m
}
