// RUN: pit-opt %s --convert-pit-launch | FileCheck %s

// CHECK: gpu.func @k{{.*}}pdl = true, predicated = true

// What fills an output before asks for the same variant.
// CHECK: gpu.func @zeros{{.*}}pdl = true, predicated = true

// If the host knows the variant, it starts the kernels of that one alone.
// CHECK-LABEL: func.func @chosen
// CHECK-SAME: %[[CHOICE:[a-z0-9]*]]: !llvm.ptr)
// CHECK: %[[WORD:.*]] = llvm.load %[[CHOICE]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[KNOWN_AT:.*]] = llvm.getelementptr %[[CHOICE]][8]
// CHECK: %[[KNOWN:.*]] = llvm.load %[[KNOWN_AT]] : !llvm.ptr -> i32
// CHECK: %[[OPEN:.*]] = arith.cmpi slt, %[[KNOWN]], %{{.*}} : i32
// CHECK: %[[IT:.*]] = arith.cmpi eq, %[[KNOWN]], %{{.*}} : i32
// CHECK: %[[MAY:.*]] = arith.ori %[[OPEN]], %[[IT]] : i1
// CHECK: scf.if %[[MAY]] {
// CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[WORD]] : !llvm.ptr to i64
// CHECK: llvm.store %[[ADDRESS]]
// CHECK: call @pit_rt_launch
// CHECK: }
// A launch of the same kernel for all variants hands over no word.
// CHECK-LABEL: func.func @always
// CHECK-NOT: scf.if
// CHECK: llvm.mlir.constant(0 : i64)
// CHECK: call @pit_rt_launch
gpu.module @pit_kernels [#nvvm.target<chip = "sm_90a">] {
  gpu.func @k(%o: memref<8xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 128>} {
    gpu.return
  }
  gpu.func @zeros(%o: memref<8xf32>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 64>} {
    gpu.return
  }
}
func.func @chosen(%frame: !llvm.ptr {pit.frame}, %o: memref<8xf32>, %n: index, %choice: !llvm.ptr) {
  pit.launch @pit_kernels::@k if(%choice : !llvm.ptr is 2) iterations(%n) outs(%o : memref<8xf32>)
  return
}
func.func @always(%frame: !llvm.ptr {pit.frame}, %o: memref<8xf32>, %n: index) {
  pit.launch @pit_kernels::@k iterations(%n) outs(%o : memref<8xf32>)
  return
}
// CHECK-LABEL: func.func @filled
// CHECK: scf.if
// CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr to i64
// CHECK: llvm.store %[[ADDRESS]]
// CHECK: %[[ZEROS:.*]] = llvm.mlir.addressof @pit_kernel.zeros :
// CHECK: call @pit_rt_launch(%{{.*}}, %[[ZEROS]],
// CHECK: llvm.store %[[ADDRESS]]
// CHECK: %[[K:.*]] = llvm.mlir.addressof @pit_kernel.k :
// CHECK: call @pit_rt_launch(%{{.*}}, %[[K]],
func.func @filled(%frame: !llvm.ptr {pit.frame}, %o: memref<8xf32>, %n: index, %choice: !llvm.ptr) {
  pit.launch @pit_kernels::@k if(%choice : !llvm.ptr is 2) iterations(%n)
    fill(%o : memref<8xf32> by @pit_kernels::@zeros elements(%n)) outs(%o : memref<8xf32>)
  return
}
