// Functions of libdevice are linked, and leave no call behind.

// REQUIRES: libdevice

// RUN: pit-opt %s --pit-translate-kernels | FileCheck %s
// RUN: not env PIT_LIBDEVICE=%t.none pit-opt %s --pit-translate-kernels 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: echo no > %t.broken && not env PIT_LIBDEVICE=%t.broken pit-opt %s --pit-translate-kernels 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: sed s/__nv_pow/__nv_none/g %s | not pit-opt --pit-translate-kernels 2>&1 | FileCheck %s --check-prefix=OTHER

// CHECK: gpu.binary @kernels
// CHECK-SAME: .entry power(
// CHECK-NOT: call
// CHECK-NOT: __nv_
// CHECK-SAME: .entry second(
// CHECK-NOT: call
// CHECK-SAME: ret;

// NONE: translate-libdevice.mlir:[[#@LINE+11]]:10: error: a kernel needs the function '__nv_pow' of libdevice: there is no libdevice at $PIT_LIBDEVICE, '{{.*}}.none' [U6]
// BROKEN: error: a kernel needs the function '__nv_pow' of libdevice: '{{.*}}.broken' cannot be linked [U6]
// OTHER: error: a kernel needs the function '__nv_none' of libdevice: '{{.*}}.bc' has no such function [U6]

module attributes {gpu.container_module} {
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  llvm.func @__nv_pow(f64, f64) -> f64
  llvm.func @__nv_sin(f64) -> f64

  llvm.func @power(%p: !llvm.ptr, %y: f64) attributes {gpu.kernel, nvvm.kernel} {
    %x = llvm.load %p : !llvm.ptr -> f64
    %r = llvm.call @__nv_pow(%x, %y) : (f64, f64) -> f64
    llvm.store %r, %p : f64, !llvm.ptr
    llvm.return
  }

  llvm.func @second(%p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %x = llvm.load %p : !llvm.ptr -> f64
    %r = llvm.call @__nv_sin(%x) : (f64) -> f64
    llvm.store %r, %p : f64, !llvm.ptr
    llvm.return
  }
}
}
