// RUN: pit-opt %s -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" -canonicalize -cse -split-input-file | FileCheck %s

!t = tensor<?x?xf32>
!cols = !pit.index<micro_tile = [32, 1], axis = 1>

// A tile program works in place: tiles are allocated, tensors are not copied.
// The accumulator is one tile, for all chunks.
// CHECK-LABEL: func.func @in_place
// CHECK-SAME: %[[A:[^:]*]]: memref<?x?xf32>, %[[B:[^:]*]]: memref<?x?xf32>, %[[C:[^:]*]]: memref<?x?xf32>
// CHECK: pit.index %[[A]] : memref<?x?xf32> -> !pit.index
// CHECK-NEXT: pit.forall (%[[M:.*]], %[[N:.*]]) = (%c0, %c0) to (%{{.*}}, %{{.*}}) step (32, 128) {
// CHECK-NEXT: %[[ACC:.*]] = memref.alloc() {{.*}} : memref<32x128xf32>
// CHECK-NEXT: pit.sread %[[C]][%[[M]], %[[N]]] into %[[ACC]] : memref<?x?xf32> -> memref<32x128xf32>
// CHECK-NEXT: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[M]]] : {{.*}} chunk 64 {
// CHECK-NEXT: %[[AT:.*]] = memref.alloc() {{.*}} : memref<32x64xf32>
// CHECK-NEXT: pit.sread %[[A]][%[[M]], %[[IDS]] : !pit.ids<64>] into %[[AT]] pad(1.000000e+00 : f32)
// CHECK-NEXT: %[[BT:.*]] = memref.alloc() {{.*}} : memref<64x128xf32>
// CHECK-NEXT: pit.sread %[[B]][%[[IDS]] : !pit.ids<64>, %[[N]]] into %[[BT]]
// CHECK-NEXT: linalg.matmul ins(%[[AT]], %[[BT]] : {{.*}}) outs(%[[ACC]] : memref<32x128xf32>)
// CHECK-NEXT: }
// CHECK-NEXT: pit.swrite %[[ACC]] into %[[C]][%[[M]], %[[N]]] combine(addf) : memref<32x128xf32> into memref<?x?xf32>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[C]]
func.func @in_place(%a: !t, %b: !t, %c: !t, %m: index, %n: index) -> !t {
  %c0 = arith.constant 0 : index
  %i = pit.index %a : !t -> !cols
  %r = pit.forall (%mi, %ni) = (%c0, %c0) to (%m, %n) step (32, 128) iter_args(%o = %c) -> (!t) {
    %acc = pit.sread %o[%mi, %ni] : !t -> tensor<32x128xf32>
    %s = pit.for %ids at %pos in %i[%mi] : !cols chunk 64 iter_args(%x = %acc) -> (tensor<32x128xf32>) {
      %at = pit.sread %a[%mi, %ids : !pit.ids<64>] pad(1.0 : f32) : !t -> tensor<32x64xf32>
      %bt = pit.sread %b[%ids : !pit.ids<64>, %ni] : !t -> tensor<64x128xf32>
      %p = linalg.matmul ins(%at, %bt : tensor<32x64xf32>, tensor<64x128xf32>) outs(%x : tensor<32x128xf32>) -> tensor<32x128xf32>
      pit.yield %p : tensor<32x128xf32>
    }
    %w = pit.swrite %s into %o[%mi, %ni] combine(addf) : tensor<32x128xf32> into !t
    pit.yield %w : !t
  }
  return %r : !t
}

// -----

!t = tensor<?x?xf32>

// What may not be written is copied, once, before the loop.
// CHECK-LABEL: func.func @not_writable
// CHECK: %[[NEW:.*]] = memref.alloc
// CHECK-NEXT: memref.copy %arg0, %[[NEW]]
// CHECK-NEXT: pit.forall
// CHECK-NOT: memref.copy
// CHECK: pit.swrite %{{.*}} into %[[NEW]]
// CHECK: return %[[NEW]]
func.func @not_writable(%a: !t {bufferization.writable = false}, %m: index) -> !t {
  %c0 = arith.constant 0 : index
  %r = pit.forall (%mi, %ni) = (%c0, %c0) to (%m, %m) step (32, 32) iter_args(%o = %a) -> (!t) {
    %x = pit.sread %o[%mi, %ni] : !t -> tensor<32x32xf32>
    %w = pit.swrite %x into %o[%mi, %ni] : tensor<32x32xf32> into !t
    pit.yield %w : !t
  }
  return %r : !t
}

// -----

!t = tensor<?x?xf32>

// So is what an iteration reads elsewhere than in its own tile: %a is what it
// was before the loop.
// CHECK-LABEL: func.func @reads_what_was_before
// CHECK: %[[NEW:.*]] = memref.alloc
// CHECK-NEXT: memref.copy %arg0, %[[NEW]]
// CHECK: pit.sread %arg0[%[[N:.*]], %[[M:.*]]] into
// CHECK-NEXT: pit.swrite %{{.*}} into %[[NEW]][%[[M]], %[[N]]]
func.func @reads_what_was_before(%a: !t, %m: index) -> !t {
  %c0 = arith.constant 0 : index
  %r = pit.forall (%mi, %ni) = (%c0, %c0) to (%m, %m) step (32, 32) iter_args(%o = %a) -> (!t) {
    %x = pit.sread %a[%ni, %mi] : !t -> tensor<32x32xf32>
    %w = pit.swrite %x into %o[%mi, %ni] : tensor<32x32xf32> into !t
    pit.yield %w : !t
  }
  return %r : !t
}

// -----

!v = tensor<8xf32>

// And what is still used after the loop.
// CHECK-LABEL: func.func @used_after
// CHECK: %[[NEW:.*]] = memref.alloc() {{.*}} : memref<8xf32>
// CHECK-NEXT: memref.copy %arg0, %[[NEW]]
// CHECK-NEXT: pit.for
// CHECK-NEXT: linalg.exp ins(%[[NEW]] : {{.*}}) outs(%[[NEW]]
// CHECK: return %[[NEW]], %arg0
func.func @used_after(%a: !v, %n: index) -> (!v, !v) {
  %c0 = arith.constant 0 : index
  %r = pit.for (%i) = (%c0) to (%n) step (1) iter_args(%x = %a) -> (!v) {
    %y = linalg.exp ins(%x : !v) outs(%x : !v) -> !v
    pit.yield %y : !v
  }
  return %r, %a : !v, !v
}

// -----

!v = tensor<8xf32>

// A new value is copied to where it is carried.
// CHECK-LABEL: func.func @new_value
// CHECK: pit.for
// CHECK-NEXT: %[[NEW:.*]] = memref.alloc
// CHECK-NEXT: linalg.softmax {{.*}} outs(%[[NEW]]
// CHECK-NEXT: memref.copy %[[NEW]], %arg0
// CHECK: return %arg0
func.func @new_value(%a: !v, %n: index) -> !v {
  %c0 = arith.constant 0 : index
  %r = pit.for (%i) = (%c0) to (%n) step (1) iter_args(%x = %a) -> (!v) {
    %e = tensor.empty() : !v
    %y = linalg.softmax dimension(0) ins(%x : !v) outs(%e : !v) -> !v
    pit.yield %y : !v
  }
  return %r : !v
}

// -----

!v = tensor<8xf32>

// Values that change places are both saved before either is overwritten.
// CHECK-LABEL: func.func @swap
// CHECK: pit.for
// CHECK-DAG: memref.copy %arg1, %[[Y:.*]] : memref<8xf32> to memref<8xf32>
// CHECK-DAG: memref.copy %arg0, %[[X:.*]] : memref<8xf32> to memref<8xf32>
// CHECK: memref.copy %[[Y]], %arg0
// CHECK-NEXT: memref.copy %[[X]], %arg1
// CHECK: return %arg0, %arg1
func.func @swap(%a: !v, %b: !v, %n: index) -> (!v, !v) {
  %c0 = arith.constant 0 : index
  %r:2 = pit.for (%i) = (%c0) to (%n) step (1) iter_args(%x = %a, %y = %b) -> (!v, !v) {
    pit.yield %y, %x : !v, !v
  }
  return %r#0, %r#1 : !v, !v
}

// -----

!t = tensor<?x?xf32>
!parts = !pit.index<micro_tile = [1, 64], axis = 0>

// Nested loops hand a tensor on without a copy, two after one another too.
// CHECK-LABEL: func.func @nested
// CHECK-NOT: memref.copy
// CHECK: pit.forall
// CHECK-NEXT: pit.for
// CHECK-NEXT: pit.for
// CHECK: pit.swrite %{{.*}} into %arg0
// CHECK: pit.for
// CHECK: pit.swrite %{{.*}} into %arg0
// CHECK-NOT: memref.copy
// CHECK: return %arg0
func.func @nested(%a: !t, %i: !parts, %n: index) -> !t {
  %c0 = arith.constant 0 : index
  %r = pit.forall (%ni) = (%c0) to (%n) step (32) iter_args(%o = %a) -> (!t) {
    %s = pit.for (%ki) = (%c0) to (%n) step (64) iter_args(%o1 = %o) -> (!t) {
      %s1 = pit.for %ids at %pos in %i[%ki] : !parts chunk 16 iter_args(%o2 = %o1) -> (!t) {
        %x = pit.sread %o2[%ids : !pit.ids<16>, %ni] : !t -> tensor<16x32xf32>
        %y = linalg.exp ins(%x : tensor<16x32xf32>) outs(%x : tensor<16x32xf32>) -> tensor<16x32xf32>
        %w = pit.swrite %y into %o2[%ids : !pit.ids<16>, %ni] : tensor<16x32xf32> into !t
        pit.yield %w : !t
      }
      pit.yield %s1 : !t
    }
    %t = pit.for %ids at %pos in %i[%c0] : !parts chunk 16 iter_args(%o2 = %s) -> (!t) {
      %x = pit.sread %o2[%ids : !pit.ids<16>, %ni] : !t -> tensor<16x32xf32>
      %w = pit.swrite %x into %o2[%ids : !pit.ids<16>, %ni] : tensor<16x32xf32> into !t
      pit.yield %w : !t
    }
    pit.yield %t : !t
  }
  return %r : !t
}

// -----

!flat = !pit.index<micro_tile = [1], axis = 0>

// Coordinates are a tile like any other. An index is opaque.
// CHECK-LABEL: func.func @coords
// CHECK-SAME: %[[I:[^:]*]]: !pit.index<micro_tile = [1], axis = 0>
// CHECK: pit.forall %[[IDS:.*]] at %[[POS:.*]] in %[[I]]
// CHECK-NEXT: %[[C:.*]] = memref.alloc() {{.*}} : memref<64xindex>
// CHECK-NEXT: pit.coords %[[IDS]] into %[[C]] : memref<64xindex> : !pit.ids<64>
// CHECK-NEXT: pit.swrite %[[C]] into %arg0[%[[POS]] : !pit.ids<64>]
func.func @coords(%o: tensor<?xindex>, %i: !flat) -> tensor<?xindex> {
  %r = pit.forall %ids at %pos in %i : !flat chunk 64 iter_args(%x = %o) -> (tensor<?xindex>) {
    %c = pit.coords %ids : !pit.ids<64> -> tensor<64xindex>
    %w = pit.swrite %c into %x[%pos : !pit.ids<64>] : tensor<64xindex> into tensor<?xindex>
    pit.yield %w : tensor<?xindex>
  }
  return %r : tensor<?xindex>
}

// -----

!t = tensor<?x?xf32>
!rows = !pit.index<micro_tile = [1, *], axis = 0>

// Whole tensors: as many rows as the index has.
// CHECK-LABEL: func.func @whole
// CHECK-DAG: %[[N:.*]] = pit.extent %arg1
// CHECK-DAG: %[[D:.*]] = memref.dim %arg0, %c1
// CHECK: %[[P:.*]] = memref.alloc(%[[N]], %[[D]])
// CHECK-NEXT: pit.sread %arg0[%arg1 : {{.*}}] into %[[P]]
// CHECK-NEXT: pit.swrite %[[P]] into %arg0[%arg1
func.func @whole(%x: !t, %i: !rows) -> (!t, !t) {
  %p = pit.sread %x[%i : !rows] : !t -> !t
  %u = pit.swrite %p into %x[%i : !rows] : !t into !t
  return %p, %u : !t, !t
}

// -----

// What a packed index packs is written in place.
// CHECK-LABEL: func @packed_index
// CHECK-SAME: %[[A:[^:]*]]: memref<?x?xf16>, %[[O:[^:]*]]: memref<?x32xf16>
// CHECK-NOT: memref.copy
// CHECK: pit.packed_index %[[A]] into %[[O]] : memref<?x?xf16> into memref<?x32xf16> -> !pit.index
// CHECK: return %[[O]]
func.func @packed_index(%a: tensor<?x?xf16>, %o: tensor<?x32xf16>) -> tensor<?x32xf16> {
  %i, %done, %p = pit.packed_index %a into %o : tensor<?x?xf16> into tensor<?x32xf16> -> !pit.index<micro_tile = [32, 1], axis = 1>, tensor<?x32xf16>
  return %p : tensor<?x32xf16>
}
