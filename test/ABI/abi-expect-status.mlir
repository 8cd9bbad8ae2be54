// RUN: pit-opt %s -pit-abi-expect-status | FileCheck %s

// CHECK: func.func private @pit_rt_expect(!llvm.ptr, i32)

// In a loop as well: there is nothing to return.
// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %arg0: !llvm.ptr, %arg1: index)
// CHECK: scf.for
// CHECK-NEXT: %[[S:.*]] = func.call @pit_rt_alloc(%arg0) : (!llvm.ptr) -> i32
// CHECK-NEXT: func.call @pit_rt_expect(%arg0, %[[S]]) : (!llvm.ptr, i32) -> ()
func.func @plain(%frame: !llvm.ptr {pit.frame}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %s = func.call @pit_rt_alloc(%frame) : (!llvm.ptr) -> i32
    pit.check_status %s
  }
  return
}

// An entry point returns it.
// CHECK-LABEL: func.func @entry(
// CHECK-SAME: {pit.frame}
// CHECK: pit.check_status
func.func @entry(%frame: !llvm.ptr {pit.frame}) -> i32 attributes {pit.manifest = array<i64: 1>} {
  %s = call @pit_rt_alloc(%frame) : (!llvm.ptr) -> i32
  pit.check_status %s
  return %s : i32
}

// CHECK-LABEL: func.func @on_device(%arg0: memref<8xf32>)
// CHECK-NEXT: return
func.func @on_device(%a: memref<8xf32>) attributes {pit.device = "cuda"} {
  return
}
// CHECK-LABEL: func.func private @on_device_in_frame(%arg0: !llvm.ptr, %arg1: !gpu.async.token) {
func.func private @on_device_in_frame(%frame: !llvm.ptr {pit.frame}, %t: !gpu.async.token {pit.stream}) attributes {pit.device = "cuda"} {
  return
}

func.func private @pit_rt_alloc(!llvm.ptr) -> i32
