// RUN: pit-opt %s --convert-pit-launch --canonicalize --cse | FileCheck %s

// Parts of tensors: rows that end in the middle of 16 bytes are known to, or are
// looked at when the program runs.

gpu.module @pit_kernels {
  gpu.func @k(%x: memref<64x?xf16, strided<[512, 1], offset: 8>>) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @k_hopper>} {
    gpu.return
  }
  gpu.func @k_hopper(%x: memref<64x?xf16, strided<[512, 1], offset: 8>>, %m: !llvm.ptr) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 384, tensor_maps = [<argument = 0, box = [64, 64], swizzle = 128>]>} {
    gpu.return
  }
  gpu.func @l(%x: memref<64x60xf16, strided<[512, 1]>>) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @l_hopper>} {
    gpu.return
  }
  gpu.func @l_hopper(%x: memref<64x60xf16, strided<[512, 1]>>, %m: !llvm.ptr) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 384, tensor_maps = [<argument = 0, box = [64, 64], swizzle = 128>]>} {
    gpu.return
  }
}
// CHECK-LABEL: func.func @part
// CHECK-SAME: %{{.*}}: !llvm.ptr {pit.frame}, %[[X:[^:]*]]: memref<64x?xf16
// CHECK: %{{.*}}, %{{.*}}, %[[SIZES:.*]]:2, %{{.*}} = memref.extract_strided_metadata %[[X]]
// CHECK: %[[COLUMNS:.*]] = arith.index_cast %[[SIZES]]#1
// CHECK: %[[BYTES:.*]] = arith.muli %[[COLUMNS]], %c2_i64
// CHECK: %[[REST:.*]] = arith.remui %[[BYTES]], %c16_i64
// CHECK: arith.cmpi eq, %[[REST]], %c0_i64
// CHECK: scf.if
// CHECK: pit_rt_tensor_map
// CHECK: else
func.func @part(%frame: !llvm.ptr {pit.frame}, %x: memref<64x?xf16, strided<[512, 1], offset: 8>>, %n: index) -> i32 {
  pit.launch @pit_kernels::@k iterations(%n) outs(%x : memref<64x?xf16, strided<[512, 1], offset: 8>>)
  %ok = arith.constant 0 : i32
  return %ok : i32
}
// CHECK-LABEL: func.func @odd
// CHECK-NOT: pit_rt_tensor_map
// CHECK: return
func.func @odd(%frame: !llvm.ptr {pit.frame}, %x: memref<64x60xf16, strided<[512, 1]>>, %n: index) -> i32 {
  pit.launch @pit_kernels::@l iterations(%n) outs(%x : memref<64x60xf16, strided<[512, 1]>>)
  %ok = arith.constant 0 : i32
  return %ok : i32
}
