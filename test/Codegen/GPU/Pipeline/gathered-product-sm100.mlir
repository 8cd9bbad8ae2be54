// SRead of rows for sm_100a: y = x[ids] * w with sums in tensor memory. Rows that ids select are
// copied by cp.async, w by TMA; both fill one stage, and tensor cores give it back.
//
// RUN: pit-opt %s --convert-pit-gpu-to-nvvm | FileCheck %s
// RUN: pit-opt %s --pit-kernels-to-ptx | %python %S/../../../Inputs/ptx.py > %t.ptx
// RUN: %ptxas -arch=sm_100a -warn-spills -Werror %t.ptx -o %t.cubin

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!b = !pit_gpu.tile<64x128xbf16, swizzle = 128>
!ring = !pit_gpu.ring<4, [!a, !b]>
!stage = !pit_gpu.stage<[!a, !b]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<128x128xf32, tensor_memory>
!ring_of_sums = !pit_gpu.ring<2, [!sums]>
!stage_of_sums = !pit_gpu.stage<[!sums]>
!values = !pit_gpu.fragment<128x64xf32, warp_rows = 32>
!narrow = !pit_gpu.fragment<128x64xbf16, warp_rows = 32>

gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_100a", features = "+ptx87">] attributes {pit.kernels} {
  // CHECK-LABEL: gpu.func @gathered_product
  gpu.func @gathered_product(%x: memref<?x?xbf16>, %ids: memref<?xi32>, %w: memref<?x?xbf16>,
                             %y: memref<?x?xbf16>) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %nothing = arith.constant 0.0 : f32
    %rows = memref.dim %y, %c0 : memref<?x?xbf16>
    %cols = memref.dim %y, %c1 : memref<?x?xbf16>
    %depth = memref.dim %x, %c1 : memref<?x?xbf16>
    %of_w = pit_gpu.tensor_map %w : memref<?x?xbf16> -> !map
    // 2 x 128 columns
    // CHECK: %[[COLUMNS:.*]] = arith.constant 256 : i32
    // CHECK: nvvm.tcgen05.alloc %{{.*}}, %[[COLUMNS]]
    %ring = pit_gpu.ring full 129 empty 1 : !ring
    %ring_of_sums = pit_gpu.ring full 1 empty 4 : !ring_of_sums
    pit_gpu.roles {
      role "producers" warps 4 registers 56 {
        pit_gpu.tiles (%m, %n) to (%rows, %cols) step (128, 128) raster 8 carry (%used = %zero) -> i32 {
          %next = scf.for %k = %c0 to %depth step %c64 iter_args(%number = %used) -> i32 {
            // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
            // CHECK: nvvm.cp.async.shared.global
            // CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} {noinc = true}
            %s = pit_gpu.acquire %ring[%number] : !ring -> !stage
            pit_gpu.commit %s after tma bytes 16384 : !stage
            pit_gpu.load %of_w[%k, %n] into %s[1] : !map, !stage
            pit_gpu.gather %x rows %ids[%m] cols %k into %s[0] : memref<?x?xbf16>, memref<?xi32>, !stage
            pit_gpu.commit %s after copies : !stage
            %following = arith.addi %number, %one : i32
            scf.yield %following : i32
          }
          pit_gpu.yield %next : i32
        }
      }
      role "products" warps 4 registers 40 {
        pit_gpu.tiles (%m, %n) to (%rows, %cols) step (128, 128) raster 8
            carry (%used = %zero, %tile = %zero) -> (i32, i32) {
          %t = pit_gpu.acquire %ring_of_sums[%tile] : !ring_of_sums -> !stage_of_sums
          %acc = pit_gpu.tile %t[0] : !stage_of_sums -> !sums
          %next = scf.for %k = %c0 to %depth step %c64 iter_args(%number = %used) -> i32 {
            // Tensor cores read what threads have written through another proxy.
            // CHECK: nvvm.mbarrier.try_wait.parity
            // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
            // CHECK-COUNT-4: nvvm.tcgen05.mma
            // CHECK: nvvm.tcgen05.commit
            %s = pit_gpu.wait %ring[%number] : !ring -> !stage
            %a = pit_gpu.tile %s[0] : !stage -> !a
            %b = pit_gpu.tile %s[1] : !stage -> !b
            %later = arith.cmpi sgt, %k, %c0 : index
            pit_gpu.mma %a, %b, %acc adds if %later : !a, !b, !sums
            pit_gpu.release %s after products : !stage
            %following = arith.addi %number, %one : i32
            scf.yield %following : i32
          }
          pit_gpu.commit %t after products : !stage_of_sums
          %next_tile = arith.addi %tile, %one : i32
          pit_gpu.yield %next, %next_tile : i32, i32
        }
      }
      role "epilogue" warps 4 registers 168 {
        %any = arith.cmpi sgt, %depth, %c0 : index
        pit_gpu.tiles (%m, %n) to (%rows, %cols) step (128, 128) raster 8 carry (%tile = %zero) -> i32 {
          %t = pit_gpu.wait %ring_of_sums[%tile] : !ring_of_sums -> !stage_of_sums
          %acc = pit_gpu.tile %t[0] : !stage_of_sums -> !sums
          scf.for %col = %c0 to %c128 step %c64 {
            %from = arith.index_cast %col : index to i32
            %sums = pit_gpu.read %acc cols %from : !sums -> !values
            %values = pit_gpu.map (%sums : !values) -> !narrow {
            ^bb0(%i: i32, %j: i32, %value: f32):
              %sum = arith.select %any, %value, %nothing : f32
              %rounded = arith.truncf %sum : f32 to bf16
              pit_gpu.yield %rounded : bf16
            }
            %at = arith.addi %n, %col : index
            pit_gpu.store %values to %y[%m, %at] : !narrow, memref<?x?xbf16>
          }
          pit_gpu.release %t : !stage_of_sums
          %next = arith.addi %tile, %one : i32
          pit_gpu.yield %next : i32
        }
      }
    }
    gpu.return
  }
}
