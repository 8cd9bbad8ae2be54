// RUN: pit-opt %s --pass-pipeline='builtin.module(gpu.module(pit-gpu-to-nvvm))' \
// RUN:   | FileCheck %s

// CHECK: llvm.func @threads
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: nvvm.barrier
// Upstream's pass calls libdevice for the remainder.
// CHECK: arith.remf
// CHECK: nvvm.shfl.sync bfly
//
// TMA reads descriptors, the last parameters, where they are.
// CHECK: llvm.func @descriptors(%{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
gpu.module @kernels {
  gpu.func @threads(%x: f32, %y: f32, %out: memref<?xf32>) kernel {
    %lane = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %t = gpu.thread_id x
    gpu.barrier
    %r = arith.remf %x, %y : f32
    %s, %valid = gpu.shuffle xor %r, %lane, %width : f32
    memref.store %s, %out[%t] : memref<?xf32>
    gpu.return
  }
  gpu.func @descriptors(%n: i64, %map: !llvm.ptr) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 384, tensor_maps = [<argument = 0, box = [64, 8], swizzle = 128>]>} {
    gpu.return
  }
}
