// Stages of a kernel without roles: one ring of the block, by the protocol that roles have.
//
// RUN: pit-opt %s -pit-schedule-kernels=chip=sm_80 -convert-pit-to-gpu=chip=sm_80 --canonicalize --cse | FileCheck %s

#e = affine_map<(m, n) -> (m, n)>
module {
module @pit_kernels attributes {pit.kernels} {

// Four stages, filled three steps ahead. Tensor cores have the next stage before the loop
// over steps goes on: it is carried.
// CHECK-LABEL: gpu.func @tensor_cores(
// CHECK: %[[RING:.*]] = pit_gpu.block_ring %{{.*}} : <4, [!pit_gpu.row_tile<128x32xf16>, !pit_gpu.row_tile<32x128xf16>], block>
// CHECK: %[[S:.*]] = pit_gpu.acquire %[[RING]][%c0_i32]
// CHECK: scf.if
// CHECK: %[[T:.*]] = pit_gpu.tile %[[S]][0] {{.*}} -> !pit_gpu.row_tile<128x32xf16>
// CHECK: pit_gpu.address %[[T]] : !pit_gpu.row_tile<128x32xf16>
// CHECK: pit_gpu.copy
// CHECK: pit_gpu.tile %[[S]][1] {{.*}} -> !pit_gpu.row_tile<32x128xf16>
// CHECK: pit_gpu.copy
// CHECK: pit_gpu.commit %[[S]] after copies
// CHECK: pit_gpu.acquire %[[RING]][%c1_i32]
// CHECK: pit_gpu.commit
// CHECK: pit_gpu.acquire %[[RING]][%c2_i32]
// CHECK: pit_gpu.commit
// CHECK: %[[FIRST:.*]] = pit_gpu.wait %[[RING]][%c0_i32]
// CHECK: pit_gpu.tile %[[FIRST]][0]
// CHECK: pit_gpu.load_matrices
// CHECK: %[[LAST:.*]]:{{.*}} = scf.for {{.*}} %[[STAGE:[a-z0-9]*]] = %[[FIRST]], %[[NUMBER:.*]] = %c0_i32)
// CHECK: pit_gpu.acquire %[[RING]]
// CHECK: pit_gpu.commit
// CHECK: pit_gpu.tile %[[STAGE]][0]
// CHECK: pit_gpu.mma_sync
// CHECK: pit_gpu.release %[[STAGE]]
// CHECK: pit_gpu.wait %[[RING]]
// CHECK: pit_gpu.mma_sync
// CHECK: scf.yield
// CHECK: pit_gpu.release %[[LAST]]#
// CHECK-NEXT: pit_gpu.copy_wait pending 0
// CHECK-NEXT: nvvm.barrier0
func.func @tensor_cores(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %e: memref<?x?xf32>, %r: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : memref<?x?xf16>
  %n = memref.dim %b, %c1 : memref<?x?xf16>
  %k = memref.dim %a, %c1 : memref<?x?xf16>
  pit.forall (%i, %j) = (%c0, %c0) to (%m, %n) step (128, 128) {
    %v = pit.view %e[%i, %j : index, index] : memref<?x?xf32> -> vector<128x128xf32>
    pit.mainloop %c0 to %k step [32] extras(%v : vector<128x128xf32>) extra_maps [#e]
        into %r[%i, %j : index, index] : memref<?x?xf32> load {
    ^bb0(%l: index):
      %x = pit.view %a[%i, %l : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<128x32xf16>
      %y = pit.view %b[%l, %j : index, index] pad(0.0 : f16) : memref<?x?xf16> -> vector<32x128xf16>
      pit.yield %x, %y : vector<128x32xf16>, vector<32x128xf16>
    } compute {
    ^bb0(%x: vector<128x32xf16>, %y: vector<32x128xf16>, %z: vector<128x128xf32>):
      %s = pit.contract %x, %y, %z tile [128, 128, 32] maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
          : vector<128x32xf16>, vector<32x128xf16>, vector<128x128xf32> {
      ^bb0(%p: f16, %q: f16, %t: f32):
        %0 = arith.extf %p : f16 to f32
        %1 = arith.extf %q : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %t, %2 : f32
        pit.yield %3 : f32
      }
      pit.yield %s : vector<128x128xf32>
    } prologue {
    ^bb0(%o: f32):
      pit.yield %o : f32
    } epilogue {
    ^bb0(%t: f32, %o: f32):
      pit.yield %t : f32
    }
  }
  return
}

}
}
