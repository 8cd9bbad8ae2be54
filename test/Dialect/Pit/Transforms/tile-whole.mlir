// RUN: pit-opt %s -pit-tile -canonicalize -cse -split-input-file | FileCheck %s

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// Rows by ids, to their positions.
// CHECK-LABEL: func.func @pack(
// CHECK: %[[N:.*]] = pit.extent %arg1
// CHECK-NEXT: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x512xf32>
// CHECK-NEXT: pit.forall (%[[J:.*]]) = (%c0) to (%c512) step (256), %[[IDS:.*]] at %[[POS:.*]] in %arg1 : {{.*}} chunk 32 iter_args(%[[O:.*]] = %[[E]])
// CHECK-NEXT: %[[T:.*]] = pit.sread %arg0[%[[IDS]] : !pit.ids<32>, %[[J]]] : tensor<?x512xf32> -> tensor<32x256xf32>
// CHECK-NEXT: pit.swrite %[[T]] into %[[O]][%[[POS]] : !pit.ids<32>, %[[J]]]
func.func @pack(%x: tensor<?x512xf32>, %i: !rows) -> tensor<?x512xf32> {
  %p = pit.sread %x[%i : !rows] : tensor<?x512xf32> -> tensor<?x512xf32>
  return %p : tensor<?x512xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// The mirror of it; other rows of the destination stay.
// CHECK-LABEL: func.func @unpack(
// CHECK: pit.forall {{.*}}, %[[IDS:.*]] at %[[POS:.*]] in %arg2 : {{.*}} iter_args(%[[O:.*]] = %arg1)
// CHECK-NEXT: %[[T:.*]] = pit.sread %arg0[%[[POS]] : !pit.ids<32>, %[[J:.*]]] :
// CHECK-NEXT: pit.swrite %[[T]] into %[[O]][%[[IDS]] : !pit.ids<32>, %[[J]]]
func.func @unpack(%p: tensor<?x?xf32>, %d: tensor<?x?xf32>, %i: !rows) -> tensor<?x?xf32> {
  %u = pit.swrite %p into %d[%i : !rows] : tensor<?x?xf32> into tensor<?x?xf32>
  return %u : tensor<?x?xf32>
}

// -----

!seq = !pit.index<micro_tile = [1, 1, *], axis = 1>

// Dimensions that number groups come first: a group's loop is inside of theirs.
// They are gone from the packed tensor.
// CHECK: #[[$DROP:.*]] = affine_map<(d0, d1) -> (0, d0, d1)>
// CHECK-LABEL: func.func @pack_ragged
// CHECK: pit.forall (%[[B:.*]]) = {{.*}} step (1)
// CHECK-NEXT: pit.for (%[[J:.*]]) = (%c0) to (%c64) step (64), %[[IDS:.*]] at %[[POS:.*]] in %arg1[%[[B]]] :
// CHECK-NEXT: %[[T:.*]] = pit.sread %arg0[%[[B]], %[[IDS]] : !pit.ids<32>, %[[J]]] : tensor<?x?x64xf16> -> tensor<1x32x64xf16>
// CHECK: %[[D:.*]] = linalg.generic {indexing_maps = [#[[$DROP]], {{.*}} ins(%[[T]] : tensor<1x32x64xf16>) outs(%{{.*}} : tensor<32x64xf16>)
// CHECK: pit.swrite %[[D]] into %{{.*}}[%[[POS]] : !pit.ids<32>, %[[J]]]
func.func @pack_ragged(%x: tensor<?x?x64xf16>, %i: !seq) -> tensor<?x64xf16> {
  %p = pit.sread %x[%i : !seq] : tensor<?x?x64xf16> -> tensor<?x64xf16>
  return %p : tensor<?x64xf16>
}

// -----

!seq = !pit.index<micro_tile = [1, 1, *], axis = 1>

// CHECK-LABEL: func.func @unpack_ragged
// CHECK: pit.forall (%[[B:.*]]) = {{.*}} iter_args(%{{.*}} = %arg1)
// CHECK: pit.sread %arg0[%[[POS:.*]] : !pit.ids<32>, %[[J:.*]]] : tensor<?x64xf16> -> tensor<32x64xf16>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x32x64xf16>)
// CHECK: pit.swrite %{{.*}} into %{{.*}}[%[[B]], %{{.*}} : !pit.ids<32>, %[[J]]]
func.func @unpack_ragged(%p: tensor<?x64xf16>, %d: tensor<?x?x64xf16>, %i: !seq) -> tensor<?x?x64xf16> {
  %u = pit.swrite %p into %d[%i : !seq] : tensor<?x64xf16> into tensor<?x?x64xf16>
  return %u : tensor<?x?x64xf16>
}

// -----

!cols = !pit.index<micro_tile = [*, 1], axis = 1>

// The axis becomes the first dimension.
// CHECK-LABEL: func.func @pack_columns
// CHECK: pit.sread %arg0[%[[I:.*]], %[[IDS:.*]] : !pit.ids<32>] : tensor<?x?xf32> -> tensor<1x32xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x32xf32>) outs(%{{.*}} : tensor<32x1xf32>)
// CHECK: pit.swrite %{{.*}} into %{{.*}}[%{{.*}} : !pit.ids<32>, %[[I]]]
func.func @pack_columns(%x: tensor<?x?xf32>, %i: !cols) -> tensor<?x?xf32> {
  %p = pit.sread %x[%i : !cols] : tensor<?x?xf32> -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}

// -----

!ex = !pit.index<micro_tile = [1, 1], axis = 0>

// Dimensions that the index does not know of are kept.
// CHECK-LABEL: func.func @experts(
// CHECK: pit.forall (%[[X:.*]]) = (%c0) to (%c8) step (1)
// CHECK: pit.sread %arg0[%[[IDS:.*]] : !pit.ids<32>, %[[X]], %[[J:.*]]] : tensor<?x8x96xf32> -> tensor<32x1x96xf32>
// CHECK: pit.swrite %{{.*}} into %{{.*}}[%{{.*}} : !pit.ids<32>, %[[J]]] : tensor<32x96xf32> into tensor<?x96xf32>
func.func @experts(%h: tensor<?x8x96xf32>, %i: !ex) -> tensor<?x96xf32> {
  %p = pit.sread %h[%i : !ex] dims[0, 1] : tensor<?x8x96xf32> -> tensor<?x96xf32>
  return %p : tensor<?x96xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// CHECK-LABEL: func.func @unused
// CHECK-NEXT: return
func.func @unused(%x: tensor<?x512xf32>, %i: !rows) {
  %p = pit.sread %x[%i : !rows] : tensor<?x512xf32> -> tensor<?x512xf32>
  %u = pit.swrite %p into %x[%i : !rows] : tensor<?x512xf32> into tensor<?x512xf32>
  return
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
// An operand that this index unpacked is read packed, by positions.
// CHECK-LABEL: func.func @operand_packed
// CHECK-COUNT-1: pit.forall
// CHECK-NOT: pit.forall
// CHECK: pit.sread %arg0[%[[POS:.*]] : !pit.ids<32>, %c0] pad(0.000000e+00 : f32) : tensor<?x64xf32> -> tensor<32x64xf32>
// CHECK: pit.swrite %{{.*}} into %{{.*}}[%[[IDS:.*]] : !pit.ids<32>, %c0]
// CHECK-NOT: pit.forall
// CHECK: return
func.func @operand_packed(%p: tensor<?x64xf32>, %d: tensor<?x64xf32>, %w: tensor<64x128xf32>, %c: tensor<?x128xf32>, %i: !rows) -> tensor<?x128xf32> {
  %x = pit.swrite %p into %d[%i : !rows] : tensor<?x64xf32> into tensor<?x64xf32>
  %s = pit.sparse %x index(%i : !rows) assume : tensor<?x64xf32>
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [32, 128, 64]>}
      ins(%s, %w : tensor<?x64xf32>, tensor<64x128xf32>) outs(%c : tensor<?x128xf32>) -> tensor<?x128xf32>
  return %r : tensor<?x128xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
// A result that is only packed never exists unpacked. Its initial value does.
// CHECK-LABEL: func.func @result_packed
// CHECK: %[[N:.*]] = pit.extent %arg3
// CHECK-NEXT: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x128xf32>
// CHECK-NEXT: %[[R:.*]] = pit.forall %[[IDS:.*]] at %[[POS:.*]] in %arg3 : {{.*}} iter_args(%[[O:.*]] = %[[E]])
// CHECK-NEXT: pit.sread %arg2[%[[IDS]] : !pit.ids<32>, %c0]
// CHECK: pit.swrite %{{.*}} into %[[O]][%[[POS]] : !pit.ids<32>, %c0]
// CHECK-NOT: pit.forall
// CHECK: return %[[R]]
func.func @result_packed(%x: tensor<?x64xf32>, %w: tensor<64x128xf32>, %c: tensor<?x128xf32>, %i: !rows) -> tensor<?x128xf32> {
  %s = pit.sparse %x index(%i : !rows) assume : tensor<?x64xf32>
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [32, 128, 64]>}
      ins(%s, %w : tensor<?x64xf32>, tensor<64x128xf32>) outs(%c : tensor<?x128xf32>) -> tensor<?x128xf32>
  %p = pit.sread %r[%i : !rows] : tensor<?x128xf32> -> tensor<?x128xf32>
  return %p : tensor<?x128xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
// With another use it does.
// CHECK-LABEL: func.func @result_used_twice
// CHECK: %[[R:.*]] = pit.forall
// CHECK: pit.swrite %{{.*}} : !pit.ids<32>, %c0] : tensor<32x128xf32> into tensor<?x128xf32>
// CHECK: %[[P:.*]] = pit.forall
// CHECK: pit.sread %[[R]][
// CHECK: return %[[P]], %[[R]]
func.func @result_used_twice(%x: tensor<?x64xf32>, %w: tensor<64x128xf32>, %c: tensor<?x128xf32>, %i: !rows) -> (tensor<?x128xf32>, tensor<?x128xf32>) {
  %s = pit.sparse %x index(%i : !rows) assume : tensor<?x64xf32>
  %r = linalg.matmul {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [32, 128, 64]>}
      ins(%s, %w : tensor<?x64xf32>, tensor<64x128xf32>) outs(%c : tensor<?x128xf32>) -> tensor<?x128xf32>
  %p = pit.sread %r[%i : !rows] : tensor<?x128xf32> -> tensor<?x128xf32>
  return %p, %r : tensor<?x128xf32>, tensor<?x128xf32>
}

// -----

!ex = !pit.index<micro_tile = [1, 1], axis = 0>
#te = affine_map<(t, e, f, k) -> (t, e)>
#tk = affine_map<(t, e, f, k) -> (t, k)>
#ekf = affine_map<(t, e, f, k) -> (e, k, f)>
#tef = affine_map<(t, e, f, k) -> (t, e, f)>
// The experts' hidden tensor: one packed row for each token and expert that it
// goes to, and none of 8 experts for each token. Tiles of it have no dim of
// experts either, so that mainloops can compute them.
// CHECK-LABEL: func.func @experts_up_down
// CHECK-NOT: tensor<?x8x256xf32>
// CHECK: %[[N:.*]] = pit.extent %[[I:.*]] : !pit.index
// CHECK-NEXT: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x256xf32>
// CHECK-NEXT: %[[H:.*]] = pit.forall (%[[X:.*]], %[[F:.*]]) = {{.*}} step (1, 128) iter_args(%[[O:.*]] = %[[E]])
// CHECK-NEXT: pit.for %[[IDS:.*]] at %[[POS:.*]] in %[[I]][%[[X]]] : {{.*}} iter_args(%[[O1:.*]] = %[[O]])
// CHECK: pit.sread %arg1[%[[IDS]] : !pit.ids<64>, %c0]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<64x128xf32>)
// CHECK: pit.swrite %{{.*}} into %[[O1]][%[[POS]] : !pit.ids<64>, %[[F]]] : tensor<64x128xf32>
// CHECK: pit.forall
// CHECK-NEXT: pit.for (%[[X:.*]]) = (%c0) to (%c8) step (1)
// CHECK-NEXT: pit.for %[[IDS:.*]] at %[[POS:.*]] in %[[I]][%[[X]]] :
// CHECK: %[[T:.*]] = pit.sread %[[H]][%[[POS]] : !pit.ids<64>, %{{.*}}] {{.*}} : tensor<?x256xf32> -> tensor<64x64xf32>
// CHECK: linalg.generic {{.*}} ins(%[[T]], %{{.*}} : tensor<64x64xf32>, tensor<1x64x
// CHECK-NOT: tensor<?x8x256xf32>
// CHECK: return
func.func @experts_up_down(%g: tensor<?x8xf32>, %x: tensor<?x64xf32>, %up: tensor<8x64x256xf32>, %down: tensor<8x256x64xf32>, %y: tensor<?x64xf32>, %i: !ex, %n: index) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %s = pit.sparse %g index(%i : !ex) : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8x256xf32>
  %h0 = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8x256xf32>) -> tensor<?x8x256xf32>
  %h = linalg.generic {indexing_maps = [#te, #tk, #ekf, #tef], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s, %x, %up : tensor<?x8xf32>, tensor<?x64xf32>, tensor<8x64x256xf32>) outs(%h0 : tensor<?x8x256xf32>)
      attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [64, 1, 128, 64]>} {
  ^bb0(%v: f32, %a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %v, %p : f32
    %z = arith.addf %o, %q : f32
    linalg.yield %z : f32
  } -> tensor<?x8x256xf32>
  %p = pit.sread %h[%i : !ex] dims[0, 1] : tensor<?x8x256xf32> -> tensor<?x256xf32>
  %u = pit.swrite %p into %h0[%i : !ex] dims[0, 1] : tensor<?x256xf32> into tensor<?x8x256xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(t, n, e, f) -> (t, e)>, affine_map<(t, n, e, f) -> (t, e, f)>,
                       affine_map<(t, n, e, f) -> (e, f, n)>, affine_map<(t, n, e, f) -> (t, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%s, %u, %down : tensor<?x8xf32>, tensor<?x8x256xf32>, tensor<8x256x64xf32>) outs(%y : tensor<?x64xf32>)
      attrs = {pit.rule = #pit.rule<operand = 0, axis = 0, tile = [64, 32, 1, 64], conflicts = sequential>} {
  ^bb0(%v: f32, %a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    %q = arith.mulf %v, %t : f32
    %z = arith.addf %o, %q : f32
    linalg.yield %z : f32
  } -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// -----

!pairs = !pit.index<micro_tile = [1, 1], axis = 1>

// A named op, whose maps follow from the ranks of its operands: its tiles have the
// dim of rows, its result has not.
// CHECK-LABEL: func.func @named
// CHECK: %[[T:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}], iterator_types = ["parallel"]} ins(%{{.*}}, %{{.*}} : tensor<1x64xf32>, tensor<1x64xf32>) outs(%{{.*}} : tensor<64xf32>)
// CHECK: pit.swrite %[[T]] into {{.*}} : tensor<64xf32> into tensor<?xf32>
func.func @named(%x: tensor<?x?xf32>, %o: tensor<?x?xf32>, %i: !pairs) -> tensor<?xf32> {
  %s = linalg.add {pit.rule = #pit.rule<operand = 2, axis = 1, micro_tile = [1, 1], tile = [1, 64]>}
         ins(%x, %x : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  %m = pit.sparse %s index(%i : !pairs) : tensor<?x?xf32>
  %p = pit.sread %m[%i : !pairs] : tensor<?x?xf32> -> tensor<?xf32>
  return %p : tensor<?xf32>
}
