// What MLIR's own gpu-to-llvm and convert-nvgpu-to-nvvm call is what
// libpit_mgpu has, with the parameters that it expects.

// RUN: mlir-opt %s --pass-pipeline='builtin.module(nvvm-attach-target{chip=sm_90},gpu.module(convert-gpu-to-nvvm),convert-nvgpu-to-nvvm,gpu-to-llvm,reconcile-unrealized-casts,gpu-module-to-binary{format=isa})' | mlir-translate --mlir-to-llvmir -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: grep -o "@mgpu[A-Za-z0-9]*" %t.ll | sort -u > %t.called
// RUN: llvm-nm -D --defined-only %pit_lib_dir/libpit_mgpu.so | grep -o "mgpu[A-Za-z0-9]*" | sed "s/^/@/" | sort -u > %t.defined
// RUN: comm -23 %t.called %t.defined > %t.missing
// RUN: count 0 < %t.missing

// CHECK-DAG: declare ptr @mgpuModuleLoadJIT(ptr, i32)
// CHECK-DAG: declare void @mgpuModuleUnload(ptr)
// CHECK-DAG: declare ptr @mgpuModuleGetFunction(ptr, ptr)
// CHECK-DAG: declare void @mgpuLaunchKernel(ptr, i64, i64, i64, i64, i64, i64, i32, ptr, ptr, ptr, i64)
// CHECK-DAG: declare void @mgpuLaunchClusterKernel(ptr, i64, i64, i64, i64, i64, i64, i64, i64, i64, i32, ptr, ptr, ptr)
// CHECK-DAG: declare ptr @mgpuStreamCreate()
// CHECK-DAG: declare void @mgpuStreamDestroy(ptr)
// CHECK-DAG: declare void @mgpuStreamSynchronize(ptr)
// CHECK-DAG: declare void @mgpuStreamWaitEvent(ptr, ptr)
// CHECK-DAG: declare ptr @mgpuEventCreate()
// CHECK-DAG: declare void @mgpuEventRecord(ptr, ptr)
// CHECK-DAG: declare void @mgpuEventDestroy(ptr)
// CHECK-DAG: declare ptr @mgpuMemAlloc(i64, ptr, i8)
// CHECK-DAG: declare void @mgpuMemFree(ptr, ptr)
// CHECK-DAG: declare void @mgpuMemcpy(ptr, ptr, i64, ptr)
// CHECK-DAG: declare void @mgpuMemset32(ptr, i32, i64, ptr)
// CHECK-DAG: declare void @mgpuMemset16(ptr, i16, i64, ptr)
// CHECK-DAG: declare void @mgpuMemHostRegisterMemRef(i64, ptr, i64)
// CHECK-DAG: declare void @mgpuMemHostUnregisterMemRef(i64, ptr, i64)
// CHECK-DAG: declare void @mgpuSetDefaultDevice(i32)
// CHECK-DAG: declare ptr @mgpuTensorMapEncodeTiledMemref(i64, ptr, i64, i64, i64, i64, i64, ptr)

!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: memref<8xf32>) kernel {
      gpu.return
    }
  }
  func.func @main(%h: memref<8xf32>, %v: f32, %h16: memref<8xf16>, %v16: f16, %tensor: memref<*xf16>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    gpu.set_default_device %zero
    %any = memref.cast %h : memref<8xf32> to memref<*xf32>
    gpu.host_register %any : memref<*xf32>
    %s = gpu.wait async
    %d, %t1 = gpu.alloc async [%s] () : memref<8xf32>
    %t2 = gpu.memcpy async [%t1] %d, %h : memref<8xf32>, memref<8xf32>
    %t3 = gpu.memset async [%t2] %d, %v : memref<8xf32>, f32
    %t4 = gpu.memset async [%t3] %h16, %v16 : memref<8xf16>, f16
    %other = gpu.wait async
    %t5 = gpu.wait async [%t4, %other]
    %t6 = gpu.launch_func async [%t5] @m::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%d : memref<8xf32>)
    %t7 = gpu.dealloc async [%t6] %d : memref<8xf32>
    gpu.wait [%t7]
    gpu.launch_func @m::@k clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c64, %c1, %c1) args(%h : memref<8xf32>)
    gpu.host_unregister %any : memref<*xf32>
    %map = nvgpu.tma.create.descriptor %tensor box[%c64, %c64] : memref<*xf16> -> !map
    func.return
  }
}
