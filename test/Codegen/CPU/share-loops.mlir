// RUN: pit-opt %s -split-input-file -pit-share-loops=fewest-ops=1 | FileCheck %s
// RUN: pit-opt %s -split-input-file -pit-share-loops | FileCheck %s --check-prefix=SMALL

// Small loops stay where they are.
// SMALL-NOT: _loop

// Equal loops become calls of one function, whatever values they take from
// outside. A value that both take twice is one argument; one that one of them
// takes twice is two.
// CHECK-LABEL: func private @equal_loop
// CHECK-SAME: (%[[N:.*]]: index, %[[X:.*]]: f32, %[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<?xf32>) {
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: scf.parallel (%[[I:.*]]) = (%[[C0]]) to (%[[N]]) step (%[[C1]])
// CHECK: memref.store %[[X]], %[[A]][%[[I]]]
// CHECK: memref.store %[[X]], %[[B]][%[[I]]]
// CHECK: return
// CHECK: func @equal(%[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[X:.*]]: f32, %[[Y:.*]]: f32,
// CHECK-NOT: scf.parallel
// CHECK: call @equal_loop(%[[N]], %[[X]], %[[A]], %[[B]])
// CHECK: scf.if
// CHECK: call @equal_loop(%[[N]], %[[Y]], %[[B]], %[[B]])
// CHECK-NOT: scf.parallel
func.func @equal(%a: memref<?xf32>, %b: memref<?xf32>, %n: index, %x: f32, %y: f32, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %x, %a[%i] : memref<?xf32>
    memref.store %x, %b[%i] : memref<?xf32>
  }
  scf.if %p {
    %zero = arith.constant 0 : index
    scf.parallel (%i) = (%zero) to (%n) step (%c1) {
      memref.store %y, %b[%i] : memref<?xf32>
      memref.store %y, %b[%i] : memref<?xf32>
    }
  }
  return
}

// -----

// Loops of several functions are one, too.
// CHECK: func private @first_loop
// CHECK: scf.for
// CHECK: func @first
// CHECK-NOT: scf.for
// CHECK: call @first_loop
// CHECK: func @second
// CHECK-NOT: scf.for
// CHECK: call @first_loop
func.func @first(%a: memref<?xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %a[%i] : memref<?xf32>
  }
  return
}
func.func @second(%x: f32, %n: index, %a: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %a[%i] : memref<?xf32>
  }
  return
}

// -----

// Loops stay apart whose constants, types, ops or inner values differ.
// CHECK: func @different
// CHECK-NOT: call
// CHECK-COUNT-6: scf.parallel
// CHECK-NOT: call
// CHECK: return
func.func @different(%a: memref<?xf32>, %b: memref<?xf32, strided<[?]>>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    memref.store %x, %a[%i] : memref<?xf32>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c2) {
    memref.store %x, %a[%i] : memref<?xf32>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %n) {
    memref.store %x, %a[%i] : memref<?xf32>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    memref.store %x, %b[%i] : memref<?xf32, strided<[?]>>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    memref.store %x, %a[%j] : memref<?xf32>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    memref.store %x, %a[%c1] : memref<?xf32>
  }
  return
}

// -----

// A call whose status is returned, and an assertion, stay in their function. The
// loops inside of theirs may move.
// CHECK: func private @ends_loop
// CHECK: memref.store
// CHECK: func @ends
// CHECK: scf.for
// CHECK: call @status
// CHECK: call @ends_loop
// CHECK: scf.for
// CHECK: cf.assert
// CHECK: call @ends_loop
func.func private @status() -> i32
func.func @ends(%a: memref<?xf32>, %n: index, %x: f32, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = func.call @status() : () -> i32
    pit.check_status %s
    scf.for %j = %c0 to %n step %c1 {
      memref.store %x, %a[%j] : memref<?xf32>
    }
  }
  scf.for %i = %c0 to %n step %c1 {
    cf.assert %p, "no"
    scf.for %j = %c0 to %n step %c1 {
      memref.store %x, %a[%j] : memref<?xf32>
    }
  }
  return
}

// -----

// Loops with results stay.
// CHECK: func @results
// CHECK-NOT: call
// CHECK-COUNT-2: scf.for
func.func @results(%n: index, %x: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> f32 {
    %t = arith.addf %s, %x : f32
    scf.yield %t : f32
  }
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> f32 {
    %t = arith.addf %s, %x : f32
    scf.yield %t : f32
  }
  return %0, %1 : f32, f32
}
