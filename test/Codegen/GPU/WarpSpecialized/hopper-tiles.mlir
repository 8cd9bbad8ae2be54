// What blocks of Hopper's schedule do beside whole tiles: they share those of the
// last turn, and fill rows that no tile writes.

// RUN: pit-opt %s --split-input-file --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a --convert-pit-gpu-to-nvvm | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module {
module @pit_kernels attributes {pit.kernels} {
  // 17 x 16 pairs of tiles, and 66 clusters: eight are left after four turns, of 64
  // steps each. Turns count whole tiles, then parts.
  // CHECK-LABEL: gpu.func @tail_hopper(
  // CHECK-SAME: stream_bytes = 131072
  // CHECK: nvvm.setmaxregister decrease
  // CHECK: scf.for %[[NUMBER:[a-z0-9]+]] = %
  // CHECK-NEXT: %[[IS_WHOLE:.*]] = arith.cmpi slt, %[[NUMBER]], %[[WHOLE:.*]] : i32
  // CHECK-NEXT: arith.subi %[[NUMBER]], %[[WHOLE]]
  // CHECK: arith.select %[[IS_WHOLE]]
  // CHECK-LABEL: gpu.func @tail(
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

  // 16 pairs of rows of tiles, of 16 each, and one row: there the blocks of a cluster
  // have neighbours along n, and each loads all of b that it needs. That makes four
  // whole turns.
  // CHECK-LABEL: gpu.func @odd_hopper(
  // CHECK-NOT: stream_bytes
  // CHECK: nvvm.setmaxregister decrease
  // CHECK: %[[ALONG_N:.*]] = arith.cmpi uge, %{{.*}}, %{{.*}} : i32
  // CHECK: nvvm.cp.async.bulk.tensor
  // CHECK: scf.if %[[ALONG_N]] {
  // CHECK-COUNT-4: nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK-NOT: multicast_mask
  // CHECK: } else {
  // CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask
  // CHECK-LABEL: gpu.func @odd(
  func.func @odd(%a: memref<4104x4096xf16>, %b: memref<4096x4096xf16>, %o: memref<4104x4096xf16>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 4104 : index
    %n = arith.constant 4096 : index
    %K = arith.constant 4096 : index
    %zero = arith.constant 0.0 : f32
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      pit.mainloop %c0 to %K step [64] extra_maps []
          into %o[%i, %j : index, index] : memref<4104x4096xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<4104x4096xf16> -> vector<128x64xf16>
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

  // Whole turns but for two clusters, and too few steps to be worth it.
  // CHECK-LABEL: gpu.func @whole_hopper(
  // CHECK-NOT: stream_bytes
  // CHECK-LABEL: gpu.func @whole(
  func.func @whole(%a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %o: memref<4096x4096xf16>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 4096 : index
    %n = arith.constant 4096 : index
    %K = arith.constant 4096 : index
    %zero = arith.constant 0.0 : f32
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      pit.mainloop %c0 to %K step [64] extra_maps []
          into %o[%i, %j : index, index] : memref<4096x4096xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<4096x4096xf16> -> vector<128x64xf16>
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

  // Each block of rows has a B of its own: blocks have nothing to share.
  // CHECK-LABEL: gpu.func @diagonal_hopper(
  // CHECK-NOT: nvvm.cluster_dim
  // CHECK-NOT: cluster =
  // CHECK-LABEL: gpu.func @diagonal(
  func.func @diagonal(%a: memref<4096x4096xf16>, %b: memref<4096x4096x256xf16>, %o: memref<4096x256xf16>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 4096 : index
    %K = arith.constant 4096 : index
    %zero = arith.constant 0.0 : f32
    pit.forall (%i) = (%c0) to (%m) step (128) {
      pit.mainloop %c0 to %K step [64] extra_maps []
          into %o[%i, %c0 : index, index] : memref<4096x256xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<4096x4096xf16> -> vector<128x64xf16>
        %y = pit.view %b[%i, %k, %c0 : index, index, index] pad(0.0 : f16) : memref<4096x4096x256xf16> -> vector<1x64x256xf16>
        pit.yield %x, %y : vector<128x64xf16>, vector<1x64x256xf16>
      } compute {
      ^bb0(%xt: vector<128x64xf16>, %yt: vector<1x64x256xf16>, %at: vector<128x256xf32>):
        %st = pit.contract %xt, %yt, %at tile [128, 1, 256, 64]
               maps [affine_map<(m, q, n, k) -> (m, k)>, affine_map<(m, q, n, k) -> (q, k, n)>, affine_map<(m, q, n, k) -> (m, n)>]
               : vector<128x64xf16>, vector<1x64x256xf16>, vector<128x256xf32> {
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

  // CHECK-LABEL: gpu.func @short_hopper(
  // CHECK-NOT: stream_bytes
  // CHECK-LABEL: gpu.func @short(
  func.func @short(%a: memref<4232x1024xf16>, %b: memref<1024x4096xf16>, %o: memref<4232x4096xf16>) {
    %c0 = arith.constant 0 : index
    %m = arith.constant 4232 : index
    %n = arith.constant 4096 : index
    %K = arith.constant 1024 : index
    %zero = arith.constant 0.0 : f32
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 256) {
      pit.mainloop %c0 to %K step [64] extra_maps []
          into %o[%i, %j : index, index] : memref<4232x4096xf16> load {
      ^bb0(%k: index):
        %x = pit.view %a[%i, %k : index, index] pad(0.0 : f16) : memref<4232x1024xf16> -> vector<128x64xf16>
        %y = pit.view %b[%k, %j : index, index] pad(0.0 : f16) : memref<1024x4096xf16> -> vector<64x256xf16>
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
}
}

// -----

// The kernel fills what it does not write: its consumers find out which of their
// block's rows are listed, and its producers copy ones to the others after each
// step, and after the last. They wait for what they copied.
// CHECK-LABEL: func.func @filled
// CHECK-NOT: pit.launch @pit_kernels::@fill
// CHECK: pit.launch @pit_kernels::@rows iterations(%[[N:.*]]) fill(%[[O:.*]] : memref<512x1024xf16> by @pit_kernels::@fill elements(%[[N]])) ins({{.*}}) outs(%[[O]] :
// CHECK-LABEL: gpu.func @rows_hopper(
// CHECK-SAME: fills = 3,
// CHECK: %[[ONES:.*]] = arith.constant dense<1006648320> : vector<4xi32>
// CHECK: llvm.store %[[ONES]], {{.*}}{alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK: nvvm.fence.proxy
// CHECK: nvvm.barrier0
// CHECK: nvvm.setmaxregister decrease
// CHECK: scf.for
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: nvvm.cp.async.bulk.global.shared.cta {{.*}} : <1>, <3>
// CHECK: scf.yield
// CHECK: nvvm.cp.async.bulk.global.shared.cta {{.*}} : <1>, <3>
// CHECK: nvvm.cp.async.bulk.commit.group
// CHECK: nvvm.cp.async.bulk.wait_group 0
// CHECK: nvvm.setmaxregister increase
// CHECK: llvm.atomicrmw _or {{.*}} monotonic
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.wgmma
// CHECK-LABEL: gpu.func @rows(
// CHECK-SAME: preferred = @rows_hopper

// A fill for all variants stays where the launch behind it is of one variant.
// RUN: sed '/func @filled/,/^}/{s/@filled(/@filled(%bitmap: !pit.bitmap, /; s/@rows iter/@rows if(%bitmap : !pit.bitmap is 1) iter/}' %s | pit-opt --split-input-file --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a | FileCheck %s --check-prefix=VARIANT
// VARIANT-LABEL: func.func @filled
// VARIANT: pit.launch @pit_kernels::@fill
// VARIANT: pit.launch @pit_kernels::@rows if(%{{.*}} is 1) iterations(%{{[a-z0-9]*}}) ins(
// VARIANT-LABEL: gpu.func @rows_hopper(
// VARIANT-NOT: fills =
// VARIANT-SAME: {
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
!rows = !pit.index<micro_tile = [1, *], axis = 0>
module {
func.func @filled(%r: !rows, %a: memref<512x256xf16>, %b: memref<256x1024xf16>, %o: memref<512x1024xf16>) {
  %n = arith.constant 4 : index
  pit.launch @pit_kernels::@fill iterations(%n elements) outs(%o : memref<512x1024xf16>)
  pit.launch @pit_kernels::@rows iterations(%n) ins(%r, %a, %b : !rows, memref<512x256xf16>, memref<256x1024xf16>) outs(%o : memref<512x1024xf16>)
  return
}
module @pit_kernels attributes {pit.kernels} {
  func.func @fill(%o: memref<512x1024xf16>) {
    %one = arith.constant 1.0 : f16
    linalg.fill ins(%one : f16) outs(%o : memref<512x1024xf16>)
    return
  }
  func.func @rows(%r: !rows, %a: memref<512x256xf16>, %b: memref<256x1024xf16>, %o: memref<512x1024xf16>) {
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
}
}

// -----

// Something else reads what was filled; or tiles do not cover the rows.
// CHECK-LABEL: func.func @read_between
// CHECK-NOT: fill(
// CHECK-LABEL: func.func @covered_in_part
// CHECK-NOT: fill(
// CHECK: gpu.module
// CHECK-NOT: fills =
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
!rows = !pit.index<micro_tile = [1, *], axis = 0>
module {
func.func @read_between(%r: !rows, %a: memref<512x256xf16>, %b: memref<256x1024xf16>, %o: memref<512x1024xf16>, %c: memref<512x1024xf16>) {
  %n = arith.constant 4 : index
  pit.launch @pit_kernels::@fill iterations(%n elements) outs(%o : memref<512x1024xf16>)
  pit.launch @pit_kernels::@copy iterations(%n elements) ins(%o : memref<512x1024xf16>) outs(%c : memref<512x1024xf16>)
  pit.launch @pit_kernels::@rows iterations(%n) ins(%r, %a, %b : !rows, memref<512x256xf16>, memref<256x1024xf16>) outs(%o : memref<512x1024xf16>)
  return
}
func.func @covered_in_part(%r: !rows, %a: memref<512x256xf16>, %b: memref<256x1024xf16>, %o: memref<512x1024xf16>) {
  %n = arith.constant 4 : index
  pit.launch @pit_kernels::@fill iterations(%n elements) outs(%o : memref<512x1024xf16>)
  pit.launch @pit_kernels::@half iterations(%n) ins(%r, %a, %b : !rows, memref<512x256xf16>, memref<256x1024xf16>) outs(%o : memref<512x1024xf16>)
  return
}
module @pit_kernels attributes {pit.kernels} {
  func.func @fill(%o: memref<512x1024xf16>) {
    %one = arith.constant 1.0 : f16
    linalg.fill ins(%one : f16) outs(%o : memref<512x1024xf16>)
    return
  }
  func.func @copy(%x: memref<512x1024xf16>, %o: memref<512x1024xf16>) {
    memref.copy %x, %o : memref<512x1024xf16> to memref<512x1024xf16>
    return
  }
  func.func @rows(%r: !rows, %a: memref<512x256xf16>, %b: memref<256x1024xf16>, %o: memref<512x1024xf16>) {
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
  func.func @half(%r: !rows, %a: memref<512x256xf16>, %b: memref<256x1024xf16>, %o: memref<512x1024xf16>) {
    %c0 = arith.constant 0 : index
    %n = arith.constant 512 : index
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
}
}
