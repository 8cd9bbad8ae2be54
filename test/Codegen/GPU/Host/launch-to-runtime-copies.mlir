// Operands that TMA or wgmma cannot take as they lie: the host has them copied.
// RUN: pit-opt %s --split-input-file --convert-pit-launch --canonicalize --cse | FileCheck %s

gpu.module @pit_kernels {
  gpu.func @k(%x: memref<?x?xf16>, %o: memref<?x?xf16>) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @k_hopper>} {
    gpu.return
  }
  gpu.func @k_hopper(%x: memref<?x?xf16>, %o: memref<?x?xf16>, %m0: !llvm.ptr) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 384, grid = tiles, pdl = true, tensor_maps = [<argument = 0, box = [128, 64], swizzle = 128, along_k = 1>]>} {
    gpu.return
  }
}
// Whether it has to be copied, the program finds out: by the address and the stride. Then
// there have to be two products for each element that is.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr {pit.frame}, %[[X:.*]]: memref<?x?xf16>
// CHECK: %[[ROWS:.*]] = arith.index_cast %{{.*}}#0
// CHECK: %[[COLUMNS:.*]] = arith.index_cast %{{.*}}#1
// CHECK: %[[STRIDE:.*]] = arith.index_cast %{{.*}}#0
// CHECK: %[[LIES:.*]] = arith.andi
// CHECK: %[[K:.*]] = arith.index_cast %dim
// CHECK: %[[ELEMENTS:.*]] = arith.muli %{{.*}}, %[[K]]
// CHECK: %[[COPIED:.*]] = arith.select %[[LIES]], %c0_i64, %[[ELEMENTS]]
// CHECK: %[[LEAST:.*]] = arith.muli %[[COPIED]], %c2_i64
// CHECK: %[[PRODUCTS:.*]] = arith.muli %{{.*}}, %[[K]]
// CHECK: %[[PAYS:.*]] = arith.cmpi uge, %[[PRODUCTS]], %[[LEAST]]
// CHECK: %[[FITS:.*]] = arith.andi %{{.*}}, %[[PAYS]]
// CHECK: arith.andi %{{.*}}, %[[FITS]]
// CHECK: scf.if
// The address and the stride of what the descriptor is of: rows of multiples of 8 halves.
// CHECK: %[[PLACE:.*]]:2 = scf.if %[[LIES]] -> (i64, i64)
// CHECK: scf.yield %{{.*}}, %[[STRIDE]]
// CHECK: else
// CHECK: %[[CHUNKS:.*]] = arith.ceildivui %[[COLUMNS]], %c8_i64
// CHECK: %[[PITCH:.*]] = arith.muli %[[CHUNKS]], %c8_i64
// CHECK: %[[SIZE:.*]] = arith.muli %[[PITCH]], %[[ROWS]]
// CHECK: %[[BYTES:.*]] = arith.muli %[[SIZE]], %c2_i64
// CHECK: func.call @pit_rt_alloc(%[[FRAME]], %[[BYTES]],
// CHECK: %[[MEMORY:.*]] = llvm.load
// CHECK: func.call @pit_rt_pack_rows(%[[FRAME]], %[[MEMORY]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NEXT: pit.check_status
// CHECK: %[[COPY:.*]] = llvm.ptrtoint %[[MEMORY]]
// CHECK: scf.yield %[[COPY]], %[[PITCH]]
// CHECK: llvm.store %[[PLACE]]#0
// CHECK: llvm.store %[[ROWS]]
// CHECK: llvm.store %[[PLACE]]#1
// CHECK: llvm.store %[[COLUMNS]]
// CHECK: func.call @pit_rt_tensor_map(
// CHECK: func.call @pit_rt_launch(
// CHECK: else
// CHECK-NOT: call @pit_rt_pack_rows
func.func @dynamic(%frame: !llvm.ptr {pit.frame}, %x: memref<?x?xf16>, %o: memref<?x?xf16>, %n: index) -> i32 {
  pit.launch @pit_kernels::@k iterations(%n) ins(%x : memref<?x?xf16>) outs(%o : memref<?x?xf16>)
  %ok = arith.constant 0 : i32
  return %ok : i32
}

// -----

gpu.module @pit_kernels {
  gpu.func @k(%x: memref<3x100x257xf32>, %o: memref<3x400x257xf32>) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @k_hopper>} {
    gpu.return
  }
  gpu.func @k_hopper(%x: memref<3x100x257xf32>, %o: memref<3x400x257xf32>, %m0: !llvm.ptr) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 384, grid = tiles, tensor_maps = [<argument = 0, box = [1, 128, 32], swizzle = 128, along_k = 1, order = [0, 2, 1]>]>} {
    gpu.return
  }
}
// A copy that lies along k, wherever the operand lies. If all extents are known, so is
// whether it pays. Extents and strides have the order of the copy; there is no condition.
// CHECK-LABEL: func.func @transposed
// CHECK: scf.if
// CHECK-NOT: scf.if
// CHECK: func.call @pit_rt_alloc(%{{.*}}, %c308400_i64
// CHECK: llvm.store %{{.*}}, %[[VIEW:.*]] : i64
// CHECK: llvm.store %c3_i64
// CHECK: llvm.store %c25700_i64
// CHECK: llvm.store %c257_i64
// CHECK: llvm.store %c1_i64
// CHECK: llvm.store %c100_i64
// CHECK: llvm.store %c257_i64
// CHECK: func.call @pit_rt_pack_rows(%{{.*}}, %{{.*}}, %[[VIEW]], %c4_i32, %c3_i32, %{{.*}}, %c0_i32)
// CHECK: func.call @pit_rt_tensor_map(
func.func @transposed(%frame: !llvm.ptr {pit.frame}, %x: memref<3x100x257xf32>, %o: memref<3x400x257xf32>, %n: index) -> i32 {
  pit.launch @pit_kernels::@k iterations(%n) ins(%x : memref<3x100x257xf32>) outs(%o : memref<3x400x257xf32>)
  %ok = arith.constant 0 : i32
  return %ok : i32
}

// -----

gpu.module @pit_kernels {
  gpu.func @k(%x: memref<100x257xf32>, %o: memref<63x257xf32>) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @k_hopper>} {
    gpu.return
  }
  gpu.func @k_hopper(%x: memref<100x257xf32>, %o: memref<63x257xf32>, %m0: !llvm.ptr) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 384, grid = tiles, tensor_maps = [<argument = 0, box = [128, 32], swizzle = 128, along_k = 0, order = [1, 0]>]>} {
    gpu.return
  }
}
// 63 rows are too few for a copy of all of B: the portable kernel loads words as they lie.
// CHECK-LABEL: func.func @few_rows
// CHECK-NOT: {{scf.if|call @pit_rt_pack_rows}}
// CHECK: llvm.mlir.addressof @pit_kernel_name_k_{{[0-9a-f]+}} :
// CHECK: return
func.func @few_rows(%frame: !llvm.ptr {pit.frame}, %x: memref<100x257xf32>, %o: memref<63x257xf32>, %n: index) -> i32 {
  pit.launch @pit_kernels::@k iterations(%n) ins(%x : memref<100x257xf32>) outs(%o : memref<63x257xf32>)
  %ok = arith.constant 0 : i32
  return %ok : i32
}

// -----

gpu.module @pit_kernels {
  gpu.func @k(%x: memref<256x257xf16>, %o: memref<256x257xf16>) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 256, preferred = @k_hopper>} {
    gpu.return
  }
  gpu.func @k_hopper(%x: memref<256x257xf16>, %o: memref<256x257xf16>, %m0: !llvm.ptr, %m1: !llvm.ptr) kernel
      attributes {pit.launch_info = #pit.launch_info<threads = 384, grid = tiles, tensor_maps = [<argument = 0, box = [64, 64], swizzle = 128, along_k = 1>, <argument = 0, box = [32, 64], swizzle = 128, along_k = 1>]>} {
    gpu.return
  }
}
// One copy serves two descriptors. Its kernels run for the chosen variant alone.
// CHECK-LABEL: func.func @once
// CHECK-SAME: %[[CHOICE:[a-z0-9]+]]: !llvm.ptr, %[[FRAME:.*]]: !llvm.ptr {pit.frame}
// CHECK: %[[WORD:.*]] = llvm.load %[[CHOICE]]
// CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[WORD]]
// CHECK: %[[AT:.*]] = llvm.inttoptr %[[ADDRESS]]
// CHECK: func.call @pit_rt_pack_rows(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[AT]], %c0_i32)
// CHECK-NOT: call @pit_rt_pack_rows
// CHECK-COUNT-2: func.call @pit_rt_tensor_map(
func.func @once(%choice: !llvm.ptr, %frame: !llvm.ptr {pit.frame}, %x: memref<256x257xf16>, %o: memref<256x257xf16>, %n: index) -> i32 {
  pit.launch @pit_kernels::@k if(%choice : !llvm.ptr is 0) iterations(%n) ins(%x : memref<256x257xf16>) outs(%o : memref<256x257xf16>)
  %ok = arith.constant 0 : i32
  return %ok : i32
}
