// A tile body by warps of two roles: what each of them does, in which order.

// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a | FileCheck %s

// Threads copy what is no box: rows whose elements have gaps.
// RUN: sed -e 's/memref<64x?xf16>/memref<64x?xf16, strided<[1, ?]>>/g' %s | pit-opt --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a | FileCheck %s --check-prefix=GAPS
// GAPS: pit_gpu.tensor_map %arg0
// GAPS-NEXT: pit_gpu.ring full 1 empty 8
// GAPS-NEXT: pit_gpu.ring full 256 empty 8
// GAPS-NEXT: pit_gpu.tensor_map %arg2
// GAPS: role "workers" warps 8 registers 224 {
// GAPS: role "producers" warps 4 registers 56 {
// GAPS: pit_gpu.commit %{{.*}} after copies
// GAPS: pit_gpu.commit %{{.*}} after writes

// If steps go through lists, what is loaded once has two places: short lists would wait for it.
// RUN: sed -e 's/%o: memref<?x64xf32>) {/%o: memref<?x64xf32>, %index: !pit.index<micro_tile = [128, 1], axis = 1>) {/;s/pit.mainloop %c0 to %n step .64./pit.mainloop step [] in %index[%i] chunk 64 : !pit.index<micro_tile = [128, 1], axis = 1>/;s/^      ^bb0(%j: index):/      ^bb0(%j: !pit.ids<64>, %k: !pit.ids<64>):/;s/%b.%c0, %j : index, index/%b[%c0, %j : index, !pit.ids<64>/;s/%c.%j, %c0 : index, index/%c[%j, %c0 : !pit.ids<64>, index/;s/memref<64x?xf16>/memref<64x?xf16, strided<[1, ?]>>/g' %s | pit-opt --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a | FileCheck %s --check-prefix=LISTS
// LISTS: pit_gpu.ring full 1 empty 8 : <2, [<128x64xf16, swizzle = 128>]>
// LISTS: pit_gpu.ring full 256 empty 8 : <3, [<64x64xf16, swizzle = 128>]>

// Tiles with fewer steps later: every other round goes from the last block to the first.
// RUN: sed -e 's/pit.mainloop %c0 to %n/pit.mainloop %i to %n/' %s | pit-opt --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a | FileCheck %s --check-prefix=ROUNDS
// ROUNDS: role "workers"
// ROUNDS: %[[SPACE:.*]] = pit_gpu.tile_space
// ROUNDS: %[[TOTAL:.*]] = pit_gpu.count_tiles %[[SPACE]]
// ROUNDS: %[[WHOLE:.*]] = arith.divui %[[TOTAL]], %[[BLOCKS:[^ ]*]]
// ROUNDS: %[[REST:.*]] = arith.remui %[[TOTAL]], %[[BLOCKS]]
// ROUNDS: arith.andi %[[WHOLE]], %c1
// ROUNDS: %[[ROUNDS:.*]] = arith.addi %[[WHOLE]]
// ROUNDS: scf.for %[[ROUND:[^ ]*]] = %{{.*}} to %[[ROUNDS]]
// ROUNDS: %[[FIRST:.*]] = arith.muli %[[ROUND]], %[[BLOCKS]]
// ROUNDS: arith.andi %[[ROUND]]
// ROUNDS: %[[BEHIND:.*]] = arith.subi %[[BLOCKS]], %[[BLOCK:[^ ]*]]
// ROUNDS: %[[PLACE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[BLOCK]]
// ROUNDS: %[[NUMBER:.*]] = arith.addi %[[FIRST]], %[[PLACE]]
// ROUNDS: pit_gpu.tile_of %[[NUMBER]]

// Of few rows, and outer dimensions, all tiles of a column are taken before the next column's. The row that the
// space has is one of both.
// RUN: sed -e 's/pit.mainloop %c0 to %n/pit.mainloop %i to %n/;s/pit.forall (%i) = (%c0) to (%m) step (128)/pit.forall (%batch, %head, %i) = (%c0, %c0, %c0) to (%n, %m, %m) step (1, 1, 128)/' %s | pit-opt --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: role "workers"
// COLUMNS: %[[ROWS:.*]] = arith.muli %[[BATCHES:.*]], %[[HEADS:.*]] : index
// COLUMNS: %[[SPACE:.*]] = pit_gpu.tile_space(%[[ROWS]], %{{.*}}) rows 0 cols 1 by cols : index, index
// COLUMNS: %[[TILE:.*]]:2 = pit_gpu.tile_of %{{.*}} in %[[SPACE]]
// COLUMNS: arith.remui %[[TILE]]#0, %[[HEADS]]
// COLUMNS: arith.divui %[[TILE]]#0, %[[HEADS]]

// Of many rows that have nothing in common, bands are gone through.
// RUN: sed -e 's/pit.mainloop %c0 to %n/pit.mainloop %i to %n/;s/pit.forall (%i) = (%c0) to (%m) step (128)/pit.forall (%batch, %head, %i) = (%c0, %c0, %c0) to (%n, %heads, %m) step (1, 1, 128)/;s/%b.%c0, %j/%b[%head, %j/;s/%c.%j, %c0/%c[%j, %head/;s/^    %m = memref.dim %a, .*/&\n    %heads = arith.constant 32 : index/' %s | pit-opt --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a | FileCheck %s --check-prefix=MANY
// MANY: role "workers"
// MANY: %[[ROWS:.*]] = arith.muli %{{.*}}, %c32{{.*}} : index
// MANY: pit_gpu.tile_space(%[[ROWS]], %{{.*}}) rows 0 cols 1 by bands of 11 : index, index

// If later tiles have more steps, or ids or bounds of their own say how many, blocks take the next tile that none has. The first one is that of the block's
// number. A thread of the producers counts a tile ahead; both roles get the number through shared memory.
// RUN: sed -e 's/pit.mainloop %c0 to %n/pit.mainloop %c0 to %i/' %s | pit-opt --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a | FileCheck %s --check-prefix=TAKEN
// TAKEN: gpu.func @wide_tile_body_hopper({{.*}}, %[[COUNTERS:[^:]*]]: i64) kernel {{.*}}grid = taken
// TAKEN: %[[RING:.*]] = pit_gpu.ring full 128 empty 12 : <2, []>
// TAKEN: %[[NUMBERS:.*]] = pit_gpu.shared 8 : i32
// TAKEN: role "workers"
// TAKEN: %[[SPACE:.*]] = pit_gpu.tile_space
// TAKEN: %[[COUNT:.*]] = pit_gpu.count_tiles %[[SPACE]]
// TAKEN: %[[TOTAL:.*]] = arith.index_cast %[[COUNT]]
// TAKEN: %[[ID:.*]] = gpu.block_id x
// TAKEN: %[[BLOCK:.*]] = arith.index_cast %[[ID]]
// TAKEN: scf.while (%{{[^ ]*}} = %[[BLOCK]], %{{.*}}) : (i32, i32, i32)
// TAKEN-NEXT: %[[LEFT:.*]] = arith.cmpi ult, %{{.*}}, %[[TOTAL]]
// TAKEN-NEXT: scf.condition(%[[LEFT]])
// TAKEN: ^bb0(%[[NUMBER:.*]]: i32, %[[TILE:.*]]: i32, %{{.*}}: i32)
// TAKEN: %[[AT:.*]] = arith.index_cast %[[NUMBER]]
// TAKEN: pit_gpu.tile_of %[[AT]] in %[[SPACE]]
// TAKEN-NOT: llvm.atomicrmw
// TAKEN: %[[STAGE:.*]] = pit_gpu.wait %[[RING]][%[[TILE]]]
// TAKEN: llvm.load volatile
// TAKEN: %[[NEXT:.*]] = nvvm.shfl.sync
// TAKEN: %[[KNOWN:.*]] = arith.cmpi sge, %[[NEXT]]
// TAKEN: pit_gpu.release %[[STAGE]] if %[[KNOWN]]
// TAKEN: scf.yield %[[NEXT]]
// TAKEN: role "producers"
// TAKEN: scf.while
// TAKEN: llvm.atomicrmw uinc_wrap
// TAKEN: %[[OWN:.*]] = pit_gpu.acquire %[[RING]]
// TAKEN: llvm.store
// TAKEN: pit_gpu.commit %[[OWN]] after writes
// TAKEN: pit_gpu.wait %[[RING]]

// Rows of all outer dimensions are those of one space. Bands have as many as the L2 cache has room for what their steps
// read, and begin with the tiles of the most steps.
// RUN: sed -e 's/pit.mainloop %c0 to %n/pit.mainloop %c0 to %i/;s/pit.forall (%i) = (%c0) to (%m) step (128)/pit.forall (%batch, %head, %i) = (%c0, %c0, %c0) to (%n, %m, %m) step (1, 1, 128)/' %s | pit-opt --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a | FileCheck %s --check-prefix=JOINED
// JOINED: role "workers"
// JOINED: %[[ROWS:.*]] = arith.muli %[[BATCHES:.*]], %[[HEADS:.*]] : index
// JOINED: %[[CACHE:.*]] = arith.constant 33554432
// JOINED: %[[FIT:.*]] = arith.divui %[[CACHE]],
// JOINED: %[[LEAST:.*]] = arith.maxsi %[[FIT]],
// JOINED: %[[HEIGHT:.*]] = arith.muli %[[LEAST]],
// JOINED: %[[SPACE:.*]] = pit_gpu.tile_space(%[[ROWS]], %{{.*}}) rows 0 cols 1 by bands height %[[HEIGHT]] : index last first : index, index
// JOINED: %[[TILE:.*]]:2 = pit_gpu.tile_of %{{.*}} in %[[SPACE]]
// JOINED: arith.remui %[[TILE]]#0, %[[HEADS]]
// JOINED: arith.divui %[[TILE]]#0, %[[HEADS]]

// Steps whose comparisons of places hold have a loop of their own. Each step says of the next one whether they do; one of
// which they do not stands behind that loop, in another one. What is computed of it has comparisons.
// RUN: sed -e '/^  /s/%0 = arith.maximumf %e, %zero : f32/%2 = arith.cmpi sle, %q, %n : index\n          %3 = arith.select %2, %e, %zero : f32\n          %0 = arith.maximumf %3, %zero : f32/' %s | pit-opt --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a | FileCheck %s --check-prefix=HOLDS
// HOLDS: role "workers"
// HOLDS: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// HOLDS: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// HOLDS: %[[IS_LEFT:.*]] = arith.cmpi
// HOLDS-NEXT: %[[GOES_ON:.*]] = arith.andi %[[IS_LEFT]]
// HOLDS-NEXT: scf.condition(%[[GOES_ON]])
// HOLDS: arith.cmpi sge
// HOLDS-NOT: arith.cmpi sle
// HOLDS: scf.yield
// HOLDS: scf.if
// HOLDS: pit_gpu.map
// HOLDS: arith.cmpi sle, {{.*}} : index
// HOLDS-NEXT: arith.select
// HOLDS: role "producers"

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#tile = affine_map<(m, n) -> (m, n)>

// CHECK: gpu.func @wide_tile_body_hopper({{.*}}pit.launch_info = #pit.launch_info<threads = 384, grid = tiles, pdl = true>
// Each tile has a ring of its own, and is a box of its tensor.
// CHECK: %[[MAP_A:.*]] = pit_gpu.tensor_map %arg0 : memref<?x64xf16> -> <128x64xf16, swizzle = 128>
// CHECK: %[[A:.*]] = pit_gpu.ring full 1 empty 8 : <1, [<128x64xf16, swizzle = 128>]>
// CHECK: %[[MAP_B:.*]] = pit_gpu.tensor_map %arg1 : memref<64x?xf16> -> <64x64xf16, swizzle = 128>
// CHECK: %[[B:.*]] = pit_gpu.ring full 1 empty 8 : <3, [<64x64xf16, swizzle = 128>]>
// CHECK: %[[MAP_C:.*]] = pit_gpu.tensor_map %arg2 : memref<?x64xf16> -> <64x64xf16, swizzle = 128>
// CHECK: %[[C:.*]] = pit_gpu.ring full 1 empty 8 : <3, [<64x64xf16, swizzle = 128>]>

// Workers wait for what is loaded once. They carry how many tiles and steps the block had.
// CHECK: role "workers" warps 8 registers 240 {
// CHECK: scf.for {{.*}} iter_args(%[[TILE:.*]] = %{{.*}}, %[[USED:.*]] = %{{.*}}) -> (i32, i32)
// CHECK: %[[ONCE:.*]] = pit_gpu.wait %[[A]][%[[TILE]]]

// The first step starts no late contraction.
// CHECK: %[[FIRST:.*]] = pit_gpu.wait %[[B]][%[[USED]]]
// CHECK: pit_gpu.hand_over
// CHECK: pit_gpu.subtile
// CHECK: pit_gpu.splat
// CHECK: pit_gpu.mma
// CHECK-NOT: pit_gpu.mma {{.*}}
// CHECK: pit_gpu.mma_wait pending 0
// CHECK: pit_gpu.release %[[FIRST]]

// The others start their first contraction, then the late one of the step before, in one turn, and
// wait for the first one alone.
// CHECK: scf.for
// CHECK: %[[LOADED_B:.*]] = pit_gpu.wait %[[B]]
// CHECK: %[[LOADED_C:.*]] = pit_gpu.wait %[[C]]
// CHECK: %[[TURN:.*]]:2 = pit_gpu.hand_over
// CHECK: pit_gpu.mma
// CHECK: pit_gpu.mma {{.*}} : !pit_gpu.fragment<64x64xf16>
// CHECK: pit_gpu.mma_wait pending 1 of %[[TURN]]#0
// CHECK: pit_gpu.release %[[LOADED_B]]
// The factor of the step before is there until its products are done; then there is a new one.
// CHECK-NOT: arith.truncf
// CHECK: pit_gpu.mma_wait pending 0 of %[[TURN]]#1
// CHECK: pit_gpu.release %[[LOADED_C]]
// CHECK: %[[FACTOR:.*]] = pit_gpu.map({{.*}}) -> <64x64xf16>
// CHECK: arith.truncf
// CHECK: scf.yield %{{.*}}, %[[FACTOR]] : !pit_gpu.fragment<64x64xf32>, !pit_gpu.fragment<64x64xf16>

// The last step's is behind the loop. It does not read what is loaded once, which is given back before.
// CHECK: pit_gpu.release %[[ONCE]]
// CHECK: %[[LAST:.*]] = pit_gpu.wait %[[C]]
// CHECK: pit_gpu.mma {{.*}} : !pit_gpu.fragment<64x64xf16>
// CHECK: pit_gpu.mma_wait pending 0
// CHECK: pit_gpu.release %[[LAST]]

// Producers only issue boxes, in the order in which workers need them.
// CHECK: role "producers" warps 4 registers 24 {
// CHECK: scf.if
// CHECK: pit_gpu.acquire %[[B]]
// CHECK: %[[STAGE_A:.*]] = pit_gpu.acquire %[[A]]
// CHECK: pit_gpu.commit %[[STAGE_A]] after tma bytes 16384
// CHECK: pit_gpu.load %[[MAP_A]]
// CHECK: scf.for
// CHECK: %[[STAGE_B:.*]] = pit_gpu.acquire %[[B]]
// CHECK: pit_gpu.commit %[[STAGE_B]] after tma bytes 8192
// CHECK: pit_gpu.load %[[MAP_B]]
// CHECK: %[[STAGE_C:.*]] = pit_gpu.acquire %[[C]]
// CHECK: pit_gpu.load %[[MAP_C]]
// CHECK: scf.if
// CHECK: pit_gpu.acquire %[[C]]

// If TMA cannot describe a tensor, all warps load.
// CHECK: gpu.func @wide_tile_body({{.*}}preferred = @wide_tile_body_hopper
// CHECK-NOT: nvvm.setmaxregister

module {
module @pit_kernels attributes {pit.kernels} {
  func.func @wide_tile_body(%a: memref<?x64xf16>, %b: memref<64x?xf16>, %c: memref<?x64xf16>, %o: memref<?x64xf32>) {
    %c0 = arith.constant 0 : index
    %m = memref.dim %a, %c0 : memref<?x64xf16>
    %n = memref.dim %c, %c0 : memref<?x64xf16>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i) = (%c0) to (%m) step (128) {
      %x = pit.view %a[%i, %c0 : index, index] pad(0.0 : f16) : memref<?x64xf16> -> vector<128x64xf16>
      pit.mainloop %c0 to %n step [64] invariants(%x : vector<128x64xf16>) extra_maps []
          into %o[%i, %c0 : index, index] body [128, 64] sums [#tile] : memref<?x64xf32> load {
      ^bb0(%j: index):
        %y = pit.view %b[%c0, %j : index, index] pad(0.0 : f16) : memref<64x?xf16> -> vector<64x64xf16>
        %z = pit.view %c[%j, %c0 : index, index] pad(0.0 : f16) : memref<?x64xf16> -> vector<64x64xf16>
        pit.yield %y, %z : vector<64x64xf16>, vector<64x64xf16>
      } compute {
      ^bb0(%yt: vector<64x64xf16>, %zt: vector<64x64xf16>, %xt: vector<128x64xf16>, %at: vector<128x64xf32>):
        %first = pit.pointwise() tile [128, 64] maps [#tile] : () -> vector<128x64xf32> {
        ^bb0(%p: index, %q: index):
          pit.yield %zero : f32
        }
        %s = pit.contract %xt, %yt, %first tile [128, 64, 64] maps [#mk, #kn, #mn]
               : vector<128x64xf16>, vector<64x64xf16>, vector<128x64xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        %h = pit.pointwise(%s) tile [128, 64] maps [#tile, #tile] : (vector<128x64xf32>) -> vector<128x64xf16> {
        ^bb0(%p: index, %q: index, %e: f32):
          %0 = arith.maximumf %e, %zero : f32
          %1 = arith.truncf %0 : f32 to f16
          pit.yield %1 : f16
        }
        %t = pit.contract %h, %zt, %at tile [128, 64, 64] maps [#mk, #kn, #mn]
               : vector<128x64xf16>, vector<64x64xf16>, vector<128x64xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %t : vector<128x64xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%sum: f32):
        pit.yield %sum : f32
      }
    }
    return
  }
}
}
