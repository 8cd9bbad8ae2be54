// Tiles of few rows, computed transposed: the columns lie along the 64 rows of
// wgmma, and what the steps' ids select comes ahead through shared memory.

// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a --convert-pit-gpu-to-nvvm | FileCheck %s
// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a | FileCheck %s --check-prefix=LISTS
// RUN: pit-test-hopper-plan %s | FileCheck %s --check-prefix=PLAN

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module {
module @pit_kernels attributes {pit.kernels} {
  // Elements of A's rows that ids select: threads load words of two, and store
  // the halves along k. Lines of 32 elements are half as long.
  // PLAN-LABEL: {{^}}columns:
  // PLAN-NEXT: tile 512 x 32, 5 stages of 2 x 32, cluster 1
  // PLAN-NEXT: a: operand 1, 32 rows x 8 blocks by chunks, k along rows
  // PLAN-NEXT: b: operand 0, 32 rows x 1 blocks by elements, k along lines
  // PLAN-NEXT: in lines of 64 bytes
  // PLAN-NEXT: consumers: 4 wgmmas of 64 x 32, split along m
  // PLAN-NEXT: registers: 88, 208; arrivals: 256
  // If tiles are few, blocks share lists: each has a part of one, and adds up pieces of a tile.
  // LISTS-LABEL: gpu.func @columns_hopper(
  // LISTS: role "producers"
  // LISTS: %[[TILES:.*]] = pit_gpu.count_tiles
  // LISTS: %[[WHOLE:.*]], %[[SPLITS:.*]], %[[FIRST:.*]], %[[NUMBERS:.*]] = pit_gpu.share_lists %[[TILES]] among %{{.*}} worker %{{.*}} enough 4 least 384 most 132 {
  // LISTS: pit_gpu.yield %{{.*}}, %{{.*}} : i32, i32
  // LISTS: arith.cmpi slt, %[[FIRST]], %[[NUMBERS]]
  // LISTS: %{{.*}}, %[[SPLIT:.*]], %[[COUNT:.*]], %{{.*}} = pit_gpu.split_of %[[FIRST]] whole %[[WHOLE]] splits %[[SPLITS]] usually whole
  // LISTS: %[[BEGIN:.*]], %[[END:.*]], %{{.*}} = pit_gpu.steps_of_split %[[SPLIT]] of %[[COUNT]] in %{{.*}} by 32 : i32
  // LISTS: arith.subi %[[END]], %[[BEGIN]]
  // LISTS: role "consumers"
  // LISTS-COUNT-4: pit_gpu.store_partials {{.*}} of 64 thread %{{.*}} of 256 vector 4
  // LISTS: pit_gpu.await_splits
  // LISTS: pit_gpu.add_partials {{.*}} of 64 thread %{{.*}} of 256 vector 4 once 2 x 16
  // LISTS-LABEL: gpu.func @columns(
  // CHECK-LABEL: gpu.func @columns_hopper(
  // The producers: a group is known two tiles ahead.
  // CHECK: nvvm.setmaxregister decrease 88
  // CHECK: scf.for
  // CHECK: nvvm.barrier id = %{{.*}} number_of_threads
  // CHECK: nvvm.cp.async.shared.global {{.*}}, 4, cache = ca
  // CHECK: nvvm.cp.async.mbarrier.arrive {{.*}}noinc = true
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: scf.for
  // CHECK: llvm.load volatile
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK-COUNT-16: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
  // CHECK: nvvm.cp.async.mbarrier.arrive {{.*}}noinc = true
  // CHECK-NEXT: nvvm.cp.async.commit.group
  // CHECK: nvvm.cp.async.wait.group 7
  // CHECK-COUNT-4: llvm.load volatile {{.*}} -> vector<2xi32>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.prmt"
  // CHECK: nvvm.mbarrier.arrive
  // CHECK: nvvm.setmaxregister increase 208
  // CHECK-COUNT-8: nvvm.wgmma.mma_async {{.*}}, <m = 64, n = 32, k = 16>, {{.*}} A[<f16>, <one>, <col>], B[<f16>, <one>, <col>]
  // CHECK: nvvm.stmatrix {{.*}}layout = #nvvm.mma_layout<col>
  // CHECK-LABEL: gpu.func @columns(
  func.func @columns(%index: !pit.index<micro_tile = [32, 1], axis = 1>, %a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x?xf16>
    %n = memref.dim %b, %c1 : memref<?x?xf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (32, 512) {
      pit.mainloop step [] in %index[%i] chunk 64 : !pit.index<micro_tile = [32, 1], axis = 1> extra_maps [] into %o[%i, %j : index, index] : memref<?x?xf16> load {
      ^bb0(%ids: !pit.ids<64>, %pos: !pit.ids<64>):
        %x = pit.view %a[%i, %ids : index, !pit.ids<64>] pad(0.0 : f16) : memref<?x?xf16> -> vector<32x64xf16>
        %y = pit.view %b[%ids, %j : !pit.ids<64>, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<64x512xf16>
        pit.yield %x, %y : vector<32x64xf16>, vector<64x512xf16>
      } compute {
      ^bb0(%xt: vector<32x64xf16>, %yt: vector<64x512xf16>, %at: vector<32x512xf32>):
        %st = pit.contract %xt, %yt, %at tile [32, 512, 64] maps [#mk, #kn, #mn]
               : vector<32x64xf16>, vector<64x512xf16>, vector<32x512xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<32x512xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  // A packed: the positions of a step select its rows, without ids. Rows after a
  // group's last one are another group's, and are not loaded.
  // PLAN-LABEL: {{^}}packed:
  // PLAN-NEXT: tile 512 x 32, 6 stages of 2 x 32, cluster 1
  // PLAN-NEXT: a: operand 1, 32 rows x 8 blocks by chunks, k along rows
  // PLAN-NEXT: b: operand 0, 32 rows x 1 blocks by chunks, k along rows
  // PLAN-NEXT: in lines of 64 bytes
  // PLAN-NEXT: consumers: 4 wgmmas of 64 x 32, split along m
  // PLAN-NEXT: registers: 88, 208; arrivals: 128
  // CHECK-LABEL: gpu.func @packed_hopper(
  // The stages of the ids that there are: 32 in each.
  // CHECK: %[[MORE:.*]] = arith.addi %{{.*}}, %c31
  // CHECK: arith.divui %[[MORE]], %c32
  // CHECK: arith.minsi
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK-COUNT-17: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
  // CHECK: nvvm.cp.async.mbarrier.arrive {{.*}}noinc = true
  // CHECK: wgmma.mma_async {{.*}}, <m = 64, n = 32, k = 16>, {{.*}} A[<f16>, <one>, <col>], B[<f16>, <one>, <row>]
  // CHECK-LABEL: gpu.func @packed(
  func.func @packed(%index: !pit.index<micro_tile = [32, 1], axis = 1>, %a: memref<?x32xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %o, %c0 : memref<?x?xf16>
    %n = memref.dim %b, %c1 : memref<?x?xf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (32, 512) {
      pit.mainloop step [] in %index[%i] chunk 64 : !pit.index<micro_tile = [32, 1], axis = 1> extra_maps [] into %o[%i, %j : index, index] : memref<?x?xf16> load {
      ^bb0(%ids: !pit.ids<64>, %pos: !pit.ids<64>):
        %x = pit.view %a[%pos, %c0 : !pit.ids<64>, index] pad(0.0 : f16) : memref<?x32xf16> -> vector<64x32xf16>
        %y = pit.view %b[%ids, %j : !pit.ids<64>, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<64x512xf16>
        pit.yield %x, %y : vector<64x32xf16>, vector<64x512xf16>
      } compute {
      ^bb0(%xt: vector<64x32xf16>, %yt: vector<64x512xf16>, %at: vector<32x512xf32>):
        %st = pit.contract %xt, %yt, %at tile [32, 512, 64] maps [#km, #kn, #mn]
               : vector<64x32xf16>, vector<64x512xf16>, vector<32x512xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<32x512xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  // A stored along m: both operands are copied by chunks, and 16 columns make a
  // line of 32 bytes.
  // PLAN-LABEL: {{^}}stored_along_m:
  // PLAN-NEXT: tile 256 x 16, 6 stages of 1 x 64, cluster 1
  // PLAN-NEXT: a: operand 1, 64 rows x 4 blocks by chunks, k along rows
  // PLAN-NEXT: b: operand 0, 64 rows x 1 blocks by chunks, k along rows
  // PLAN-NEXT: in lines of 32 bytes
  // PLAN-NEXT: consumers: 2 wgmmas of 64 x 16, split along m
  // PLAN-NEXT: registers: 88, 208; arrivals: 128
  // CHECK-LABEL: gpu.func @stored_along_m_hopper(
  // CHECK: wgmma.mma_async {{.*}}, <m = 64, n = 16, k = 16>, {{.*}} A[<bf16>, <one>, <col>], B[<bf16>, <one>, <row>]
  // CHECK-LABEL: gpu.func @stored_along_m(
  func.func @stored_along_m(%index: !pit.index<micro_tile = [1, 16], axis = 0>, %a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %o: memref<?x?xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c1 : memref<?x?xbf16>
    %n = memref.dim %b, %c1 : memref<?x?xbf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (16, 256) {
      pit.mainloop step [] in %index[%i] chunk 64 : !pit.index<micro_tile = [1, 16], axis = 0> extra_maps [] into %o[%i, %j : index, index] : memref<?x?xbf16> load {
      ^bb0(%ids: !pit.ids<64>, %pos: !pit.ids<64>):
        %x = pit.view %a[%ids, %i : !pit.ids<64>, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x16xbf16>
        %y = pit.view %b[%ids, %j : !pit.ids<64>, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x256xbf16>
        pit.yield %x, %y : vector<64x16xbf16>, vector<64x256xbf16>
      } compute {
      ^bb0(%xt: vector<64x16xbf16>, %yt: vector<64x256xbf16>, %at: vector<16x256xf32>):
        %st = pit.contract %xt, %yt, %at tile [16, 256, 64] maps [#km, #kn, #mn]
               : vector<64x16xbf16>, vector<64x256xbf16>, vector<16x256xf32> {
        ^bb0(%p: bf16, %q: bf16, %acc: f32):
          %0 = arith.extf %p : bf16 to f32
          %1 = arith.extf %q : bf16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<16x256xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }
}
}
// PLAN: plans: ok
