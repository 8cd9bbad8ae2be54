// RUN: pit-opt %s --split-input-file --verify-diagnostics --pit-translate-kernels | FileCheck %s

// Modules are translated at the same time, each as upstream does it, and stay in order.
// RUN: sed '/^\/\/ -----/,$d' %s | pit-opt --pit-translate-kernels > %t.ours
// RUN: sed '/^\/\/ -----/,$d' %s | mlir-opt --gpu-module-to-binary=format=isa \
// RUN:   | sed 's/LLVMIRToISATimeInMs = [0-9]* : i64, //' > %t.theirs
// RUN: diff %t.ours %t.theirs

// Those of others stay as they are.
// RUN: sed '/^\/\/ -----/,$d' %s | pit-opt --pit-translate-kernels=own | FileCheck %s --check-prefix=OWN
// OWN: gpu.module @first
// OWN: gpu.module @second
// OWN: gpu.binary @third

// CHECK: gpu.binary @first  [#gpu.object<#nvvm.target<chip = "sm_80">, {{.*}}assembly = "//{{.*}}.target sm_80{{.*}}.visible .entry one
// CHECK: gpu.binary @second  [#gpu.object<#nvvm.target<O = 1, chip = "sm_90a", features = "+ptx86">, {{.*}}assembly = "//{{.*}}.target sm_90a{{.*}}.visible .entry two
// CHECK: gpu.binary @third  [#gpu.object<#nvvm.target<chip = "sm_90">, {{.*}}assembly = "//{{.*}}.visible .entry three
// CHECK-NOT: gpu.module
module attributes {gpu.container_module} {
  gpu.module @first [#nvvm.target<chip = "sm_80">] {
    llvm.func @one(%p: !llvm.ptr, %x: f32) attributes {gpu.kernel, nvvm.kernel} {
      llvm.store %x, %p : f32, !llvm.ptr
      llvm.return
    }
  }
  gpu.module @second [#nvvm.target<O = 1, chip = "sm_90a", features = "+ptx86">] {
    llvm.func @two(%p: !llvm.ptr, %x: f32) attributes {gpu.kernel, nvvm.kernel} {
      %y = llvm.fadd %x, %x : f32
      llvm.store %y, %p : f32, !llvm.ptr
      llvm.return
    }
  }
  gpu.module @third [#nvvm.target<chip = "sm_90">] attributes {pit.kernels} {
    llvm.func @three(%p: !llvm.ptr, %x: f32) attributes {gpu.kernel, nvvm.kernel} {
      %y = llvm.fmul %x, %x : f32
      llvm.store %y, %p : f32, !llvm.ptr
      llvm.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  // expected-error @+1 {{needs one target, of the nvvm dialect}}
  gpu.module @none {
    llvm.func @one() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
}
