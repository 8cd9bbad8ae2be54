// RUN: pit-opt %s --split-input-file --pit-kernel-layouts | FileCheck %s

// A part of another tensor keeps the strides and the offset that are known; so
// do views of it in the kernel. What is the same on both sides stays as it is.

// CHECK-LABEL: func.func @known
// CHECK: pit.launch @pit_kernels::@k iterations(%{{.*}}) ins(%{{.*}} : memref<8x16xf32, strided<[64, 1], offset: 260>>) outs(%{{.*}} : memref<8x16xf32>)
// CHECK: func.func @k(%[[A:.*]]: memref<8x16xf32, strided<[64, 1], offset: 260>>, %[[O:.*]]: memref<8x16xf32>)
// CHECK:   memref.subview %[[A]][2, 0] [4, 16] [1, 1] : memref<8x16xf32, strided<[64, 1], offset: 260>> to memref<4x16xf32, strided<[64, 1], offset: 388>>
// CHECK:   linalg.exp ins(%[[A]] : memref<8x16xf32, strided<[64, 1], offset: 260>>)
func.func @known(%x: memref<32x64xf32>, %o: memref<8x16xf32>, %n: index) {
  %part = memref.subview %x[4, 4] [8, 16] [1, 1] : memref<32x64xf32> to memref<8x16xf32, strided<[64, 1], offset: 260>>
  pit.launch @pit_kernels::@k iterations(%n) ins(%part : memref<8x16xf32, strided<[64, 1], offset: 260>>) outs(%o : memref<8x16xf32>)
  return
}
module @pit_kernels attributes {pit.kernels} {
  func.func @k(%a: memref<8x16xf32>, %o: memref<8x16xf32>) {
    %v = memref.subview %a[2, 0] [4, 16] [1, 1] : memref<8x16xf32> to memref<4x16xf32, strided<[16, 1], offset: 32>>
    %w = memref.subview %o[2, 0] [4, 16] [1, 1] : memref<8x16xf32> to memref<4x16xf32, strided<[16, 1], offset: 32>>
    linalg.exp ins(%a : memref<8x16xf32>) outs(%o : memref<8x16xf32>)
    memref.copy %v, %w : memref<4x16xf32, strided<[16, 1], offset: 32>> to memref<4x16xf32, strided<[16, 1], offset: 32>>
    return
  }
}

// -----

// What two launches of a kernel differ in is found out when it runs.

// CHECK-LABEL: func.func @differ
// CHECK: func.func @k(%{{.*}}: memref<?xf32, strided<[2], offset: ?>>)
func.func @differ(%x: memref<64xf32>, %m: index, %n: index) {
  %a = memref.subview %x[0] [%m] [2] : memref<64xf32> to memref<?xf32, strided<[2]>>
  %b = memref.subview %x[1] [%m] [2] : memref<64xf32> to memref<?xf32, strided<[2], offset: 1>>
  pit.launch @pit_kernels::@k iterations(%n) outs(%a : memref<?xf32, strided<[2]>>)
  pit.launch @pit_kernels::@k iterations(%n) outs(%b : memref<?xf32, strided<[2], offset: 1>>)
  return
}
module @pit_kernels attributes {pit.kernels} {
  func.func @k(%a: memref<?xf32>) {
    %f = arith.constant 1.0 : f32
    linalg.fill ins(%f : f32) outs(%a : memref<?xf32>)
    return
  }
}

// -----

// Views in the kernel that stay possible.

// CHECK-LABEL: func.func @views
// CHECK: func.func @k(%[[A:.*]]: memref<8x16xf32, strided<[64, 1]>>, %{{.*}}: memref<8x4xf32>)
// CHECK: memref.expand_shape %[[A]] {{.*}} : memref<8x16xf32, strided<[64, 1]>> into memref<8x4x4xf32, strided<[64, 4, 1]>>
// CHECK: %[[C:.*]] = memref.cast %[[A]] : memref<8x16xf32, strided<[64, 1]>> to memref<?x16xf32, strided<[64, 1]>>
// CHECK: memref.cast %[[C]] : memref<?x16xf32, strided<[64, 1]>> to memref<8x16xf32, strided<[64, 1]>>
func.func @views(%x: memref<8x64xf32>, %o: memref<8x4xf32>, %n: index) {
  %a = memref.subview %x[0, 0] [8, 16] [1, 1] : memref<8x64xf32> to memref<8x16xf32, strided<[64, 1]>>
  pit.launch @pit_kernels::@k iterations(%n) ins(%a : memref<8x16xf32, strided<[64, 1]>>) outs(%o : memref<8x4xf32>)
  return
}
module @pit_kernels attributes {pit.kernels} {
  func.func @k(%a: memref<8x16xf32>, %o: memref<8x4xf32>) {
    %e = memref.expand_shape %a [[0], [1, 2]] output_shape [8, 4, 4] : memref<8x16xf32> into memref<8x4x4xf32>
    %c = memref.cast %a : memref<8x16xf32> to memref<?x16xf32>
    linalg.reduce { arith.addf } ins(%e : memref<8x4x4xf32>) outs(%o : memref<8x4xf32>) dimensions = [2]
    %d = memref.cast %c : memref<?x16xf32> to memref<8x16xf32>
    memref.copy %a, %d : memref<8x16xf32> to memref<8x16xf32>
    return
  }
}

// -----

// Rows with gaps between them are no single row: the kernel gets a copy, and
// what it writes is copied back.

// CHECK-LABEL: func.func @copied
// CHECK: %[[IN:.*]] = memref.alloc() : memref<8x16xf32>
// CHECK: memref.copy %[[A:.*]], %[[IN]] : memref<8x16xf32, strided<[64, 1]>> to memref<8x16xf32>
// CHECK: %[[D:.*]] = memref.dim %[[B:.*]], %{{.*}} : memref<?x16xf32, strided<[64, 1], offset: 32>>
// CHECK: %[[OUT:.*]] = memref.alloc(%[[D]]) : memref<?x16xf32>
// CHECK: memref.copy %[[B]], %[[OUT]]
// CHECK: pit.launch @pit_kernels::@k iterations(%{{.*}}) ins(%[[IN]] : memref<8x16xf32>) outs(%[[OUT]] : memref<?x16xf32>)
// CHECK: memref.copy %[[OUT]], %[[B]]
// CHECK: func.func @k(%{{.*}}: memref<8x16xf32>, %{{.*}}: memref<?x16xf32>)
func.func @copied(%x: memref<8x64xf32>, %m: index, %n: index) {
  %a = memref.subview %x[0, 0] [8, 16] [1, 1] : memref<8x64xf32> to memref<8x16xf32, strided<[64, 1]>>
  %b = memref.subview %x[0, 32] [%m, 16] [1, 1] : memref<8x64xf32> to memref<?x16xf32, strided<[64, 1], offset: 32>>
  pit.launch @pit_kernels::@k iterations(%n) ins(%a : memref<8x16xf32, strided<[64, 1]>>) outs(%b : memref<?x16xf32, strided<[64, 1], offset: 32>>)
  return
}
module @pit_kernels attributes {pit.kernels} {
  func.func @k(%a: memref<8x16xf32>, %o: memref<?x16xf32>) {
    %f = arith.constant 1.0 : f32
    %c = memref.collapse_shape %a [[0, 1]] : memref<8x16xf32> into memref<128xf32>
    %d = memref.collapse_shape %o [[0, 1]] : memref<?x16xf32> into memref<?xf32>
    linalg.fill ins(%f : f32) outs(%c : memref<128xf32>)
    linalg.fill ins(%f : f32) outs(%d : memref<?xf32>)
    return
  }
}
