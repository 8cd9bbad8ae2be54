// RUN: pit-opt %s --pit-abi-lower-asserts | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal constant @pit_assert_message_0("x < 4\00")
// CHECK-DAG: llvm.mlir.global internal constant @pit_assert_message_1("x < 5\00")
// CHECK-DAG: func.func private @pit_rt_assert(!llvm.ptr, i32, !llvm.ptr) -> i32

// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[FRAME:.*]]: !llvm.ptr {pit.frame}, %[[P:.*]]: i1)
// CHECK: %[[HOLDS:.*]] = arith.extui %[[P]] : i1 to i32
// CHECK: %[[TEXT:.*]] = llvm.mlir.addressof @pit_assert_message_0
// CHECK: %[[STATUS:.*]] = call @pit_rt_assert(%[[FRAME]], %[[HOLDS]], %[[TEXT]])
// CHECK: pit.check_status %[[STATUS]]
// CHECK: llvm.mlir.addressof @pit_assert_message_1
// CHECK: llvm.mlir.addressof @pit_assert_message_0
func.func @f(%frame: !llvm.ptr {pit.frame}, %p: i1) -> i32 {
  %ok = arith.constant 0 : i32
  cf.assert %p, "x < 4"
  cf.assert %p, "x < 5"
  cf.br ^bb1
^bb1:
  cf.assert %p, "x < 4"
  return %ok : i32
}

// A function that is no entry point has no status to return.
// CHECK-LABEL: func.func @other
// CHECK: cf.assert
func.func @other(%p: i1) {
  cf.assert %p, "x < 4"
  return
}
