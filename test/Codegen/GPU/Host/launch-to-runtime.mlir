// RUN: pit-opt %s --convert-pit-launch | FileCheck %s

// A pit_kernel, of constant data.
// CHECK: llvm.mlir.global internal constant @pit_kernel_name_k_{{[0-9a-f]+}}("k\00")
// CHECK: llvm.mlir.global internal constant @pit_kernel.k() {{.*}} : !llvm.struct<(ptr, ptr, i32, i32, i32, i32)>
// CHECK-DAG: %[[IMAGE:.*]] = llvm.mlir.addressof @pit_image
// CHECK-DAG: %[[NAME:.*]] = llvm.mlir.addressof @pit_kernel_name_k_{{[0-9a-f]+}}
// CHECK-DAG: %[[THREADS:.*]] = llvm.mlir.constant(128 : i32)
// CHECK-DAG: %[[SHARED:.*]] = llvm.mlir.constant(4096 : i32)
// CHECK: llvm.insertvalue %[[IMAGE]], %{{.*}}[0]
// CHECK: llvm.insertvalue %[[NAME]], %{{.*}}[1]
// CHECK: llvm.insertvalue %[[THREADS]], %{{.*}}[2]
// CHECK: llvm.insertvalue %[[SHARED]], %{{.*}}[3]
// CHECK: llvm.mlir.global internal constant @pit_image() {{.*}} : !llvm.struct<(ptr, i64)>
// The scalar and the memref's descriptor, {pointer, pointer, offset, size,
// stride}, in a slot each.
// CHECK-LABEL: func.func @f
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr {pit.frame}, %{{.*}}: memref<?xf32>, %[[N:.*]]: index
// CHECK-DAG: %[[BLOCKS:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK-DAG: %[[COUNT:.*]] = llvm.mlir.constant(6 : i64)
// CHECK-DAG: %[[PARAMETERS:.*]] = llvm.alloca %[[COUNT]] x !llvm.ptr
// CHECK-DAG: %[[KERNEL:.*]] = llvm.mlir.addressof @pit_kernel.k
// CHECK-DAG: %[[SPLIT:.*]] = llvm.mlir.constant(1 : i64)
// CHECK: call @pit_rt_launch(%[[FRAME]], %[[KERNEL]], %[[BLOCKS]], %[[SPLIT]], %[[PARAMETERS]])
// CHECK-SAME: (!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr) -> i32
// CHECK-NEXT: pit.check_status
gpu.module @pit_kernels {
  gpu.func @k(%s: f32, %o: memref<?xf32>) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 128, shared_bytes = 4096>} {
    gpu.return
  }
}
func.func @f(%frame: !llvm.ptr {pit.frame}, %o: memref<?xf32>, %n: index, %s: f32) {
  pit.launch @pit_kernels::@k iterations(%n)
      ins(%s : f32) outs(%o : memref<?xf32>)
  return
}
