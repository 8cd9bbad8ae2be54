// RUN: pit-opt %s --split-input-file --convert-pit-launch=separate-fallbacks=true | FileCheck %s

// A kernel that is started only where Hopper's cannot be has a module and an image of
// its own, with what it refers to. Kernels that are started in any case stay.
// CHECK: llvm.mlir.global internal constant @pit_fallback_image()
// CHECK: llvm.mlir.global internal constant @pit_kernel.other()
// CHECK: llvm.mlir.addressof @pit_image
// CHECK: llvm.mlir.global internal constant @pit_kernel.k()
// CHECK: llvm.mlir.addressof @pit_fallback_image
// CHECK: llvm.mlir.global internal constant @pit_kernel.k_hopper()
// CHECK: llvm.mlir.addressof @pit_image
// CHECK: gpu.module @pit_kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">]
// CHECK-NOT: gpu.func @k(
// CHECK: gpu.func @k_hopper
// CHECK: gpu.func @other
// CHECK: memref.global {{.*}} @table
// CHECK: gpu.module @pit_fallback_kernels [#nvvm.target<O = 1, chip = "sm_90a", features = "+ptx86">]
// CHECK-NEXT: memref.global {{.*}} @table
// CHECK-NEXT: gpu.func @k(
// CHECK-NOT: preferred
// CHECK: memref.get_global @table
// CHECK: func.func @f
// CHECK: scf.if
// CHECK: %[[KERNEL:.*]] = llvm.mlir.addressof @pit_kernel.k_hopper :
// CHECK: call @pit_rt_launch(%{{.*}}, %[[KERNEL]],
// CHECK: else
// CHECK: %[[KERNEL:.*]] = llvm.mlir.addressof @pit_kernel.k :
// CHECK: call @pit_rt_launch(%{{.*}}, %[[KERNEL]],
// CHECK: %[[KERNEL:.*]] = llvm.mlir.addressof @pit_kernel.other :
// CHECK: call @pit_rt_launch(%{{.*}}, %[[KERNEL]],
gpu.module @pit_kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">] {
  gpu.func @k(%o: memref<?x?xf16>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @k_hopper>} {
    %t = memref.get_global @table : memref<2xf16>
    gpu.return
  }
  gpu.func @k_hopper(%o: memref<?x?xf16>, %m: !llvm.ptr) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 384, tensor_maps = [<argument = 0, box = [128, 64], swizzle = 128>]>} {
    gpu.return
  }
  gpu.func @other(%o: memref<?x?xf16>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 256>} {
    gpu.return
  }
  memref.global "private" constant @table : memref<2xf16> = dense<1.0>
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %o: memref<?x?xf16>, %n: index) -> i32 {
  pit.launch @pit_kernels::@k iterations(%n) outs(%o : memref<?x?xf16>)
  pit.launch @pit_kernels::@other iterations(%n) outs(%o : memref<?x?xf16>)
  %c0 = arith.constant 0 : i32
  return %c0 : i32
}

// -----

// Here TMA cannot describe the memory of one launch, whose rows are 14 bytes: the
// kernel stays with the others.
// CHECK-NOT: fallback
// CHECK: gpu.module @pit_kernels
// CHECK: gpu.func @k(
// CHECK-NOT: fallback
gpu.module @pit_kernels {
  gpu.func @k(%o: memref<?x7xf16>) kernel attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @k_hopper>} {
    gpu.return
  }
  gpu.func @k_hopper(%o: memref<?x7xf16>, %m: !llvm.ptr) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 384, tensor_maps = [<argument = 0, box = [128, 64], swizzle = 128>]>} {
    gpu.return
  }
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %o: memref<?x7xf16>, %n: index) -> i32 {
  pit.launch @pit_kernels::@k iterations(%n) outs(%o : memref<?x7xf16>)
  %c0 = arith.constant 0 : i32
  return %c0 : i32
}
