// Functions with marks keep their signature; what is of others stays as it is: functions
// without marks, modules of kernels, and nested modules.

// DEFINE: %{options} =
// DEFINE: %{make} = pit-opt %s -pit-functions-to-kernels="%{options}" -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" -pit-functions-to-cuda="%{options}"
// RUN: pit-opt %s -pit-functions-to-kernels | FileCheck %s --check-prefix=KERNELS
// RUN: %{make} | FileCheck %s
// REDEFINE: %{options} = chip=sm_90a device-code=auto
// RUN: env PIT_PTXAS=%S/../tools/pit-compile/Inputs/ptxas.sh pit-opt %s -pit-functions-to-kernels=chip=sm_90a -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   -pit-functions-to-cuda="chip=sm_90a device-code=auto" | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: pit-opt %s -pit-functions-to-kernels=dense | FileCheck %s --check-prefix=DENSE

// MLIR frees what functions give each other; what a frame has is not freed.
// RUN: pit-opt %s -pit-functions-to-kernels -pit-eliminate-empties -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" \
// RUN:   -canonicalize -ownership-based-buffer-deallocation -canonicalize -buffer-deallocation-simplification -pit-functions-to-cuda -bufferization-lower-deallocations -convert-bufferization-to-memref \
// RUN:   | FileCheck %s --check-prefix=FREED

// In the stock tool, by the plugin.
// RUN: mlir-opt --load-dialect-plugin=%pit_plugin --load-pass-plugin=%pit_plugin %s \
// RUN:   --pass-pipeline='builtin.module(pit-functions-to-kernels,one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},pit-functions-to-cuda)' | FileCheck %s

module attributes {gpu.container_module} {

// KERNELS-LABEL: func.func @product(%arg0: tensor<?x1024xf32>, %arg1: tensor<1024x512xf32>) -> tensor<?x512xf32> attributes {pit.device = "cuda"}
// KERNELS-NOT: linalg.
// KERNELS: pit.choose
// KERNELS: pit.launch @pit_kernels::@product_kernel
// DENSE-LABEL: func.func @product(
// DENSE-NOT: pit.index
// DENSE: pit.launch
// HOPPER-DAG: llvm.mlir.global internal constant @pit_image_data("\7FELF
// CHECK-DAG: llvm.mlir.global internal @pit_calls() {{.*}} : !llvm.array<3 x ptr>
// CHECK-LABEL: func.func @product(%arg0: memref<?x1024xf32>, %arg1: memref<1024x512xf32>) -> memref<?x512xf32> {
// CHECK: call @pit_rt_open_cuda(
// CHECK: call @product_in_frame(
// CHECK: call @pit_rt_close_cuda(
// CHECK: func.func private @product_in_frame(%arg0: !llvm.ptr, %arg1: memref<?x1024xf32>, %arg2: memref<1024x512xf32>) -> memref<?x512xf32> {
// CHECK-NOT: pit.
// CHECK: gpu.alloc async
// CHECK: call @pit_rt_choose_on_device(
// CHECK-NEXT: call @pit_rt_expect(
func.func @product(%x: tensor<?x1024xf32>, %w: tensor<1024x512xf32>) -> tensor<?x512xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x512xf32>) -> tensor<?x512xf32>
  %s = pit.sparse %x : tensor<?x1024xf32>
  %y = linalg.matmul ins(%s, %w : tensor<?x1024xf32>, tensor<1024x512xf32>) outs(%z : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}

// KERNELS-LABEL: func.func @theirs(
// KERNELS: linalg.matmul
// KERNELS: call @product
// CHECK-LABEL: func.func @theirs(
// CHECK: linalg.matmul
// CHECK: call @product(
func.func @theirs(%x: tensor<?x1024xf32>, %u: tensor<1024x1024xf32>, %w: tensor<1024x512xf32>, %out: tensor<?x1024xf32>) -> tensor<?x512xf32> {
  %h = linalg.matmul ins(%x, %u : tensor<?x1024xf32>, tensor<1024x1024xf32>) outs(%out : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %r = func.call @product(%h, %w) : (tensor<?x1024xf32>, tensor<1024x512xf32>) -> tensor<?x512xf32>
  return %r : tensor<?x512xf32>
}

// FREED-LABEL: func.func private @again_in_frame(
// FREED: %[[P:.*]] = call @product(
// FREED: %[[R:.*]], %{{.*}} = gpu.alloc async
// FREED: %[[BASE:.*]], %{{.*}}, %{{.*}}:2, %{{.*}}:2 = memref.extract_strided_metadata %[[P]]
// FREED: func.call @pit_rt_wait(
// FREED: gpu.dealloc async [%{{.*}}] %[[BASE]]
// FREED-NOT: dealloc
// FREED: return %[[R]]
func.func @again(%x: tensor<?x1024xf32>, %w: tensor<1024x512xf32>, %v: tensor<512x1024xf32>) -> tensor<?x1024xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %zero = arith.constant 0.0 : f32
  %p = func.call @product(%x, %w) : (tensor<?x1024xf32>, tensor<1024x512xf32>) -> tensor<?x512xf32>
  %e = tensor.empty(%n) : tensor<?x1024xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %s = pit.sparse %p : tensor<?x512xf32>
  %y = linalg.matmul ins(%s, %v : tensor<?x512xf32>, tensor<512x1024xf32>) outs(%z : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}

// Of the host: it frees what it was given.
// FREED-LABEL: func.func @drops(
// FREED: %[[D:.*]] = call @product(
// FREED: call @use(
// FREED: %[[BASE_OF_D:.*]], %{{.*}}, %{{.*}}:2, %{{.*}}:2 = memref.extract_strided_metadata %[[D]]
// FREED: gpu.dealloc async [%{{.*}}] %[[BASE_OF_D]]
func.func private @use(tensor<?x512xf32>)
func.func @drops(%x: tensor<?x1024xf32>, %w: tensor<1024x512xf32>) {
  %p = func.call @product(%x, %w) : (tensor<?x1024xf32>, tensor<1024x512xf32>) -> tensor<?x512xf32>
  func.call @use(%p) : (tensor<?x512xf32>) -> ()
  return
}

// CHECK: gpu.module @others {
// CHECK-NEXT: gpu.func @k(%arg0: memref<8xf32>) kernel
gpu.module @others {
  gpu.func @k(%a: memref<8xf32>) kernel {
    gpu.return
  }
}

// CHECK: module @nested
// CHECK-NEXT: func.func private @f(%arg0: i32) -> i32
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.addi
module @nested {
  func.func private @f(%a: i32) -> i32 {
    %b = arith.constant 1 : i32
    %c = arith.constant 2 : i32
    %d = arith.addi %b, %c : i32
    return %d : i32
  }
}

}
