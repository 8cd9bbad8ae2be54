// Hopper's schedule where ids say what is loaded; see hopper.mlir.

// RUN: pit-test-hopper-plan %s | FileCheck %s --check-prefix=PLAN
// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a --convert-pit-gpu-to-nvvm | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module {
module @pit_kernels attributes {pit.kernels} {
  // Gathered rows: a box each, 32 from each warp, found once a tile. As many fit
  // into the time that the tensor cores take.
  // PLAN-LABEL: {{^}}rows:
  // PLAN-NEXT: tile 128 x 256, 4 stages of 1 x 64, cluster 2
  // PLAN-NEXT: a: operand 0, 128 rows x 1 blocks by boxes of rows, k along lines
  // PLAN-NEXT: b: operand 1, 64 rows x 4 blocks by boxes, k along rows
  // PLAN-NEXT: consumers: 1 wgmmas of 64 x 256, split along m
  // PLAN-NEXT: registers: 72, 216; arrivals: 4
  // CHECK-LABEL: gpu.func @rows_hopper(
  // CHECK-SAME: tensor_maps = [<argument = 1, box = [1, 64], swizzle = 128, along_k = 1>, <argument = 2, box = [64, 64], swizzle = 128, along_k = 0>]
  // CHECK: nvvm.setmaxregister decrease 72
  // CHECK: scf.for
  // A warp whose rows do not exist loads none of them, and says so: it would wait
  // for the wrong round if it fell behind.
  // CHECK: %[[ROW_BYTES:.*]] = arith.select %[[HAS_ROWS:.*]], %c4096_i32
  // CHECK-COUNT-32: nvvm.shfl.sync
  // CHECK: nvvm.elect.sync
  // CHECK: scf.for
  // CHECK: %[[BOX_BYTES:.*]] = arith.select %[[LEADS:.*]], %c32768_i32
  // CHECK-NEXT: %[[BYTES:.*]] = arith.addi %[[ROW_BYTES]], %[[BOX_BYTES]]
  // CHECK-NEXT: llvm.inttoptr
  // CHECK-NEXT: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
  // CHECK: scf.if
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask
  // CHECK: scf.if %[[HAS_ROWS]]
  // CHECK-COUNT-32: nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK-NOT: nvvm.cp.async
  // CHECK: nvvm.setmaxregister increase 216
  // Nor does a consumer multiply them. Its first warp hands the stages back, the
  // others wait for it.
  // CHECK: %[[NONE:.*]] = arith.xori %{{.*}}, %true
  // CHECK-NEXT: scf.if %[[NONE]]
  // CHECK: %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %c1_i32
  // CHECK-NEXT: scf.if %[[FIRST]]
  // CHECK: scf.for
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: nvvm.mbarrier.arrive {{.*}}relaxed = true, scope = #nvvm.mem_scope<cluster>
  // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c128_i32
  // CHECK: nvvm.wgmma.mma_async
  // CHECK-LABEL: gpu.func @rows(
  func.func @rows(%index: !pit.index<micro_tile = [1, *], axis = 0>, %a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %o: memref<?x?xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %n = memref.dim %b, %c1 : memref<?x?xbf16>
    %K = memref.dim %a, %c1 : memref<?x?xbf16>
    pit.forall (%j) = (%c0) to (%n) step (256), %ids at %pos in %index : !pit.index<micro_tile = [1, *], axis = 0> chunk 128 {
      pit.mainloop %c0 to %K step [64] extra_maps [] into %o[%ids, %j : !pit.ids<128>, index] : memref<?x?xbf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%ids, %k : !pit.ids<128>, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<128x64xbf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x256xbf16>
        pit.yield %x, %y : vector<128x64xbf16>, vector<64x256xbf16>
      } compute {
      ^bb0(%xt: vector<128x64xbf16>, %yt: vector<64x256xbf16>, %at: vector<128x256xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 256, 64] maps [#mk, #kn, #mn]
               : vector<128x64xbf16>, vector<64x256xbf16>, vector<128x256xf32> {
        ^bb0(%p: bf16, %q: bf16, %acc: f32):
          %0 = arith.extf %p : bf16 to f32
          %1 = arith.extf %q : bf16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x256xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  // Half the columns, half the time: too little for 128 boxes. 16 bytes at a time.
  // Of the arrivals that fill a stage 128 are of the threads that copy. What they
  // wrote has to be made visible to wgmma.
  // PLAN-LABEL: {{^}}skinny_rows:
  // PLAN-NEXT: tile 128 x 128, 6 stages of 1 x 64, cluster 2
  // PLAN-NEXT: a: operand 0, 128 rows x 1 blocks by chunks, k along lines
  // PLAN-NEXT: b: operand 1, 64 rows x 2 blocks by boxes, k along rows
  // PLAN-NEXT: consumers: 1 wgmmas of 64 x 128, split along m
  // PLAN-NEXT: registers: 72, 216; arrivals: 129
  // CHECK-LABEL: gpu.func @skinny_rows_hopper(
  // CHECK: nvvm.setmaxregister decrease 72
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask
  // CHECK-NOT: nvvm.cp.async.bulk
  // CHECK-COUNT-8: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
  // CHECK-NEXT: llvm.inttoptr
  // CHECK-NEXT: nvvm.cp.async.mbarrier.arrive {{.*}}noinc = true
  // CHECK: nvvm.setmaxregister increase 216
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: nvvm.fence.proxy
  // CHECK: nvvm.wgmma.fence.aligned
  // CHECK-LABEL: gpu.func @skinny_rows(
  func.func @skinny_rows(%index: !pit.index<micro_tile = [1, *], axis = 0>, %a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %o: memref<?x?xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %n = memref.dim %b, %c1 : memref<?x?xbf16>
    %K = memref.dim %a, %c1 : memref<?x?xbf16>
    pit.forall (%j) = (%c0) to (%n) step (128), %ids at %pos in %index : !pit.index<micro_tile = [1, *], axis = 0> chunk 128 {
      pit.mainloop %c0 to %K step [64] extra_maps [] into %o[%ids, %j : !pit.ids<128>, index] : memref<?x?xbf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%ids, %k : !pit.ids<128>, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<128x64xbf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x128xbf16>
        pit.yield %x, %y : vector<128x64xbf16>, vector<64x128xbf16>
      } compute {
      ^bb0(%xt: vector<128x64xbf16>, %yt: vector<64x128xbf16>, %at: vector<128x128xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 128, 64] maps [#mk, #kn, #mn]
               : vector<128x64xbf16>, vector<64x128xbf16>, vector<128x128xf32> {
        ^bb0(%p: bf16, %q: bf16, %acc: f32):
          %0 = arith.extf %p : bf16 to f32
          %1 = arith.extf %q : bf16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x128xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  // Groups of rows, each with a matrix of its own: tiles of one group after
  // another, for as many blocks as there are, in clusters that share b.
  // PLAN-LABEL: {{^}}groups:
  // PLAN: a: operand 0, 128 rows x 1 blocks by boxes of rows
  // CHECK-LABEL: gpu.func @groups_hopper(
  // CHECK-SAME: grid = machine, cluster = 2
  // CHECK-SAME: tensor_maps = [<argument = 1, box = [1, 64], swizzle = 128, along_k = 1>, <argument = 3, box = [1, 64, 64], swizzle = 128, along_k = 1>]
  // CHECK: nvvm.setmaxregister decrease
  // Groups, tiles, stages.
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK-COUNT-32: nvvm.shfl.sync
  // CHECK: scf.for
  // CHECK: multicast_mask
  // CHECK: nvvm.setmaxregister increase
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: nvvm.wgmma.mma_async
  // CHECK: nvvm.mbarrier.arrive
  // CHECK-LABEL: gpu.func @groups(
  // CHECK-SAME: grid = groups
  func.func @groups(%index: !pit.index<micro_tile = [1, 1], axis = 0>, %a: memref<?x?xbf16>, %r: memref<?x?xbf16>, %b: memref<?x?x?xbf16>, %o: memref<?x?x?xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant 0.0 : f32
    %n = memref.dim %b, %c2 : memref<?x?x?xbf16>
    %e = memref.dim %r, %c1 : memref<?x?xbf16>
    %K = memref.dim %a, %c1 : memref<?x?xbf16>
    pit.forall (%j, %g) = (%c0, %c0) to (%n, %e) step (256, 1) {
      pit.for %ids at %pos in %index[%g] : !pit.index<micro_tile = [1, 1], axis = 0> chunk 128 {
        pit.mainloop %c0 to %K step [64] extra_maps [] into %o[%ids, %g, %j : !pit.ids<128>, index, index] : memref<?x?x?xbf16> load {
        ^bb0(%k: index):
          %x = pit.view %a[%ids, %k : !pit.ids<128>, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<128x64xbf16>
          %y = pit.view %b[%g, %k, %j : index, index, index] pad(0.0 : bf16) : memref<?x?x?xbf16> -> vector<1x64x256xbf16>
          pit.yield %x, %y : vector<128x64xbf16>, vector<1x64x256xbf16>
        } compute {
        ^bb0(%xt: vector<128x64xbf16>, %yt: vector<1x64x256xbf16>, %at: vector<128x1x256xf32>):
          %st = pit.contract %xt, %yt, %at tile [128, 256, 64, 1] maps [affine_map<(m, n, k, e) -> (m, k)>, affine_map<(m, n, k, e) -> (e, k, n)>, affine_map<(m, n, k, e) -> (m, e, n)>]
                 : vector<128x64xbf16>, vector<1x64x256xbf16>, vector<128x1x256xf32> {
          ^bb0(%p: bf16, %q: bf16, %acc: f32):
            %0 = arith.extf %p : bf16 to f32
            %1 = arith.extf %q : bf16 to f32
            %2 = arith.mulf %0, %1 : f32
            %3 = arith.addf %acc, %2 : f32
            pit.yield %3 : f32
          }
          pit.yield %st : vector<128x1x256xf32>
        } prologue {
          pit.yield %zero : f32
        } epilogue {
        ^bb0(%s: f32):
          pit.yield %s : f32
        }
      }
    }
    return
  }

  // Ids along k select rows of both operands: chunks only, and no bytes that TMA
  // would bring.
  // PLAN-LABEL: {{^}}columns:
  // PLAN-NEXT: tile 128 x 256, 4 stages of 1 x 64, cluster 1
  // PLAN-NEXT: a: operand 0, 64 rows x 2 blocks by chunks, k along rows
  // PLAN-NEXT: b: operand 1, 64 rows x 4 blocks by chunks, k along rows
  // PLAN-NEXT: consumers: 1 wgmmas of 64 x 256, split along m
  // PLAN-NEXT: registers: 88, 208; arrivals: 128
  // CHECK-LABEL: gpu.func @columns_hopper(
  // CHECK-NOT: expect_tx
  // CHECK-NOT: nvvm.cp.async.bulk
  // CHECK-COUNT-24: nvvm.cp.async.shared.global
  // CHECK-NEXT: llvm.inttoptr
  // CHECK-NEXT: nvvm.cp.async.mbarrier.arrive
  // CHECK-COUNT-24: nvvm.cp.async.shared.global
  // CHECK-NEXT: llvm.inttoptr
  // CHECK-NEXT: nvvm.cp.async.mbarrier.arrive
  // CHECK: nvvm.fence.proxy
  // CHECK-LABEL: gpu.func @columns(
  func.func @columns(%index: !pit.index<micro_tile = [1, 128], axis = 0>, %a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %o: memref<?x?xbf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c1 : memref<?x?xbf16>
    %n = memref.dim %b, %c1 : memref<?x?xbf16>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      pit.mainloop step [] in %index[%i] chunk 64 : !pit.index<micro_tile = [1, 128], axis = 0> extra_maps [] into %o[%i, %j : index, index] : memref<?x?xbf16> load {
      ^bb0(%ids: !pit.ids<64>, %pos: !pit.ids<64>):
        %x = pit.view %a[%ids, %i : !pit.ids<64>, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x128xbf16>
        %y = pit.view %b[%ids, %j : !pit.ids<64>, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x256xbf16>
        pit.yield %x, %y : vector<64x128xbf16>, vector<64x256xbf16>
      } compute {
      ^bb0(%xt: vector<64x128xbf16>, %yt: vector<64x256xbf16>, %at: vector<128x256xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 256, 64] maps [#km, #kn, #mn]
               : vector<64x128xbf16>, vector<64x256xbf16>, vector<128x256xf32> {
        ^bb0(%p: bf16, %q: bf16, %acc: f32):
          %0 = arith.extf %p : bf16 to f32
          %1 = arith.extf %q : bf16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<128x256xf32>
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
