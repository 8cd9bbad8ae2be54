// What the script beside this file does not need is removed; passes are those of MLIR
// and of pit. (--reduction-tree of MLIR 22.1.8 crashes.)
// RUN: pit-reduce %s --opt-reduction-pass='opt-pass=symbol-dce test=%S/Inputs/shows-bug.sh' | FileCheck %s

// CHECK-NOT: @other
//     CHECK: func.func @padded
//     CHECK: pit.sparse %{{.*}} lengths(
// CHECK-NOT: @other

func.func private @other(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %s = pit.sparse %x : tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}

func.func @padded(%x: tensor<8x8xf32>, %l: tensor<8xi32>) -> tensor<8x8xf32> {
  %s = pit.sparse %x lengths(%l : tensor<8xi32>) : tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}
