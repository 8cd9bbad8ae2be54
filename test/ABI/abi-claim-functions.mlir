// RUN: pit-opt %s -pit-abi-claim-functions | FileCheck %s

// CHECK-LABEL: func.func @marked(
// CHECK-SAME: attributes {pit.device = "cuda"}
func.func @marked(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %s = pit.sparse %a : tensor<8x8xf32>
  return %s : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @in_a_branch(
// CHECK-SAME: pit.device = "cuda"
func.func @in_a_branch(%a: tensor<8x8xf32>, %c: i1) -> tensor<8x8xf32> {
  %r = scf.if %c -> tensor<8x8xf32> {
    %s = pit.sparse %a : tensor<8x8xf32>
    scf.yield %s : tensor<8x8xf32>
  } else {
    scf.yield %a : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// It was asked for.
// CHECK-LABEL: func.func @dense(
// CHECK-SAME: attributes {pit.device = "cuda"}
func.func @dense(%a: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {pit.device = "cuda"} {
  return %a : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @theirs(
// CHECK-NOT: pit.device
func.func @theirs(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = func.call @marked(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// An entry point has a calling convention.
// CHECK: func.func @entry(
// CHECK-NOT: pit.device
func.func @entry(%frame: !llvm.ptr {pit.frame}, %a: memref<8x8xf32>) -> i32 attributes {pit.manifest = array<i64: 1>} {
  %i = pit.index %a : memref<8x8xf32> -> !pit.index<micro_tile = [1, *], axis = 0>
  %c0 = arith.constant 0 : i32
  return %c0 : i32
}
