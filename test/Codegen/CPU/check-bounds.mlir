// RUN: pit-opt %s -pit-check-bounds -canonicalize -cse -split-input-file -verify-diagnostics | FileCheck %s

// The access runs only where it is inside; else the runtime is told.
// CHECK: llvm.mlir.global internal constant @pit_access_{{[0-9a-f]+}}("{{.*}}check-bounds.mlir:25:8: memref.load of memref<?xf32>\00")
// CHECK-LABEL: func.func @load
// CHECK-SAME: %[[F:[^:]*]]: !llvm.ptr {pit.frame}, %[[M:[^:]*]]: memref<?xf32>, %[[I:[^:]*]]: index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[DIM:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-DAG: %[[A:.*]] = llvm.mlir.addressof @pit_access
// CHECK: %[[SIZE:.*]] = memref.dim %[[M]], %{{.*}}
// CHECK: %[[FROM:.*]] = arith.cmpi sge, %[[I]], %c0
// CHECK: %[[LAST:.*]] = arith.subi %[[SIZE]], %c1
// CHECK: %[[TO:.*]] = arith.cmpi sle, %[[I]], %[[LAST]]
// CHECK: %[[INSIDE:.*]] = arith.andi %[[FROM]], %[[TO]]
// CHECK: %[[R:.*]] = scf.if %[[INSIDE]]
// CHECK: memref.load %[[M]][%[[I]]]
// CHECK: } else {
// CHECK-DAG: %[[I64:.*]] = arith.index_cast %[[I]]
// CHECK-DAG: %[[SIZE64:.*]] = arith.index_cast %[[SIZE]]
// CHECK: func.call @pit_rt_check_bounds(%[[F]], %[[A]], %[[DIM]], %[[I64]], %[[ONE]], %[[SIZE64]])
// CHECK: scf.yield %[[ZERO]]
// CHECK: return %[[R]]
func.func @load(%f: !llvm.ptr {pit.frame}, %m: memref<?xf32>, %i: index) -> f32 {
  %x = memref.load %m[%i] : memref<?xf32>
  return %x : f32
}

// -----

// What is inside for certain is not checked in the program.
// CHECK-LABEL: func.func @certain
// CHECK-NOT: scf.if
// CHECK-NOT: @pit_rt_check_bounds
// CHECK: return
func.func @certain(%f: !llvm.ptr {pit.frame}, %m: memref<4x16xf32>, %x: vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  vector.store %x, %m[%c3, %c0] : memref<4x16xf32>, vector<16xf32>
  return
}

// -----

// Nor is what no frame could report, or a hint.
// CHECK-LABEL: func.func @no_frame
// CHECK-NOT: scf.if
// CHECK-LABEL: func.func @hint
// CHECK-NOT: scf.if
func.func @no_frame(%m: memref<?xf32>, %i: index) -> f32 {
  %x = memref.load %m[%i] : memref<?xf32>
  return %x : f32
}
func.func @hint(%f: !llvm.ptr {pit.frame}, %m: memref<?xf32>, %i: index) {
  memref.prefetch %m[%i], read, locality<3>, data : memref<?xf32>
  return
}

// -----

// Of a masked access the first and the last active lane count.
// CHECK-LABEL: func.func @masked
// CHECK-SAME: %[[M:[^:]*]]: memref<?xf32>, %[[I:[^:]*]]: index, %[[MASK:[^:]*]]: vector<8xi1>
// CHECK: %[[FIRST:.*]] = vector.reduction <minsi>
// CHECK: %[[FIRSTI:.*]] = arith.index_cast %[[FIRST]]
// CHECK: %[[LAST:.*]] = vector.reduction <maxsi>
// CHECK: arith.addi %[[I]], %[[FIRSTI]]
// CHECK: scf.if
// CHECK: vector.maskedstore %[[M]][%[[I]]], %[[MASK]]
// CHECK: } else {
// CHECK: func.call @pit_rt_check_bounds
func.func @masked(%f: !llvm.ptr {pit.frame}, %m: memref<?xf32>, %i: index,
                  %mask: vector<8xi1>, %x: vector<8xf32>) {
  vector.maskedstore %m[%i], %mask, %x : memref<?xf32>, vector<8xi1>, vector<8xf32>
  return
}

// -----

// Lanes of a gather are counted from the memref's first element.
// CHECK-LABEL: func.func @gather
// CHECK-DAG: %[[ALL:.*]] = arith.constant 32 : i64
// CHECK: scf.if
// CHECK: vector.gather
// CHECK: } else {
// CHECK: func.call @pit_rt_check_bounds(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[ALL]])
func.func @gather(%f: !llvm.ptr {pit.frame}, %m: memref<4x8xf32>, %i: index,
                  %ids: vector<8xi32>, %mask: vector<8xi1>, %x: vector<8xf32>)
    -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %r = vector.gather %m[%i, %c0] [%ids], %mask, %x
      : memref<4x8xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  return %r : vector<8xf32>
}

// -----

// A transfer out of bounds by its own account may end anywhere.
// CHECK-LABEL: func.func @transfer
// CHECK: %[[SIZE:.*]] = memref.dim
// CHECK: arith.subi %[[SIZE]], %c8
// CHECK: scf.if
// CHECK: vector.transfer_read {{.*}} {in_bounds = [true]}
// CHECK: %[[START:.*]] = arith.maxsi %{{.*}}, %c0
// CHECK: %[[LEFT:.*]] = arith.subi %[[SIZE]], %[[START]]
// CHECK: %[[REST:.*]] = arith.maxsi %[[LEFT]], %c0
// CHECK: arith.minsi %[[REST]], %c8
// CHECK: scf.if
// CHECK: vector.transfer_read
func.func @transfer(%f: !llvm.ptr {pit.frame}, %m: memref<?xf32>, %i: index, %x: f32)
    -> (vector<8xf32>, vector<8xf32>) {
  %r = vector.transfer_read %m[%i], %x {in_bounds = [true]} : memref<?xf32>, vector<8xf32>
  %s = vector.transfer_read %m[%i], %x : memref<?xf32>, vector<8xf32>
  return %r, %s : vector<8xf32>, vector<8xf32>
}

// -----

// An access of a view counts if the view lies inside of its source, even one
// that lies inside of the view for certain.
// CHECK-LABEL: func.func @view
// CHECK-SAME: %[[M:[^:]*]]: memref<?xf32>, %[[I:[^:]*]]: index
// CHECK: memref.subview
// CHECK: %[[SIZE:.*]] = memref.dim %[[M]]
// CHECK: arith.subi %[[SIZE]], %c16
// CHECK: scf.if
// CHECK: vector.store
// CHECK: } else {
// CHECK: func.call @pit_rt_check_bounds
func.func @view(%f: !llvm.ptr {pit.frame}, %m: memref<?xf32>, %i: index, %x: vector<4xf32>) {
  %v = memref.subview %m[%i] [16] [1] : memref<?xf32> to memref<16xf32, strided<[1], offset: ?>>
  %c12 = arith.constant 12 : index
  vector.store %x, %v[%c12] : memref<16xf32, strided<[1], offset: ?>>, vector<4xf32>
  return
}

// -----

// CHECK-LABEL: func.func @copy
// CHECK-SAME: %[[M:[^:]*]]: memref<?xf32>, %[[N:[^:]*]]: memref<?xf32>
// CHECK: %[[FROM:.*]] = memref.dim %[[M]]
// CHECK: %[[TO:.*]] = memref.dim %[[N]]
// CHECK: arith.subi %[[TO]], %[[FROM]]
// CHECK: scf.if
// CHECK: memref.copy %[[M]], %[[N]]
func.func @copy(%f: !llvm.ptr {pit.frame}, %m: memref<?xf32>, %n: memref<?xf32>) {
  memref.copy %m, %n : memref<?xf32> to memref<?xf32>
  return
}

// -----

// Behind a row of one element comes the next row.
// CHECK-LABEL: func.func @rows_of_one
// CHECK-NOT: scf.if
func.func @rows_of_one(%f: !llvm.ptr {pit.frame}, %m: memref<4x16x1xf32>) -> vector<16xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %x = vector.load %m[%c3, %c0, %c0] : memref<4x16x1xf32>, vector<16xf32>
  return %x : vector<16xf32>
}

// -----

// A free view may be larger than its source: what counts is the access.
// CHECK-LABEL: func.func @free
// CHECK-SAME: %[[F:[^:]*]]: !llvm.ptr {pit.frame}, %[[M:[^:]*]]: memref<6x6xf32>, %[[I:[^:]*]]: index
// CHECK-DAG: %[[ALL:.*]] = arith.constant 36 : i64
// CHECK-DAG: %[[NONE:.*]] = arith.constant -1 : i32
// CHECK: memref.reinterpret_cast
// CHECK: scf.if
// CHECK: vector.load
// CHECK: } else {
// CHECK: func.call @pit_rt_check_bounds(%[[F]], %{{.*}}, %[[NONE]], %{{.*}}, %{{.*}}, %[[ALL]])
func.func @free(%f: !llvm.ptr {pit.frame}, %m: memref<6x6xf32>, %i: index) -> vector<4xf32> {
  %c1 = arith.constant 1 : index
  %v = memref.reinterpret_cast %m to offset: [0], sizes: [2, 6, 4], strides: [4, 6, 1]
      : memref<6x6xf32> to memref<2x6x4xf32, strided<[4, 6, 1]>>
  %c0 = arith.constant 0 : index
  %x = vector.load %v[%c1, %i, %c0] : memref<2x6x4xf32, strided<[4, 6, 1]>>, vector<4xf32>
  return %x : vector<4xf32>
}

// -----

func.func @unknown(%f: !llvm.ptr {pit.frame}, %m: memref<?xf32>, %x: f32) {
  // expected-error @below {{accesses memory of type 'memref<?xf32>', and its bounds cannot be checked}}
  linalg.fill ins(%x : f32) outs(%m : memref<?xf32>)
  return
}
