// Why the warps of a tile body by wgmma have no roles.

// RUN: pit-opt %s --pit-schedule-kernels='chip=sm_90a explain' --verify-diagnostics -o /dev/null

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#tile = affine_map<(m, n) -> (m, n)>
module {
module @pit_kernels attributes {pit.kernels} {
  // Sums of 256 columns are 128 registers of a thread; three warpgroups have 160 each.
  func.func @registers(%a: memref<?x64xf16>, %b: memref<64x?xf16>, %c: memref<?x256xf16>, %o: memref<?x256xf32>) {
    %c0 = arith.constant 0 : index
    %m = memref.dim %a, %c0 : memref<?x64xf16>
    %n = memref.dim %c, %c0 : memref<?x256xf16>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i) = (%c0) to (%m) step (192) {
      %x = pit.view %a[%i, %c0 : index, index] pad(0.0 : f16) : memref<?x64xf16> -> vector<192x64xf16>
      // expected-remark @+1 {{kernel registers has no warps that only load: a worker takes 200 registers, and has 160 beside warps that only load}}
      pit.mainloop %c0 to %n step [64] invariants(%x : vector<192x64xf16>) extra_maps []
          into %o[%i, %c0 : index, index] body [192, 256] sums [#tile] : memref<?x256xf32> load {
      ^bb0(%j: index):
        %y = pit.view %b[%c0, %j : index, index] pad(0.0 : f16) : memref<64x?xf16> -> vector<64x64xf16>
        %z = pit.view %c[%j, %c0 : index, index] pad(0.0 : f16) : memref<?x256xf16> -> vector<64x256xf16>
        pit.yield %y, %z : vector<64x64xf16>, vector<64x256xf16>
      } compute {
      ^bb0(%yt: vector<64x64xf16>, %zt: vector<64x256xf16>, %xt: vector<192x64xf16>, %at: vector<192x256xf32>):
        %first = pit.pointwise() tile [192, 64] maps [#tile] : () -> vector<192x64xf32> {
        ^bb0(%p: index, %q: index):
          pit.yield %zero : f32
        }
        %s = pit.contract %xt, %yt, %first tile [192, 64, 64] maps [#mk, #kn, #mn]
               : vector<192x64xf16>, vector<64x64xf16>, vector<192x64xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        %h = pit.pointwise(%s) tile [192, 64] maps [#tile, #tile] : (vector<192x64xf32>) -> vector<192x64xf16> {
        ^bb0(%p: index, %q: index, %e: f32):
          %0 = arith.maximumf %e, %zero : f32
          %1 = arith.truncf %0 : f32 to f16
          pit.yield %1 : f16
        }
        %t = pit.contract %h, %zt, %at tile [192, 256, 64] maps [#mk, #kn, #mn]
               : vector<192x64xf16>, vector<64x256xf16>, vector<192x256xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %t : vector<192x256xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%sum: f32):
        pit.yield %sum : f32
      }
    }
    return
  }

  // Four warpgroups are too many.
  func.func @rows(%a: memref<?x64xf16>, %b: memref<64x?xf16>, %c: memref<?x64xf16>, %o: memref<?x64xf32>) {
    %c0 = arith.constant 0 : index
    %m = memref.dim %a, %c0 : memref<?x64xf16>
    %n = memref.dim %c, %c0 : memref<?x64xf16>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i) = (%c0) to (%m) step (256) {
      %x = pit.view %a[%i, %c0 : index, index] pad(0.0 : f16) : memref<?x64xf16> -> vector<256x64xf16>
      // expected-remark @+1 {{kernel rows has no warps that only load: its tiles have 256 rows, more than workers of 192 rows beside warps that only load}}
      pit.mainloop %c0 to %n step [64] invariants(%x : vector<256x64xf16>) extra_maps []
          into %o[%i, %c0 : index, index] body [256, 64] sums [#tile] : memref<?x64xf32> load {
      ^bb0(%j: index):
        %y = pit.view %b[%c0, %j : index, index] pad(0.0 : f16) : memref<64x?xf16> -> vector<64x64xf16>
        %z = pit.view %c[%j, %c0 : index, index] pad(0.0 : f16) : memref<?x64xf16> -> vector<64x64xf16>
        pit.yield %y, %z : vector<64x64xf16>, vector<64x64xf16>
      } compute {
      ^bb0(%yt: vector<64x64xf16>, %zt: vector<64x64xf16>, %xt: vector<256x64xf16>, %at: vector<256x64xf32>):
        %first = pit.pointwise() tile [256, 64] maps [#tile] : () -> vector<256x64xf32> {
        ^bb0(%p: index, %q: index):
          pit.yield %zero : f32
        }
        %s = pit.contract %xt, %yt, %first tile [256, 64, 64] maps [#mk, #kn, #mn]
               : vector<256x64xf16>, vector<64x64xf16>, vector<256x64xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        %h = pit.pointwise(%s) tile [256, 64] maps [#tile, #tile] : (vector<256x64xf32>) -> vector<256x64xf16> {
        ^bb0(%p: index, %q: index, %e: f32):
          %0 = arith.maximumf %e, %zero : f32
          %1 = arith.truncf %0 : f32 to f16
          pit.yield %1 : f16
        }
        %t = pit.contract %h, %zt, %at tile [256, 64, 64] maps [#mk, #kn, #mn]
               : vector<256x64xf16>, vector<64x64xf16>, vector<256x64xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %t : vector<256x64xf32>
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
