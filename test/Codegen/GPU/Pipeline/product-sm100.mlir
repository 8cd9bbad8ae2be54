// The product of two matrices for sm_100a: sums lie in tensor memory, in a ring of two, so that one
// tile is stored while the next one is computed. It is assembled; no test runs it on a device.
//
// RUN: pit-opt %s --convert-pit-gpu-to-nvvm | FileCheck %s
// RUN: pit-opt %s --pit-kernels-to-ptx | %python %S/../../../Inputs/ptx.py > %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: %ptxas -arch=sm_100a -warn-spills -Werror %t.ptx -o %t.cubin

!a = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!b = !pit_gpu.tile<64x256xbf16, swizzle = 128>
!ring = !pit_gpu.ring<4, [!a, !b]>
!stage = !pit_gpu.stage<[!a, !b]>
!map_a = !pit_gpu.tensor_map<128x64xbf16, swizzle = 128>
!map_b = !pit_gpu.tensor_map<64x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<128x256xf32, tensor_memory>
!ring_of_sums = !pit_gpu.ring<2, [!sums]>
!stage_of_sums = !pit_gpu.stage<[!sums]>
!values = !pit_gpu.fragment<128x64xf32, warp_rows = 32>

gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_100a", features = "+ptx87">] attributes {pit.kernels} {
  // CHECK-LABEL: gpu.func @product
  // CHECK-SAME: known_block_size = array<i32: 384, 1, 1>
  // CHECK-SAME: pit.launch_info = #pit.launch_info<threads = 384, shared_bytes = 196712
  // A warp allocates all columns; the others read where they are.
  // CHECK: %[[COLUMNS:.*]] = arith.constant 512 : i32
  // CHECK: nvvm.tcgen05.alloc %{{.*}}, %[[COLUMNS]]
  // CHECK: nvvm.tcgen05.relinquish_alloc_permit
  // CHECK: nvvm.tcgen05.fence <before>
  // CHECK: nvvm.barrier
  // CHECK: nvvm.tcgen05.fence <after>
  // PTX: tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32
  gpu.func @product(%x: memref<?x?xbf16>, %w: memref<?x?xbf16>, %y: memref<?x?xf32>) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %nothing = arith.constant 0.0 : f32
    %rows = memref.dim %y, %c0 : memref<?x?xf32>
    %cols = memref.dim %y, %c1 : memref<?x?xf32>
    %depth = memref.dim %x, %c1 : memref<?x?xbf16>
    %of_x = pit_gpu.tensor_map %x : memref<?x?xbf16> -> !map_a
    %of_w = pit_gpu.tensor_map %w : memref<?x?xbf16> -> !map_b
    %ring = pit_gpu.ring full 1 empty 1 : !ring
    %ring_of_sums = pit_gpu.ring full 1 empty 4 : !ring_of_sums
    pit_gpu.roles {
      role "producers" warps 4 registers 40 {
        // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
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
      role "products" warps 4 registers 40 {
        pit_gpu.tiles (%m, %n) to (%rows, %cols) step (128, 256) raster 8
            carry (%used = %zero, %tile = %zero) -> (i32, i32) {
          // CHECK: nvvm.mbarrier.try_wait.parity
          // CHECK: nvvm.tcgen05.fence <after>
          %t = pit_gpu.acquire %ring_of_sums[%tile] : !ring_of_sums -> !stage_of_sums
          %acc = pit_gpu.tile %t[0] : !stage_of_sums -> !sums
          %next = scf.for %k = %c0 to %depth step %c64 iter_args(%number = %used) -> i32 {
            // One thread starts a product for each 16 elements along k. The first one replaces the
            // sums of the tile before.
            // CHECK: nvvm.mbarrier.try_wait.parity
            // CHECK: %[[LATER:.*]] = arith.cmpi sgt
            // CHECK: nvvm.elect.sync
            // 0x10 sums of f32, 0x480 factors of bf16, 0x10000 b is k x n, 256 columns, 128 rows
            // CHECK: %[[SHAPE:.*]] = arith.constant 138478736 : i32
            // CHECK: nvvm.tcgen05.mma %{{.*}}, %[[SHAPE]], %[[LATER]] {{.*}}kind = #nvvm.tcgen05_mma_kind<f16>
            // CHECK-COUNT-3: nvvm.tcgen05.mma %{{.*}}, %[[SHAPE]], %true
            // CHECK-NOT: nvvm.tcgen05.mma
            // CHECK: nvvm.tcgen05.commit
            // PTX: tcgen05.mma.cta_group::1.kind::f16
            // PTX: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64
            %s = pit_gpu.wait %ring[%number] : !ring -> !stage
            %a = pit_gpu.tile %s[0] : !stage -> !a
            %b = pit_gpu.tile %s[1] : !stage -> !b
            %later = arith.cmpi sgt, %k, %c0 : index
            pit_gpu.mma %a, %b, %acc adds if %later : !a, !b, !sums
            pit_gpu.release %s after products : !stage
            %following = arith.addi %number, %one : i32
            scf.yield %following : i32
          }
          // CHECK: nvvm.tcgen05.commit
          pit_gpu.commit %t after products : !stage_of_sums
          %next_tile = arith.addi %tile, %one : i32
          pit_gpu.yield %next, %next_tile : i32, i32
        }
      }
      role "epilogue" warps 4 registers 168 {
        %any = arith.cmpi sgt, %depth, %c0 : index
        pit_gpu.tiles (%m, %n) to (%rows, %cols) step (128, 256) raster 8 carry (%tile = %zero) -> i32 {
          // CHECK: nvvm.mbarrier.try_wait.parity
          // CHECK: nvvm.tcgen05.fence <after>
          %t = pit_gpu.wait %ring_of_sums[%tile] : !ring_of_sums -> !stage_of_sums
          %acc = pit_gpu.tile %t[0] : !stage_of_sums -> !sums
          // A warp has 32 lanes of its own, and loads 16 at once.
          // CHECK: scf.for
          // CHECK-COUNT-2: nvvm.tcgen05.ld %{{.*}} {shape = #nvvm.tcgen05_ldst_shape<shape_16x256b>} : vector<32xi32>
          // CHECK: llvm.inline_asm has_side_effects "tcgen05.wait::ld.sync.aligned;"
          // PTX: tcgen05.ld.sync.aligned.16x256b.x8.b32
          // PTX: tcgen05.wait::ld.sync.aligned
          scf.for %col = %c0 to %c256 step %c64 {
            %from = arith.index_cast %col : index to i32
            %sums = pit_gpu.read %acc cols %from : !sums -> !values
            %values = pit_gpu.map (%sums : !values) -> !values {
            ^bb0(%i: i32, %j: i32, %value: f32):
              %sum = arith.select %any, %value, %nothing : f32
              pit_gpu.yield %sum : f32
            }
            %at = arith.addi %n, %col : index
            pit_gpu.store %values to %y[%m, %at] : !values, memref<?x?xf32>
          }
          // CHECK: nvvm.tcgen05.fence <before>
          // CHECK: nvvm.mbarrier.arrive
          pit_gpu.release %t : !stage_of_sums
          %next = arith.addi %tile, %one : i32
          pit_gpu.yield %next : i32
        }
      }
    }
    // CHECK: nvvm.tcgen05.fence <before>
    // CHECK: nvvm.barrier
    // CHECK: nvvm.tcgen05.dealloc
    // PTX: tcgen05.dealloc.cta_group::1.sync.aligned.b32
    gpu.return
  }
}
