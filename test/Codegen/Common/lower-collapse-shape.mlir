// RUN: pit-opt %s --pit-lower-collapse-shape --split-input-file | FileCheck %s
// RUN: pit-opt %s --pit-lower-collapse-shape --fold-memref-alias-ops --split-input-file | FileCheck %s --check-prefix=FOLD

// An access needs no division.
// CHECK-LABEL: @rows
// CHECK-SAME: %[[X:.*]]: memref<4x8x2xf32>
// CHECK: %[[BASE:.*]], %{{.*}}, %{{.*}}:3, %{{.*}}:3 = memref.extract_strided_metadata %[[X]]
// CHECK: %[[ROWS:.*]] = memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [32, 2],
// CHECK-SAME: strides: [2, 1] : memref<f32> to memref<32x2xf32>
// CHECK: memref.load %[[ROWS]]
// FOLD-LABEL: @rows
// FOLD-NOT: delinearize
func.func @rows(%x: memref<4x8x2xf32>, %i: index) -> f32 {
  %c0 = arith.constant 0 : index
  %rows = memref.collapse_shape %x [[0, 1], [2]] : memref<4x8x2xf32> into memref<32x2xf32>
  %r = memref.load %rows[%i, %c0] : memref<32x2xf32>
  return %r : f32
}

// -----

// Sizes that a call tells; all of a memory as one dim, and as none.
// CHECK-LABEL: @dynamic
// CHECK: %{{.*}}, %{{.*}}, %[[SIZES:.*]]:3, %{{.*}}:3 = memref.extract_strided_metadata
// CHECK: %[[ROWS:.*]] = affine.apply #{{.*}}()[%[[SIZES]]#0]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%[[ROWS]], %[[SIZES]]#2], strides: [%[[SIZES]]#2, 1]
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [], strides: []
func.func @dynamic(%x: memref<?x8x?xf32>, %one: memref<1x1xf32>)
    -> (memref<?x?xf32>, memref<f32>) {
  %rows = memref.collapse_shape %x [[0, 1], [2]] : memref<?x8x?xf32> into memref<?x?xf32>
  %none = memref.collapse_shape %one [] : memref<1x1xf32> into memref<f32>
  return %rows, %none : memref<?x?xf32>, memref<f32>
}

// -----

// Memory with gaps, or that begins elsewhere, is left alone.
// CHECK-LABEL: @gaps
// CHECK-COUNT-2: memref.collapse_shape
// CHECK-NOT: reinterpret_cast
func.func @gaps(%x: memref<4x8x2xf32, strided<[32, 4, 1]>>, %y: memref<4x8xf32, strided<[8, 1], offset: ?>>)
    -> (memref<32x2xf32, strided<[4, 1]>>, memref<32xf32, strided<[1], offset: ?>>) {
  %a = memref.collapse_shape %x [[0, 1], [2]]
         : memref<4x8x2xf32, strided<[32, 4, 1]>> into memref<32x2xf32, strided<[4, 1]>>
  %b = memref.collapse_shape %y [[0, 1]]
         : memref<4x8xf32, strided<[8, 1], offset: ?>> into memref<32xf32, strided<[1], offset: ?>>
  return %a, %b : memref<32x2xf32, strided<[4, 1]>>, memref<32xf32, strided<[1], offset: ?>>
}
