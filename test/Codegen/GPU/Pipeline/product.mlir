// The product of two matrices by hand: four warps copy by TMA, two warpgroups multiply by wgmma.
// docs/HopperKernel.md explains it line by line.
//
// RUN: pit-opt %s --convert-pit-gpu-to-nvvm | FileCheck %s

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!b = !pit_gpu.tile<64x256xbf16, swizzle = 128>
!half = !pit_gpu.tile<64x64xbf16, swizzle = 128, pitch = 16384>
!ring = !pit_gpu.ring<4, [!a, !b]>
!stage = !pit_gpu.stage<[!a, !b]>
!map_a = !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>
!map_b = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x256xf32>
!values = !pit_gpu.fragment<64x256xf32>

gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">] attributes {pit.kernels} {
  // CHECK-LABEL: gpu.func @product
  // CHECK-SAME: known_block_size = array<i32: 384, 1, 1>
  // CHECK: nvvm.setmaxregister decrease 40
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK: nvvm.setmaxregister increase 232
  // CHECK: nvvm.wgmma.mma_async
  gpu.func @product(%x: memref<?x?xbf16>, %w: memref<?x?xbf16>, %y: memref<?x?xf32>) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %rows = memref.dim %y, %c0 : memref<?x?xf32>
    %cols = memref.dim %y, %c1 : memref<?x?xf32>
    %depth = memref.dim %x, %c1 : memref<?x?xbf16>
    %of_x = pit_gpu.tensor_map %x : memref<?x?xbf16> -> !map_a
    %of_w = pit_gpu.tensor_map %w : memref<?x?xbf16> -> !map_b
    %ring = pit_gpu.ring full 1 empty 8 : !ring
    pit_gpu.roles {
      role "producers" warps 4 registers 40 {
        pit_gpu.tiles (%m, %n) to (%rows, %cols) step (128, 256) raster 8 carry (%used = %zero) -> i32 {
          %next = scf.for %k = %c0 to %depth step %c64 iter_args(%number = %used) -> i32 {
            %s = pit_gpu.acquire %ring[%number] : !ring -> !stage
            pit_gpu.commit %s after tma bytes 49152 : !stage
            pit_gpu.load %of_x[%m, %k] into %s[0] : !map_a, !stage
            pit_gpu.load %of_w[%k, %n] into %s[1] : !map_b, !stage
            %following = arith.addi %number, %one : i32
            scf.yield %following : i32
          }
          pit_gpu.yield %next : i32
        }
      }
      role "consumers" warps 8 registers 232 {
        %group = pit_gpu.warpgroup : i32
        %c64_i32 = arith.constant 64 : i32
        %row = arith.muli %group, %c64_i32 : i32
        %row_index = arith.index_cast %row : i32 to index
        pit_gpu.tiles (%m, %n) to (%rows, %cols) step (128, 256) raster 8 carry (%used = %zero) -> i32 {
          %nothing = arith.constant 0.0 : f32
          %first = pit_gpu.splat %nothing : f32 -> !values
          %begin = pit_gpu.accumulate %first : !values -> !sums
          %none = ub.poison : !stage
          %sums, %last, %next = scf.for %k = %c0 to %depth step %c64
              iter_args(%acc = %begin, %before = %none, %number = %used) -> (!sums, !stage, i32) {
            %s = pit_gpu.wait %ring[%number] : !ring -> !stage
            %a = pit_gpu.tile %s[0] : !stage -> !a
            %own = pit_gpu.subtile %a[%row, %zero] : !a -> !half
            %b = pit_gpu.tile %s[1] : !stage -> !b
            %more = pit_gpu.mma %own, %b, %acc : !half, !b, !sums
            pit_gpu.mma_wait pending 1
            %later = arith.cmpi sgt, %k, %c0 : index
            pit_gpu.release %before if %later : !stage
            %following = arith.addi %number, %one : i32
            scf.yield %more, %s, %following : !sums, !stage, i32
          }
          %values = pit_gpu.mma_wait pending 0 of %sums : !sums -> !values
          %any = arith.cmpi sgt, %depth, %c0 : index
          pit_gpu.release %last if %any : !stage
          %at = arith.addi %m, %row_index : index
          pit_gpu.store %values to %y[%at, %n] : !values, memref<?x?xf32>
          pit_gpu.yield %next : i32
        }
      }
    }
    gpu.return
  }
}
