// RUN: pit-opt %s --pit-lower-reshapes --split-input-file | FileCheck %s
// RUN: pit-opt %s --pit-lower-reshapes --expand-strided-metadata --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: pit-opt %s --pit-lower-reshapes --fold-memref-alias-ops --split-input-file | FileCheck %s --check-prefix=FOLD
// NONE-NOT: expand_shape

// The second group has one dynamic dim, so its sizes follow from the source's.
// CHECK-LABEL: @several
// CHECK-SAME: %[[X:.*]]: memref<?x24xf32>, %[[B:.*]]: index, %[[S:.*]]: index
// CHECK: %[[BASE:.*]], %{{.*}}, %{{.*}}:2, %{{.*}}:2 = memref.extract_strided_metadata %[[X]]
// CHECK: %[[STRIDE:.*]] = affine.apply #{{.*}}()[%[[S]]]
// CHECK: memref.reinterpret_cast %[[BASE]] to offset: [0],
// CHECK-SAME: sizes: [%[[B]], %[[S]], 3, 8], strides: [%[[STRIDE]], 24, 8, 1]
// CHECK-SAME: memref<f32> to memref<?x?x3x8xf32>
func.func @several(%x: memref<?x24xf32>, %b: index, %s: index) -> memref<?x?x3x8xf32> {
  %r = memref.expand_shape %x [[0, 1], [2, 3]] output_shape [%b, %s, 3, 8]
         : memref<?x24xf32> into memref<?x?x3x8xf32>
  return %r : memref<?x?x3x8xf32>
}

// -----

// Strides and an offset that the source has.
// CHECK-LABEL: @strided
// CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %[[OLD:.*]]:2 = memref.extract_strided_metadata
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[OFFSET]]],
// CHECK-SAME: sizes: [4, %{{.*}}, %{{.*}}], strides: [%[[OLD]]#0, %{{.*}}, 2]
func.func @strided(%x: memref<4x?xf32, strided<[?, 2], offset: ?>>, %b: index, %s: index)
    -> memref<4x?x?xf32, strided<[?, ?, 2], offset: ?>> {
  %r = memref.expand_shape %x [[0], [1, 2]] output_shape [4, %b, %s]
         : memref<4x?xf32, strided<[?, 2], offset: ?>> into memref<4x?x?xf32, strided<[?, ?, 2], offset: ?>>
  return %r : memref<4x?x?xf32, strided<[?, ?, 2], offset: ?>>
}

// -----

// CHECK-LABEL: @single
// CHECK-NOT: reinterpret_cast
// CHECK: memref.expand_shape
func.func @single(%x: memref<?xf32>, %b: index) -> memref<?x8xf32> {
  %r = memref.expand_shape %x [[0, 1]] output_shape [%b, 8] : memref<?xf32> into memref<?x8xf32>
  return %r : memref<?x8xf32>
}

// -----

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
