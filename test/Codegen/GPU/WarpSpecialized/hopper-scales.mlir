// Scales of a step lie beside its stage in shared memory: consumers wait for nothing
// but the stage.

// RUN: pit-test-hopper-plan %s | FileCheck %s --check-prefix=PLAN
// RUN: pit-opt %s --pit-schedule-kernels=chip=sm_90a --convert-pit-to-gpu=chip=sm_90a --convert-pit-gpu-to-nvvm | FileCheck %s

// PLAN: blocks:
// PLAN: scales of view 2: 128 in each stage
// PLAN-NEXT: scales of view 3: 1 in each stage
// PLAN-NEXT: registers: 56, 224; arrivals: 129
// Those of 16 bits are loaded by the consumers.
// PLAN: halves:
// PLAN-NOT: scales of view
// PLAN: registers: 40, 232; arrivals: 1
// PLAN: plans: ok

#x = affine_map<(m, N, n, c, k) -> (m, c, k)>
#w = affine_map<(m, N, n, c, k) -> (N, n, c, k)>
#o = affine_map<(m, N, n, c, k) -> (m, N, n)>
#sx = affine_map<(m, N, n, c, k) -> (m, c)>
#sw = affine_map<(m, N, n, c, k) -> (c, N)>
module {
module @pit_kernels attributes {pit.kernels} {
  // CHECK-LABEL: gpu.func @blocks_hopper(

  // Each lane of the producers copies the scale of its row; one thread copies that of
  // the block. Both say so at the stage's barrier.
  // CHECK: nvvm.setmaxregister decrease 56
  // CHECK: scf.for
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK: nvvm.cp.async.shared.global {{.*}}, 4, cache =  ca
  // CHECK: nvvm.cp.async.shared.global {{.*}}, 4, cache =  ca
  // CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} {noinc = true}

  // The consumers read them when the stage is full, before its wgmmas start, and a lane
  // of each warp hands it back.
  // CHECK: nvvm.setmaxregister increase 224
  // CHECK: scf.for
  // CHECK-NOT: llvm.ptr<1> -> f32
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
  // CHECK: nvvm.wgmma.fence.aligned
  // CHECK: wgmma.wait_group
  // CHECK: llvm.intr.fma
  // CHECK: arith.cmpi slt, %{{.*}}, %c2_i32
  // CHECK: nvvm.mbarrier.arrive
  // CHECK-LABEL: gpu.func @blocks(
  func.func @blocks(%a: memref<?x32x128xf8E4M3FN>, %b: memref<32x128x32x128xf8E4M3FN>, %s: memref<?x32xf32>, %t: memref<32x32xf32>, %o: memref<?x32x128xf32>) {
    %zero = arith.constant 0.0 : f32
    %c32 = arith.constant 32 : index
    %c0 = arith.constant 0 : index
    %m = memref.dim %a, %c0 : memref<?x32x128xf8E4M3FN>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %c32) step (128, 1) {
      pit.mainloop %c0 to %c32 step [1] extra_maps [] into %o[%i, %j, %c0 : index, index, index] : memref<?x32x128xf32> load {
      ^bb0(%c: index):
        %0 = pit.view %a[%i, %c, %c0 : index, index, index] pad(0.0 : f8E4M3FN) : memref<?x32x128xf8E4M3FN> -> vector<128x1x128xf8E4M3FN>
        %1 = pit.view %b[%j, %c0, %c, %c0 : index, index, index, index] pad(0.0 : f8E4M3FN) : memref<32x128x32x128xf8E4M3FN> -> vector<1x128x1x128xf8E4M3FN>
        %2 = pit.view %s[%i, %c : index, index] pad(0.0 : f32) : memref<?x32xf32> -> vector<128x1xf32>
        %3 = pit.view %t[%c, %j : index, index] pad(0.0 : f32) : memref<32x32xf32> -> vector<1x1xf32>
        pit.yield %0, %1, %2, %3 : vector<128x1x128xf8E4M3FN>, vector<1x128x1x128xf8E4M3FN>, vector<128x1xf32>, vector<1x1xf32>
      } compute {
      ^bb0(%x: vector<128x1x128xf8E4M3FN>, %w: vector<1x128x1x128xf8E4M3FN>, %sx: vector<128x1xf32>, %sw: vector<1x1xf32>, %acc: vector<128x1x128xf32>):
        %0 = pit.contract %x, %w, %acc scales(%sx, %sw : vector<128x1xf32>, vector<1x1xf32>) tile [128, 1, 128, 1, 128] maps [#x, #w, #o, #sx, #sw]
               : vector<128x1x128xf8E4M3FN>, vector<1x128x1x128xf8E4M3FN>, vector<128x1x128xf32> {
        ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %sum: f32, %u: f32, %v: f32):
          %1 = arith.extf %p : f8E4M3FN to f32
          %2 = arith.extf %q : f8E4M3FN to f32
          %3 = arith.mulf %1, %2 : f32
          %4 = arith.mulf %3, %u : f32
          %5 = arith.mulf %4, %v : f32
          %6 = arith.addf %sum, %5 : f32
          pit.yield %6 : f32
        }
        pit.yield %0 : vector<128x1x128xf32>
      } prologue {
        pit.yield %zero : f32
      } epilogue {
      ^bb0(%sum: f32):
        pit.yield %sum : f32
      }
    }
    return
  }

  func.func @halves(%a: memref<?x32x128xf8E4M3FN>, %b: memref<32x128x32x128xf8E4M3FN>, %s: memref<?x32xf32>, %t: memref<32x32xf16>, %o: memref<?x32x128xf32>) {
    %zero = arith.constant 0.0 : f32
    %c32 = arith.constant 32 : index
    %c0 = arith.constant 0 : index
    %m = memref.dim %a, %c0 : memref<?x32x128xf8E4M3FN>
    pit.forall (%i, %j) = (%c0, %c0) to (%m, %c32) step (128, 1) {
      pit.mainloop %c0 to %c32 step [1] extra_maps [] into %o[%i, %j, %c0 : index, index, index] : memref<?x32x128xf32> load {
      ^bb0(%c: index):
        %0 = pit.view %a[%i, %c, %c0 : index, index, index] pad(0.0 : f8E4M3FN) : memref<?x32x128xf8E4M3FN> -> vector<128x1x128xf8E4M3FN>
        %1 = pit.view %b[%j, %c0, %c, %c0 : index, index, index, index] pad(0.0 : f8E4M3FN) : memref<32x128x32x128xf8E4M3FN> -> vector<1x128x1x128xf8E4M3FN>
        %2 = pit.view %s[%i, %c : index, index] pad(0.0 : f32) : memref<?x32xf32> -> vector<128x1xf32>
        %3 = pit.view %t[%c, %j : index, index] pad(0.0 : f16) : memref<32x32xf16> -> vector<1x1xf16>
        pit.yield %0, %1, %2, %3 : vector<128x1x128xf8E4M3FN>, vector<1x128x1x128xf8E4M3FN>, vector<128x1xf32>, vector<1x1xf16>
      } compute {
      ^bb0(%x: vector<128x1x128xf8E4M3FN>, %w: vector<1x128x1x128xf8E4M3FN>, %sx: vector<128x1xf32>, %sw: vector<1x1xf16>, %acc: vector<128x1x128xf32>):
        %0 = pit.contract %x, %w, %acc scales(%sx, %sw : vector<128x1xf32>, vector<1x1xf16>) tile [128, 1, 128, 1, 128] maps [#x, #w, #o, #sx, #sw]
               : vector<128x1x128xf8E4M3FN>, vector<1x128x1x128xf8E4M3FN>, vector<128x1x128xf32> {
        ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %sum: f32, %u: f32, %v: f16):
          %1 = arith.extf %p : f8E4M3FN to f32
          %2 = arith.extf %q : f8E4M3FN to f32
          %3 = arith.mulf %1, %2 : f32
          %4 = arith.mulf %3, %u : f32
          %5 = arith.extf %v : f16 to f32
          %6 = arith.mulf %4, %5 : f32
          %7 = arith.addf %sum, %6 : f32
          pit.yield %7 : f32
        }
        pit.yield %0 : vector<128x1x128xf32>
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
