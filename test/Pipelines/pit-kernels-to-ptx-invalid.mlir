// RUN: not pit-opt %s --allow-unregistered-dialect --pit-kernels-to-ptx 2>&1 | FileCheck %s

// CHECK: [[# @LINE + 4]]:5: error: 'other.op' op is of no dialect that is known, so a kernel cannot have it
// CHECK-NOT: Stack dump
gpu.module @kernels {
  gpu.func @f(%x: i32) kernel {
    "other.op"(%x) : (i32) -> ()
    gpu.return
  }
}
