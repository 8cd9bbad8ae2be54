// RUN: not pit-opt %s -convert-pit-to-gpu=threads=48 2>&1 | FileCheck %s
// RUN: not pit-opt %s -convert-pit-to-gpu=opt-level=4 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: pit-opt %s -convert-pit-to-gpu=opt-level=0 | FileCheck %s --check-prefix=FAST
// RUN: pit-opt %s -convert-pit-to-gpu="threads=64 chip=" | FileCheck %s --check-prefix=SMALL
// RUN: pit-opt %s -convert-pit-to-gpu="chip=sm_100" | FileCheck %s --check-prefix=BLACKWELL
// RUN: pit-opt %s -convert-pit-to-gpu="chip=sm_90 features=+ptx83" | FileCheck %s --check-prefix=HOPPER

// CHECK: error: convert-pit-to-gpu: 48 threads in a block; a multiple of 32 up to 1024 is right
// LEVEL: error: convert-pit-to-gpu: opt-level is 4; 0, 1, 2 or 3 is right
// FAST: gpu.module @pit_kernels [#nvvm.target<O = 0, chip = "sm_80"
// SMALL: gpu.module @pit_kernels attributes {pit.kernels} {
// SMALL: known_block_size = array<i32: 64, 1, 1>, pit.launch_info = #pit.launch_info<threads = 64
// BLACKWELL: gpu.module @pit_kernels [#nvvm.target<O = 3, chip = "sm_100", features = "+ptx87">]
// HOPPER: gpu.module @pit_kernels [#nvvm.target<O = 3, chip = "sm_90", features = "+ptx83">]
module {
module @pit_kernels attributes {pit.kernels} {
func.func @abs(%x: memref<?xf32>) {
  linalg.abs ins(%x : memref<?xf32>) outs(%x : memref<?xf32>)
  return
}
}
}
