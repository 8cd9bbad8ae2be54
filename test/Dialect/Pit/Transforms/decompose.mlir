// RUN: pit-opt --pit-decompose %s | FileCheck %s
// RUN: pit-opt --pit-to-cpu %s | FileCheck %s --check-prefix=LLVM

// The whole pipeline leaves none behind.
// LLVM-NOT: linalg.

// CHECK-LABEL: func.func @softmax
// CHECK: arith.maxnumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK-NOT: linalg.softmax
func.func @softmax(%x: tensor<?x48xf32>, %o: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %p = linalg.softmax dimension(1) ins(%x : tensor<?x48xf32>) outs(%o : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %p : tensor<?x48xf32>
}

// CHECK-LABEL: func.func @pack
// CHECK: tensor.expand_shape
// CHECK: linalg.transpose
// CHECK-NOT: linalg.pack
func.func @pack(%x: tensor<64x48xf32>, %o: tensor<8x6x8x8xf32>) -> tensor<8x6x8x8xf32> {
  %p = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %o : tensor<64x48xf32> -> tensor<8x6x8x8xf32>
  return %p : tensor<8x6x8x8xf32>
}

// CHECK-LABEL: func.func @unpack
// CHECK: linalg.transpose
// CHECK: tensor.collapse_shape
// CHECK-NOT: linalg.unpack
func.func @unpack(%x: tensor<8x6x8x8xf32>, %o: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %p = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %o : tensor<8x6x8x8xf32> -> tensor<64x48xf32>
  return %p : tensor<64x48xf32>
}

// CHECK-LABEL: func.func @winograd
// CHECK: linalg.matmul
// CHECK-NOT: linalg.winograd
func.func @winograd(%x: tensor<1x10x10x5xf32>, %o: tensor<6x6x2x2x1x5xf32>) -> tensor<6x6x2x2x1x5xf32> {
  %p = linalg.winograd_input_transform fmr(F_4_3) ins(%x : tensor<1x10x10x5xf32>) outs(%o : tensor<6x6x2x2x1x5xf32>) -> tensor<6x6x2x2x1x5xf32>
  return %p : tensor<6x6x2x2x1x5xf32>
}
