// RUN: pit-opt %s -pit-await-launches -split-input-file -verify-diagnostics | FileCheck %s

module attributes {gpu.container_module} {

module @pit_kernels attributes {pit.kernels} {
  func.func @k(%o: memref<8xf32>) {
    return
  }
}
gpu.module @others {
  gpu.func @g(%a: memref<8xf32>) kernel {
    gpu.return
  }
}
func.func private @theirs(memref<8xf32>)
func.func private @on_stream(memref<8xf32>, !gpu.async.token)

// Before the first kernel there is nothing to wait for, and once is enough.
// CHECK-LABEL: func.func private @calls(
// CHECK: call @theirs
// CHECK-NEXT: pit.launch
// CHECK-NEXT: pit.launch
// CHECK-NEXT: call @pit_rt_wait(%arg0)
// CHECK-NEXT: pit.check_status
// CHECK-NEXT: call @theirs
// CHECK-NEXT: call @theirs
// CHECK-NEXT: memref.alloc
// CHECK-NEXT: memref.dealloc
// CHECK-NEXT: return
func.func private @calls(%frame: !llvm.ptr {pit.frame}, %a: memref<8xf32>) attributes {pit.device = "cuda"} {
  %c1 = arith.constant 1 : index
  call @theirs(%a) : (memref<8xf32>) -> ()
  pit.launch @pit_kernels::@k iterations(%c1) outs(%a : memref<8xf32>)
  pit.launch @pit_kernels::@k iterations(%c1) outs(%a : memref<8xf32>)
  call @theirs(%a) : (memref<8xf32>) -> ()
  call @theirs(%a) : (memref<8xf32>) -> ()
  %b = memref.alloc() : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}

// What is on the stream comes after anyway; a stream of its own does not.
// CHECK-LABEL: func.func private @tokens(
// CHECK: pit.launch
// CHECK-NEXT: %[[T:.*]] = gpu.launch_func async [%arg2]
// CHECK-NEXT: pit.launch
// CHECK-NEXT: gpu.memcpy async [%[[T]]]
// CHECK-NEXT: call @on_stream(
// CHECK-NEXT: gpu.wait async [%arg2]
// CHECK-NEXT: call @pit_rt_wait
// CHECK-NEXT: pit.check_status
// CHECK-NEXT: %[[OWN:.*]] = gpu.wait async
// CHECK-NEXT: gpu.memcpy async [%[[OWN]]]
// CHECK-NEXT: pit.launch
// CHECK-NEXT: call @pit_rt_wait
// CHECK-NEXT: pit.check_status
// CHECK-NEXT: gpu.launch_func @others::@g
func.func private @tokens(%frame: !llvm.ptr {pit.frame}, %a: memref<8xf32>, %t: !gpu.async.token {pit.stream}, %b: memref<8xf32>) attributes {pit.device = "cuda"} {
  %c1 = arith.constant 1 : index
  pit.launch @pit_kernels::@k iterations(%c1) outs(%a : memref<8xf32>)
  %t1 = gpu.launch_func async [%t] @others::@g blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<8xf32>)
  pit.launch @pit_kernels::@k iterations(%c1) outs(%a : memref<8xf32>)
  %t2 = gpu.memcpy async [%t1] %b, %a : memref<8xf32>, memref<8xf32>
  call @on_stream(%a, %t2) : (memref<8xf32>, !gpu.async.token) -> ()
  %joined = gpu.wait async [%t]
  %own = gpu.wait async
  %t3 = gpu.memcpy async [%own] %b, %a : memref<8xf32>, memref<8xf32>
  pit.launch @pit_kernels::@k iterations(%c1) outs(%a : memref<8xf32>)
  gpu.launch_func @others::@g blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<8xf32>)
  return
}

// An iteration comes after others, and what follows a branch after both.
// CHECK-LABEL: func.func private @control(
// CHECK: scf.for
// CHECK-NEXT: call @pit_rt_wait
// CHECK-NEXT: pit.check_status
// CHECK-NEXT: func.call @theirs
// CHECK-NEXT: pit.launch
// CHECK: scf.if
// CHECK-NEXT: call @pit_rt_wait
// CHECK-NEXT: pit.check_status
// CHECK-NEXT: func.call @theirs
// CHECK-NEXT: }
// CHECK-NEXT: call @pit_rt_wait
// CHECK-NEXT: pit.check_status
// CHECK-NEXT: call @theirs
func.func private @control(%frame: !llvm.ptr {pit.frame}, %a: memref<8xf32>, %n: index, %c: i1) attributes {pit.device = "cuda"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    func.call @theirs(%a) : (memref<8xf32>) -> ()
    pit.launch @pit_kernels::@k iterations(%c1) outs(%a : memref<8xf32>)
  }
  scf.if %c {
    func.call @theirs(%a) : (memref<8xf32>) -> ()
  }
  call @theirs(%a) : (memref<8xf32>) -> ()
  return
}

// CHECK-LABEL: func.func private @blocks(
// CHECK: ^bb1:
// CHECK-NEXT: call @pit_rt_wait
// CHECK-NEXT: pit.check_status
// CHECK-NEXT: call @theirs
func.func private @blocks(%frame: !llvm.ptr {pit.frame}, %a: memref<8xf32>, %c: i1) attributes {pit.device = "cuda"} {
  %c1 = arith.constant 1 : index
  cf.br ^loop
^loop:
  call @theirs(%a) : (memref<8xf32>) -> ()
  pit.launch @pit_kernels::@k iterations(%c1) outs(%a : memref<8xf32>)
  cf.cond_br %c, ^loop, ^end
^end:
  return
}

// On the CPU kernels are loops.
// CHECK-LABEL: func.func private @cpu(
// CHECK-NOT: pit_rt_wait
func.func private @cpu(%frame: !llvm.ptr {pit.frame}, %a: memref<8x8xf32>, %b: memref<8xf32>) {
  %i = pit.index %a : memref<8x8xf32> -> !pit.index<micro_tile = [1, *], axis = 0>
  call @theirs(%b) : (memref<8xf32>) -> ()
  return
}

}

// -----

func.func private @ends(%frame: !llvm.ptr {pit.frame}, %t: !gpu.async.token {pit.stream}) attributes {pit.device = "cuda"} {
  // expected-error @+1 {{ends the stream of the function, to which pit's frame still belongs; let the caller wait}}
  gpu.wait [%t]
  return
}
