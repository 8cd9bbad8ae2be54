// SRead of rows, by hand: y = x[ids] * w. Rows that ids select are copied by cp.async, w by TMA;
// both fill one stage.
//
// RUN: pit-opt %s --convert-pit-gpu-to-nvvm | FileCheck %s

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!b = !pit_gpu.tile<64x128xbf16, swizzle = 128>
!half = !pit_gpu.tile<64x64xbf16, swizzle = 128, pitch = 16384>
!ring = !pit_gpu.ring<4, [!a, !b]>
!stage = !pit_gpu.stage<[!a, !b]>
!map = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x128xf32>
!values = !pit_gpu.fragment<64x128xf32>
!narrow = !pit_gpu.fragment<64x128xbf16>

gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">] attributes {pit.kernels} {
  // CHECK-LABEL: gpu.func @gathered_product
  gpu.func @gathered_product(%x: memref<?x?xbf16>, %ids: memref<?xi32>, %w: memref<?x?xbf16>,
                             %y: memref<?x?xbf16>) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %rows = memref.dim %y, %c0 : memref<?x?xbf16>
    %cols = memref.dim %y, %c1 : memref<?x?xbf16>
    %depth = memref.dim %x, %c1 : memref<?x?xbf16>
    %of_w = pit_gpu.tensor_map %w : memref<?x?xbf16> -> !map
    // One arrival says how many bytes TMA brings, 128 threads arrive with their copies.
    // CHECK: %[[COUNT:.*]] = arith.constant 129 : i32
    // CHECK: nvvm.mbarrier.init %{{.*}}, %[[COUNT]]
    %ring = pit_gpu.ring full 129 empty 8 : !ring
    pit_gpu.roles {
      role "producers" warps 4 registers 56 {
        pit_gpu.tiles (%m, %n) to (%rows, %cols) step (128, 128) raster 8 carry (%used = %zero) -> i32 {
          %next = scf.for %k = %c0 to %depth step %c64 iter_args(%number = %used) -> i32 {
            // CHECK: nvvm.mbarrier.try_wait.parity
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
      role "consumers" warps 8 registers 224 {
        %group = pit_gpu.warpgroup : i32
        %c64_i32 = arith.constant 64 : i32
        %row = arith.muli %group, %c64_i32 : i32
        %row_index = arith.index_cast %row : i32 to index
        pit_gpu.tiles (%m, %n) to (%rows, %cols) step (128, 128) raster 8 carry (%used = %zero) -> i32 {
          %nothing = arith.constant 0.0 : f32
          %first = pit_gpu.splat %nothing : f32 -> !values
          %begin = pit_gpu.accumulate %first : !values -> !sums
          %none = ub.poison : !stage
          // wgmma reads what threads have written through another proxy.
          // CHECK: nvvm.mbarrier.try_wait.parity
          // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          // CHECK: nvvm.wgmma.mma_async
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
          %result = pit_gpu.map (%values : !values) -> !narrow {
          ^bb0(%i: i32, %j: i32, %value: f32):
            %rounded = arith.truncf %value : f32 to bf16
            pit_gpu.yield %rounded : bf16
          }
          %at = arith.addi %m, %row_index : index
          pit_gpu.store %result to %y[%at, %n] : !narrow, memref<?x?xbf16>
          pit_gpu.yield %next : i32
        }
      }
    }
    gpu.return
  }
}
