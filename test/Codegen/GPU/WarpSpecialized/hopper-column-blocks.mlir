// Groups of an index that add to a result go through one column block of its columns after
// the other, so that the sums of a column block stay in the L2 cache.

// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a | FileCheck %s --check-prefix=PLAN
// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a --convert-pit-gpu-to-nvvm | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
!parts = !pit.index<micro_tile = [1, 64], axis = 0>
!routing = !pit.index<micro_tile = [1, 1], axis = 0>
module {
module @pit_kernels attributes {pit.kernels} {
  // PLAN-LABEL: func.func @parts(
  // PLAN: {schedules = [#pit.gpu_schedule<multiply = wgmma, tile = [128, 256], {{.*}}depth = 64, {{.*}}cluster = 2, column_blocks = 16,

  // Turns go on over the ends of groups and of column blocks. How many column blocks there are
  // follows from the extents; a column block is a whole number of pairs of tiles.
  // CHECK-LABEL: gpu.func @parts_hopper(
  // CHECK: nvvm.setmaxregister decrease
  // CHECK: %[[ROWS:.*]] = memref.dim %{{.*}}, %{{.*}} : memref<?x4096xf32>
  // CHECK: arith.ceildivui %{{.*}}, %c17476266 : index
  // CHECK: %[[PAIRS:.*]] = arith.maxsi {{.*}} : i32
  // CHECK: %[[COLS:.*]] = arith.muli %[[PAIRS]], %c2_i32
  // CHECK: scf.for %[[FIRST:.*]] = %c0_i32{{.*}} to %[[ALL:.*]] step %[[COLS]] iter_args(
  // CHECK-NEXT: %[[REST:.*]] = arith.subi %[[ALL]], %[[FIRST]] : i32
  // CHECK-NEXT: arith.minsi %[[COLS]], %[[REST]] : i32
  // CHECK: scf.for {{.*}} step %c32_i32{{.*}} iter_args
  // CHECK: nvvm.setmaxregister increase
  // CHECK-LABEL: gpu.func @parts(
  func.func @parts(%i: !parts, %a: memref<?x128xf16>, %b: memref<128x4096xf16>, %o: memref<?x4096xf32>) {
    %zero = arith.constant 0.0 : f32
    %k = arith.constant 128 : index
    %n = arith.constant 4096 : index
    %c0 = arith.constant 0 : index
    pit.forall (%j, %g) = (%c0, %c0) to (%n, %k) step (256, 64) conflicts(atomic) {
      pit.for %ids at %pos in %i[%g] : !parts chunk 128 {
        pit.mainloop step [] extra_maps [] into %o[%ids, %j : !pit.ids<128>, index] combine(addf) atomic : memref<?x4096xf32> load {
          %x = pit.view %a[%ids, %g : !pit.ids<128>, index] pad(0.0 : f16) : memref<?x128xf16> -> vector<128x64xf16>
          %y = pit.view %b[%g, %j : index, index] pad(0.0 : f16) : memref<128x4096xf16> -> vector<64x256xf16>
          pit.yield %x, %y : vector<128x64xf16>, vector<64x256xf16>
        } compute {
        ^bb0(%xt: vector<128x64xf16>, %yt: vector<64x256xf16>, %at: vector<128x256xf32>):
          %st = pit.contract %xt, %yt, %at tile [128, 256, 64] maps [#mk, #kn, #mn]
                 : vector<128x64xf16>, vector<64x256xf16>, vector<128x256xf32> {
          ^bb0(%p: f16, %q: f16, %acc: f32):
            %0 = arith.extf %p : f16 to f32
            %1 = arith.extf %q : f16 to f32
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
    }
    return
  }

  // A row of 1024 elements is read again for each column block, which saves less than that
  // of 2048 sums.
  // PLAN-LABEL: func.func @down(
  // PLAN: {schedules = [#pit.gpu_schedule<multiply = wgmma, tile = [128, 256], {{.*}}depth = 64, {{.*}}cluster = 2, shared_bytes
  func.func @down(%i: !routing, %a: memref<?x1024xf16>, %b: memref<1024x2048xf16>, %o: memref<?x2048xf32>) {
    %zero = arith.constant 0.0 : f32
    %k = arith.constant 1024 : index
    %n = arith.constant 2048 : index
    %experts = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    pit.forall (%e, %j) = (%c0, %c0) to (%experts, %n) step (1, 256) conflicts(atomic) {
      pit.for %ids at %pos in %i[%e] : !routing chunk 128 {
        pit.mainloop %c0 to %k step [64] extra_maps [] into %o[%ids, %j : !pit.ids<128>, index] combine(addf) atomic : memref<?x2048xf32> load {
        ^bb0(%s: index):
          %x = pit.view %a[%pos, %s : !pit.ids<128>, index] pad(0.0 : f16) : memref<?x1024xf16> -> vector<128x64xf16>
          %y = pit.view %b[%s, %j : index, index] pad(0.0 : f16) : memref<1024x2048xf16> -> vector<64x256xf16>
          pit.yield %x, %y : vector<128x64xf16>, vector<64x256xf16>
        } compute {
        ^bb0(%xt: vector<128x64xf16>, %yt: vector<64x256xf16>, %at: vector<128x256xf32>):
          %st = pit.contract %xt, %yt, %at tile [128, 256, 64] maps [#mk, #kn, #mn]
                 : vector<128x64xf16>, vector<64x256xf16>, vector<128x256xf32> {
          ^bb0(%p: f16, %q: f16, %acc: f32):
            %0 = arith.extf %p : f16 to f32
            %1 = arith.extf %q : f16 to f32
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
    }
    return
  }
}
}
