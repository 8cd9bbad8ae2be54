// RUN: pit-opt %s -canonicalize -split-input-file | FileCheck %s

//===----------------------------------------------------------------------===//
// pit.sparse
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @mark_twice
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?xf32>, %[[M:[^:]*]]: tensor<?xi1>)
func.func @mark_twice(%x: tensor<?xf32>, %m: tensor<?xi1>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK-DAG: %[[V:.*]] = pit.sparse %[[X]] : tensor<?xf32>
  // CHECK-DAG: %[[W:.*]] = pit.sparse %[[X]] mask(%[[M]] : tensor<?xi1>) background(1.000000e+00 : f32) : tensor<?xf32>
  // CHECK: return %[[V]], %[[W]]
  %0 = pit.sparse %x : tensor<?xf32>
  %1 = pit.sparse %0 background(0.0 : f32) : tensor<?xf32>
  %2 = pit.sparse %x mask(%m : tensor<?xi1>) background(1.0 : f32) : tensor<?xf32>
  %3 = pit.sparse %2 mask(%m : tensor<?xi1>) background(1.0 : f32) assume : tensor<?xf32>
  return %1, %3 : tensor<?xf32>, tensor<?xf32>
}

// -----

// The rule of either mark survives, and no promise is made up.
// CHECK-LABEL: func.func @mark_twice_rule
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?xf32>, %[[M:[^:]*]]: tensor<?xi1>)
func.func @mark_twice_rule(%x: tensor<?xf32>, %m: tensor<?xi1>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK-DAG: %[[V:.*]] = pit.sparse %[[X]] rule(<axis = 0>) : tensor<?xf32>
  // CHECK-DAG: %[[W:.*]] = pit.sparse %[[X]] mask(%[[M]] : tensor<?xi1>) rule(<axis = 0>) : tensor<?xf32>
  // CHECK: return %[[V]], %[[W]]
  %0 = pit.sparse %x rule(<axis = 0>) : tensor<?xf32>
  %1 = pit.sparse %0 : tensor<?xf32>
  %2 = pit.sparse %x mask(%m : tensor<?xi1>) : tensor<?xf32>
  %3 = pit.sparse %2 mask(%m : tensor<?xi1>) assume rule(<axis = 0>) : tensor<?xf32>
  return %1, %3 : tensor<?xf32>, tensor<?xf32>
}

// -----

// Other selectors, backgrounds or rules are other marks.
// CHECK-LABEL: func.func @other_marks
func.func @other_marks(%x: tensor<?xf32>, %m: tensor<?xi1>, %n: tensor<?xi1>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK-COUNT-6: pit.sparse
  %0 = pit.sparse %x mask(%m : tensor<?xi1>) : tensor<?xf32>
  %1 = pit.sparse %0 mask(%n : tensor<?xi1>) : tensor<?xf32>
  %2 = pit.sparse %x : tensor<?xf32>
  %3 = pit.sparse %2 background(1.0 : f32) : tensor<?xf32>
  %4 = pit.sparse %x rule(<axis = 0>) : tensor<?xf32>
  %5 = pit.sparse %4 rule(<micro_tile = [1]>) : tensor<?xf32>
  return %1, %3, %5 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Whole-tensor SRead and SWrite
//===----------------------------------------------------------------------===//

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// CHECK-LABEL: func.func @read_of_write
// CHECK-SAME: (%[[P:[^:]*]]: tensor<?x8xf32>
func.func @read_of_write(%p: tensor<?x8xf32>, %x: tensor<?x8xf32>, %i: !rows) -> tensor<?x8xf32> {
  // CHECK-NEXT: return %[[P]]
  %0 = pit.swrite %p into %x[%i : !rows] dims[0, 1] : tensor<?x8xf32> into tensor<?x8xf32>
  %1 = pit.sread %0[%i : !rows] : tensor<?x8xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>
!row = !pit.index<micro_tile = [1], axis = 0>

// CHECK-LABEL: func.func @read_of_other_write
func.func @read_of_other_write(%p: tensor<?x8xf32>, %q: tensor<?x8xf32>, %x: tensor<8x8xf32>, %h: tensor<8x8xf16>, %i: !rows, %j: !rows, %k: !row)
    -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  // Another index.
  // CHECK: pit.swrite
  // CHECK: pit.sread
  %0 = pit.swrite %p into %x[%i : !rows] : tensor<?x8xf32> into tensor<8x8xf32>
  %1 = pit.sread %0[%j : !rows] : tensor<8x8xf32> -> tensor<?x8xf32>
  // What is read is not only p.
  // CHECK: pit.swrite
  // CHECK: pit.sread
  %2 = pit.swrite %p into %x[%i : !rows] combine(addf) : tensor<?x8xf32> into tensor<8x8xf32>
  %3 = pit.sread %2[%i : !rows] : tensor<8x8xf32> -> tensor<?x8xf32>
  // Other dimensions.
  // CHECK: pit.swrite
  // CHECK: pit.sread
  %4 = pit.swrite %p into %x[%k : !row] dims[0] : tensor<?x8xf32> into tensor<8x8xf32>
  %5 = pit.sread %4[%k : !row] dims[1] : tensor<8x8xf32> -> tensor<?x8xf32>
  // The write rounds.
  // CHECK: pit.swrite
  // CHECK: pit.sread
  %6 = pit.swrite %p into %h[%i : !rows] : tensor<?x8xf32> into tensor<8x8xf16>
  %7 = pit.sread %6[%i : !rows] : tensor<8x8xf16> -> tensor<?x8xf32>
  return %1, %3, %5, %7 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// CHECK-LABEL: func.func @write_of_read
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x8xf32>
func.func @write_of_read(%x: tensor<?x8xf32>, %i: !rows) -> tensor<?x8xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = pit.sread %x[%i : !rows] : tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = pit.swrite %0 into %x[%i : !rows] : tensor<?x8xf32> into tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// A loop's iter_arg stays written.
// CHECK-LABEL: func.func @write_of_read_in_loop
func.func @write_of_read_in_loop(%x: tensor<?x8xf32>, %i: !rows, %n: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  // CHECK: pit.forall
  // CHECK: pit.swrite
  %r = pit.forall (%k) = (%c0) to (%n) step (1) iter_args(%o = %x) -> (tensor<?x8xf32>) {
    %0 = pit.sread %o[%i : !rows] : tensor<?x8xf32> -> tensor<?x8xf32>
    %1 = pit.swrite %0 into %o[%i : !rows] : tensor<?x8xf32> into tensor<?x8xf32>
    pit.yield %1 : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// CHECK-LABEL: func.func @write_of_write
// CHECK-SAME: (%[[P:[^:]*]]: tensor<?x8xf32>, %[[Q:[^:]*]]: tensor<?x8xf32>, %[[X:[^:]*]]: tensor<?x8xf32>
func.func @write_of_write(%p: tensor<?x8xf32>, %q: tensor<?x8xf32>, %x: tensor<?x8xf32>, %i: !rows) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: %[[V:.*]] = pit.swrite %[[Q]] into %[[X]]
  // CHECK: %[[W:.*]] = pit.swrite %[[P]] into %[[X]]
  %0 = pit.swrite %q into %x[%i : !rows] : tensor<?x8xf32> into tensor<?x8xf32>
  %1 = pit.swrite %p into %0[%i : !rows] : tensor<?x8xf32> into tensor<?x8xf32>
  // What is added to is needed.
  // CHECK: %[[U:.*]] = pit.swrite %[[P]] into %[[V]]{{.*}} combine(addf)
  %2 = pit.swrite %p into %0[%i : !rows] combine(addf) : tensor<?x8xf32> into tensor<?x8xf32>
  // CHECK: return %[[W]], %[[U]]
  return %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @casts
// CHECK-SAME: (%[[X:[^:]*]]: tensor<8x8xf32>, %[[T:[^:]*]]: tensor<4x4xf32>
func.func @casts(%x: tensor<8x8xf32>, %t: tensor<4x4xf32>, %d: index) -> (tensor<4x4xf32>, tensor<?x?xf32>) {
  %0 = tensor.cast %x : tensor<8x8xf32> to tensor<?x?xf32>
  // CHECK: pit.sread %[[X]][{{.*}}] : tensor<8x8xf32> -> tensor<4x4xf32>
  %1 = pit.sread %0[%d, %d] : tensor<?x?xf32> -> tensor<4x4xf32>
  // CHECK: %[[W:.*]] = pit.swrite %[[T]] into %[[X]][{{.*}}] : tensor<4x4xf32> into tensor<8x8xf32>
  // CHECK: tensor.cast %[[W]] : tensor<8x8xf32> to tensor<?x?xf32>
  %2 = pit.swrite %t into %0[%d, %d] : tensor<4x4xf32> into tensor<?x?xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<?x?xf32>
}

// -----

// A cast that asserts an extent stays.
// CHECK-LABEL: func.func @narrowing_cast
func.func @narrowing_cast(%x: tensor<?x?xf32>, %d: index) -> tensor<4x4xf32> {
  // CHECK: %[[C:.*]] = tensor.cast
  // CHECK: pit.sread %[[C]]
  %0 = tensor.cast %x : tensor<?x?xf32> to tensor<8x8xf32>
  %1 = pit.sread %0[%d, %d] : tensor<8x8xf32> -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @no_trips
// CHECK-SAME: (%[[X:[^:]*]]: tensor<8xf32>
func.func @no_trips(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  // CHECK-NEXT: return %[[X]]
  %0 = pit.forall (%i, %j) = (%c0, %c4) to (%n, %c4) step (1, 1) iter_args(%o = %x) -> (tensor<8xf32>) {
    %t = pit.sread %o[%i] : tensor<8xf32> -> tensor<1xf32>
    %w = pit.swrite %t into %o[%j] : tensor<1xf32> into tensor<8xf32>
    pit.yield %w : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @idle
// CHECK-SAME: (%[[X:[^:]*]]: tensor<8xf32>
func.func @idle(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  // CHECK-NEXT: return %[[X]]
  %0 = pit.for (%i) = (%c0) to (%n) step (1) iter_args(%o = %x) -> (tensor<8xf32>) {
    %t = pit.sread %o[%i] : tensor<8xf32> -> tensor<1xf32>
    pit.yield %o : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// A loop that stores is not idle.
// CHECK-LABEL: func.func @stores
func.func @stores(%x: tensor<8xf32>, %m: memref<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %v = arith.constant 0.0 : f32
  // CHECK: pit.for
  // CHECK: memref.store
  %0 = pit.for (%i) = (%c0) to (%n) step (1) iter_args(%o = %x) -> (tensor<8xf32>) {
    memref.store %v, %m[%i] : memref<8xf32>
    pit.yield %o : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @unused_loops
func.func @unused_loops(%x: tensor<8xf32>, %n: index, %s: !pit.index<micro_tile = [1], axis = 0>) {
  %c0 = arith.constant 0 : index
  // CHECK-NEXT: return
  %i = pit.index %x : tensor<8xf32> -> !pit.index<micro_tile = [1], axis = 0>
  %e = pit.count %i : !pit.index<micro_tile = [1], axis = 0>
  %0 = pit.forall %ids at %pos in %i : !pit.index<micro_tile = [1], axis = 0> chunk 4 iter_args(%o = %x) -> (tensor<8xf32>) {
    %t = pit.sread %x[%ids : !pit.ids<4>] : tensor<8xf32> -> tensor<4xf32>
    %w = pit.swrite %t into %o[%ids : !pit.ids<4>] : tensor<4xf32> into tensor<8xf32>
    pit.yield %w : tensor<8xf32>
  }
  return
}

// -----

// What nobody uses leaves the loop; what it reads comes from the init.
// CHECK-LABEL: func.func @unused_result
// CHECK-SAME: (%[[X:[^:]*]]: tensor<8xf32>, %[[Y:[^:]*]]: tensor<8xf32>
func.func @unused_result(%x: tensor<8xf32>, %y: tensor<8xf32>, %t: tensor<1xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  // CHECK: %[[R:.*]] = pit.for {{.*}} conflicts(sequential) iter_args(%[[A:.*]] = %[[X]]) -> (tensor<8xf32>) {
  // CHECK-NEXT: pit.swrite %{{.*}} into %[[A]]
  // CHECK-NEXT: pit.yield
  // CHECK-NEXT: } {tag}
  // CHECK-NEXT: return %[[R]]
  %r:2 = pit.for (%i) = (%c0) to (%n) step (1) conflicts(sequential) iter_args(%a = %x, %b = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    %w = pit.swrite %t into %a[%i] : tensor<1xf32> into tensor<8xf32>
    pit.yield %w, %b : tensor<8xf32>, tensor<8xf32>
  } {tag}
  return %r#0 : tensor<8xf32>
}

// -----

// An iter_arg that feeds another one stays.
// CHECK-LABEL: func.func @swapped
func.func @swapped(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  // CHECK: pit.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
  // CHECK-NEXT: pit.yield %[[B]], %[[A]]
  %r:2 = pit.for (%i) = (%c0) to (%n) step (1) iter_args(%a = %x, %b = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    pit.yield %b, %a : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0 : tensor<8xf32>
}

// -----

// What a routing packs has a row for each of its elements.
// CHECK-LABEL: func.func @extent_of_routing
// CHECK-SAME: (%[[A:[^:]*]]: tensor<?x2xi32>, %[[L:[^:]*]]: tensor<?xi32>, %[[N:[^:]*]]: index)
func.func @extent_of_routing(%a: tensor<?x2xi32>, %l: tensor<?xi32>, %n: index) -> (index, index) {
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[T:.*]] = tensor.dim %[[A]]
  // CHECK-DAG: %[[E:.*]] = arith.muli %[[T]], %[[TWO]] : index
  %i = pit.index routing %a shape(%n, %n) : tensor<?x2xi32> -> !pit.index<micro_tile = [1, 1], axis = 0>
  %e = pit.extent %i : !pit.index<micro_tile = [1, 1], axis = 0>
  // CHECK-DAG: %[[F:.*]] = pit.extent
  // CHECK: return %[[E]], %[[F]]
  %j = pit.index lengths %l shape(%n, %n) : tensor<?xi32> -> !pit.index<micro_tile = [1, 1], axis = 1>
  %f = pit.extent %j : !pit.index<micro_tile = [1, 1], axis = 1>
  return %e, %f : index, index
}
