// RUN: pit-opt %s -pit-sequence-nested-loops | FileCheck %s
// RUN: pit-opt %s -pit-sequence-nested-loops=all | FileCheck %s --check-prefix=ALL

// All loops of functions that have a frame, none of others.
// ALL-LABEL: func @nested
// ALL: scf.parallel
// ALL: scf.parallel
// ALL-LABEL: func @in_frame
// ALL-NOT: scf.parallel
// ALL: scf.for

// CHECK-LABEL: func @nested
// CHECK: scf.parallel (%[[I:.*]]) =
// CHECK: scf.for %[[J:.*]] = %{{.*}} to
// CHECK: scf.for %[[K:.*]] = %{{.*}} to
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]], %[[K]]]
// CHECK-NOT: scf.parallel
// CHECK: return
func.func @nested(%n: index, %m: memref<?x?x?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    func.call @row(%i) : (index) -> ()
    scf.parallel (%j, %k) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
      memref.store %x, %m[%i, %j, %k] : memref<?x?x?xf32>
    }
  }
  return
}
func.func private @row(index)

// CHECK-LABEL: func @three_levels
// CHECK: scf.parallel
// CHECK-NOT: scf.parallel
// CHECK: scf.for
// CHECK-NOT: scf.parallel
// CHECK: scf.for
func.func @three_levels(%n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.if %c {
      scf.parallel (%j) = (%c0) to (%n) step (%c1) {
        func.call @row(%j) : (index) -> ()
        scf.parallel (%k) = (%c0) to (%n) step (%c1) {
          func.call @row(%k) : (index) -> ()
        }
      }
    }
  }
  return
}

// CHECK-LABEL: func @one_after_another
// CHECK-COUNT-2: scf.parallel
func.func @one_after_another(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    func.call @row(%i) : (index) -> ()
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    func.call @row(%i) : (index) -> ()
  }
  return
}

// CHECK-LABEL: func @in_frame
// CHECK: scf.parallel
func.func @in_frame(%frame: !llvm.ptr {pit.frame}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    func.call @row(%i) : (index) -> ()
  }
  return
}
