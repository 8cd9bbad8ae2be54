// The gradients of an attention by hand, of all three factors in one loop along the queries. A block has
// 128 keys. Scores and their slopes are computed transposed: they are first factors, in registers, of what
// is added to the gradients of values and keys. The slopes go through shared memory, too: that of queries
// sums those of both warpgroups. Its product of a step runs in the next one, so warpgroups wait for no
// slopes that have just been computed (as in FlashAttention-3, Shah et al., 2024). Its sums are added to
// memory by the warps that load. Logarithms of sums are in units of log(2), and `scale` has its reciprocal in it.
// They, and the sums of dy y, have rows of a multiple of 64.
//
// RUN: pit-opt %s --convert-pit-gpu-to-nvvm | FileCheck %s

!keys = !pit_gpu.tile<128x128xbf16, swizzle = 128>
!own = !pit_gpu.tile<64x128xbf16, swizzle = 128, pitch = 16384>
!columns = !pit_gpu.tile<128x64xbf16, swizzle = 128>
!queries = !pit_gpu.tile<64x128xbf16, swizzle = 128>
!rows = !pit_gpu.tile<64x64xbf16, swizzle = 128, pitch = 16384>
!added = !pit_gpu.tile<64x128xf32, swizzle = 128>
!half = !pit_gpu.tile<64x64xf32, swizzle = 128>
!ring_keys = !pit_gpu.ring<1, [!keys]>
!ring_queries = !pit_gpu.ring<2, [!queries]>
!ring_slopes = !pit_gpu.ring<2, [!columns]>
!ring_added = !pit_gpu.ring<1, [!added]>
!stage_keys = !pit_gpu.stage<[!keys]>
!stage_queries = !pit_gpu.stage<[!queries]>
!stage_slopes = !pit_gpu.stage<[!columns]>
!stage_added = !pit_gpu.stage<[!added]>
!map_keys = !pit_gpu.tensor_map<1x128x64xbf16, swizzle = 128>
!map_queries = !pit_gpu.tensor_map<1x64x64xbf16, swizzle = 128>
!map_added = !pit_gpu.tensor_map<1x64x32xf32, swizzle = 128>
!small = !pit_gpu.accumulator<64x64xf32>
!sums = !pit_gpu.accumulator<64x128xf32>
!scores = !pit_gpu.fragment<64x64xf32>
!factor = !pit_gpu.fragment<64x64xbf16>
!values = !pit_gpu.fragment<64x128xf32>
!tensor = memref<?x?x128xbf16>
!of_head = memref<?x128xf32, strided<[128, 1], offset: ?>>

gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">] attributes {pit.kernels} {
  // CHECK-LABEL: gpu.func @attention_gradients
  gpu.func @attention_gradients(%q: !tensor, %k: !tensor, %v: !tensor, %dy: !tensor, %logs: memref<?x?xf32>,
                                %delta: memref<?x?xf32>, %dq: memref<?x?x128xf32>, %dk: memref<?x128xf32>,
                                %dv: memref<?x128xf32>, %scale: f32) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %heads = memref.dim %q, %c0 : !tensor
    %queries = memref.dim %q, %c1 : !tensor
    %keys = memref.dim %k, %c1 : !tensor
    %of_q = pit_gpu.tensor_map %q : !tensor -> !map_queries
    %of_k = pit_gpu.tensor_map %k : !tensor -> !map_keys
    %of_v = pit_gpu.tensor_map %v : !tensor -> !map_keys
    %of_dy = pit_gpu.tensor_map %dy : !tensor -> !map_queries
    %of_dq = pit_gpu.tensor_map %dq : memref<?x?x128xf32> -> !map_added
    %ring_k = pit_gpu.ring full 1 empty 8 : !ring_keys
    %ring_v = pit_gpu.ring full 1 empty 8 : !ring_keys
    %ring_q = pit_gpu.ring full 1 empty 8 : !ring_queries
    %ring_dy = pit_gpu.ring full 1 empty 8 : !ring_queries
    %ring_s = pit_gpu.ring full 256 empty 8 : !ring_slopes
    %ring_dq = pit_gpu.ring full 256 empty 4 : !ring_added
    pit_gpu.roles {
      role "producers" warps 4 registers 24 {
        %three = arith.constant 3 : i32
        %lag = arith.constant 192 : index
        %steps = arith.ceildivui %queries, %c64 : index
        %end = arith.muli %steps, %c64 : index
        %from = arith.subi %end, %lag : index
        %first_left = arith.maxsi %from, %c0 : index
        pit_gpu.tiles (%n, %head) to (%keys, %heads) step (128, 1) raster 1024
            carry (%tile = %zero, %used = %zero) -> (i32, i32) {
          %sk = pit_gpu.acquire %ring_k[%tile] : !ring_keys -> !stage_keys
          pit_gpu.commit %sk after tma bytes 32768 : !stage_keys
          pit_gpu.load %of_k[%head, %n, %c0] into %sk[0] : !map_keys, !stage_keys
          %sv = pit_gpu.acquire %ring_v[%tile] : !ring_keys -> !stage_keys
          pit_gpu.commit %sv after tma bytes 32768 : !stage_keys
          pit_gpu.load %of_v[%head, %n, %c0] into %sv[0] : !map_keys, !stage_keys
          %next = scf.for %m = %c0 to %queries step %c64 iter_args(%number = %used) -> i32 {
            // The sums of three steps before come first: consumers wait for their stage before they give that of
            // queries back.
            %is_late = arith.cmpi sge, %m, %lag : index
            scf.if %is_late {
              %before = arith.subi %number, %three : i32
              %m_before = arith.subi %m, %lag : index
              // CHECK: nvvm.cp.async.bulk.tensor.reduce
              // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
              %sa = pit_gpu.wait %ring_dq[%before] : !ring_added -> !stage_added
              pit_gpu.add %sa[0] to %of_dq[%head, %m_before, %c0] : !stage_added, !map_added
              pit_gpu.release %sa : !stage_added
            }
            %sq = pit_gpu.acquire %ring_q[%number] : !ring_queries -> !stage_queries
            pit_gpu.commit %sq after tma bytes 16384 : !stage_queries
            pit_gpu.load %of_q[%head, %m, %c0] into %sq[0] : !map_queries, !stage_queries
            %sdy = pit_gpu.acquire %ring_dy[%number] : !ring_queries -> !stage_queries
            pit_gpu.commit %sdy after tma bytes 16384 : !stage_queries
            pit_gpu.load %of_dy[%head, %m, %c0] into %sdy[0] : !map_queries, !stage_queries
            %following = arith.addi %number, %one : i32
            scf.yield %following : i32
          }
          scf.for %m = %first_left to %queries step %c64 {
            %step = arith.divui %m, %c64 : index
            %step_i32 = arith.index_cast %step : index to i32
            %number = arith.addi %used, %step_i32 : i32
            %sa = pit_gpu.wait %ring_dq[%number] : !ring_added -> !stage_added
            pit_gpu.add %sa[0] to %of_dq[%head, %m, %c0] : !stage_added, !map_added
            pit_gpu.release %sa : !stage_added
          }
          %later = arith.addi %tile, %one : i32
          pit_gpu.yield %later, %next : i32, i32
        }
      }
      role "consumers" warps 8 registers 240 {
        %group = pit_gpu.warpgroup : i32
        %c64_i32 = arith.constant 64 : i32
        %own = arith.muli %group, %c64_i32 : i32
        %own_index = arith.index_cast %own : i32 to index
        %nothing = arith.constant 0.0 : f32
        %zeros = pit_gpu.splat %nothing : f32 -> !values
        %few_zeros = pit_gpu.splat %nothing : f32 -> !scores
        %empty = pit_gpu.accumulate %few_zeros : !scores -> !small
        %log2 = arith.constant 0.693147180559945 : f32
        %factor = arith.mulf %scale, %log2 : f32
        pit_gpu.tiles (%n, %head) to (%keys, %heads) step (128, 1) raster 1024
            carry (%tile = %zero, %used = %zero) -> (i32, i32) {
          %sk = pit_gpu.wait %ring_k[%tile] : !ring_keys -> !stage_keys
          %all_k = pit_gpu.tile %sk[0] : !stage_keys -> !keys
          %own_k = pit_gpu.subtile %all_k[%own, %zero] : !keys -> !own
          %columns_k = pit_gpu.subtile %all_k[%zero, %own] : !keys -> !columns
          %sv = pit_gpu.wait %ring_v[%tile] : !ring_keys -> !stage_keys
          %all_v = pit_gpu.tile %sv[0] : !stage_keys -> !keys
          %own_v = pit_gpu.subtile %all_v[%own, %zero] : !keys -> !own
          %left = arith.subi %keys, %n : index
          %left_i32 = arith.index_cast %left : index to i32
          %left_own = arith.subi %left_i32, %own : i32

          // The first step has no product for queries before it.
          %sq_0 = pit_gpu.wait %ring_q[%used] : !ring_queries -> !stage_queries
          %tile_q_0 = pit_gpu.tile %sq_0[0] : !stage_queries -> !queries
          %s_0 = pit_gpu.mma %own_k, %tile_q_0 transpose, %empty : !own, !queries, !small
          %sdy_0 = pit_gpu.wait %ring_dy[%used] : !ring_queries -> !stage_queries
          %tile_dy_0 = pit_gpu.tile %sdy_0[0] : !stage_queries -> !queries
          %dp_0 = pit_gpu.mma %own_v, %tile_dy_0 transpose, %empty : !own, !queries, !small
          %s_done_0 = pit_gpu.mma_wait pending 1 of %s_0 : !small -> !scores
          %p_0 = pit_gpu.map (%s_done_0 : !scores) -> !factor {
          ^bb0(%i: i32, %j: i32, %x: f32):
            %col = arith.index_cast %j : i32 to index
            %query = arith.addi %c0, %col : index
            %log = memref.load %logs[%head, %query] : memref<?x?xf32>
            %minus = arith.negf %log : f32
            %d = math.fma %x, %scale, %minus : f32
            %e = math.exp2 %d fastmath<afn> : f32
            %exists = arith.cmpi slt, %i, %left_own : i32
            %z = arith.select %exists, %e, %nothing : f32
            %b = arith.truncf %z : f32 to bf16
            pit_gpu.yield %b : bf16
          }
          %dv_acc_0 = pit_gpu.accumulate %zeros : !values -> !sums
          %dv_running_0 = pit_gpu.mma %p_0, %tile_dy_0, %dv_acc_0 : !factor, !queries, !sums
          %dp_done_0 = pit_gpu.mma_wait pending 1 of %dp_0 : !small -> !scores
          %g_0 = pit_gpu.map (%p_0, %dp_done_0 : !factor, !scores) -> !factor {
          ^bb0(%i: i32, %j: i32, %x: bf16, %y: f32):
            %col = arith.index_cast %j : i32 to index
            %query = arith.addi %c0, %col : index
            %mean = memref.load %delta[%head, %query] : memref<?x?xf32>
            %d = arith.subf %y, %mean : f32
            %w = arith.extf %x : bf16 to f32
            %z = arith.mulf %w, %d : f32
            %b = arith.truncf %z : f32 to bf16
            pit_gpu.yield %b : bf16
          }
          %to_0 = pit_gpu.acquire %ring_s[%used] : !ring_slopes -> !stage_slopes
          %to_all_0 = pit_gpu.tile %to_0[0] : !stage_slopes -> !columns
          %to_own_0 = pit_gpu.subtile %to_all_0[%own, %zero] : !columns -> !rows
          pit_gpu.local_store %g_0 into %to_own_0 : !factor, !rows
          pit_gpu.commit %to_0 after writes : !stage_slopes
          %dk_acc_0 = pit_gpu.accumulate %zeros : !values -> !sums
          %dk_running_0 = pit_gpu.mma %g_0, %tile_q_0, %dk_acc_0 : !factor, !queries, !sums
          %dv_first, %dk_first = pit_gpu.mma_wait pending 0 of %dv_running_0, %dk_running_0 : !sums, !sums -> !values, !values
          pit_gpu.release %sq_0 : !stage_queries
          pit_gpu.release %sdy_0 : !stage_queries
          %second = arith.addi %used, %one : i32
          %end:3 = scf.for %m = %c64 to %queries step %c64
              iter_args(%dk_sums = %dk_first, %dv_sums = %dv_first, %number = %second)
              -> (!values, !values, i32) {
            %sq = pit_gpu.wait %ring_q[%number] : !ring_queries -> !stage_queries
            %tile_q = pit_gpu.tile %sq[0] : !stage_queries -> !queries
            %s = pit_gpu.mma %own_k, %tile_q transpose, %empty : !own, !queries, !small
            %sdy = pit_gpu.wait %ring_dy[%number] : !ring_queries -> !stage_queries
            %tile_dy = pit_gpu.tile %sdy[0] : !stage_queries -> !queries
            %dp = pit_gpu.mma %own_v, %tile_dy transpose, %empty : !own, !queries, !small
            %s_done = pit_gpu.mma_wait pending 1 of %s : !small -> !scores
            %p = pit_gpu.map (%s_done : !scores) -> !factor {
            ^bb0(%i: i32, %j: i32, %x: f32):
              %col = arith.index_cast %j : i32 to index
              %query = arith.addi %m, %col : index
              %log = memref.load %logs[%head, %query] : memref<?x?xf32>
              %minus = arith.negf %log : f32
              %d = math.fma %x, %scale, %minus : f32
              %e = math.exp2 %d fastmath<afn> : f32
              %exists = arith.cmpi slt, %i, %left_own : i32
              %z = arith.select %exists, %e, %nothing : f32
              %b = arith.truncf %z : f32 to bf16
              pit_gpu.yield %b : bf16
            }
            %dv_acc = pit_gpu.accumulate %dv_sums : !values -> !sums
            %dv_running = pit_gpu.mma %p, %tile_dy, %dv_acc : !factor, !queries, !sums
            %earlier = arith.subi %number, %one : i32
            %ss = pit_gpu.wait %ring_s[%earlier] : !ring_slopes -> !stage_slopes
            %slopes = pit_gpu.tile %ss[0] : !stage_slopes -> !columns
            %dq_running = pit_gpu.mma %slopes transpose, %columns_k, %empty : !columns, !columns, !small
            %dp_done = pit_gpu.mma_wait pending 2 of %dp : !small -> !scores
            %g = pit_gpu.map (%p, %dp_done : !factor, !scores) -> !factor {
            ^bb0(%i: i32, %j: i32, %x: bf16, %y: f32):
              %col = arith.index_cast %j : i32 to index
              %query = arith.addi %m, %col : index
              %mean = memref.load %delta[%head, %query] : memref<?x?xf32>
              %d = arith.subf %y, %mean : f32
              %w = arith.extf %x : bf16 to f32
              %z = arith.mulf %w, %d : f32
              %b = arith.truncf %z : f32 to bf16
              pit_gpu.yield %b : bf16
            }
            %to = pit_gpu.acquire %ring_s[%number] : !ring_slopes -> !stage_slopes
            %to_all = pit_gpu.tile %to[0] : !stage_slopes -> !columns
            %to_own = pit_gpu.subtile %to_all[%own, %zero] : !columns -> !rows
            pit_gpu.local_store %g into %to_own : !factor, !rows
            pit_gpu.commit %to after writes : !stage_slopes
            %dk_acc = pit_gpu.accumulate %dk_sums : !values -> !sums
            %dk_running = pit_gpu.mma %g, %tile_q, %dk_acc : !factor, !queries, !sums
            %dv_done, %dq_done = pit_gpu.mma_wait pending 1 of %dv_running, %dq_running : !sums, !small -> !values, !scores
            pit_gpu.release %ss : !stage_slopes
            %sa = pit_gpu.acquire %ring_dq[%earlier] : !ring_added -> !stage_added
            %added = pit_gpu.tile %sa[0] : !stage_added -> !added
            %half = pit_gpu.subtile %added[%zero, %own] : !added -> !half
            pit_gpu.local_store %dq_done into %half : !scores, !half
            pit_gpu.commit %sa after writes : !stage_added
            %dk_done = pit_gpu.mma_wait pending 0 of %dk_running : !sums -> !values
            pit_gpu.release %sq : !stage_queries
            pit_gpu.release %sdy : !stage_queries
            %following = arith.addi %number, %one : i32
            scf.yield %dk_done, %dv_done, %following : !values, !values, i32
          }
          pit_gpu.release %sv : !stage_keys
          %last = arith.subi %end#2, %one : i32
          %ss = pit_gpu.wait %ring_s[%last] : !ring_slopes -> !stage_slopes
          %slopes = pit_gpu.tile %ss[0] : !stage_slopes -> !columns
          %dq_running = pit_gpu.mma %slopes transpose, %columns_k, %empty : !columns, !columns, !small
          %dq_done = pit_gpu.mma_wait pending 0 of %dq_running : !small -> !scores
          pit_gpu.release %ss : !stage_slopes
          pit_gpu.release %sk : !stage_keys
          %sa = pit_gpu.acquire %ring_dq[%last] : !ring_added -> !stage_added
          %added = pit_gpu.tile %sa[0] : !stage_added -> !added
          %half = pit_gpu.subtile %added[%zero, %own] : !added -> !half
          pit_gpu.local_store %dq_done into %half : !scores, !half
          pit_gpu.commit %sa after writes : !stage_added

          %dk_scaled = pit_gpu.map (%end#0 : !values) -> !values {
          ^bb0(%i: i32, %j: i32, %x: f32):
            %y = arith.mulf %x, %factor : f32
            pit_gpu.yield %y : f32
          }
          // Rows of all heads lie one below the other.
          %above = arith.muli %head, %keys : index
          %at_row = arith.addi %n, %own_index : index
          %dk_of_head = memref.subview %dk[%above, 0] [%keys, 128] [1, 1] : memref<?x128xf32> to !of_head
          pit_gpu.store %dk_scaled to %dk_of_head[%at_row, %c0] : !values, !of_head
          %dv_of_head = memref.subview %dv[%above, 0] [%keys, 128] [1, 1] : memref<?x128xf32> to !of_head
          pit_gpu.store %end#1 to %dv_of_head[%at_row, %c0] : !values, !of_head
          %later = arith.addi %tile, %one : i32
          pit_gpu.yield %later, %end#2 : i32, i32
        }
      }
    }
    gpu.return
  }
}
