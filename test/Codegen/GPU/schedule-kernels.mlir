// How kernels' mainloops are run on a GPU is decided here. Each kernel pins one
// choice; changing a heuristic of PortablePlan.cpp or HopperPlan.cpp changes this file,
// and what HopperPlanTest.cpp prints.

// RUN: pit-opt %s --pit-schedule-kernels | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a | FileCheck %s --check-prefixes=CHECK,SM90A
// Without wgmma nothing has Hopper's schedule.
// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90 | FileCheck %s --check-prefix=SM90
// SM90-NOT: wgmma

// Schedules that are there stay: planning twice changes nothing.
// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a > %t.once
// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a --pit-schedule-kernels=chip=sm_90a | diff %t.once -

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#tile = affine_map<(m, n) -> (m, n)>
!rows = !pit.index<micro_tile = [1, *], axis = 0>
!columns = !pit.index<micro_tile = [1, 128], axis = 0>
module {
func.func @fills(%r: !rows, %a: memref<512x256xf16>, %b: memref<256x1024xf16>, %o: memref<512x1024xf16>) {
  %n = arith.constant 4 : index
  pit.launch @pit_kernels::@fill iterations(%n elements) outs(%o : memref<512x1024xf16>)
  pit.launch @pit_kernels::@filled_rows iterations(%n) ins(%r, %a, %b : !rows, memref<512x256xf16>, memref<256x1024xf16>) outs(%o : memref<512x1024xf16>)
  return
}
module @pit_kernels attributes {pit.kernels} {
  // Threads of scalar code; few sums leave registers for a second block.
  // CHECK-LABEL: func.func @f32(
  // CHECK: {schedules = [#pit.gpu_schedule<multiply = scalar, tile = [32, 64], workers = [4, 16], depth = 16, stages = 4, blocks = 6, splits = 32, shared_bytes = 24576>]}
  func.func @f32(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c0_m = arith.constant 0 : index
    %m = memref.dim %a, %c0_m : memref<?x?xf32>
    %c1_n = arith.constant 1 : index
    %n = memref.dim %b, %c1_n : memref<?x?xf32>
    %c1_K = arith.constant 1 : index
    %K = memref.dim %a, %c1_K : memref<?x?xf32>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (32, 64) {
      pit.mainloop %c0 to %K step [32] extra_maps []
          into %o[%i, %j : index, index] : memref<?x?xf32> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<32x32xf32>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<32x64xf32>
        pit.yield %x, %y : vector<32x32xf32>, vector<32x64xf32>
      } compute {
      ^bb0(%xt: vector<32x32xf32>, %yt: vector<32x64xf32>, %at: vector<32x64xf32>):
        %st = pit.contract %xt, %yt, %at tile [32, 64, 32] maps [#mk, #kn, #mn]
               : vector<32x32xf32>, vector<32x64xf32>, vector<32x64xf32> {
        ^bb0(%p: f32, %q: f32, %acc: f32):
          %0 = arith.mulf %p, %q : f32
          %1 = arith.addf %acc, %0 : f32
          pit.yield %1 : f32
        }
        pit.yield %st : vector<32x64xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  // Tensor cores: eight warps of 64 x 64, and stages of 64 bytes along k. Hopper's
  // stages are a line of 128 bytes deep, and two blocks share what they load of b.
  // CHECK-LABEL: func.func @f16(
  // SM90A: {schedules = [#pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, cluster = 2, shared_bytes = 213120>
  // CHECK: #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 32, stages = 4, splits = 32, shared_bytes = 98304>]}
  func.func @f16(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %o: memref<?x?xf16>) {
    %c0 = arith.constant 0 : index
    %c0_m = arith.constant 0 : index
    %m = memref.dim %a, %c0_m : memref<?x?xf16>
    %c1_n = arith.constant 1 : index
    %n = memref.dim %b, %c1_n : memref<?x?xf16>
    %c1_K = arith.constant 1 : index
    %K = memref.dim %a, %c1_K : memref<?x?xf16>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      pit.mainloop %c0 to %K step [64] extra_maps []
          into %o[%i, %j : index, index] : memref<?x?xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<128x64xf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<64x256xf16>
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
    return
  }

  // Shared memory gives the number of stages: more of it, more stages. 64 rows are one
  // wgmma: consumers share the tile along n.
  // CHECK-LABEL: func.func @wide(
  // SM90A: {schedules = [#pit.gpu_schedule<multiply = wgmma, tile = [64, 512], workers = [4, 2], producers = 4, depth = 64, stages = 2, load_a = tma_tile, load_b = tma_tile, cluster = 2, shared_bytes = 163968>
  // SM90A-SAME: #pit.gpu_schedule<multiply = mma_sync, tile = [64, 512], workers = [1, 8], depth = 32, stages = 4, splits = 32, shared_bytes = 147456>]}
  // SM80: {schedules = [#pit.gpu_schedule<multiply = mma_sync, tile = [64, 512], workers = [1, 8], depth = 32, stages = 2, splits = 32, shared_bytes = 73728>]}
  func.func @wide(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %o: memref<?x?xbf16>) {
    %c0 = arith.constant 0 : index
    %c1_m = arith.constant 1 : index
    %m = memref.dim %a, %c1_m : memref<?x?xbf16>
    %c0_n = arith.constant 0 : index
    %n = memref.dim %b, %c0_n : memref<?x?xbf16>
    %c0_K = arith.constant 0 : index
    %K = memref.dim %a, %c0_K : memref<?x?xbf16>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (64, 512) {
      pit.mainloop %c0 to %K step [64] extra_maps []
          into %o[%i, %j : index, index] : memref<?x?xbf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%k, %i : index, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x64xbf16>
        %y = pit.view %b[%j, %k : index, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<512x64xbf16>
        pit.yield %x, %y : vector<64x64xbf16>, vector<512x64xbf16>
      } compute {
      ^bb0(%xt: vector<64x64xbf16>, %yt: vector<512x64xbf16>, %at: vector<64x512xf32>):
        %st = pit.contract %xt, %yt, %at tile [64, 512, 64] maps [#km, #nk, #mn]
               : vector<64x64xbf16>, vector<512x64xbf16>, vector<64x512xf32> {
        ^bb0(%p: bf16, %q: bf16, %acc: f32):
          %0 = arith.extf %p : bf16 to f32
          %1 = arith.extf %q : bf16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %st : vector<64x512xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%s: f32):
        pit.yield %s : f32
      }
    }
    return
  }

  // Half a warp reads pairs of words of tf32 that run along n: chunks are shifted by two
  // places. wgmma takes tf32 along k only: its kernel reads a copy of B.
  // CHECK-LABEL: func.func @tf32(
  // CHECK: #pit.gpu_schedule<multiply = mma_sync, tile = [128, 128], workers = [2, 2], depth = 16, stages = 4, swizzles = [1, 2], splits = 32, shared_bytes = 65536>]}
  func.func @tf32(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %o: memref<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c0_m = arith.constant 0 : index
    %m = memref.dim %a, %c0_m : memref<?x?xf32>
    %c1_n = arith.constant 1 : index
    %n = memref.dim %b, %c1_n : memref<?x?xf32>
    %c1_K = arith.constant 1 : index
    %K = memref.dim %a, %c1_K : memref<?x?xf32>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 128) {
      pit.mainloop %c0 to %K step [32] extra_maps []
          into %o[%i, %j : index, index] : memref<?x?xf32> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<128x32xf32>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f32) : memref<?x?xf32> -> vector<32x128xf32>
        pit.yield %x, %y : vector<128x32xf32>, vector<32x128xf32>
      } compute {
      ^bb0(%xt: vector<128x32xf32>, %yt: vector<32x128xf32>, %at: vector<128x128xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 128, 32] maps [#mk, #kn, #mn] tf32
               : vector<128x32xf32>, vector<32x128xf32>, vector<128x128xf32> {
        ^bb0(%p: f32, %q: f32, %acc: f32):
          %0 = arith.mulf %p, %q : f32
          %1 = arith.addf %acc, %0 : f32
          pit.yield %1 : f32
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

  // Blocks share the tiles of the last turn in up to eight parts.
  // CHECK-LABEL: func.func @tail(
  // SM90A: {schedules = [#pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_tile, load_b = tma_tile, cluster = 2, splits = 8, shared_bytes = 213120>
  // CHECK: #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 32, stages = 4, shared_bytes = 98304>]}
  func.func @tail(%a: memref<4232x4096xf16>, %b: memref<4096x4096xf16>, %o: memref<4232x4096xf16>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 4232 : index
    %n = arith.constant 4096 : index
    %K = arith.constant 4096 : index
    %zero = arith.constant 0.0 : f32
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      pit.mainloop %c0 to %K step [64] extra_maps []
          into %o[%i, %j : index, index] : memref<4232x4096xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<4232x4096xf16> -> vector<128x64xf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f16) : memref<4096x4096xf16> -> vector<64x256xf16>
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
    return
  }

  // The steps' ids select rows of both operands: cp.async only, no cluster.
  // CHECK-LABEL: func.func @columns(
  // SM90A: {schedules = [#pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, shared_bytes = 213120>
  // CHECK: #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 32, stages = 4, splits = 32, shared_bytes = 98304>]}
  func.func @columns(%index: !columns, %a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %o: memref<?x?xbf16>) {
    %c0 = arith.constant 0 : index
    %c1_m = arith.constant 1 : index
    %m = memref.dim %a, %c1_m : memref<?x?xbf16>
    %c1_n = arith.constant 1 : index
    %n = memref.dim %b, %c1_n : memref<?x?xbf16>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      pit.mainloop step [] in %index[%i] chunk 64 : !columns extra_maps []
          into %o[%i, %j : index, index] : memref<?x?xbf16> load {
      ^bb0(%k: !pit.ids<64>, %at: !pit.ids<64>):
        %x = pit.view %a[%k, %i : !pit.ids<64>, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x128xbf16>
        %y = pit.view %b[%k, %j : !pit.ids<64>, index] pad(0.0 : bf16) : memref<?x?xbf16> -> vector<64x256xbf16>
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

  func.func @fill(%o: memref<512x1024xf16>) {
    %one = arith.constant 1.0 : f16
    linalg.fill ins(%one : f16) outs(%o : memref<512x1024xf16>)
    return
  }
  // The kernel fills the rows of its result that the index does not list.
  // CHECK-LABEL: func.func @filled_rows(
  // SM90A: {schedules = [#pit.gpu_schedule<multiply = wgmma, tile = [128, 256], workers = [8, 1], producers = 4, depth = 64, stages = 4, load_a = tma_row_gather, load_b = tma_tile, cluster = 2, fill_rows = 512, fill_bytes = 8192, shared_bytes = 221440>
  // CHECK: #pit.gpu_schedule<multiply = mma_sync, tile = [128, 256], workers = [2, 4], depth = 32, stages = 4, shared_bytes = 98304>]}
  func.func @filled_rows(%r: !rows, %a: memref<512x256xf16>, %b: memref<256x1024xf16>, %o: memref<512x1024xf16>) {
    %c0 = arith.constant 0 : index
    %n = arith.constant 1024 : index
    %K = arith.constant 256 : index
    %zero = arith.constant 0.0 : f32
    pit.forall (%j) = (%c0) to (%n) step (256), %ids at %pos in %r : !rows chunk 128 {
      pit.mainloop %c0 to %K step [64] extra_maps []
          into %o[%ids, %j : !pit.ids<128>, index] : memref<512x1024xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%ids, %k : !pit.ids<128>, index] pad(0.0 : f16) : memref<512x256xf16> -> vector<128x64xf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f16) : memref<256x1024xf16> -> vector<64x256xf16>
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
    return
  }

  // A tile body of 64 rows: four warps have 16 of them each, on an sm_90a for one wgmma. There is a
  // second kernel, in which four further warps load and two blocks share a multiprocessor.
  // CHECK-LABEL: func.func @tile_body(
  // SM90A: {schedules = [#pit.gpu_schedule<multiply = wgmma, tile = [64, 64], workers = [4, 1], producers = 4, stages = 3, blocks = 2, shared_bytes = 57456>, #pit.gpu_schedule<multiply = wgmma, tile = [64, 64], workers = [4, 1], stages = 3, shared_bytes = 57344>]}
  // SM80: {schedules = [#pit.gpu_schedule<multiply = mma_sync, tile = [64, 64], workers = [4, 1], stages = 3, shared_bytes = 57344>]}
  func.func @tile_body(%a: memref<?x64xf16>, %b: memref<64x?xf16>, %c: memref<?x64xf16>, %o: memref<?x64xf32>) {
    %c0 = arith.constant 0 : index
    %m = memref.dim %a, %c0 : memref<?x64xf16>
    %n = memref.dim %c, %c0 : memref<?x64xf16>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i) = (%c0) to (%m) step (64) {
      %x = pit.view %a[%i, %c0 : index, index] pad(0.0 : f16) : memref<?x64xf16> -> vector<64x64xf16>
      pit.mainloop %c0 to %n step [64] invariants(%x : vector<64x64xf16>) extra_maps []
          into %o[%i, %c0 : index, index] body [64, 64] sums [#tile] : memref<?x64xf32> load {
      ^bb0(%j: index):
        %y = pit.view %b[%c0, %j : index, index] pad(0.0 : f16) : memref<64x?xf16> -> vector<64x64xf16>
        %z = pit.view %c[%j, %c0 : index, index] pad(0.0 : f16) : memref<?x64xf16> -> vector<64x64xf16>
        pit.yield %y, %z : vector<64x64xf16>, vector<64x64xf16>
      } compute {
      ^bb0(%yt: vector<64x64xf16>, %zt: vector<64x64xf16>, %xt: vector<64x64xf16>, %at: vector<64x64xf32>):
        %first = pit.pointwise() tile [64, 64] maps [#tile] : () -> vector<64x64xf32> {
        ^bb0(%p: index, %q: index):
          pit.yield %zero : f32
        }
        %s = pit.contract %xt, %yt, %first tile [64, 64, 64] maps [#mk, #kn, #mn]
               : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        %h = pit.pointwise(%s) tile [64, 64] maps [#tile, #tile] : (vector<64x64xf32>) -> vector<64x64xf16> {
        ^bb0(%p: index, %q: index, %e: f32):
          %0 = arith.maximumf %e, %zero : f32
          %1 = arith.truncf %0 : f32 to f16
          pit.yield %1 : f16
        }
        %t = pit.contract %h, %zt, %at tile [64, 64, 64] maps [#mk, #kn, #mn]
               : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %t : vector<64x64xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%sum: f32):
        pit.yield %sum : f32
      }
    }
    return
  }

  // One of 128 rows: two warpgroups compute, and have most registers of a multiprocessor, so that
  // its one block may have all of the shared memory, too.
  // CHECK-LABEL: func.func @wide_tile_body(
  // SM90A: {schedules = [#pit.gpu_schedule<multiply = wgmma, tile = [128, 64], workers = [8, 1], producers = 4, stages = 3, shared_bytes = 65648>, #pit.gpu_schedule<multiply = wgmma, tile = [128, 64], workers = [8, 1], stages = 3, shared_bytes = 65536>]}
  // SM80: {schedules = [#pit.gpu_schedule<multiply = mma_sync, tile = [128, 64], workers = [4, 1], stages = 3, shared_bytes = 65536>]}
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

  // 32 columns of f16 are half a line of 128 bytes: no wgmma.
  // CHECK-LABEL: func.func @short_lines(
  // CHECK: {schedules = [#pit.gpu_schedule<multiply = mma_sync, tile = [64, 32], workers = [4, 1], stages = 3, shared_bytes = 45056>]}
  func.func @short_lines(%a: memref<?x64xf16>, %b: memref<64x?xf16>, %c: memref<?x32xf16>, %o: memref<?x32xf32>) {
    %c0 = arith.constant 0 : index
    %m = memref.dim %a, %c0 : memref<?x64xf16>
    %n = memref.dim %c, %c0 : memref<?x32xf16>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i) = (%c0) to (%m) step (64) {
      %x = pit.view %a[%i, %c0 : index, index] pad(0.0 : f16) : memref<?x64xf16> -> vector<64x64xf16>
      pit.mainloop %c0 to %n step [64] invariants(%x : vector<64x64xf16>) extra_maps []
          into %o[%i, %c0 : index, index] body [64, 32] sums [#tile] : memref<?x32xf32> load {
      ^bb0(%j: index):
        %y = pit.view %b[%c0, %j : index, index] pad(0.0 : f16) : memref<64x?xf16> -> vector<64x64xf16>
        %z = pit.view %c[%j, %c0 : index, index] pad(0.0 : f16) : memref<?x32xf16> -> vector<64x32xf16>
        pit.yield %y, %z : vector<64x64xf16>, vector<64x32xf16>
      } compute {
      ^bb0(%yt: vector<64x64xf16>, %zt: vector<64x32xf16>, %xt: vector<64x64xf16>, %at: vector<64x32xf32>):
        %first = pit.pointwise() tile [64, 64] maps [#tile] : () -> vector<64x64xf32> {
        ^bb0(%p: index, %q: index):
          pit.yield %zero : f32
        }
        %s = pit.contract %xt, %yt, %first tile [64, 64, 64] maps [#mk, #kn, #mn]
               : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        %h = pit.pointwise(%s) tile [64, 64] maps [#tile, #tile] : (vector<64x64xf32>) -> vector<64x64xf16> {
        ^bb0(%p: index, %q: index, %e: f32):
          %0 = arith.maximumf %e, %zero : f32
          %1 = arith.truncf %0 : f32 to f16
          pit.yield %1 : f16
        }
        %t = pit.contract %h, %zt, %at tile [64, 32, 64] maps [#mk, #kn, #mn]
               : vector<64x64xf16>, vector<64x32xf16>, vector<64x32xf32> {
        ^bb0(%p: f16, %q: f16, %acc: f32):
          %0 = arith.extf %p : f16 to f32
          %1 = arith.extf %q : f16 to f32
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %acc, %2 : f32
          pit.yield %3 : f32
        }
        pit.yield %t : vector<64x32xf32>
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
