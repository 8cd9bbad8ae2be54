// RUN: pit-opt %s --pit-embed-kernels | FileCheck %s

// CHECK-NOT: gpu.binary
// CHECK: llvm.mlir.global internal constant @pit_image_data(".target sm_90a\0A// pit {{[0-9a-f]+}}\00") {{.*}}alignment = 16
// CHECK: llvm.mlir.global internal constant @pit_image() {{.*}} : !llvm.struct<(ptr, i64)> {
// CHECK: llvm.mlir.addressof @pit_image_data
// CHECK: llvm.mlir.constant(39 : i64)
module {
  llvm.mlir.global internal constant @pit_image() {addr_space = 0 : i32} : !llvm.struct<(ptr, i64)>
  gpu.binary @pit_kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = ".target sm_90a">]
}
