// Functions that another compiler calls as any other, and of which pit has a device
// compute its part, over a driver without a device: Inputs/plain-functions.c calls them.
// Everything after pit-functions-to-cuda is done by the stock mlir-opt and clang.

// REQUIRES: pit-fake-cuda

// DEFINE: %{options} = choice=now
// DEFINE: %{make} = pit-opt %s -pit-functions-to-kernels="%{options}" -eliminate-empty-tensors -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" -pit-functions-to-cuda="%{options}" | mlir-opt --pass-pipeline='builtin.module(nvvm-attach-target{chip=sm_80},gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm),convert-scf-to-cf,expand-strided-metadata,lower-affine,gpu-to-llvm,reconcile-unrealized-casts,gpu-module-to-binary{format=isa})' | mlir-translate --mlir-to-llvmir -o %t.ll
// DEFINE: %{link} = clang -Wno-override-module -I %pit_src_root/include -I %pit_src_root/test/Runtime %t.ll %S/Inputs/plain-functions.c %S/Inputs/mgpu-functions.c -o %t -L %pit_lib_dir -lpit_runtime -ldl -Wl,-rpath,%pit_lib_dir
// DEFINE: %{run} = env LD_LIBRARY_PATH=%t.lib %t

// RUN: rm -rf %t.lib && mkdir %t.lib && ln -s %pit_fake_cuda %t.lib/libcuda.so.1
// RUN: %{make}
// RUN: %{link}
// RUN: env PIT_FAKE_CUDA_TRACE=1 %{run} calls 2>&1 | FileCheck %s
// RUN: %{run} failures | FileCheck %s --check-prefix=FAIL

// At each call the device chooses: this is large enough.
// REDEFINE: %{options} = choice=run-time
// RUN: %{make}
// RUN: %{link}
// RUN: %{run} failures 1024 | FileCheck %s --check-prefix=FAIL

// The first round loads kernels, and makes the frame of each stream. Results are
// allocated and freed in each call, and nothing else is afterwards.
// CHECK: round 1
// CHECK-NEXT: launch pit_index_columns {{.*}} on stream 1{{$}}
// CHECK-NEXT: launch pit_index_lists {{.*}} on stream 1{{$}}
// CHECK-NEXT: allocate 196608 bytes
// CHECK-NEXT: launch product_kernel with {{[0-9]+}} x {{[0-9]+}} blocks {{.*}} on stream 1{{$}}
// CHECK-NEXT: wait for stream 1
// CHECK-NEXT: free 196608 bytes
// CHECK-NEXT: product: [[BYTES:[0-9]+]] bytes, depth 0, 0 violations, last kernel product_kernel on the default stream, its first argument is right
// CHECK-NEXT: result of 96 x 512
// CHECK-NEXT: launch pit_index_columns {{.*}} on stream [[S:[0-9]+]]{{$}}
// CHECK-NEXT: launch pit_index_lists {{.*}} on stream [[S]]{{$}}
// CHECK-NEXT: launch product_kernel {{.*}} on stream [[S]]{{$}}
// CHECK-NEXT: launch twice with 64 x 1 blocks of 64 threads on stream [[S]]{{$}}
// What the function calls is on another stream.
// CHECK-NEXT: wait for stream [[S]]{{$}}
// CHECK-NEXT: launch pit_index_columns {{.*}} on stream 1{{$}}
// CHECK-NEXT: launch pit_index_lists {{.*}} on stream 1{{$}}
// CHECK-NEXT: allocate 196608 bytes
// CHECK-NEXT: launch product_kernel {{.*}} on stream 1{{$}}
// CHECK-NEXT: wait for stream 1
// CHECK-NEXT: launch chain_kernel {{.*}} on stream [[S]]{{$}}
// CHECK-NEXT: wait for stream [[S]]{{$}}
// CHECK-NEXT: free 196608 bytes
// CHECK-NEXT: launch pit_index_columns {{.*}} on stream [[S]]{{$}}
// CHECK-NEXT: launch pit_index_lists {{.*}} on stream [[S]]{{$}}
// CHECK-NEXT: allocate 12288 bytes
// CHECK-NEXT: launch chain_kernel_0 {{.*}} on stream [[S]]{{$}}
// CHECK-NEXT: free 12288 bytes
// CHECK-NEXT: chain: [[BYTES]] bytes, depth 0, 0 violations, last kernel chain_kernel_0 on the given stream, its first argument is right
// CHECK-NEXT: token kept
// CHECK-NEXT: launch pit_index_columns {{.*}} on stream [[S]]{{$}}
// CHECK-NEXT: launch pit_index_lists {{.*}} on stream [[S]]{{$}}
// CHECK-NEXT: launch into_kernel with {{[0-9]+}} x {{[0-9]+}} blocks {{.*}} on stream [[S]]{{$}}
// CHECK-NEXT: into: [[BYTES]] bytes, depth 0, 0 violations, last kernel into_kernel on the given stream, its first argument is right
// CHECK-COUNT-2: allocate 196608 bytes
// CHECK: wait for stream 1
// CHECK-NEXT: free 196608 bytes
// CHECK-NEXT: free 196608 bytes
// CHECK-NEXT: on host: [[BYTES]] bytes, depth 0, 0 violations
// CHECK: result of 0 x 512
// CHECK-NOT: wait
// CHECK: captured: {{[0-9]+}} bytes, depth 0, 0 violations

// FAIL: cuInit: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuDeviceGet: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuDevicePrimaryCtxRetain: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuCtxPushCurrent_v2: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuStreamGetCaptureInfo_v2: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuStreamGetId: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuEventCreate: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuMemAlloc_v2: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuMemFree_v2: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuLinkCreate_v2: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuLinkAddData_v2: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuLinkComplete: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuModuleLoadDataEx: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuModuleGetFunction: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuFuncGetAttribute: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuLaunchKernel: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuLaunchKernelEx: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuStreamSynchronize: {{[1-9][0-9]*}} reported, 0 tolerated
// FAIL-NEXT: cuEventRecord: {{[1-9][0-9]*}} reported, 0 tolerated

module attributes {gpu.container_module} {

func.func @product(%x: tensor<?x1024xf32>, %w: tensor<1024x512xf32>) -> tensor<?x512xf32> attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x512xf32>) -> tensor<?x512xf32>
  %s = pit.sparse %x : tensor<?x1024xf32>
  %y = linalg.matmul ins(%s, %w : tensor<?x1024xf32>, tensor<1024x512xf32>) outs(%z : tensor<?x512xf32>) -> tensor<?x512xf32>
  return %y : tensor<?x512xf32>
}

gpu.module @others {
  gpu.func @twice(%a: memref<?x512xf32>) kernel {
    %block = gpu.block_id x
    %blocks = gpu.grid_dim x
    %first = gpu.thread_id x
    %step = gpu.block_dim x
    %c0 = arith.constant 0 : index
    %c512 = arith.constant 512 : index
    %n = memref.dim %a, %c0 : memref<?x512xf32>
    scf.for %i = %block to %n step %blocks {
      scf.for %j = %first to %c512 step %step {
        %v = memref.load %a[%i, %j] : memref<?x512xf32>
        %r = arith.addf %v, %v : f32
        memref.store %r, %a[%i, %j] : memref<?x512xf32>
      }
    }
    gpu.return
  }
}

// The stream is that of a token; there are two marks, a kernel of others between
// them, and a call of a function that has no stream.
func.func @chain(%x: tensor<?x1024xf32>, %w: tensor<1024x512xf32>, %v: tensor<512x32xf32>, %token: !gpu.async.token) -> (tensor<?x32xf32>, !gpu.async.token) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x512xf32>) -> tensor<?x512xf32>
  %s = pit.sparse %x : tensor<?x1024xf32>
  %y = linalg.matmul ins(%s, %w : tensor<?x1024xf32>, tensor<1024x512xf32>) outs(%z : tensor<?x512xf32>) -> tensor<?x512xf32>
  %m = bufferization.to_buffer %y : tensor<?x512xf32> to memref<?x512xf32>
  %after = gpu.launch_func async [%token] @others::@twice blocks in (%c64, %c1, %c1) threads in (%c64, %c1, %c1) args(%m : memref<?x512xf32>)
  %h = bufferization.to_tensor %m restrict writable : memref<?x512xf32> to tensor<?x512xf32>
  %p = func.call @product(%x, %w) : (tensor<?x1024xf32>, tensor<1024x512xf32>) -> tensor<?x512xf32>
  %a = linalg.add ins(%h, %p : tensor<?x512xf32>, tensor<?x512xf32>) outs(%e : tensor<?x512xf32>) -> tensor<?x512xf32>
  bufferization.dealloc_tensor %p : tensor<?x512xf32>
  %t = pit.sparse %a : tensor<?x512xf32>
  %f = tensor.empty(%n) : tensor<?x32xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<?x32xf32>) -> tensor<?x32xf32>
  %r = linalg.matmul ins(%t, %v : tensor<?x512xf32>, tensor<512x32xf32>) outs(%g : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %r, %after : tensor<?x32xf32>, !gpu.async.token
}

// The stream is a pointer, and the result goes to memory of the caller.
func.func @into(%x: tensor<96x1024xf32>, %w: tensor<1024x512xf32>, %out: memref<96x512xf32>, %stream: !llvm.ptr {pit.stream}) attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<96x512xf32>) -> tensor<96x512xf32>
  %s = pit.sparse %x : tensor<96x1024xf32>
  %y = linalg.matmul ins(%s, %w : tensor<96x1024xf32>, tensor<1024x512xf32>) outs(%z : tensor<96x512xf32>) -> tensor<96x512xf32>
  bufferization.materialize_in_destination %y in restrict writable %out : (tensor<96x512xf32>, memref<96x512xf32>) -> ()
  return
}

// Of the host: it has no marks, and frees what it was given.
func.func @twice_on_host(%x: tensor<?x1024xf32>, %w: tensor<1024x512xf32>) attributes {llvm.emit_c_interface} {
  %p = func.call @product(%x, %w) : (tensor<?x1024xf32>, tensor<1024x512xf32>) -> tensor<?x512xf32>
  %q = func.call @product(%x, %w) : (tensor<?x1024xf32>, tensor<1024x512xf32>) -> tensor<?x512xf32>
  bufferization.dealloc_tensor %p : tensor<?x512xf32>
  bufferization.dealloc_tensor %q : tensor<?x512xf32>
  return
}

}
