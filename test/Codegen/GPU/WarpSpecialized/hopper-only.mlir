// Products that the portable schedule does not take: it has no room for their accumulators.
// Where Hopper's takes one, the first kernel, for tensors that TMA does not take, computes
// tile by tile. Where none does, there is no mainloop any more.

// RUN: pit-opt %s --pit-schedule-kernels="chip=sm_90a explain" --verify-diagnostics | FileCheck %s
// RUN: sed s/expected-remark// %s | pit-opt --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a | FileCheck %s --check-prefix=GPU
// RUN: sed s/expected-remark// %s | pit-opt --pit-schedule-kernels=chip=sm_80 | FileCheck %s --check-prefix=OLD

#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#n = affine_map<(m, n) -> (n)>
#pkm = affine_map<(p, m, n, k) -> (p, k, m)>
#pkn = affine_map<(p, m, n, k) -> (p, k, n)>
#pmn = affine_map<(p, m, n, k) -> (m, n)>
!grouped = !pit.index<micro_tile = [1, 1], axis = 1>
!steps = !pit.index<micro_tile = [1, *], axis = 0>

// OLD-NOT: pit.mainloop
module {
module @pit_kernels attributes {pit.kernels} {
  // CHECK-LABEL: func.func @hopper(
  // CHECK: pit.mainloop
  // CHECK: schedules = [#pit.gpu_schedule<multiply = wgmma,
  // CHECK-NOT: , #pit.gpu_schedule
  // GPU-LABEL: gpu.func @hopper_hopper(
  // GPU: pit_gpu.mma
  // GPU-LABEL: gpu.func @hopper(
  // GPU-NOT: pit_gpu.{{roles|mma}}
  // GPU: scf.for
  // GPU: gpu.barrier
  func.func @hopper(%a: memref<?x?xf8E4M3FN>, %b: memref<?x?xf8E4M3FN>, %o: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %c1 : memref<?x?xf8E4M3FN>
    %K = memref.dim %a, %c0 : memref<?x?xf8E4M3FN>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 128) {
      // expected-remark @below {{kernel hopper has no portable schedule: a tile of 128 x 128 has more accumulators than 512 threads hold}}
      pit.mainloop %c0 to %K step [128] extra_maps [] into %o[%i, %j : index, index] : memref<?x?xf32> load {
      ^bb0(%k: index):
        %x = pit.view %a[%k, %i : index, index] pad(0.0 : f8E4M3FN) : memref<?x?xf8E4M3FN> -> vector<128x128xf8E4M3FN>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f8E4M3FN) : memref<?x?xf8E4M3FN> -> vector<128x128xf8E4M3FN>
        pit.yield %x, %y : vector<128x128xf8E4M3FN>, vector<128x128xf8E4M3FN>
      } compute {
      ^bb0(%xt: vector<128x128xf8E4M3FN>, %yt: vector<128x128xf8E4M3FN>, %at: vector<128x128xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 128, 128] maps [#km, #kn, #mn]
               : vector<128x128xf8E4M3FN>, vector<128x128xf8E4M3FN>, vector<128x128xf32> {
        ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %acc: f32):
          %u = arith.extf %p : f8E4M3FN to f32
          %v = arith.extf %q : f8E4M3FN to f32
          %2 = arith.mulf %u, %v : f32
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

  // Steps of an index, an operand of the epilogue, and bits.
  // CHECK-LABEL: func.func @neither(
  // CHECK-NOT: pit.mainloop
  // CHECK: pit.forall (%[[I:.*]], %[[J:.*]]) =
  // CHECK: %[[E:.*]] = memref.alloc() : memref<64xf32>
  // CHECK: pit.sread %[[V:.*]][%[[J]]] into %[[E]]
  // CHECK: %[[SUM:.*]] = memref.alloc() : memref<64x64xf32>
  // CHECK: linalg.generic {{.*}}"parallel", "parallel"]} ins(%[[E]] : memref<64xf32>) outs(%[[SUM]] :
  // CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}} : {{.*}} chunk 32 {
  // CHECK: %[[X:.*]] = memref.alloc() : memref<32x64xf8E4M3FN>
  // CHECK: pit.sread %{{.*}}[%[[IDS]] : !pit.ids<32>, %[[I]]] into %[[X]] pad(
  // CHECK: %[[Y:.*]] = memref.alloc() : memref<32x64xf8E4M3FN>
  // CHECK: pit.sread %{{.*}}[%[[IDS]] : !pit.ids<32>, %[[J]]] into %[[Y]] pad(
  // CHECK: linalg.generic {{.*}}"parallel", "parallel", "reduction"]} ins(%[[X]], %[[Y]] : {{.*}}) outs(%[[SUM]] :
  // CHECK: arith.mulf
  // CHECK: arith.addf
  // CHECK: }
  // CHECK: %[[OUT:.*]] = memref.alloc() : memref<64x64xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[SUM]], %[[E]] : {{.*}}) outs(%[[OUT]] :
  // CHECK: arith.addf
  // CHECK: pit.swrite %[[OUT]] into %[[O:.*]][%[[I]], %[[J]]]
  // CHECK: pit.scan %[[O]][%[[I]], %[[J]] : index, index] tile [64, 64] background(0.000000e+00 : f32) into
  // GPU-LABEL: gpu.func @neither(
  func.func @neither(%a: memref<?x?xf8E4M3FN>, %b: memref<?x?xf8E4M3FN>, %v: memref<?xf32>, %list: !steps,
                     %o: memref<?x?xf32>, %bitmap: memref<?x?xi8>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.dim %a, %c1 : memref<?x?xf8E4M3FN>
    %n = memref.dim %b, %c1 : memref<?x?xf8E4M3FN>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (64, 64) {
      %e = pit.view %v[%j : index] : memref<?xf32> -> vector<64xf32>
      // expected-remark @below {{kernel neither has no portable schedule: a tile of 64 x 64 has more accumulators than 512 threads hold}}
      // expected-remark @below {{kernel neither computes tile by tile, as Hopper's schedule does not take it either: ids select elements of a row}}
      pit.mainloop step [] in %list[] chunk 32 : !steps extras(%e : vector<64xf32>) extra_maps [#n]
          into %o[%i, %j : index, index] bitmap(%bitmap : memref<?x?xi8>) background(0.0 : f32) : memref<?x?xf32> load {
      ^bb0(%ids: !pit.ids<32>, %pos: !pit.ids<32>):
        %x = pit.view %a[%ids, %i : !pit.ids<32>, index] pad(0.0 : f8E4M3FN) : memref<?x?xf8E4M3FN> -> vector<32x64xf8E4M3FN>
        %y = pit.view %b[%ids, %j : !pit.ids<32>, index] pad(0.0 : f8E4M3FN) : memref<?x?xf8E4M3FN> -> vector<32x64xf8E4M3FN>
        pit.yield %x, %y : vector<32x64xf8E4M3FN>, vector<32x64xf8E4M3FN>
      } compute {
      ^bb0(%xt: vector<32x64xf8E4M3FN>, %yt: vector<32x64xf8E4M3FN>, %at: vector<64x64xf32>):
        %st = pit.contract %xt, %yt, %at tile [64, 64, 32] maps [#km, #kn, #mn]
               : vector<32x64xf8E4M3FN>, vector<32x64xf8E4M3FN>, vector<64x64xf32> {
        ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %acc: f32):
          %u = arith.extf %p : f8E4M3FN to f32
          %w = arith.extf %q : f8E4M3FN to f32
          %2 = arith.mulf %u, %w : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<64x64xf32>
      } prologue {
      ^bb0(%g: f32):
        %zero = arith.constant 0.0 : f32
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32, %g: f32):
        %t = arith.addf %s, %g : f32
        pit.yield %t : f32
      }
    }
    return
  }

  // Each step has a group of its own.
  // CHECK-LABEL: func.func @groups(
  // CHECK-NOT: pit.mainloop
  // CHECK: pit.for (%[[J:.*]]) = (%{{.*}}) to (%{{.*}}) step (1) {
  // CHECK: %[[GROUP:.*]] = affine.apply #{{.*}}(%[[J]])
  // CHECK: pit.for %[[IDS:.*]] at %{{.*}} in %{{.*}}[%[[GROUP]]] : {{.*}} chunk 32 {
  // CHECK: pit.sread %{{.*}}[%[[J]], %[[IDS]] : !pit.ids<32>, %{{.*}}] into
  // CHECK: pit.sread %{{.*}}[%[[J]], %[[IDS]] : !pit.ids<32>, %{{.*}}] into
  // CHECK: linalg.generic {{.*}}"reduction", "parallel", "parallel", "reduction"]}
  // GPU-LABEL: gpu.func @groups(
  func.func @groups(%a: memref<?x?x?xf8E4M3FN>, %b: memref<?x?x?xf8E4M3FN>, %list: !grouped, %o: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %points = memref.dim %a, %c0 : memref<?x?x?xf8E4M3FN>
    %m = memref.dim %a, %c2 : memref<?x?x?xf8E4M3FN>
    %n = memref.dim %b, %c2 : memref<?x?x?xf8E4M3FN>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (64, 64) {
      // expected-remark @below {{kernel groups has no portable schedule: a tile of 64 x 64 has more accumulators than 512 threads hold}}
      // expected-remark @below {{kernel groups computes tile by tile, as Hopper's schedule does not take it either: ids select elements of a row}}
      pit.mainloop %c0 to %points step [1] in %list[] chunk 32 : !grouped extra_maps []
          into %o[%i, %j : index, index] : memref<?x?xf32> load {
      ^bb0(%p: index, %ids: !pit.ids<32>, %pos: !pit.ids<32>):
        %x = pit.view %a[%p, %ids, %i : index, !pit.ids<32>, index] pad(0.0 : f8E4M3FN) : memref<?x?x?xf8E4M3FN> -> vector<1x32x64xf8E4M3FN>
        %y = pit.view %b[%p, %ids, %j : index, !pit.ids<32>, index] pad(0.0 : f8E4M3FN) : memref<?x?x?xf8E4M3FN> -> vector<1x32x64xf8E4M3FN>
        pit.yield %x, %y : vector<1x32x64xf8E4M3FN>, vector<1x32x64xf8E4M3FN>
      } compute {
      ^bb0(%xt: vector<1x32x64xf8E4M3FN>, %yt: vector<1x32x64xf8E4M3FN>, %at: vector<64x64xf32>):
        %st = pit.contract %xt, %yt, %at tile [1, 64, 64, 32] maps [#pkm, #pkn, #pmn]
               : vector<1x32x64xf8E4M3FN>, vector<1x32x64xf8E4M3FN>, vector<64x64xf32> {
        ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %acc: f32):
          %u = arith.extf %p : f8E4M3FN to f32
          %w = arith.extf %q : f8E4M3FN to f32
          %2 = arith.mulf %u, %w : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<64x64xf32>
      } prologue {
        %zero = arith.constant 0.0 : f32
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      } groups {
      ^bb0(%p: index):
        %at = affine.apply affine_map<(d0) -> (d0 + 1)>(%p)
        pit.yield %at : index
      }
    }
    return
  }
}
}
