// RUN: pit-opt %s -split-input-file -pit-share-loops="fewest-ops=1 most-ops=1" | FileCheck %s
// RUN: pit-opt %s -split-input-file -pit-share-loops=fewest-ops=1 | FileCheck %s --check-prefix=SHORT

// In a short program loops of different sizes stay apart.
// SHORT-NOT: call

// In a long one they share a function. Constants that differ are arguments: the same ones
// where they are equal in each of the loops. Equal constants and sizes stay.
// CHECK-LABEL: func private @sizes_loop
// CHECK-SAME: (%[[N:.*]]: index, %[[A:.*]]: memref<?x8xf32>, %[[B:.*]]: memref<?x?xf32>, %[[T:.*]]: index) {
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK: scf.parallel (%[[I:.*]]) = (%[[C0]]) to (%[[N]]) step (%[[C8]])
// CHECK: arith.subi %[[N]], %[[I]]
// CHECK: arith.addi %{{.*}}, %[[T]]
// CHECK: vector.load %[[A]][%[[I]], %{{.*}}] : memref<?x8xf32>, vector<8xf32>
// CHECK: vector.store %{{.*}}, %[[B]][%[[I]], %{{.*}}] : memref<?x?xf32>, vector<8xf32>
// CHECK-LABEL: func @sizes(
// CHECK-NOT: scf.parallel
// CHECK-DAG: %[[A16:.*]] = memref.cast %{{.*}} : memref<16x8xf32> to memref<?x8xf32>
// CHECK-DAG: %[[B16:.*]] = memref.cast %{{.*}} : memref<16x32xf32> to memref<?x?xf32>
// CHECK: call @sizes_loop(%{{.*}}, %[[A16]], %[[B16]], %{{.*}})
// CHECK-NOT: scf.parallel
// CHECK: memref.cast %{{.*}} : memref<24x8xf32> to memref<?x8xf32>
// CHECK: call @sizes_loop(
// CHECK-NOT: scf.parallel
func.func @sizes(%a: memref<16x8xf32>, %b: memref<16x32xf32>, %c: memref<24x8xf32>, %d: memref<24x40xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  scf.parallel (%i) = (%c0) to (%c16) step (%c8) {
    %n = arith.constant 16 : index
    %left = arith.subi %n, %i : index
    %two = arith.constant 2 : index
    %t = arith.addi %left, %two : index
    %v = vector.load %a[%i, %c0] : memref<16x8xf32>, vector<8xf32>
    vector.store %v, %b[%i, %t] : memref<16x32xf32>, vector<8xf32>
  }
  scf.parallel (%i) = (%c0) to (%c24) step (%c8) {
    %n = arith.constant 24 : index
    %left = arith.subi %n, %i : index
    %two = arith.constant 3 : index
    %t = arith.addi %left, %two : index
    %v = vector.load %c[%i, %c0] : memref<24x8xf32>, vector<8xf32>
    vector.store %v, %d[%i, %t] : memref<24x40xf32>, vector<8xf32>
  }
  return
}

// -----

// Views follow: their sizes may differ, and the strides of what they are made of. Dims that
// a view drops it drops, whatever their sizes.
// CHECK-LABEL: func private @views_loop
// CHECK-SAME: (%[[N:.*]]: index, %[[M:.*]]: memref<1x?x?xf32>, %[[X:.*]]: f32, %[[S:.*]]: index) {
// CHECK: %[[V:.*]] = memref.subview %[[M]][0, %{{.*}}, 0] [1, 1, %[[S]]] [1, 1, 1] : memref<1x?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
// CHECK: memref.subview %[[V]][0, 0] [1, 4] [1, 1] : memref<1x?xf32, strided<[?, 1], offset: ?>> to memref<4xf32, strided<[1], offset: ?>>
// CHECK-COUNT-2: call @views_loop
func.func @views(%a: memref<1x16x8xf32>, %b: memref<1x24x12xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %v = memref.subview %a[0, %i, 0] [1, 1, 8] [1, 1, 1] : memref<1x16x8xf32> to memref<1x8xf32, strided<[8, 1], offset: ?>>
    %w = memref.subview %v[0, 0] [1, 4] [1, 1] : memref<1x8xf32, strided<[8, 1], offset: ?>> to memref<4xf32, strided<[1], offset: ?>>
    memref.store %x, %w[%i] : memref<4xf32, strided<[1], offset: ?>>
  }
  scf.for %i = %c0 to %c24 step %c1 {
    %v = memref.subview %b[0, %i, 0] [1, 1, 12] [1, 1, 1] : memref<1x24x12xf32> to memref<1x12xf32, strided<[12, 1], offset: ?>>
    %w = memref.subview %v[0, 0] [1, 4] [1, 1] : memref<1x12xf32, strided<[12, 1], offset: ?>> to memref<4xf32, strided<[1], offset: ?>>
    memref.store %x, %w[%i] : memref<4xf32, strided<[1], offset: ?>>
  }
  return
}

// -----

// A product of the sizes may be equal where the sizes are not: the strides of a view come of
// what it is made of.
// CHECK-LABEL: func private @strides_loop
// CHECK-SAME: %[[M:[a-z0-9]*]]: memref<?x?x?xf32>
// CHECK: memref.subview %[[M]]{{.*}} : memref<?x?x?xf32> to memref<2x2x2xf32, strided<[?, ?, 1], offset: ?>>
// CHECK-COUNT-2: call @strides_loop
func.func @strides(%a: memref<5x4x6xf32>, %b: memref<6x3x8xf32>, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.subview %a[%i, 0, 0] [2, 2, 2] [1, 1, 1] : memref<5x4x6xf32> to memref<2x2x2xf32, strided<[24, 6, 1], offset: ?>>
    memref.store %x, %v[%c0, %c1, %c0] : memref<2x2x2xf32, strided<[24, 6, 1], offset: ?>>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.subview %b[%i, 0, 0] [2, 2, 2] [1, 1, 1] : memref<6x3x8xf32> to memref<2x2x2xf32, strided<[24, 8, 1], offset: ?>>
    memref.store %x, %v[%c0, %c1, %c0] : memref<2x2x2xf32, strided<[24, 8, 1], offset: ?>>
  }
  return
}

// -----

// Loops stay apart that differ in other constants, in the sizes of what they allocate or
// reshape, and in ranks, element types or memory spaces.
// CHECK-LABEL: func @different(
// CHECK-NOT: call
// CHECK-COUNT-9: scf.for
// CHECK-NOT: call
// CHECK: return
func.func @different(%a: memref<4xf32>, %b: memref<5xf32>, %c: memref<4x1xf32>, %d: memref<4xf32, 1>,
                     %e: memref<4xi32>, %n: index, %x: f32, %y: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %z = arith.constant 1.0 : f32
    memref.store %z, %a[%i] : memref<4xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %z = arith.constant 2.0 : f32
    memref.store %z, %a[%i] : memref<4xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %m = memref.alloca() : memref<4xf32>
    memref.store %x, %m[%i] : memref<4xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %m = memref.alloca() : memref<5xf32>
    memref.store %x, %m[%i] : memref<5xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %m = memref.expand_shape %a [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
    memref.store %x, %m[%i, %i] : memref<2x2xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %m = memref.expand_shape %b [[0, 1]] output_shape [5, 1] : memref<5xf32> into memref<5x1xf32>
    memref.store %x, %m[%i, %i] : memref<5x1xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %c[%i, %c0] : memref<4x1xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %d[%i] : memref<4xf32, 1>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %y, %e[%i] : memref<4xi32>
  }
  return
}

// -----

// A constant may stand where another loop takes a value.
// CHECK-LABEL: func private @value_loop
// CHECK-SAME: (%[[N:.*]]: index,
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]]
// CHECK-COUNT-2: call @value_loop
func.func @value(%a: memref<4xf32, strided<[2]>>, %b: memref<?xf32, strided<[3], offset: 1>>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %x, %a[%i] : memref<4xf32, strided<[2]>>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %b[%i] : memref<?xf32, strided<[3], offset: 1>>
  }
  return
}
