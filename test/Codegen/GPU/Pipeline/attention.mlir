// Attention by hand: o = softmax(q * k^T * scale) * v, for each head, with powers of 2: the scale
// has the logarithm in it. The product with v of one step runs on the tensor cores while the
// powers of the next step are computed (Shah et al., FlashAttention-3, 2024, section 3.2).
//
// RUN: pit-opt %s --convert-pit-gpu-to-nvvm | FileCheck %s

!q = !pit_gpu.tile<128x128xbf16, swizzle = 128>
!own = !pit_gpu.tile<64x128xbf16, swizzle = 128, pitch = 16384>
!once = !pit_gpu.ring<1, [!q]>
!ring = !pit_gpu.ring<2, [!q]>
!stage = !pit_gpu.stage<[!q]>
!map = !pit_gpu.tensor_map<1x128x64xbf16, swizzle = 128>
!sums = !pit_gpu.accumulator<64x128xf32>
!values = !pit_gpu.fragment<64x128xf32>
!narrow = !pit_gpu.fragment<64x128xbf16>
!column = !pit_gpu.fragment<64x1xf32>
!tensor = memref<?x?x128xbf16>

gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">] attributes {pit.kernels} {
  // CHECK-LABEL: gpu.func @attention
  gpu.func @attention(%q: !tensor, %k: !tensor, %v: !tensor, %o: memref<?x128xf32>, %scale: f32) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %heads = memref.dim %q, %c0 : !tensor
    %rows = memref.dim %q, %c1 : !tensor
    %keys = memref.dim %k, %c1 : !tensor
    %of_q = pit_gpu.tensor_map %q : !tensor -> !map
    %of_k = pit_gpu.tensor_map %k : !tensor -> !map
    %of_v = pit_gpu.tensor_map %v : !tensor -> !map
    %ring_q = pit_gpu.ring full 1 empty 8 : !once
    %ring_k = pit_gpu.ring full 1 empty 8 : !ring
    %ring_v = pit_gpu.ring full 1 empty 8 : !ring
    pit_gpu.roles {
      role "producers" warps 4 registers 24 {
        pit_gpu.tiles (%m, %head) to (%rows, %heads) step (128, 1) raster 1024
            carry (%tile = %zero, %used = %zero) -> (i32, i32) {
          %sq = pit_gpu.acquire %ring_q[%tile] : !once -> !stage
          pit_gpu.commit %sq after tma bytes 32768 : !stage
          pit_gpu.load %of_q[%head, %m, %c0] into %sq[0] : !map, !stage
          %next = scf.for %n = %c0 to %keys step %c128 iter_args(%number = %used) -> i32 {
            %sk = pit_gpu.acquire %ring_k[%number] : !ring -> !stage
            pit_gpu.commit %sk after tma bytes 32768 : !stage
            pit_gpu.load %of_k[%head, %n, %c0] into %sk[0] : !map, !stage
            %sv = pit_gpu.acquire %ring_v[%number] : !ring -> !stage
            pit_gpu.commit %sv after tma bytes 32768 : !stage
            pit_gpu.load %of_v[%head, %n, %c0] into %sv[0] : !map, !stage
            %following = arith.addi %number, %one : i32
            scf.yield %following : i32
          }
          %later = arith.addi %tile, %one : i32
          pit_gpu.yield %later, %next : i32, i32
        }
      }
      role "consumers" warps 8 registers 240 {
        %group = pit_gpu.warpgroup : i32
        %c64_i32 = arith.constant 64 : i32
        %row = arith.muli %group, %c64_i32 : i32
        %row_index = arith.index_cast %row : i32 to index
        %nothing = arith.constant 0.0 : f32
        %lowest = arith.constant -1.0e30 : f32
        %zeros = pit_gpu.splat %nothing : f32 -> !values
        %empty = pit_gpu.accumulate %zeros : !values -> !sums
        %minus = arith.negf %scale : f32
        %keys_i32 = arith.index_cast %keys : index to i32
        pit_gpu.tiles (%m, %head) to (%rows, %heads) step (128, 1) raster 1024
            carry (%tile = %zero, %used = %zero) -> (i32, i32) {
          %sq = pit_gpu.wait %ring_q[%tile] : !once -> !stage
          %all_q = pit_gpu.tile %sq[0] : !stage -> !q
          %own = pit_gpu.subtile %all_q[%row, %zero] : !q -> !own

          // The first step has no product with v before it.
          %sk = pit_gpu.wait %ring_k[%used] : !ring -> !stage
          %tile_k = pit_gpu.tile %sk[0] : !stage -> !q
          %scores = pit_gpu.mma %own, %tile_k transpose, %empty : !own, !q, !sums
          %ready = pit_gpu.mma_wait pending 0 of %scores : !sums -> !values
          pit_gpu.release %sk : !stage
          %is_part = arith.cmpi slt, %keys, %c128 : index
          %scaled = scf.if %is_part -> !values {
            %masked = pit_gpu.map (%ready : !values) -> !values {
            ^bb0(%i: i32, %j: i32, %x: f32):
              %exists = arith.cmpi slt, %j, %keys_i32 : i32
              %z = arith.select %exists, %x, %lowest : f32
              pit_gpu.yield %z : f32
            }
            scf.yield %masked : !values
          } else {
            scf.yield %ready : !values
          }
          %max = pit_gpu.reduce_rows %scaled : !values -> !column {
          ^bb0(%x: f32, %y: f32):
            %z = arith.maxnumf %x, %y : f32
            pit_gpu.yield %z : f32
          }
          %offset = pit_gpu.map (%max : !column) -> !column {
          ^bb0(%i: i32, %j: i32, %x: f32):
            %y = arith.mulf %x, %minus : f32
            pit_gpu.yield %y : f32
          }
          %p = pit_gpu.map (%scaled, %offset : !values, !column) -> !values {
          ^bb0(%i: i32, %j: i32, %x: f32, %y: f32):
            %d = math.fma %x, %scale, %y : f32
            %e = math.exp2 %d fastmath<afn> : f32
            pit_gpu.yield %e : f32
          }
          %sum = pit_gpu.reduce_rows %p : !values -> !column {
          ^bb0(%x: f32, %y: f32):
            %z = arith.addf %x, %y : f32
            pit_gpu.yield %z : f32
          }
          %power = pit_gpu.map (%p : !values) -> !narrow {
          ^bb0(%i: i32, %j: i32, %x: f32):
            %y = arith.truncf %x : f32 to bf16
            pit_gpu.yield %y : bf16
          }
          %second = arith.addi %used, %one : i32
          %end:5 = scf.for %n = %c128 to %keys step %c128
              iter_args(%out = %zeros, %before = %power, %top = %max, %total = %sum,
                        %number = %second)
              -> (!values, !narrow, !column, !column, i32) {
            %tk = pit_gpu.wait %ring_k[%number] : !ring -> !stage
            %next_k = pit_gpu.tile %tk[0] : !stage -> !q
            %earlier = arith.subi %number, %one : i32
            %tv = pit_gpu.wait %ring_v[%earlier] : !ring -> !stage
            %tile_v = pit_gpu.tile %tv[0] : !stage -> !q
            %acc = pit_gpu.accumulate %out : !values -> !sums
            %next_scores, %more = pit_gpu.hand_over -> !sums, !sums {
              %qk = pit_gpu.mma %own, %next_k transpose, %empty : !own, !q, !sums
              %pv = pit_gpu.mma %before, %tile_v, %acc : !narrow, !q, !sums
              pit_gpu.yield %qk, %pv : !sums, !sums
            }
            %next_ready = pit_gpu.mma_wait pending 1 of %next_scores : !sums -> !values
            pit_gpu.release %tk : !stage
            %n_i32 = arith.index_cast %n : index to i32
            %left = arith.subi %keys, %n : index
            %is_edge = arith.cmpi slt, %left, %c128 : index
            %next_scaled = scf.if %is_edge -> !values {
              %masked = pit_gpu.map (%next_ready : !values) -> !values {
              ^bb0(%i: i32, %j: i32, %x: f32):
                %at = arith.addi %n_i32, %j : i32
                %exists = arith.cmpi slt, %at, %keys_i32 : i32
                %z = arith.select %exists, %x, %lowest : f32
                pit_gpu.yield %z : f32
              }
              scf.yield %masked : !values
            } else {
              scf.yield %next_ready : !values
            }
            %step_max = pit_gpu.reduce_rows %next_scaled : !values -> !column {
            ^bb0(%x: f32, %y: f32):
              %z = arith.maxnumf %x, %y : f32
              pit_gpu.yield %z : f32
            }
            %next_max = pit_gpu.map (%top, %step_max : !column, !column) -> !column {
            ^bb0(%i: i32, %j: i32, %x: f32, %y: f32):
              %z = arith.maxnumf %x, %y : f32
              pit_gpu.yield %z : f32
            }
            %factor = pit_gpu.map (%top, %next_max : !column, !column) -> !column {
            ^bb0(%i: i32, %j: i32, %x: f32, %y: f32):
              %u = arith.subf %x, %y : f32
              %d = arith.mulf %u, %scale : f32
              %e = math.exp2 %d fastmath<afn> : f32
              pit_gpu.yield %e : f32
            }
            %next_offset = pit_gpu.map (%next_max : !column) -> !column {
            ^bb0(%i: i32, %j: i32, %x: f32):
              %y = arith.mulf %x, %minus : f32
              pit_gpu.yield %y : f32
            }
            %next_p = pit_gpu.map (%next_scaled, %next_offset : !values, !column) -> !values {
            ^bb0(%i: i32, %j: i32, %x: f32, %y: f32):
              %d = math.fma %x, %scale, %y : f32
              %e = math.exp2 %d fastmath<afn> : f32
              pit_gpu.yield %e : f32
            }
            %step_sum = pit_gpu.reduce_rows %next_p : !values -> !column {
            ^bb0(%x: f32, %y: f32):
              %z = arith.addf %x, %y : f32
              pit_gpu.yield %z : f32
            }
            %next_sum = pit_gpu.map (%total, %factor, %step_sum : !column, !column, !column) -> !column {
            ^bb0(%i: i32, %j: i32, %x: f32, %f: f32, %y: f32):
              %z = math.fma %x, %f, %y : f32
              pit_gpu.yield %z : f32
            }
            %next_power = pit_gpu.map (%next_p : !values) -> !narrow {
            ^bb0(%i: i32, %j: i32, %x: f32):
              %y = arith.truncf %x : f32 to bf16
              pit_gpu.yield %y : bf16
            }
            // CHECK: wgmma.wait_group.sync.aligned 1;
            // CHECK: wgmma.wait_group.sync.aligned 0;
            %done = pit_gpu.mma_wait pending 0 of %more : !sums -> !values
            pit_gpu.release %tv : !stage
            %next_out = pit_gpu.map (%done, %factor : !values, !column) -> !values {
            ^bb0(%i: i32, %j: i32, %x: f32, %f: f32):
              %y = arith.mulf %x, %f : f32
              pit_gpu.yield %y : f32
            }
            %following = arith.addi %number, %one : i32
            scf.yield %next_out, %next_power, %next_max, %next_sum, %following
                : !values, !narrow, !column, !column, i32
          }
          pit_gpu.release %sq : !stage
          %last = arith.subi %end#4, %one : i32
          %sv = pit_gpu.wait %ring_v[%last] : !ring -> !stage
          %last_v = pit_gpu.tile %sv[0] : !stage -> !q
          %last_acc = pit_gpu.accumulate %end#0 : !values -> !sums
          %all = pit_gpu.mma %end#1, %last_v, %last_acc : !narrow, !q, !sums
          %result = pit_gpu.mma_wait pending 0 of %all : !sums -> !values
          pit_gpu.release %sv : !stage
          %divided = pit_gpu.map (%result, %end#3 : !values, !column) -> !values {
          ^bb0(%i: i32, %j: i32, %x: f32, %y: f32):
            %z = arith.divf %x, %y : f32
            pit_gpu.yield %z : f32
          }
          // Rows of all heads lie one below the other.
          %above = arith.muli %head, %rows : index
          %of_head = memref.subview %o[%above, 0] [%rows, 128] [1, 1]
              : memref<?x128xf32> to memref<?x128xf32, strided<[128, 1], offset: ?>>
          %at_row = arith.addi %m, %row_index : index
          pit_gpu.store %divided to %of_head[%at_row, %c0]
              : !values, memref<?x128xf32, strided<[128, 1], offset: ?>>
          %later = arith.addi %tile, %one : i32
          pit_gpu.yield %later, %end#4 : i32, i32
        }
      }
    }
    gpu.return
  }
}
