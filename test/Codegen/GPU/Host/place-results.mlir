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
// CHECK: call @pit_rt_wait(%arg0)
// CHECK-NEXT: pit.check_status
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

// What is retained is not freed; the host's memory is left to others.
// CHECK-LABEL: func.func @many(
// CHECK: %[[D:.*]] = call @device
// CHECK: %[[H:.*]] = call @host
// CHECK: %[[E:.*]] = call @device
// CHECK: %[[BASE:.*]], %{{.*}}, %{{.*}}:2, %{{.*}}:2 = memref.extract_strided_metadata %[[D]]
// CHECK: arith.cmpi eq
// CHECK: %[[KEEPS_E:.*]] = arith.andi %arg3
// CHECK: scf.if
// CHECK-NEXT: gpu.dealloc async [%{{.*}}] %[[E]]
// CHECK: arith.cmpi eq
// CHECK: %[[KEEPS_D:.*]] = arith.andi %arg2
// CHECK: %[[KEEPS:.*]] = arith.ori %[[KEEPS_E]], %[[KEEPS_D]]
// CHECK: scf.if
// CHECK-NEXT: gpu.dealloc async [%{{.*}}] %[[BASE]]
// CHECK: %[[KEPT:.*]] = bufferization.dealloc (%[[H]] : {{.*}}) if (%arg3) retain (%arg1
// CHECK-NEXT: %[[ALL:.*]] = arith.ori %[[KEPT]], %[[KEEPS]]
// CHECK-NEXT: return %[[ALL]]
func.func @many(%n: index, %r: memref<?x4xf32>, %c: i1, %d: i1) -> i1 {
  %x = call @device(%n) : (index) -> memref<?x4xf32>
  %h = call @host(%n) : (index) -> memref<?x4xf32>
  %y = call @device(%n) : (index) -> memref<?x4xf32>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %x : memref<?x4xf32> -> memref<f32>, index, index, index, index, index
  %kept = bufferization.dealloc (%base, %h, %y : memref<f32>, memref<?x4xf32>, memref<?x4xf32>) if (%c, %d, %d) retain (%r : memref<?x4xf32>)
  return %kept : i1
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
  // expected-error @+1 {{frees memref 0 on a device, which may be the same memory as another one; only results of calls are freed there}}
  bufferization.dealloc (%a : memref<4xf32>) if (%c)
  return
}
