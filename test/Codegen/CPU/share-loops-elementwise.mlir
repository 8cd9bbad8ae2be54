// RUN: pit-opt %s -pit-share-loops | FileCheck %s

// Elementwise ops are loops, too, but only many that are equal are worth a function.
// CHECK: func private @elementwise_loop
// CHECK-SAME: passthrough = ["noinline"]
// CHECK: linalg.add
// CHECK-LABEL: func @elementwise(
// CHECK-NOT: linalg.add
// CHECK-COUNT-8: call @elementwise_loop(
// CHECK-COUNT-7: linalg.sub
func.func @elementwise(%x: memref<4x4xf32>, %y: memref<4x4xf32>, %z: memref<4x4xf32>) {
  linalg.add ins(%x, %y : memref<4x4xf32>, memref<4x4xf32>) outs(%z : memref<4x4xf32>)
  linalg.add ins(%y, %z : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>)
  linalg.add ins(%z, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  linalg.add ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%z : memref<4x4xf32>)
  linalg.add ins(%y, %y : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>)
  linalg.add ins(%z, %z : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  linalg.add ins(%x, %z : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>)
  linalg.add ins(%y, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  linalg.sub ins(%x, %y : memref<4x4xf32>, memref<4x4xf32>) outs(%z : memref<4x4xf32>)
  linalg.sub ins(%y, %z : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>)
  linalg.sub ins(%z, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  linalg.sub ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%z : memref<4x4xf32>)
  linalg.sub ins(%y, %y : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>)
  linalg.sub ins(%z, %z : memref<4x4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>)
  linalg.sub ins(%x, %z : memref<4x4xf32>, memref<4x4xf32>) outs(%x : memref<4x4xf32>)
  return
}
