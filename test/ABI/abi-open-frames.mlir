// RUN: pit-opt %s -pit-abi-open-frames -split-input-file -verify-diagnostics | FileCheck %s

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// A context, and an address for each function.
// CHECK-DAG: func.func private @pit_rt_open(!llvm.ptr, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: func.func private @pit_rt_leave(!llvm.ptr, i32) -> i32
// CHECK: llvm.mlir.global internal @pit_calls() {{.*}} : !llvm.array<3 x ptr> {
// CHECK-NEXT: %[[ZERO:.*]] = llvm.mlir.zero : !llvm.array<3 x ptr>
// CHECK-NEXT: llvm.return %[[ZERO]]

// CHECK-LABEL: func.func @live(%arg0: memref<?x?xf32> {llvm.noalias}) -> index attributes {llvm.emit_c_interface}
// CHECK-NEXT: %[[CALLS:.*]] = llvm.mlir.addressof @pit_calls
// CHECK-NEXT: %[[OWN:.*]] = llvm.getelementptr %[[CALLS]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK-NEXT: %[[FRAME:.*]] = call @pit_rt_open(%[[CALLS]], %[[OWN]])
// CHECK-NEXT: %[[N:.*]] = call @live_in_frame(%[[FRAME]], %arg0)
// CHECK-NEXT: %[[OK:.*]] = arith.constant 0 : i32
// CHECK-NEXT: call @pit_rt_leave(%[[FRAME]], %[[OK]])
// CHECK-NEXT: return %[[N]] : index
// CHECK: func.func private @live_in_frame(%arg0: !llvm.ptr {pit.frame}, %arg1: memref<?x?xf32>) -> index {
// CHECK-NEXT: pit.index %arg1
func.func @live(%a: memref<?x?xf32> {llvm.noalias}) -> index attributes {llvm.emit_c_interface} {
  %i = pit.index %a : memref<?x?xf32> -> !rows
  %n = pit.count %i : !rows
  return %n : index
}

// It calls the other one as before.
// CHECK-LABEL: func.func private @caller(
// CHECK: llvm.getelementptr %{{.*}}[2]
// CHECK: func.func private @caller_in_frame(
// CHECK: call @live(%arg1)
func.func private @caller(%a: memref<?x?xf32>) -> index {
  %i = pit.index %a : memref<?x?xf32> -> !rows
  %n = pit.count %i : !rows
  %m = call @live(%a) : (memref<?x?xf32>) -> index
  %r = arith.addi %n, %m : index
  return %r : index
}

// CHECK-LABEL: func.func @other(
// CHECK-NEXT: return %arg0
func.func @other(%a: memref<?x?xf32>) -> memref<?x?xf32> {
  return %a : memref<?x?xf32>
}

// An entry point has its frame.
// CHECK-LABEL: func.func @entry(
// CHECK-NEXT: pit.index
func.func @entry(%frame: !llvm.ptr {pit.frame}, %a: memref<?x?xf32>) {
  %i = pit.index %a : memref<?x?xf32> -> !rows
  return
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// expected-error @below {{'func.func' op argument 0 is of type 'tensor<?x?xf32>'; bufferize the function first}}
func.func @tensor(%a: tensor<?x?xf32>) -> index {
  %i = pit.index %a : tensor<?x?xf32> -> !rows
  %n = pit.count %i : !rows
  return %n : index
}

// -----

!rows = !pit.index<micro_tile = [1, *], axis = 0>

// expected-error @below {{argument 1 is an index, which only entry points of the calling convention take (pit-abi-prepare); build it in the function}}
func.func @index(%a: memref<?x?xf32>, %i: !rows) -> index {
  %n = pit.count %i : !rows
  return %n : index
}
