// Tile bodies whose stages take most of a block's shared memory. Two stages may have all that a block of
// sm_90a has, and more stages a part of it.
//
// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a | FileCheck %s
// RUN: not pit-opt %s --pit-schedule-kernels=chip=sm_90 2>&1 | FileCheck %s --check-prefix=SM90
// SM90: error: 'pit.mainloop' op {{.*}}two stages and what is loaded once take 212992 of 204800 bytes of shared memory

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#tile = affine_map<(m, n) -> (m, n)>

module {
module @pit_kernels attributes {pit.kernels} {
  // CHECK-LABEL: func.func @tile_of_176_keys(
  // CHECK: schedules = [#pit.gpu_schedule<multiply = wgmma, tile = [128, 128], workers = [8, 1], producers = 4, stages = 2, shared_bytes = 213072>
  func.func @tile_of_176_keys(%a: memref<?x128xf16>, %b: memref<?x128xf16>, %c: memref<?x128xf16>, %o: memref<?x128xf32>) {
    %c0 = arith.constant 0 : index
    %m = memref.dim %a, %c0 : memref<?x128xf16>
    %n = memref.dim %c, %c0 : memref<?x128xf16>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i) = (%c0) to (%m) step (128) {
      %x = pit.view %a[%i, %c0 : index, index] pad(0.0 : f16) : memref<?x128xf16> -> vector<128x128xf16>
      pit.mainloop %c0 to %n step [176] invariants(%x : vector<128x128xf16>) extra_maps []
          into %o[%i, %c0 : index, index] body [128, 128] sums [#tile] : memref<?x128xf32> load {
      ^bb0(%j: index):
        %y = pit.view %b[%j, %c0 : index, index] pad(0.0 : f16) : memref<?x128xf16> -> vector<176x128xf16>
        %z = pit.view %c[%j, %c0 : index, index] pad(0.0 : f16) : memref<?x128xf16> -> vector<176x128xf16>
        pit.yield %y, %z : vector<176x128xf16>, vector<176x128xf16>
      } compute {
      ^bb0(%yt: vector<176x128xf16>, %zt: vector<176x128xf16>, %xt: vector<128x128xf16>, %at: vector<128x128xf32>):
        %first = pit.pointwise() tile [128, 176] maps [#tile] : () -> vector<128x176xf32> {
        ^bb0(%p: index, %q: index):
          pit.yield %zero : f32
        }
        %s = pit.contract %xt, %yt, %first tile [128, 176, 128] maps [#mk, #nk, #mn]
               : vector<128x128xf16>, vector<176x128xf16>, vector<128x176xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        %h = pit.pointwise(%s) tile [128, 176] maps [#tile, #tile] : (vector<128x176xf32>) -> vector<128x176xf16> {
        ^bb0(%p: index, %q: index, %e: f32):
          %0 = arith.maximumf %e, %zero : f32
          %1 = arith.truncf %0 : f32 to f16
          pit.yield %1 : f16
        }
        %t = pit.contract %h, %zt, %at tile [128, 128, 176] maps [#mk, #kn, #mn]
               : vector<128x176xf16>, vector<176x128xf16>, vector<128x128xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %t : vector<128x128xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%sum: f32):
        pit.yield %sum : f32
      }
    }
    return
  }

  // A third stage of these would take more than that part.
  // CHECK-LABEL: func.func @tile_of_112_keys(
  // CHECK: schedules = [#pit.gpu_schedule<multiply = wgmma, tile = [128, 128], workers = [8, 1], producers = 4, stages = 2, shared_bytes = 147536>
  func.func @tile_of_112_keys(%a: memref<?x128xf16>, %b: memref<?x128xf16>, %c: memref<?x128xf16>, %o: memref<?x128xf32>) {
    %c0 = arith.constant 0 : index
    %m = memref.dim %a, %c0 : memref<?x128xf16>
    %n = memref.dim %c, %c0 : memref<?x128xf16>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i) = (%c0) to (%m) step (128) {
      %x = pit.view %a[%i, %c0 : index, index] pad(0.0 : f16) : memref<?x128xf16> -> vector<128x128xf16>
      pit.mainloop %c0 to %n step [112] invariants(%x : vector<128x128xf16>) extra_maps []
          into %o[%i, %c0 : index, index] body [128, 128] sums [#tile] : memref<?x128xf32> load {
      ^bb0(%j: index):
        %y = pit.view %b[%j, %c0 : index, index] pad(0.0 : f16) : memref<?x128xf16> -> vector<112x128xf16>
        %z = pit.view %c[%j, %c0 : index, index] pad(0.0 : f16) : memref<?x128xf16> -> vector<112x128xf16>
        pit.yield %y, %z : vector<112x128xf16>, vector<112x128xf16>
      } compute {
      ^bb0(%yt: vector<112x128xf16>, %zt: vector<112x128xf16>, %xt: vector<128x128xf16>, %at: vector<128x128xf32>):
        %first = pit.pointwise() tile [128, 112] maps [#tile] : () -> vector<128x112xf32> {
        ^bb0(%p: index, %q: index):
          pit.yield %zero : f32
        }
        %s = pit.contract %xt, %yt, %first tile [128, 112, 128] maps [#mk, #nk, #mn]
               : vector<128x128xf16>, vector<112x128xf16>, vector<128x112xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        %h = pit.pointwise(%s) tile [128, 112] maps [#tile, #tile] : (vector<128x112xf32>) -> vector<128x112xf16> {
        ^bb0(%p: index, %q: index, %e: f32):
          %0 = arith.maximumf %e, %zero : f32
          %1 = arith.truncf %0 : f32 to f16
          pit.yield %1 : f16
        }
        %t = pit.contract %h, %zt, %at tile [128, 128, 112] maps [#mk, #kn, #mn]
               : vector<128x112xf16>, vector<112x128xf16>, vector<128x128xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %t : vector<128x128xf32>
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
