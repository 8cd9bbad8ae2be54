// RUN: pit-opt %s -pit-place-results -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func private @on_default(
// CHECK: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: %[[T:.*]] = builtin.unrealized_conversion_cast %[[NULL]] : !llvm.ptr to !gpu.async.token
// CHECK: %[[R:.*]], %{{.*}} = gpu.alloc async [%[[T]]] (%arg1) : memref<?x4xf32>
// CHECK: return %[[R]]
func.func private @on_default(%frame: !llvm.ptr {pit.frame}, %n: index) -> memref<?x4xf32> attributes {pit.device = "cuda"} {
  %r = memref.alloc(%n) : memref<?x4xf32>
  return %r : memref<?x4xf32>
}

func.func private @device(index) -> memref<?x4xf32> attributes {pit.device = "cuda"}
func.func private @host(index) -> memref<?x4xf32>

// Kernels of the call may still use what it frees.
// CHECK-LABEL: func.func private @on_token(
// CHECK: %[[G:.*]] = call @device
// CHECK: call @pit_rt_wait(%arg0) {pit.status}
// CHECK-NEXT: gpu.dealloc async [%arg2] %[[G]]
// CHECK-NEXT: %[[R:.*]], %{{.*}} = gpu.alloc async [%arg2] ()
func.func private @on_token(%frame: !llvm.ptr {pit.frame}, %n: index, %t: !gpu.async.token {pit.stream}) -> memref<4xf32> attributes {pit.device = "cuda"} {
  %g = call @device(%n) : (index) -> memref<?x4xf32>
  memref.dealloc %g : memref<?x4xf32>
  %r = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
  return %r : memref<4xf32>
}

// CHECK-LABEL: func.func @of_host(
// CHECK: %[[D:.*]] = call @device
// CHECK: %[[C:.*]] = memref.cast %[[D]]
// CHECK: %[[H:.*]] = call @host
// CHECK: gpu.dealloc async [%{{.*}}] %[[C]]
// CHECK: memref.dealloc %[[H]]
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: memref.dealloc %[[A]]
func.func @of_host(%n: index) {
  %d = call @device(%n) : (index) -> memref<?x4xf32>
  %c = memref.cast %d : memref<?x4xf32> to memref<?x4xf32, strided<[?, ?], offset: ?>>
  %h = call @host(%n) : (index) -> memref<?x4xf32>
  memref.dealloc %c : memref<?x4xf32, strided<[?, ?], offset: ?>>
  memref.dealloc %h : memref<?x4xf32>
  %a = memref.alloc(%n) : memref<?x4xf32>
  memref.dealloc %a : memref<?x4xf32>
  return
}

// -----

func.func private @device() -> memref<4xf32> attributes {pit.device = "cuda"}

func.func @either(%c: i1) {
  %d = call @device() : () -> memref<4xf32>
  %h = memref.alloc() : memref<4xf32>
  %e = arith.select %c, %d, %h : memref<4xf32>
  // expected-error @+1 {{may free memory of the device, which a function with pit.device returned, or other memory; free each where it comes from}}
  memref.dealloc %e : memref<4xf32>
  return
}

// -----

func.func private @left(%frame: !llvm.ptr {pit.frame}, %a: memref<4xf32>, %c: i1) attributes {pit.device = "cuda"} {
  // expected-error @+1 {{is left in a function on a device; run bufferization-lower-deallocations before pit-functions-to-cuda}}
  bufferization.dealloc (%a : memref<4xf32>) if (%c)
  return
}
