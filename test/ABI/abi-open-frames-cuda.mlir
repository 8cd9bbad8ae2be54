// RUN: pit-opt %s -pit-abi-open-frames=device=cuda -split-input-file -verify-diagnostics | FileCheck %s

// The words are a context, and an address for each function on the device.
// CHECK: llvm.mlir.global internal @pit_calls() {{.*}} : !llvm.array<4 x ptr>

// Without a stream it is the default one, and the host waits for it.
// CHECK-LABEL: func.func @on_default(%arg0: memref<?xf32>) -> memref<?xf32>
// CHECK: %[[CALLS:.*]] = llvm.mlir.addressof @pit_calls
// CHECK: %[[OWN:.*]] = llvm.getelementptr %[[CALLS]][1]
// CHECK: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: %[[FRAME:.*]] = call @pit_rt_open_cuda(%[[CALLS]], %[[OWN]], %[[NULL]])
// CHECK: %[[R:.*]] = call @on_default_in_frame(%[[FRAME]], %arg0)
// CHECK: %[[WAIT:.*]] = arith.constant 1 : i32
// CHECK: call @pit_rt_close_cuda(%[[FRAME]], %[[WAIT]])
// CHECK: return %[[R]]
// CHECK: func.func private @on_default_in_frame(%arg0: !llvm.ptr {pit.frame}, %arg1: memref<?xf32>) -> memref<?xf32> attributes {pit.device = "cuda"}
func.func @on_default(%a: memref<?xf32>) -> memref<?xf32> attributes {pit.device = "cuda"} {
  return %a : memref<?xf32>
}

// CHECK-LABEL: func.func @on_token(%arg0: memref<?xf32>, %arg1: !gpu.async.token) -> !gpu.async.token
// CHECK: llvm.getelementptr {{.*}}[2]
// CHECK: %[[STREAM:.*]] = builtin.unrealized_conversion_cast %arg1 : !gpu.async.token to !llvm.ptr
// CHECK: %[[FRAME:.*]] = call @pit_rt_open_cuda({{.*}}, %[[STREAM]])
// CHECK: %[[R:.*]] = call @on_token_in_frame(%[[FRAME]], %arg0, %arg1)
// CHECK: %[[WAIT:.*]] = arith.constant 0 : i32
// CHECK: call @pit_rt_close_cuda(%[[FRAME]], %[[WAIT]])
// CHECK: return %[[R]]
// CHECK: func.func private @on_token_in_frame(%arg0: !llvm.ptr {pit.frame}, %arg1: memref<?xf32>, %arg2: !gpu.async.token {pit.stream})
func.func @on_token(%a: memref<?xf32>, %t: !gpu.async.token) -> !gpu.async.token attributes {pit.device = "cuda"} {
  return %t : !gpu.async.token
}

// CHECK-LABEL: func.func @on_pointer(%arg0: !llvm.ptr, %arg1: !llvm.ptr)
// CHECK: call @pit_rt_open_cuda({{.*}}, %arg1)
// CHECK: func.func private @on_pointer_in_frame(%arg0: !llvm.ptr {pit.frame}, %arg1: !llvm.ptr, %arg2: !llvm.ptr {pit.stream})
func.func @on_pointer(%other: !llvm.ptr, %stream: !llvm.ptr {pit.stream}) attributes {pit.device = "cuda"} {
  return
}

// Of the CPU, and of the host.
// CHECK-LABEL: func.func @on_cpu(
// CHECK-NEXT: pit.index
func.func @on_cpu(%a: memref<?x?xf32>) {
  %i = pit.index %a : memref<?x?xf32> -> !pit.index<micro_tile = [1, *], axis = 0>
  return
}

// -----

// expected-error @+1 {{arguments 0 and 2 are streams; a function works on one (gpu.wait async joins tokens)}}
func.func @two(%t: !gpu.async.token, %a: memref<8xf32>, %s: !llvm.ptr {pit.stream}) attributes {pit.device = "cuda"} {
  return
}

// -----

// expected-error @+1 {{argument 0 has pit.stream, and is a 'i64'; a stream is an !llvm.ptr or a !gpu.async.token}}
func.func @number(%s: i64 {pit.stream}) attributes {pit.device = "cuda"} {
  return
}

// -----

// expected-error @+1 {{argument 0 is of type 'tensor<8xf32>'; bufferize the function first}}
func.func @tensor(%a: tensor<8xf32>) attributes {pit.device = "cuda"} {
  return
}
