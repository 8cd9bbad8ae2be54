// RUN: pit-opt %s --pit-lower-expand-shape --split-input-file | FileCheck %s
// RUN: pit-opt %s --pit-lower-expand-shape --expand-strided-metadata --split-input-file | FileCheck %s --check-prefix=NONE
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
