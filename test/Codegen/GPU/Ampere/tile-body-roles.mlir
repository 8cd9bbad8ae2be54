// A tile body by warps of two roles: what each of them does, in which order.

// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#tile = affine_map<(m, n) -> (m, n)>

// CHECK: gpu.func @wide_tile_body({{.*}} nvvm.minctasm = 1 : i32{{.*}}threads = 384, shared_bytes = 65688
// The first thread makes the barriers: 256 threads' arrivals fill a stage's tile (two of each
// producer's), those of eight warps empty it.
// CHECK: nvvm.mbarrier.init %{{.*}}, %c256_i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %c8_i32
// CHECK: nvvm.fence.mbarrier.init

// Workers wait for what is loaded once.
// CHECK: nvvm.setmaxregister increase 224
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK-NEXT: nvvm.fence.proxy

// The first step starts no late contraction.
// CHECK: nvvm.barrier.arrive
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.barrier id
// CHECK: llvm.inline_asm {{.*}}setp.ne.b32 first, 0, 0;{{.*}}wgmma.fence.sync.aligned;{{.*}}wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16{{.*}}, first, 1, 1, 0, 1;{{.*}}, adds, 1, 1, 0, 1; wgmma.commit_group.sync.aligned;
// CHECK: nvvm.barrier.arrive
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: nvvm.mbarrier.arrive

// The others start their first contraction, then the late one of the step before, pass the turn,
// and wait for the first one alone.
// CHECK: scf.for
// CHECK-COUNT-2: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.barrier id
// CHECK: llvm.inline_asm {{.*}}setp.ne.b32 first, 0, 0;
// CHECK: llvm.inline_asm {{.*}}setp.ne.b32 first, 1, 0;{{.*}}, first, 1, 1, 1;
// CHECK: nvvm.barrier.arrive
// CHECK: "wgmma.wait_group.sync.aligned 1;"
// CHECK: nvvm.mbarrier.arrive
// The factor of the step before is held until its wgmmas are done; then there is a new one.
// CHECK-NOT: arith.truncf
// CHECK: "wgmma.wait_group.sync.aligned 0;", "{{.*}},r,r,r,r"
// CHECK: nvvm.mbarrier.arrive
// CHECK: arith.truncf
// CHECK: scf.yield

// The last step's is behind the loop. The first warpgroup takes the turn that is left.
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: llvm.inline_asm {{.*}}setp.ne.b32 first, 1, 0;
// CHECK: "wgmma.wait_group.sync.aligned 0;"
// CHECK: nvvm.barrier id
// CHECK: nvvm.setmaxregister decrease 168

// Producers have copies behind each other without a loop over rows.
// CHECK: nvvm.setmaxregister decrease 56
// CHECK: nvvm.cp.async.mbarrier.arrive
// CHECK: nvvm.mbarrier.arrive
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.mbarrier.arrive
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.mbarrier.arrive
// CHECK: nvvm.setmaxregister increase 168
// CHECK: nvvm.mbarrier.inval

module {
module @pit_kernels attributes {pit.kernels} {
  func.func @wide_tile_body(%a: memref<?x64xf16>, %b: memref<64x?xf16>, %c: memref<?x64xf16>, %o: memref<?x64xf32>) {
    %c0 = arith.constant 0 : index
    %m = memref.dim %a, %c0 : memref<?x64xf16>
    %n = memref.dim %c, %c0 : memref<?x64xf16>
    %zero = arith.constant 0.0 : f32
    pit.forall (%i) = (%c0) to (%m) step (128) {
      %x = pit.view %a[%i, %c0 : index, index] pad(0.0 : f16) : memref<?x64xf16> -> vector<128x64xf16>
      pit.mainloop %c0 to %n step [64] once(%x : vector<128x64xf16>) extra_maps []
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
      } init {
        pit.yield %zero : f32
      } finish {
      ^bb0(%sum: f32):
        pit.yield %sum : f32
      }
    }
    return
  }
}
}
